/// @file
/// Room on the stack for the coordinates of one hinge: few for all but nodes of flexible bodies with many modes.
#pragma once

#include "bunraku/model/hinge.hpp"

namespace bunraku::kernels {

/// Calls f.template operator()<most>() with room enough for so many velocities, and for one position more, of hinges
/// with a quaternion. Making all the room that a hinge could want would take longer than most hinges do.
template <class F>
BUNRAKU_INLINE void with_room(int nv, F&& f) {
  if (nv <= max_hinge_velocities) {
    f.template operator()<max_hinge_velocities>();
  } else {
    f.template operator()<most_hinge_velocities>();
  }
}

}  // namespace bunraku::kernels
