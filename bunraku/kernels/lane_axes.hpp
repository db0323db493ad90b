/// @file
/// Motions and forces of links, many side by side in registers, and the inertias of bodies that carry nothing:
/// templates on packs, see pack.hpp.
#pragma once

#include "bunraku/kernels/closure_packs.hpp"
#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// (x, y, z) ← R*(x, y, z), R(i, j) a single number.
template <class P, class Matrix>
BUNRAKU_INLINE void turn_back_by(const Matrix& R, P& x, P& y, P& z) {
  turn_by([&](int i, int j) BUNRAKU_INLINE_LAMBDA { return R(j, i); }, x, y, z);
}

/// Axes for many vectors side by side, in place.
template <Kind kind, class S>
struct LaneAxes {
  const Link<S>& l;
  const Spin<S>& spin;

  template <class P>
  BUNRAKU_INLINE void forth(Vec3<P>& v) const {
    turn_about<kind>(l, spin, v.x, v.y, v.z);
  }
  template <class P>
  BUNRAKU_INLINE void back(Vec3<P>& v) const {
    if constexpr (kind == Kind::revolute_quarter) {
      const P kept = v.y;
      v.y = v.z;
      v.z = -kept;
    } else if constexpr (kind == Kind::revolute_x) {
      turn_pair(P(l.turn_c), P(-l.turn_s), v.y, v.z);
    } else if constexpr (kind != Kind::revolute_none) {
      turn_back_by(l.turn, v.x, v.y, v.z);
    }
    if constexpr (kind != Kind::prismatic) {
      turn_pair(P(spin.c), P(-spin.s), v.x, v.y);
    }
  }
};
/// The same of a link that is neither revolute nor prismatic.
template <class S>
struct PlacedLaneAxes {
  const Rotation<S>& R;

  template <class P>
  BUNRAKU_INLINE void forth(Vec3<P>& v) const {
    turn_by(R, v.x, v.y, v.z);
  }
  template <class P>
  BUNRAKU_INLINE void back(Vec3<P>& v) const {
    turn_back_by(R, v.x, v.y, v.z);
  }
};

/// Calls f(axes, p) with how link k is turned against its parent, and where it is there.
template <class S, class F>
BUNRAKU_INLINE void with_lane_axes(const Workspace<S>& ws, int k, F&& f) {
  const Link<S>& l = ws.link(k);
  if (l.kind > Kind::prismatic) {
    const Transform<S>& X = placed(ws, l);
    return f(PlacedLaneAxes<S>{X.rotation}, X.translation);
  }
  with_kind(l.kind, [&]<Kind kind>() BUNRAKU_INLINE_LAMBDA {
    f(LaneAxes<kind, S>{l, ws.spin[at(k)]}, kind == Kind::prismatic ? slid(ws, l) : l.p);
  });
}

/// p × v, p the same for all.
template <class P, class S>
BUNRAKU_INLINE Vec3<P> arm_cross(const Vec3<S>& p, const Vec3<P>& v) {
  const P x(p.x);
  const P y(p.y);
  const P z(p.z);
  return {y * v.z - z * v.y, z * v.x - x * v.z, x * v.y - y * v.x};
}

/// P of an articulated body times many motions.
template <class P, class S>
BUNRAKU_INLINE Force<P> force_of_many(const ArticulatedInertia<S>& M, const Motion<P>& V) {
  const Sym3<S>& J = M.rotational;
  const Mat3<S>& C = M.coupling;
  const Sym3<S>& L = M.linear;
  const Vec3<P>& w = V.angular;
  const Vec3<P>& v = V.linear;
  const auto row = [](const S& a, const S& b, const S& c, const Vec3<P>& x)
                       BUNRAKU_INLINE_LAMBDA { return P(a) * x.x + P(b) * x.y + P(c) * x.z; };
  return {{row(J.xx, J.xy, J.xz, w) + row(C(0, 0), C(0, 1), C(0, 2), v),
           row(J.xy, J.yy, J.yz, w) + row(C(1, 0), C(1, 1), C(1, 2), v),
           row(J.xz, J.yz, J.zz, w) + row(C(2, 0), C(2, 1), C(2, 2), v)},
          {row(C(0, 0), C(1, 0), C(2, 0), w) + row(L.xx, L.xy, L.xz, v),
           row(C(0, 1), C(1, 1), C(2, 1), w) + row(L.xy, L.yy, L.yz, v),
           row(C(0, 2), C(1, 2), C(2, 2), w) + row(L.xz, L.yz, L.zz, v)}};
}

/// M of a rigid body likewise.
template <class P, class S>
BUNRAKU_INLINE Force<P> force_of_many(const RigidInertia<S>& M, const Motion<P>& V) {
  const Sym3<S>& J = M.inertia;
  const Vec3<P>& w = V.angular;
  const Vec3<P>& v = V.linear;
  const P m(M.mass);
  const auto row = [&](const S& a, const S& b, const S& c)
                       BUNRAKU_INLINE_LAMBDA { return P(a) * w.x + P(b) * w.y + P(c) * w.z; };
  const Vec3<P> lever = arm_cross(M.first_moment, v);
  const Vec3<P> turned = arm_cross(M.first_moment, w);
  return {{row(J.xx, J.xy, J.xz) + lever.x, row(J.xy, J.yy, J.yz) + lever.y, row(J.xz, J.yz, J.zz) + lever.z},
          {m * v.x - turned.x, m * v.y - turned.y, m * v.z - turned.z}};
}

/// The inertia of a link that carries nothing, about its parent's origin and in its axes.
template <class S>
BUNRAKU_INLINE RigidInertia<S> in_parent(const Workspace<S>& ws, int k) {
  const Link<S>& l = ws.link(k);
  RigidInertia<S> out;
  if (l.kind >= Kind::prismatic) {
    return pose(ws, l) * l.inertia;
  }
  with_kind(l.kind, [&]<Kind kind>() BUNRAKU_INLINE_LAMBDA {
    const Spin<S>& spin = ws.spin[at(k)];
    put(shifted(RigidInertia<S>{l.inertia.mass, turned<kind>(l, spin.forth(l.inertia.first_moment)),
                                turned<kind>(l, about_z(spin, DoubleSpin<S>(spin.c, spin.s), l.inertia.inertia))},
                l.p),
        out);
  });
  return out;
}
/// Adds it to an articulated one, or puts it there.
template <class S>
BUNRAKU_INLINE void add_rigid(const RigidInertia<S>& M, bool opens, ArticulatedInertia<S>& to) {
  const Vec3<S>& h = M.first_moment;
  if (opens) {
    const S none(0);
    put(M.inertia, to.rotational);
    put(Mat3<S>{{{none, -h.z, h.y}, {h.z, none, -h.x}, {-h.y, h.x, none}}}, to.coupling);
    put(Sym3<S>{M.mass, M.mass, M.mass, none, none, none}, to.linear);
    return;
  }
  to.rotational += M.inertia;
  to.coupling(0, 1) -= h.z;
  to.coupling(0, 2) += h.y;
  to.coupling(1, 0) += h.z;
  to.coupling(1, 2) -= h.x;
  to.coupling(2, 0) -= h.y;
  to.coupling(2, 1) += h.x;
  to.linear.xx += M.mass;
  to.linear.yy += M.mass;
  to.linear.zz += M.mass;
}

}  // namespace bunraku::kernels
