/// @file
/// Finding the cheapest expression that the identities make equal to a given one, and saying why.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bunraku/operators/rewriting/identities.hpp"

namespace bunraku {

/// How far to look, and by which identities.
struct Search {
  Conditions conditions = {};                                          ///< What the system has.
  std::optional<std::span<const Identity>> identities = std::nullopt;  ///< In place of identities().
  int max_nodes = 40'000;  ///< Terms of one e-graph; when reached, the search goes on from the best term found.
};

/// The expression with the fewest sweeps, and of those the fewest operations, in the class of all that the identities
/// and the laws of addition and multiplication make equal to x: equality saturation on an e-graph, begun again from the
/// best term as long as that finds a better one. Deterministic and bounded. Throws OperatorError where an inverse has
/// no rule.
BUNRAKU_API Operator simplify(const Operator& x, const Search& search);
/// The same with the table of identities.
BUNRAKU_API Operator simplify(const Operator& x, const Conditions& conditions = {});

/// One step of a derivation.
struct DerivationStep {
  std::string rule;     ///< The identity's name, or "algebra".
  std::string source;   ///< Where the papers have it.
  Operator expression;  ///< What the expression is after the step.
};

/// How one expression becomes another.
struct Derivation {
  Operator start;                     ///< The expression as given.
  std::vector<DerivationStep> steps;  ///< Each equal to the one before by one rule.
  Operator result;                    ///< The last one.
};
/// The derivation as text, a line a step.
BUNRAKU_API std::string to_string(const Derivation& derivation);

/// What simplify does, step by step. Throws as it does.
BUNRAKU_API Derivation derive(const Operator& x, const Search& search = {});
/// The derivation as text.
BUNRAKU_API std::string explain(const Operator& x, const Search& search = {});

}  // namespace bunraku
