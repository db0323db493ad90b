/// @file
/// Reading cheap expressions out of an e-graph.
#pragma once

#include <vector>

#include "bunraku/operators/rewriting/detail/egraph.hpp"

namespace bunraku::operators {

/// How a vector that several parts of a term use is counted.
enum class Sharing {
  ignored,       ///< As often as it is used: quick, and apt to move factors together.
  counted_once,  ///< Once, as a plan computes it.
};

/// The terms of a class that can be evaluated, with the fewest sweeps and of those the fewest operations; several, for
/// the plan's own count to choose from. Empty where all hold an inverse that cannot be taken. New terms are added to
/// the graph.
std::vector<int> cheapest(EGraph& graph, int id, Sharing sharing);

}  // namespace bunraku::operators
