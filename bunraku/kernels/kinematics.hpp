/// @file
/// Poses and velocities of links, outward, and what is summed over them: centre of mass, energies, momentum, Jacobians.
#pragma once

#include "bunraku/kernels/positions.hpp"
#include "bunraku/model/nodes.hpp"
#include "bunraku/spatial/phi.hpp"

namespace bunraku::kernels {

/// The pose of every link in its parent.
template <class S>
void need_links(Workspace<S>& ws) {
  need_positions(ws);
  if (ws.has_links) {
    return;
  }
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    ws.pose_in[at(k)] = pose_of(ws, k);
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
    ws.pose[at(k)] = (parent < 0 ? X_WT : ws.pose[at(parent)]) * ws.pose_in[at(k)];
  }
  ws.has_poses = true;
}

/// V = φ*H*θ̇ of every link, at its origin in its own axes (RK92 6).
template <class S>
void need_velocities(Workspace<S>& ws) {
  need_links(ws);
  if (ws.has_velocities) {
    return;
  }
  ws.velocity[0] = Motion<S>::zero();
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const Link<S>& l = ws.link(k);
    Motion<S> V = inverse_times(ws.pose_in[at(k)], ws.velocity[at(l.parent + 1)]);
    for (int j = l.v; j < l.v + l.nv; ++j) {
      V += column(ws, j) * ws.v[j];
    }
    ws.velocity[at(k + 1)] = V;
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
