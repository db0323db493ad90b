/// @file
/// Dense linear algebra that several tests need, compiled once.
#pragma once

#include <Eigen/Core>

namespace bunraku::test {

/// A B. What is zero is passed over: of operators over a tree that is most.
Eigen::MatrixXd product(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// A⁻¹.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& A);

/// A⁻¹ with all pivots chosen, for what may be badly scaled.
Eigen::MatrixXd pivoted_inverse_of(const Eigen::MatrixXd& A);

/// (I − X)⁻¹ = I + X + X² + … of a strictly upper triangular X.
Eigen::MatrixXd sum_of_powers(const Eigen::MatrixXd& X);

/// A B A*.
Eigen::MatrixXd congruence(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// |A||A⁻¹| in the Frobenius norm.
double condition_number(const Eigen::MatrixXd& A);

/// A⁻¹B of a symmetric positive definite A.
Eigen::MatrixXd solve_symmetric(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// log det A of a symmetric positive definite A.
double log_determinant_of(const Eigen::MatrixXd& A);

/// The singular values of A, the largest first.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& A);

/// The eigenvalues of a symmetric A, the smallest first.
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& A);

/// The largest eigenvalue of a symmetric positive definite A over its smallest.
double eigenvalue_ratio(const Eigen::MatrixXd& A);

/// The principal square root of a symmetric A without negative eigenvalues.
Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& A);

/// y of r y + y r = x for block-diagonal r and x, each block as one linear system for all numbers of y.
Eigen::MatrixXd lyapunov_solution(const Eigen::MatrixXd& r, const Eigen::MatrixXd& x);

}  // namespace bunraku::test
