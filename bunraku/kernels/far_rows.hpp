/// @file
/// Long rows that are more than caches hold go to memory past them: an ordinary store first reads what it overwrites.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "bunraku/kernels/pack.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

/// Writes a line of a cache, which `to` starts, past the caches. Others see it after settle_rows().
template <class T>
BUNRAKU_INLINE void stream_line(const T* from, T* to) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
  for (int half = 0; half < 2; ++half) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + half,
                        _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from) + half));
  }
#elif defined(__x86_64__)
  for (int quarter = 0; quarter < 4; ++quarter) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to) + quarter,
                     _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(from) + quarter));
  }
#else
  std::copy_n(from, 64 / sizeof(T), to);
#endif
}

/// Rows of W states, written from their starts to their ends, W numbers of each at a time: whole lines are gathered in
/// the nearest cache, wherever rows start.
template <class T, int W>
class FarRows {
 public:
  static constexpr int line = 64 / static_cast<int>(sizeof(T));  ///< Numbers in a line.

  /// Where the first row is, and how far from one to the next.
  FarRows(T* to, std::ptrdiff_t row_stride) {
    for (int i = 0; i < W; ++i, to += row_stride) {
      foreign_[i] = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % line);
      to_[i] = to - foreign_[i];
      begin_[i] = line - foreign_[i];
    }
  }
  /// Of each state the last `count` numbers of W; those before them have been put already.
  BUNRAKU_INLINE void put(const Pack<T, W> (&block)[W], int count) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      block[i].store(numbers_[i] + end_ - (W - count));
    }
    end_ += count;
    if (end_ > size - W) {
      flush(false);
    }
  }
  /// What is left: the rows' ends.
  void finish() { flush(true); }

 private:
  static constexpr int size = 9 * line;  // numbers of a row: what was left at the last flush, and what came since

  [[gnu::noinline]] void flush(bool last) {
    for (int i = 0; i < W; ++i) {
      const T* from = numbers_[i] + begin_[i];
      const T* const end = numbers_[i] + end_;
      T* to = to_[i];
      if (foreign_[i] != 0 && end - from >= line) {
        std::copy(from + foreign_[i], from + line, to + foreign_[i]);
        foreign_[i] = 0;
        from += line;
        to += line;
      }
      for (; end - from >= line; from += line, to += line) {
        stream_line(from, to);
      }
      if (last) {
        std::copy(from + foreign_[i], end, to + foreign_[i]);
      } else {
        std::copy(end - line, end, numbers_[i]);
        begin_[i] = line - static_cast<int>(end - from);
        to_[i] = to;
      }
    }
    end_ = line;
  }

  alignas(64) T numbers_[W][size];
  T* to_[W];  // the line that begins with number begin_[i] of numbers_[i] …
  int begin_[W];
  int foreign_[W];  // … and how many of its first numbers are of the row before
  int end_ = line;  // beyond the last of the numbers
};

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
