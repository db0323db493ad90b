/// @file
/// Whether the hinges' own forces count.
#pragma once

namespace bunraku {

/// Which of a hinge's own forces count.
enum class PassiveForces {
  included,  ///< Damping, Coulomb friction and springs act.
  left_out,  ///< Ideal hinges. Armature stays.
};

}  // namespace bunraku
