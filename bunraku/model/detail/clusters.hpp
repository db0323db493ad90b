/// @file
/// Which bodies of a model must be eliminated together, since their hinges are coupled.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "bunraku/export.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku::detail {

/// Bodies whose hinges are eliminated together: one body, or with mimic hinges the leader, its followers and all
/// between them, as one body of larger dimension. All that hangs outside goes to one parent.
struct Cluster {
  std::vector<int> members = {};      ///< Bodies, in their order; the first is the cluster's place in sweeps.
  int parent = world;                 ///< Where it hangs.
  std::vector<int> coordinates = {};  ///< Velocities of the user that move it, in their order.
};

/// The clusters of a tree, given by the parent of each body, which comes before it, and the body whose hinge it
/// follows, or `world`: for each body the least body of its cluster. `ties` are further pairs of bodies whose hinges
/// are coupled. Nearly O(N), couplings between far bodies counted.
BUNRAKU_API std::vector<int> cluster_roots(std::span<const int> parents, std::span<const int> leaders,
                                           std::span<const std::array<int, 2>> ties = {});

/// All bodies of a model in clusters, in the order of their first members, each before those that hang on it.
BUNRAKU_API std::vector<Cluster> clusters_of(const Model& model);

}  // namespace bunraku::detail
