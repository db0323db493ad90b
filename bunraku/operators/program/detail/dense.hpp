/// @file
/// Roots and inverses of dense matrices, or why there is none.
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <fmt/format.h>

namespace bunraku::operators {

/// The symmetric root of a symmetric matrix without negative eigenvalues; otherwise `refuse` is told why.
template <class Refuse>
Eigen::MatrixXd root_of(const Eigen::MatrixXd& matrix, const Refuse& refuse) {
  if (!matrix.isApprox(matrix.transpose(), 1e-10)) {
    refuse("is not symmetric");
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> factor(matrix);
  if (matrix.size() > 0 && factor.eigenvalues().minCoeff() < -1e-12 * factor.eigenvalues().cwiseAbs().maxCoeff()) {
    refuse("has a negative eigenvalue");
  }
  return factor.eigenvectors() * factor.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal() *
         factor.eigenvectors().transpose();
}

/// The inverse of a square matrix; where its rank is less than its size, `refuse` is told both.
///
/// Rows and columns are first scaled by powers of two, which is exact, until the largest number of each is about one:
/// rank must not depend on units. Then a pivot, the largest of what is left, that is not above the rounding which the
/// matrix came with, n · 4ε of its largest, is one of zero. In long double, so that what is lost is lost in the matrix
/// and not here. O(n³).
template <class Refuse>
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix, const Refuse& refuse) {
  using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  const Eigen::Index n = matrix.rows();
  if (!matrix.allFinite()) {
    refuse("has a number that is not finite");
  }
  LongMatrix scaled = matrix.cast<long double>();
  LongVector left = LongVector::Ones(n);
  LongVector right = LongVector::Ones(n);
  const auto factor_for = [](long double largest) {
    return largest > 0 ? std::exp2(-std::round(std::log2(largest) / 2)) : 1.0L;
  };
  constexpr int rounds = 8;  // each halves the exponents that are left, of 1e±308 to less than ten
  for (int round = 0; round < rounds; ++round) {
    LongVector rows(n);
    LongVector cols(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      rows[i] = factor_for(scaled.row(i).cwiseAbs().maxCoeff());
      cols[i] = factor_for(scaled.col(i).cwiseAbs().maxCoeff());
    }
    scaled = (rows.asDiagonal() * scaled * cols.asDiagonal()).eval();
    left = left.cwiseProduct(rows);
    right = right.cwiseProduct(cols);
  }
  Eigen::FullPivLU<LongMatrix> factor(scaled);
  factor.setThreshold(static_cast<long double>(4 * n) * std::numeric_limits<double>::epsilon());
  if (factor.rank() < n) {
    refuse(fmt::format("has rank {} and size {}: it is singular", factor.rank(), n));
  }
  return LongMatrix(right.asDiagonal() * factor.inverse() * left.asDiagonal()).template cast<double>();
}

}  // namespace bunraku::operators
