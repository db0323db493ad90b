/// @file
/// Transposing a square of numbers in registers.
#pragma once

#include <utility>

#include "bunraku/kernels/pack.hpp"

namespace bunraku::kernels {

/// One step of a transposition: in pairs of packs `step` apart, the off-diagonal blocks of that size change places.
template <int step, class T, int W, std::size_t... lane>
BUNRAKU_INLINE void exchange(Pack<T, W>& a, Pack<T, W>& b, std::index_sequence<lane...>) {
  const auto x = a.r;
  const auto y = b.r;
  a.r = __builtin_shufflevector(x, y, ((lane & step) == 0 ? lane : lane - step + W)...);
  b.r = __builtin_shufflevector(x, y, ((lane & step) == 0 ? lane + step : lane + W)...);
}

/// Transposes W packs in registers: number j of pack i becomes number i of pack j.
template <class T, int W, int step = 1>
BUNRAKU_INLINE void transpose(Pack<T, W> (&x)[W]) {
  if constexpr (step < W) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      if ((i & step) == 0) {
        exchange<step>(x[i], x[i + step], std::make_index_sequence<W>{});
      }
    }
    transpose<T, W, 2 * step>(x);
  }
}

}  // namespace bunraku::kernels
