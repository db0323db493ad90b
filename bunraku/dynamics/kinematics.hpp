/// @file
/// Poses, velocities, accelerations and Jacobians of nodes. A node is a Node, a name or a body's index: see NodeRef.
#pragma once

#include <vector>

#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/model/nodes.hpp"

namespace bunraku {

/// X_WN: the pose of a node in the world. O(1) once a configuration's poses are there, O(N) for the first. Throws
/// ArgumentError where there is no such node, as all of these do.
template <class T>
BUNRAKU_API Transform<T> pose(BasicState<T>& state, const NodeRef& node);
/// B*φ*H*θ̇: the velocity of a node, as the frame says. O(1) once a state's velocities are there, O(N) for the first.
template <class T>
BUNRAKU_API Motion<T> velocity(BasicState<T>& state, const NodeRef& node, Frame frame);
/// Jθ̈ + J̇θ̇: the rate of velocity() in the same frame, number by number, for hinge accelerations θ̈; true, without
/// gravity's pseudo-acceleration. For `aligned` these are ω̇ and the acceleration of the node's origin. O(d).
template <class T>
BUNRAKU_API Motion<T> acceleration(BasicState<T>& state, const NodeRef& node, Frame frame, In<T> acceleration);

/// J = B*φ*H* of a node, angular over linear, 6×n, or three of its rows. O(d + n).
template <class T>
BUNRAKU_API void jacobian(BasicState<T>& state, const NodeRef& node, Frame frame, MatrixOut<T> out,
                          Rows rows = Rows::all);
/// J̇, the derivative in time of each element of that matrix. O(d + n).
template <class T>
BUNRAKU_API void jacobian_rate(BasicState<T>& state, const NodeRef& node, Frame frame, MatrixOut<T> out,
                               Rows rows = Rows::all);
/// J̇θ̇ = B*φ*a + a(0) for `aligned`: the node's acceleration at θ̈ = 0. O(N).
template <class T>
BUNRAKU_API Motion<T> jacobian_bias(BasicState<T>& state, const NodeRef& node, Frame frame);

/// α(k) = φ*(H*θ̈ + a) for each body: the inertial derivative of V(k), at the body's origin in its axes. True
/// accelerations, without gravity's pseudo-acceleration. N of them. O(N).
template <class T>
BUNRAKU_API void accelerations(BasicState<T>& state, In<T> acceleration,
                               std::type_identity_t<std::span<Motion<T>>> out);
/// The same at θ̈ = 0: φ*a. O(N).
template <class T>
BUNRAKU_API void bias_accelerations(BasicState<T>& state, std::type_identity_t<std::span<Motion<T>>> out);

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE JacobianX<T> jacobian(BasicState<T>& state, const NodeRef& node, Frame frame, Rows rows = Rows::all) {
  JacobianX<T> out(rows == Rows::all ? 6 : 3, state.model().nv());
  jacobian(state, node, frame, out, rows);
  return out;
}
template <class T>
BUNRAKU_INLINE JacobianX<T> jacobian_rate(BasicState<T>& state, const NodeRef& node, Frame frame,
                                          Rows rows = Rows::all) {
  JacobianX<T> out(rows == Rows::all ? 6 : 3, state.model().nv());
  jacobian_rate(state, node, frame, out, rows);
  return out;
}
template <class T>
BUNRAKU_INLINE std::vector<Motion<T>> accelerations(BasicState<T>& state, In<T> acceleration) {
  std::vector<Motion<T>> out(state.model().bodies().size());
  accelerations(state, acceleration, out);
  return out;
}
template <class T>
BUNRAKU_INLINE std::vector<Motion<T>> bias_accelerations(BasicState<T>& state) {
  std::vector<Motion<T>> out(state.model().bodies().size());
  bias_accelerations(state, out);
  return out;
}
/// @}

}  // namespace bunraku
