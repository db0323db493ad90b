/// @file
/// How the nodes of closures move: templates on packs, see pack.hpp.
#pragma once

#include "bunraku/kernels/closure_support.hpp"
#include "bunraku/kernels/kinematics.hpp"

namespace bunraku::kernels {

/// A pose out of plain numbers.
template <class S>
BUNRAKU_INLINE Transform<S> read(const PlainPose<NumberOf<S>>& from) {
  const auto& r = from.rotation;
  const auto& p = from.translation;
  return {Rotation<S>(Mat3<S>{{{S(r[0]), S(r[1]), S(r[2])}, {S(r[3]), S(r[4]), S(r[5])}, {S(r[6]), S(r[7]), S(r[8])}}}),
          {S(p[0]), S(p[1]), S(p[2])}};
}
/// A vector out of plain numbers.
template <class S>
BUNRAKU_INLINE Vec3<S> read(const NumberOf<S>* from) {
  return {S(from[0]), S(from[1]), S(from[2])};
}
/// A vector as plain numbers.
template <class S>
BUNRAKU_INLINE void write(const Vec3<S>& from, NumberOf<S>* to) {
  to[0] = from.x.r;
  to[1] = from.y.r;
  to[2] = from.z.r;
}
/// A pose as plain numbers.
template <class S>
BUNRAKU_INLINE void write(const Transform<S>& from, PlainPose<NumberOf<S>>& to) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      to.rotation[3 * i + j] = from.rotation(i, j).r;
    }
  }
  write(from.translation, to.translation);
}

/// Where a node is, and with `moving` how it moves.
template <class S>
void node_motion(Workspace<S>& ws, bool moving, ClosureNode<NumberOf<S>>& node) {
  if (node.link < 0) {
    node.X_WN = node.X_LN;
    if (moving) {
      const Vec3<S> up = cast<S>(ws.tree->world_turn.matrix()) * ws.base_acceleration;
      write(read<S>(node.X_LN).rotation.inverse_times(up), node.acceleration);
    }
    return;
  }
  need_poses(ws);
  const Transform<S> X_LN = read<S>(node.X_LN);
  write(ws.pose[at(node.link)] * X_LN, node.X_WN);
  if (moving) {
    need_velocities(ws);
    const Motion<S>& V = ws.velocity[at(node.link + 1)];
    const Vec3<S> turning = cross(V.angular, X_LN.translation);
    write(X_LN.rotation.inverse_times(V.angular), node.velocity);
    write(X_LN.rotation.inverse_times(V.linear + turning), node.velocity + 3);
    write(X_LN.rotation.inverse_times(cross(V.angular, turning)), node.acceleration);
  }
}

/// Both nodes seen from a, and where forces in a's axes at b's point act on their links.
template <class S>
void relate_nodes(const ClosureNode<NumberOf<S>>& a, const ClosureNode<NumberOf<S>>& b,
                  ClosureRelation<NumberOf<S>>& out, PlainPose<NumberOf<S>>& on_a, PlainPose<NumberOf<S>>& on_b) {
  const Transform<S> X_WA = read<S>(a.X_WN);
  const Transform<S> X_WB = read<S>(b.X_WN);
  const Mat3<S> R = X_WA.rotation.matrix().transpose() * X_WB.rotation.matrix();
  const Vec3<S> p = X_WA.rotation.inverse_times(X_WB.translation - X_WA.translation);
  write(Transform<S>{Rotation<S>(R), p}, out.X_AB);
  write(R * read<S>(b.acceleration) - read<S>(a.acceleration), out.apart);
  const Vec3<S> w = read<S>(a.velocity);
  const Vec3<S> apart = R * read<S>(b.velocity + 3) - read<S>(a.velocity + 3);
  write(cross(w, R * read<S>(b.velocity) - w), out.asked);
  write(cross(w, apart + apart - cross(w, p)), out.asked + 3);
  const Transform<S> X_LA = read<S>(a.X_LN);
  const Transform<S> X_LB = read<S>(b.X_LN);
  write(Transform<S>{X_LA.rotation, X_LA.translation + X_LA.rotation * p}, on_a);
  write(Transform<S>{Rotation<S>(X_LB.rotation.matrix() * R.transpose()), X_LB.translation}, on_b);
}

}  // namespace bunraku::kernels
