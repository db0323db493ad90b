/// @file
/// What hinges say of their coordinates, as vectors over the whole model: limits, armature, friction, springs; and the
/// bodies' inertial parameters.
///
/// Each is that of the hinges with coordinates of their own: what a follower has (limits, armature …) is not folded
/// into its leader's number. O(N); a vector of the wrong size is an ArgumentError.
#pragma once

#include <Eigen/Core>

#include "bunraku/arguments.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku {

/// @name Vectors to write
/// @{
/// The smallest positions, nq numbers to compare q with, rad or m. −∞ where there is no limit, as for each coordinate
/// of spherical, free and custom hinges.
BUNRAKU_API void lower_limits(const Model& model, Out<double> q);
/// The largest positions, nq numbers; +∞ where there is no limit.
BUNRAKU_API void upper_limits(const Model& model, Out<double> q);
/// The largest speeds, nv numbers, rad/s or m/s; +∞ where there is no limit.
BUNRAKU_API void velocity_limits(const Model& model, Out<double> v);
/// The largest torques or forces of the actuators, nv numbers, N·m or N; +∞ where there is no limit.
BUNRAKU_API void effort_limits(const Model& model, Out<double> tau);
/// What rotors add to the diagonal of the mass matrix, nv numbers, kg·m² or kg.
BUNRAKU_API void armature(const Model& model, Out<double> out);
/// Viscous friction, nv numbers, N·m·s/rad or N·s/m.
BUNRAKU_API void damping(const Model& model, Out<double> out);
/// Coulomb friction, nv numbers, N·m or N.
BUNRAKU_API void friction(const Model& model, Out<double> out);
/// Springs, nv numbers, N·m/rad or N/m.
BUNRAKU_API void stiffness(const Model& model, Out<double> out);
/// π: for each body, fixed ones too, the ten parameters of RigidInertia::parameters(). Those that the regressor is
/// multiplied by, in its order.
BUNRAKU_API void inertial_parameters(const Model& model, Out<double> pi);
/// @}

/// @name The same, returned
/// @{
BUNRAKU_INLINE Eigen::VectorXd lower_limits(const Model& model) {
  Eigen::VectorXd out(model.nq());
  lower_limits(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd upper_limits(const Model& model) {
  Eigen::VectorXd out(model.nq());
  upper_limits(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd velocity_limits(const Model& model) {
  Eigen::VectorXd out(model.nv());
  velocity_limits(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd effort_limits(const Model& model) {
  Eigen::VectorXd out(model.nv());
  effort_limits(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd armature(const Model& model) {
  Eigen::VectorXd out(model.nv());
  armature(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd damping(const Model& model) {
  Eigen::VectorXd out(model.nv());
  damping(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd friction(const Model& model) {
  Eigen::VectorXd out(model.nv());
  friction(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd stiffness(const Model& model) {
  Eigen::VectorXd out(model.nv());
  stiffness(model, out);
  return out;
}
BUNRAKU_INLINE Eigen::VectorXd inertial_parameters(const Model& model) {
  Eigen::VectorXd out(10 * static_cast<Eigen::Index>(model.bodies().size()));
  inertial_parameters(model, out);
  return out;
}
/// @}

}  // namespace bunraku
