/// @file
/// Derivatives of inverse and forward dynamics, and of Jacobians.
///
/// They are in tangent coordinates of the configurations: ∂T/∂q is the matrix with (∂T/∂q)u = d/dε T(q ⊕ εu) at ε = 0,
/// n×n for any hinges, as in integrate_dq(). What is differentiated is what inverse_dynamics() and forward_dynamics()
/// compute, forces from outside and the hinges' own ones included: forces from outside keep their components in the
/// frame that they are given in. Coulomb friction, a sign, has the derivative zero, at rest as well. Units are those of
/// the torques or accelerations by those of the coordinates: N·m/rad, N·m·s/rad and so on.
#pragma once

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/model/nodes.hpp"

namespace bunraku {

/// ∂T/∂q = −Hφ̃Q[f]H* + (∂H)f + Hφ[M A_θ − (cross(V)*M + Q[MV])V_θ], ∂T/∂θ̇ = 2C − (𝓜 − armature)ad(θ̇) and
/// ∂T/∂θ̈ = 𝓜 of inverse_dynamics(), the first two with the derivatives of −T_p − J*f; n×n each. By composite bodies:
/// O(N d) for trees of depth d and O(n²) for the zeros of branches. Of custom hinges the second derivatives of the
/// joint map are taken by differences: good to about 1e-10. The first call on a state makes room. Throws ArgumentError
/// for wrong sizes and for numbers that are not finite.
template <class T>
BUNRAKU_API void inverse_dynamics_derivatives(BasicState<T>& state, In<T> acceleration, MatrixOut<T> dq,
                                              MatrixOut<T> dv, MatrixOut<T> da,
                                              std::type_identity_t<Forces<T>> forces = {});
/// ∂θ̈/∂q = −𝓜⁻¹ ∂T/∂q, ∂θ̈/∂θ̇ = −𝓜⁻¹ ∂T/∂θ̇ and ∂θ̈/∂T = 𝓜⁻¹ of forward_dynamics(), with the derivatives of
/// inverse dynamics at the acceleration that these torques make; n×n each. O(N n + n² d). The first call on a state
/// makes room. Throws as inverse_dynamics_derivatives(), and Error where a hinge moves nothing that has mass.
template <class T>
BUNRAKU_API void forward_dynamics_derivatives(BasicState<T>& state, In<T> torque, MatrixOut<T> dq, MatrixOut<T> dv,
                                              MatrixOut<T> dtau, std::type_identity_t<Forces<T>> forces = {});

/// @name Products with vectors
/// Jacobian times vector (JVP) and vector times Jacobian (VJP): no matrix is formed. O(N), one and a half to three
/// times the function's own time, and more with forces from outside. The first call on a state makes room. They throw
/// as the calls above.
/// @{
/// (∂T/∂q)u + (∂T/∂θ̇)y + (∂T/∂θ̈)z for rates u, y, z of q, θ̇ and θ̈.
template <class T>
BUNRAKU_API void inverse_dynamics_jvp(BasicState<T>& state, In<T> acceleration, In<T> q_rate, In<T> v_rate,
                                      In<T> a_rate, Out<T> torque_rate, std::type_identity_t<Forces<T>> forces = {});
/// (∂T/∂q)*λ, (∂T/∂θ̇)*λ and (∂T/∂θ̈)*λ: the gradients of λ·T for weights λ.
template <class T>
BUNRAKU_API void inverse_dynamics_vjp(BasicState<T>& state, In<T> acceleration, In<T> weight, Out<T> by_q, Out<T> by_v,
                                      Out<T> by_a, std::type_identity_t<Forces<T>> forces = {});
/// (∂θ̈/∂q)u + (∂θ̈/∂θ̇)y + 𝓜⁻¹x for rates u, y, x of q, θ̇ and T.
template <class T>
BUNRAKU_API void forward_dynamics_jvp(BasicState<T>& state, In<T> torque, In<T> q_rate, In<T> v_rate, In<T> torque_rate,
                                      Out<T> acceleration_rate, std::type_identity_t<Forces<T>> forces = {});
/// (∂θ̈/∂q)*λ, (∂θ̈/∂θ̇)*λ and 𝓜⁻¹λ: the gradients of λ·θ̈ for weights λ.
template <class T>
BUNRAKU_API void forward_dynamics_vjp(BasicState<T>& state, In<T> torque, In<T> weight, Out<T> by_q, Out<T> by_v,
                                      Out<T> by_torque, std::type_identity_t<Forces<T>> forces = {});
/// @}

/// ∂J/∂q of a node's Jacobian in a frame, angular over linear: 6×n², the matrices ∂J/∂q_i beside each other. For `node`
/// ∂(B*φ*H*)/∂q = B*φ*(∂H* + cross(U)H*) − cross(B*U)B*φ*H* with U = φ*H* of one coordinate: what lies farther in than
/// a column does not change it. O(d² + n²). Throws ArgumentError where there is no such node, and for a wrong size.
template <class T>
BUNRAKU_API void jacobian_dq(BasicState<T>& state, const NodeRef& node, Frame frame, MatrixOut<T> out);

/// What inverse_dynamics_derivatives() writes.
template <class T>
struct InverseDynamicsDerivatives {
  MatrixX<T> dq;  ///< ∂T/∂q.
  MatrixX<T> dv;  ///< ∂T/∂θ̇.
  MatrixX<T> da;  ///< ∂T/∂θ̈ = 𝓜.
};
/// What forward_dynamics_derivatives() writes.
template <class T>
struct ForwardDynamicsDerivatives {
  MatrixX<T> dq;    ///< ∂θ̈/∂q.
  MatrixX<T> dv;    ///< ∂θ̈/∂θ̇.
  MatrixX<T> dtau;  ///< ∂θ̈/∂T = 𝓜⁻¹.
};

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE InverseDynamicsDerivatives<T> inverse_dynamics_derivatives(BasicState<T>& state, In<T> acceleration,
                                                                          std::type_identity_t<Forces<T>> forces = {}) {
  const Eigen::Index n = state.model().nv();
  InverseDynamicsDerivatives<T> out{MatrixX<T>(n, n), MatrixX<T>(n, n), MatrixX<T>(n, n)};
  inverse_dynamics_derivatives(state, acceleration, out.dq, out.dv, out.da, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE ForwardDynamicsDerivatives<T> forward_dynamics_derivatives(BasicState<T>& state, In<T> torque,
                                                                          std::type_identity_t<Forces<T>> forces = {}) {
  const Eigen::Index n = state.model().nv();
  ForwardDynamicsDerivatives<T> out{MatrixX<T>(n, n), MatrixX<T>(n, n), MatrixX<T>(n, n)};
  forward_dynamics_derivatives(state, torque, out.dq, out.dv, out.dtau, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE Matrix6X<T> jacobian_dq(BasicState<T>& state, const NodeRef& node, Frame frame) {
  const Eigen::Index n = state.model().nv();
  Matrix6X<T> out(6, n * n);
  jacobian_dq(state, node, frame, out);
  return out;
}
/// @}

}  // namespace bunraku
