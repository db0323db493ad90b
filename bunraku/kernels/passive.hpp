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

/// Calls f(dof, velocity index, stretch of its spring) for every velocity of one body's hinge.
template <class T, class S, class F>
void for_dofs_of(const Model& model, const Coordinates<S>& coordinates, std::size_t k, const T* q, F&& f) {
  const Hinge& hinge = model.bodies()[k].hinge;
  const HingeSlot& slot = coordinates.slots[k];
  const auto first = static_cast<std::size_t>(slot.v);
  if (has_plain_coordinates(hinge.type)) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(slot.nv); ++j) {
      f(hinge.dofs[j], first + j, static_cast<double>(q[static_cast<std::size_t>(slot.q) + j]) - hinge.rest[j]);
    }
    return;
  }
  std::array<double, max_hinge_positions> position{};
  std::array<double, max_hinge_velocities> stretch{};
  std::copy_n(q + slot.q, slot.nq, position.begin());
  hinge_difference(hinge, hinge.rest.data(), position.data(), stretch.data());
  for (std::size_t j = 0; j < static_cast<std::size_t>(slot.nv); ++j) {
    f(hinge.dofs[j], first + j, stretch[j]);
  }
}

/// Calls f(dof, velocity index, stretch of its spring) for every velocity of all hinges at the positions q of them.
/// O(N).
template <class T, class S, class F>
void for_each_dof(const Model& model, const Coordinates<S>& coordinates, const T* q, F&& f) {
  for (std::size_t k = 0; k < coordinates.slots.size(); ++k) {
    for_dofs_of(model, coordinates, k, q, f);
  }
}

/// The same for the velocities of hinges that have damping, friction or springs. O(their number).
template <class T, class S, class F>
void for_each_passive_dof(const Model& model, const Coordinates<S>& coordinates, const T* q, F&& f) {
  for (const int k : coordinates.passive) {
    for_dofs_of(model, coordinates, static_cast<std::size_t>(k), q, f);
  }
}

}  // namespace bunraku::kernels
