/// @file
/// Factors of small dense matrices in memory that is there already. Matrices are row by row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace bunraku::detail {

/// Cholesky factor of an n × n matrix, lower half in place. False where a pivot is not above `floor`.
template <class T>
bool cholesky(T* A, std::size_t n, T floor, T& least) {
  for (std::size_t j = 0; j < n; ++j) {
    T* row = A + j * n;
    for (std::size_t i = 0; i <= j; ++i) {
      const T* other = A + i * n;
      T sum = row[i];
      for (std::size_t k = 0; k < i; ++k) {
        sum -= row[k] * other[k];
      }
      if (i < j) {
        row[i] = sum / other[i];
      } else if (sum > floor) {
        least = std::min(least, sum);
        row[i] = std::sqrt(sum);
      } else {
        return false;
      }
    }
  }
  return true;
}

/// x ← C⁻¹x.
template <class T>
void solve_lower(const T* C, std::size_t n, T* x) {
  for (std::size_t i = 0; i < n; ++i) {
    T sum = x[i];
    for (std::size_t k = 0; k < i; ++k) {
      sum -= C[i * n + k] * x[k];
    }
    x[i] = sum / C[i * n + i];
  }
}

/// x ← C⁻*x.
template <class T>
void solve_upper(const T* C, std::size_t n, T* x) {
  for (std::size_t i = n; i-- > 0;) {
    const T done = x[i] /= C[i * n + i];
    for (std::size_t k = 0; k < i; ++k) {
      x[k] -= C[i * n + k] * done;
    }
  }
}

/// Eigenvectors of a symmetric matrix as rows of V, by Jacobi's rotations; A ends with the eigenvalues on its diagonal.
template <class T>
void eigenvectors(T* A, T* V, std::size_t n) {
  std::fill(V, V + n * n, T(0));
  for (std::size_t i = 0; i < n; ++i) {
    V[i * n + i] = T(1);
  }
  for (int sweep = 0; sweep < 40; ++sweep) {
    T off = 0;
    T size = 0;
    for (std::size_t i = 0; i < n; ++i) {
      size = std::max(size, std::abs(A[i * n + i]));
      for (std::size_t j = 0; j < i; ++j) {
        off = std::max(off, std::abs(A[i * n + j]));
      }
    }
    if (!(off > std::numeric_limits<T>::epsilon() * size)) {
      return;
    }
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const T between = A[p * n + q];
        if (between == T(0)) {
          continue;
        }
        const T half = (A[q * n + q] - A[p * n + p]) / (T(2) * between);
        const T t = (half < T(0) ? T(-1) : T(1)) / (std::abs(half) + std::sqrt(T(1) + half * half));
        const T c = T(1) / std::sqrt(T(1) + t * t);
        const T s = t * c;
        const auto turn = [&](T& one, T& two) {
          const T kept = one;
          one = c * kept - s * two;
          two = s * kept + c * two;
        };
        for (std::size_t k = 0; k < n; ++k) {
          turn(A[k * n + p], A[k * n + q]);
        }
        for (std::size_t k = 0; k < n; ++k) {
          turn(A[p * n + k], A[q * n + k]);
          turn(V[p * n + k], V[q * n + k]);
        }
      }
    }
  }
}

}  // namespace bunraku::detail
