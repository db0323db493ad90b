/// @file
/// The identities of the papers as a table of rewriting rules.
#pragma once

#include <span>
#include <string>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku {

class Model;
class System;

/// What of a system bears on which identities hold.
struct Conditions {
  bool armature = false;   ///< Some hinge has a rotor: 𝒜 is not zero.
  bool couplings = false;  ///< Some hinges are coupled, and their bodies eliminated together: P H* D⁻¹ need not be G.
  bool massless = false;   ///< Some body has no inertia, or a singular one: M is not known to be invertible.
  bool ungeared = false;   ///< Where there is armature, some hinge has no rotor: 𝒜 is not known to be invertible.
  bool tied = false;       ///< Some closure ties hinge coordinates: A_h is not zero.
  bool constant_maps = false;  ///< No hinge is universal or a user's: H is constant in the bodies' axes, dH zero.
  bool simple_hinges =
      false;  ///< Each hinge is of one velocity, cylindrical, translational or fixed: cross(H*u)H* = 0.

  /// Equality of all.
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// The conditions of a model.
BUNRAKU_API Conditions conditions_of(const Model& model);
/// The conditions of a system's model.
BUNRAKU_API Conditions conditions_of(const System& system);

/// How the search uses an identity.
enum class IdentityUse {
  rule,             ///< Its left side, a single product, is replaced by the right one wherever it stands.
  pair,             ///< φ y + y φ* of a composite y: the two products of the left side, wherever both stand.
  factorization,    ///< Of H φ X φ* H* + A, for any X and A, into factors that can be inverted.
  causal_inverse,   ///< Of what differs from I by a product through one loop, on hinge space.
  feedback,         ///< The same on body space.
  loop,             ///< The inverse of I less one step.
  inverse_of_loop,  ///< The inverse of φ or ψ.
  cancellation,     ///< Of x⁻¹ and x, where x is known to be invertible; as the laws of algebra always used.
  definition,       ///< Its left side, a symbol, is replaced by the right one before the search.
  inversion_lemma,  ///< The inverse of x + u v through the inverse of x and one on the smaller space between u and v.
};

/// left = right, and its adjoint with it. M and 𝒜 stand for the pair of any family where P, D, G, K or ψ occurs.
struct Identity {
  std::string name;                ///< For derivations.
  std::string source;              ///< Where the papers have it.
  Operator left;                   ///< One side.
  Operator right;                  ///< The other.
  bool without_armature = false;   ///< Holds only where 𝒜 = 0.
  bool without_couplings = false;  ///< Holds only where no hinges are coupled: it takes G for P H* D⁻¹, K for E_φ G.
  bool with_couplings = false;     ///< Of use only where hinges are coupled; it holds without, too.
  IdentityUse use = IdentityUse::rule;  ///< How it is used.
  bool without_ties = false;            ///< Holds only where A_h = 0.

  /// Whether to use it for such a system.
  bool applies(const Conditions& conditions) const {
    return !(conditions.armature && without_armature) && !(conditions.couplings ? without_couplings : with_couplings) &&
           !(conditions.tied && without_ties);
  }
};

/// The table. Each identity has a numerical test of its own.
BUNRAKU_API std::span<const Identity> identities();

}  // namespace bunraku
