/// @file
/// Operators that users define: by a function of body and state, or by their operator equation.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku {

class Model;

/// Where a block is asked for.
struct BlockPlace {
  const Model& model;         ///< Of the system.
  int owner = 0;              ///< The body, or the node or closure of an operator from or to their space, by number.
  std::span<const double> q;  ///< The configuration.
  std::span<const double> v;  ///< The velocity.
};

/// Writes a block, row by row: as many rows and columns as the owner has numbers in range and domain. The block is zero
/// when it is called.
using BlockFunction = std::function<void(const BlockPlace& place, std::span<double> block)>;

/// A memoryless operator, or with the domain `number` a stacked vector, whose blocks a function gives at every state.
/// It is written and read by its name (see Variables) and goes wherever a symbol does: products, inverses, families,
/// plans, verify. The function may be called from several threads. Throws OperatorError where the name is taken, the
/// spaces have no blocks or there is no function.
BUNRAKU_API Operator define(const std::string& name, SpaceKind range, SpaceKind domain, BlockFunction function);

/// The block-diagonal operator that an equation defines, one inward or outward recursion: `R = M + E_phi*R*~E_phi` is
/// gather(E_phi, M), `Y = X + ~E_psi*Y*E_psi` is spread(E_psi, X), for any memoryless rest. Throws OperatorError, with
/// the place in the text where it can be told, for another equation.
BUNRAKU_API Operator define(const std::string& equation);

}  // namespace bunraku
