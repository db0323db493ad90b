/// @file
/// Bunraku's models as Pinocchio's.
#pragma once

#include <array>
#include <memory>

#include <bunraku/model/model.hpp>

#include "pinocchio_peer.hpp"

namespace bench {

/// The same model in Pinocchio, as compiled in each of the two ways: with the benchmark's flags, and with
/// -fno-tree-slp-vectorize besides. Throws std::runtime_error for hinges that PinocchioPeer has not.
std::array<std::unique_ptr<PinocchioPeer>, 2> peers_of(const bunraku::Model& model);

}  // namespace bench
