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

/// The same of a register as wide as a line.
template <class T, int W>
BUNRAKU_INLINE void stream_register(const Pack<T, W>& from, T* to) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), __builtin_bit_cast(__m512i, from.r));
#else
  T numbers[W];
  from.store(numbers);
  stream_line(numbers, to);
#endif
}

/// Of two packs, one behind the other, W numbers from number W − k of the first on.
template <class T, int W>
class Joint {
 public:
  Joint() = default;
  /// For 0 ≤ k ≤ W.
  explicit Joint(int k) { set(k); }
  /// The same.
  void set(int k) {
#if defined(__AVX512F__)
    for (int i = 0; i < W; ++i) {
      lanes_[i] = (i - k) & (2 * W - 1);  // of the second pack and the first behind it
    }
#else
    k_ = k;
#endif
  }
  /// They.
  BUNRAKU_INLINE Pack<T, W> operator()(const Pack<T, W>& first, const Pack<T, W>& second) const {
#if defined(__AVX512F__)
    const auto lanes = _mm512_load_si512(lanes_);
    if constexpr (sizeof(T) == 8) {
      return made(
          _mm512_permutex2var_pd(__builtin_bit_cast(__m512d, second.r), lanes, __builtin_bit_cast(__m512d, first.r)));
    } else {
      return made(
          _mm512_permutex2var_ps(__builtin_bit_cast(__m512, second.r), lanes, __builtin_bit_cast(__m512, first.r)));
    }
#else
    T both[2 * W];
    first.store(both);
    second.store(both + W);
    return Pack<T, W>::load(both + W - k_);
#endif
  }

 private:
#if defined(__AVX512F__)
  template <class R>
  BUNRAKU_INLINE static Pack<T, W> made(const R& x) {
    return Pack<T, W>(__builtin_bit_cast(typename Pack<T, W>::Register, x));
  }
  alignas(64) BitsOf<T> lanes_[W] = {};
#else
  int k_ = 0;
#endif
};

/// Whether a register is as wide as a line.
template <class T, int W>
inline constexpr bool is_line = W * sizeof(T) == 64;

/// Rows of W states, written from their starts to their ends in whole lines, wherever rows start: first lead() numbers
/// of each where there are such, then W numbers of each at a time.
template <class T, int W, bool by_registers = is_line<T, W>>
class FarRows;

/// A line is made of two registers, and nothing but whole ones is read again: a line read out of what has just been
/// written in others would wait for that to reach the nearest cache, behind all lines that are on their way to memory.
template <class T, int W>
class FarRows<T, W, true> {
 public:
  static constexpr int line = W;  ///< Numbers in a line.

  /// Where the first row is, how far it is from one to the next, and how many numbers they have, two lines at least.
  void start(T* to, std::ptrdiff_t row_stride, int n) {
    one_behind_other_ = row_stride == n;
    const auto foreign = [](const T* row) {
      return static_cast<int>(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % line);
    };
    alike_ = row_stride % line == 0;
    lead_ = alike_ ? (line - foreign(to)) % line : 0;
    next_ = 0;
    for (int i = 0; i < W; ++i, to += row_stride) {
      foreign_[i] = foreign(to);
      to_[i] = to - foreign_[i];
      joint_[i].set(foreign_[i]);
    }
  }
  /// How many numbers begin() takes.
  int lead() const { return lead_; }
  /// Of each state the first numbers, W of them.
  [[gnu::noinline]] void begin(const Pack<T, W> (&block)[W]) {
    for (int i = 0; i < W; ++i) {
      first_[i] = block[i];
    }
    next_ = line;
  }
  /// Of each state the next W numbers.
  BUNRAKU_INLINE void put(const Pack<T, W> (&block)[W]) {
    const std::ptrdiff_t next = next_;
    next_ += line;
    if (alike_) {
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        stream_register(block[i], to_[i] + next);
      }
    } else if (next == 0) {
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        first_[i] = before_[i] = block[i];
      }
    } else {
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) {
        stream_register(joint_[i](before_[i], block[i]), to_[i] + next);
        before_[i] = block[i];
      }
    }
  }
  /// The rows' ends: the last W numbers of each state, of which `count` have not been put yet.
  [[gnu::noinline]] void finish(const Pack<T, W> (&block)[W], int count) {
    const Joint<T, W> last(count);
    for (int i = 0; i < W; ++i) {
      T* to = to_[i] + next_;
      int left = alike_ ? count : foreign_[i] + count;
      if (left >= W) {
        stream_register(joint_[i](before_[i], last(block[i], block[i])), to);
        to += line;
        left -= W;
      }
      if (left > 0 && one_behind_other_ && i + 1 < W) {
        stream_register(joint_[i + 1](block[i], first_[i + 1]), to);
      } else {
        store_part(block[i], W - left, left, to);
      }
      if (foreign_[i] == 0) {
        if (!alike_) {
          stream_register(first_[i], to_[i]);
        }
      } else if (i == 0 || !one_behind_other_) {
        store_part(first_[i], 0, W - foreign_[i], to_[i] + foreign_[i]);
      }
    }
  }

 private:
  /// Some numbers of a pack, from `from` on.
  static void store_part(const Pack<T, W>& x, int from, int count, T* to) {
    T numbers[W];
    x.store(numbers);
    std::copy_n(numbers + from, count, to);
  }

  Pack<T, W> first_[W];   // the first numbers, where some of them are not in a line of their own; …
  Pack<T, W> before_[W];  // … what has been put last, where lines are made of that …
  Joint<T, W> joint_[W];  // … and of what comes next, and how they are
  T* to_[W] = {};         // the first lines …
  int foreign_[W] = {};   // … and how many of their first numbers are not of the rows
  bool alike_ = true;     // whether these are the same of all rows: then lines are what is put
  int lead_ = 0;
  bool one_behind_other_ = false;
  std::ptrdiff_t next_ = 0;  // from the first lines to what is put next
};

/// Lines are gathered in the nearest cache.
template <class T, int W>
class FarRows<T, W, false> {
 public:
  static constexpr int line = 64 / static_cast<int>(sizeof(T));  ///< Numbers in a line.

  /// See above.
  void start(T* to, std::ptrdiff_t row_stride, int /*n*/) {
    end_ = line;
    for (int i = 0; i < W; ++i, to += row_stride) {
      foreign_[i] = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T) % line);
      to_[i] = to - foreign_[i];
      begin_[i] = line - foreign_[i];
    }
  }
  /// See above.
  int lead() const { return 0; }
  /// See above.
  void begin(const Pack<T, W> (&)[W]) {}
  /// See above.
  BUNRAKU_INLINE void put(const Pack<T, W> (&block)[W]) {
    take(block, W);
    if (end_ > size - W) {
      flush(false);
    }
  }
  /// See above.
  void finish(const Pack<T, W> (&block)[W], int count) {
    take(block, count);
    flush(true);
  }

 private:
  BUNRAKU_INLINE void take(const Pack<T, W> (&block)[W], int count) {
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) {
      block[i].store(numbers_[i] + end_ - (W - count));
    }
    end_ += count;
  }

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
