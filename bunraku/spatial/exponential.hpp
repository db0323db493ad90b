/// @file
/// The exponential and the logarithm of SO(3) and SE(3), and their Jacobians, angular over linear.
///
/// A twist is a body's: exp(ξ) is where the constant body velocity ξ leads in unit time, X(t) = exp(ξ t). The Jacobians
/// say what a small change of ξ does: exp(ξ + δ) ≈ exp(ξ) exp(𝒥_r δ) ≈ exp(𝒥_l δ) exp(ξ), to first order in δ. With
/// ad(ξ) = cross_matrix(ξ), 𝒥_l(ξ) = Σ ad(ξ)ⁿ/(n + 1)! and 𝒥_r(ξ) = 𝒥_l(−ξ). All are accurate to rounding from no turn
/// to half a turn, and further but for the inverses, which have a pole at a whole turn.
#pragma once

#include <array>

#include "bunraku/spatial/cross.hpp"
#include "bunraku/spatial/transform.hpp"

namespace bunraku {

/// The rotation by |r| radians about r.
template <class T>
Rotation<T> exp(const Vec3<T>& r) {
  return Rotation<T>(Quaternion<T>::exp(r));
}

/// The rotation vector r, |r| ≤ π, with exp(r) = R. At half a turn one of the two that there are.
template <class T>
Vec3<T> log(const Rotation<T>& r) {
  return r.quaternion().log();
}

/// Where the constant body twist v (angular over linear) leads in unit time.
template <class T>
Transform<T> exp(const Motion<T>& v) {
  return {exp(v.angular), exponential_translation(v)};
}

/// The body twist, turning by at most π, with exp(v) = X.
template <class T>
Motion<T> log(const Transform<T>& x) {
  const Vec3<T> r = log(x.rotation);
  return {r, logarithm_linear(r, x.translation)};
}

/// J_l(r) = I + (1 − cos θ)/θ² r̃ + (θ − sin θ)/θ³ r̃².
template <class T>
Mat3<T> left_jacobian(const Vec3<T>& r) {
  T a{};
  T b{};
  detail::exponential_coefficients(squared_norm(r), a, b);
  const Mat3<T> w = skew(r);
  return Mat3<T>::identity() + w * a + w * w * b;
}

/// J_l⁻¹(r) = I − ½ r̃ + (1 − (θ/2) cot(θ/2))/θ² r̃².
template <class T>
Mat3<T> left_jacobian_inverse(const Vec3<T>& r) {
  const Mat3<T> w = skew(r);
  return Mat3<T>::identity() - w * T(0.5) + w * w * detail::logarithm_coefficient(squared_norm(r));
}

namespace detail {

/// The derivatives by s = θ² of the two coefficients in exponential_coefficients.
template <class T>
void exponential_slopes(const T& s, const T& a, const T& b, T& da, T& db) {
  const auto small = s < T(1);  // the quotients cancel; the terms left out are below 1e-17
  const auto series = [&] {
    return std::array<T, 2>{
        T(-1.0 / 24) +
            s * (T(2.0 / 720) -
                 s * (T(3.0 / 40320) -
                      s * (T(4.0 / 3628800) - s * (T(5.0 / 479001600) -
                                                   s * (T(6.0 / 87178291200) - s * (T(7.0 / 20922789888000) -
                                                                                    s * T(8.0 / 6402373705728000))))))),
        T(-1.0 / 120) + s * (T(2.0 / 5040) -
                             s * (T(3.0 / 362880) -
                                  s * (T(4.0 / 39916800) -
                                       s * (T(5.0 / 6227020800) -
                                            s * (T(6.0 / 1307674368000) -
                                                 s * (T(7.0 / 355687428096000) - s * T(8.0 / 121645100408832000)))))))};
  };
  const auto quotients = [&] {
    const T safe = select(small, T(1), s);
    return std::array<T, 2>{((T(1) - T(2) * a) / safe - b) * T(0.5), (a - T(3) * b) / (T(2) * safe)};
  };
  const std::array<T, 2> slopes = choose(small, series, quotients);
  da = slopes[0];
  db = slopes[1];
}

/// The second derivatives by s = θ² of the two coefficients in exponential_coefficients, from their first ones.
template <class T>
void exponential_curvatures(const T& s, const T& b, const T& da, const T& db, T& dda, T& ddb) {
  const auto small = s < T(1);  // as in exponential_slopes
  const auto series = [&] {
    return std::array<T, 2>{
        T(2.0 / 720) -
            s * (T(6.0 / 40320) -
                 s * (T(12.0 / 3628800) -
                      s * (T(20.0 / 479001600) - s * (T(30.0 / 87178291200) - s * (T(42.0 / 20922789888000) -
                                                                                   s * T(56.0 / 6402373705728000)))))),
        T(2.0 / 5040) -
            s * (T(6.0 / 362880) -
                 s * (T(12.0 / 39916800) - s * (T(20.0 / 6227020800) - s * (T(30.0 / 1307674368000) -
                                                                            s * (T(42.0 / 355687428096000) -
                                                                                 s * T(56.0 / 121645100408832000))))))};
  };
  const auto quotients = [&] {
    const T safe = select(small, T(1), s);
    return std::array<T, 2>{((-(T(4) * da + b)) / safe - db) * T(0.5), (da - T(5) * db) / (T(2) * safe)};
  };
  const std::array<T, 2> curvatures = choose(small, series, quotients);
  dda = curvatures[0];
  ddb = curvatures[1];
}

/// The derivative by s = θ² of logarithm_coefficient.
template <class T>
T logarithm_slope(const T& s, const T& k) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  const auto small = s < T(0.0625);
  const auto series = [&] {
    return T(1.0 / 720) +
           s * (T(2.0 / 30240) + s * (T(3.0 / 1209600) + s * (T(4.0 / 47900160) + s * (T(5 * 691.0 / 1307674368000) +
                                                                                       s * T(6.0 / 74724249600)))));
  };
  const auto quotient = [&] {
    const T safe = select(small, T(1), s);
    const T half = sqrt(safe) * T(0.5);
    const T sine = sin(half);
    return (half / (sine * sine) - cos(half) / sine) / (T(8) * half * safe) - k / safe;
  };
  return choose(small, series, quotient);
}

}  // namespace detail

