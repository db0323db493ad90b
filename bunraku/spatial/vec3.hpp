/// @file
/// A vector in three dimensions: plain data, any scalar.
#pragma once

#include <cmath>
#include <type_traits>

#include "bunraku/spatial/scalar.hpp"

namespace bunraku {

/// Three numbers. The layout is three scalars in a row whatever the compiler's flags, so that it can cross the
/// library's boundary, live on a GPU or hold a SIMD pack.
template <class T>
struct Vec3 {
  T x{};  ///< First component.
  T y{};  ///< Second component.
  T z{};  ///< Third component.

  /// The zero vector.
  static constexpr Vec3 zero() { return {T(0), T(0), T(0)}; }
  /// The first unit vector.
  static constexpr Vec3 unit_x() { return {T(1), T(0), T(0)}; }
  /// The second unit vector.
  static constexpr Vec3 unit_y() { return {T(0), T(1), T(0)}; }
  /// The third unit vector.
  static constexpr Vec3 unit_z() { return {T(0), T(0), T(1)}; }

  /// Component i of 0, 1, 2.
  constexpr T& operator[](int i) { return i == 0 ? x : i == 1 ? y : z; }
  /// Component i of 0, 1, 2.
  constexpr const T& operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }

  /// Adds in place.
  constexpr Vec3& operator+=(const Vec3& b) {
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  /// Subtracts in place.
  constexpr Vec3& operator-=(const Vec3& b) {
    x -= b.x;
    y -= b.y;
    z -= b.z;
    return *this;
  }
  /// Scales in place.
  constexpr Vec3& operator*=(const T& s) { return *this = *this * s; }

  /// Componentwise sum.
  friend constexpr Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  /// Componentwise difference.
  friend constexpr Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  /// The opposite vector.
  friend constexpr Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
  /// Scaled by s.
  friend constexpr Vec3 operator*(const Vec3& a, const T& s) { return {a.x * s, a.y * s, a.z * s}; }
  /// Scaled by s.
  friend constexpr Vec3 operator*(const T& s, const Vec3& a) { return a * s; }
  /// Divided by s.
  friend constexpr Vec3 operator/(const Vec3& a, const T& s) { return {a.x / s, a.y / s, a.z / s}; }
  /// Componentwise equality.
  friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

/// In each component `yes` where the condition holds, else `no`: for scalars of many numbers.
template <class C, class T>
  requires(!std::is_same_v<C, bool>)
BUNRAKU_INLINE constexpr Vec3<T> select(const C& condition, const Vec3<T>& yes, const Vec3<T>& no) {
  return {select(condition, yes.x, no.x), select(condition, yes.y, no.y), select(condition, yes.z, no.z)};
}

/// a · b.
template <class T>
constexpr T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// a × b = ã b.
template <class T>
constexpr Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// a · a.
template <class T>
constexpr T squared_norm(const Vec3<T>& a) {
  return dot(a, a);
}

/// √(a · a).
template <class T>
T norm(const Vec3<T>& a) {
  using std::sqrt;
  return sqrt(squared_norm(a));
}

/// a / |a|; a must not be zero. Scaled first, so that neither tiny nor huge vectors lose their direction.
template <class T>
Vec3<T> normalized(const Vec3<T>& a) {
  using std::abs;
  using std::max;
  const Vec3<T> scaled = a / max(max(abs(a.x), abs(a.y)), abs(a.z));
  return scaled / norm(scaled);
}

/// A unit vector at right angles to the unit vector a. For a.z ≥ −½ it is x turned by the smallest rotation that takes
/// z to a; otherwise that of (a.x, −a.y, −a.z), mirrored likewise. So it is x for both z and −z.
template <class T>
Vec3<T> perpendicular(const Vec3<T>& a) {
  if (a.z < T(-0.5)) {  // the smallest rotation is ill-defined at −z: use the half-space's mirror image
    const Vec3<T> mirror = perpendicular(Vec3<T>{a.x, -a.y, -a.z});
    return {mirror.x, -mirror.y, -mirror.z};
  }
  const T s = T(1) / (T(1) + a.z);
  return {T(1) - a.x * a.x * s, -a.x * a.y * s, -a.x};
}

}  // namespace bunraku
