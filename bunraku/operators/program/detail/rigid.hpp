/// @file
/// Arithmetic of rigid bodies on arrays of numbers: the one place that knows that such a body has six of them.
#pragma once

#include <array>
#include <vector>

#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/elimination.hpp"
#include "bunraku/kernels/turns.hpp"
#include "bunraku/spatial/cross.hpp"

namespace bunraku::operators {

/// Numbers of a rigid body's motion or force.
inline constexpr int rigid = 6;

/// The force at x.
template <class S>
BUNRAKU_INLINE Force<S> force_at(const S* x) {
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}
/// The motion at x.
template <class S>
BUNRAKU_INLINE Motion<S> motion_at(const S* x) {
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}
/// Writes six numbers.
template <class S>
BUNRAKU_INLINE void put(S* out, const Vec3<S>& upper, const Vec3<S>& lower) {
  out[0] = upper.x;
  out[1] = upper.y;
  out[2] = upper.z;
  out[3] = lower.x;
  out[4] = lower.y;
  out[5] = lower.z;
}
/// Writes a force.
template <class S>
BUNRAKU_INLINE void put(S* out, const Force<S>& f) {
  put(out, f.moment, f.force);
}
/// Writes a motion.
template <class S>
BUNRAKU_INLINE void put(S* out, const Motion<S>& m) {
  put(out, m.angular, m.linear);
}
/// Adds a force.
template <class S>
BUNRAKU_INLINE void add(S* out, const Force<S>& f) {
  put(out, force_at(out) + f);
}
/// Adds a motion.
template <class S>
BUNRAKU_INLINE void add(S* out, const Motion<S>& m) {
  put(out, motion_at(out) + m);
}

/// A symmetric block, row by row, as an articulated inertia.
template <class S>
ArticulatedInertia<S> inertia_at(const S* x) {
  const auto at = [&](int i, int j) -> const S& { return x[rigid * i + j]; };
  return {{at(0, 0), at(1, 1), at(2, 2), at(0, 1), at(0, 2), at(1, 2)},
          {{{at(0, 3), at(0, 4), at(0, 5)}, {at(1, 3), at(1, 4), at(1, 5)}, {at(2, 3), at(2, 4), at(2, 5)}}},
          {at(3, 3), at(4, 4), at(5, 5), at(3, 4), at(3, 5), at(4, 5)}};
}

/// The hinges and poses of all links at a configuration.
template <class S>
struct Joints {
  std::vector<kernels::Spin<S>> spin;  ///< Of each link that turns about z.
  std::vector<Transform<S>> pose;      ///< In its parent, of each other link.
  std::vector<Motion<S>> columns;      ///< Of H*, by velocities of all hinges; a follower's times its ratio.
};

/// What a link of one kind does with motions, forces and inertias. `k` is the link.
template <class S, kernels::Kind kind>
struct Turning {
  static constexpr bool turns = true;  ///< About z.
  static constexpr int nv = 1;         ///< Velocities.
  const kernels::Link<S>& l;
  const kernels::Spin<S>& spin;

