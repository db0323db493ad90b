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

/// Whether the hinge's velocities are a twist, or a part of one, with a bracket that is not zero.
BUNRAKU_INLINE bool is_twisting(HingeType type) {
  return type == HingeType::spherical || type == HingeType::free || type == HingeType::planar;
}
/// Which component of the twist such a hinge's i-th velocity is.
BUNRAKU_INLINE int twist_component(HingeType type, int i) {
  return type != HingeType::planar ? i : i == 2 ? 2 : 3 + i;
}
/// The twist of such a hinge's velocities.
template <class S>
BUNRAKU_INLINE Motion<S> twist_of(HingeType type, const S* x) {
  switch (type) {
    case HingeType::spherical:
      return {{x[0], x[1], x[2]}, Vec3<S>::zero()};
    case HingeType::planar:
      return {{S(0), S(0), x[2]}, {x[0], x[1], S(0)}};
    default:
      return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
  }
}
/// Such a hinge's velocities of a twist.
template <class S>
BUNRAKU_INLINE void put_twist(HingeType type, const Motion<S>& twist, S* to) {
  if (type == HingeType::planar) {
    to[0] = twist.linear.x;
    to[1] = twist.linear.y;
    to[2] = twist.angular.z;
    return;
  }
  for (int i = 0; i < (type == HingeType::spherical ? 3 : 6); ++i) {
    to[i] = twist[i];
  }
}

/// ξ̇ of q(t) = q₀ ⊞ ξ(t) at velocity v: J_r⁻¹(ξ)v = v + ½ ad(ξ)v + ¹⁄₁₂ ad²(ξ)v, but for terms of fourth order in ξ,
/// with ξ of all hinges with coordinates of their own. Of users' hinges it is v.
template <class S>
void tangent_rate(const Tree& tree, const S* xi, const S* v, S* out) {
  for (const Body& body : tree.model.bodies()) {
    const S* rate = v + body.v_index;
    S* to = out + body.v_index;
    if (body.nv == 0) {
      continue;
    }
    if (!is_twisting(body.hinge.type)) {
      for (int i = 0; i < body.nv; ++i) {
        to[i] = rate[i];
      }
      continue;
    }
    const Motion<S> x = twist_of(body.hinge.type, xi + body.v_index);
    const Motion<S> w = twist_of(body.hinge.type, rate);
    const Motion<S> once = cross(x, w);
    put_twist(body.hinge.type, w + once * S(0.5) + cross(x, once) * S(1.0 / 12), to);
  }
}

/// The derivative of tangent_rate() along rates of ξ and v.
template <class S>
void tangent_rate_along(const Tree& tree, const S* xi, const S* v, const S* xi_rate, const S* v_rate, S* out) {
  tangent_rate(tree, xi, v_rate, out);
  for (const Body& body : tree.model.bodies()) {
    if (body.nv == 0 || !is_twisting(body.hinge.type)) {
      continue;
    }
    S* to = out + body.v_index;
    const Motion<S> x = twist_of(body.hinge.type, xi + body.v_index);
    const Motion<S> w = twist_of(body.hinge.type, v + body.v_index);
    const Motion<S> dx = twist_of(body.hinge.type, xi_rate + body.v_index);
    const Motion<S> once = cross(dx, w);
    const Motion<S> twice = cross(dx, cross(x, w)) + cross(x, once);
    put_twist(body.hinge.type,
              twist_of(body.hinge.type, static_cast<const S*>(to)) + once * S(0.5) + twice * S(1.0 / 12), to);
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
