/// @file
/// Random trees with loops that are closed at a random state, and their motion from dense matrices.
#pragma once

#include <Eigen/Core>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/operators/system.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// What a random closed system has.
struct ClosedKind {
  int bodies = 10;
  double branching = 0.4;  ///< 0 a chain, 1 a bush.
  bool armature = false;
  bool mimics = false;
  bool to_world = false;  ///< A closure to the world.
  bool coupling = false;  ///< A closure of hinge coordinates.
  bool general = false;   ///< One with general rows.
  bool doubled = false;   ///< The first closure twice.
  int closures = 2;
};

/// A tree whose closures hold at q and whose velocities satisfy them, with 𝓜, 𝓒, Y and U from the library's dynamics
/// and from differences: nothing of the operators.
class ClosedSystem {
 public:
  using Matrix = Eigen::MatrixXd;
  using Vector = Eigen::VectorXd;

  ClosedSystem(const ClosedKind& kind, unsigned seed);

  /// Rows of all closures at a configuration, times their nodes' Jacobians.
  Matrix rows_at(const Vector& configuration) const;

  Vector q;
  Model model;
  Vector v;
  Vector T;  ///< A torque.
  Matrix mass;
  Vector bias;  ///< 𝓒, with gravity.
  Matrix Y;
  Vector U;             ///< −Ẏθ̇.
  Vector acceleration;  ///< θ̈ of the closed system.
  Vector reaction;      ///< Y*f̃.
  double weakest = 0;   ///< Of the singular values of Y 𝓜^(−½) that are not zero, the least over the largest.
  int rank = 0;

 private:
  void project_velocities();
  void solve();
};

}  // namespace bunraku::test
