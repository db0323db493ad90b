/// @file
/// Inverse dynamics by the recursive Newton–Euler equations (RK92 6–12): motions outward, forces inward.
#pragma once

#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// From ω, ω̇, ωω* and a of a link: its A = ω̇~ + ω~ω~, and the force f = Mα + b of the link alone. Both are linear in
/// the last three.
template <class S>
BUNRAKU_INLINE void settle(const Link<S>& l, const Vec3<S>& w, const Vec3<S>& wd, const Sym3<S>& ww, const Vec3<S>& a,
                           Moving<S>& moving, Force<S>& force) {
  const Mat3<S> A{{{-(ww.yy + ww.zz), ww.xy - wd.z, ww.xz + wd.y},
                   {ww.xy + wd.z, -(ww.xx + ww.zz), ww.yz - wd.x},
                   {ww.xz - wd.y, ww.yz + wd.x, -(ww.xx + ww.yy)}}};
  const Vec3<S>& h = l.inertia.first_moment;
  const Sym3<S>& i = l.inertia.inertia;
  // 𝒥ω̇ + ω × 𝒥ω in the elements of A: five products a component
  const Vec3<S> turning{
      i.xx * wd.x - i.xy * A(2, 0) + i.xz * A(1, 0) + i.yz * (ww.yy - ww.zz) + l.difference.x * ww.yz,
      i.yy * wd.y - i.yz * A(0, 1) + i.xy * A(2, 1) + i.xz * (ww.zz - ww.xx) + l.difference.y * ww.xz,
      i.zz * wd.z - i.xz * A(1, 2) + i.yz * A(0, 2) + i.xy * (ww.xx - ww.yy) + l.difference.z * ww.xy};
  force = {turning + cross(h, a), a * l.inertia.mass + A * h};
  moving = {w, wd, a, A};
}

/// Those of link k.
template <class S>
BUNRAKU_INLINE void settle(Workspace<S>& ws, int k, const Vec3<S>& w, const Vec3<S>& wd, const Vec3<S>& a) {
  settle(ws.link(k), w, wd, Sym3<S>::outer_square(w), a, ws.moving[at(k + 1)], ws.force[at(k)]);
}

template <Kind kind, class S>
void move_revolute(Workspace<S>& ws, int begin, int end, const S* velocity, const S* acceleration) {
  for (int k = begin; k < end; ++k) {
    const Link<S>& l = ws.link(k);
    const Moving<S>& up = ws.moving[at(l.parent + 1)];
    const Spin<S> spin = ws.spin[at(k)];
    const S rate = velocity[l.v];
    Vec3<S> w = spin.back(unturned<kind>(l, up.w));
    Vec3<S> wd = spin.back(unturned<kind>(l, up.wd));
    const Vec3<S> a = spin.back(unturned<kind>(l, up.a + up.A * l.p));
    wd.x += w.y * rate;
    wd.y -= w.x * rate;
    wd.z += acceleration[l.v];
    w.z += rate;
    settle(ws, k, w, wd, a);
  }
}

template <class S>
void move_prismatic(Workspace<S>& ws, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const Moving<S>& up = ws.moving[at(l.parent + 1)];
  const S twice = S(2) * velocity[l.v];
  const Vec3<S> w = transpose_times(l.turn, up.w);
  Vec3<S> a = transpose_times(l.turn, up.a + up.A * slid(ws, l));
  a.x += w.y * twice;  // 2 ω × z q̇
  a.y -= w.x * twice;
  a.z += acceleration[l.v];
  settle(ws, k, w, transpose_times(l.turn, up.wd), a);
}

