#include "bunraku/kernels/variant.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/error.hpp"
#include "bunraku/version.hpp"

namespace bunraku::kernels {

// BUNRAKU_VARIANTS(X) calls X(name) for each variant that the build compiles, the slowest first
#define BUNRAKU_DECLARE(each) \
  namespace each {            \
  extern const Variant table; \
  }
BUNRAKU_VARIANTS(BUNRAKU_DECLARE)
#undef BUNRAKU_DECLARE

namespace {

/// Whether this processor and its operating system can run a variant.
bool runs(std::string_view name) {
#if defined(__x86_64__)
  if (name == "avx2") {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  if (name == "avx512") {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
  }
#endif
  return name == "baseline" || name == "native";
}

const Variant& chosen() {
  const std::span<const Variant* const> usable = usable_variants();
  const char* wanted = std::getenv("BUNRAKU_CPU");  // NOLINT(concurrency-mt-unsafe): read once, before anything runs
  if (wanted == nullptr || *wanted == '\0') {
    return *usable.back();
  }
  std::vector<std::string_view> names;
  for (const Variant* each : usable) {
    if (each->name == wanted) {
      return *each;
    }
    names.push_back(each->name);
  }
  throw Error(fmt::format("BUNRAKU_CPU is '{}', which this library or this processor does not have; use one of: {}",
                          wanted, fmt::join(names, ", ")));
}

}  // namespace

std::span<const Variant* const> usable_variants() {
  static const std::vector<const Variant*> usable = [] {
    std::vector<const Variant*> out;
#define BUNRAKU_ADD(each)        \
  if (runs(each::table.name)) {  \
    out.push_back(&each::table); \
  }
    BUNRAKU_VARIANTS(BUNRAKU_ADD)
#undef BUNRAKU_ADD
    return out;
  }();
  return usable;
}

const Variant& variant() {
  static const Variant& out = chosen();
  return out;
}

}  // namespace bunraku::kernels

namespace bunraku {

std::string_view cpu_variant() {
  return kernels::variant().name;
}

}  // namespace bunraku
