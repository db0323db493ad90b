/// @file
/// Factors of the small Λ of closures, in registers: templates on packs, see pack.hpp.
#pragma once

#include <cstddef>

#include "bunraku/kernels/pack.hpp"

namespace bunraku::kernels {

/// x ← x − l y from one place to another.
template <class P>
BUNRAKU_INLINE void subtract_scaled(NumberOf<P>* x, const NumberOf<P>* y, NumberOf<P> l, std::size_t begin,
                                    std::size_t end) {
  constexpr std::size_t width = Lanes<P>::count;
  const P factor(l);
  for (; begin + width <= end; begin += width) {
    (P::load(x + begin) - factor * P::load(y + begin)).store(x + begin);
  }
  for (; begin < end; ++begin) {
    x[begin] -= l * y[begin];
  }
}

/// Rows of the m × m matrix Λ in an order, n of them, factored as LDL*: row j of the factor is D L*, with 1/D on the
/// diagonal. False where a pivot is not above `floor`; else `least` is at most the least of them.
template <class P>
bool factor_closures(const NumberOf<P>* lambda, std::size_t m, const int* order, std::size_t n, NumberOf<P> floor,
                     NumberOf<P>* factor, NumberOf<P>& least) {
  using T = NumberOf<P>;
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = lambda + static_cast<std::size_t>(order[i]) * m;
    for (std::size_t k = i; k < n; ++k) {
      factor[i * n + k] = row[order[k]];
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    T* row = factor + j * n;
    if (!(row[j] > floor)) {
      return false;
    }
    least = row[j] < least ? row[j] : least;
    const T inverse = T(1) / row[j];
    for (std::size_t i = j + 1; i < n; ++i) {
      subtract_scaled<P>(factor + i * n, row, row[i] * inverse, i, n);
    }
    row[j] = inverse;
  }
  return true;
}

/// x ← Λ⁻¹x by these factors.
template <class P>
void solve_closures(const NumberOf<P>* factor, std::size_t n, NumberOf<P>* x) {
  using T = NumberOf<P>;
  constexpr std::size_t width = Lanes<P>::count;
  for (std::size_t j = 0; j < n; ++j) {
    subtract_scaled<P>(x, factor + j * n, x[j] * factor[j * (n + 1)], j + 1, n);
  }
  for (std::size_t j = n; j-- > 0;) {
    const T* row = factor + j * n;
    P sums{};
    std::size_t i = j + 1;
    for (; i + width <= n; i += width) {
      sums += P::load(row + i) * P::load(x + i);
    }
    T sum = x[j];
    for (std::size_t lane = 0; lane < width; ++lane) {
      sum -= sums[static_cast<int>(lane)];
    }
    for (; i < n; ++i) {
      sum -= row[i] * x[i];
    }
    x[j] = sum * row[j];
  }
}

}  // namespace bunraku::kernels
