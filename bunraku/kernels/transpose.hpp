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

/// Of each part of 128 bits of two packs the lower half, or the upper one, by turns `unit` numbers of either.
template <int unit, bool upper, class T, int W, std::size_t... lane>
BUNRAKU_INLINE Pack<T, W> interleaved(const Pack<T, W>& a, const Pack<T, W>& b, std::index_sequence<lane...>) {
  constexpr std::size_t part = 16 / sizeof(T);
  constexpr auto from = [](std::size_t i) {
    const std::size_t in_part = i % part;
    const std::size_t turn = in_part / unit;
    return turn % 2 * W + (i - in_part) + turn / 2 * unit + in_part % unit + (upper ? part / 2 : 0);
  };
  return Pack<T, W>(__builtin_shufflevector(a.r, b.r, from(lane)...));
}
/// Of two packs of four parts the first and third of each, or the second and fourth.
template <bool odd, class T, int W, std::size_t... lane>
BUNRAKU_INLINE Pack<T, W> alternate(const Pack<T, W>& a, const Pack<T, W>& b, std::index_sequence<lane...>) {
  constexpr std::size_t part = W / 4;
  constexpr auto from = [](std::size_t i) { return i / part * 2 * part + i % part + (odd ? part : 0); };
  return Pack<T, W>(__builtin_shufflevector(a.r, b.r, from(lane)...));
}

/// Transposes W packs in registers: number j of pack i becomes number i of pack j. First within parts of 128 bits, then
/// the parts, by what processors do in one instruction without a table.
template <class T, int W>
BUNRAKU_INLINE void transpose(Pack<T, W> (&x)[W]) {
  constexpr auto all = std::make_index_sequence<W>{};
  constexpr int part = 16 / static_cast<int>(sizeof(T));
  if constexpr (W == 1) {
    return;
  } else if constexpr (part == 2) {
#pragma GCC unroll 16
    for (int i = 0; i < W; i += 2) {
      exchange<1>(x[i], x[i + 1], all);
    }
  } else {
    static_assert(part == 4 && W >= part);
#pragma GCC unroll 16
    for (int i = 0; i < W; i += 4) {
      const Pack<T, W> a = interleaved<1, false>(x[i], x[i + 1], all);
      const Pack<T, W> b = interleaved<1, true>(x[i], x[i + 1], all);
      const Pack<T, W> c = interleaved<1, false>(x[i + 2], x[i + 3], all);
      const Pack<T, W> d = interleaved<1, true>(x[i + 2], x[i + 3], all);
      x[i] = interleaved<2, false>(a, c, all);
      x[i + 1] = interleaved<2, true>(a, c, all);
      x[i + 2] = interleaved<2, false>(b, d, all);
      x[i + 3] = interleaved<2, true>(b, d, all);
    }
  }
  if constexpr (W == 2 * part) {
#pragma GCC unroll 16
    for (int i = 0; i < part; ++i) {
      exchange<part>(x[i], x[i + part], all);
    }
  } else if constexpr (W == 4 * part) {
#pragma GCC unroll 16
    for (int i = 0; i < part; ++i) {
      const Pack<T, W> a = alternate<false>(x[i], x[i + part], all);
      const Pack<T, W> b = alternate<true>(x[i], x[i + part], all);
      const Pack<T, W> c = alternate<false>(x[i + 2 * part], x[i + 3 * part], all);
      const Pack<T, W> d = alternate<true>(x[i + 2 * part], x[i + 3 * part], all);
      x[i] = alternate<false>(a, c, all);
      x[i + part] = alternate<false>(b, d, all);
      x[i + 2 * part] = alternate<true>(a, c, all);
      x[i + 3 * part] = alternate<true>(b, d, all);
    }
  } else {
    static_assert(W == 1 || W <= 2 * part);
  }
}

}  // namespace bunraku::kernels
