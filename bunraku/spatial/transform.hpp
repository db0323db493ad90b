/// @file
/// Rigid transforms: the pose of one frame in another, and what it does to points, motions and forces.
#pragma once

#include <array>

#include "bunraku/spatial/phi.hpp"
#include "bunraku/spatial/rotation.hpp"

namespace bunraku {

/// X_AB, the pose of frame B in frame A: where B's origin is, and how its axes are turned.
template <class T>
struct Transform {
  Rotation<T> rotation;  ///< R_AB.
  Vec3<T> translation;   ///< From A's origin to B's, in A's axes, metres.

  /// B on A.
  static constexpr Transform identity() { return {Rotation<T>(), Vec3<T>::zero()}; }
  /// Moved, not turned.
  static constexpr Transform translate(const Vec3<T>& p) { return {Rotation<T>(), p}; }
  /// Turned, not moved.
  static constexpr Transform rotate(const Rotation<T>& r) { return {r, Vec3<T>::zero()}; }
  /// X_BA.
  constexpr Transform inverse() const { return {rotation.inverse(), -rotation.inverse_times(translation)}; }

  /// X_AB X_BC = X_AC.
  friend constexpr Transform operator*(const Transform& a, const Transform& b) {
    return {a.rotation * b.rotation, a.translation + a.rotation * b.translation};
  }
  /// Position in A of a point given in B.
  friend constexpr Vec3<T> operator*(const Transform& a, const Vec3<T>& p) { return a.translation + a.rotation * p; }
  /// Elementwise equality.
  friend constexpr bool operator==(const Transform&, const Transform&) = default;
};

/// R V: the same motion at the same point, in other axes.
template <class T>
constexpr Motion<T> operator*(const Rotation<T>& r, const Motion<T>& v) {
  return {r * v.angular, r * v.linear};
}
/// R f: the same force about the same point, in other axes.
template <class T>
constexpr Force<T> operator*(const Rotation<T>& r, const Force<T>& f) {
  return {r * f.moment, r * f.force};
}
/// From B's origin and axes to A's: φ*(−p) R V.
template <class T>
constexpr Motion<T> operator*(const Transform<T>& x, const Motion<T>& v) {
  return PhiAdjoint<T>(-x.translation) * (x.rotation * v);
}
/// From B's origin and axes to A's: φ(p) R f.
template <class T>
constexpr Force<T> operator*(const Transform<T>& x, const Force<T>& f) {
  return Phi<T>(x.translation) * (x.rotation * f);
}
/// X⁻¹ V without forming the inverse: from A's origin and axes to B's, R* φ*(p) V.
template <class T>
constexpr Motion<T> inverse_times(const Transform<T>& x, const Motion<T>& v) {
  const Motion<T> moved = PhiAdjoint<T>(x.translation) * v;
  return {x.rotation.inverse_times(moved.angular), x.rotation.inverse_times(moved.linear)};
}
/// X⁻¹ f without forming the inverse: from A's origin and axes to B's, R* φ(−p) f.
template <class T>
constexpr Force<T> inverse_times(const Transform<T>& x, const Force<T>& f) {
  const Force<T> moved = Phi<T>(-x.translation) * f;
  return {x.rotation.inverse_times(moved.moment), x.rotation.inverse_times(moved.force)};
}

namespace detail {

/// (1 − cos θ)/θ² and (θ − sin θ)/θ³ of θ² = s: the coefficients of SE(3)'s exponential.
template <class T>
constexpr void exponential_coefficients(const T& s, T& cosine_part, T& sine_part) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  const auto small = s < T(0.0625);  // both quotients cancel below a quarter radian; six terms leave less than 1e-17
  const auto series = [&] {
    return std::array<T, 2>{
        T(1.0 / 2) - s * (T(1.0 / 24) -
                          s * (T(1.0 / 720) - s * (T(1.0 / 40320) - s * (T(1.0 / 3628800) - s * T(1.0 / 479001600))))),
        T(1.0 / 6) - s * (T(1.0 / 120) - s * (T(1.0 / 5040) - s * (T(1.0 / 362880) - s * (T(1.0 / 39916800) -
                                                                                          s * T(1.0 / 6227020800)))))};
  };
  const auto quotients = [&] {
    const T safe = select(small, T(1), s);
    const T angle = sqrt(safe);
    return std::array<T, 2>{(T(1) - cos(angle)) / safe, (angle - sin(angle)) / (safe * angle)};
  };
  const std::array<T, 2> parts = choose(small, series, quotients);
  cosine_part = parts[0];
  sine_part = parts[1];
}

}  // namespace detail

/// The displacement that the constant body twist `v` (angular over linear, in the moving body's axes) gives in unit
/// time: exp of SE(3). Returns the translation in the axes at the start; the turn is Quaternion::exp(v.angular).
template <class T>
constexpr Vec3<T> exponential_translation(const Motion<T>& v) {
  T cosine_part{};
  T sine_part{};
  detail::exponential_coefficients(squared_norm(v.angular), cosine_part, sine_part);
  const Vec3<T> wv = cross(v.angular, v.linear);
  return v.linear + wv * cosine_part + cross(v.angular, wv) * sine_part;
}

namespace detail {

/// (1 − (θ/2) cot(θ/2))/θ² of θ² = s: the coefficient of SE(3)'s logarithm.
template <class T>
constexpr T logarithm_coefficient(const T& s) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  const auto small = s < T(0.0625);
  const auto series = [&] {
    return T(1.0 / 12) +
           s * (T(1.0 / 720) +
                s * (T(1.0 / 30240) + s * (T(1.0 / 1209600) + s * (T(1.0 / 47900160) + s * T(691.0 / 1307674368000)))));
  };
  const auto quotient = [&] {
    const T safe = select(small, T(1), s);
    const T half = sqrt(safe) * T(0.5);
    return (T(1) - half * cos(half) / sin(half)) / safe;
  };
  return choose(small, series, quotient);
}

}  // namespace detail

/// The linear part of the body twist that gives, in unit time, the turn `r` (rotation vector, |r| ≤ π) and the
/// translation `p` in the axes at the start: log of SE(3).
template <class T>
constexpr Vec3<T> logarithm_linear(const Vec3<T>& r, const Vec3<T>& p) {
  const Vec3<T> rp = cross(r, p);
  return p - rp * T(0.5) + cross(r, rp) * detail::logarithm_coefficient(squared_norm(r));
}

}  // namespace bunraku
