/// @file
/// Symmetric positive matrices of a hinge's size, row by row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bunraku/model/hinge.hpp"

namespace bunraku::kernels {

/// Inverts the symmetric n×n matrix d in place by Cholesky's factors and adds ln det d to `log_determinant`; false when
/// d is not positive beyond rounding.
template <class T>
bool invert_positive(T* d, int n, T& log_determinant) {
  std::array<T, max_hinge_velocities * max_hinge_velocities> l{};
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  T scale{};
  for (int i = 0; i < n; ++i) {
    scale = std::max(scale, d[at(i, i)]);
  }
  const T floor = scale * static_cast<T>(n) * std::numeric_limits<T>::epsilon();
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      T sum = d[at(i, j)];
      for (int m = 0; m < j; ++m) {
        sum -= l[at(i, m)] * l[at(j, m)];
      }
      if (i == j) {
        if (!(sum > floor)) {
          return false;
        }
        l[at(j, j)] = std::sqrt(sum);
        log_determinant += std::log(sum);
      } else {
        l[at(i, j)] = sum / l[at(j, j)];
      }
    }
  }
  for (int c = 0; c < n; ++c) {
    std::array<T, max_hinge_velocities> x{};
    for (int i = c; i < n; ++i) {
      T sum = i == c ? T(1) : T(0);
      for (int m = c; m < i; ++m) {
        sum -= l[at(i, m)] * x[static_cast<std::size_t>(m)];
      }
      x[static_cast<std::size_t>(i)] = sum / l[at(i, i)];
    }
    for (int i = n - 1; i >= 0; --i) {
      T sum = x[static_cast<std::size_t>(i)];
      for (int m = i + 1; m < n; ++m) {
        sum -= l[at(m, i)] * d[at(m, c)];
      }
      d[at(i, c)] = sum / l[at(i, i)];
    }
  }
  return true;
}

}  // namespace bunraku::kernels
