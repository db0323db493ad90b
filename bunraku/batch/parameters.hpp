/// @file
/// Parameters that differ from state to state.
#pragma once

#include "bunraku/batch/state_rows.hpp"

namespace bunraku {

/// What of a model differs from state to state: a row a state, for domain randomisation, identification, sensitivity by
/// sampling. What is not given is the model's own. All hold for the bodies and hinges in the model's order.
///
/// Inertial parameters are the numbers alone: that some rigid body could have them is not asked, as a step of an
/// identification may leave that set. Bodies joined by fixed hinges count each with its own.
template <class T>
struct BatchParameters {
  StateRows<const T> inertial{};   ///< 10 a body, as inertial_parameters(): m, m·c, 𝒥 about the body's origin.
  StateRows<const T> placement{};  ///< 7 a body, X_PF as (w, x, y, z, px, py, pz): where its hinge is on its parent.
  StateRows<const T> armature{};   ///< nv, as armature(): of the hinges with coordinates of their own.
  StateRows<const T> damping{};    ///< nv, as damping().
  StateRows<const T> friction{};   ///< nv, as friction().
  StateRows<const T> stiffness{};  ///< nv, as stiffness().
  StateRows<const T> gravity{};    ///< 3, in the world.
};

}  // namespace bunraku
