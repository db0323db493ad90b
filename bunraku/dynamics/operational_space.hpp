/// @file
/// Operational space of m nodes, on any branches. Blocks of six, each in its node's own axes at its origin.
#pragma once

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

/// Λ⁻¹ = J𝓜⁻¹J* = B*ΩB = B*ψ*H*D⁻¹HψB, 6m×6m, column by column. O(mN). The first call on a state makes room, and so do
/// more nodes than before.
template <class T>
BUNRAKU_API void lambda_inverse(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> out);
/// Λ, the operational-space inertia, symmetric to the last bit. Throws Error where J has not full rank, with its rows
/// and rank; what is in `out` is then of no use. O(mN + m³).
template <class T>
BUNRAKU_API void lambda(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> out);
/// J̄ = 𝓜⁻¹J*Λ, n×6m: JJ̄ = I with the least kinetic energy. Throws as lambda. O(mN + m²n).
template <class T>
BUNRAKU_API void dynamically_consistent_inverse(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> out);
/// Δθ̈ = (I−HψK)*D⁻¹HψBf: how the accelerations change under forces from outside (RJK91 17–18; the papers' f(0) is
/// the force on the environment, hence their minus). O(N).
template <class T>
BUNRAKU_API void force_correction(BasicState<T>& state, std::type_identity_t<Forces<T>> forces, Out<T> out);

/// @name The same, returned
/// @{
template <class T>
BUNRAKU_INLINE MatrixX<T> lambda_inverse(BasicState<T>& state, const NodeList& nodes) {
  const auto m = 6 * static_cast<Eigen::Index>(nodes.size());
  MatrixX<T> out(m, m);
  lambda_inverse(state, nodes, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> lambda(BasicState<T>& state, const NodeList& nodes) {
  const auto m = 6 * static_cast<Eigen::Index>(nodes.size());
  MatrixX<T> out(m, m);
  lambda(state, nodes, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> dynamically_consistent_inverse(BasicState<T>& state, const NodeList& nodes) {
  MatrixX<T> out(state.model().nv(), 6 * static_cast<Eigen::Index>(nodes.size()));
  dynamically_consistent_inverse(state, nodes, out);
  return out;
}
template <class T>
BUNRAKU_INLINE VectorX<T> force_correction(BasicState<T>& state, std::type_identity_t<Forces<T>> forces) {
  VectorX<T> out(state.model().nv());
  force_correction(state, forces, out);
  return out;
}
/// @}

}  // namespace bunraku
