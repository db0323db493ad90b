/// @file
/// Random operator expressions whose factors fit.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "bunraku/operators/language/operator.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// What a random expression may be made of.
struct ExpressionParts {
  std::vector<Operator> leaves = {};  ///< Symbols and variables; their adjoints come along.
  bool numbers = true;                ///< Multiples.
  bool functions = false;             ///< Inverses, roots, cross products, units, blocks.
  bool vectors = true;                ///< Stacked vectors within: dyads and scalar products.
};

/// All symbols of systems without closures.
std::vector<Operator> all_symbols();

/// Draws expressions between given spaces.
class RandomExpression {
 public:
  RandomExpression(ExpressionParts parts, unsigned seed);

  /// Any two spaces that have something between them.
  Operator any(int depth);
  Operator between(SpaceKind range, SpaceKind domain, int depth);
  /// A block of an expression.
  Operator block(int depth);

 private:
  template <class T>
  T one_of(std::initializer_list<T> choices);
  Operator number();
  std::string body();
  Operator leaf(SpaceKind range, SpaceKind domain);
  Operator special(SpaceKind range, SpaceKind domain, int depth);
  /// x (y[i, j] z[j]) … has parts of spaces inside; here their sum as a number times a whole operator.
  Operator whole_of_blocks(SpaceKind range, SpaceKind domain, int depth);

  ExpressionParts parts_;
  Random random_;
  std::vector<Operator> both_;
};

}  // namespace bunraku::test
