/// @file
/// Configurations of a whole model: neutral, random, reference, integrate, difference, interpolate, normalize, and the
/// derivatives of integrate and difference; in `double` and `float`.
///
/// Each has a form that writes into what the caller gives (a span, a container, an Eigen vector or block) and allocates
/// nothing, and one that returns an Eigen object. Custom hinges compute in `double`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <Eigen/Core>

#include "bunraku/arguments.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku {

/// The configuration with every hinge at its neutral position. O(N). Throws ArgumentError for a wrong size.
BUNRAKU_API void neutral(const Model& model, Out<double> q);
/// @copydoc neutral(const Model&, Out<double>)
BUNRAKU_API void neutral(const Model& model, Out<float> q);
/// A random configuration, the same for the same seed on every machine: uniform within finite limits, otherwise
/// angles in ±π, lengths in ±1 m, quaternions uniform over all rotations. O(N). Throws ArgumentError for a wrong size.
BUNRAKU_API void random_configuration(const Model& model, std::uint64_t seed, Out<double> q);
/// @copydoc random_configuration(const Model&, std::uint64_t, Out<double>)
BUNRAKU_API void random_configuration(const Model& model, std::uint64_t seed, Out<float> q);
/// The reference configuration of that name. O(nq). Throws ArgumentError for a wrong size, or an unknown name with the
/// nearest one.
BUNRAKU_API void reference_configuration(const Model& model, std::string_view name, Out<double> q);
/// @copydoc reference_configuration(const Model&, std::string_view, Out<double>)
BUNRAKU_API void reference_configuration(const Model& model, std::string_view name, Out<float> q);
/// Where the model starts: its reference configuration initial_name, or neutral where it has none. O(N). Throws
/// ArgumentError for a wrong size.
BUNRAKU_API void initial_configuration(const Model& model, Out<double> q);
/// @copydoc initial_configuration(const Model&, Out<double>)
BUNRAKU_API void initial_configuration(const Model& model, Out<float> q);
/// q ⊕ v dt, exactly for constant v; `out` may be q. O(N). Throws ArgumentError for a wrong size, a number that is not
/// finite, a quaternion whose norm is not 1 to 1e-6 (`float`: 1e-4; see normalize), or a motion beyond the range of
/// numbers.
BUNRAKU_API void integrate(const Model& model, In<double> q, In<double> v, double dt, Out<double> out);
/// @copydoc integrate(const Model&, In<double>, In<double>, double, Out<double>)
BUNRAKU_API void integrate(const Model& model, In<float> q, In<float> v, double dt, Out<float> out);
/// q1 ⊖ q0: the velocity that leads from q0 to q1 in unit time. O(N). Throws as integrate.
BUNRAKU_API void difference(const Model& model, In<double> q0, In<double> q1, Out<double> v);
/// @copydoc difference(const Model&, In<double>, In<double>, Out<double>)
BUNRAKU_API void difference(const Model& model, In<float> q0, In<float> q1, Out<float> v);
/// q0 ⊕ (q1 ⊖ q0) s: on the way of constant velocity from q0 (s = 0) to q1 (s = 1), or beyond; `out` may be q0 or q1.
/// O(N). Throws as integrate.
BUNRAKU_API void interpolate(const Model& model, In<double> q0, In<double> q1, double s, Out<double> out);
/// @copydoc interpolate(const Model&, In<double>, In<double>, double, Out<double>)
BUNRAKU_API void interpolate(const Model& model, In<float> q0, In<float> q1, double s, Out<float> out);
/// Gives every quaternion in q unit norm; a zero quaternion becomes no rotation. O(N). Throws ArgumentError for a wrong
/// size or a number that is not finite.
BUNRAKU_API void normalize(const Model& model, Out<double> q);
/// @copydoc normalize(const Model&, Out<double>)
BUNRAKU_API void normalize(const Model& model, Out<float> q);

