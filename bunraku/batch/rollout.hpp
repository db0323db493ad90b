/// @file
/// Many trajectories at once: what a rollout is asked.
#pragma once

#include "bunraku/batch/state_rows.hpp"
#include "bunraku/dynamics/integrator.hpp"

namespace bunraku {

/// A trajectory of `steps` steps of `step` seconds.
struct RolloutOptions {
  double step = 1e-3;                                       ///< s, above 0.
  int steps = 1;                                            ///< How many, at least 1.
  Integrator integrator = Integrator::semi_implicit_euler;  ///< How.
  int record_every = 1;                                     ///< States after each so many steps are recorded.
  /// How many states are recorded: those after step record_every, 2·record_every, …
  int records() const { return steps / record_every; }
};

/// What drives the trajectories: τ = torques + gain · [q_ref ⊟ q; v_ref − v].
template <class T>
struct RolloutInput {
  StateRows<const T>
      torques{};  ///< steps × nv numbers a state, step after step; nv numbers: the same at each; none: zero.
  StateRows<const T> gain{};         ///< nv × 2nv, the same for all states; none: no feedback.
  StateRows<const T> reference_q{};  ///< nq numbers a state, or one row for all.
  StateRows<const T> reference_v{};  ///< nv numbers a state, or one row for all; none: rest.
};

}  // namespace bunraku
