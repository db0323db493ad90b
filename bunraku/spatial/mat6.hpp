/// @file
/// A dense 6×6 matrix in four 3×3 blocks, for operators shown as numbers.
#pragma once

#include "bunraku/spatial/vec6.hpp"

namespace bunraku {

/// [a b; c d]: acts on motions or forces without knowing which; the functions that make one say so.
template <class T>
struct Mat6 {
  Mat3<T> a;  ///< Upper left block.
  Mat3<T> b;  ///< Upper right block.
  Mat3<T> c;  ///< Lower left block.
  Mat3<T> d;  ///< Lower right block.

  /// The zero matrix.
  static constexpr Mat6 zero() { return {}; }
  /// The unit matrix.
  static constexpr Mat6 identity() { return {Mat3<T>::identity(), {}, {}, Mat3<T>::identity()}; }
  /// Element in row i and column j.
  constexpr const T& operator()(int i, int j) const {
    return i < 3 ? (j < 3 ? a(i, j) : b(i, j - 3)) : (j < 3 ? c(i - 3, j) : d(i - 3, j - 3));
  }
  /// The transpose, which is the adjoint.
  constexpr Mat6 transpose() const { return {a.transpose(), c.transpose(), b.transpose(), d.transpose()}; }

  /// Elementwise sum.
  friend constexpr Mat6 operator+(const Mat6& p, const Mat6& q) { return {p.a + q.a, p.b + q.b, p.c + q.c, p.d + q.d}; }
  /// Elementwise difference.
  friend constexpr Mat6 operator-(const Mat6& p, const Mat6& q) { return {p.a - q.a, p.b - q.b, p.c - q.c, p.d - q.d}; }
  /// The opposite matrix.
  friend constexpr Mat6 operator-(const Mat6& p) { return {-p.a, -p.b, -p.c, -p.d}; }
  /// Matrix times matrix.
  friend constexpr Mat6 operator*(const Mat6& p, const Mat6& q) {
    return {p.a * q.a + p.b * q.c, p.a * q.b + p.b * q.d, p.c * q.a + p.d * q.c, p.c * q.b + p.d * q.d};
  }
  /// Elementwise equality.
  friend constexpr bool operator==(const Mat6&, const Mat6&) = default;
};

}  // namespace bunraku