/// @name Derivatives in tangent coordinates
/// nv × nv, zero but for a block on the diagonal for each hinge. A change of a configuration is a velocity there:
/// q ⊕ δ; of a result likewise. Exact, but for custom hinges: by sixth-order central differences, to about 1e-11.
/// O(nv²). Throw ArgumentError for a wrong shape, and as integrate.
/// @{

/// ∂(q ⊕ v dt)/∂q: Ad(exp(v dt))⁻¹ of a free hinge.
BUNRAKU_API void integrate_dq(const Model& model, In<double> q, In<double> v, double dt, MatrixOut<double> out);
/// @copydoc integrate_dq(const Model&, In<double>, In<double>, double, MatrixOut<double>)
BUNRAKU_API void integrate_dq(const Model& model, In<float> q, In<float> v, double dt, MatrixOut<float> out);
/// ∂(q ⊕ v dt)/∂v: 𝒥_r(v dt) dt of a free hinge.
BUNRAKU_API void integrate_dv(const Model& model, In<double> q, In<double> v, double dt, MatrixOut<double> out);
/// @copydoc integrate_dv(const Model&, In<double>, In<double>, double, MatrixOut<double>)
BUNRAKU_API void integrate_dv(const Model& model, In<float> q, In<float> v, double dt, MatrixOut<float> out);
/// d/dt ∂(q ⊕ v t)/∂q at t = 0, with which a change of q moves along: −ad(v), zero for hinges whose coordinates
/// commute, −v× of a spherical one. Of custom hinges good to about 1e-9.
BUNRAKU_API void tangent_rate(const Model& model, In<double> q, In<double> v, MatrixOut<double> out);
/// @copydoc tangent_rate(const Model&, In<double>, In<double>, MatrixOut<double>)
BUNRAKU_API void tangent_rate(const Model& model, In<float> q, In<float> v, MatrixOut<float> out);
/// ∂(q1 ⊖ q0)/∂q0: −𝒥_l⁻¹(q1 ⊖ q0) of a free hinge.
BUNRAKU_API void difference_dq0(const Model& model, In<double> q0, In<double> q1, MatrixOut<double> out);
/// @copydoc difference_dq0(const Model&, In<double>, In<double>, MatrixOut<double>)
BUNRAKU_API void difference_dq0(const Model& model, In<float> q0, In<float> q1, MatrixOut<float> out);
/// ∂(q1 ⊖ q0)/∂q1: 𝒥_r⁻¹(q1 ⊖ q0) of a free hinge.
BUNRAKU_API void difference_dq1(const Model& model, In<double> q0, In<double> q1, MatrixOut<double> out);
/// @copydoc difference_dq1(const Model&, In<double>, In<double>, MatrixOut<double>)
BUNRAKU_API void difference_dq1(const Model& model, In<float> q0, In<float> q1, MatrixOut<float> out);
/// @}

namespace detail {
/// An Eigen vector as a span, for as long as the vector lives.
BUNRAKU_INLINE std::span<const double> as_span(const Eigen::Ref<const Eigen::VectorXd>& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}
/// An Eigen vector as a span to write to.
BUNRAKU_INLINE std::span<double> as_span(Eigen::VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}
}  // namespace detail

