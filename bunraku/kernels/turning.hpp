/// @file
/// ω of all links, outward, with what of forces and accelerations depends on velocities alone.
#pragma once

#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// From ω of link k: ω~ω~ and the bias force b.
template <class S>
BUNRAKU_INLINE void settle(Workspace<S>& ws, int k, const Vec3<S>& w) {
  const Link<S>& l = ws.link(k);
  const Sym3<S> ww = Sym3<S>::outer_square(w);  // ωω*
  const Sym3<S> W{-(ww.yy + ww.zz), -(ww.xx + ww.zz), -(ww.xx + ww.yy), ww.xy, ww.xz, ww.yz};
  const Sym3<S>& i = l.inertia.inertia;
  const Vec3<S> turning{i.xz * ww.xy - i.xy * ww.xz + i.yz * (ww.yy - ww.zz) + l.difference.x * ww.yz,
                        i.xy * ww.yz - i.yz * ww.xy + i.xz * (ww.zz - ww.xx) + l.difference.y * ww.xz,
                        i.yz * ww.xz - i.xz * ww.yz + i.xy * (ww.xx - ww.yy) + l.difference.z * ww.xy};
  ws.force[at(k)] = {turning, W * l.inertia.first_moment};
  ws.turning[at(k + 1)] = {w, W};
}

template <Kind kind, class S>
void spin_revolute(Workspace<S>& ws, int begin, int end) {
  for (int k = begin; k < end; ++k) {
    const Link<S>& l = ws.link(k);
    const Turning<S>& up = ws.turning[at(l.parent + 1)];
    Vec3<S> w = ws.spin[at(k)].back(unturned<kind>(l, up.w));
    w.z += ws.v[l.v];
    ws.arm_acceleration[at(k)] = up.W * l.p;
    settle(ws, k, w);
  }
}

template <class S>
void spin_other(Workspace<S>& ws, int k) {
  const Link<S>& l = ws.link(k);
  const Turning<S>& up = ws.turning[at(l.parent + 1)];
  if (l.kind == Kind::prismatic) {
    ws.arm_acceleration[at(k)] = up.W * slid(ws, l);
    settle(ws, k, transpose_times(l.turn, up.w));
    return;
  }
  if (l.kind == Kind::floating) {
    const S* v = ws.v + l.v;
    const Vec3<S> w{v[0], v[1], v[2]};
    ws.special_bias[at(l.special)] = {Vec3<S>::zero(), cross(w, Vec3<S>{v[3], v[4], v[5]})};
    settle(ws, k, w);
    return;
  }
  Motion<S> relative = Motion<S>::zero();
  for (int j = 0; j < l.nv; ++j) {
    relative += ws.H[at(l.v + j)] * ws.v[l.rate + j];
  }
  const Vec3<S> w = placed(ws, l).rotation.inverse_times(up.w);
  ws.special_bias[at(l.special)] =
      joint_map_rate(ws, l, ws.v + l.rate) +
      Motion<S>{cross(w, relative.angular), cross(w + w + relative.angular, relative.linear)};
  ws.arm_acceleration[at(k)] = up.W * placed(ws, l).translation;
  settle(ws, k, w + relative.angular);
}

/// a of a link that is not revolute, but for the arm's part.
template <class S>
Motion<S> hinge_bias_of(Workspace<S>& ws, int k) {
  const Link<S>& l = ws.link(k);
  if (l.kind != Kind::prismatic) {
    return ws.special_bias[at(l.special)];
  }
  const Vec3<S>& w = ws.turning[at(k + 1)].w;
  const S twice = S(2) * ws.v[l.v];
  return {Vec3<S>::zero(), {w.y * twice, -w.x * twice, S(0)}};  // 2 ω × z q̇
}

/// a of any link but for the arm's part.
template <class S>
Motion<S> bias_of(Workspace<S>& ws, int k) {
  const Link<S>& l = ws.link(k);
  if (l.kind > Kind::revolute_full) {
    return hinge_bias_of(ws, k);
  }
  const Vec3<S>& w = ws.turning[at(k + 1)].w;
  return {{w.y * ws.v[l.v], -w.x * ws.v[l.v], S(0)}, Vec3<S>::zero()};
}

/// ω of lumps, and their bias forces.
template <class S>
void turn_lumps(Workspace<S>& ws) {
  for (const int k : ws.tree->lump_links) {
    spin_other(ws, k);
  }
}

/// ω of all links but lumps, and their bias forces.
template <class S>
void turn_carriers(Workspace<S>& ws) {
  for (const Run& run : ws.tree->runs) {
    if (run.kind == Kind::lump) {
      continue;
    }
    const auto revolute = [&]<Kind kind>(int begin, int end) { spin_revolute<kind>(ws, begin, end); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        spin_other(ws, k);
      }
    }
  }
}

}  // namespace bunraku::kernels
