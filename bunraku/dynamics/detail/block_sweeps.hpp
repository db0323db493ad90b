/// @file
/// Composite bodies in the user's frames.
#pragma once

#include <vector>

#include "bunraku/dynamics/detail/blocks.hpp"

namespace bunraku::kernels {

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

}  // namespace bunraku::kernels
