#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/cholesky.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
void BasicDynamics<T>::State::require_block_diagonal() const {
  for (const Body& body : model.bodies()) {
    if (body.leader != world) {
      throw Error(
          fmt::format("hinge '{}' mimics another, so that the innovations of the two are one: D is not block diagonal, "
                      "and P, D, G and ψ are not defined body by body",
                      body.hinge.name));
    }
  }
}

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

}  // namespace

/// Inward (RK88 4.13): s = D^½x; z(k) = Σ φ(k,j)z(j) + K(k,j)s(j); y(k) = H(k)z(k) + s(k).
template <class T>
void BasicDynamics<T>::square_root_times(std::span<const T> x, std::span<T> out) {
  State& s = *state_;
  check_argument(x, s.nv(), "x");
  check_size(out.size(), s.nv(), "out");
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
void BasicDynamics<T>::inverse_square_root_times(std::span<const T> x, std::span<T> out) {
  State& s = *state_;
  check_argument(x, s.nv(), "x");
  check_size(out.size(), s.nv(), "out");
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

template <class T>
ArticulatedInertia<T> BasicDynamics<T>::articulated_inertia(int body) {
  State& s = *state_;
  static_cast<void>(s.model.body(body));
  s.require_block_diagonal();
  s.blocks.need_articulated();
  return s.blocks.P(body);
}

template <class T>
void BasicDynamics<T>::hinge_inertia(int body, std::span<T> out) {
  State& s = *state_;
  const int n = s.model.body(body).hinge.velocity_size();
  check_size(out.size(), n * n, "the hinge's inertia");
  s.require_block_diagonal();
  s.blocks.need_articulated();
  std::copy_n(s.blocks.D(body), n * n, out.begin());
}

template <class T>
void BasicDynamics<T>::kalman_gain(int body, std::span<T> out) {
  State& s = *state_;
  const int n = s.model.body(body).hinge.velocity_size();
  check_size(out.size(), 6 * n, "the gain");
  s.require_block_diagonal();
  s.blocks.need_articulated();
  for (int i = 0; i < 6 * n; ++i) {
    out[static_cast<std::size_t>(i)] = s.blocks.G(s.blocks.first(body) + i / 6)[i % 6];
  }
}

template <class T>
void BasicDynamics<T>::shifted_gain(int body, std::span<T> out) {
  State& s = *state_;
  const int n = s.model.body(body).hinge.velocity_size();
  check_size(out.size(), 6 * n, "the gain");
  s.require_block_diagonal();
  s.blocks.need_articulated();
  for (int j = 0; j < n; ++j) {
    const Force<T> column = kernels::phi_times(s.blocks, body, s.blocks.G(s.blocks.first(body) + j));
    for (int i = 0; i < 6; ++i) {
      out[static_cast<std::size_t>(6 * j + i)] = column[i];
    }
  }
}

template <class T>
Mat6<T> BasicDynamics<T>::articulated_transition(int i, int j) {
  State& s = *state_;
  for (const int body : {i, j}) {
    if (body != world) {
      static_cast<void>(s.model.body(body));
    }
  }
  s.require_block_diagonal();
  int ancestor = j;
  while (ancestor > i) {  // parents have smaller indices, the world's is the smallest
    ancestor = s.blocks.parent(ancestor);
  }
  if (ancestor != i) {
    return Mat6<T>::zero();
  }
  s.blocks.need_articulated();
  const auto columns =
      kernels::psi_times(s.blocks, i, j, kernels::unit_forces(Transform<T>::identity()));  // RK92 38–40
  return {Mat3<T>::from_columns(columns[0].moment, columns[1].moment, columns[2].moment),
          Mat3<T>::from_columns(columns[3].moment, columns[4].moment, columns[5].moment),
          Mat3<T>::from_columns(columns[0].force, columns[1].force, columns[2].force),
          Mat3<T>::from_columns(columns[3].force, columns[4].force, columns[5].force)};
}

template void BasicDynamics<double>::State::require_block_diagonal() const;
template void BasicDynamics<double>::square_root_times(std::span<const double>, std::span<double>);
template void BasicDynamics<double>::inverse_square_root_times(std::span<const double>, std::span<double>);
template ArticulatedInertia<double> BasicDynamics<double>::articulated_inertia(int);
template void BasicDynamics<double>::hinge_inertia(int, std::span<double>);
template void BasicDynamics<double>::kalman_gain(int, std::span<double>);
template void BasicDynamics<double>::shifted_gain(int, std::span<double>);
template Mat6<double> BasicDynamics<double>::articulated_transition(int, int);
template void BasicDynamics<float>::State::require_block_diagonal() const;
template void BasicDynamics<float>::square_root_times(std::span<const float>, std::span<float>);
template void BasicDynamics<float>::inverse_square_root_times(std::span<const float>, std::span<float>);
template ArticulatedInertia<float> BasicDynamics<float>::articulated_inertia(int);
template void BasicDynamics<float>::hinge_inertia(int, std::span<float>);
template void BasicDynamics<float>::kalman_gain(int, std::span<float>);
template void BasicDynamics<float>::shifted_gain(int, std::span<float>);
template Mat6<float> BasicDynamics<float>::articulated_transition(int, int);

}  // namespace bunraku
