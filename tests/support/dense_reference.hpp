/// @file
/// State from first principles: every body's Jacobian in world axes, Newton's and Euler's laws for each body, and
/// dense matrices. Of the library it uses hinge poses and joint maps alone, which have tests of their own.
#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "support/finite_difference.hpp"

namespace bunraku::test {

/// A model at a configuration. Coordinates are the user's, mimics folded in.
class DenseReference {
 public:
  DenseReference(const Model& model, const Eigen::VectorXd& q);

  /// 6×n, angular over linear, of a body's centre of mass in world axes.
  Eigen::MatrixXd jacobian(std::size_t body) const;
  /// 6×n of the point of a body that is at `point` in the world.
  Eigen::MatrixXd jacobian_at(int body, const Eigen::Vector3d& point) const;
  /// The mass matrix, armature included: Σ J*[I 0; 0 m]J.
  Eigen::MatrixXd mass() const;
  /// Coriolis, gyroscopic and gravity torques: Newton's and Euler's laws at θ̈ = 0, with the rates of the bodies'
  /// velocities by differences along the motion.
  Eigen::VectorXd bias(const Eigen::VectorXd& v) const;
  /// The pose of a body.
  const Eigen::Matrix4d& pose(std::size_t body) const { return poses_[body]; }

 private:
  /// About the centre of mass, in world axes.
  Eigen::Matrix3d inertia(std::size_t k) const;
  void place();

  Model model_;
  Eigen::VectorXd q_;
  std::vector<Eigen::Matrix4d> hinges_;  // frames M in the world
  std::vector<Eigen::Matrix4d> poses_;
  std::vector<std::array<Motion<double>, max_hinge_velocities>> maps_;
};

}  // namespace bunraku::test
