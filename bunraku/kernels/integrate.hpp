/// @file
/// Steps on the manifold of configurations, in any scalar, over the user's coordinates.
#pragma once

#include "bunraku/kernels/positions.hpp"
#include "bunraku/spatial/cross.hpp"

namespace bunraku::kernels {

/// q ⊞ v dt of all hinges with coordinates of their own; `out` may be q.
template <class S>
void integrate(const Tree& tree, const S* q, const S* v, const S& dt, S* out) {
  for (const Body& body : tree.model.bodies()) {
    if (body.nq == 0) {
      continue;
    }
    const Hinge& hinge = body.hinge;
    const S* from = q + body.q_index;
    const S* rate = v + body.v_index;
    S* to = out + body.q_index;
    laws::visit_hinge_law(
        hinge.type, [&](auto law) { law.integrate(hinge, from, rate, dt, to); },
        [&] {
          for (int lane = 0; lane < Lanes<S>::count; ++lane) {
            double position[max_hinge_positions] = {};
            double velocity[max_hinge_velocities] = {};
            for (int i = 0; i < body.nq; ++i) {
              position[i] = plain_lane(from[i], lane);
            }
            for (int i = 0; i < body.nv; ++i) {
              velocity[i] = plain_lane(rate[i], lane);
            }
            custom_hinge_integrate(hinge, position, velocity, plain_lane(dt, lane), position);
            for (int i = 0; i < body.nq; ++i) {
              set_lane(to[i], lane, position[i]);
            }
          }
        });
  }
}

/// ξ̇ of q(t) = q₀ ⊞ ξ(t) at velocity v: J_r⁻¹(ξ)v = v + ½ ad(ξ)v + ¹⁄₁₂ ad²(ξ)v, but for terms of fourth order in ξ,
/// with ξ of all hinges with coordinates of their own. Of users' hinges it is v.
template <class S>
void tangent_rate(const Tree& tree, const S* xi, const S* v, S* out) {
  const auto bent = [](const Motion<S>& x, const Motion<S>& rate) {
    const Motion<S> once = cross(x, rate);
    return rate + once * S(0.5) + cross(x, once) * S(1.0 / 12);
  };
  for (const Body& body : tree.model.bodies()) {
    const S* x = xi + body.v_index;
    const S* rate = v + body.v_index;
    S* to = out + body.v_index;
    if (body.nv == 0) {
      continue;
    }
    switch (body.hinge.type) {
      case HingeType::spherical: {
        const Motion<S> moved =
            bent({{x[0], x[1], x[2]}, Vec3<S>::zero()}, {{rate[0], rate[1], rate[2]}, Vec3<S>::zero()});
        to[0] = moved.angular.x;
        to[1] = moved.angular.y;
        to[2] = moved.angular.z;
        break;
      }
      case HingeType::free: {
        const Motion<S> moved =
            bent({{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}, {{rate[0], rate[1], rate[2]}, {rate[3], rate[4], rate[5]}});
        for (int i = 0; i < 6; ++i) {
          to[i] = moved[i];
        }
        break;
      }
      case HingeType::planar: {
        const Motion<S> moved =
            bent({{S(0), S(0), x[2]}, {x[0], x[1], S(0)}}, {{S(0), S(0), rate[2]}, {rate[0], rate[1], S(0)}});
        to[0] = moved.linear.x;
        to[1] = moved.linear.y;
        to[2] = moved.angular.z;
        break;
      }
      default:
        for (int i = 0; i < body.nv; ++i) {
          to[i] = rate[i];
        }
    }
  }
}

/// q1 ⊟ q0 of all hinges with coordinates of their own.
template <class S>
void difference(const Tree& tree, const S* q0, const S* q1, S* out) {
  for (const Body& body : tree.model.bodies()) {
    if (body.nq == 0) {
      continue;
    }
    const Hinge& hinge = body.hinge;
    const S* a = q0 + body.q_index;
    const S* b = q1 + body.q_index;
    S* to = out + body.v_index;
    laws::visit_hinge_law(
        hinge.type, [&](auto law) { law.difference(hinge, a, b, to); },
        [&] {
          for (int lane = 0; lane < Lanes<S>::count; ++lane) {
            double from[max_hinge_positions] = {};
            double there[max_hinge_positions] = {};
            double numbers[max_hinge_velocities] = {};
            for (int i = 0; i < body.nq; ++i) {
              from[i] = plain_lane(a[i], lane);
              there[i] = plain_lane(b[i], lane);
            }
            custom_hinge_difference(hinge, from, there, numbers);
            for (int i = 0; i < body.nv; ++i) {
              set_lane(to[i], lane, numbers[i]);
            }
          }
        });
  }
}

}  // namespace bunraku::kernels
