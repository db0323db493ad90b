#include "support/allocations.hpp"

#include <cerrno>

namespace {

thread_local std::size_t count = 0;

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

// The sanitizers' interface for this, whose header GCC does not install.
extern "C" int __sanitizer_install_malloc_and_free_hooks(  // NOLINT(bugprone-reserved-identifier)
    void (*on_malloc)(const volatile void*, std::size_t), void (*on_free)(const volatile void*));

namespace {

[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++count; }, [](const volatile void*) {});

}  // namespace

#else

// All ways to the heap but `free`, which need not be known: what these return is the C library's own. They must be
// visible to the shared libraries, which call them by name, and are not declared here as the C library does, whose
// attributes would let the compiler think it knows what they do.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t items, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier)

[[gnu::visibility("default")]] void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
[[gnu::visibility("default")]] void* calloc(std::size_t items, std::size_t size) {
  ++count;
  return __libc_calloc(items, size);
}
[[gnu::visibility("default")]] void* realloc(void* memory, std::size_t size) {
  ++count;
  return __libc_realloc(memory, size);
}
[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
[[gnu::visibility("default")]] int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++count;
  if (alignment < sizeof(void*) || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  void* const got = __libc_memalign(alignment, size);
  if (got == nullptr) {
    return ENOMEM;
  }
  *memory = got;
  return 0;
}

}  // extern "C"

#endif

namespace bunraku::test {

std::size_t allocations() {
  return count;
}

}  // namespace bunraku::test
