/// @file
/// What was built, and how.
#pragma once

#include <string_view>

#include "bunraku/export.hpp"

namespace bunraku {

/// The library's version, such as 0.1.0.
BUNRAKU_API std::string_view version();
/// The build type of the library, such as Release.
BUNRAKU_API std::string_view build_type();
/// Whether the library was compiled with optimisation. Its speed means nothing otherwise: benchmarks refuse to run.
BUNRAKU_API bool is_optimized();
/// Which variant of the kernels runs: `baseline`, `avx2` or `avx512`, the fastest that this processor has, or what the
/// environment variable BUNRAKU_CPU names; `native` where the library was compiled for one machine. Throws Error where
/// BUNRAKU_CPU names one that cannot run here.
BUNRAKU_API std::string_view cpu_variant();

}  // namespace bunraku
