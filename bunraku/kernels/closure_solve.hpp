/// @file
/// The small system of closures, Λf̃ = r, in registers: templates on packs, see pack.hpp.
///
/// Rows K of Λ count as independent, the others j depend on them. What is eliminated are rows of [Λ_KK, Λ_Kj, r_K],
/// side by side: the elimination of Λ_KK = L D L* takes the other columns along, and back substitution makes C =
/// Λ_KK⁻¹Λ_Kj and f̃_K = Λ_KK⁻¹r_K of them. Rows of matrices are a whole number of registers apart, so that nothing is
/// left over at their ends; what is left of the diagonal means nothing.
#pragma once

#include <cstddef>

#include "bunraku/kernels/pack.hpp"

namespace bunraku::kernels {

/// The sum of all numbers in a register.
template <class P>
BUNRAKU_INLINE NumberOf<P> sum_of(const P& x) {
  NumberOf<P> out = x[0];
  for (int i = 1; i < Lanes<P>::count; ++i) {
    out += x[i];
  }
  return out;
}

/// x ← x − l y, whole registers from the one that holds `begin` on.
template <class P>
BUNRAKU_INLINE void subtract_scaled(NumberOf<P>* x, const NumberOf<P>* y, NumberOf<P> l, std::size_t begin,
                                    std::size_t end) {
  constexpr std::size_t width = Lanes<P>::count;
  const P factor(l);
  for (std::size_t i = begin - begin % width; i < end; i += width) {
    (P::load(x + i) - factor * P::load(y + i)).store(x + i);
  }
}

/// n rows of `columns` numbers, the first n of them symmetric, factored as LDL*: row j becomes D L*, with 1/D on the
/// diagonal, and L⁻¹ times the other columns. False where a pivot is not above `floor`; else `least` is at most the
/// least of them.
template <class P>
bool factor_closures(NumberOf<P>* rows, std::size_t stride, std::size_t n, std::size_t columns, NumberOf<P> floor,
                     NumberOf<P>& least) {
  using T = NumberOf<P>;
  for (std::size_t j = 0; j < n; ++j) {
    T* row = rows + j * stride;
    if (!(row[j] > floor)) {
      return false;
    }
    least = row[j] < least ? row[j] : least;
    const T inverse = T(1) / row[j];
    for (std::size_t i = j + 1; i < n; ++i) {
      subtract_scaled<P>(rows + i * stride, row, row[i] * inverse, i, columns);
    }
    row[j] = inverse;
  }
  return true;
}

/// The columns beyond the first n: Λ⁻¹ times what they were before factor_closures.
template <class P>
void substitute_closures(NumberOf<P>* rows, std::size_t stride, std::size_t n, std::size_t columns) {
  using T = NumberOf<P>;
  constexpr std::size_t width = Lanes<P>::count;
  for (std::size_t c = n - n % width; c < columns; c += width) {
    for (std::size_t i = n; i-- > 0;) {
      T* row = rows + i * stride;
      P sum = P::load(row + c);
      for (std::size_t k = i + 1; k < n; ++k) {
        sum -= P(row[k]) * P::load(rows + k * stride + c);
      }
      sum = sum * P(row[i]);
      if (c >= n) {
        sum.store(row + c);
      } else {  // what stands before column n belongs to the factors
        for (std::size_t lane = n - c; lane < width; ++lane) {
          row[c + lane] = sum[static_cast<int>(lane)];
        }
      }
    }
  }
}

/// The same of column n alone. The number that was found last comes last in each sum, so that the others need not wait.
template <class T>
BUNRAKU_INLINE void substitute_column(T* rows, std::size_t stride, std::size_t n) {
  for (std::size_t i = n; i-- > 0;) {
    T* row = rows + i * stride;
    T sum = row[n];
    T other = 0;
    std::size_t k = n;
    for (; k > i + 2; k -= 2) {
      sum -= row[k - 1] * rows[(k - 1) * stride + n];
      other -= row[k - 2] * rows[(k - 2) * stride + n];
    }
    sum += other;
    if (k == i + 2) {
      sum -= row[k - 1] * rows[(k - 1) * stride + n];
    }
    row[n] = sum * row[i];
  }
}

/// n rows of Λ that are all independent, factored as by factor_closures, number by number, with f = Λ⁻¹r.
template <int n, class T>
BUNRAKU_INLINE bool solve_few(const T* lambda, std::size_t stride, const T* r, T floor, T* rows, T* f, T& least) {
  T L[n][n];
  T x[n];
#pragma GCC unroll 4
  for (int i = 0; i < n; ++i) {
    x[i] = r[i];
#pragma GCC unroll 4
    for (int k = i; k < n; ++k) {
      L[i][k] = lambda[static_cast<std::size_t>(i) * stride + static_cast<std::size_t>(k)];
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < n; ++j) {
    if (!(L[j][j] > floor)) {
      return false;
    }
    least = L[j][j] < least ? L[j][j] : least;
    L[j][j] = T(1) / L[j][j];
#pragma GCC unroll 4
    for (int i = j + 1; i < n; ++i) {
      const T l = L[j][i] * L[j][j];
      x[i] -= l * x[j];
#pragma GCC unroll 4
      for (int k = i; k < n; ++k) {
        L[i][k] -= l * L[j][k];
      }
    }
  }
#pragma GCC unroll 4
  for (int j = n - 1; j >= 0; --j) {
#pragma GCC unroll 4
    for (int i = n - 1; i > j; --i) {
      x[j] -= L[j][i] * x[i];
    }
    f[j] = x[j] *= L[j][j];
#pragma GCC unroll 4
    for (int k = j; k < n; ++k) {
      rows[static_cast<std::size_t>(j) * stride + static_cast<std::size_t>(k)] = L[j][k];
    }
  }
  return true;
}

/// The same of any number of rows. Numbers of r and f go one by one: registers of them would be read across what was
/// just written.
template <class P, class T = NumberOf<P>>
bool solve_independent(const T* lambda, std::size_t stride, std::size_t n, const T* r, T floor, T* rows, T* f,
                       T& least) {
  switch (n) {
    case 1:
      return solve_few<1>(lambda, stride, r, floor, rows, f, least);
    case 2:
      return solve_few<2>(lambda, stride, r, floor, rows, f, least);
    case 3:
      return solve_few<3>(lambda, stride, r, floor, rows, f, least);
    case 4:
      return solve_few<4>(lambda, stride, r, floor, rows, f, least);
    default:
      break;
  }
  constexpr std::size_t width = Lanes<P>::count;
  for (std::size_t i = 0; i < n; ++i) {
    f[i] = r[i];
    for (std::size_t k = i - i % width; k < n; k += width) {
      P::load(lambda + i * stride + k).store(rows + i * stride + k);
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    T* row = rows + j * stride;
    if (!(row[j] > floor)) {
      return false;
    }
    least = row[j] < least ? row[j] : least;
    const T inverse = T(1) / row[j];
    for (std::size_t i = j + 1; i < n; ++i) {
      const T l = row[i] * inverse;
      f[i] -= l * f[j];
      subtract_scaled<P>(rows + i * stride, row, l, i, n);
    }
    row[j] = inverse;
  }
  for (std::size_t j = n; j-- > 0;) {
    f[j] *= rows[j * stride + j];
    for (std::size_t i = 0; i < j; ++i) {  // number j of all rows at once, which need not wait for each other
      f[i] -= rows[i * stride + j] * f[j];
    }
  }
  return true;
}

/// x ← Λ⁻¹x by the factors. Number by number: registers of x would be read across what was just written.
template <class P>
void solve_closures(const NumberOf<P>* rows, std::size_t stride, std::size_t n, NumberOf<P>* x) {
  using T = NumberOf<P>;
  for (std::size_t j = 0; j < n; ++j) {
    const T* row = rows + j * stride;
    const T l = x[j] * row[j];
    for (std::size_t i = j + 1; i < n; ++i) {
      x[i] -= l * row[i];
    }
  }
  for (std::size_t j = n; j-- > 0;) {
    const T* row = rows + j * stride;
    T sum = x[j];
    for (std::size_t i = n - 1; i > j; --i) {
      sum -= row[i] * x[i];
    }
    x[j] = sum * row[j];
  }
}

/// Adds to each number of `out` the square of a column of E W, weighted by D⁻¹: E has a row for each of `count`
/// coordinates, a number for each of m closure rows; W has m rows of `columns` numbers.
template <class P>
void add_squares(const NumberOf<P>* E, std::size_t E_stride, const NumberOf<P>* D_inverse, std::size_t count,
                 const NumberOf<P>* W, std::size_t W_stride, std::size_t m, std::size_t columns, NumberOf<P>* out) {
  using T = NumberOf<P>;
  constexpr std::size_t width = Lanes<P>::count;
  for (std::size_t c = 0; c < columns; c += width) {
    P sum = P::load(out + c);
    for (std::size_t v = 0; v < count; ++v) {
      const T* e = E + v * E_stride;
      P seen{};
      for (std::size_t k = 0; k < m; ++k) {
        seen += P(e[k]) * P::load(W + k * W_stride + c);
      }
      sum += P(D_inverse[v]) * (seen * seen);
    }
    sum.store(out + c);
  }
}

/// r ← r − E*D⁻¹E f, with E of `count` coordinates as above and m numbers in f and r: both factors by themselves, which
/// keeps what Λ squares away. There must be room for a register beyond f, of zeros, and beyond r.
template <class P>
void subtract_product(const NumberOf<P>* E, std::size_t stride, const NumberOf<P>* D_inverse, std::size_t count,
                      std::size_t m, const NumberOf<P>* f, NumberOf<P>* r) {
  constexpr std::size_t width = Lanes<P>::count;
  for (std::size_t v = 0; v < count; ++v) {
    const NumberOf<P>* e = E + v * stride;
    P along{};
    for (std::size_t k = 0; k < m; k += width) {
      along += P::load(e + k) * P::load(f + k);
    }
    const P weighted(sum_of(along) * D_inverse[v]);
    for (std::size_t k = 0; k < m; k += width) {
      (P::load(r + k) - weighted * P::load(e + k)).store(r + k);
    }
  }
}

/// The least f and y of those that do the same as f alone, where n more columns C depend on those of f: f − Cy, with
/// (I + C*C) y = C*f. G is scratch, n rows of n + 1 numbers and a register, `stride` apart as those of C are.
template <class P>
void shorten_forces(const NumberOf<P>* C, std::size_t stride, std::size_t kept, std::size_t n, NumberOf<P>* G,
                    NumberOf<P>* f, NumberOf<P>* y) {
  using T = NumberOf<P>;
  for (std::size_t i = 0; i < n; ++i) {
    T* row = G + i * stride;
    for (std::size_t j = 0; j < stride; ++j) {
      row[j] = T(0);
    }
    T sum = 0;
    for (std::size_t k = 0; k < kept; ++k) {
      const T* c = C + k * stride;
      subtract_scaled<P>(row, c, -c[i], 0, n);
      sum += c[i] * f[k];
    }
    row[i] += T(1);
    row[n] = sum;
  }
  T least = T(1);
  factor_closures<P>(G, stride, n, n + 1, T(0), least);
  substitute_column(G, stride, n);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = G[i * stride + n];
    for (std::size_t k = 0; k < kept; ++k) {
      f[k] -= C[k * stride + i] * y[i];
    }
  }
}

}  // namespace bunraku::kernels
