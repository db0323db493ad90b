/// @file
/// How a state goes one step further.
#pragma once

namespace bunraku {

/// How a trajectory goes from one step to the next, on the configuration's manifold.
enum class Integrator {
  semi_implicit_euler,  ///< v' = v + θ̈ h, then q' = q ⊞ v' h: first order, and stable for what swings.
  runge_kutta_4,        ///< The classical Runge–Kutta method, stages in tangent coordinates at the step's start.
};

}  // namespace bunraku