/// @name The same, returned
/// `neutral(model)`, `neutral<float>(model)`; where there are arguments, they tell the scalar.
/// @{
template <class T = double>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, 1> neutral(const Model& model) {
  Eigen::Matrix<T, Eigen::Dynamic, 1> q(model.nq());
  neutral(model, q);
  return q;
}
template <class T = double>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, 1> random_configuration(const Model& model, std::uint64_t seed) {
  Eigen::Matrix<T, Eigen::Dynamic, 1> q(model.nq());
  random_configuration(model, seed, q);
  return q;
}
template <class T = double>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, 1> reference_configuration(const Model& model, std::string_view name) {
  Eigen::Matrix<T, Eigen::Dynamic, 1> q(model.nq());
  reference_configuration(model, name, q);
  return q;
}
template <class T = double>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, 1> initial_configuration(const Model& model) {
  Eigen::Matrix<T, Eigen::Dynamic, 1> q(model.nq());
  initial_configuration(model, q);
  return q;
}
BUNRAKU_INLINE Eigen::VectorXd integrate(const Model& model, In<double> q, In<double> v, double dt = 1) {
  Eigen::VectorXd out(model.nq());
  integrate(model, q, v, dt, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXf integrate(const Model& model, In<float> q, In<float> v, double dt = 1) {
  Eigen::VectorXf out(model.nq());
  integrate(model, q, v, dt, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd difference(const Model& model, In<double> q0, In<double> q1) {
  Eigen::VectorXd v(model.nv());
  difference(model, q0, q1, v);
  return v;
}
BUNRAKU_INLINE Eigen::VectorXf difference(const Model& model, In<float> q0, In<float> q1) {
  Eigen::VectorXf v(model.nv());
  difference(model, q0, q1, v);
  return v;
}
BUNRAKU_INLINE Eigen::VectorXd interpolate(const Model& model, In<double> q0, In<double> q1, double s) {
  Eigen::VectorXd q(model.nq());
  interpolate(model, q0, q1, s, q);
  return q;
}
BUNRAKU_INLINE Eigen::VectorXf interpolate(const Model& model, In<float> q0, In<float> q1, double s) {
  Eigen::VectorXf q(model.nq());
  interpolate(model, q0, q1, s, q);
  return q;
}
BUNRAKU_INLINE Eigen::MatrixXd integrate_dq(const Model& model, In<double> q, In<double> v, double dt = 1) {
  Eigen::MatrixXd out(model.nv(), model.nv());
  integrate_dq(model, q, v, dt, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXf integrate_dq(const Model& model, In<float> q, In<float> v, double dt = 1) {
  Eigen::MatrixXf out(model.nv(), model.nv());
  integrate_dq(model, q, v, dt, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXd tangent_rate(const Model& model, In<double> q, In<double> v) {
  Eigen::MatrixXd out(model.nv(), model.nv());
  tangent_rate(model, q, v, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXf tangent_rate(const Model& model, In<float> q, In<float> v) {
  Eigen::MatrixXf out(model.nv(), model.nv());
  tangent_rate(model, q, v, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXd integrate_dv(const Model& model, In<double> q, In<double> v, double dt = 1) {
  Eigen::MatrixXd out(model.nv(), model.nv());
  integrate_dv(model, q, v, dt, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXf integrate_dv(const Model& model, In<float> q, In<float> v, double dt = 1) {
  Eigen::MatrixXf out(model.nv(), model.nv());
  integrate_dv(model, q, v, dt, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXd difference_dq0(const Model& model, In<double> q0, In<double> q1) {
  Eigen::MatrixXd out(model.nv(), model.nv());
  difference_dq0(model, q0, q1, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXf difference_dq0(const Model& model, In<float> q0, In<float> q1) {
  Eigen::MatrixXf out(model.nv(), model.nv());
  difference_dq0(model, q0, q1, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXd difference_dq1(const Model& model, In<double> q0, In<double> q1) {
  Eigen::MatrixXd out(model.nv(), model.nv());
  difference_dq1(model, q0, q1, out);
  return out;
}
BUNRAKU_INLINE Eigen::MatrixXf difference_dq1(const Model& model, In<float> q0, In<float> q1) {
  Eigen::MatrixXf out(model.nv(), model.nv());
  difference_dq1(model, q0, q1, out);
  return out;
}
/// The vector with its quaternions made unit. The one given is not changed: for that, give a span.
template <class Derived>
[[nodiscard]] BUNRAKU_INLINE Eigen::Matrix<typename Derived::Scalar, Eigen::Dynamic, 1> normalize(
    const Model& model, const Eigen::MatrixBase<Derived>& q) {
  Eigen::Matrix<typename Derived::Scalar, Eigen::Dynamic, 1> out = q;
  normalize(model, Output<typename Derived::Scalar>(out));
  return out;
}
/// @}

}  // namespace bunraku
