/// @file
/// Accelerations from torques. The hinges' own torques T_p are those of inverse_dynamics.hpp: Coulomb friction is
/// sign(θ̇), so that a hinge that rests never sticks.
#pragma once

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/model/hinge_set.hpp"

namespace bunraku {

/// The forward-dynamics algorithms of RK88 and RK92 §VII. They give one result; `articulated` is the fastest. Of the
/// sweeps the first is outward, then inward and outward take turns, but for two inward ones in a row in fd1 and fd2.
enum class ForwardAlgorithm {
  articulated,  ///< Three sweeps: V outward; P, D, G and ε inward with the bias forces; θ̈ outward.
  fd1,          ///< RK92 47–54, four sweeps: φ*a; bias torques off T; innovations of what is left; θ̈.
  fd2,          ///< RK92 55–59, four sweeps: as fd1, with the accelerations of the bodies in the last one.
  fd3,          ///< RK92 60–65, three sweeps: Mφ*a + b; innovations of T and it; θ̈.
  fd4,          ///< RK92 66–73, three sweeps: V alone; innovations of T, Pa and b; θ̈ and the bodies' accelerations.
};

/// θ̈ = 𝓜⁻¹(T − 𝓒 + T_p + J*f). O(N).
template <class T>
BUNRAKU_API void forward_dynamics(BasicState<T>& state, In<T> torque, Out<T> acceleration,
                                  std::type_identity_t<Forces<T>> forces = {});
/// The same by one of the papers' algorithms: programs of four expressions of one operator. O(N). The first call on a
/// state makes room. Throws Error for fd4 where a hinge mimics one that carries it. `links`, unless empty, gets α(k) of
/// each body as accelerations() has it, by a program of its own; fd2 and fd4 alone have it, others: ArgumentError.
template <class T>
BUNRAKU_API void forward_dynamics_by(ForwardAlgorithm algorithm, BasicState<T>& state, In<T> torque,
                                     Out<T> acceleration, std::type_identity_t<Forces<T>> forces = {},
                                     std::type_identity_t<std::span<Motion<T>>> links = {});
/// Some hinges move as prescribed, the rest is free: of a hinge in the set `prescribed` the accelerations are given and
/// the torques wanted, of the others the torques are given and the accelerations wanted. Fills in what is wanted in
/// both; what is there before is not read. A mimic hinge is as its leader is. With S the free hinges, θ̈ = S*(S𝓜S*)⁻¹S
/// times what is left of T: (I − HψK)*D⁻¹(I − HψK) with infinite armature at the others. O(N). The first call on a
/// state makes room.
template <class T>
BUNRAKU_API void hybrid_dynamics(BasicState<T>& state, const HingeSet& prescribed, Out<T> acceleration, Out<T> torque,
                                 std::type_identity_t<Forces<T>> forces = {});

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE VectorX<T> forward_dynamics(BasicState<T>& state, In<T> torque,
                                           std::type_identity_t<Forces<T>> forces = {}) {
  VectorX<T> out(state.model().nv());
  forward_dynamics(state, torque, out, forces);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> forward_dynamics_by(ForwardAlgorithm algorithm, BasicState<T>& state, In<T> torque,
                                              std::type_identity_t<Forces<T>> forces = {}) {
  VectorX<T> out(state.model().nv());
  forward_dynamics_by(algorithm, state, torque, out, forces);
  return out;
}
/// @}

}  // namespace bunraku
