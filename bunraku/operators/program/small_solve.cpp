#include "bunraku/operators/program/detail/small_solve.hpp"

#include <vector>

#include <Eigen/QR>
#include <Eigen/SVD>

namespace bunraku::operators {

namespace {

/// Above this ratio of pivots all scales of rows that bodies have leave full rank.
constexpr double beyond_doubt = 1e-4;

/// V Σ⁻² V* of what is not zero.
Eigen::MatrixXd pseudo_inverse_of_square(const Eigen::MatrixXd& b, double tolerance) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(b, Eigen::ComputeThinV);
  const Eigen::VectorXd& sigma = svd.singularValues();
  Eigen::MatrixXd V = svd.matrixV();
  for (Eigen::Index j = 0; j < sigma.size(); ++j) {
    const bool kept = sigma[j] > tolerance * sigma[0];
    V.col(j) *= kept ? 1 / sigma[j] : 0.0;
  }
  return V * V.transpose();
}

}  // namespace

void invert_square(std::span<const double> b, int n, int m, double tolerance,
                   const std::function<void(std::span<double>)>& scales, std::span<double> out) {
  if (m == 0) {
    return;
  }
  const Eigen::Map<const Eigen::MatrixXd> whole(b.data(), n, m);
  Eigen::Map<Eigen::MatrixXd> inverse(out.data(), m, m);
  if (n == 0) {  // nothing moves, and nothing is asked
    inverse.setZero();
    return;
  }
  if (n >= m) {
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(whole);
    const Eigen::VectorXd pivots = qr.matrixR().diagonal().cwiseAbs();
    if (pivots[m - 1] > beyond_doubt * pivots[0]) {  // P R⁻¹R⁻* P*
      Eigen::MatrixXd half = qr.colsPermutation() * Eigen::MatrixXd::Identity(m, m);
      qr.matrixR().topLeftCorner(m, m).triangularView<Eigen::Upper>().solveInPlace<Eigen::OnTheRight>(half);
      inverse = half * half.transpose();
      return;
    }
  }
  std::vector<double> s(static_cast<std::size_t>(m));
  scales(s);
  Eigen::VectorXd factors = Eigen::VectorXd::Ones(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const double each = s[static_cast<std::size_t>(i)];
    factors[i] = each > 0 ? 1 / each : 1.0;
  }
  inverse =
      factors.asDiagonal() * pseudo_inverse_of_square(whole * factors.asDiagonal(), tolerance) * factors.asDiagonal();
}

void invert_any(std::span<double> matrix, int m, double tolerance) {
  if (m == 0) {
    return;
  }
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Rows> in_place(matrix.data(), m, m);
  const Eigen::MatrixXd x = in_place;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factor;
  factor.setThreshold(tolerance);
  factor.compute(x);
  in_place = factor.pseudoInverse();
}

}  // namespace bunraku::operators
