/// @file
/// Trees with loops that are closed at a random state, and the closures' equations by another way than the library's:
/// from node Jacobians, joint maps of the hinges that close, and differences of these along the motion.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Dense>

#include "bunraku/bunraku.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// Y of one closure at a configuration, over the user's velocities; its rows span what the library's span, of hinges
/// more than once.
Eigen::MatrixXd closure_jacobian(State& state, const Closure& closure);

/// A model, and a state at which its loops are closed.
struct LoopedState {
  Model model;
  Eigen::VectorXd q;
  Eigen::VectorXd v;       ///< Fits all loops.
  Eigen::VectorXd torque;  ///< Random.

  /// Y of some closures, at q(t) for constant v.
  Eigen::MatrixXd jacobian(const std::vector<int>& closures, double t = 0) const;
  /// U = −dY/dt v, by central differences of sixth order.
  Eigen::VectorXd rate(const std::vector<int>& closures) const;
  /// All closures.
  std::vector<int> all() const;
};

/// What a model's closures leave free: θ̇ = Xξ, θ̈ = Xξ̇ + b, from dense factors.
struct FreeMotion {
  /// Of equations Yθ̇ = 0, Yθ̈ = U; what is below `tolerance` of the largest singular value counts as nothing.
  FreeMotion(const Eigen::MatrixXd& Y, const Eigen::VectorXd& U, double tolerance = 1e-9);
  Eigen::MatrixXd X;      ///< Orthonormal.
  Eigen::VectorXd b;      ///< The smallest.
  double last_kept = 1;   ///< The smallest singular value that counts, as part of the largest.
  double first_lost = 0;  ///< The largest that does not.
};

/// Closes loops in a tree: nodes are put so that each closure holds at q. A velocity that fits is drawn at last.
class LoopMaker {
 public:
  /// Of a tree at a random configuration.
  LoopMaker(const ModelBuilder& tree, Random& random);
  /// Joins two bodies, or a body and the world, by a hinge, at random poses of the first and of the hinge.
  LoopMaker& join(int a, int b, const Hinge& hinge);
  /// The same by a closure of another kind between nodes.
  LoopMaker& join(int a, int b, ClosureKind kind);
  /// Ties hinge a of one velocity to hinge b by a random polynomial.
  LoopMaker& tie(int a, int b);
  /// Holds hinge a of one velocity where it is.
  LoopMaker& hold(int a);
  /// The result.
  LoopedState make();
  /// The tree as it is.
  const Model& model() const { return open_; }

 private:
  std::string add_node(int body, const Transform<double>& X_WN);
  std::string name() const { return "loop" + std::to_string(builder_.closures().size()); }
  double position(int body) const;

  ModelBuilder builder_;
  Model open_;
  Random& random_;
  Eigen::VectorXd q_;
  State state_;
};

/// A tree of twelve bodies of all hinge types with one to three loops of all kinds: samples differ in shape, armature,
/// mimics and loops.
LoopedState random_looped(int sample);

}  // namespace bunraku::test
