/// @file
/// Floating-point exceptions as signals.
#pragma once

#include <cfenv>

namespace bunraku::test {

/// Floating-point traps for as long as it lives, where the platform has them.
struct Traps {
#if defined(__GLIBC__)
  Traps() { feenableexcept(FE_INVALID | FE_DIVBYZERO); }
  ~Traps() { fedisableexcept(FE_INVALID | FE_DIVBYZERO); }
#else
  Traps() = default;
  ~Traps() = default;
#endif
  Traps(const Traps&) = delete;
  Traps& operator=(const Traps&) = delete;
};

}  // namespace bunraku::test
