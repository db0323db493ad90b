/// @file
/// The system as a whole: energies, centre of mass, momentum and their Jacobians.
#pragma once

#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

/// ½θ̇*𝓜θ̇, in joules, armature included. O(N).
template <class T>
BUNRAKU_API T kinetic_energy(BasicState<T>& state);
/// Of gravity, zero at the world's origin, and of the springs unless left out, ½Σ stiffness · stretch², in joules.
/// On planar and free hinges, and spherical ones of unequal stiffness, the springs' torques, −stiffness · stretch,
/// are not its gradient. O(N).
template <class T>
BUNRAKU_API T potential_energy(BasicState<T>& state);
/// The centre of mass in the world, of all bodies, those fixed to the world included; the world's origin when nothing
/// has mass. O(N).
template <class T>
BUNRAKU_API Vec3<T> center_of_mass(BasicState<T>& state);
/// Momentum of all bodies in the world's axes: `moment` is the angular momentum about the centre of mass, `force` the
/// linear momentum. O(N).
template <class T>
BUNRAKU_API Force<T> momentum(BasicState<T>& state);
/// The velocity of the centre of mass is this times θ̇; 3×n, in the world's axes. O(N).
template <class T>
BUNRAKU_API void center_of_mass_jacobian(BasicState<T>& state, MatrixOut<T> out);
/// A with momentum = Aθ̇, 6×n: angular about the centre of mass, over linear, in the world's axes. O(N).
template <class T>
BUNRAKU_API void centroidal_momentum_matrix(BasicState<T>& state, MatrixOut<T> out);
/// Ȧ, 6×n: momentum' = Aθ̈ + Ȧθ̇. O(N).
template <class T>
BUNRAKU_API void centroidal_momentum_matrix_rate(BasicState<T>& state, MatrixOut<T> out);

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE Matrix3X<T> center_of_mass_jacobian(BasicState<T>& state) {
  Matrix3X<T> out(3, state.model().nv());
  center_of_mass_jacobian(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE Matrix6X<T> centroidal_momentum_matrix(BasicState<T>& state) {
  Matrix6X<T> out(6, state.model().nv());
  centroidal_momentum_matrix(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE Matrix6X<T> centroidal_momentum_matrix_rate(BasicState<T>& state) {
  Matrix6X<T> out(6, state.model().nv());
  centroidal_momentum_matrix_rate(state, out);
  return out;
}
/// @}

}  // namespace bunraku
