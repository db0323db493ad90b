#include <algorithm>

#include "bunraku/dynamics/detail/cast.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
void BasicDynamics<T>::jacobian(const Node& node, ReferenceFrame frame, std::span<T> out) {
  State& s = *state_;
  check_size(out.size(), 6 * s.nv(), "the Jacobian");
  s.blocks.need_world();
  std::fill(out.begin(), out.end(), T(0));
  const Transform<T> X_WN = s.blocks.X_WB(node.body) * kernels::cast<T>(node.X_BN);
  for (int k = node.body; k != world; k = s.blocks.parent(k)) {
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      const Motion<T> at_origin = s.blocks.X_WB(k) * s.blocks.H(j);
      const Motion<T> seen = frame == ReferenceFrame::world_origin ? at_origin
                             : frame == ReferenceFrame::aligned    ? PhiAdjoint(X_WN.translation) * at_origin
                                                                   : inverse_times(X_WN, at_origin);
      const auto& follower = s.coordinates.velocities[static_cast<std::size_t>(j)];
      for (int i = 0; i < 6; ++i) {
        out[static_cast<std::size_t>(6 * follower.own + i)] += follower.ratio * seen[i];
      }
    }
  }
}

template void BasicDynamics<double>::jacobian(const Node&, ReferenceFrame, std::span<double>);
template void BasicDynamics<float>::jacobian(const Node&, ReferenceFrame, std::span<float>);

}  // namespace bunraku
