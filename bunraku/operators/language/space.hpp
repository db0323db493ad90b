/// @file
/// What operators act between, and in which direction along the tree they carry.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bunraku/export.hpp"

namespace bunraku {

/// The spaces of the papers.
enum class SpaceKind {
  any,      ///< Not known yet: an identity standing alone.
  number,   ///< Dimension 1. A stacked vector is an operator from here.
  hinge,    ///< Hinge velocities and forces, dimension 𝒩.
  body,     ///< One spatial vector a body, 6N.
  node,     ///< One spatial vector a node.
  closure,  ///< One number an equation of the loop closures, as many as each has.
};
/// How many kinds there are.
inline constexpr std::size_t space_kinds = 6;

/// A space, or the part of it that belongs to one body, node or closure.
struct Space {
  SpaceKind kind = SpaceKind::any;  ///< Which.
  std::string part = {};            ///< Empty for all of it, or the name or number of a body, node or closure.

  /// Of the same kind and part.
  friend bool operator==(const Space&, const Space&) = default;
};

/// As messages write it: `hinge space`, `body space at 3`.
BUNRAKU_API std::string to_string(const Space& space);

/// Along which direction an operator carries information between the bodies.
enum class Kind {
  memoryless,  ///< Not at all: block diagonal.
  causal,      ///< Inward, from the tips to the base.
  anticausal,  ///< Outward, from the base to the tips.
  general,     ///< Both ways.
};

/// `memoryless`, `causal`, `anticausal` or `general`.
BUNRAKU_API std::string_view to_string(Kind kind);
/// The kind of the adjoint.
constexpr Kind adjoint(Kind kind) {
  return kind == Kind::causal ? Kind::anticausal : kind == Kind::anticausal ? Kind::causal : kind;
}
/// The kind of a sum or a product of two.
constexpr Kind join(Kind a, Kind b) {
  return a == Kind::memoryless ? b : b == Kind::memoryless || a == b ? a : Kind::general;
}

}  // namespace bunraku
