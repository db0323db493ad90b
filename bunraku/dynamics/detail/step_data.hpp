/// @file
/// What steps of trajectories keep in a state.
#pragma once

#include <array>
#include <vector>

#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku::detail {

/// What the derivatives need, from their first use on. Matrices of 3n columns are by q, v and T at the step's start.
template <class T>
struct StepChanges {
  /// O(n²) memory.
  explicit StepChanges(Eigen::Index n)
      : by_start(n, n), by_way(n, n), dq(n, n), dv(n, n), dtau(n, n), q(n, 3 * n), v(n, 3 * n), a(n, 3 * n) {
    for (MatrixX<T>* each : {&way, &rate, &sum_way, &sum_v}) {
      each->resize(n, 3 * n);
    }
  }

  MatrixX<T> by_start;      ///< integrate_dq, blocks on the diagonal.
  MatrixX<T> by_way;        ///< integrate_dv, likewise.
  MatrixX<T> dq, dv, dtau;  ///< Of θ̈ at a stage.
  MatrixX<T> q, v, a;       ///< The changes of a stage's configuration, velocity and θ̈.
  MatrixX<T> way, rate;     ///< Those of ξ and of its rate.
  MatrixX<T> sum_way;       ///< The weighted sum of `rate`.
  MatrixX<T> sum_v;         ///< That of `a`.
};

/// The stages of a step.
template <class T>
struct StepData {
  /// O(N) memory.
  explicit StepData(const BasicState<T>& state) : stage(state) {
    const auto n = static_cast<std::size_t>(state.model().nv());
    for (std::vector<T>* each : {&v, &a, &way, &rate, &sum_way, &sum_v}) {
      each->resize(n);
    }
    q.resize(static_cast<std::size_t>(state.model().nq()));
  }

  BasicState<T> stage;                           ///< A state of its own: the user's stays what it is.
  std::vector<T> q, v, a;                        ///< Of a stage, and of the result.
  std::vector<T> way, rate;                      ///< ξ and its rate.
  std::vector<T> sum_way;                        ///< The weighted sum of `rate`.
  std::vector<T> sum_v;                          ///< That of θ̈.
  std::unique_ptr<StepChanges<T>> changes = {};  ///< From the first derivatives on.
};

}  // namespace bunraku::detail
