/// @file
/// What is new in an expression, marked in its text.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku::operators {

/// Which parts of an expression are marked.
struct Marks {
  bool whole = false;                                     ///< All of it.
  std::vector<std::pair<std::size_t, Marks>> parts = {};  ///< Or within these operands, by number, in order.

  /// Whether anything is.
  bool any() const { return whole || !parts.empty(); }
  /// Those of an operand.
  Marks of(std::size_t part) const {
    for (const auto& [number, marks] : parts) {
      if (number == part) {
        return marks;
      }
    }
    return {};
  }
};

/// What of `after` is not in `before`: factors and terms, as far inside as the two are built alike.
BUNRAKU_API Marks new_parts(const Operator& before, const Operator& after);

/// As to_unicode writes it, with ⟦ ⟧ in place of parentheses around what is marked.
BUNRAKU_API std::string marked_unicode(const Operator& x, const Marks& marks);

}  // namespace bunraku::operators
