/// @file
/// How the mass matrix, energies, momenta and the operational-space inertia change with the configuration, second
/// derivatives of inverse and forward dynamics, and derivatives with respect to a model's parameters.
///
/// Derivatives with respect to q are in tangent coordinates, as in derivatives.hpp: δ_u of x is d/dε x(q ⊕ εu) at ε =
/// 0, ∂/∂q_i is δ of the i-th unit vector, and velocities, accelerations and weights keep their components. With
/// spherical, planar and free hinges such derivatives do not commute: δ_xδ_u − δ_uδ_x = δ_c(x,u), where c is the
/// hinges' bracket: u × x of spherical ones, the six-dimensional cross product of free ones, zero of all with plain
/// coordinates. Units are those of what is differentiated by those of the coordinates. The first call on a state makes
/// room where nothing else is said; all throw ArgumentError for wrong sizes and for numbers that are not finite.
#pragma once

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/model/nodes.hpp"

namespace bunraku {

/// @name The mass matrix
/// @{
/// ∂𝓜/∂q_i of one velocity coordinate i, n×n, both triangles, by composite bodies: for j farther in than k or on its
/// body, and i on body b, H(j)φ(j,b)[S(i) × φ(b,k)R(k)H*(k)] where b lies between, H(j)φ(j,b)[S(i) × R(b) −
/// R(b)S(i) ×]φ*(k,b)H*(k) where b lies outside of k, zero where b is farther in than both, and (∂H)φRH* and its
/// adjoint on b itself (JR03 5.3, for all hinges). O(N + d(d + s) + n²) for s velocities outside of b. Throws
/// ArgumentError where there is no such coordinate, too.
template <class T>
BUNRAKU_API void mass_matrix_derivative(BasicState<T>& state, int i, MatrixOut<T> out);
/// All of them, n×n²: ∂𝓜/∂q_i beside each other. O(N² + N d²) and O(n³) for the zeros.
template <class T>
BUNRAKU_API void mass_matrix_derivatives(BasicState<T>& state, MatrixOut<T> out);
/// 𝓜̇ = δ𝓜 along θ̇ = C + C*, n×n. O(N n).
template <class T>
BUNRAKU_API void mass_matrix_rate(BasicState<T>& state, MatrixOut<T> out);
/// C_u of a direction u, the Coriolis matrix with u for θ̇, at any θ̇ of the state: C_u = Hφ{Mφ*(δ_uH* + 𝕌H*) +
/// ½[−𝕌*M − M𝕌 − Q[Mφ*H*u]]φ*H*}, 𝕌 = cross(φ*H*u); n×n. It is the connection of the metric 𝓜 − armature: δ_u𝓜 =
/// C_u + C_u*, and C_u x − C_x u = (𝓜 − armature)c(u,x), which is zero unless a hinge is spherical, planar or free.
/// C_θ̇ is coriolis_matrix(). O(N n).
template <class T>
BUNRAKU_API void coriolis_along(BasicState<T>& state, In<T> direction, MatrixOut<T> out);
/// Christoffel's symbols of the first kind, n×n²: C_u of each unit vector u = e_j, beside each other, so that element
/// (i, j n + k) is e_i*C_{e_j}e_k and C_u = Σ u_j C_{e_j}. Where all hinges have c = 0 they are ½(∂𝓜_ij/∂q_k +
/// ∂𝓜_ik/∂q_j − ∂𝓜_jk/∂q_i), JR03 5.53, symmetric in j and k. With spherical, planar and free hinges they are the
/// coefficients of the connection in these coordinates, and differ by (𝓜 − armature)_i c(e_j,e_k) when j and k are
/// exchanged. In every case e_i*C_{e_j}e_k + e_k*C_{e_j}e_i = ∂𝓜_ik/∂q_j, and they are zero unless the three hinges lie
/// on one path to the world. O(N² + N d²) and O(n³) for the zeros.
template <class T>
BUNRAKU_API void christoffel(BasicState<T>& state, MatrixOut<T> out);
/// @}

/// @name Energies, momenta and the operational space
/// The gradient of the centre of mass is center_of_mass_jacobian().
/// @{
/// ∂/∂q and ∂/∂θ̇ of kinetic_energy(): Hφ[cross(V)*MV − cross(H*θ̇)*φMV] + (∂H)φMV, and 𝓜θ̇; n numbers each. O(N).
template <class T>
BUNRAKU_API void kinetic_energy_gradient(BasicState<T>& state, Out<T> by_q, Out<T> by_v);
/// ∂/∂q of potential_energy(): gravity_torques(), and what the springs add unless left out; n numbers. The latter are
/// the springs' torques where their stretch is q − rest; see potential_energy(). O(N). Never allocates.
template <class T>
BUNRAKU_API void potential_energy_gradient(BasicState<T>& state, Out<T> by_q);
/// ∂/∂q and ∂/∂θ̇ of momentum(), angular about the centre of mass over linear, in the world's axes; 6×n each. The latter
/// is centroidal_momentum_matrix(). With S = H* of one coordinate, R and h = φMV of its composite body and V(p) of the
/// parent, ∂h/∂q = S × h − R(S × V(p)) + R(∂H*)θ̇, taken to the centre of mass, which moves too. O(N). Never allocates.
template <class T>
BUNRAKU_API void momentum_derivatives(BasicState<T>& state, MatrixOut<T> dq, MatrixOut<T> dv);
/// The same of the momentum about the world's origin, Σ φ(0,k)M(k)V(k): moment over force, in the world's axes. O(N).
/// Never allocates.
template <class T>
BUNRAKU_API void spatial_momentum_derivatives(BasicState<T>& state, MatrixOut<T> dq, MatrixOut<T> dv);
/// δΛ = −Λ δ(J𝓜⁻¹J*) Λ = J̄*(δ𝓜)J̄ − Λ(δJ)J̄ − [Λ(δJ)J̄]* of lambda() along a direction u, 6m×6m: each node's axes are its
/// own. O(m²N). Throws as lambda(). More nodes than before make room.
template <class T>
BUNRAKU_API void lambda_along(BasicState<T>& state, const NodeList& nodes, In<T> direction, MatrixOut<T> out);
/// ∂Λ/∂q_i for all i, 6m×6m n, beside each other. O(m²N n).
template <class T>
BUNRAKU_API void lambda_derivatives(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> out);
/// @}

/// @name Second derivatives
/// Of a function of T or θ̈ with weights, in matrices n×n; those that are missing are zero, or adjoints. Forces from
/// outside and the hinges' own ones are in it, as in derivatives.hpp.
/// @{
/// Second derivatives of λ·T of inverse_dynamics(): derivatives of what inverse_dynamics_vjp() gives. Column j of `qq`,
/// `qv` and `qa` is the derivative of ∂(λ·T)/∂q = (∂T/∂q)*λ by q_j, θ̇_j and θ̈_j; `vv` is that of (∂T/∂θ̇)*λ by θ̇_j,
/// symmetric. The derivative of (∂T/∂θ̇)*λ by q is qv*, that of 𝓜λ is qa*; T is linear in θ̈. Element (i, j) of `qq` is
/// δ_jδ_i(λ·T), first by q_i and then along q_j. Where hinges are spherical, planar or free it is not symmetric:
/// qq(i,j) − qq(j,i) is ∂(λ·T)/∂q · c(e_j,e_i), and ½(qq + qq*) is the Hessian in q ⊕ x at x = 0. By the sweeps of the
/// product in dual numbers, four directions at once: O(N n). Of custom hinges the derivatives of the joint map above
/// the first are taken by differences, good to about 1e-9, and so is the second derivative of a spring's stretch on
/// hinges whose coordinates are not plain; within 0.04 rad of half a turn, where such a spring begins to pull the other
/// way, it means nothing.
template <class T>
BUNRAKU_API void inverse_dynamics_second(BasicState<T>& state, In<T> acceleration, In<T> weight, MatrixOut<T> qq,
                                         MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qa,
                                         std::type_identity_t<Forces<T>> forces = {});
/// Second derivatives of λ·θ̈ of forward_dynamics(): derivatives of what forward_dynamics_vjp() gives, in the same
/// order. Column j of `qq`, `qv` and `qtau` is the derivative of (∂θ̈/∂q)*λ by q_j, θ̇_j and T_j, and `vv` that of
/// (∂θ̈/∂θ̇)*λ by θ̇_j. With Q, Q_v, Q_a, Q_vv those of inverse dynamics at θ̈ and the weights 𝓜⁻¹λ, qq = −[Q + Q_a ∂θ̈/∂q +
/// (Q_a ∂θ̈/∂q)*], qv = −[Q_v + Q_a ∂θ̈/∂θ̇], vv = −Q_vv, qtau = −Q_a𝓜⁻¹. O(N n + n³). Throws as
/// forward_dynamics_derivatives().
template <class T>
BUNRAKU_API void forward_dynamics_second(BasicState<T>& state, In<T> torque, In<T> weight, MatrixOut<T> qq,
                                         MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qtau,
                                         std::type_identity_t<Forces<T>> forces = {});
/// @}

/// @name Parameters of the model
/// @{
/// ∂θ̈/∂π = −𝓜⁻¹Y of forward_dynamics(), n×10N: π are the ten parameters a body of regressor(), and Y = ∂T/∂π is that at
/// the accelerations that these torques make, since T is linear in π. O(N²). Throws as forward_dynamics().
template <class T>
BUNRAKU_API void forward_dynamics_by_parameters(BasicState<T>& state, In<T> torque, MatrixOut<T> out,
                                                std::type_identity_t<Forces<T>> forces = {});
/// ∂T/∂x of inverse_dynamics(), n×6N: x are six numbers a body, angular over linear, by which the frame F of its hinge
/// moves on the parent, X_PF ⊕ x = X_PF exp(x), given at F's origin in F's axes, in radians and metres. As a hinge of
/// six coordinates between the parent and F that does not move: Hφ of the derivatives of (∂T/∂q)*λ for unit vectors λ.
/// Forces from outside stay at their nodes. O(N n).
template <class T>
BUNRAKU_API void inverse_dynamics_by_placements(BasicState<T>& state, In<T> acceleration, MatrixOut<T> out,
                                                std::type_identity_t<Forces<T>> forces = {});
/// ∂θ̈/∂x = −𝓜⁻¹ ∂T/∂x of forward_dynamics(), n×6N, x as above. O(N n + N²). Throws as forward_dynamics().
template <class T>
BUNRAKU_API void forward_dynamics_by_placements(BasicState<T>& state, In<T> torque, MatrixOut<T> out,
                                                std::type_identity_t<Forces<T>> forces = {});
/// @}

/// What inverse_dynamics_second() writes.
template <class T>
struct InverseDynamicsSecond {
  MatrixX<T> qq;  ///< By q_i, then by q_j.
  MatrixX<T> qv;  ///< By q_i and θ̇_j.
  MatrixX<T> vv;  ///< By θ̇_i and θ̇_j.
  MatrixX<T> qa;  ///< By q_i and θ̈_j.
};
/// What forward_dynamics_second() writes.
template <class T>
struct ForwardDynamicsSecond {
  MatrixX<T> qq;    ///< By q_i, then by q_j.
  MatrixX<T> qv;    ///< By q_i and θ̇_j.
  MatrixX<T> vv;    ///< By θ̇_i and θ̇_j.
  MatrixX<T> qtau;  ///< By q_i and T_j.
};

/// What kinetic_energy_gradient() writes.
template <class T>
struct EnergyGradient {
  VectorX<T> by_q;  ///< ∂/∂q.
  VectorX<T> by_v;  ///< ∂/∂θ̇.
};
/// What momentum_derivatives() and spatial_momentum_derivatives() write.
template <class T>
struct MomentumDerivatives {
  Matrix6X<T> dq;  ///< ∂/∂q.
  Matrix6X<T> dv;  ///< ∂/∂θ̇.
};

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE EnergyGradient<T> kinetic_energy_gradient(BasicState<T>& state) {
  EnergyGradient<T> out{VectorX<T>(state.model().nv()), VectorX<T>(state.model().nv())};
  kinetic_energy_gradient(state, out.by_q, out.by_v);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> potential_energy_gradient(BasicState<T>& state) {
  VectorX<T> out(state.model().nv());
  potential_energy_gradient(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MomentumDerivatives<T> momentum_derivatives(BasicState<T>& state) {
  MomentumDerivatives<T> out{Matrix6X<T>(6, state.model().nv()), Matrix6X<T>(6, state.model().nv())};
  momentum_derivatives(state, out.dq, out.dv);
  return out;
}
template <class T>
BUNRAKU_INLINE MomentumDerivatives<T> spatial_momentum_derivatives(BasicState<T>& state) {
  MomentumDerivatives<T> out{Matrix6X<T>(6, state.model().nv()), Matrix6X<T>(6, state.model().nv())};
  spatial_momentum_derivatives(state, out.dq, out.dv);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> lambda_along(BasicState<T>& state, const NodeList& nodes, In<T> direction) {
  const auto m = 6 * static_cast<Eigen::Index>(nodes.size());
  MatrixX<T> out(m, m);
  lambda_along(state, nodes, direction, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> lambda_derivatives(BasicState<T>& state, const NodeList& nodes) {
  const auto m = 6 * static_cast<Eigen::Index>(nodes.size());
  MatrixX<T> out(m, m * state.model().nv());
  lambda_derivatives(state, nodes, out);
  return out;
}
template <class T>
BUNRAKU_INLINE InverseDynamicsSecond<T> inverse_dynamics_second(BasicState<T>& state, In<T> acceleration, In<T> weight,
                                                                std::type_identity_t<Forces<T>> forces = {}) {
  const Eigen::Index n = state.model().nv();
  InverseDynamicsSecond<T> out{MatrixX<T>(n, n), MatrixX<T>(n, n), MatrixX<T>(n, n), MatrixX<T>(n, n)};
  inverse_dynamics_second(state, acceleration, weight, out.qq, out.qv, out.vv, out.qa, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE ForwardDynamicsSecond<T> forward_dynamics_second(BasicState<T>& state, In<T> torque, In<T> weight,
                                                                std::type_identity_t<Forces<T>> forces = {}) {
  const Eigen::Index n = state.model().nv();
  ForwardDynamicsSecond<T> out{MatrixX<T>(n, n), MatrixX<T>(n, n), MatrixX<T>(n, n), MatrixX<T>(n, n)};
  forward_dynamics_second(state, torque, weight, out.qq, out.qv, out.vv, out.qtau, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> forward_dynamics_by_parameters(BasicState<T>& state, In<T> torque,
                                                         std::type_identity_t<Forces<T>> forces = {}) {
  MatrixX<T> out(state.model().nv(), 10 * static_cast<Eigen::Index>(state.model().bodies().size()));
  forward_dynamics_by_parameters(state, torque, out, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> inverse_dynamics_by_placements(BasicState<T>& state, In<T> acceleration,
                                                         std::type_identity_t<Forces<T>> forces = {}) {
  MatrixX<T> out(state.model().nv(), 6 * static_cast<Eigen::Index>(state.model().bodies().size()));
  inverse_dynamics_by_placements(state, acceleration, out, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> forward_dynamics_by_placements(BasicState<T>& state, In<T> torque,
                                                         std::type_identity_t<Forces<T>> forces = {}) {
  MatrixX<T> out(state.model().nv(), 6 * static_cast<Eigen::Index>(state.model().bodies().size()));
  forward_dynamics_by_placements(state, torque, out, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> mass_matrix_derivative(BasicState<T>& state, int i) {
  MatrixX<T> out(state.model().nv(), state.model().nv());
  mass_matrix_derivative(state, i, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> mass_matrix_derivatives(BasicState<T>& state) {
  const Eigen::Index n = state.model().nv();
  MatrixX<T> out(n, n * n);
  mass_matrix_derivatives(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> mass_matrix_rate(BasicState<T>& state) {
  MatrixX<T> out(state.model().nv(), state.model().nv());
  mass_matrix_rate(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> coriolis_along(BasicState<T>& state, In<T> direction) {
  MatrixX<T> out(state.model().nv(), state.model().nv());
  coriolis_along(state, direction, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> christoffel(BasicState<T>& state) {
  const Eigen::Index n = state.model().nv();
  MatrixX<T> out(n, n * n);
  christoffel(state, out);
  return out;
}
/// @}

}  // namespace bunraku
