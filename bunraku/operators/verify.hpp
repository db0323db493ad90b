/// @file
/// Testing conjectured identities numerically, on random systems and on given robots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/model/model.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"

namespace bunraku {

/// On what to test.
struct VerifyOptions {
  int chains = 10;                 ///< Random serial chains.
  int trees = 15;                  ///< Random trees.
  std::vector<Model> models = {};  ///< Further systems, each at one random state.
  double tolerance = 1e-9;         ///< Largest residual with which it holds.
  std::uint64_t seed = 1;          ///< For the random systems and states.
  Variables variables = {};        ///< What the expressions may name besides symbols; they get random values.
  bool armature = false;           ///< Random systems have armature, half of them, where it is not named, too.
  bool couplings = false;          ///< Every third random system has coupled hinges.
  bool massless = false;           ///< Every other random system has a body without inertia.
};

/// What came out.
struct Verdict {
  /// A derivation of left − right to zero, where the identities give one for all the systems tried. What it inverts is
  /// taken to be invertible.
  std::optional<Derivation> proof = std::nullopt;
  bool holds = false;          ///< The residual stayed within the tolerance on all systems.
  double residual = 0;         ///< The largest over all systems of max|lhs − rhs| / max(|lhs|, |rhs|).
  int samples = 0;             ///< Systems tried.
  std::string counterexample;  ///< The system with the largest residual, where it does not hold.
};

/// `proved` where the identities make both sides equal, `holds` where the numbers alone say so, or `refuted`.
BUNRAKU_API std::string_view to_string(const Verdict& verdict);

/// Evaluates both sides as they are written, without any identity, inverses by dense matrices, and compares them
/// number by number. Random systems have all types of hinges, two nodes, gravity, random states and accelerations;
/// armature, damping, friction and springs only where an expression names them (armature, T_p), couplings and massless
/// bodies only where the options ask for them. Where an expression names A, A_h, U or M_C they have closures, too, and
/// velocities and accelerations satisfy the equations of these at the random pose. Throws OperatorError
/// unless both sides act between the same spaces.
BUNRAKU_API Verdict verify(const Operator& lhs, const Operator& rhs, const VerifyOptions& options = {});

/// A random system for tests of identities: bodies on hinges of all types, each with mass.
struct RandomSystem {
  bool serial = false;     ///< A chain in place of a tree.
  bool armature = false;   ///< Hinges have rotors.
  bool passive = false;    ///< Hinges have damping, friction and springs.
  bool couplings = false;  ///< Two of its hinges turn together.
  bool massless = false;   ///< One of its bodies, which carries another, has no inertia.
  bool closures = false;   ///< Its last body is tied to another one or the world, and two of its hinges to each other.
  int bodies = 0;          ///< How many; 0: three to eight.
};
/// The system of a seed: the same on every machine. It turns at its base, so that no identity holds by default.
BUNRAKU_API Model random_model(const RandomSystem& kind, std::uint64_t seed);

}  // namespace bunraku
