/// @file
/// Three-by-three matrices, general and symmetric: plain data, any scalar.
#pragma once

#include "bunraku/spatial/vec3.hpp"

namespace bunraku {

/// A 3×3 matrix, stored row by row.
template <class T>
struct Mat3 {
  T m[3][3]{};  ///< Elements, m[row][column].

  /// The zero matrix.
  static constexpr Mat3 zero() { return {}; }
  /// The unit matrix.
  static constexpr Mat3 identity() { return diagonal(T(1), T(1), T(1)); }
  /// diag(a, b, c).
  static constexpr Mat3 diagonal(const T& a, const T& b, const T& c) {
    return {{{a, T(0), T(0)}, {T(0), b, T(0)}, {T(0), T(0), c}}};
  }
  /// The matrix with the given columns.
  static constexpr Mat3 from_columns(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
    return {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
  }

  /// Element in row i and column j.
  constexpr T& operator()(int i, int j) { return m[i][j]; }
  /// Element in row i and column j.
  constexpr const T& operator()(int i, int j) const { return m[i][j]; }
  /// Column j.
  constexpr Vec3<T> column(int j) const { return {m[0][j], m[1][j], m[2][j]}; }
  /// Row i.
  constexpr Vec3<T> row(int i) const { return {m[i][0], m[i][1], m[i][2]}; }
  /// The transpose, which is the adjoint.
  constexpr Mat3 transpose() const { return from_columns(row(0), row(1), row(2)); }

  /// Adds in place.
  constexpr Mat3& operator+=(const Mat3& b) {
    for (int i = 0; i < 3; ++i) {
      m[i][0] += b.m[i][0];
      m[i][1] += b.m[i][1];
      m[i][2] += b.m[i][2];
    }
    return *this;
  }
  /// Subtracts in place.
  constexpr Mat3& operator-=(const Mat3& b) {
    for (int i = 0; i < 3; ++i) {
      m[i][0] -= b.m[i][0];
      m[i][1] -= b.m[i][1];
      m[i][2] -= b.m[i][2];
    }
    return *this;
  }

  /// Elementwise sum.
  friend constexpr Mat3 operator+(const Mat3& a, const Mat3& b) {
    return from_columns(a.column(0) + b.column(0), a.column(1) + b.column(1), a.column(2) + b.column(2));
  }
  /// Elementwise difference.
  friend constexpr Mat3 operator-(const Mat3& a, const Mat3& b) {
    return from_columns(a.column(0) - b.column(0), a.column(1) - b.column(1), a.column(2) - b.column(2));
  }
  /// The opposite matrix.
  friend constexpr Mat3 operator-(const Mat3& a) { return from_columns(-a.column(0), -a.column(1), -a.column(2)); }
  /// Matrix times vector.
  friend constexpr Vec3<T> operator*(const Mat3& a, const Vec3<T>& v) {
    return {dot(a.row(0), v), dot(a.row(1), v), dot(a.row(2), v)};
  }
  /// Matrix times matrix.
  friend constexpr Mat3 operator*(const Mat3& a, const Mat3& b) {
    return from_columns(a * b.column(0), a * b.column(1), a * b.column(2));
  }
  /// Scaled by s.
  friend constexpr Mat3 operator*(const Mat3& a, const T& s) {
    return from_columns(a.column(0) * s, a.column(1) * s, a.column(2) * s);
  }
  /// Scaled by s.
  friend constexpr Mat3 operator*(const T& s, const Mat3& a) { return a * s; }
  /// Elementwise equality.
  friend constexpr bool operator==(const Mat3&, const Mat3&) = default;
};

/// Aᵀ v without forming Aᵀ.
template <class T>
constexpr Vec3<T> transpose_times(const Mat3<T>& a, const Vec3<T>& v) {
  return {dot(a.column(0), v), dot(a.column(1), v), dot(a.column(2), v)};
}

/// det A.
template <class T>
constexpr T determinant(const Mat3<T>& a) {
  return dot(a.column(0), cross(a.column(1), a.column(2)));
}

/// The cross-product matrix: skew(a) b = a × b, the papers' ã.
template <class T>
constexpr Mat3<T> skew(const Vec3<T>& a) {
  return {{{T(0), -a.z, a.y}, {a.z, T(0), -a.x}, {-a.y, a.x, T(0)}}};
}

/// a bᵀ.
template <class T>
constexpr Mat3<T> outer(const Vec3<T>& a, const Vec3<T>& b) {
  return Mat3<T>::from_columns(a * b.x, a * b.y, a * b.z);
}

/// A symmetric 3×3 matrix in six numbers.
template <class T>
struct Sym3 {
  T xx{};  ///< Element (0, 0).
  T yy{};  ///< Element (1, 1).
  T zz{};  ///< Element (2, 2).
  T xy{};  ///< Elements (0, 1) and (1, 0).
  T xz{};  ///< Elements (0, 2) and (2, 0).
  T yz{};  ///< Elements (1, 2) and (2, 1).

