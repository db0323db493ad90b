/// @file
/// Poses and velocities of links, outward, and what is summed over them: centre of mass, energies, momentum, Jacobians.
#pragma once

#include "bunraku/kernels/positions.hpp"
#include "bunraku/model/nodes.hpp"
#include "bunraku/spatial/phi.hpp"

namespace bunraku::kernels {

/// The twelve numbers of a pose, the rotation row by row. Sweeps write them one by one: what is written in halves
/// cannot be read at once before it has reached memory, and a copy of a whole pose is read so.
template <class S>
BUNRAKU_INLINE S* numbers_of(Transform<S>& X) {
  static_assert(sizeof(Transform<S>) == 12 * sizeof(S));
  return reinterpret_cast<S*>(&X);
}

/// The pose of every link in its parent.
template <class S>
void need_links(Workspace<S>& ws) {
  need_positions(ws);
  if (ws.has_links) {
    return;
  }
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const Link<S>& l = ws.link(k);
    if (l.kind > Kind::revolute_full) {
      ws.pose_in[at(k)] = pose(ws, l);
      continue;
    }
    const Spin<S> s = ws.spin[at(k)];
    S* X = numbers_of(ws.pose_in[at(k)]);
    const auto row = [&](int i) BUNRAKU_INLINE_LAMBDA {
      const S x = l.turn(i, 0);
      const S y = l.turn(i, 1);
      X[3 * i] = x * s.c + y * s.s;
      X[3 * i + 1] = y * s.c - x * s.s;
      X[3 * i + 2] = l.turn(i, 2);
      X[9 + i] = l.p[i];
    };
    row(0);
    row(1);
    row(2);
  }
  ws.has_links = true;
}

/// X_WL of every link.
template <class S>
void need_poses(Workspace<S>& ws) {
  need_links(ws);
  if (ws.has_poses) {
    return;
  }
  const Transform<S> X_WT = Transform<S>::rotate(Rotation<S>(cast<S>(ws.tree->world_turn.matrix())));
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const int parent = ws.link(k).parent;
    const Transform<S>& up = parent < 0 ? X_WT : ws.pose[at(parent)];
    const Transform<S>& in = ws.pose_in[at(k)];
    S* X = numbers_of(ws.pose[at(k)]);
    const auto row = [&](int i) BUNRAKU_INLINE_LAMBDA {
      const S x = up.rotation(i, 0);
      const S y = up.rotation(i, 1);
      const S z = up.rotation(i, 2);
      X[3 * i] = x * in.rotation(0, 0) + y * in.rotation(1, 0) + z * in.rotation(2, 0);
      X[3 * i + 1] = x * in.rotation(0, 1) + y * in.rotation(1, 1) + z * in.rotation(2, 1);
      X[3 * i + 2] = x * in.rotation(0, 2) + y * in.rotation(1, 2) + z * in.rotation(2, 2);
      X[9 + i] = up.translation[i] + x * in.translation.x + y * in.translation.y + z * in.translation.z;
    };
    row(0);
    row(1);
    row(2);
  }
  ws.has_poses = true;
}

/// V = φ*H*θ̇ of every link, at its origin in its own axes (RK92 6).
template <class S>
void need_velocities(Workspace<S>& ws) {
  need_positions(ws);
  if (ws.has_velocities) {
    return;
  }
  ws.velocity[0] = Motion<S>::zero();
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const Link<S>& l = ws.link(k);
    const Motion<S>& up = ws.velocity[at(l.parent + 1)];
    Vec3<S> angular;
    Vec3<S> linear;
    if (l.kind > Kind::prismatic) {
      const Transform<S>& X = placed(ws, l);
      angular = X.rotation.inverse_times(up.angular);
      linear = X.rotation.inverse_times(up.linear + cross(up.angular, X.translation));
      for (int j = 0; j < l.nv; ++j) {
        angular += column(ws, l.v + j).angular * ws.v[l.rate + j];
        linear += column(ws, l.v + j).linear * ws.v[l.rate + j];
      }
    } else {
      with_kind(l.kind, [&]<Kind kind>() BUNRAKU_INLINE_LAMBDA {
        const Axes<kind, S> axes{l, ws.spin[at(k)]};
        angular = axes.back(up.angular);
        linear = axes.back(up.linear + cross(up.angular, kind == Kind::prismatic ? slid(ws, l) : l.p));
        (kind == Kind::prismatic ? linear.z : angular.z) += ws.v[l.v];
      });
    }
    Motion<S>& V = ws.velocity[at(k + 1)];
    put(angular, V.angular);
    put(linear, V.linear);
  }
  ws.has_velocities = true;
}

