/// @file
/// Derivatives of the dynamics of closed systems.
///
/// They are in tangent coordinates, stacked over the members, as those of derivatives.hpp, and along any of them, also
/// such as open the closures: what is differentiated is what closed_forward_dynamics() computes of a state near by,
/// where closures are equations Yθ̈ = U of accelerations alone. Nothing draws a state back to where they hold: there are
/// no terms of stabilisation. The dŨ/dt of set_rate() stay what they are. Along motions that fit the closures, Yδ = 0,
/// they are the derivatives of the mechanism.
#pragma once

#include "bunraku/dynamics/closed_system.hpp"
#include "bunraku/dynamics/results.hpp"

namespace bunraku {

/// ∂θ̈/∂q, ∂θ̈/∂θ̇ and ∂θ̈/∂T = M_C of closed_forward_dynamics(), 𝒩×𝒩 each: from 𝓜θ̈ + 𝓒 + Y*f̃ = T and Yθ̈ = U
///
///     ∂θ̈ = M_C(∂T − ∂g) − 𝓜⁻¹Y*(Y𝓜⁻¹Y*)⁺∂c,     g = 𝓜θ̈ + 𝓒 + Y*f̃,     c = Yθ̈ − U,
///
/// g and c at constant θ̈ and f̃, where closure forces move with the closures' frames. With 𝔟 = L⁻¹Y*, 𝓜 = LL*, and its
/// orthogonal factors; members do have mass matrices here. O(𝒩³ + 𝒩²m). Of closures by universal and custom hinges
/// the equations' own derivatives are taken by differences in the relative pose of their nodes: good to about 1e-10.
/// Redundant closures are as good as others as long as they are redundant near by, too: accelerations are unique then.
/// The first call on a system makes room. Throws as closed_forward_dynamics(), and SingularError at a singular pose
/// (ClosureReport::singular), where there is no derivative. Returns what was found of the closures, there until the
/// next call.
template <class T>
BUNRAKU_API const ClosureReport& closed_forward_dynamics_derivatives(BasicClosedSystem<T>& system, In<T> torques,
                                                                     MatrixOut<T> dq, MatrixOut<T> dv,
                                                                     MatrixOut<T> dtau);
/// The same, and those of the closure forces f̃, all rows stacked closure by closure as in closure_jacobian(): m×𝒩
/// each, (Y𝓜⁻¹Y*)∂f̃ = Y𝓜⁻¹(∂T − ∂g) + ∂c. Of rows that nothing can violate they are zero. Of closures by custom hinges,
/// whose rows are any basis of what the hinge does not let move, they are along rows that turn as little as they can.
/// Throws Error, naming them, where closures are redundant, so that forces are not unique: the derivative of the least
/// ones is not offered.
template <class T>
BUNRAKU_API const ClosureReport& closed_forward_dynamics_derivatives(BasicClosedSystem<T>& system, In<T> torques,
                                                                     MatrixOut<T> dq, MatrixOut<T> dv,
                                                                     MatrixOut<T> dtau, MatrixOut<T> force_dq,
                                                                     MatrixOut<T> force_dv, MatrixOut<T> force_dtau);

/// What closed_forward_dynamics_derivatives() writes of accelerations.
template <class T>
struct ClosedDynamicsDerivatives {
  MatrixX<T> dq;    ///< ∂θ̈/∂q.
  MatrixX<T> dv;    ///< ∂θ̈/∂θ̇.
  MatrixX<T> dtau;  ///< ∂θ̈/∂T = M_C.
};

/// The derivatives of accelerations, returned.
template <class T>
BUNRAKU_INLINE ClosedDynamicsDerivatives<T> closed_forward_dynamics_derivatives(BasicClosedSystem<T>& system,
                                                                                In<T> torques) {
  const Eigen::Index n = system.nv();
  ClosedDynamicsDerivatives<T> out{MatrixX<T>(n, n), MatrixX<T>(n, n), MatrixX<T>(n, n)};
  closed_forward_dynamics_derivatives(system, torques, out.dq, out.dv, out.dtau);
  return out;
}

}  // namespace bunraku
