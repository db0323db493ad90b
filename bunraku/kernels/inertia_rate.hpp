/// @file
/// How the inertia of moving bodies changes: the half of its rate that makes Coriolis matrices and derivatives.
#pragma once

#include "bunraku/spatial/inertia.hpp"

namespace bunraku::kernels {

/// B = Σ m j*(dj/dt) over a body's points, where j = [−r̃ I] gives the velocity of the point at r, seen from a frame
/// that stands still where the body's frame is at this instant. With ṙ the point's velocity,
///
///     B = [−Σm r̃(ṙ)~  0; −p̃  0],   Ṁ = B + B*,   BV = S[V]MV,
///
/// so that Σ J*(MJ̇ + BJ) is the Coriolis matrix of Christoffel's symbols. Twelve numbers, linear in the points, so that
/// bodies add by adding them.
template <class T>
struct InertiaRate {
  Mat3<T> upper;     ///< −Σm r̃(ṙ)~ about the frame's origin.
  Vec3<T> momentum;  ///< p = Σm ṙ.

  /// Of a rigid body M with velocity V, about its origin in its axes.
  static constexpr InertiaRate of(const RigidInertia<T>& M, const Motion<T>& V) {
    // with ṙ = v + ω × r: −r̃(ω × r)~ = −ω̃rr*, and Σm rr* = ½tr(𝒥)I − 𝒥; −h̃ṽ = (h·v)I − vh*
    const Sym3<T>& i = M.inertia;
    const Vec3<T>& h = M.first_moment;
    const Vec3<T>& w = V.angular;
    const Vec3<T>& v = V.linear;
    const T half = T(0.5) * (i.xx + i.yy + i.zz);
    const Sym3<T> P{half - i.xx, half - i.yy, half - i.zz, -i.xy, -i.xz, -i.yz};
    const T hv = dot(h, v);
    return {{{{hv - v.x * h.x + w.z * P.xy - w.y * P.xz, w.z * P.yy - v.x * h.y - w.y * P.yz,
               w.z * P.yz - v.x * h.z - w.y * P.zz},
              {w.x * P.xz - v.y * h.x - w.z * P.xx, hv - v.y * h.y + w.x * P.yz - w.z * P.xy,
               w.x * P.zz - v.y * h.z - w.z * P.xz},
              {w.y * P.xx - v.z * h.x - w.x * P.xy, w.y * P.xy - v.z * h.y - w.x * P.yy,
               hv - v.z * h.z + w.y * P.xz - w.x * P.yz}}},
            (M * V).force};
  }

  /// Adds in place; both about one point.
  constexpr InertiaRate& operator+=(const InertiaRate& b) { return *this = {upper + b.upper, momentum + b.momentum}; }
  /// B H for a motion H.
  friend constexpr Force<T> operator*(const InertiaRate& b, const Motion<T>& h) {
    return {b.upper * h.angular, cross(h.angular, b.momentum)};
  }
  /// From B's origin and axes to A's, both standing still: φ(p) R B R* φ*(p), where r becomes p + Rr.
  friend constexpr InertiaRate operator*(const Transform<T>& x, const InertiaRate& b) {
    const Mat3<T>& r = x.rotation.matrix();
    const Vec3<T> p = r * b.momentum;
    return {r * b.upper * r.transpose() - skew(x.translation) * skew(p), p};
  }
};

/// B* H for a motion H.
template <class T>
constexpr Force<T> adjoint_times(const InertiaRate<T>& b, const Motion<T>& h) {
  return {transpose_times(b.upper, h.angular) + cross(b.momentum, h.linear), Vec3<T>::zero()};
}

}  // namespace bunraku::kernels
