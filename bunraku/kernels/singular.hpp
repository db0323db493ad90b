/// @file
/// When a hinge moves nothing that has mass: what of an articulated inertia is more than rounding.
///
/// D(k) = HPH* + armature, where P(k) = M(k) + Σ φ(k,j)[P − GDG*](j)φ*(k,j) comes from sums and differences of numbers
/// that are no larger than those of the composite body R(k) = M(k) + Σ φ(k,j)R(j)φ*(k,j): 0 ≤ P ≤ R. So D is known up
/// to a few ε of what R has of D's units, however little is left of it. M(k) itself is constant, folded in double
/// precision, and exact but for that. D counts as zero where it is not above
///
///   8 [ε (HMH* + armature + neighbours of R − M) + ε_double (neighbours of M)],
///
/// `neighbours` being the elements that a change of axes mixes with HRH*. A hinge that carries 10¹⁰ times its own mass
/// has lost ten digits, and is not singular; a massless ring on a spinning shaft is, wherever the shaft's axis points.
///
/// Of a hinge with several coordinates the same is asked of every pivot, the best first. In any other order, such as
/// that of the sweeps, eliminating a poor one magnifies the rounding of the others, which is harmless in solving (no
/// symmetric positive matrix needs pivots for that) but says nothing about rank.
///
/// The sweeps compare D with a constant, which no composite body exceeds at any configuration; only where D is below
/// that is R computed and the question asked.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/kernels/small_matrix.hpp"
#include "bunraku/model/model.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"

namespace bunraku::kernels {

/// A number below this part of those that it came from is rounding of zero.
template <class T>
inline constexpr T vanishing = T(8) * std::numeric_limits<T>::epsilon();
/// Of rows eliminated one after the other, the best first, a pivot below this part of what it was at first: ε^⅔, what
/// is left would keep no more than a third of its digits.
template <class T>
inline constexpr T vanishing_beside_others = sizeof(T) == sizeof(float) ? T(2.4e-5) : T(3.7e-11);

/// A coordinate's D is in doubt below this part of the composite body's, where its hinge, or cluster, has so many.
template <class T>
T doubtful_part(int coordinates) {
  return coordinates == 1 ? vanishing<T> : std::sqrt(std::numeric_limits<T>::epsilon());
}

/// The error of a hinge without inertia; `also` says more of the hinge: "is ... and ".
SingularError massless(const Hinge& hinge, std::string_view also = {});
/// The error of a hinge that carries more than T can tell from nothing.
SingularError too_heavy(const Hinge& hinge, std::string_view also = {});

/// What a body's numbers do not exceed.
struct BodyBound {
  double mass = 0;                    ///< kg.
  double moment = 0;                  ///< ∫|x|²dm about the body's origin.
  double arm = 0;                     ///< Of its hinge from the parent's origin, m.
  std::vector<double> armature = {};  ///< Of its hinge, one for each velocity.
};
/// The numbers of the model themselves.
std::vector<BodyBound> bounds_of(const Model& model);

/// For each velocity of all hinges: a D above it is positive beyond rounding at any configuration within the limits;
/// one below may be so, too. A slide without limits is taken as 16 times as long as the model, and no node bends
/// further than it is away from its frame. O(N).
template <class T>
std::vector<T> doubtful_inertias(const Model& model, std::span<const BodyBound> bounds);
/// With the model's own numbers.
template <class T>
std::vector<T> doubtful_inertias(const Model& model) {
  return doubtful_inertias<T>(model, bounds_of(model));
}

/// The neighbours of HRH* in R: in its units, and mixed with it by turning axes.
template <class T>
T neighbours(const RigidInertia<T>& R, const Motion<T>& H) {
  return squared_norm(H.angular) * (R.inertia.xx + R.inertia.yy + R.inertia.zz) +
         squared_norm(H.linear) * T(3) * R.mass;
}

/// What of HPH* + armature is rounding: see above. `own` is M(k), `carried` R(k) − M(k).
template <class T>
T rounding_of(const Motion<T>& H, T armature, const RigidInertia<T>& own, const RigidInertia<T>& carried) {
  return vanishing<T> * (dot(H, own * H) + armature + neighbours(carried, H)) +
         static_cast<T>(vanishing<double>) * neighbours(own, H);
}

/// A hinge whose D is in doubt, eliminated coordinate by coordinate, the last first.
template <class T>
struct HingeDoubt {
  std::span<const Motion<T>> H;      ///< Columns of H*.
  std::span<const Force<T>> U;       ///< PH* of each when it was eliminated.
  std::span<const T> D_inverse;      ///< Of each then; zero where D was not positive.
  std::span<const T> armature = {};  ///< Of each; the hinge's own where there is none.
};

/// Throws Error naming the hinge where D is not positive beyond rounding, or its size beyond the range of numbers.
/// `own` is M(k), `carried` R(k) − M(k).
template <class T>
void check_positive(const Hinge& hinge, const HingeDoubt<T>& doubt, const RigidInertia<T>& own,
                    const RigidInertia<T>& carried);

/// Throws Error where the n×n matrix D of coupled hinges, which is used up, is not positive beyond rounding, naming
/// hinge_of(j) of coordinate j. Of each coordinate `roots` has Σ |ratio| √rounding_of over the hinges that follow it,
/// and is used up; `order` has room for n.
template <class T, class F>
void check_coupled(T* D, int n, T* roots, int* order, const F& hinge_of) {
  constexpr std::string_view also = "is coupled to others and ";
  for (int j = 0; j < n; ++j) {
    roots[j] *= roots[j];
    if (!std::isfinite(roots[j])) {
      throw too_heavy(hinge_of(j), also);
    }
  }
  if (const int vanishes = vanishing_pivot(D, n, roots, order); vanishes >= 0) {
    throw massless(hinge_of(vanishes), also);
  }
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
