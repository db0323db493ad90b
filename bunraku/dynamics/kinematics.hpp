/// @file
/// Poses and velocities of all bodies: the outward sweep V = φ*H*θ̇.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"

namespace bunraku {

/// Where the bodies of a model are, and how they move. Setting a state and asking by index or node allocate nothing
/// (asking by name may); several of these may share one model between threads, each thread with its own.
class BUNRAKU_API Kinematics {
 public:
  /// At the neutral configuration, at rest.
  explicit Kinematics(Model model);

  /// The model.
  const Model& model() const { return model_; }

  /// Sets configuration and velocity and brings everything up to date: X_WB = X_WP X_PB(q) and V = φ*H*θ̇. O(N).
  /// Quaternions in q must have unit norm to 1e-6 (see normalize) and are brought to it exactly. Throws ArgumentError
  /// for a wrong size, a number that is not finite or such a quaternion, and then leaves the state as it was.
  void set_state(std::span<const double> q, std::span<const double> v);
  /// As set_state with v = 0.
  void set_configuration(std::span<const double> q);

  /// X_WB: the pose of body i in the world; the identity for `world`. Throws ArgumentError when there is no body i.
  const Transform<double>& pose(int body) const { return poses_[slot(body)]; }
  /// V(i) of body i at its origin, in its own axes; zero for `world`. Throws as pose.
  const Motion<double>& velocity(int body) const { return velocities_[slot(body)]; }
  /// V(i) of body i at its origin, in the world's axes.
  Motion<double> velocity_in_world(int body) const { return pose(body).rotation * velocity(body); }
  /// X_WN: the pose of a node in the world.
  Transform<double> pose(const Node& node) const { return pose(node.body) * node.X_BN; }
  /// The velocity of a node at its origin, in its own axes: B*φ*H*θ̇.
  Motion<double> velocity(const Node& node) const { return inverse_times(node.X_BN, velocity(node.body)); }
  /// The centre of mass in the world, of all bodies, those fixed to the world included; the world's origin when
  /// nothing has mass. O(N).
  Vec3<double> center_of_mass() const;

  /// See the span form.
  BUNRAKU_INLINE void set_state(const Eigen::Ref<const Eigen::VectorXd>& q,
                                const Eigen::Ref<const Eigen::VectorXd>& v) {
    set_state(detail::as_span(q), detail::as_span(v));
  }
  /// See the span form.
  BUNRAKU_INLINE void set_configuration(const Eigen::Ref<const Eigen::VectorXd>& q) {
    set_configuration(detail::as_span(q));
  }
  /// The pose of a body or node, by name, as a homogeneous matrix. Throws ArgumentError for an unknown name.
  BUNRAKU_INLINE Eigen::Matrix4d pose(std::string_view name) const { return to_eigen(pose(model_.node(name))); }
  /// The velocity of a body or node, by name, at its origin in its own axes. Throws as pose.
  BUNRAKU_INLINE EigenVector6<double> velocity(std::string_view name) const {
    return to_eigen(velocity(model_.node(name)));
  }

 private:
  void sweep();
  std::size_t slot(int body) const {
    return body == world ? 0 : static_cast<std::size_t>(&model_.body(body) - model_.bodies().data()) + 1;
  }

  Model model_;
  std::vector<double> q_;
  std::vector<double> v_;
  std::vector<Transform<double>> poses_;    // [0] is the world
  std::vector<Motion<double>> velocities_;  // [0] is the world
};

}  // namespace bunraku
