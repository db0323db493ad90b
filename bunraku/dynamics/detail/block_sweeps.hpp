/// @file
/// Sweeps over the blocks in the user's frames that Dynamics and the operators share.
#pragma once

#include <array>
#include <vector>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/spatial/mat6.hpp"

namespace bunraku::kernels {

/// A matrix that gives a motion for a force, times a force.
template <class T>
Motion<T> motion_of(const Mat6<T>& m, const Force<T>& f) {
  return {m.a * f.moment + m.b * f.force, m.c * f.moment + m.d * f.force};
}

/// R of φMφ* = R + φ̃R + Rφ̃*, body k and all outside it as one body: R(p) = M(p) + Σ φ(p,k)R(k)φ*(p,k), inward (RK92
/// 28–33). Needs positions.
template <class T>
void sweep_composites(const Blocks<T>& blocks, std::vector<RigidInertia<T>>& R) {
  for (int k = 0; k < blocks.size(); ++k) {
    R[static_cast<std::size_t>(k)] = blocks.M(k);
  }
  for (int k = blocks.size() - 1; k >= 0; --k) {
    if (blocks.parent(k) != world) {
      R[static_cast<std::size_t>(blocks.parent(k))] += blocks.X_PB(k) * R[static_cast<std::size_t>(k)];
    }
  }
}

/// Υ(k) = ψ*(p,k)Υ(p)ψ(p,k) + H*(k)D⁻¹(k)H(k), outward from zero at the world (RJK91 after 20, RJK89 A.3–A.5). Needs
/// articulated.
template <class T>
void sweep_upsilon(const Blocks<T>& blocks, std::vector<Mat6<T>>& upsilon) {
  const SixForces<T> units = unit_forces(Transform<T>::identity());
  for (int k = 0; k < blocks.size(); ++k) {
    const int p = blocks.parent(k);
    std::array<Motion<T>, 6> columns{};
    for (std::size_t i = 0; i < 6; ++i) {
      columns[i] = h_adjoint_times(blocks, k, d_inverse_times(blocks, k, h_times(blocks, k, units[i])));
      if (p != world) {
        const Motion<T> inner = motion_of(upsilon[static_cast<std::size_t>(p)], psi_times(blocks, k, units[i]));
        columns[i] += psi_adjoint_times(blocks, k, inner);
      }
    }
    upsilon[static_cast<std::size_t>(k)] = {
        Mat3<T>::from_columns(columns[0].angular, columns[1].angular, columns[2].angular),
        Mat3<T>::from_columns(columns[3].angular, columns[4].angular, columns[5].angular),
        Mat3<T>::from_columns(columns[0].linear, columns[1].linear, columns[2].linear),
        Mat3<T>::from_columns(columns[3].linear, columns[4].linear, columns[5].linear)};
  }
}

}  // namespace bunraku::kernels
