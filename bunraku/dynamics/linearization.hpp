/// @file
/// Small motions about a state: the linear system, its modes, and whether torques reach them.
#pragma once

#include <complex>
#include <vector>

#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

/// ẋ = Ax + Bu for x = (δ, y), where q ⊕ δ and θ̇ + y are the state nearby and T + u the torques:
///
///     A = [−ad(θ̇), I; ∂θ̈/∂q, ∂θ̈/∂θ̇],     B = [0; 𝓜⁻¹],
///
/// A 2n×2n and B 2n×n, with the derivatives of forward_dynamics_derivatives() and the tangent_rate() of q, which is
/// zero at rest. About a state that accelerates it is the difference of two motions that is linear. Coulomb friction
/// has no derivative and is left out. Loops are cut open. O(N n + n² d). The first call on a state makes room. Throws
/// ArgumentError for a wrong size or a number that is not finite, Error where a hinge moves nothing that has mass.
template <class T>
BUNRAKU_API void linearize(BasicState<T>& state, In<T> torque, MatrixOut<T> A, MatrixOut<T> B);

/// What linearize() writes.
template <class T>
struct Linearization {
  MatrixX<T> A;  ///< 2n×2n.
  MatrixX<T> B;  ///< 2n×n.
};

/// The same, returned.
template <class T>
BUNRAKU_INLINE Linearization<T> linearize(BasicState<T>& state, In<T> torque) {
  const Eigen::Index n = state.model().nv();
  Linearization<T> out{MatrixX<T>(2 * n, 2 * n), MatrixX<T>(2 * n, n)};
  linearize(state, torque, out.A, out.B);
  return out;
}

/// A motion x(t) = Re(c exp(λt)) of ẋ = Ax + Bu.
struct LinearMode {
  std::complex<double> eigenvalue;  ///< λ, 1/s.
  double frequency = 0;             ///< |λ|/2π, Hz: that of the same mode without damping.
  double damping = 0;               ///< −Re λ/|λ|: below 0 it grows, from 1 on it does not swing. 0 where λ is 0.
  /// How far inputs reach it: the least singular value of [A − λI, B] over the largest of it. Zero to rounding errors
  /// where they do not (Popov, Belevitch, Hautus).
  double reach = 0;
  bool controllable = false;  ///< Whether `reach` is more than the rounding errors of so large a matrix.
};

/// The modes of ẋ = Ax + Bu for any A, m×m, and B of m rows, those of the lowest |λ| first; both of a pair of conjugate
/// ones, that with Im λ > 0 first. O(m⁴). Throws ArgumentError for wrong shapes and numbers that are not finite, Error
/// where the eigenvalues do not converge.
BUNRAKU_API std::vector<LinearMode> linear_modes(MatrixIn<double> A, MatrixIn<double> B);

}  // namespace bunraku
