/// @file
/// Spatial vectors: motions (velocities, accelerations) and forces (forces, momenta) as types that do not mix.
#pragma once

#include "bunraku/spatial/mat3.hpp"

namespace bunraku {

/// A spatial velocity or acceleration, angular over linear: V = (ω, v). The linear part is that of the point at
/// which the vector is taken. Motions add to motions only; adding a Force does not compile.
template <class T>
struct Motion {
  Vec3<T> angular;  ///< ω, rad/s (or rad/s²).
  Vec3<T> linear;   ///< v of the reference point, m/s (or m/s²).

  /// The zero motion.
  static constexpr Motion zero() { return {Vec3<T>::zero(), Vec3<T>::zero()}; }
  /// Component i of 0 … 5, angular first.
  constexpr const T& operator[](int i) const { return i < 3 ? angular[i] : linear[i - 3]; }
  /// Component i of 0 … 5, angular first.
  constexpr T& operator[](int i) { return i < 3 ? angular[i] : linear[i - 3]; }
  /// Adds in place.
  constexpr Motion& operator+=(const Motion& b) {
    angular += b.angular;
    linear += b.linear;
    return *this;
  }
  /// Subtracts in place.
  constexpr Motion& operator-=(const Motion& b) {
    angular -= b.angular;
    linear -= b.linear;
    return *this;
  }
  /// Sum of two motions at one point.
  friend constexpr Motion operator+(const Motion& a, const Motion& b) {
    return {a.angular + b.angular, a.linear + b.linear};
  }
  /// Difference of two motions at one point.
  friend constexpr Motion operator-(const Motion& a, const Motion& b) {
    return {a.angular - b.angular, a.linear - b.linear};
  }
  /// The opposite motion.
  friend constexpr Motion operator-(const Motion& a) { return {-a.angular, -a.linear}; }
  /// Scaled by s.
  friend constexpr Motion operator*(const Motion& a, const T& s) { return {a.angular * s, a.linear * s}; }
  /// Scaled by s.
  friend constexpr Motion operator*(const T& s, const Motion& a) { return a * s; }
  /// Componentwise equality.
  friend constexpr bool operator==(const Motion&, const Motion&) = default;
};

/// A spatial force or momentum, moment over force: f = (N, F). The moment is about the point at which the vector is
/// taken. Forces add to forces only.
template <class T>
struct Force {
  Vec3<T> moment;  ///< N about the reference point, N·m (or N·m·s).
  Vec3<T> force;   ///< F, N (or N·s).

  /// The zero force.
  static constexpr Force zero() { return {Vec3<T>::zero(), Vec3<T>::zero()}; }
  /// Component i of 0 … 5, moment first.
  constexpr const T& operator[](int i) const { return i < 3 ? moment[i] : force[i - 3]; }
  /// Component i of 0 … 5, moment first.
  constexpr T& operator[](int i) { return i < 3 ? moment[i] : force[i - 3]; }
  /// Adds in place.
  constexpr Force& operator+=(const Force& b) {
    moment += b.moment;
    force += b.force;
    return *this;
  }
  /// Subtracts in place.
  constexpr Force& operator-=(const Force& b) {
    moment -= b.moment;
    force -= b.force;
    return *this;
  }
  /// Sum of two forces about one point.
  friend constexpr Force operator+(const Force& a, const Force& b) { return {a.moment + b.moment, a.force + b.force}; }
  /// Difference of two forces about one point.
  friend constexpr Force operator-(const Force& a, const Force& b) { return {a.moment - b.moment, a.force - b.force}; }
  /// The opposite force.
  friend constexpr Force operator-(const Force& a) { return {-a.moment, -a.force}; }
  /// Scaled by s.
  friend constexpr Force operator*(const Force& a, const T& s) { return {a.moment * s, a.force * s}; }
  /// Scaled by s.
  friend constexpr Force operator*(const T& s, const Force& a) { return a * s; }
  /// Componentwise equality.
  friend constexpr bool operator==(const Force&, const Force&) = default;
};

/// V*f: the power of a force on a motion, both taken at one point.
template <class T>
constexpr T dot(const Motion<T>& v, const Force<T>& f) {
  return dot(v.angular, f.moment) + dot(v.linear, f.force);
}
/// f*V: the power of a force on a motion, both taken at one point.
template <class T>
constexpr T dot(const Force<T>& f, const Motion<T>& v) {
  return dot(v, f);
}

}  // namespace bunraku