template <class S>
void move_special(Workspace<S>& ws, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const Moving<S>& up = ws.moving[at(l.parent + 1)];
  const Rotation<S>& R = placed(ws, l).rotation;
  if (l.kind == Kind::floating) {
    const S* v = velocity + l.v;
    const S* vd = acceleration + l.v;
    const Vec3<S> w{v[0], v[1], v[2]};
    settle(ws, k, w, {vd[0], vd[1], vd[2]},
           R.inverse_times(up.a) + cross(w, Vec3<S>{v[3], v[4], v[5]}) + Vec3<S>{vd[3], vd[4], vd[5]});
    return;
  }
  Motion<S> relative = Motion<S>::zero();
  Motion<S> rate = joint_map_rate(ws, l, velocity + l.v);
  for (int j = l.v; j < l.v + l.nv; ++j) {
    relative += ws.H[at(j)] * velocity[j];
    rate += ws.H[at(j)] * acceleration[j];
  }
  const Vec3<S> w = R.inverse_times(up.w);
  settle(ws, k, w + relative.angular, R.inverse_times(up.wd) + cross(w, relative.angular) + rate.angular,
         R.inverse_times(up.a + up.A * placed(ws, l).translation) + cross(w + w + relative.angular, relative.linear) +
             rate.linear);
}

template <Kind kind, class S>
void push_revolute(Workspace<S>& ws, int begin, int end, const S* acceleration, S* torque) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const Force<S>& f = ws.force[at(k)];
    torque[l.v] = f.moment.z + l.armature * acceleration[l.v];
    if (l.parent >= 0) {
      const Spin<S> spin = ws.spin[at(k)];
      const Vec3<S> force = turned<kind>(l, spin.forth(f.force));
      Force<S>& up = ws.force[at(l.parent)];
      up.moment += turned<kind>(l, spin.forth(f.moment)) + cross(l.p, force);
      up.force += force;
    }
  }
}

template <class S>
void push_other(Workspace<S>& ws, int k, const S* acceleration, S* torque) {
  const Link<S>& l = ws.link(k);
  const Force<S>& f = ws.force[at(k)];
  switch (l.kind) {
    case Kind::prismatic:
      torque[l.v] = f.force.z + l.armature * acceleration[l.v];
      if (l.parent >= 0) {
        ws.force[at(l.parent)] += Transform<S>{Rotation<S>(l.turn), slid(ws, l)} * f;
      }
      return;
    case Kind::floating:
      for (int j = 0; j < 6; ++j) {
        torque[l.v + j] = f[j] + ws.armature[at(l.v + j)] * acceleration[l.v + j];
      }
      return;
    default:
      for (int j = l.v; j < l.v + l.nv; ++j) {
        torque[j] = dot(ws.H[at(j)], f) + ws.armature[at(j)] * acceleration[j];
      }
      if (l.parent >= 0) {
        ws.force[at(l.parent)] += placed(ws, l) * f;
      }
  }
}

/// Motions of all links and the force of each alone, outward: Mφ*(H*θ̈ + a) + b.
template <class S>
void sweep_motions(Workspace<S>& ws, const S* velocity, const S* acceleration) {
  need_positions(ws);
  for (const Run& run : ws.tree->runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      move_revolute<kind>(ws, begin, end, velocity, acceleration);
    };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        run.kind == Kind::prismatic ? move_prismatic(ws, k, velocity, acceleration)
                                    : move_special(ws, k, velocity, acceleration);
      }
    }
  }
}

/// T = Hφ[Mφ*(H*θ̈ + a) + b] + armature (RK92 6–12) for velocities and accelerations of all hinges: one sweep outward,
/// one inward.
template <class S>
void inverse_dynamics(Workspace<S>& ws, const S* velocity, const S* acceleration, S* torque) {
  sweep_motions(ws, velocity, acceleration);
  for (std::size_t r = ws.tree->runs.size(); r-- > 0;) {
    const Run& run = ws.tree->runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      push_revolute<kind>(ws, begin, end, acceleration, torque);
    };
    if (!if_revolute(run, revolute)) {
      for (int k = run.end - 1; k >= run.begin; --k) {
        push_other(ws, k, acceleration, torque);
      }
    }
  }
}

}  // namespace bunraku::kernels
