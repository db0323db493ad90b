#include <algorithm>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"

namespace bunraku {

// With J(m) the Jacobian of body m seen from a frame that stands still, 𝓜 = Σ J*MJ and C = Σ J*(MJ̇ + BJ). Since
// Ṁ = B + B*, C + C* is 𝓜̇ term by term, whatever the hinges. Summed over the bodies outside a hinge, M and B become the
// composites R and B of its body, and for a column j of body k and a column i of k or of one of its ancestors
//
//     C(i,j) = H(i) φ [R(k) Ḣ*(j) + B(k) H*(j)],     C(j,i) = Ḣ(i) φ R(k) H*(j) + H(i) φ B*(k) H*(j).
template <class T>
void coriolis_matrix(BasicState<T>& state, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the Coriolis matrix");
  s.blocks.need_velocities();
  kernels::sweep_composites(s.blocks, s.composite);
  s.sweep_composite_rates();
  for (int k = 0; k < s.blocks.size(); ++k) {
    s.rate_columns(k);
  }
  out.set_zero();
  const auto add = [&](int i, int j, const T& element) {
    const auto& row = s.coordinates.velocities[static_cast<std::size_t>(i)];
    const auto& column = s.coordinates.velocities[static_cast<std::size_t>(j)];
    out(row.own, column.own) += row.ratio * column.ratio * element;
  };
  for (int k = 0; k < s.blocks.size(); ++k) {
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
}

template void coriolis_matrix(BasicState<double>&, MatrixOut<double>);
template void coriolis_matrix(BasicState<float>&, MatrixOut<float>);

}  // namespace bunraku
