/// @file
/// Numbers with derivatives along several directions at once.
#pragma once

#include <array>
#include <cstddef>

namespace bunraku::detail {

/// x + Σ ε_l dx_l, where the ε are so small that their products vanish: what is computed of such numbers has its
/// derivatives along `lanes` directions beside it. Nothing here divides or asks which number is larger.
template <class T, std::size_t lanes>
struct Dual {
  T x{};                      ///< The number.
  std::array<T, lanes> dx{};  ///< Its derivatives.

  constexpr Dual() = default;
  constexpr Dual(T value) : x(value) {}  // NOLINT(google-explicit-constructor): constants are numbers
  /// With derivatives.
  constexpr Dual(T value, const std::array<T, lanes>& rates) : x(value), dx(rates) {}

  /// Adds in place.
  constexpr Dual& operator+=(const Dual& b) {
    x += b.x;
    for (std::size_t l = 0; l < lanes; ++l) {
      dx[l] += b.dx[l];
    }
    return *this;
  }
  /// Subtracts in place.
  constexpr Dual& operator-=(const Dual& b) {
    x -= b.x;
    for (std::size_t l = 0; l < lanes; ++l) {
      dx[l] -= b.dx[l];
    }
    return *this;
  }
  /// Multiplies in place.
  constexpr Dual& operator*=(const Dual& b) { return *this = *this * b; }
  /// Sum.
  friend constexpr Dual operator+(const Dual& a, const Dual& b) {
    Dual out(a.x + b.x);
    for (std::size_t l = 0; l < lanes; ++l) {
      out.dx[l] = a.dx[l] + b.dx[l];
    }
    return out;
  }
  /// Difference.
  friend constexpr Dual operator-(const Dual& a, const Dual& b) {
    Dual out(a.x - b.x);
    for (std::size_t l = 0; l < lanes; ++l) {
      out.dx[l] = a.dx[l] - b.dx[l];
    }
    return out;
  }
  /// The opposite.
  friend constexpr Dual operator-(const Dual& a) {
    Dual out(-a.x);
    for (std::size_t l = 0; l < lanes; ++l) {
      out.dx[l] = -a.dx[l];
    }
    return out;
  }
  /// (ab)' = a'b + ab'.
  friend constexpr Dual operator*(const Dual& a, const Dual& b) {
    Dual out(a.x * b.x);
    for (std::size_t l = 0; l < lanes; ++l) {
      out.dx[l] = a.dx[l] * b.x + a.x * b.dx[l];
    }
    return out;
  }
};

}  // namespace bunraku::detail
