/// @file
/// The factors of one hinge taken out of an articulated inertia: a step of the Riccati recursion.
///
/// The coordinates go one after the other, the last first, as if each were a hinge of its own on a massless body, as in
/// the tuned sweeps: D = L d L* with L unit upper triangular, and D⁻¹ is never formed. Its rounding, as many digits as
/// D has condition, would stand in G and in I − GH, where the large parts of forces must cancel.
#pragma once

#include <array>

#include "bunraku/kernels/singular.hpp"

namespace bunraku::kernels {

/// As many numbers as the hinge of one body has velocities; the rest is zero.
template <class T>
struct HingeVector {
  std::array<T, max_hinge_velocities> x{};  ///< The numbers.

  /// Number i.
  constexpr T& operator[](int i) { return x[static_cast<std::size_t>(i)]; }
  /// Number i.
  constexpr const T& operator[](int i) const { return x[static_cast<std::size_t>(i)]; }
};

/// The factors of a hinge with n velocities. What takes them is not inline: hinges with one axis, which most are, go a
/// shorter way, where the loops of the others would be in the way.
template <class T>
struct HingeFactors {
  int n = 0;                    ///< Velocities.
  const Force<T>* U = nullptr;  ///< PH* of each coordinate when it is eliminated, n columns.
  const T* L = nullptr;         ///< n×n, row by row: L above the diagonal, 1/d on it, nothing below.

  /// 1/d of coordinate j.
  const T& inverse(int j) const { return L[j * n + j]; }

  /// L⁻¹x: the innovations of the coordinates, one after the other.
  HingeVector<T> innovations(HingeVector<T> x) const {
    for (int j = n - 1; j > 0; --j) {
      for (int i = 0; i < j; ++i) {
        x[i] -= L[i * n + j] * x[j];
      }
    }
    return x;
  }
  /// L⁻*x.
  HingeVector<T> spread(HingeVector<T> x) const {
    for (int i = 0; i < n - 1; ++i) {
      for (int j = i + 1; j < n; ++j) {
        x[j] -= L[i * n + j] * x[i];
      }
    }
    return x;
  }
  /// D⁻¹x = L⁻*d⁻¹L⁻¹x.
  [[gnu::noinline]] HingeVector<T> d_inverse_times(HingeVector<T> x) const {
    x = innovations(x);
    for (int j = 0; j < n; ++j) {
      x[j] *= inverse(j);
    }
    return spread(x);
  }
  /// Gx = U d⁻¹L⁻¹x.
  [[gnu::noinline]] Force<T> gain_times(const HingeVector<T>& x) const {
    const HingeVector<T> epsilon = innovations(x);
    Force<T> out = Force<T>::zero();
    for (int j = n - 1; j >= 0; --j) {
      out += U[j] * (epsilon[j] * inverse(j));
    }
    return out;
  }
  /// G*m = L⁻*d⁻¹U*m.
  [[gnu::noinline]] HingeVector<T> gain_adjoint_times(const Motion<T>& m) const {
    HingeVector<T> out{};
    for (int j = 0; j < n; ++j) {
      out[j] = dot(U[j], m) * inverse(j);
    }
    return spread(out);
  }
  /// G, n columns: G_j = U_j/d_j − Σ_{i<j} G_i L(i,j).
  void gain(Force<T>* G) const {
    for (int j = 0; j < n; ++j) {
      G[j] = U[j] * inverse(j);
      for (int i = 0; i < j; ++i) {
        G[j] -= G[i] * L[i * n + j];
      }
    }
  }
  /// D = L d L*, n×n, from d on D's diagonal.
  void multiply(T* D) const {
    for (int i = 0; i < n; ++i) {  // d_i is needed last where D(i,i) is written
      for (int j = 0; j <= i; ++j) {
        T sum = i == j ? D[i * n + i] : L[j * n + i] * D[i * n + i];
        for (int m = i + 1; m < n; ++m) {
          sum += L[i * n + m] * L[j * n + m] * D[m * n + m];
        }
        D[i * n + j] = D[j * n + i] = sum;
      }
    }
  }
};

}  // namespace bunraku::kernels
