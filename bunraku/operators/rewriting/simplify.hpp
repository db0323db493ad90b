/// @file
/// Finding the cheapest expression that the identities make equal to a given one, and saying why.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bunraku/operators/rewriting/identities.hpp"

namespace bunraku {

/// What an expression is to be cheap at.
enum class Use {
  fixed_state,  ///< A new vector at the same state: what depends on the state alone is there.
  new_state,    ///< All from a new state.
};

/// By which identities to look, and for what.
struct Search {
  Conditions conditions = {};                                          ///< What the system has.
  std::optional<std::span<const Identity>> identities = std::nullopt;  ///< In place of identities().
  Use use = Use::fixed_state;                                          ///< What the result is to be cheap at.
};

/// The cheapest of what the identities make of x: the expression as it is written with its inverses found, and its
/// normal form, a sum of products in which no rule applies any more, grouped in several ways. Bounded in
/// steps, in size and to two seconds; where the clock does not cut it short, the result is the same each time and
/// everywhere. Results are kept. Throws OperatorError where an inverse has no rule, where there is none, or where a
/// limit was reached before it was found.
BUNRAKU_API Operator simplify(const Operator& x, const Search& search);
/// The same with the table of identities.
BUNRAKU_API Operator simplify(const Operator& x, const Conditions& conditions = {});

/// A part of an expression, and what takes its place.
struct Change {
  Operator before;  ///< What a rule replaces.
  Operator after;   ///< By what.
};

/// One step of a derivation.
struct DerivationStep {
  std::string rule;                  ///< The identity's name, or "algebra".
  std::string source;                ///< Where the papers have it.
  Operator expression;               ///< What the expression is after the step.
  bool adjoint = false;              ///< Only the adjoint of the identity was used.
  std::vector<Change> changed = {};  ///< What it replaced, wherever that stands once all is multiplied out; its adjoint
                                     ///< was, too, where `adjoint` does not say that it was alone. Empty for algebra.
};

/// How one expression becomes another.
struct Derivation {
  Operator start;                            ///< The expression as given.
  std::vector<DerivationStep> steps;         ///< Each equal to the one before by one rule, wherever it applies.
  Operator result;                           ///< The last one.
  std::vector<std::string> conditions = {};  ///< What has to hold besides, such as "M is invertible".
  std::string note = {};                     ///< Where a limit was reached: that the result is the best so far.
};
/// The derivation as text, a line a step. What is new in a line stands in ⟦ ⟧, unless all of it is; what the rule
/// replaced stands beside its name, where the lines do not show it.
BUNRAKU_API std::string to_string(const Derivation& derivation);

/// What simplify does, step by step. Throws as it does.
BUNRAKU_API Derivation derive(const Operator& x, const Search& search = {});
/// The derivation as text.
BUNRAKU_API std::string explain(const Operator& x, const Search& search = {});

/// How the identities make two expressions equal: a derivation of left − right to zero. Nothing where they do not, or
/// where an inverse is not found. What is inverted on either side is taken to be invertible, and hinges to be without
/// forces of their own where T_p is not named.
BUNRAKU_API std::optional<Derivation> prove(const Operator& left, const Operator& right, const Search& search = {});

}  // namespace bunraku
