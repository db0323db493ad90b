/// @file
/// Dual numbers: the second part is a derivative.
#pragma once

#include <cmath>

namespace bunraku::test {

/// x + ε dx.
struct Dual {
  double x = 0;
  double dx = 0;

  constexpr Dual() = default;
  constexpr Dual(double value) : x(value) {}  // NOLINT(google-explicit-constructor): constants are numbers
  constexpr Dual(double value, double rate) : x(value), dx(rate) {}

  friend constexpr Dual operator+(const Dual& a, const Dual& b) { return {a.x + b.x, a.dx + b.dx}; }
  friend constexpr Dual operator-(const Dual& a, const Dual& b) { return {a.x - b.x, a.dx - b.dx}; }
  friend constexpr Dual operator-(const Dual& a) { return {-a.x, -a.dx}; }
  friend constexpr Dual operator*(const Dual& a, const Dual& b) { return {a.x * b.x, a.dx * b.x + a.x * b.dx}; }
  friend constexpr Dual operator/(const Dual& a, const Dual& b) { return {a.x / b.x, (a.dx - a.x / b.x * b.dx) / b.x}; }
  constexpr Dual& operator+=(const Dual& b) { return *this = *this + b; }
  constexpr Dual& operator-=(const Dual& b) { return *this = *this - b; }
  constexpr Dual& operator*=(const Dual& b) { return *this = *this * b; }
  friend constexpr bool operator==(const Dual& a, const Dual& b) { return a.x == b.x; }
  friend constexpr bool operator<(const Dual& a, const Dual& b) { return a.x < b.x; }
  friend constexpr bool operator>(const Dual& a, const Dual& b) { return a.x > b.x; }
  friend constexpr bool operator<=(const Dual& a, const Dual& b) { return a.x <= b.x; }
  friend constexpr bool operator>=(const Dual& a, const Dual& b) { return a.x >= b.x; }
  friend Dual sin(const Dual& a) { return {std::sin(a.x), std::cos(a.x) * a.dx}; }
  friend Dual cos(const Dual& a) { return {std::cos(a.x), -std::sin(a.x) * a.dx}; }
  friend Dual sqrt(const Dual& a) { return {std::sqrt(a.x), a.dx / (2 * std::sqrt(a.x))}; }
};

}  // namespace bunraku::test