  /// The zero matrix.
  static constexpr Sym3 zero() { return {}; }
  /// diag(a, b, c).
  static constexpr Sym3 diagonal(const T& a, const T& b, const T& c) { return {a, b, c, T(0), T(0), T(0)}; }
  /// The symmetric part ½(A + Aᵀ).
  static constexpr Sym3 symmetric_part(const Mat3<T>& a) {
    return {a(0, 0),
            a(1, 1),
            a(2, 2),
            (a(0, 1) + a(1, 0)) * T(0.5),
            (a(0, 2) + a(2, 0)) * T(0.5),
            (a(1, 2) + a(2, 1)) * T(0.5)};
  }
  /// a aᵀ.
  static constexpr Sym3 outer_square(const Vec3<T>& a) {
    return {a.x * a.x, a.y * a.y, a.z * a.z, a.x * a.y, a.x * a.z, a.y * a.z};
  }

  /// The same matrix with all nine elements.
  constexpr Mat3<T> full() const { return {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}}; }
  /// The sum of the diagonal.
  constexpr T trace() const { return xx + yy + zz; }

  /// Adds in place.
  constexpr Sym3& operator+=(const Sym3& b) {
    xx += b.xx;
    yy += b.yy;
    zz += b.zz;
    xy += b.xy;
    xz += b.xz;
    yz += b.yz;
    return *this;
  }
  /// Subtracts in place.
  constexpr Sym3& operator-=(const Sym3& b) {
    xx -= b.xx;
    yy -= b.yy;
    zz -= b.zz;
    xy -= b.xy;
    xz -= b.xz;
    yz -= b.yz;
    return *this;
  }

  /// Elementwise sum.
  friend constexpr Sym3 operator+(const Sym3& a, const Sym3& b) {
    return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
  }
  /// Elementwise difference.
  friend constexpr Sym3 operator-(const Sym3& a, const Sym3& b) {
    return {a.xx - b.xx, a.yy - b.yy, a.zz - b.zz, a.xy - b.xy, a.xz - b.xz, a.yz - b.yz};
  }
  /// Scaled by s.
  friend constexpr Sym3 operator*(const Sym3& a, const T& s) {
    return {a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.xz * s, a.yz * s};
  }
  /// Scaled by s.
  friend constexpr Sym3 operator*(const T& s, const Sym3& a) { return a * s; }
  /// Matrix times vector.
  friend constexpr Vec3<T> operator*(const Sym3& a, const Vec3<T>& v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
  }
  /// Elementwise equality.
  friend constexpr bool operator==(const Sym3&, const Sym3&) = default;
};

/// −ãã = (a·a) I − a aᵀ: what a unit point mass at a adds to a rotational inertia.
template <class T>
constexpr Sym3<T> point_inertia(const Vec3<T>& a) {
  const T xx = a.x * a.x;
  const T yy = a.y * a.y;
  const T zz = a.z * a.z;
  return {yy + zz, xx + zz, xx + yy, -(a.x * a.y), -(a.x * a.z), -(a.y * a.z)};
}

/// A S Aᵀ.
template <class T>
constexpr Sym3<T> congruence(const Mat3<T>& a, const Sym3<T>& s) {
  const Vec3<T> r0 = s * a.row(0);
  const Vec3<T> r1 = s * a.row(1);
  const Vec3<T> r2 = s * a.row(2);
  return {dot(a.row(0), r0), dot(a.row(1), r1), dot(a.row(2), r2),
          dot(a.row(0), r1), dot(a.row(0), r2), dot(a.row(1), r2)};
}

}  // namespace bunraku
