#include <algorithm>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/dynamics/detail/coriolis_columns.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"

namespace bunraku {

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
    detail::add_coriolis_columns(s, k, add);
  }
}

template void coriolis_matrix(BasicState<double>&, MatrixOut<double>);
template void coriolis_matrix(BasicState<float>&, MatrixOut<float>);

}  // namespace bunraku
