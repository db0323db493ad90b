/// @file
/// Every call that needs 𝓜⁻¹, by name.
#pragma once

#include <array>
#include <memory>
#include <vector>

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
  BasicDynamics<T> dynamics(model, PassiveForces::left_out);
  const Vector given = x.cast<T>();
  dynamics.set_state(Vector(q.cast<T>()), Vector(Vector::Zero(model.nv())));
  const auto flat = [](const auto& m) {
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> plain = m;
    return Eigen::VectorXd(plain.reshaped().template cast<double>());
  };
  switch (call) {
    case Inverting::forward:
      return flat(dynamics.forward(given));
    case Inverting::fd1:
      return flat(dynamics.forward_by(ForwardAlgorithm::fd1, given));
    case Inverting::fd2:
      return flat(dynamics.forward_by(ForwardAlgorithm::fd2, given));
    case Inverting::fd3:
      return flat(dynamics.forward_by(ForwardAlgorithm::fd3, given));
    case Inverting::fd4:
      return flat(dynamics.forward_by(ForwardAlgorithm::fd4, given));
    case Inverting::hybrid: {
      Vector a = Vector::Zero(model.nv());
      Vector torque = given;
      const std::size_t bodies = model.bodies().size();
      const auto mask = std::make_unique<bool[]>(bodies);  // all free
      const auto n = static_cast<std::size_t>(model.nv());
      dynamics.hybrid({mask.get(), bodies}, {a.data(), n}, {torque.data(), n});
      return flat(a);
    }
    case Inverting::solve:
      return flat(dynamics.solve(given));
    case Inverting::inverse_mass:
      return flat(dynamics.inverse_mass_matrix());
    case Inverting::log_det:
      return Eigen::VectorXd::Constant(1, static_cast<double>(dynamics.log_determinant()));
    case Inverting::root:
      return flat(dynamics.square_root_times(given));
    case Inverting::inverse_root:
      return flat(dynamics.inverse_square_root_times(given));
    case Inverting::lambda:
      break;
  }
  const std::vector<Node> nodes = {model.node(model.bodies()[static_cast<std::size_t>(body)].name)};
  return flat(dynamics.operational_space_inverse(nodes));
}

}  // namespace bunraku::test
