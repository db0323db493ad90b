/// @file
/// Counts allocations, so that a test can show that there are none.
#pragma once

#include <cstddef>

namespace bunraku::test {

/// How many times this thread took memory from the heap, in whatever way: operator new, Eigen, malloc itself. Linking
/// this puts the counter before the C library's malloc in the whole process, shared libraries included; with the
/// address or thread sanitizer, whose malloc it is then, it is the sanitizer that reports (the latter not of
/// aligned_alloc and posix_memalign).
std::size_t allocations();

}  // namespace bunraku::test
