/// @file
/// The Riccati recursion's P, D, G, K and ψ, body by body (RK92 34–41). All throw Error for models with mimic hinges,
/// where D is not block diagonal, and ArgumentError when there is no such body. The first call on a state makes room.
#pragma once

#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"
#include "bunraku/spatial/mat6.hpp"

namespace bunraku {

/// P(k) of body k, about its origin in its axes: P(k) = Σψ(k,j)P(j)φ*(k,j) + M(k). O(1) once a state's factors are
/// there, O(N) for the first.
template <class T>
BUNRAKU_API ArticulatedInertia<T> articulated_inertia(BasicState<T>& state, int body);
/// D(k) = H(k)P(k)H*(k) + armature of body k's hinge, square, as many rows as it has velocities.
template <class T>
BUNRAKU_API void hinge_inertia(BasicState<T>& state, int body, MatrixOut<T> out);
/// G(k) = P(k)H*(k)D⁻¹(k), 6 × velocities of the hinge, at body k's origin in its axes.
template <class T>
BUNRAKU_API void kalman_gain(BasicState<T>& state, int body, MatrixOut<T> out);
/// K(p,k) = φ(p,k)G(k) for the parent p, at p's origin in its axes.
template <class T>
BUNRAKU_API void shifted_gain(BasicState<T>& state, int body, MatrixOut<T> out);
/// ψ(i,j) = φ(i,i+1)[I−GH](i+1) … φ(·,j)[I−GH](j) from body j to its ancestor i (`world` is one); the identity for
/// i = j, zero where i is no ancestor of j. O(d).
template <class T>
BUNRAKU_API Mat6<T> articulated_transition(BasicState<T>& state, int i, int j);

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE MatrixX<T> hinge_inertia(BasicState<T>& state, int body) {
  const int n = state.model().body(body).hinge.velocity_size();
  MatrixX<T> out(n, n);
  hinge_inertia(state, body, out);
  return out;
}
template <class T>
BUNRAKU_INLINE Matrix6X<T> kalman_gain(BasicState<T>& state, int body) {
  Matrix6X<T> out(6, state.model().body(body).hinge.velocity_size());
  kalman_gain(state, body, out);
  return out;
}
template <class T>
BUNRAKU_INLINE Matrix6X<T> shifted_gain(BasicState<T>& state, int body) {
  Matrix6X<T> out(6, state.model().body(body).hinge.velocity_size());
  shifted_gain(state, body, out);
  return out;
}
/// @}

}  // namespace bunraku
