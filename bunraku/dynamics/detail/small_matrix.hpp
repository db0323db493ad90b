/// @file
/// Symmetric positive matrices of a hinge's size, row by row.
#pragma once

#include <array>
#include <cmath>

#include "bunraku/dynamics/detail/singular.hpp"

namespace bunraku::kernels {

/// Inverts the symmetric n×n matrix d in place by Cholesky's factors; false when d is not positive beyond rounding:
/// where a diagonal element is not above its floor, or little is left of it beside the others. No element is compared
/// with one of other units.
template <class T>
bool invert_positive(T* d, int n, const T* floors) {
  std::array<T, max_hinge_velocities * max_hinge_velocities> l{};
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      T sum = d[at(i, j)];
      for (int m = 0; m < j; ++m) {
        sum -= l[at(i, m)] * l[at(j, m)];
      }
      if (i == j) {
        if (!(d[at(j, j)] > floors[j] && sum > vanishing_beside_others<T> * d[at(j, j)])) {
          return false;
        }
        l[at(j, j)] = std::sqrt(sum);
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
