/// @file
/// Poses and velocities by one plain recursion over the hinges' laws, which shares nothing with the library's sweeps: a
/// reference for them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"

namespace bunraku::test {

/// Where the bodies of a model are, and how they move.
class PlainKinematics {
 public:
  /// At the neutral configuration, at rest.
  explicit PlainKinematics(Model model);

  const Model& model() const { return model_; }

  /// X_WB = X_WP X_PB(q) and V = φ*H*θ̇. Quaternions are brought to unit norm.
  void set_state(const Eigen::VectorXd& q, const Eigen::VectorXd& v);
  /// As set_state with v = 0.
  void set_configuration(const Eigen::VectorXd& q);

  /// The pose of body i in the world; the identity for `world`.
  const Transform<double>& pose(int body) const { return poses_.at(static_cast<std::size_t>(body + 1)); }
  /// V(i) of body i at its origin, in its own axes; zero for `world`.
  const Motion<double>& velocity(int body) const { return velocities_.at(static_cast<std::size_t>(body + 1)); }
  /// V(i) of body i at its origin, in the world's axes.
  Motion<double> velocity_in_world(int body) const { return pose(body).rotation * velocity(body); }
  /// The pose of a node in the world.
  Transform<double> pose(const Node& node) const { return pose(node.body) * node.X_BN; }
  /// The velocity of a node at its origin, in its own axes.
  Motion<double> velocity(const Node& node) const { return inverse_times(node.X_BN, velocity(node.body)); }
  /// The centre of mass in the world, of all bodies.
  Vec3<double> center_of_mass() const;
  /// The pose of a body or node, by name, as a homogeneous matrix.
  Eigen::Matrix4d pose(std::string_view name) const { return to_eigen(pose(model_.node(name))); }

 private:
  void sweep();

  Model model_;
  Eigen::VectorXd q_;
  Eigen::VectorXd v_;
  std::vector<Transform<double>> poses_;    // [0] is the world
  std::vector<Motion<double>> velocities_;  // [0] is the world
};

}  // namespace bunraku::test
