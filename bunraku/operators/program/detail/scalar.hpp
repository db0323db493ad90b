/// @file
/// What programs ask of a scalar, and the scalar that counts.
#pragma once

#include <cmath>
#include <type_traits>

#include "bunraku/export.hpp"

namespace bunraku::operators {

/// A number of the model's as a scalar.
template <class S>
S constant(double x) {
  return static_cast<S>(x);
}

/// 1/d, in lanes as it comes: those of a singular D are told. Otherwise of zero, and of what is no number, the inverse
/// is taken for zero, as if the hinge were locked, so that nothing is divided by zero; which hinge it was is found
/// after the sweep.
template <class S>
S reciprocal(const S& d) {
  if constexpr (std::is_floating_point_v<S>) {
    return d > S(0) || d < S(0) ? S(1) / d : S(0);
  } else {
    return S(1) / d;
  }
}

/// A number that counts what is done to it: additions, multiplications, divisions, roots, sines and cosines, one each.
struct BUNRAKU_API Counting {
  double value = 0;  ///< The number.

  constexpr Counting() = default;
  constexpr Counting(double x) : value(x) {}  // NOLINT(google-explicit-constructor): constants are numbers
  explicit operator double() const { return value; }

  /// Operations of this thread so far.
  static long& count() {
    static thread_local long operations = 0;
    return operations;
  }
  static Counting counted(double x) {
    ++count();
    return {x};
  }

  friend Counting operator+(const Counting& a, const Counting& b) { return counted(a.value + b.value); }
  friend Counting operator-(const Counting& a, const Counting& b) { return counted(a.value - b.value); }
  friend Counting operator*(const Counting& a, const Counting& b) { return counted(a.value * b.value); }
  friend Counting operator/(const Counting& a, const Counting& b) { return counted(a.value / b.value); }
  friend Counting operator-(const Counting& a) { return {-a.value}; }
  Counting& operator+=(const Counting& b) { return *this = *this + b; }
  Counting& operator-=(const Counting& b) { return *this = *this - b; }
  Counting& operator*=(const Counting& b) { return *this = *this * b; }
  friend constexpr bool operator==(const Counting& a, const Counting& b) { return a.value == b.value; }
  friend bool operator<(const Counting& a, const Counting& b) { return a.value < b.value; }
  friend bool operator>(const Counting& a, const Counting& b) { return a.value > b.value; }
  friend Counting sin(const Counting& a) { return counted(std::sin(a.value)); }
  friend Counting cos(const Counting& a) { return counted(std::cos(a.value)); }
  friend Counting sqrt(const Counting& a) { return counted(std::sqrt(a.value)); }
  friend Counting abs(const Counting& a) { return {std::abs(a.value)}; }
};

}  // namespace bunraku::operators
