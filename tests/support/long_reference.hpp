/// @file
/// Forward dynamics at rest in long double: 𝓜 and gravity's torques from every body's Jacobian in world axes, solved
/// densely. Of the library it uses hinge poses and joint maps alone.
#pragma once

#include <vector>

#include <Eigen/Dense>

#include "bunraku/model/model.hpp"

namespace bunraku::test {

/// A model at rest.
class LongReference {
 public:
  using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  using Matrix3 = Eigen::Matrix<long double, 3, 3>;
  using Vector3 = Eigen::Matrix<long double, 3, 1>;

  /// No hinge mimics another.
  LongReference(const Model& model, const Eigen::VectorXd& q);

  /// ‖a − θ̈‖ / ‖θ̈‖ for θ̈ = 𝓜⁻¹(T − 𝓒).
  double forward_error(const Eigen::VectorXd& torque, const Eigen::VectorXd& a) const;
  /// ‖x − 𝓜⁻¹b‖ / ‖𝓜⁻¹b‖.
  double solve_error(const Eigen::VectorXd& b, const Eigen::VectorXd& x) const;
  /// ‖X − J𝓜⁻¹J*‖ / ‖J𝓜⁻¹J*‖ for the origin of a body, in its axes.
  double lambda_inverse_error(int body, const Eigen::MatrixXd& X) const;
  /// |‖x‖² − b*𝓜⁻¹b| / b*𝓜⁻¹b: of a root of 𝓜⁻¹ times b.
  double root_error(const Eigen::VectorXd& b, const Eigen::VectorXd& x) const;
  /// The largest of 𝓜's eigenvalues by its smallest, both scaled to a unit diagonal.
  double condition() const;

 private:
  Matrix mass_;
  Vector gravity_;
  std::vector<Matrix> J_;   // in the world's axes
  std::vector<Matrix3> R_;  // of the bodies
  Eigen::LDLT<Matrix> factor_;
};

}  // namespace bunraku::test
