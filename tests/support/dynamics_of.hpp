/// @file
/// Every call that needs 𝓜⁻¹, by name.
#pragma once

#include <array>

#include <Eigen/Core>

#include "bunraku/bunraku.hpp"

namespace bunraku::test {

/// A call that needs 𝓜⁻¹.
enum class Inverting { forward, fd1, fd2, fd3, fd4, hybrid, solve, inverse_mass, log_det, root, inverse_root, lambda };
/// All of them.
inline constexpr std::array all_inverting = {Inverting::forward, Inverting::fd1,          Inverting::fd2,
                                             Inverting::fd3,     Inverting::fd4,          Inverting::hybrid,
                                             Inverting::solve,   Inverting::inverse_mass, Inverting::log_det,
                                             Inverting::root,    Inverting::inverse_root, Inverting::lambda};

/// What a call gives for x, a torque, at rest and without passive forces, number after number.
template <class T>
Eigen::VectorXd run_inverting(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& x, Inverting call,
                              int body = 0) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  BasicState<T> state(model, PassiveForces::left_out);
  const Vector given = x.cast<T>();
  state.set(Vector(q.cast<T>()));
  const auto flat = [](const auto& m) {
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> plain = m;
    return Eigen::VectorXd(plain.reshaped().template cast<double>());
  };
  switch (call) {
    case Inverting::forward:
      return flat(forward_dynamics(state, given));
    case Inverting::fd1:
      return flat(forward_dynamics_by(ForwardAlgorithm::fd1, state, given));
    case Inverting::fd2:
      return flat(forward_dynamics_by(ForwardAlgorithm::fd2, state, given));
    case Inverting::fd3:
      return flat(forward_dynamics_by(ForwardAlgorithm::fd3, state, given));
    case Inverting::fd4:
      return flat(forward_dynamics_by(ForwardAlgorithm::fd4, state, given));
    case Inverting::hybrid: {
      Vector a = Vector::Zero(model.nv());
      Vector torque = given;
      hybrid_dynamics(state, HingeSet(model), a, torque);  // all free
      return flat(a);
    }
    case Inverting::solve:
      return flat(inverse_mass_times(state, given));
    case Inverting::inverse_mass:
      return flat(inverse_mass_matrix(state));
    case Inverting::log_det:
      return Eigen::VectorXd::Constant(1, static_cast<double>(log_det_mass(state)));
    case Inverting::root:
      return flat(mass_root_times(state, given));
    case Inverting::inverse_root:
      return flat(inverse_mass_root_times(state, given));
    case Inverting::lambda:
      break;
  }
  return flat(lambda_inverse(state, {model.bodies()[static_cast<std::size_t>(body)].name}));
}

}  // namespace bunraku::test
