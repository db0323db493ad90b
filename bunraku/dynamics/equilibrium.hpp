/// @file
/// Where a model rests.
#pragma once

#include <string>

#include "bunraku/dynamics/state.hpp"
#include "bunraku/model/hinge_set.hpp"

namespace bunraku {

/// How an equilibrium is looked for.
struct TrimOptions {
  int steps = 200;           ///< At most so many.
  double tolerance = 1e-10;  ///< At rest where no free hinge needs more torque than this, of the largest it could need.
};

/// What came of it.
struct TrimResult {
  bool found = false;          ///< Whether it rests.
  double residual = 0;         ///< The largest torque left on a free hinge, N·m or N.
  std::string worst;           ///< The free hinge with the largest.
  int steps = 0;               ///< That it took.
  double least_stiffness = 0;  ///< The least eigenvalue of ∂T/∂q of the free hinges, its symmetric part.
  bool stable = false;         ///< Whether that is positive: moved a little, it comes back. True without free hinges.
};

/// Moves the free hinges, and these alone, to where the model rests without torque on them: the others are held by
/// whatever torques that takes, as inverse_dynamics() tells. Levenberg and Marquardt's way from where the state is, on
/// the manifold, with the ∂T/∂q of inverse_dynamics_derivatives(); which equilibrium is found depends on the guess, and
/// limits of hinges do not stop it. Velocities become zero; where none is found the state is left at the best that was.
/// Loops are cut open. O((N d + n³) steps). Throws ArgumentError where the hinges are another model's.
template <class T>
BUNRAKU_API TrimResult trim(BasicState<T>& state, const HingeSet& free, const TrimOptions& options = {});

}  // namespace bunraku
