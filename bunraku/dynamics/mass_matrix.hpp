/// @file
/// The mass matrix 𝓜 = HφMφ*H* + armature, its inverse, its roots, its determinant, and the Coriolis matrix.
#pragma once

#include "bunraku/dynamics/results.hpp"
#include "bunraku/dynamics/state.hpp"

namespace bunraku {

/// 𝓜 = HφMφ*H* + armature, n×n, both triangles. O(N n).
template <class T>
BUNRAKU_API void mass_matrix(BasicState<T>& state, MatrixOut<T> out);
/// C with Cθ̇ = Hφ(Mφ*a + b) but for gravity, and 𝓜̇ − 2C skew; n×n. O(N n).
template <class T>
BUNRAKU_API void coriolis_matrix(BasicState<T>& state, MatrixOut<T> out);
/// 𝓜⁻¹ = [I − HψK]*D⁻¹[I − HψK], n×n, both triangles. O(N n).
template <class T>
BUNRAKU_API void inverse_mass_matrix(BasicState<T>& state, MatrixOut<T> out);
/// 𝓜⁻¹X for a vector, or for the columns of a matrix; `out` may be x. O(N) each.
template <class T>
BUNRAKU_API void inverse_mass_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out);
/// 𝓜^½x = (I + HφK)D^½x, a square root in the sense 𝓜^½(𝓜^½)* = 𝓜. For a vector, or for the columns of a matrix; `out`
/// may be x. O(N) each. The first call on a state makes room.
template <class T>
BUNRAKU_API void mass_root_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out);
/// 𝓜^−½x = D^−½(I − HψK)x, the inverse of mass_root_times. O(N) each. The first call on a state makes room.
template <class T>
BUNRAKU_API void inverse_mass_root_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out);
/// ln det 𝓜 = Σ ln det D. O(N).
template <class T>
BUNRAKU_API T log_det_mass(BasicState<T>& state);

/// @name The same, returned
/// Of a vector a vector, of a matrix a matrix.
/// @{
template <class T>
BUNRAKU_INLINE MatrixX<T> mass_matrix(BasicState<T>& state) {
  MatrixX<T> out(state.model().nv(), state.model().nv());
  mass_matrix(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> coriolis_matrix(BasicState<T>& state) {
  MatrixX<T> out(state.model().nv(), state.model().nv());
  coriolis_matrix(state, out);
  return out;
}
template <class T>
BUNRAKU_INLINE MatrixX<T> inverse_mass_matrix(BasicState<T>& state) {
  MatrixX<T> out(state.model().nv(), state.model().nv());
  inverse_mass_matrix(state, out);
  return out;
}
template <class T, class Derived>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> inverse_mass_times(
    BasicState<T>& state, const Eigen::MatrixBase<Derived>& x) {
  Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> out(x.rows(), x.cols());
  inverse_mass_times(state, x, out);
  return out;
}
template <class T, class Derived>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> mass_root_times(
    BasicState<T>& state, const Eigen::MatrixBase<Derived>& x) {
  Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> out(x.rows(), x.cols());
  mass_root_times(state, x, out);
  return out;
}
template <class T, class Derived>
BUNRAKU_INLINE Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> inverse_mass_root_times(
    BasicState<T>& state, const Eigen::MatrixBase<Derived>& x) {
  Eigen::Matrix<T, Eigen::Dynamic, Derived::ColsAtCompileTime> out(x.rows(), x.cols());
  inverse_mass_root_times(state, x, out);
  return out;
}
/// @}

}  // namespace bunraku
