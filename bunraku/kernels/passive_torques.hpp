/// @file
/// Damping, friction and springs of all hinges, in any scalar.
#pragma once

#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// How far each velocity's spring is stretched at q: q ⊟ rest, by the hinge's law.
template <class S>
void stretch_of(const Hinge& hinge, const S* q, S* stretch) {
  S rest[max_hinge_positions];
  for (int i = 0; i < hinge.configuration_size(); ++i) {
    rest[i] = S(hinge.rest[at(i)]);
  }
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.difference(hinge, static_cast<const S*>(rest), q, stretch); },
      [&] {
        for (int lane = 0; lane < Lanes<S>::count; ++lane) {
          double position[max_hinge_positions] = {};
          double difference[max_hinge_velocities] = {};
          for (int i = 0; i < hinge.configuration_size(); ++i) {
            position[i] = plain_lane(q[i], lane);
          }
          custom_hinge_stretch(hinge, position, difference);
          for (int i = 0; i < hinge.velocity_size(); ++i) {
            set_lane(stretch[i], lane, difference[i]);
          }
        }
      });
}

/// Calls f(velocity among all hinges', stretch of its spring) for every velocity of hinges that may have some.
template <class S, class F>
void for_springs(const Workspace<S>& ws, F&& f) {
  for (const int b : ws.tree->springs) {
    const HingeSlot& slot = ws.tree->coordinates.slots[at(b)];
    S stretch[max_hinge_velocities] = {};
    stretch_of(ws.tree->model.bodies()[at(b)].hinge, ws.q + slot.q, stretch);
    for (int j = 0; j < slot.nv; ++j) {
      f(slot.v + j, stretch[j]);
    }
  }
}

/// Adds what actuators must overcome, c θ̇ + μ sign(θ̇) + k · stretch, to torques of all hinges.
template <class S>
void add_passive(const Workspace<S>& ws, S* torque) {
  const Constants<S>& c = *ws.constants;
  for (int j = 0; j < ws.tree->coordinates.nv; ++j) {
    const S& rate = ws.v[j];
    const S sign = select(rate > S(0), S(1), select(rate < S(0), S(-1), S(0)));
    torque[j] += c.damping[at(j)] * rate + c.friction[at(j)] * sign;
  }
  for_springs(ws, [&](int j, const S& stretch) { torque[j] += c.stiffness[at(j)] * stretch; });
}

/// ½ k stretch² of all springs.
template <class S>
S spring_energy(const Workspace<S>& ws) {
  S energy(0);
  for_springs(ws,
              [&](int j, const S& stretch) { energy += S(0.5) * ws.constants->stiffness[at(j)] * stretch * stretch; });
  return energy;
}

}  // namespace bunraku::kernels
