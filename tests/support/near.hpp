/// @file
/// Comparison of matrices and vectors by their largest difference.
#pragma once

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/spatial/eigen.hpp"

namespace bunraku::test {

/// Passes when the largest difference is at most `tolerance` times the larger of 1 and b's largest element.
testing::AssertionResult is_near(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double tolerance);

/// The same for the library's own types.
template <class T>
testing::AssertionResult is_near(const T& a, const T& b, double tolerance)
  requires requires { to_eigen(a); }
{
  return is_near(Eigen::MatrixXd(to_eigen(a)), Eigen::MatrixXd(to_eigen(b)), tolerance);
}

}  // namespace bunraku::test
