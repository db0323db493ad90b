/// Loops as clusters of the tree, against dense solutions with equations of the closures from elsewhere.
#include <cmath>

#include <Eigen/Dense>
#include <gmock/gmock.h>

#include "bunraku/bunraku.hpp"
#include "bunraku/kernels/tree.hpp"
#include "support/allocations.hpp"
#include "support/looped_models.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

/// What is free by dense factors, with the accelerations that follow.
struct Dense {
  explicit Dense(const LoopedState& at) : Dense(at, at.all()) {}
  Dense(const LoopedState& at, const std::vector<int>& closures)
      : Y(at.jacobian(closures)), U(at.rate(closures)), free(Y, U) {
    State state(at.model);
    state.set(at.q, at.v);
    mass = mass_matrix(state);
    const VectorXd left = at.torque - inverse_dynamics(state, free.b);
    reduced = free.X.transpose() * mass * free.X;
    M_C = free.X * reduced.ldlt().solve(free.X.transpose());
    acceleration = M_C * left + free.b;
    residual = at.torque - inverse_dynamics(state, acceleration);
  }
  /// Whether rank is beyond doubt, and what is weak not so weak as to lose digits.
  bool clear() const { return free.last_kept > 5e-3 && free.first_lost < 1e-12; }

  MatrixXd Y;
  VectorXd U;
  FreeMotion free;
  MatrixXd mass;
  MatrixXd reduced;
  MatrixXd M_C;
  VectorXd acceleration;
  VectorXd residual;  ///< Y*f̃.
};

double difference(const MatrixXd& a, const MatrixXd& b) {
  return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff());
}

/// All calls at a state against the dense solution.
template <class T>
void expect_dense(const LoopedState& at, const Dense& dense, double tolerance) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  BasicEmbeddedState<T> state(at.model);
  state.set(at.q.cast<T>(), at.v.cast<T>());
  ASSERT_EQ(degrees_of_freedom(state), dense.free.X.cols());
  const Vector torque = at.torque.cast<T>();
  const Vector acceleration = embedded_forward_dynamics(state, torque);
  EXPECT_LT(difference(acceleration.template cast<double>(), dense.acceleration), tolerance);
  const MatrixXd X = embedded_basis(state).template cast<double>();
  EXPECT_TRUE(is_near(X.transpose() * X, MatrixXd::Identity(X.cols(), X.cols()), tolerance));
  EXPECT_LT(difference(dense.Y * X, MatrixXd::Zero(dense.Y.rows(), X.cols())), tolerance);
  const VectorXd b = embedded_bias(state).template cast<double>();
  EXPECT_LT(difference(dense.Y * b, dense.U), tolerance);
  const MatrixXd reduced = X.transpose() * dense.mass * X;
  EXPECT_LT(difference(embedded_mass_matrix(state).template cast<double>(), reduced), tolerance);
  const Matrix unit = Matrix::Identity(at.model.nv(), at.model.nv());
  EXPECT_LT(difference(embedded_solve(state, unit).template cast<double>(), dense.M_C), tolerance);
  const double log_det = X.cols() == 0 ? 0 : reduced.ldlt().vectorD().array().log().sum();
  EXPECT_NEAR(embedded_log_det_mass(state), log_det, tolerance * (1 + std::abs(log_det)));
}

TEST(Embedded, EqualsDenseSolutions) {
  int clear = 0;
  for (int sample = 0; sample < 170; ++sample) {
    SCOPED_TRACE(sample);
    const LoopedState at = random_looped(sample);
    const Dense dense(at);
    if (dense.clear()) {
      ++clear;
      expect_dense<double>(at, dense, 1e-10);
    }
  }
  EXPECT_GT(clear, 100);
}

}  // namespace
}  // namespace bunraku::test
