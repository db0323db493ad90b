/// @file
/// The identities of the papers as a table of rewriting rules.
#pragma once

#include <span>
#include <string>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku {

class System;

/// What of a system bears on which identities hold.
struct Conditions {
  bool armature = false;   ///< Some hinge has a rotor: 𝒜 is not zero.
  bool couplings = false;  ///< Some hinges are coupled: P and G are not block diagonal by bodies.

  /// Equality of all.
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// The conditions of a system's model.
BUNRAKU_API Conditions conditions_of(const System& system);

/// left = right, and its adjoint with it.
struct Identity {
  std::string name;                ///< For derivations.
  std::string source;              ///< Where the papers have it.
  Operator left;                   ///< One side.
  Operator right;                  ///< The other.
  bool without_armature = false;   ///< Holds only where 𝒜 = 0.
  bool with_armature = false;      ///< Of use only where 𝒜 ≠ 0; it holds with 𝒜 = 0, too.
  bool without_couplings = false;  ///< Holds only where P and G are block diagonal.
  bool both_ways = false;          ///< Also used from right to left.

  /// Whether to use it for such a system.
  bool applies(const Conditions& conditions) const {
    return !(conditions.armature ? without_armature : with_armature) && !(without_couplings && conditions.couplings);
  }
};

/// The table. Each identity has a numerical test of its own.
BUNRAKU_API std::span<const Identity> identities();

}  // namespace bunraku
