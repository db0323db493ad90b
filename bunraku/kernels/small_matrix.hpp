/// @file
/// Symmetric positive matrices of a hinge's size, row by row.
#pragma once

#include <utility>

namespace bunraku::kernels {

/// Which pivot of the symmetric n×n matrix d, which is used up, is not positive beyond rounding, or −1: eliminated with
/// the pivot that is largest against its own rounding first, it is not above it. No element is compared with one of
/// other units. `order` has room for n.
template <class T>
int vanishing_pivot(T* d, int n, T* rounding, int* order) {
  for (int p = 0; p < n; ++p) {
    order[p] = p;
  }
  for (int p = 0; p < n; ++p) {
    int best = p;
    for (int i = p + 1; i < n; ++i) {
      if (d[i * n + i] * rounding[best] > d[best * n + best] * rounding[i]) {
        best = i;
      }
    }
    std::swap(rounding[p], rounding[best]);
    std::swap(order[p], order[best]);
    for (int i = 0; i < n; ++i) {
      std::swap(d[p * n + i], d[best * n + i]);
    }
    for (int i = 0; i < n; ++i) {
      std::swap(d[i * n + p], d[i * n + best]);
    }
    const T pivot = d[p * n + p];
    if (!(pivot > rounding[p])) {
      return order[p];
    }
    for (int i = p + 1; i < n; ++i) {
      const T factor = d[i * n + p] / pivot;
      for (int j = p + 1; j < n; ++j) {
        d[i * n + j] -= factor * d[p * n + j];
      }
    }
  }
  return -1;
}

}  // namespace bunraku::kernels
