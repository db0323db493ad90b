/// @file
/// Random trees of rigid and flexible bodies.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "bunraku/model/flexible.hpp"
#include "support/flexible_reference.hpp"
#include "support/random.hpp"

namespace bunraku::test {

/// What a random flexible body is like.
struct FlexibleTraits {
  int modes = 3;
  int named = 2;           ///< Nodes with names, `n0` and so on: lumps with and without rotary inertia, or no mass.
  int nameless = 4;        ///< Lumps that no name refers to, points but for every fourth.
  bool shortening = true;  ///< Whether bending draws nodes in.
  bool turning = true;     ///< Whether nodes turn; else they only move.
  bool one_axis = true;    ///< Whether all nodes are drawn in along one axis.
  double stiffness = 30;   ///< Of the modes at most, half of it at least.
  double damping = 0;      ///< Of the modes at most.
};

/// A body of which deflections with |η| < ½ are large: some tenths of a metre and of a radian for each mode.
FlexibleBody random_flexible_body(const FlexibleTraits& traits, Random& random);

/// A tree of four to eight bodies, at least one of them flexible, on hinges of all kinds, children hanging on nodes or
/// on frames. Of samples one in two has a free base, one in three no damping, one in three no shortening, one in four
/// no gravity, one in two armature and springs on plain hinges; of flexible bodies one in six has no modes, and one has
/// eight in every fourth sample.
struct FlexibleSystem {
  explicit FlexibleSystem(int sample);

  Random random;
  std::vector<FlexibleSource> sources = {};  ///< The flexible bodies, as they were given.
  std::vector<std::string> places = {};      ///< Names that something can hang on: bodies, and nodes of flexible ones.
  ModelBuilder builder;
  Model model;
  Eigen::VectorXd q;       ///< Random, with |η| < ½.
  Eigen::VectorXd v;       ///< Random.
  Eigen::VectorXd a;       ///< Random accelerations.
  Eigen::VectorXd torque;  ///< Random torques.

 private:
  ModelBuilder build(int sample);
};

/// The same system with a node of its last flexible body, where that bends, held on a body or on the world by a hinge:
/// `spherical`, `revolute` or `fixed`. The loop is closed at the system's configuration.
struct FlexibleLoop {
  FlexibleLoop(const FlexibleSystem& system, const std::string& on, HingeType type);

  Model model;
  /// What stays together: a point of a ball joint, two on the axis of a revolute hinge, three of a fixed one.
  std::vector<TiedPoints> ties;
};

/// How many samples the tests take. With sanitizers, and so without optimisation, the reference is slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int flexible_samples = 2;
#else
inline constexpr int flexible_samples = 24;
#endif

/// A random configuration with |η| < ½, angles of all sizes and lengths below a metre.
Eigen::VectorXd random_flexible_configuration(const Model& model, Random& random);

/// A base that flies freely, a flexible body on it, and a second one on a node of the first, both bending far; springs,
/// no damping. Nothing takes energy away, and nothing but gravity momentum.
ModelBuilder free_flyer(Random& random);

}  // namespace bunraku::test
