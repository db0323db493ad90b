/// @file
/// The elements of a Coriolis matrix, from composite bodies and how they and the hinges' axes change.
#pragma once

#include "bunraku/dynamics/detail/state_data.hpp"

namespace bunraku::detail {

/// Calls add(i, j, element) for those elements of C over all hinges that body k and all outside it make at its columns.
/// With J(m) the Jacobian of body m seen from a frame that stands still, 𝓜 = Σ J*MJ and C = Σ J*(MJ̇ + BJ). Since
/// Ṁ = B + B*, C + C* is 𝓜̇ term by term, whatever the hinges. Summed over the bodies outside a hinge, M and B become
/// the composites R and B of its body, and for a column j of body k and a column i of k or of one of its ancestors
///
///     C(i,j) = H(i) φ [R(k) Ḣ*(j) + B(k) H*(j)],     C(j,i) = Ḣ(i) φ R(k) H*(j) + H(i) φ B*(k) H*(j).
///
/// R, B and Ḣ* are those in `composite`, `composite_rate` and `column_rate`, along whatever motion. O(d).
template <class T, class F>
void add_coriolis_columns(const StateData<T>& s, int k, F&& add) {
  const RigidInertia<T>& R = s.composite[static_cast<std::size_t>(k)];
  const kernels::InertiaRate<T>& B = s.composite_rate[static_cast<std::size_t>(k)];
  for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
    const Motion<T>& H = s.blocks.H(j);
    Force<T> column = R * s.column_rate[static_cast<std::size_t>(j)] + B * H;
    Force<T> momentum = R * H;
    Force<T> row = adjoint_times(B, H);
    for (int p = k; p != world; p = s.blocks.parent(p)) {
      for (int i = s.blocks.first(p); i < s.blocks.first(p) + s.blocks.nv(p); ++i) {
        add(i, j, dot(s.blocks.H(i), column));
        if (p != k) {
          add(j, i, dot(s.column_rate[static_cast<std::size_t>(i)], momentum) + dot(s.blocks.H(i), row));
        }
      }
      const Transform<T>& X_PB = s.blocks.X_PB(p);
      column = X_PB * column;
      momentum = X_PB * momentum;
      row = X_PB * row;
    }
  }
}

}  // namespace bunraku::detail
