// 𝓜^½ = (I + HφK)D^½ and its inverse D^−½(I − HψK), one sweep inward each.
#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/cholesky.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"

namespace bunraku {

namespace {

/// D^½ or D^−½ of a hinge times x, by the symmetric root.
template <class T>
kernels::HingeVector<T> root_times(const T* D, int n, bool inverse, const kernels::HingeVector<T>& x) {
  kernels::HingeVector<T> out{};
  if (n == 1) {
    out[0] = inverse ? x[0] / std::sqrt(D[0]) : x[0] * std::sqrt(D[0]);
  } else if (n > 1) {
    using Small = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, 0, max_hinge_velocities, max_hinge_velocities>;
    const Eigen::SelfAdjointEigenSolver<Small> parts(Eigen::Map<const Small>(D, n, n));
    for (int c = 0; c < n; ++c) {
      const T root = std::sqrt(parts.eigenvalues()[c]);
      T along{};
      for (int i = 0; i < n; ++i) {
        along += parts.eigenvectors()(i, c) * x[i];
      }
      along = inverse ? along / root : along * root;
      for (int i = 0; i < n; ++i) {
        out[i] += parts.eigenvectors()(i, c) * along;
      }
    }
  }
  return out;
}

/// Inward (RK88 4.13): s = D^½x; z(k) = Σ φ(k,j)z(j) + K(k,j)s(j); y(k) = H(k)z(k) + s(k).
template <class T>
void root_column(detail::StateData<T>& s, std::span<const T> x, std::span<T> out) {
  if (s.has_mimics()) {
    s.need_factor();
    const auto& L = s.factor;
    for (int i = s.nv() - 1; i >= 0; --i) {  // from below, so that x may be out
      T sum{};
      for (int j = 0; j <= i; ++j) {
        sum += L(i, j) * x[static_cast<std::size_t>(j)];
      }
      out[static_cast<std::size_t>(i)] = sum;
    }
    return;
  }
  s.blocks.need_articulated();
  std::fill(s.force.begin(), s.force.end(), Force<T>::zero());
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const Force<T>& z = s.force[static_cast<std::size_t>(k)];
    const auto given = kernels::hinge_part(s.blocks, k, x.data());
    const auto root = root_times(s.blocks.D(k), s.blocks.nv(k), false, given);
    if (const int p = s.blocks.parent(k); p != world) {
      s.force[static_cast<std::size_t>(p)] +=
          kernels::phi_times(s.blocks, k, z) + kernels::shifted_gain_times(s.blocks, k, root);
    }
    kernels::set_hinge_part(s.blocks, k, kernels::h_times(s.blocks, k, z) + root, out.data());
  }
}

/// Inward (RK88 4.15): z(k) = Σ ψ(k,j)z(j) + K(k,j)x(j); ε(k) = x(k) − H(k)z(k); then D^−½ε.
template <class T>
void inverse_root_column(detail::StateData<T>& s, std::span<const T> x, std::span<T> out) {
  if (s.has_mimics()) {
    s.need_factor();
    std::copy(x.begin(), x.end(), out.begin());
    kernels::solve_lower(s.factor, out.data());
    return;
  }
  s.blocks.need_articulated();
  std::fill(s.force.begin(), s.force.end(), Force<T>::zero());
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const Force<T>& z = s.force[static_cast<std::size_t>(k)];
    const auto given = kernels::hinge_part(s.blocks, k, x.data());
    if (const int p = s.blocks.parent(k); p != world) {
      s.force[static_cast<std::size_t>(p)] +=
          kernels::psi_times(s.blocks, k, z) + kernels::shifted_gain_times(s.blocks, k, given);
    }
    const auto innovation = given - kernels::h_times(s.blocks, k, z);
    kernels::set_hinge_part(s.blocks, k, root_times(s.blocks.D(k), s.blocks.nv(k), true, innovation), out.data());
  }
}

}  // namespace

template <class T>
void mass_root_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out) {
  state.data().for_each_column(x, out, root_column<T>);
}

template <class T>
void inverse_mass_root_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out) {
  state.data().for_each_column(x, out, inverse_root_column<T>);
}

template void mass_root_times(BasicState<double>&, MatrixIn<double>, MatrixOut<double>);
template void inverse_mass_root_times(BasicState<double>&, MatrixIn<double>, MatrixOut<double>);
template void mass_root_times(BasicState<float>&, MatrixIn<float>, MatrixOut<float>);
template void inverse_mass_root_times(BasicState<float>&, MatrixIn<float>, MatrixOut<float>);

}  // namespace bunraku
