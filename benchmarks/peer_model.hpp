/// @file
/// Bunraku's models as Pinocchio's.
#pragma once

#include <bunraku/model/model.hpp>

#include "pinocchio_peer.hpp"

namespace bench {

/// The same model in Pinocchio. Throws std::runtime_error for hinges that PinocchioPeer has not.
PinocchioPeer peer_of(const bunraku::Model& model);

}  // namespace bench
