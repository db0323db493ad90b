/// @file
/// The hinges' own forces: damping, Coulomb friction, springs.
#pragma once

#include <algorithm>
#include <array>

#include "bunraku/kernels/coordinates.hpp"

namespace bunraku::kernels {

/// Which way a velocity goes: Coulomb's sign(θ̇), zero at rest.
inline double direction(double rate) {
  return rate > 0 ? 1.0 : rate < 0 ? -1.0 : 0.0;
}

/// What an actuator must overcome at one velocity: c θ̇ + μ sign(θ̇) + k · stretch.
inline double passive_torque(const HingeDof& dof, double rate, double stretch) {
  return dof.damping * rate + dof.friction * direction(rate) + dof.stiffness * stretch;
}

/// Calls f(dof, velocity index, stretch of its spring) for every velocity of all hinges at the positions q of them.
/// O(N).
template <class T, class S, class F>
void for_each_dof(const Model& model, const Coordinates<S>& coordinates, const T* q, F&& f) {
  std::array<double, max_hinge_positions> position{};
  std::array<double, max_hinge_velocities> stretch{};
  for (std::size_t k = 0; k < coordinates.slots.size(); ++k) {
    const Hinge& hinge = model.bodies()[k].hinge;
    const HingeSlot& slot = coordinates.slots[k];
    if (slot.nv == 0) {
      continue;
    }
    std::copy_n(q + slot.q, slot.nq, position.begin());
    hinge_difference(hinge, hinge.rest.data(), position.data(), stretch.data());
    for (int j = 0; j < slot.nv; ++j) {
      const auto at = static_cast<std::size_t>(j);
      f(hinge.dofs[at], static_cast<std::size_t>(slot.v) + at, stretch[at]);
    }
  }
}

}  // namespace bunraku::kernels
