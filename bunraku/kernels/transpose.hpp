/// @file
/// Joining packs, and transposing a square of numbers in registers.
#pragma once

#include <utility>

#include "bunraku/kernels/pack.hpp"

namespace bunraku::kernels {

/// Two packs side by side.
template <class T, int W, std::size_t... lane>
BUNRAKU_INLINE Pack<T, 2 * W> joined_packs(const Pack<T, W>& a, const Pack<T, W>& b, std::index_sequence<lane...>) {
  if constexpr (W == 1) {
    return typename Pack<T, 2>::Register{a.r, b.r};
  } else {
    return Pack<T, 2 * W>(__builtin_shufflevector(a.r, b.r, lane...));
  }
}
/// The first n < W numbers of a pack, in registers alone: what is written number by number cannot be read at once.
template <int W, class T>
BUNRAKU_INLINE Pack<T, W> load_some(const T* from, int n) {
  if constexpr (W == 1) {
    return Pack<T, 1>();
  } else {
    constexpr int half = W / 2;
    const Pack<T, half> first = n >= half ? Pack<T, half>::load(from) : load_some<half>(from, n);
    const Pack<T, half> second = n > half ? load_some<half>(from + half, n - half) : Pack<T, half>();
    return joined_packs(first, second, std::make_index_sequence<W>{});
  }
}

/// The first n numbers of a pack, likewise.
template <int W, class T>
BUNRAKU_INLINE Pack<T, W> first_numbers(const T* from, int n) {
  return n == W ? Pack<T, W>::load(from) : load_some<W>(from, n);
}

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
