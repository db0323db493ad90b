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

}  // namespace bunraku
