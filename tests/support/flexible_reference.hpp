/// @file
/// Dynamics from positions of points alone, in long double: a reference for flexible bodies that shares no code with
/// the library's dynamics, nor with its hinges.
///
/// Every rigid inertia is a set of weighted points. Where these are follows from the model's frames by hinge laws that
/// are written down here again. All else are differences: Jacobians, velocities, accelerations. What is called most is
/// written in plain loops, which are not slow in builds that do not optimise.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/model/flexible.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku::test {

using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using LongVector3 = Eigen::Matrix<long double, 3, 1>;
using LongMatrix3 = Eigen::Matrix<long double, 3, 3>;

/// Passes when the largest difference is at most `tolerance` times b's largest element.
testing::AssertionResult is_within(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double tolerance);

/// The same of matrices and vectors of any scalar.
template <class A, class B>
testing::AssertionResult agrees(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b, double tolerance) {
  return is_within(a.template cast<double>(), b.template cast<double>(), tolerance);
}
/// The same of numbers.
inline testing::AssertionResult agrees(double a, long double b, double tolerance) {
  return is_within(Eigen::MatrixXd::Constant(1, 1, a), Eigen::MatrixXd::Constant(1, 1, static_cast<double>(b)),
                   tolerance);
}

/// f'(0) by central differences of eighth order, of values that can be subtracted and scaled.
template <class F>
auto eighth_order_difference(F&& f, long double h) {
  using Value = std::decay_t<decltype(f(h))>;  // not a lazy expression of values that are gone
  const auto slope = [&](int k) -> Value { return f(k * h) - f(-k * h); };
  return Value((slope(1) * (4.0L / 5) - slope(2) * (1.0L / 5) + slope(3) * (4.0L / 105) - slope(4) * (1.0L / 280)) *
               (1 / h));
}

/// f''(0) of twelfth order, as rounding weighs more there and steps must be longer.
template <class F>
auto twelfth_order_second_difference(F&& f, long double h) {
  using Value = std::decay_t<decltype(f(h))>;
  const Value middle = f(0.0L);
  const auto bend = [&](int k) -> Value { return (f(k * h) - middle) + (f(-k * h) - middle); };
  return Value((bend(1) * (12.0L / 7) - bend(2) * (15.0L / 56) + bend(3) * (10.0L / 189) - bend(4) * (1.0L / 112) +
                bend(5) * (2.0L / 1925) - bend(6) * (1.0L / 16632)) *
               (1 / (h * h)));
}

/// Where a frame is: a point of it at p is at rotation · p + translation.
struct LongPose {
  LongMatrix3 rotation = LongMatrix3::Identity();
  LongVector3 translation = LongVector3::Zero();

  friend LongPose operator*(const LongPose& a, const LongPose& b);
  LongPose inverse() const { return {rotation.transpose(), -(rotation.transpose() * translation)}; }
  /// 4×4, in double precision.
  Eigen::Matrix4d matrix() const;
};

/// A flexible body as it was given to add_flexible_body.
struct FlexibleSource {
  std::string body;                                             ///< Its name.
  RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< What the body had without its nodes.
  FlexibleBody flexible = {};                                   ///< All the rest.
};

/// Two points that a closure holds together, each given in the frame of a node.
struct TiedPoints {
  Node a;
  Node b;
  LongVector3 on_a = LongVector3::Zero();
  LongVector3 on_b = LongVector3::Zero();
};

/// A model of any hinges but custom ones. Coordinates are the user's, mimics folded in; tangent coordinates are those
/// of docs/conventions.md. Springs are taken on plain coordinates alone.
class FlexibleReference {
 public:
  /// Masses are those of the model's bodies.
  explicit FlexibleReference(const Model& model);
  /// The same with the masses of flexible bodies where the user put them: however the model lumps them, the motion must
  /// be that of all of them.
  FlexibleReference(const Model& model, const std::vector<FlexibleSource>& sources);

  int nv() const { return model_.nv(); }

  /// q ⊕ v t.
  LongVector moved(const LongVector& q, const LongVector& v, long double t) const;
  /// Where a body is.
  LongPose pose(const LongVector& q, int body) const;
  /// Where a node is.
  LongPose pose(const LongVector& q, const Node& node) const;
  /// (ω, velocity) of a node at its origin in its own axes.
  LongVector velocity(const LongVector& q, const LongVector& v, const Node& node) const;
  /// (ω̇, acceleration of the origin) of a node in the world's axes at θ̈ = 0.
  LongVector bias_acceleration(const LongVector& q, const LongVector& v, const Node& node) const;
  /// 6×n, angular over linear, at the node in its own axes.
  LongMatrix jacobian(const LongVector& q, const Node& node) const;

