/// @file
/// From the caller's rows, a state each, to packs, a state a lane, and back.
#pragma once

#include <utility>

#include "bunraku/kernels/block_sweeps.hpp"
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

/// Where the rows of all lanes are, from number `first` of each on; lanes without a state have the last.
template <int W, class T>
BUNRAKU_INLINE void find_rows(const RowBlock<T>& rows, std::ptrdiff_t first, T* (&out)[W]) {
  const std::ptrdiff_t offset = first * rows.column_stride;
  if (rows.indices == nullptr && rows.count == W) [[likely]] {
    T* row = rows.data + rows.first * rows.row_stride + offset;
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      out[i] = row;
      row += rows.row_stride;
    }
    return;
  }
  for (int i = 0; i < W; ++i) {
    out[i] = rows.row(i < rows.count ? i : rows.count - 1) + offset;
  }
}

/// Asks for the rows of the next block while this one is computed: n numbers of each, to read or to write. Not where
/// they are few, which the processor sees coming, nor where they are so many that they would drive out the rest.
template <bool to_write, int W, class T>
BUNRAKU_INLINE void fetch_next(const RowBlock<T>& rows, T* const (&at_rows)[W], int n) {
  constexpr int line = 64 / static_cast<int>(sizeof(T));
  if (rows.indices != nullptr || n < 16 || n > 512) {
    return;
  }
  const std::ptrdiff_t ahead = W * rows.row_stride;
  for (int j = 0; j < n; j += line) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      __builtin_prefetch(at_rows[i] + ahead + j, to_write ? 1 : 0);
    }
  }
}

/// W numbers of each state, side by side in its row from `begin` on.
template <class T, int W>
BUNRAKU_INLINE void load_square(const T* const (&from)[W], int begin, Pack<T, W>* out) {
  Pack<T, W> block[W];
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    block[i] = Pack<T, W>::load(from[i] + begin);
  }
  transpose<T, W>(block);
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    out[begin + i] = block[i];
  }
}
/// The other way, for the first `count` lanes.
template <class T, int W>
BUNRAKU_INLINE void store_square(const Pack<T, W>* x, int begin, int count, T* const (&to)[W]) {
  Pack<T, W> block[W];
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    block[i] = x[begin + i];
  }
  transpose<T, W>(block);
  if (count == W) [[likely]] {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      block[i].store(to[i] + begin);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    block[i].store(to[i] + begin);
  }
}

/// n numbers of each state, from number `first` of its row on: out[j] has number first + j of all lanes.
template <class T, int W>
void load_rows(const RowBlock<const T>& rows, std::ptrdiff_t first, int n, Pack<T, W>* out) {
  const T* from[W];
  find_rows(rows, first, from);
  if constexpr (W > 1) {
    if (rows.column_stride == 1 && n >= W) [[likely]] {
      fetch_next<false>(rows, from, n);
      int j = 0;
      for (; j + W <= n; j += W) {
        load_square(from, j, out);
      }
      if (j < n) {  // the last ones together with some before them
        load_square(from, n - W, out);
      }
      return;
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < W; ++i) {
      out[j].set(i, from[i][j * rows.column_stride]);
    }
  }
}

/// The other way; rows of lanes without a state are not written.
template <class T, int W>
void store_rows(const Pack<T, W>* x, int n, const RowBlock<T>& rows, std::ptrdiff_t first) {
  T* to[W];
  find_rows(rows, first, to);
  const int count = rows.count;
  if constexpr (W > 1) {
    if (rows.column_stride == 1 && n >= W) [[likely]] {
      fetch_next<true>(rows, to, n);
      int j = 0;
      for (; j + W <= n; j += W) {
        store_square(x, j, count, to);
      }
      if (j < n) {
        store_square(x, n - W, count, to);
      }
      return;
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < count; ++i) {
      to[i][j * rows.column_stride] = x[j][i];
    }
  }
}

/// The lanes in which some of n numbers is not finite: zero times it is not zero.
template <class T, int W>
Mask<T, W> not_finite(const Pack<T, W>* x, int n) {
  Pack<T, W> sum(0);
  for (int j = 0; j < n; ++j) {
    sum += x[j] * Pack<T, W>(0);
  }
  return !(sum == Pack<T, W>(0));
}

}  // namespace bunraku::kernels
