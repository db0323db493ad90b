/// @file
/// Random trees with loops that are closed at a configuration, a four-bar, and what their closures say by differences.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include "bunraku/model/builder.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// A model with loops and a configuration that closes them.
struct ClosedModel {
  Model model;
  Eigen::VectorXd q;
};

/// Every type of hinge that can close a loop.
std::span<const HingeType> closing_hinge_types();

/// A tree of `bodies` with `loops` closures of random kinds between random bodies, now and then the world, all closed
/// at q. Sample chooses the shape: chains and bushes, mimics, armature, friction, couplings of hinges.
ClosedModel random_closed_model(int sample, int bodies, int loops, Random& random);
/// The same with closures of the kinds and hinge types that are given.
ClosedModel random_closed_model(int sample, int bodies, std::span<const ClosureSpec> closures, Random& random);

/// A planar four-bar of revolute hinges about z, closed by a hinge of that type: crank 1 m, coupler 3 m,
/// rocker 2.5 m, ground 2.8 m; `folded`: a parallelogram lying flat.
ClosedModel four_bar(HingeType closed_by, bool folded);

/// Y and the rate U of Yθ̈ = U at a state, by differences of high order of the closures' own geometry: node poses by a
/// plain recursion over the bodies and rows that say what must not move, written down again for each kind.
struct DenseClosures {
  Eigen::MatrixXd Y;
  Eigen::VectorXd U;
};
DenseClosures dense_closures(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

/// v without what opens closures.
Eigen::VectorXd fitting_velocity(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v);

/// θ̈ and Y*f̃ of the constrained equations, by the null space of Y.
struct DenseMotion {
  Eigen::VectorXd acceleration;
  Eigen::VectorXd reaction;
  int rank = 0;
};
DenseMotion dense_closed_motion(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                const Eigen::VectorXd& torque);

}  // namespace bunraku::test
