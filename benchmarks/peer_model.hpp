/// @file
/// Bunraku's models as Pinocchio's.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <bunraku/model/model.hpp>

#include "pinocchio_peer.hpp"

namespace bench {

/// The bodies as the peers take them. Throws std::runtime_error for hinges that PinocchioPeer has not.
std::vector<PeerBody> peer_bodies(const bunraku::Model& model);

/// The model's gravity, in the world.
std::array<double, 3> peer_gravity(const bunraku::Model& model);

/// The same model in Pinocchio, as compiled in each of the two ways: with the benchmark's flags, and with
/// -fno-tree-slp-vectorize besides. Throws as peer_bodies.
std::array<std::unique_ptr<PinocchioPeer>, 2> peers_of(const bunraku::Model& model);

}  // namespace bench
