/// @file
/// Configurations of a whole model: neutral, random, integrate, difference, normalize. The span forms are the
/// library's; the Eigen forms are inline and compiled with the caller's flags.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <Eigen/Core>

#include "bunraku/model/model.hpp"

namespace bunraku {

/// The configuration with every hinge at its neutral position. O(N). Throws ArgumentError for a wrong size.
BUNRAKU_API void neutral(const Model& model, std::span<double> q);
/// A random configuration, the same for the same seed on every machine: uniform within finite limits, otherwise
/// angles in ±π, lengths in ±1 m, quaternions uniform over all rotations. O(N). Throws ArgumentError for a wrong size.
BUNRAKU_API void random_configuration(const Model& model, std::uint64_t seed, std::span<double> q);
/// q ⊕ v dt, exactly for constant v; `out` may be q. O(N). Throws ArgumentError for a wrong size, a number that is not
/// finite, a quaternion whose norm is not 1 to 1e-6 (see normalize), or a motion beyond the range of numbers.
BUNRAKU_API void integrate(const Model& model, std::span<const double> q, std::span<const double> v, double dt,
                           std::span<double> out);
/// q1 ⊖ q0: the velocity that leads from q0 to q1 in unit time. O(N). Throws as integrate.
BUNRAKU_API void difference(const Model& model, std::span<const double> q0, std::span<const double> q1,
                            std::span<double> v);
/// Gives every quaternion in q unit norm; a zero quaternion becomes no rotation. O(N). Throws ArgumentError for a wrong
/// size or a number that is not finite.
BUNRAKU_API void normalize(const Model& model, std::span<double> q);
/// The reference configuration of that name. O(nq). Throws ArgumentError for a wrong size, or an unknown name with the
/// nearest one.
BUNRAKU_API void reference_configuration(const Model& model, std::string_view name, std::span<double> q);
/// Where the model starts: its reference configuration initial_name, or neutral where it has none. O(N). Throws
/// ArgumentError for a wrong size.
BUNRAKU_API void initial_configuration(const Model& model, std::span<double> q);

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

/// See the span form.
BUNRAKU_INLINE Eigen::VectorXd neutral(const Model& model) {
  Eigen::VectorXd q(model.nq());
  neutral(model, detail::as_span(q));
  return q;
}
/// See the span form.
BUNRAKU_INLINE Eigen::VectorXd random_configuration(const Model& model, std::uint64_t seed) {
  Eigen::VectorXd q(model.nq());
  random_configuration(model, seed, detail::as_span(q));
  return q;
}
/// See the span form.
BUNRAKU_INLINE Eigen::VectorXd integrate(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q,
                                         const Eigen::Ref<const Eigen::VectorXd>& v, double dt = 1) {
  Eigen::VectorXd out(model.nq());
  integrate(model, detail::as_span(q), detail::as_span(v), dt, detail::as_span(out));
  return out;
}
/// See the span form.
BUNRAKU_INLINE Eigen::VectorXd difference(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& q0,
                                          const Eigen::Ref<const Eigen::VectorXd>& q1) {
  Eigen::VectorXd v(model.nv());
  difference(model, detail::as_span(q0), detail::as_span(q1), detail::as_span(v));
  return v;
}
/// See the span form.
BUNRAKU_INLINE Eigen::VectorXd normalize(const Model& model, Eigen::VectorXd q) {
  normalize(model, detail::as_span(q));
  return q;
}
/// See the span form.
BUNRAKU_INLINE Eigen::VectorXd reference_configuration(const Model& model, std::string_view name) {
  Eigen::VectorXd q(model.nq());
  reference_configuration(model, name, detail::as_span(q));
  return q;
}
/// See the span form.
BUNRAKU_INLINE Eigen::VectorXd initial_configuration(const Model& model) {
  Eigen::VectorXd q(model.nq());
  initial_configuration(model, detail::as_span(q));
  return q;
}

}  // namespace bunraku
