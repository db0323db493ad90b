#include "support/linear_algebra.hpp"

#include <Eigen/Dense>

namespace bunraku::test {

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& A) {
  return A.inverse();
}

Eigen::MatrixXd congruence(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A * B * A.transpose();
}

double condition_number(const Eigen::MatrixXd& A) {
  return A.norm() * inverse_of(A).norm();
}

Eigen::MatrixXd solve_symmetric(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return A.ldlt().solve(B);
}

double log_determinant_of(const Eigen::MatrixXd& A) {
  return A.partialPivLu().matrixLU().diagonal().cwiseAbs().array().log().sum();
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

double eigenvalue_ratio(const Eigen::MatrixXd& A) {
  const Eigen::VectorXd values = symmetric_eigenvalues(A);
  return values.maxCoeff() / values.minCoeff();
}

Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A).operatorSqrt();
}

}  // namespace bunraku::test