/// Where a node is in the world: on body b with pose X_BN, or on the world.
template <class S>
Transform<S> node_pose(Workspace<S>& ws, int body, const Transform<S>& X_BN) {
  if (body == world) {
    return X_BN;
  }
  const int link = ws.tree->bodies[at(body)].link;
  const Transform<S> X_LN = ws.constants->X_LB[at(body)] * X_BN;
  if (link < 0) {
    return X_LN;
  }
  need_poses(ws);
  return ws.pose[at(link)] * X_LN;
}

/// (ω, v) of a body at its origin, in world axes.
template <class S>
Motion<S> body_velocity(Workspace<S>& ws, int body) {
  const int link = ws.tree->bodies[at(body)].link;
  if (link < 0) {
    return Motion<S>::zero();
  }
  need_poses(ws);
  need_velocities(ws);
  return ws.pose[at(link)].rotation *
         (PhiAdjoint<S>(ws.constants->X_LB[at(body)].translation) * ws.velocity[at(link + 1)]);
}

/// J = B*φ*H* (RK92 20) of a node, over the user's coordinates, 6 × n row by row.
template <class S>
void jacobian(Workspace<S>& ws, int body, const Transform<S>& X_BN, Frame frame, int n, S* out) {
  for (int i = 0; i < 6 * n; ++i) {
    out[i] = S(0);
  }
  if (body == world || ws.tree->bodies[at(body)].link < 0) {
    return;
  }
  const Transform<S> X_WN = node_pose(ws, body, X_BN);
  for (int k = ws.tree->bodies[at(body)].link; k >= 0; k = ws.link(k).parent) {
    const Link<S>& l = ws.link(k);
    const Transform<S>& X_WL = ws.pose[at(k)];
    for (int j = l.v; j < l.v + l.nv; ++j) {
      Motion<S> seen = X_WL * column(ws, j);  // of the body's point at the world's origin, in world axes
      if (frame != Frame::world) {
        seen.linear += cross(seen.angular, X_WN.translation);
      }
      if (frame == Frame::node) {
        seen = {X_WN.rotation.inverse_times(seen.angular), X_WN.rotation.inverse_times(seen.linear)};
      }
      const Follower<double>& follower = ws.tree->coordinates.velocities[at(j)];
      for (int i = 0; i < 6; ++i) {
        out[i * n + follower.own] += S(follower.ratio) * seen[i];
      }
    }
  }
}

/// Mass and first moment of all bodies about the world's origin, in world axes.
template <class S>
void total_mass(Workspace<S>& ws, S& mass, Vec3<S>& moment) {
  need_poses(ws);
  mass = ws.constants->world_mass;
  moment = ws.constants->world_moment;
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const RigidInertia<S>& M = ws.link(k).inertia;
    mass += M.mass;
    moment += ws.pose[at(k)].translation * M.mass + ws.pose[at(k)].rotation * M.first_moment;
  }
}

/// The centre of mass; the world's origin without mass.
template <class S>
Vec3<S> center_of_mass(Workspace<S>& ws) {
  S mass;
  Vec3<S> moment;
  total_mass(ws, mass, moment);
  const auto none = mass == S(0);
  const S divisor = select(none, S(1), mass);
  return {moment.x / divisor, moment.y / divisor, moment.z / divisor};
}

/// ½ V*MV summed over the links, and ½ θ̇*𝒜θ̇ of rotors.
template <class S>
S kinetic_energy(Workspace<S>& ws) {
  need_velocities(ws);
  S energy(0);
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const Motion<S>& V = ws.velocity[at(k + 1)];
    energy += S(0.5) * dot(V, ws.link(k).inertia * V);
  }
  for (int j = 0; j < ws.tree->coordinates.nv; ++j) {
    energy += S(0.5) * ws.armature[j] * ws.v[j] * ws.v[j];
  }
  return energy;
}

/// −m g·c.
template <class S>
S gravity_energy(Workspace<S>& ws) {
  S mass;
  Vec3<S> moment;
  total_mass(ws, mass, moment);
  const Mat3<S> turn = cast<S>(ws.tree->world_turn.matrix());
  return dot(turn * ws.base_acceleration, moment);
}

/// Σ MV about the centre of mass, in world axes.
template <class S>
Force<S> momentum(Workspace<S>& ws) {
  need_poses(ws);
  need_velocities(ws);
  Force<S> sum = Force<S>::zero();
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    sum += ws.pose[at(k)] * (ws.link(k).inertia * ws.velocity[at(k + 1)]);
  }
  sum.moment -= cross(center_of_mass(ws), sum.force);
  return sum;
}

}  // namespace bunraku::kernels
