/// @file
/// Dynamics of closed systems. Vectors are stacked over the members; Y = A B*φ*H* + A_h is the closures' Jacobian,
/// closure forces f̃ are those of 𝓜θ̈ + 𝓒 + Y*f̃ = T: what b exerts on a. None of these functions makes a mass matrix
/// of a tree. Positions and velocities are taken to satisfy the closures: see assemble and project_velocities, and
/// closure_gap for how far they do not.
#pragma once

#include "bunraku/dynamics/closed_system.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/model/nodes.hpp"

namespace bunraku {

/// θ̈ with all closures holding (RJK89 steps A–F): θ̈ = W*D^(−½){[I − 𝔟(𝔟*𝔟)⁻¹𝔟*]D^(−½)W T̂ + 𝔟(𝔟*𝔟)⁻¹U}, in three
/// sweeps, columns on the closures' supports, and one solve of as many equations as closures have rows, in the sense of
/// least squares where they are not independent. O(N + m·d + m³) for m rows. Throws ContradictionError where closures
/// contradict each other, SingularError as forward_dynamics. Returns what was found of the closures, there until the
/// next call.
template <class T>
BUNRAKU_API const ClosureReport& closed_forward_dynamics(BasicClosedSystem<T>& system, In<T> torques, Out<T> out);

/// The forces f̃ of a closure from the last closed_forward_dynamics: as many as it has rows, what b exerts on a. Rows
/// are in a's axes at b's point, moments before forces: of `fixed` all six, of `spherical` the three forces; of hinges
/// with an axis those across it. Throws ArgumentError.
template <class T>
BUNRAKU_API void closure_forces(const BasicClosedSystem<T>& system, int closure, Out<T> out);
/// The same as one spatial force N*f̃ on a, in a's axes at b's point; zero for couplings and general rows.
template <class T>
BUNRAKU_API Force<T> closure_wrench(const BasicClosedSystem<T>& system, int closure);

/// T of least norm for the part of θ̈ that the closures allow: T = (I − Y⁺Y)(𝓜θ̈ + 𝓒). The norm mixes N·m and N. O(N m +
/// m² 𝒩). Throws as closed_forward_dynamics.
template <class T>
BUNRAKU_API const ClosureReport& closed_inverse_dynamics(BasicClosedSystem<T>& system, In<T> accelerations, Out<T> out);
/// T at the chosen velocity coordinates alone, zero elsewhere, of least norm; `actuated` has their indices in stacked
/// vectors. Throws Error where those cannot do it, with what is missing.
template <class T>
BUNRAKU_API const ClosureReport& closed_inverse_dynamics(BasicClosedSystem<T>& system, In<T> accelerations,
                                                         std::span<const int> actuated, Out<T> out);

/// M_C x, with M_C = X(X*𝓜X)⁻¹X* what the closed system has in place of 𝓜⁻¹. O(N + m·d + m³).
template <class T>
BUNRAKU_API const ClosureReport& closed_inverse_mass_times(BasicClosedSystem<T>& system, In<T> x, Out<T> out);

/// Rank, redundancy and degrees of freedom at the state. O(N + m·d + m²𝒩).
template <class T>
BUNRAKU_API const ClosureReport& closure_report(BasicClosedSystem<T>& system);

/// At a singular pose (ClosureReport::singular) the closure forces that do nothing here, λ*Y = 0, though they do near
/// by: unit vectors over all rows, closure by closure. Along them the first-order equations say nothing of the motion.
/// None elsewhere. They are found to about 1e-4 where closures are redundant as well. O(assembly + m³); allocates.
template <class T>
BUNRAKU_API std::vector<std::vector<T>> singular_directions(BasicClosedSystem<T>& system);

/// How far closures are open, all rows stacked closure by closure: m and rad. O(N).
template <class T>
BUNRAKU_API void closure_gap(BasicClosedSystem<T>& system, Out<T> out);
/// Yθ̇, all rows stacked closure by closure; zero where velocities fit. O(N).
template <class T>
BUNRAKU_API void closure_velocity(BasicClosedSystem<T>& system, Out<T> out);
/// Y, rows × 𝒩. O(m d).
template <class T>
BUNRAKU_API void closure_jacobian(BasicClosedSystem<T>& system, MatrixOut<T> out);

/// The velocities nearest to those of the state, in the mass metric, that satisfy the closures: θ̇ − 𝓜⁻¹Y*(Y𝓜⁻¹Y*)⁺Yθ̇.
/// Sets them. O(N + m·d + m³).
template <class T>
BUNRAKU_API void project_velocities(BasicClosedSystem<T>& system);
/// Velocities of all hinges from those of some: the θ̇ with Yθ̇ = 0 and the chosen coordinates as given. Throws Error
/// where those do not determine the others, or contradict the closures.
template <class T>
BUNRAKU_API void dependent_velocities(BasicClosedSystem<T>& system, std::span<const int> independent, In<T> given,
                                      Out<T> out);

/// J M_C J* of nodes of one member, in their own axes: the closed system's inverse operational-space inertia. O(m_n (N
/// + m d)).
template <class T>
BUNRAKU_API void closed_lambda_inverse(BasicClosedSystem<T>& system, int member, const NodeList& nodes,
                                       MatrixOut<T> out);

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE VectorX<T> closed_forward_dynamics(BasicClosedSystem<T>& system, In<T> torques) {
  VectorX<T> out(system.nv());
  closed_forward_dynamics(system, torques, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> closed_inverse_dynamics(BasicClosedSystem<T>& system, In<T> accelerations) {
  VectorX<T> out(system.nv());
  closed_inverse_dynamics(system, accelerations, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> closed_inverse_mass_times(BasicClosedSystem<T>& system, In<T> x) {
  VectorX<T> out(system.nv());
  closed_inverse_mass_times(system, x, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> closure_gap(BasicClosedSystem<T>& system) {
  VectorX<T> out(system.rows());
  closure_gap(system, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> closure_velocity(BasicClosedSystem<T>& system) {
  VectorX<T> out(system.rows());
  closure_velocity(system, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> closure_jacobian(BasicClosedSystem<T>& system) {
  MatrixX<T> out(system.rows(), system.nv());
  closure_jacobian(system, out);
  return out;
}
/// @}

}  // namespace bunraku
