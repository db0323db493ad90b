/// @file
/// The articulated inertia P in its 21 parameters.
#pragma once

#include "bunraku/spatial/inertia.hpp"

namespace bunraku {

/// P = [J C; C* L]: a symmetric 6×6 matrix that maps accelerations to forces. Unlike a rigid body's, its mass L is a
/// matrix and C need not be skew.
template <class T>
struct ArticulatedInertia {
  Sym3<T> rotational;  ///< J, angular to moment.
  Mat3<T> coupling;    ///< C, linear to moment.
  Sym3<T> linear;      ///< L, linear to force.

  /// Nothing.
  static constexpr ArticulatedInertia zero() { return {}; }
  /// A single rigid body.
  static constexpr ArticulatedInertia from_rigid(const RigidInertia<T>& m) {
    return {m.inertia, skew(m.first_moment), Sym3<T>::diagonal(m.mass, m.mass, m.mass)};
  }
  /// The 36 numbers.
  constexpr Mat6<T> matrix() const { return {rotational.full(), coupling, coupling.transpose(), linear.full()}; }

  /// Adds in place.
  constexpr ArticulatedInertia& operator+=(const ArticulatedInertia& b) {
    rotational += b.rotational;
    coupling += b.coupling;
    linear += b.linear;
    return *this;
  }
  /// Subtracts in place.
  constexpr ArticulatedInertia& operator-=(const ArticulatedInertia& b) {
    rotational -= b.rotational;
    coupling -= b.coupling;
    linear -= b.linear;
    return *this;
  }
  /// Elementwise sum.
  friend constexpr ArticulatedInertia operator+(const ArticulatedInertia& a, const ArticulatedInertia& b) {
    return {a.rotational + b.rotational, a.coupling + b.coupling, a.linear + b.linear};
  }
  /// Elementwise difference.
  friend constexpr ArticulatedInertia operator-(const ArticulatedInertia& a, const ArticulatedInertia& b) {
    return {a.rotational - b.rotational, a.coupling - b.coupling, a.linear - b.linear};
  }
  /// P V.
  friend constexpr Force<T> operator*(const ArticulatedInertia& p, const Motion<T>& v) {
    return {p.rotational * v.angular + p.coupling * v.linear,
            transpose_times(p.coupling, v.angular) + p.linear * v.linear};
  }
  /// Elementwise equality.
  friend constexpr bool operator==(const ArticulatedInertia&, const ArticulatedInertia&) = default;
};

/// s f f*: what one degree of freedom takes out of P (RK92 38, with f = P H* and s = D⁻¹).
template <class T>
constexpr ArticulatedInertia<T> scaled_outer(const Force<T>& f, const T& s) {
  const Force<T> g = f * s;
  return {{f.moment.x * g.moment.x, f.moment.y * g.moment.y, f.moment.z * g.moment.z, f.moment.x * g.moment.y,
           f.moment.x * g.moment.z, f.moment.y * g.moment.z},
          outer(f.moment, g.force),
          {f.force.x * g.force.x, f.force.y * g.force.y, f.force.z * g.force.z, f.force.x * g.force.y,
           f.force.x * g.force.z, f.force.y * g.force.z}};
}

/// φ(l) P φ*(l): the articulated inertia about O of one given about P, with l from O to P: C' = C + l̃L,
/// J' = J + l̃C* + C'l̃*.
template <class T>
BUNRAKU_INLINE constexpr ArticulatedInertia<T> shifted(const ArticulatedInertia<T>& p, const Vec3<T>& l) {
  const Sym3<T>& s = p.linear;
  const Mat3<T>& c = p.coupling;
  Mat3<T> m;  // C'
  m(0, 0) = c(0, 0) + (l.y * s.xz - l.z * s.xy);
  m(0, 1) = c(0, 1) + (l.y * s.yz - l.z * s.yy);
  m(0, 2) = c(0, 2) + (l.y * s.zz - l.z * s.yz);
  m(1, 0) = c(1, 0) + (l.z * s.xx - l.x * s.xz);
  m(1, 1) = c(1, 1) + (l.z * s.xy - l.x * s.yz);
  m(1, 2) = c(1, 2) + (l.z * s.xz - l.x * s.zz);
  m(2, 0) = c(2, 0) + (l.x * s.xy - l.y * s.xx);
  m(2, 1) = c(2, 1) + (l.x * s.yy - l.y * s.xy);
  m(2, 2) = c(2, 2) + (l.x * s.yz - l.y * s.xz);
  const Sym3<T>& j = p.rotational;
  return {{j.xx + (l.y * (c(0, 2) + m(0, 2)) - l.z * (c(0, 1) + m(0, 1))),
           j.yy + (l.z * (c(1, 0) + m(1, 0)) - l.x * (c(1, 2) + m(1, 2))),
           j.zz + (l.x * (c(2, 1) + m(2, 1)) - l.y * (c(2, 0) + m(2, 0))),
           j.xy + (l.y * c(1, 2) + l.z * (m(0, 0) - c(1, 1)) - l.x * m(0, 2)),
           j.xz + (l.y * (c(2, 2) - m(0, 0)) - l.z * c(2, 1) + l.x * m(0, 1)),
           j.yz + (l.z * c(2, 0) + l.x * (m(1, 1) - c(2, 2)) - l.y * m(1, 0))},
          // number by number: copies of the whole would go through memory
          {{{m(0, 0), m(0, 1), m(0, 2)}, {m(1, 0), m(1, 1), m(1, 2)}, {m(2, 0), m(2, 1), m(2, 2)}}},
          {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz}};
}

/// The same articulated body about the same point, in other axes.
template <class T>
constexpr ArticulatedInertia<T> operator*(const Rotation<T>& r, const ArticulatedInertia<T>& p) {
  return {congruence(r.matrix(), p.rotational), r.matrix() * p.coupling * r.matrix().transpose(),
          congruence(r.matrix(), p.linear)};
}

/// From B's origin and axes to A's: φ(p) R P R* φ*(p).
template <class T>
constexpr ArticulatedInertia<T> operator*(const Transform<T>& x, const ArticulatedInertia<T>& p) {
  return shifted(x.rotation * p, x.translation);
}

}  // namespace bunraku
