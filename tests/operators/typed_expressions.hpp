/// @file
/// Random typed expressions, and whether simplify keeps what they mean.
#pragma once

#include <string>
#include <vector>

#include "bunraku/operators/rewriting/simplify.hpp"
#include "operators/dense_system.hpp"

namespace bunraku::test {

/// Typed expressions in which inverses are asked for, of what has one more often than not.
class TypedExpressions {
 public:
  /// Of the symbols that a system has, variables, families and recursions over blocks.
  TypedExpressions(const Conditions& conditions, const DenseSystem& dense, unsigned seed);

  static std::vector<Operator> variables();

  Operator any(int depth);

 private:
  void put(const Operator& x);
  Operator leaf(SpaceKind range, SpaceKind domain);
  Operator between(SpaceKind range, SpaceKind domain, int depth);
  /// What has an inverse.
  Operator regular(SpaceKind space);

  Random random_;
  std::vector<Operator> leaves_;
};

/// What came of one expression.
struct Outcome {
  enum class Type { agreed, lost_in_rounding, singular, refused, refused_singular, refused_limit, wrong };
  Type type = Type::agreed;
  double seconds = 0;   ///< That the search took.
  std::string details;  ///< The derivation of a wrong one, or why it was refused.
};
/// In words.
std::string_view to_string(Outcome::Type type);

/// A small tree of its kind at a state, in dense matrices, with values for the variables.
class SoundnessTrial {
 public:
  SoundnessTrial(const Conditions& conditions, unsigned sample);

  const Conditions& conditions() const { return conditions_; }
  const DenseSystem& dense() const { return dense_; }
  /// What simplify makes of x against x as it is written.
  Outcome operator()(const Operator& x) const;

 private:
  Conditions conditions_;
  DenseSystem dense_;
};

}  // namespace bunraku::test
