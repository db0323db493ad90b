/// @file
/// Symmetric positive matrices of a hinge's size, row by row.
#pragma once

#include <utility>

namespace bunraku::kernels {

/// Whether the symmetric n×n matrix d, which is used up, is positive beyond rounding: eliminated with the pivot that is
/// largest against its own rounding first, every pivot is above it. No element is compared with one of other units.
template <class T>
bool is_positive(T* d, int n, T* rounding) {
  for (int p = 0; p < n; ++p) {
    int best = p;
    for (int i = p + 1; i < n; ++i) {
      if (d[i * n + i] * rounding[best] > d[best * n + best] * rounding[i]) {
        best = i;
      }
    }
    std::swap(rounding[p], rounding[best]);
    for (int i = 0; i < n; ++i) {
      std::swap(d[p * n + i], d[best * n + i]);
    }
    for (int i = 0; i < n; ++i) {
      std::swap(d[i * n + p], d[i * n + best]);
    }
    const T pivot = d[p * n + p];
    if (!(pivot > rounding[p])) {
      return false;
    }
    for (int i = p + 1; i < n; ++i) {
      const T factor = d[i * n + p] / pivot;
      for (int j = p + 1; j < n; ++j) {
        d[i * n + j] -= factor * d[p * n + j];
      }
    }
  }
  return true;
}

}  // namespace bunraku::kernels
