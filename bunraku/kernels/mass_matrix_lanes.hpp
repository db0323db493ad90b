/// @file
/// 𝓜 of several states at once by composite bodies (RK92 28–33): inward, R(k) = Σ φRφ* + M(k); the force R(k)H*(k) of a
/// unit acceleration goes to the base without a stop in memory, and its part along each hinge on the way is an element
/// of 𝓜.
#pragma once

#include "bunraku/kernels/eliminate_lanes.hpp"
#include "bunraku/kernels/mass_matrix.hpp"

namespace bunraku::kernels {

/// A force from a link that is not revolute to its parent's frame. Not inline: the revolute ones' numbers shall stay in
/// registers.
template <class S>
[[gnu::noinline]] Force<S> climbed(const Workspace<S>& ws, const Link<S>& l, const Force<S>& f) {
  return pose(ws, l) * f;
}

/// Writes the parts of a force along the coordinates of a link that is neither revolute nor floating.
template <class S>
[[gnu::noinline]] S* write_along(const Workspace<S>& ws, const Link<S>& l, const Force<S>& f, S* to) {
  for (int i = 0; i < l.nv; ++i) {
    *to++ = dot(column(ws, l.v + i), f);
  }
  return to;
}

/// From link k on, a force of a unit acceleration goes to the base; its parts along the hinges on the way are written
/// one after the other.
template <class S>
[[gnu::noinline]] void climb_all(const Workspace<S>& ws, int k, const Numbers<S>& from, S* to) {
  Numbers<S> f{from.nx, from.ny, from.nz, from.fx, from.fy, from.fz};
  for (int here = k; ws.link(here).parent >= 0;) {
    const Link<S>& l = ws.link(here);
    const Spin<S>& spin = ws.spin[at(here)];
    switch (l.kind) {
      case Kind::revolute_none:
        climb<Kind::revolute_none>(l, spin, f);
        break;
      case Kind::revolute_quarter:
        climb<Kind::revolute_quarter>(l, spin, f);
        break;
      case Kind::revolute_x:
        climb<Kind::revolute_x>(l, spin, f);
        break;
      case Kind::revolute_full:
        climb<Kind::revolute_full>(l, spin, f);
        break;
      default: {
        const Force<S> moved = climbed(ws, l, {{f.nx, f.ny, f.nz}, {f.fx, f.fy, f.fz}});
        f = {moved.moment.x, moved.moment.y, moved.moment.z, moved.force.x, moved.force.y, moved.force.z};
      }
    }
    here = l.parent;
    const Link<S>& up = ws.link(here);
    if (up.kind <= Kind::revolute_full) [[likely]] {
      *to++ = f.nz;
    } else if (up.kind == Kind::floating) {
      to[0] = f.nx;
      to[1] = f.ny;
      to[2] = f.nz;
      to[3] = f.fx;
      to[4] = f.fy;
      to[5] = f.fz;
      to += 6;
    } else {
      to = write_along(ws, up, {{f.nx, f.ny, f.nz}, {f.fx, f.fy, f.fz}}, to);
    }
  }
}

/// The coordinates of a link that is not revolute: their own part of 𝓜, and their paths to the base.
template <class S>
void write_columns(const Workspace<S>& ws, int k, const RigidInertia<S>& R, const int* start, S* out) {
  const Link<S>& own = ws.link(k);
  const Vec3<S>& h = R.first_moment;
  const Sym3<S>& i = R.inertia;
  if (own.kind == Kind::floating) {
    const S& m = R.mass;
    const S zero(0);
    const S rows[6][6] = {{i.xx, i.xy, i.xz, zero, -h.z, h.y}, {i.xy, i.yy, i.yz, h.z, zero, -h.x},
                          {i.xz, i.yz, i.zz, -h.y, h.x, zero}, {zero, h.z, -h.y, m, zero, zero},
                          {-h.z, zero, h.x, zero, m, zero},    {h.y, -h.x, zero, zero, zero, m}};
    for (int a = 0; a < 6; ++a) {
      for (int b = 0; b < 6; ++b) {
        out[start[own.v + a] + b] = rows[a][b];
      }
    }
    return;
  }
  for (int j = own.v; j < own.v + own.nv; ++j) {
    const Force<S> f = R * column(ws, j);
    S* const to = out + start[j];
    S* const path = write_along(ws, own, f, to);
    to[j - own.v] += ws.armature[j];
    climb_all(ws, k, Numbers<S>{f.moment.x, f.moment.y, f.moment.z, f.force.x, f.force.y, f.force.z}, path);
  }
}

/// φ(p) R φ*(p) of a revolute link goes to its parent: the arithmetic of hand_over, number by number.
template <Kind kind, class S>
BUNRAKU_INLINE void give_composite(Workspace<S>& ws, const Link<S>& l, const Spin<S>& spin, const RigidInertia<S>& R) {
  const Vec3<S>& p = l.p;
  const S& m = R.mass;
  S hx = R.first_moment.x;
  S hy = R.first_moment.y;
  S hz = R.first_moment.z;
  turn_vector<kind>(l, spin, hx, hy, hz);
  S xx = R.inertia.xx;
  S yy = R.inertia.yy;
  S zz = R.inertia.zz;
  S xy = R.inertia.xy;
  S xz = R.inertia.xz;
  S yz = R.inertia.yz;
  DoubleSpin<S>(spin.c, spin.s).turn(xx, yy, xy);
  turn_pair(spin.c, spin.s, xz, yz);
  turn_tensor<kind>(l, xx, yy, zz, xy, xz, yz);
  const S mx = hx + p.x * m;
  const S my = hy + p.y * m;
  const S mz = hz + p.z * m;
  const S x = p.x * (hx + mx);
  const S y = p.y * (hy + my);
  const S z = p.z * (hz + mz);
  RigidInertia<S>& sum = ws.composite[at(l.parent)];
  const auto give = [&]<bool first>() BUNRAKU_INLINE_LAMBDA {
    const auto put = [](const S& number, S& to) BUNRAKU_INLINE_LAMBDA { to = first ? number : to + number; };
    put(m, sum.mass);
    put(mx, sum.first_moment.x);
    put(my, sum.first_moment.y);
    put(mz, sum.first_moment.z);
    put(xx + (y + z), sum.inertia.xx);
    put(yy + (x + z), sum.inertia.yy);
    put(zz + (x + y), sum.inertia.zz);
    put(xy - (hx * p.y + p.x * my), sum.inertia.xy);
    put(xz - (hx * p.z + p.x * mz), sum.inertia.xz);
    put(yz - (hy * p.z + p.y * mz), sum.inertia.yz);
  };
  l.opens_parent ? give.template operator()<true>() : give.template operator()<false>();
}

/// R of a link, and what of it goes to the parent and to 𝓜.
template <Kind kind, class S, class Beside>
void compose_lanes(Workspace<S>& ws, int begin, int end, const int* start, S* out, const Beside& beside) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const RigidInertia<S>& own = l.inertia;
    const RigidInertia<S>& more = ws.composite[at(k)];
    RigidInertia<S> R;
    R.mass = own.mass + more.mass;
    R.first_moment.x = own.first_moment.x + more.first_moment.x;
    R.first_moment.y = own.first_moment.y + more.first_moment.y;
    R.first_moment.z = own.first_moment.z + more.first_moment.z;
    R.inertia.xx = own.inertia.xx + more.inertia.xx;
    R.inertia.yy = own.inertia.yy + more.inertia.yy;
    R.inertia.zz = own.inertia.zz + more.inertia.zz;
    R.inertia.xy = own.inertia.xy + more.inertia.xy;
    R.inertia.xz = own.inertia.xz + more.inertia.xz;
    R.inertia.yz = own.inertia.yz + more.inertia.yz;
    S* const to = out + start[l.v];
    *to = R.inertia.zz + l.armature;
    if (l.parent >= 0) {
      const Numbers<S> f{R.inertia.xz, R.inertia.yz, R.inertia.zz, -R.first_moment.y, R.first_moment.x, S(0)};
      climb_all(ws, k, f, to + 1);
      give_composite<kind>(ws, l, ws.spin[at(k)], R);
    }
    beside(start[l.v]);
  }
}

/// 𝓜 where several states go at once: column by column, each from its link to the base without a stop in memory. Of
/// each coordinate of all hinges, from `start` on: the elements with those of its own link, and then with those of each
/// link on its path to the base. See MatrixPlaces. After each link beside(i) does what else there is to do: all numbers
/// from i on are there.
template <class S, class Beside>
void mass_matrix_by_paths(Workspace<S>& ws, const int* start, S* out, const Beside& beside) {
  need_positions(ws);
  for (std::size_t r = ws.tree->runs.size(); r-- > 0;) {
    const Run& run = ws.tree->runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      compose_lanes<kind>(ws, begin, end, start, out, beside);
    };
    if (if_revolute(run, revolute)) {
      continue;
    }
    for (int k = run.end - 1; k >= run.begin; --k) {
      const Link<S>& l = ws.link(k);
      const RigidInertia<S> R = composed(ws, k);
      write_columns(ws, k, R, start, out);
      if (l.parent >= 0) {
        const Transform<S> X = pose(ws, l);
        hand_over(ws, l, X.translation, X.rotation * R);
      }
      beside(start[l.v]);
    }
  }
}

}  // namespace bunraku::kernels
