/// @file
/// Damping, friction and springs of all hinges, in any scalar.
#pragma once

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/integrate.hpp"
#include "bunraku/kernels/positions.hpp"
#include "bunraku/model/detail/hinge_derivatives.hpp"
#include "bunraku/spatial/exponential.hpp"

namespace bunraku::kernels {

/// How far each velocity's spring is stretched at q: q ⊟ rest, by the law of a hinge whose coordinates are not plain.
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
    const Hinge& hinge = ws.tree->model.bodies()[at(b)].hinge;
    if (has_plain_coordinates(hinge.type)) {
      for (int j = 0; j < slot.nv; ++j) {
        f(slot.v + j, ws.q[slot.q + j] - S(hinge.rest.data()[j]));
      }
      continue;
    }
    S stretch[max_hinge_velocities] = {};
    stretch_of(hinge, ws.q + slot.q, stretch);
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

/// ∂(q ⊟ rest)/∂q in tangent coordinates, row by row, of a hinge stretched so far whose coordinates are not plain:
/// 𝒥_r⁻¹ of the stretch.
template <class S>
void stretch_slopes(const Hinge& hinge, const S* q, const S* stretch, S* slopes) {
  const int nv = hinge.velocity_size();
  if (hinge.type == HingeType::custom) {
    for (int lane = 0; lane < Lanes<S>::count; ++lane) {
      double position[max_hinge_positions] = {};
      double block[max_hinge_velocities * max_hinge_velocities] = {};
      for (int i = 0; i < hinge.configuration_size(); ++i) {
        position[i] = plain_lane(q[i], lane);
      }
      hinge_difference_dq1(hinge, hinge.rest.data(), position, block);
      for (int i = 0; i < nv * nv; ++i) {
        set_lane(slopes[i], lane, block[i]);
      }
    }
    return;
  }
  const Mat6<S> inverse = right_jacobian_inverse(twist_of(hinge.type, stretch));
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < nv; ++j) {
      slopes[i * nv + j] = inverse(twist_component(hinge.type, i), twist_component(hinge.type, j));
    }
  }
}

/// Calls f(i, j, ∂/∂q, ∂/∂θ̇) for elements of the derivatives of what add_passive() adds, over all hinges; those of
/// friction are zero.
template <class S, class F>
void for_passive_slopes(const Workspace<S>& ws, F&& f) {
  const Constants<S>& c = *ws.constants;
  for (int j = 0; j < ws.tree->coordinates.nv; ++j) {
    f(at(j), at(j), S(0), c.damping[at(j)]);
  }
  for (const int b : ws.tree->springs) {
    const Hinge& hinge = ws.tree->model.bodies()[at(b)].hinge;
    const HingeSlot& slot = ws.tree->coordinates.slots[at(b)];
    if (has_plain_coordinates(hinge.type)) {
      for (int j = slot.v; j < slot.v + slot.nv; ++j) {
        f(at(j), at(j), c.stiffness[at(j)], S(0));
      }
      continue;
    }
    S stretch[max_hinge_velocities] = {};
    S slopes[max_hinge_velocities * max_hinge_velocities] = {};
    stretch_of(hinge, ws.q + slot.q, stretch);
    stretch_slopes(hinge, ws.q + slot.q, static_cast<const S*>(stretch), slopes);
    for (int i = 0; i < slot.nv; ++i) {
      for (int j = 0; j < slot.nv; ++j) {
        f(at(slot.v + i), at(slot.v + j), c.stiffness[at(slot.v + i)] * slopes[i * slot.nv + j], S(0));
      }
    }
  }
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
