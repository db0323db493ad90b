#include <algorithm>

#include "bunraku/dynamics/detail/cast.hpp"
#include "bunraku/dynamics/detail/nodes.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

namespace {

/// A motion of a body, given at its origin in its axes, as `frame` wants it for a node at X_WN.
template <class T>
Motion<T> seen(const Motion<T>& h, const Transform<T>& X_WB, const Transform<T>& X_WN, ReferenceFrame frame) {
  if (frame == ReferenceFrame::world_origin) {
    return X_WB * h;
  }
  const Motion<T> at_node = PhiAdjoint<T>(X_WN.translation - X_WB.translation) * (X_WB.rotation * h);
  return frame == ReferenceFrame::aligned ? at_node : X_WN.rotation.inverse() * at_node;
}

/// Adds the column of one of all hinges' velocities to the user's matrix of six rows.
template <class T>
void add_column(const Motion<T>& h, const kernels::Follower<T>& follower, std::span<T> out) {
  for (int i = 0; i < 6; ++i) {
    out[static_cast<std::size_t>(6 * follower.own + i)] += follower.ratio * h[i];
  }
}

}  // namespace

template <class T>
void BasicDynamics<T>::jacobian(const Node& node, ReferenceFrame frame, std::span<T> out) {
  State& s = *state_;
  kernels::check_node(s.model, node);
  check_size(out.size(), 6 * s.nv(), "the Jacobian");
  s.blocks.need_world();
  std::fill(out.begin(), out.end(), T(0));
  const Transform<T> X_WN = s.blocks.X_WB(node.body) * kernels::cast<T>(node.X_BN);
  for (int k = node.body; k != world; k = s.blocks.parent(k)) {  // J = B*φ*H* (RK92 20, RJK89 2.13)
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      add_column(seen(s.blocks.H(j), s.blocks.X_WB(k), X_WN, frame),
                 s.coordinates.velocities[static_cast<std::size_t>(j)], out);
    }
  }
}

template <class T>
void BasicDynamics<T>::jacobian_rate(const Node& node, ReferenceFrame frame, std::span<T> out) {
  State& s = *state_;
  kernels::check_node(s.model, node);
  check_size(out.size(), 6 * s.nv(), "the Jacobian's rate");
  s.blocks.need_world();
  s.blocks.need_velocities();
  std::fill(out.begin(), out.end(), T(0));
  const Transform<T> X_BN = kernels::cast<T>(node.X_BN);
  const Transform<T> X_WN = s.blocks.X_WB(node.body) * X_BN;
  // U: how the frame of reference itself moves, at its origin in its axes
  const Motion<T> V = inverse_times(X_BN, s.blocks.V(node.body));
  const Motion<T> U = frame == ReferenceFrame::node      ? V
                      : frame == ReferenceFrame::aligned ? Motion<T>{Vec3<T>::zero(), X_WN.rotation * V.linear}
                                                         : Motion<T>::zero();
  for (int k = node.body; k != world; k = s.blocks.parent(k)) {
    s.rate_columns(k);
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const Transform<T>& X_WB = s.blocks.X_WB(k);
      const Motion<T> moving = cross(U, seen(s.blocks.H(j), X_WB, X_WN, frame));
      add_column(seen(s.column_rate[at], X_WB, X_WN, frame) - moving, s.coordinates.velocities[at], out);
    }
  }
}

template <class T>
Motion<T> BasicDynamics<T>::jacobian_bias(const Node& node, ReferenceFrame frame) {
  State& s = *state_;
  kernels::check_node(s.model, node);
  s.blocks.need_world();
  s.blocks.need_velocities();
  const Transform<T>& X_WB = s.blocks.X_WB(node.body);
  const Transform<T> X_WN = X_WB * kernels::cast<T>(node.X_BN);
  const Vec3<T> l = X_WN.translation - X_WB.translation;
  const Motion<T> V = PhiAdjoint<T>(l) * (X_WB.rotation * s.blocks.V(node.body));
  Motion<T> rate{Vec3<T>::zero(), cross(V.angular, cross(V.angular, l))};  // a(0)
  for (int k = node.body; k != world; k = s.blocks.parent(k)) {            // J̇θ̇ = B*φ*a + a(0) (from RK92 9 and 25)
    rate += seen(s.blocks.a(k), s.blocks.X_WB(k), X_WN, ReferenceFrame::aligned);
  }
  if (frame == ReferenceFrame::aligned) {
    return rate;
  }
  // ω × v is not seen at a point that stands still, nor in axes that turn with the node
  rate.linear -= cross(V.angular, V.linear);
  return frame == ReferenceFrame::node ? X_WN.rotation.inverse() * rate : PhiAdjoint<T>(-X_WN.translation) * rate;
}

template void BasicDynamics<double>::jacobian(const Node&, ReferenceFrame, std::span<double>);
template void BasicDynamics<double>::jacobian_rate(const Node&, ReferenceFrame, std::span<double>);
template Motion<double> BasicDynamics<double>::jacobian_bias(const Node&, ReferenceFrame);
template void BasicDynamics<float>::jacobian(const Node&, ReferenceFrame, std::span<float>);
template void BasicDynamics<float>::jacobian_rate(const Node&, ReferenceFrame, std::span<float>);
template Motion<float> BasicDynamics<float>::jacobian_bias(const Node&, ReferenceFrame);

}  // namespace bunraku
