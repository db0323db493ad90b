/// @file
/// The spatial inertia of a rigid body in its ten parameters.
#pragma once

#include <array>

#include "bunraku/export.hpp"
#include "bunraku/spatial/transform.hpp"

namespace bunraku {

/// M = [𝒥 m p̃; −m p̃ m I] about a point O: mass m, first moment m p (p from O to the centre of mass) and rotational
/// inertia 𝒥 about O. Ten numbers, linear in each, so that bodies add by adding them.
template <class T>
struct RigidInertia {
  T mass{};              ///< m, kg.
  Vec3<T> first_moment;  ///< m p, kg·m.
  Sym3<T> inertia;       ///< 𝒥 about O, kg·m².

  /// Nothing.
  static constexpr RigidInertia zero() { return {}; }
  /// From mass, centre of mass and rotational inertia about the centre of mass, all in the body's axes.
  static constexpr RigidInertia about_center(const T& mass, const Vec3<T>& center, const Sym3<T>& central) {
    return {mass, center * mass, central + point_inertia(center) * mass};
  }
  /// The centre of mass p; the origin for a body without mass.
  constexpr Vec3<T> center() const {
    const auto massless = mass == T(0);
    const auto quotient = [&] { return first_moment / select(massless, T(1), mass); };
    return choose(massless, [] { return Vec3<T>::zero(); }, quotient);
  }
  /// The rotational inertia about the centre of mass.
  constexpr Sym3<T> central() const { return inertia - point_inertia(center()) * mass; }
  /// The ten numbers in the order of the regressor: m, m p (3), then 𝒥 about O as xx, xy, xz, yy, yz, zz.
  constexpr std::array<T, 10> parameters() const {
    return {mass,       first_moment.x, first_moment.y, first_moment.z, inertia.xx,
            inertia.xy, inertia.xz,     inertia.yy,     inertia.yz,     inertia.zz};
  }
  /// From ten numbers in the order of `parameters`.
  static constexpr RigidInertia from_parameters(const T* pi) {
    return {pi[0], {pi[1], pi[2], pi[3]}, {pi[4], pi[7], pi[9], pi[5], pi[6], pi[8]}};
  }
  /// From ten numbers in the order of `parameters`.
  static constexpr RigidInertia from_parameters(const std::array<T, 10>& pi) { return from_parameters(pi.data()); }
  /// The 36 numbers.
  constexpr Mat6<T> matrix() const {
    const Mat3<T> p = skew(first_moment);
    return {inertia.full(), p, -p, Mat3<T>::diagonal(mass, mass, mass)};
  }

  /// Adds in place.
  constexpr RigidInertia& operator+=(const RigidInertia& b) {
    mass += b.mass;
    first_moment += b.first_moment;
    inertia += b.inertia;
    return *this;
  }
  /// Two bodies as one, both about one point.
  friend constexpr RigidInertia operator+(const RigidInertia& a, const RigidInertia& b) {
    return {a.mass + b.mass, a.first_moment + b.first_moment, a.inertia + b.inertia};
  }
  /// M V: the momentum, or the force for an acceleration: (𝒥ω + m p × v, m v − m p × ω).
  friend constexpr Force<T> operator*(const RigidInertia& a, const Motion<T>& v) {
    return {a.inertia * v.angular + cross(a.first_moment, v.linear),
            v.linear * a.mass - cross(a.first_moment, v.angular)};
  }
  /// Elementwise equality.
  friend constexpr bool operator==(const RigidInertia&, const RigidInertia&) = default;
};

/// φ(l) M φ*(l): the inertia about O of a body given about P, with l from O to P. Parallel axes, without going through
/// the centre of mass: 𝒥' = 𝒥 − l̃ (m p)~ − (m p')~ l̃ with the first moment m p' = m p + m l about O.
template <class T>
BUNRAKU_INLINE constexpr RigidInertia<T> shifted(const RigidInertia<T>& a, const Vec3<T>& l) {
  const Vec3<T>& h = a.first_moment;
  const Vec3<T> moved = h + l * a.mass;
  const Vec3<T> both = h + moved;
  const T x = l.x * both.x;
  const T y = l.y * both.y;
  const T z = l.z * both.z;
  const Sym3<T>& i = a.inertia;
  return {a.mass,
          {moved.x, moved.y, moved.z},
          {i.xx + (y + z), i.yy + (x + z), i.zz + (x + y), i.xy - (h.x * l.y + l.x * moved.y),
           i.xz - (h.x * l.z + l.x * moved.z), i.yz - (h.y * l.z + l.y * moved.z)}};
}

/// The same body about the same point, in other axes.
template <class T>
constexpr RigidInertia<T> operator*(const Rotation<T>& r, const RigidInertia<T>& a) {
  return {a.mass, r * a.first_moment, congruence(r.matrix(), a.inertia)};
}

/// From B's origin and axes to A's: φ(p) R M R* φ*(p).
template <class T>
constexpr RigidInertia<T> operator*(const Transform<T>& x, const RigidInertia<T>& a) {
  return shifted(x.rotation * a, x.translation);
}

}  // namespace bunraku
