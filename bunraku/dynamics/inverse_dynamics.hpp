/// @file
/// Torques from accelerations, and what they consist of.
///
/// The hinges' own torques are T_p = −damping·θ̇ − friction·sign(θ̇) − stiffness·(q ⊖ rest), zero where they are left
/// out. Coulomb friction is sign(θ̇) and zero at rest: a hinge that rests never sticks. For simulations replace it by a
/// law that is smooth through zero, such as friction·tanh(θ̇/ε), among the torques.
#pragma once

#include <vector>

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

/// T = 𝓜θ̈ + 𝓒 − T_p − J*f, with 𝓜 = HφMφ*H* + armature, 𝓒 = Hφ(Mφ*a + b), gravity included, forces f from outside
/// and T_p as passive_torques() has them (Coulomb friction: zero at rest). O(N).
template <class T>
BUNRAKU_API void inverse_dynamics(BasicState<T>& state, In<T> acceleration, Out<T> torque,
                                  std::type_identity_t<Forces<T>> forces = {});
/// 𝓒 = Hφ(Mφ*a + b), gravity included, T_p not. O(N).
template <class T>
BUNRAKU_API void bias(BasicState<T>& state, Out<T> torque);
/// 𝓒 at θ̇ = 0: the torques that gravity asks for. They hold the model still where it has no springs; with springs
/// subtract passive_torques() at rest. O(N).
template <class T>
BUNRAKU_API void gravity_torques(BasicState<T>& state, Out<T> torque);
/// T_p = −damping·θ̇ − friction·sign(θ̇) − stiffness·(q ⊖ rest), with 𝓜θ̈ + 𝓒 = T + T_p; those of mimic hinges act on
/// their leaders. Zero where the state leaves passive forces out. sign(0) is 0: nothing sticks. O(N).
template <class T>
BUNRAKU_API void passive_torques(BasicState<T>& state, Out<T> torque);
/// f(k) for each body: what its parent exerts on it through the hinge, moment about the body's origin, in the body's
/// axes; T(k) = H(k)f(k) but for armature and T_p. f = φ(Mα + b) − φBf. N of them. O(N). The first
/// call on a state makes room.
template <class T>
BUNRAKU_API void reactions(BasicState<T>& state, In<T> acceleration, std::type_identity_t<std::span<Force<T>>> out,
                           std::type_identity_t<Forces<T>> forces = {});

/// Y with 𝓜θ̈ + 𝓒 = Yπ but for armature: π has ten parameters a body, (m, m·c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) about the
/// body's origin in its axes. n×10N. O(N d).
template <class T>
BUNRAKU_API void regressor(BasicState<T>& state, In<T> acceleration, MatrixOut<T> out);
/// Y_h with armature·θ̈ − T_p = Y_h π_h, whether or not the state leaves passive forces out: π_h has four parameters for
/// each velocity of each hinge, body by body, mimics too: (armature, damping, friction, stiffness). Then inverse
/// dynamics is Yπ + Y_h π_h. Friction's column is sign(θ̇). n×4m for m such velocities. O(N + n m).
template <class T>
BUNRAKU_API void hinge_regressor(BasicState<T>& state, In<T> acceleration, MatrixOut<T> out);
/// Velocities of all hinges, mimics too: the m of hinge_regressor. O(N).
BUNRAKU_API int hinge_velocities(const Model& model);

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE VectorX<T> inverse_dynamics(BasicState<T>& state, In<T> acceleration,
                                           std::type_identity_t<Forces<T>> forces = {}) {
  VectorX<T> out(state.model().nv());
  inverse_dynamics(state, acceleration, out, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> bias(BasicState<T>& state) {
  VectorX<T> out(state.model().nv());
  bias(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> gravity_torques(BasicState<T>& state) {
  VectorX<T> out(state.model().nv());
  gravity_torques(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> passive_torques(BasicState<T>& state) {
  VectorX<T> out(state.model().nv());
  passive_torques(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE std::vector<Force<T>> reactions(BasicState<T>& state, In<T> acceleration,
                                               std::type_identity_t<Forces<T>> forces = {}) {
  std::vector<Force<T>> out(state.model().bodies().size());
  reactions(state, acceleration, out, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> regressor(BasicState<T>& state, In<T> acceleration) {
  MatrixX<T> out(state.model().nv(), 10 * static_cast<Eigen::Index>(state.model().bodies().size()));
  regressor(state, acceleration, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> hinge_regressor(BasicState<T>& state, In<T> acceleration) {
  MatrixX<T> out(state.model().nv(), 4 * static_cast<Eigen::Index>(hinge_velocities(state.model())));
  hinge_regressor(state, acceleration, out);
  return out;
}
/// @}

}  // namespace bunraku
