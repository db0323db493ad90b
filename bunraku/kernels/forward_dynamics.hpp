/// @file
/// Forward dynamics by articulated bodies (RK92 34–41, §VII): ω outward; P, D, U and ε inward; θ̈ outward.
#pragma once

#include "bunraku/kernels/articulated_bodies.hpp"

namespace bunraku::kernels {

template <Kind kind, class S>
void accelerate_revolute(Workspace<S>& ws, int begin, int end, S* acceleration) {
  for (int k = begin; k < end; ++k) {
    const Link<S>& l = ws.link(k);
    const Motion<S>& up = ws.alpha[at(l.parent + 1)];
    const Spin<S> spin = ws.spin[at(k)];
    const S rate = ws.v[l.v];
    Vec3<S> angular = spin.back(unturned<kind>(l, up.angular));
    const Vec3<S> linear =
        spin.back(unturned<kind>(l, up.linear + cross(up.angular, l.p) + ws.arm_acceleration[at(k)]));
    angular.x += ws.turning[at(k + 1)].w.y * rate;
    angular.y -= ws.turning[at(k + 1)].w.x * rate;
    const Force<S>& U = ws.of_forward.U[at(l.v)];
    const S wanted =
        ws.of_forward.D_inverse[at(l.v)] * (ws.epsilon[at(l.v)] - (dot(U.moment, angular) + dot(U.force, linear)));
    acceleration[l.v] = wanted;
    angular.z += wanted;
    ws.alpha[at(k + 1)] = {angular, linear};
  }
}

/// A free body against the world: H = I, and U(j) has nothing beyond j, so that its acceleration comes component by
/// component from those before alone.
template <class S>
void accelerate_floating(Workspace<S>& ws, int k, S* acceleration) {
  const Link<S>& l = ws.link(k);
  const Motion<S> biased = inverse_times(pose(ws, l), ws.alpha[0]) + hinge_bias_of(ws, k);
  Motion<S> alpha = Motion<S>::zero();
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    const Force<S>& U = ws.of_forward.U[at(l.v + j)];
    S left = ws.epsilon[at(l.v + j)];
#pragma GCC unroll 6
    for (int i = 0; i < j; ++i) {
      left -= U[i] * alpha[i];
    }
    alpha[j] = ws.of_forward.D_inverse[at(l.v + j)] * left;
    acceleration[l.v + j] = alpha[j] - biased[j];
  }
  ws.alpha[at(k + 1)] = alpha;
}

template <class S>
void accelerate_other(Workspace<S>& ws, int k, S* acceleration) {
  const Link<S>& l = ws.link(k);
  Motion<S> alpha = ws.alpha[at(l.parent + 1)];
  if (l.parent >= 0) {
    alpha.linear += ws.arm_acceleration[at(k)];
  }
  alpha = inverse_times(pose(ws, l), alpha) + hinge_bias_of(ws, k);
  for (int j = l.v; j < l.v + l.nv; ++j) {
    const S wanted = ws.of_forward.D_inverse[at(j)] * (ws.epsilon[at(j)] - dot(ws.of_forward.U[at(j)], alpha));
    acceleration[j] = wanted;
    alpha += column(ws, j) * wanted;
  }
  ws.alpha[at(k + 1)] = alpha;
}

/// The first two sweeps of forward dynamics: ω outward; P, D, U and ε inward.
template <class S>
void forward_dynamics_inward(Workspace<S>& ws, const S* torque) {
  need_carriers(ws);
  turn_carriers(ws);
  if constexpr (is_wide<S>) {
    eliminate<true, false>(ws, ws.of_forward, torque);
  } else if (!eliminate<true, false>(ws, ws.of_forward, torque)) [[unlikely]] {
    turn_carriers(ws);
    eliminate<true, true>(ws, ws.of_forward, torque);
  }
}

/// The last: θ̈ outward.
template <class S>
void forward_dynamics_outward(Workspace<S>& ws, S* acceleration) {
  ws.alpha[0] = {Vec3<S>::zero(), ws.base_acceleration};
  for (const Run& run : ws.tree->stages) {
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      accelerate_revolute<kind>(ws, begin, end, acceleration);
    };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      smooth_cluster<true>(ws, run, ws.of_forward, acceleration);
    } else {
      for (int k = run.begin; k < run.end; ++k) {
        run.kind == Kind::floating ? accelerate_floating(ws, k, acceleration) : accelerate_other(ws, k, acceleration);
      }
    }
  }
}

/// θ̈ from T: ω outward; P, D, U and ε inward; θ̈ outward (RK92 §VII). T and θ̈ are of all hinges. Throws Error where D
/// is singular.
template <class S>
void forward_dynamics(Workspace<S>& ws, const S* torque, S* acceleration) {
  forward_dynamics_inward(ws, torque);
  forward_dynamics_outward(ws, acceleration);
}

}  // namespace bunraku::kernels
