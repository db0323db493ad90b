/// @file
/// Bunraku's models as Pinocchio's.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <bunraku/model/model.hpp>

#include "pinocchio_peer.hpp"

namespace bench {

/// A pose as the peers take it.
PeerPose peer_pose(const bunraku::Transform<double>& x);

/// The bodies as the peers take them. Throws std::runtime_error for hinges that PinocchioPeer has not.
std::vector<PeerBody> peer_bodies(const bunraku::Model& model);

/// The model's gravity, in the world.
std::array<double, 3> peer_gravity(const bunraku::Model& model);

/// The same model in Pinocchio, as compiled in each of the two ways: with the benchmark's flags, and with
/// -fno-tree-slp-vectorize besides. Throws as peer_bodies.
inline std::array<std::unique_ptr<PinocchioPeer>, 2> peers_of(const bunraku::Model& model) {
  const std::vector<PeerBody> bodies = peer_bodies(model);
  return {make_peer_plain(bodies, peer_gravity(model)), make_peer_without_slp(bodies, peer_gravity(model))};
}

}  // namespace bench
