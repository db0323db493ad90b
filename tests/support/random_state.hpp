/// @file
/// A random model at a random state, and what single precision makes of it.
#pragma once

#include <Eigen/Core>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {

/// random_dynamics_model(sample) with a configuration, a velocity and an acceleration.
struct RandomState {
  explicit RandomState(int sample)
      : random(static_cast<unsigned>(sample) + 300),
        model(random_dynamics_model(sample, random)),
        q(random_configuration(model, static_cast<unsigned>(sample))),
        v(random.vector(model.nv())),
        a(random.vector(model.nv())) {}

  /// The configuration a time t later, at constant velocity.
  Eigen::VectorXd later(double t) const { return integrate(model, q, v, t); }
  /// Ideal hinges, in this state.
  template <class T>
  BasicState<T> dynamics() const {
    BasicState<T> out(model, PassiveForces::left_out);
    out.set(q.cast<T>(), v.cast<T>());
    return out;
  }

  Random random;
  Model model;
  Eigen::VectorXd q;
  Eigen::VectorXd v;
  Eigen::VectorXd a;
};

/// What a column-by-column result of a span form is, as a matrix of that many rows: f(out).
template <class T, class F>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> matrix_of(Eigen::Index rows, Eigen::Index columns, F&& f) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> out(rows, columns);
  out.setConstant(T(1e9));  // what was there before must not matter
  f(std::span<T>(out.data(), static_cast<std::size_t>(out.size())));
  return out;
}

}  // namespace bunraku::test