// A motion is a dual number ω + εv here: ad(ξ) = [ω̃ 0; ṽ ω̃] multiplies as ω̃ + εṽ does, so that the lower left block of
// each function of it is the derivative of that function of ω̃ along v.

/// 𝒥_l(ξ) = [J 0; Q J] with J = J_l(ω) and Q the derivative of J_l at ω along v.
template <class T>
Mat6<T> left_jacobian(const Motion<T>& v) {
  const T s = squared_norm(v.angular);
  T a{};
  T b{};
  T da{};
  T db{};
  detail::exponential_coefficients(s, a, b);
  detail::exponential_slopes(s, a, b, da, db);
  const T ds = T(2) * dot(v.angular, v.linear);
  const Mat3<T> w = skew(v.angular);
  const Mat3<T> u = skew(v.linear);
  const Mat3<T> j = Mat3<T>::identity() + w * a + w * w * b;
  return {j, {}, u * a + (w * u + u * w) * b + w * (da * ds) + w * w * (db * ds), j};
}

/// 𝒥_l⁻¹(ξ), in the same way.
template <class T>
Mat6<T> left_jacobian_inverse(const Motion<T>& v) {
  const T s = squared_norm(v.angular);
  const T k = detail::logarithm_coefficient(s);
  const T dk = detail::logarithm_slope(s, k) * T(2) * dot(v.angular, v.linear);
  const Mat3<T> w = skew(v.angular);
  const Mat3<T> u = skew(v.linear);
  const Mat3<T> j = Mat3<T>::identity() - w * T(0.5) + w * w * k;
  return {j, {}, -(u * T(0.5)) + (w * u + u * w) * k + w * w * dk, j};
}

/// J_r(r) = J_l(−r), or 𝒥_r(ξ) = 𝒥_l(−ξ): of rotation vectors and of twists.
template <class Tangent>
auto right_jacobian(const Tangent& v) {
  return left_jacobian(-v);
}

/// J_r⁻¹(r) = J_l⁻¹(−r), or 𝒥_r⁻¹(ξ) = 𝒥_l⁻¹(−ξ).
template <class Tangent>
auto right_jacobian_inverse(const Tangent& v) {
  return left_jacobian_inverse(-v);
}

/// The 36 numbers of X acting on motions, from B's origin and axes to A's: [R 0; p̃R R], the adjoint map Ad(X).
template <class T>
constexpr Mat6<T> motion_matrix(const Transform<T>& x) {
  const Mat3<T>& r = x.rotation.matrix();
  return {r, {}, skew(x.translation) * r, r};
}

}  // namespace bunraku
