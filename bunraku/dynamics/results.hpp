/// @file
/// The Eigen types in which functions of the dynamics return their results.
#pragma once

#include <Eigen/Core>

namespace bunraku {

template <class T>
using VectorX = Eigen::Matrix<T, Eigen::Dynamic, 1>;  ///< n numbers.
template <class T>
using MatrixX = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;  ///< n×n and others.
template <class T>
using Matrix3X = Eigen::Matrix<T, 3, Eigen::Dynamic>;  ///< Three rows.
template <class T>
using Matrix6X = Eigen::Matrix<T, 6, Eigen::Dynamic>;  ///< Six rows.
template <class T>
using JacobianX = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, 0, 6, Eigen::Dynamic>;  ///< Three or six rows.

}  // namespace bunraku
