/// @file
/// Which links a loop closure makes one cluster.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// Adds to `ties` pairs of links that are to be of one cluster, so that all of a loop are: those on the paths from both
/// nodes to the closest link that carries both, without that one; of a closure of hinges the links of both hinges as
/// well; of general rows, which may be about other than relative velocities, all on the way to the world. Links are
/// given by their parents, smaller than their own index or −1. Returns one of the links, or −1 where there are none:
/// both nodes are then on one link. O(length of the paths).
int tie_loop(const Closure& closure, std::span<const int> parents, std::span<const BodyPlace> places,
             std::vector<std::array<int, 2>>& ties);

}  // namespace bunraku::kernels