  /// Of all hinges, by velocity coordinates.
  LongVector armature() const;
  /// Σ m J*J, armature left out.
  LongMatrix bodies_mass(const LongVector& q) const;
  /// The same with armature.
  LongMatrix mass(const LongVector& q) const;
  /// Coriolis, gyroscopic and gravity torques: Σ J*m(ẍ − g) at θ̈ = 0.
  LongVector bias(const LongVector& q, const LongVector& v) const;
  /// Of gravity alone.
  LongVector gravity_torques(const LongVector& q) const;
  /// −damping·θ̇ − friction·sign(θ̇) − stiffness·(q − rest).
  LongVector passive(const LongVector& q, const LongVector& v) const;
  /// Torques for accelerations, passive ones taken off.
  LongVector inverse(const LongVector& q, const LongVector& v, const LongVector& a) const;
  /// What its parent exerts on each body, a column each: moment about the body's origin over force, in the body's axes.
  /// Newton's and Euler's laws for all that it carries.
  LongMatrix reactions(const LongVector& q, const LongVector& v, const LongVector& a) const;
  /// Accelerations for torques, by a dense factor.
  LongVector forward(const LongVector& q, const LongVector& v, const LongVector& torque) const;
  /// 𝓜⁻¹X.
  LongMatrix solve(const LongVector& q, const LongMatrix& x) const;
  /// ln det 𝓜.
  long double log_det(const LongVector& q) const;
  /// The largest eigenvalue of 𝓜 over its smallest, both scaled to a unit diagonal.
  double condition(const LongVector& q) const;

  long double kinetic_energy(const LongVector& q, const LongVector& v) const;
  /// Gravity's, zero at the world's origin.
  long double gravity_energy(const LongVector& q) const;
  /// ½ Σ stiffness (q − rest)².
  long double spring_energy(const LongVector& q) const;
  LongVector3 center_of_mass(const LongVector& q) const;
  /// Angular about the centre of mass, over linear, in the world's axes.
  LongVector momentum(const LongVector& q, const LongVector& v) const;

  /// How far tied points are apart, in the world's axes, one pair after the other.
  LongVector gap(const LongVector& q, const std::vector<TiedPoints>& ties) const;
  /// Its derivative.
  LongMatrix gap_jacobian(const LongVector& q, const std::vector<TiedPoints>& ties) const;
  /// v without what tears them apart.
  LongVector fitting_velocity(const LongVector& q, const LongVector& v, const std::vector<TiedPoints>& ties) const;
  /// Accelerations for torques with the points tied: the null space of the ties, from singular values.
  LongVector closed_forward(const LongVector& q, const LongVector& v, const LongVector& torque,
                            const std::vector<TiedPoints>& ties) const;

 private:
  /// A body, or a lump of a flexible one, with the points that make its inertia.
  struct Carrier {
    int parent = world;
    LongPose before;  ///< X_PF.
    LongPose after;   ///< X_MB.
    HingeType type = HingeType::fixed;
    LongVector3 axis = LongVector3::UnitZ();
    LongVector3 axis2 = LongVector3::UnitX();
    long double pitch = 0;
    Eigen::Matrix<long double, 3, Eigen::Dynamic> turns;  ///< λ, a column a mode.
    Eigen::Matrix<long double, 3, Eigen::Dynamic> moves;  ///< γ, a column a mode.
    LongMatrix shortening;                                ///< S.
    LongVector3 draws = LongVector3::Zero();              ///< e.
    int q_index = 0;         ///< Of the coordinates that move it, the leader's where it follows.
    long double ratio = 1;   ///< Of a follower of one coordinate.
    long double offset = 0;  ///< Likewise.
    Eigen::Matrix<long double, 3, Eigen::Dynamic> points;
    LongVector weights;
  };
  static void add_shape(Carrier& carrier, const ModalShape& shape);
  static void add_points(Carrier& carrier, const RigidInertia<double>& inertia);
  static LongPose hinge_pose(const Carrier& carrier, const LongVector& q);
  std::vector<LongPose> poses(const LongVector& q) const;
  /// All points in the world, three numbers each.
  LongVector positions(const LongVector& q) const;
  /// The derivative of the positions, with columns for all coordinates.
  LongMatrix positions_jacobian(const LongVector& q) const;
  /// The velocities of all points.
  LongVector positions_rate(const LongVector& q, const LongVector& v) const;
  /// The accelerations of all points at θ̈ = 0.
  LongVector positions_bias(const LongVector& q, const LongVector& v) const;
  /// J*x of them for each column of x.
  static LongMatrix adjoint_times(const LongMatrix& J, const LongMatrix& x);
  /// A time in which nothing turns far.
  static long double step(const LongVector& v);
  void gather_weights();
  /// A node's rotation and place beside each other.
  Eigen::Matrix<long double, 3, 4> frame(const LongVector& q, const Node& node) const;

  Model model_;
  std::vector<Carrier> carriers_;  // the model's bodies come first
  LongVector weights_;             // of all points, each three times
  LongVector weight_forces_;       // the same times gravity
};

}  // namespace bunraku::test
