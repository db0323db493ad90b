/// @file
/// Comparison of matrices and vectors by their largest difference.
#pragma once

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/spatial/eigen.hpp"

namespace bunraku::test {

/// Passes when the largest difference is at most `tolerance` times the larger of 1 and b's largest element.
template <class A, class B>
testing::AssertionResult is_near(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b, double tolerance) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) {
    return testing::AssertionFailure() << a.rows() << "×" << a.cols() << " against " << b.rows() << "×" << b.cols();
  }
  if (a.size() == 0) {
    return testing::AssertionSuccess();
  }
  const double scale = std::max(1.0, static_cast<double>(b.cwiseAbs().maxCoeff()));
  const double worst = static_cast<double>((a - b).cwiseAbs().maxCoeff());
  if (worst <= tolerance * scale) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "differ by " << worst << ", " << tolerance * scale << " allowed:\n"
                                     << a << "\nagainst\n"
                                     << b;
}

/// The same for the library's own types.
template <class T>
testing::AssertionResult is_near(const T& a, const T& b, double tolerance)
  requires requires { to_eigen(a); }
{
  return is_near(to_eigen(a), to_eigen(b), tolerance);
}

}  // namespace bunraku::test
