/// @file
/// φ(l), which moves forces from one point of a body to another, and its adjoint φ*(l), which moves velocities.
#pragma once

#include "bunraku/spatial/mat6.hpp"

namespace bunraku {

template <class T>
class PhiAdjoint;

/// φ(l) = [I l̃; 0 I] (RK92 2). With l the vector from O to P, φ(l) takes a force at P to the same force at O. The
/// group properties (RK92 3–5): φ(0) = I, φ(a)φ(b) = φ(a + b), φ⁻¹(l) = φ(−l).
template <class T>
class Phi {
 public:
  /// φ(l), l in metres, in the axes of whatever it acts on.
  constexpr explicit Phi(const Vec3<T>& l) : l_(l) {}
  /// The vector l.
  constexpr const Vec3<T>& l() const { return l_; }
  /// φ(−l).
  constexpr Phi inverse() const { return Phi(-l_); }
  /// φ*(l), which acts on motions.
  constexpr PhiAdjoint<T> adjoint() const { return PhiAdjoint<T>(l_); }
  /// The 36 numbers.
  constexpr Mat6<T> matrix() const { return {Mat3<T>::identity(), skew(l_), {}, Mat3<T>::identity()}; }

  /// φ(a)φ(b) = φ(a + b).
  friend constexpr Phi operator*(const Phi& a, const Phi& b) { return Phi(a.l_ + b.l_); }
  /// φ(l) f = (N + l × F, F).
  friend constexpr Force<T> operator*(const Phi& p, const Force<T>& f) {
    return {f.moment + cross(p.l_, f.force), f.force};
  }

 private:
  Vec3<T> l_;
};

/// φ*(l) = [I 0; −l̃ I]. With l the vector from O to P, it takes the velocity of a body's point O to that of P.
template <class T>
class PhiAdjoint {
 public:
  /// φ*(l), l in metres, in the axes of whatever it acts on.
  constexpr explicit PhiAdjoint(const Vec3<T>& l) : l_(l) {}
  /// The vector l.
  constexpr const Vec3<T>& l() const { return l_; }
  /// φ*(−l).
  constexpr PhiAdjoint inverse() const { return PhiAdjoint(-l_); }
  /// φ(l), which acts on forces.
  constexpr Phi<T> adjoint() const { return Phi<T>(l_); }
  /// The 36 numbers.
  constexpr Mat6<T> matrix() const { return {Mat3<T>::identity(), {}, -skew(l_), Mat3<T>::identity()}; }

  /// φ*(a)φ*(b) = φ*(a + b).
  friend constexpr PhiAdjoint operator*(const PhiAdjoint& a, const PhiAdjoint& b) { return PhiAdjoint(a.l_ + b.l_); }
  /// φ*(l) V = (ω, v + ω × l).
  friend constexpr Motion<T> operator*(const PhiAdjoint& p, const Motion<T>& v) {
    return {v.angular, v.linear + cross(v.angular, p.l_)};
  }

 private:
  Vec3<T> l_;
};

}  // namespace bunraku
