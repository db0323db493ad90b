/// @file
/// Cholesky's factor of a dense mass matrix, for models whose D is not block diagonal.
#pragma once

#include <cmath>
#include <limits>

namespace bunraku::kernels {

/// The factor L of the symmetric matrix A = LL*, in A's lower triangle; the index of the first pivot that is not
/// positive beyond rounding, or −1. O(n³), nothing allocated.
template <class M>
int factor_in_place(M& A) {
  using T = typename M::Scalar;
  const auto n = static_cast<int>(A.rows());
  for (int j = 0; j < n; ++j) {
    const T floor = A(j, j) * static_cast<T>(n) * std::numeric_limits<T>::epsilon();
    for (int i = j; i < n; ++i) {
      for (int m = 0; m < j; ++m) {
        A(i, j) -= A(i, m) * A(j, m);
      }
      if (i > j) {
        A(i, j) /= A(j, j);
      } else if (A(j, j) > floor) {
        A(j, j) = std::sqrt(A(j, j));
      } else {
        return j;
      }
    }
  }
  return -1;
}

/// x becomes L⁻¹x. O(n²).
template <class M, class T>
void solve_lower(const M& L, T* x) {
  const auto n = static_cast<int>(L.rows());
  for (int j = 0; j < n; ++j) {
    x[j] /= L(j, j);
    for (int i = j + 1; i < n; ++i) {
      x[i] -= L(i, j) * x[j];
    }
  }
}

/// x becomes (LL*)⁻¹x. O(n²).
template <class M, class T>
void solve_factored(const M& L, T* x) {
  solve_lower(L, x);
  for (int j = static_cast<int>(L.rows()) - 1; j >= 0; --j) {
    for (int i = j + 1; i < static_cast<int>(L.rows()); ++i) {
      x[j] -= L(i, j) * x[i];
    }
    x[j] /= L(j, j);
  }
}

}  // namespace bunraku::kernels
