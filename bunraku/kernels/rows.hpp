/// @file
/// From the caller's rows, a state each, to packs, a state a lane, and back.
#pragma once

#include <utility>

#include "bunraku/kernels/block_sweeps.hpp"
#include "bunraku/kernels/far_rows.hpp"
#include "bunraku/kernels/matrix_places.hpp"
#include "bunraku/kernels/pack.hpp"
#include "bunraku/kernels/transpose.hpp"

namespace bunraku::kernels {

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
  if (rows.indices != nullptr || n < 16 || n > (to_write ? 64 : 512)) {
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
/// The other way, to a block, state by state.
template <class T, int W>
BUNRAKU_INLINE void gather_square(const Pack<T, W>* x, int begin, Pack<T, W> (&block)[W]) {
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    block[i] = x[begin + i];
  }
  transpose<T, W>(block);
}
/// And to the rows of the first `count` lanes.
template <class T, int W>
BUNRAKU_INLINE void store_square(const Pack<T, W>* x, int begin, int count, T* const (&to)[W]) {
  Pack<T, W> block[W];
  gather_square(x, begin, block);
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

/// Whether rows of less than W numbers are one behind the other.
template <int W, class T>
BUNRAKU_INLINE bool is_narrow(const RowBlock<T>& rows, int n) {
  if constexpr (W > 2) {
    return n > 1 && n < W && rows.row_stride == n && rows.column_stride == 1 && rows.indices == nullptr &&
           rows.count == W;
  } else {
    return false;
  }
}

/// How many of W rows of n < W numbers, one behind the other, can be read or written W numbers at a time without going
/// beyond the last one.
template <int W>
BUNRAKU_INLINE int wide_rows(int n) {
  return ((W - 1) * n + n - W) / n + 1;
}

/// W rows of n < W numbers, one behind the other: with each come numbers of the next, which nobody looks at.
template <class T, int W>
[[gnu::noinline]] void load_narrow(const T* from, int n, Pack<T, W>* out) {
  const int wide = wide_rows<W>(n);
  Pack<T, W> block[W];
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    if (i < wide) {
      block[i] = Pack<T, W>::load(from);
    } else {
      block[i] = load_some<W>(from, n);
    }
    from += n;
  }
  transpose<T, W>(block);
#pragma GCC unroll 16
  for (int j = 0; j < W; ++j) {
    if (j < n) {
      out[j] = block[j];
    }
  }
}
/// The other way: what is written of a row into the next one is written over by that.
template <class T, int W>
[[gnu::noinline]] void store_narrow(const Pack<T, W>* x, int n, T* to) {
  const int wide = wide_rows<W>(n);
  Pack<T, W> block[W];
#pragma GCC unroll 16
  for (int j = 0; j < W; ++j) {
    if (j < n) {
      block[j] = x[j];
    }
  }
  transpose<T, W>(block);
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    if (i < wide) {
      block[i].store(to);
    } else {
      for (int j = 0; j < n; ++j) {
        to[j] = block[i][j];
      }
    }
    to += n;
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
    if (is_narrow<W>(rows, n)) {
      load_narrow(from[0], n, out);
      return;
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < W; ++i) {
      out[j].set(i, from[i][j * rows.column_stride]);
    }
  }
}

/// Whether rows of n numbers are written past the caches.
template <int W, class T>
BUNRAKU_INLINE bool is_streamed(const RowBlock<T>& rows, int n) {
  return W > 1 && rows.far && n >= 4 * FarRows<T, W>::line && rows.indices == nullptr && rows.count == W &&
         rows.column_stride == 1 && reinterpret_cast<std::uintptr_t>(rows.data) % sizeof(T) == 0;
}

/// n numbers to each state's row past the caches, from number `first` on: each(j, block) puts those from j on in a
/// block, state by state.
template <int W, class T, class F>
BUNRAKU_INLINE void stream_rows(const RowBlock<T>& rows, std::ptrdiff_t first, int n, F&& each) {
  FarRows<T, W> out;
  out.start(rows.data + rows.first * rows.row_stride + first, rows.row_stride, n);
  Pack<T, W> block[W];
  int next = out.lead();
  if (next > 0) {
    each(0, block);
    out.begin(block);
  }
  for (; next + W <= n; next += W) {
    each(next, block);
    out.put(block);
  }
  if (next < n) {  // the last ones together with some before them
    each(n - W, block);
  }
  out.finish(block, n - next);
}

/// The other way; rows of lanes without a state are not written.
template <class T, int W>
void store_rows(const Pack<T, W>* x, int n, const RowBlock<T>& rows, std::ptrdiff_t first) {
  T* to[W];
  find_rows(rows, first, to);
  const int count = rows.count;
  if constexpr (W > 1) {
    if (is_streamed<W>(rows, n)) {
      stream_rows<W>(rows, first, n,
                     [&](int j, Pack<T, W>(&block)[W]) BUNRAKU_INLINE_LAMBDA { gather_square(x, j, block); });
      return;
    }
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
    if (is_narrow<W>(rows, n)) {
      store_narrow(x, n, to[0]);
      return;
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < count; ++i) {
      to[i][j * rows.column_stride] = x[j][i];
    }
  }
}

/// W numbers of each state, those from `row` on of the first and so on.
template <class T, int W>
BUNRAKU_INLINE void store_apart(const Pack<T, W> (&block)[W], T* row, std::ptrdiff_t stride) {
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    block[i].store(row);
    row += stride;
  }
}

/// A group of W numbers of a matrix to a block, state by state: of each where it is, in numbers from x on.
template <class T, int W>
BUNRAKU_INLINE void gather_group(const T* x, const int* offset, bool empty, Pack<T, W> (&block)[W]) {
  if (empty) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      block[i] = Pack<T, W>();
    }
    return;
  }
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    block[i] = Pack<T, W>::load(x + offset[i]);
  }
  transpose<T, W>(block);
}

/// A matrix of n numbers to each state's row, from where a kernel has put them. Groups of zeros are written as such.
template <class T, int W>
void store_matrix(const Pack<T, W>* x, const MatrixPlaces& places, int n, const RowBlock<T>& rows) {
  const int* const source = places.source.data();
  if constexpr (W > 1) {
    const auto* const numbers = reinterpret_cast<const T*>(x);
    const int* const offset = places.offset.data();
    const std::uint8_t* empty = places.empty_from(0);
    const auto gather = [&](int j, Pack<T, W>(&block)[W])
                            BUNRAKU_INLINE_LAMBDA { gather_group(numbers, offset + j, *empty++ != 0, block); };
    if (is_streamed<W>(rows, n)) {
      stream_rows<W>(rows, 0, n, [&](int j, Pack<T, W>(&block)[W]) BUNRAKU_INLINE_LAMBDA {
        gather_group(numbers, offset + j, false, block);
      });
      return;
    }
    if (rows.indices == nullptr && rows.count == W && rows.column_stride == 1 && n >= W) [[likely]] {
      T* const to = rows.data + rows.first * rows.row_stride;
      for (int next = 0; next < n; next += W) {
        const int j = next + W <= n ? next : n - W;  // the last ones together with some before them
        Pack<T, W> block[W];
        gather(j, block);
        store_apart(block, to + j, rows.row_stride);
      }
      return;
    }
  }
  for (int i = 0; i < rows.count; ++i) {
    T* const to = rows.row(i);
    for (int j = 0; j < n; ++j) {
      to[j * rows.column_stride] = x[source[j]][i];
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
