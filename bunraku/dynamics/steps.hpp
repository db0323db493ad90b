/// @file
/// One step of a trajectory, as Batch::rollout() makes them, and its derivatives: the discrete linear system about a
/// state.
///
/// Torques, and forces from outside in the frames that they are given in, stay what they are during a step.
#pragma once

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/integrator.hpp"
#include "bunraku/dynamics/linearization.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

/// The state h seconds later, which the state itself does not become. With θ̈(q, v) that of forward_dynamics():
///
///     semi_implicit_euler:  v' = v + θ̈(q, v) h,  q' = q ⊞ v' h,
///     runge_kutta_4:        q_i = q ⊞ ξ_i,  r_i = 𝒥_r⁻¹(ξ_i) v_i,  a_i = θ̈(q_i, v_i),  ξ_1 = 0,  v_1 = v,
///                           ξ_i+1 = r_i c_i h,  v_i+1 = v + a_i c_i h,  c = ½, ½, 1,
///                           q' = q ⊞ (r_1 + 2r_2 + 2r_3 + r_4) h/6,  v' = v + (a_1 + 2a_2 + 2a_3 + a_4) h/6,
///
/// where 𝒥_r⁻¹(ξ)v is v + ½ ad(ξ)v + ¹⁄₁₂ ad²(ξ)v, and v of custom hinges, which are then of lower order unless their
/// coordinates commute. It is a step of Batch::rollout() to rounding. O(N). The first call on a state makes room.
/// Throws ArgumentError for wrong sizes, numbers that are not finite, a step that is not above 0 and a motion beyond
/// the range of numbers, Error where a hinge moves nothing that has mass.
template <class T>
BUNRAKU_API void step(BasicState<T>& state, In<T> torque, double h, Integrator integrator, Out<T> q_next, Out<T> v_next,
                      std::type_identity_t<Forces<T>> forces = {});

/// x' = Ax + Bu for x = (δ, y), where q ⊕ δ and v + y are the state nearby and T + u the torques: A, 2n×2n, and B,
/// 2n×n, are the derivatives of step(), its change of q' in tangent coordinates there. Of semi_implicit_euler
///
///     A = [D_q + D_v h ∂θ̈/∂q, D_v (I + h ∂θ̈/∂v); h ∂θ̈/∂q, I + h ∂θ̈/∂v],     B = [D_v; I] h 𝓜⁻¹
///
/// with D_q and D_v of integrate_dq() and integrate_dv() at v'; of runge_kutta_4 by the chain rule through the stages.
/// Exact as forward_dynamics_derivatives() and integrate_dq() are: Coulomb friction, a sign, has the derivative zero.
/// O(N n + n² d), of runge_kutta_4 four times that and O(n³). The first call on a state makes room. Throws as step().
template <class T>
BUNRAKU_API void step_derivatives(BasicState<T>& state, In<T> torque, double h, Integrator integrator, MatrixOut<T> A,
                                  MatrixOut<T> B, std::type_identity_t<Forces<T>> forces = {});

/// What step() writes.
template <class T>
struct NextState {
  VectorX<T> q;  ///< The configuration, nq numbers.
  VectorX<T> v;  ///< The velocity, n numbers.
};

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE NextState<T> step(BasicState<T>& state, In<T> torque, double h, Integrator integrator,
                                 std::type_identity_t<Forces<T>> forces = {}) {
  NextState<T> out{VectorX<T>(state.model().nq()), VectorX<T>(state.model().nv())};
  step(state, torque, h, integrator, out.q, out.v, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE Linearization<T> step_derivatives(BasicState<T>& state, In<T> torque, double h, Integrator integrator,
                                                 std::type_identity_t<Forces<T>> forces = {}) {
  const Eigen::Index n = state.model().nv();
  Linearization<T> out{MatrixX<T>(2 * n, 2 * n), MatrixX<T>(2 * n, n)};
  step_derivatives(state, torque, h, integrator, out.A, out.B, forces);
  return out;
}
/// @}

}  // namespace bunraku