  BUNRAKU_INLINE Turning(const kernels::Link<S>* links, const Joints<S>& joints, int k)
      : l(links[k]), spin(joints.spin[static_cast<std::size_t>(k)]) {}
  /// φ(p,k) f.
  BUNRAKU_INLINE Force<S> up(const Force<S>& f) const {
    const Vec3<S> force = kernels::turned<kind>(l, spin.forth(f.force));
    return {kernels::turned<kind>(l, spin.forth(f.moment)) + cross(l.p, force), force};
  }
  /// φ*(p,k) m.
  BUNRAKU_INLINE Motion<S> down(const Motion<S>& m) const {
    return {spin.back(kernels::unturned<kind>(l, m.angular)),
            spin.back(kernels::unturned<kind>(l, m.linear + cross(m.angular, l.p)))};
  }
  /// Row i of H, times f.
  BUNRAKU_INLINE S along(int, const Force<S>& f) const { return f.moment.z; }
  /// Adds column i of H* times u.
  BUNRAKU_INLINE void push(int, const S& u, Motion<S>& m) const { m.angular.z += u; }
  /// P⁺ = P − U D⁻¹ U* and φ P⁺ φ*: U = P H*, D = H U + A. Without A what couples to the axis vanishes.
  template <bool geared>
  BUNRAKU_INLINE ArticulatedInertia<S> pass(ArticulatedInertia<S> P, const Force<S>& U, const S& inverse,
                                            const S& A) const {
    Sym3<S>& J = P.rotational;
    Mat3<S>& C = P.coupling;
    Sym3<S>& L = P.linear;
    const Force<S> G = U * inverse;
    J.xx -= G.moment.x * U.moment.x;
    J.yy -= G.moment.y * U.moment.y;
    J.xy -= G.moment.x * U.moment.y;
    C.m[0][0] -= G.moment.x * U.force.x;
    C.m[0][1] -= G.moment.x * U.force.y;
    C.m[0][2] -= G.moment.x * U.force.z;
    C.m[1][0] -= G.moment.y * U.force.x;
    C.m[1][1] -= G.moment.y * U.force.y;
    C.m[1][2] -= G.moment.y * U.force.z;
    L.xx -= G.force.x * U.force.x;
    L.yy -= G.force.y * U.force.y;
    L.zz -= G.force.z * U.force.z;
    L.xy -= G.force.x * U.force.y;
    L.xz -= G.force.x * U.force.z;
    L.yz -= G.force.y * U.force.z;
    if constexpr (geared) {
      const S left = A * inverse;
      J.xz *= left;
      J.yz *= left;
      J.zz *= left;
      C.m[2][0] *= left;
      C.m[2][1] *= left;
      C.m[2][2] *= left;
    } else {
      J.xz = J.yz = J.zz = S(0);
      C.m[2][0] = C.m[2][1] = C.m[2][2] = S(0);
    }
    return up(P);
  }
  /// φ P φ*.
  BUNRAKU_INLINE ArticulatedInertia<S> up(const ArticulatedInertia<S>& P) const {
    const kernels::DoubleSpin<S> twice(spin.c, spin.s);
    return shifted(ArticulatedInertia<S>{kernels::turned<kind>(l, kernels::about_z(spin, twice, P.rotational)),
                                         kernels::turned<kind>(l, kernels::about_z(spin, twice, P.coupling)),
                                         kernels::turned<kind>(l, kernels::about_z(spin, twice, P.linear))},
                   l.p);
  }
  /// P H*, column i.
  BUNRAKU_INLINE Force<S> column(int, const ArticulatedInertia<S>& P) const {
    return {{P.rotational.xz, P.rotational.yz, P.rotational.zz}, P.coupling.row(2)};
  }
};

/// See Turning: any other link, its pose and joint map being known.
template <class S, int velocities>
struct Posed {
  static constexpr bool turns = false;
  const kernels::Link<S>& l;
  const Transform<S>& X;
  const Motion<S>* H;
  int nv;

  BUNRAKU_INLINE Posed(const kernels::Link<S>* links, const Joints<S>& joints, int k)
      : l(links[k]),
        X(joints.pose[static_cast<std::size_t>(k)]),
        H(joints.columns.data() + l.v),
        nv(velocities > 0 ? velocities : l.nv) {}
  BUNRAKU_INLINE Force<S> up(const Force<S>& f) const { return X * f; }
  BUNRAKU_INLINE Motion<S> down(const Motion<S>& m) const { return inverse_times(X, m); }
  BUNRAKU_INLINE S along(int i, const Force<S>& f) const { return dot(H[i], f); }
  BUNRAKU_INLINE void push(int i, const S& u, Motion<S>& m) const { m += H[i] * u; }
  BUNRAKU_INLINE ArticulatedInertia<S> up(const ArticulatedInertia<S>& P) const { return X * P; }
  BUNRAKU_INLINE Force<S> column(int i, const ArticulatedInertia<S>& P) const { return P * H[i]; }
};

/// See Turning: a free body against the world, H = I. Nothing goes beyond it.
template <class S>
struct Floating {
  static constexpr bool turns = false;
  static constexpr int nv = rigid;

  BUNRAKU_INLINE Floating(const kernels::Link<S>*, const Joints<S>&, int) {}
  BUNRAKU_INLINE Force<S> up(const Force<S>& f) const { return f; }
  BUNRAKU_INLINE Motion<S> down(const Motion<S>& m) const { return m; }
  BUNRAKU_INLINE S along(int i, const Force<S>& f) const { return f[i]; }
  BUNRAKU_INLINE void push(int i, const S& u, Motion<S>& m) const { m[i] += u; }
  BUNRAKU_INLINE ArticulatedInertia<S> up(const ArticulatedInertia<S>& P) const { return P; }
  BUNRAKU_INLINE Force<S> column(int i, const ArticulatedInertia<S>& P) const {
    if (i < 3) {
      return {P.rotational.full().column(i), P.coupling.row(i)};
    }
    return {P.coupling.column(i - 3), P.linear.full().column(i - 3)};
  }
};

}  // namespace bunraku::operators
