/// @file
/// When a hinge moves nothing that has mass: what of an articulated inertia is more than rounding.
#pragma once

#include <limits>
#include <string_view>
#include <type_traits>

#include "bunraku/error.hpp"
#include "bunraku/model/hinge.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"

namespace bunraku::kernels {

/// D of a one-axis hinge below this part of its neighbours in P is rounding of zero.
template <class T>
inline constexpr T vanishing = T(8) * std::numeric_limits<T>::epsilon();
/// Of several coordinates eliminated one after the other, a pivot below this part of what it was at first, ε^⅔:
/// eliminating the others magnifies rounding, and what is left would keep no more than a third of its digits.
template <class T>
inline constexpr T vanishing_beside_others = std::is_same_v<T, float> ? T(2.4e-5) : T(3.7e-11);

/// The error of a hinge without inertia; `also` says more of the hinge: "is ... and ".
Error massless(const Hinge& hinge, std::string_view also = {});

/// The neighbours of D = HPH* in P: what D's size is compared with, in D's own units.
template <class T>
BUNRAKU_INLINE T neighbours(const ArticulatedInertia<T>& P, const Motion<T>& H) {
  return squared_norm(H.angular) * (P.rotational.xx + P.rotational.yy + P.rotational.zz) +
         squared_norm(H.linear) * (P.linear.xx + P.linear.yy + P.linear.zz);
}

/// Sets to zero what is zero of P − GDG* but for rounding: behind a free hinge everything, behind a translational one
/// all that resists translation. A hinge further inward must not take the rounding for mass. Not so with armature.
template <class T>
void forget_rounding(HingeType type, bool geared, ArticulatedInertia<T>& rest) {
  if (geared) {
    return;
  }
  if (type == HingeType::free) {
    rest = ArticulatedInertia<T>::zero();
  } else if (type == HingeType::translational) {
    rest.coupling = Mat3<T>::zero();
    rest.linear = {};
  }
}

}  // namespace bunraku::kernels
