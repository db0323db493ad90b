/// @file
/// Roots and inverses of dense matrices, or why there is none. Of matrices with a largest size nothing is allocated.
#pragma once

#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "bunraku/kernels/pack.hpp"

namespace bunraku::operators {

/// Differences below this part of a matrix are rounding: what sums and products in a scalar leave of its symmetry.
template <class S>
inline constexpr double rounding_of_blocks = std::is_same_v<kernels::NumberOf<S>, float> ? 1e-4 : 1e-10;

/// The symmetric root of a symmetric matrix without negative eigenvalues; otherwise `refuse` is told why. `rounding` is
/// what of the matrix is.
template <class Matrix, class Refuse>
Matrix root_of(const Matrix& matrix, double rounding, const Refuse& refuse) {
  if (!matrix.isApprox(matrix.transpose(), rounding)) {
    refuse("is not symmetric");
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> factor(matrix);
  if (matrix.size() > 0 &&
      factor.eigenvalues().minCoeff() < -rounding / 100 * factor.eigenvalues().cwiseAbs().maxCoeff()) {
    refuse("has a negative eigenvalue");
  }
  const Matrix scaled = factor.eigenvectors() * factor.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return scaled * factor.eigenvectors().transpose();
}

/// y with r y + y r = x for a symmetric positive definite r; otherwise `refuse` is told why.
template <class Matrix, class Refuse>
Matrix lyapunov_of(const Matrix& r, const Matrix& x, double rounding, const Refuse& refuse) {
  if (!r.isApprox(r.transpose(), rounding)) {
    refuse("is not symmetric");
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> factor(r);
  const auto& values = factor.eigenvalues();
  if (r.size() > 0 && !(values.minCoeff() > rounding / 100 * values.maxCoeff())) {
    refuse("is not positive definite");
  }
  Matrix turned = factor.eigenvectors().transpose() * x * factor.eigenvectors();
  for (Eigen::Index i = 0; i < r.rows(); ++i) {
    for (Eigen::Index j = 0; j < r.cols(); ++j) {
      turned(i, j) /= values[i] + values[j];
    }
  }
  return factor.eigenvectors() * turned * factor.eigenvectors().transpose();
}

/// The inverse of a square matrix; where its rank is less than its size, `refuse` is told both.
///
/// Rows and columns are first scaled by powers of two, which is exact, until the largest number of each is about one:
/// rank must not depend on units. Then a pivot, the largest of what is left, that is not above the rounding which the
/// matrix came with, n · 4ε of its largest, is one of zero. In long double, so that what is lost is lost in the matrix
/// and not here. O(n³).
template <class Matrix, class Refuse>
Matrix inverse_of(const Matrix& matrix, const Refuse& refuse) {
  constexpr int most = Matrix::MaxRowsAtCompileTime;
  using LongMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, 0, most, most>;
  using LongVector = Eigen::Matrix<long double, Eigen::Dynamic, 1, 0, most, 1>;
  const Eigen::Index n = matrix.rows();
  if (!matrix.allFinite()) {
    refuse("has a number that is not finite");
  }
  LongMatrix scaled = matrix.template cast<long double>();
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
    scaled = rows.asDiagonal() * LongMatrix(scaled * cols.asDiagonal());
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
