/// @file
/// A matrix of some states on its way to memory beyond the caches, while that of the next ones is computed: either
/// takes about as long, and one waits for memory alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bunraku/kernels/rows.hpp"

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

/// Of W states.
template <class T, int W>
class LateMatrix {
 public:
  /// Whether it is for such rows of n numbers.
  static bool takes(const RowBlock<T>& rows, int n) { return is_line<T, W> && is_streamed<W>(rows, n); }

  /// From now on n numbers go to rows that it takes, like with store_matrix(). Before that finish() has been called.
  void start(const Pack<T, W>* x, const MatrixPlaces& places, int n, const RowBlock<T>& rows) {
    rows_.start(rows.data + rows.first * rows.row_stride, rows.row_stride, n);
    x_ = reinterpret_cast<const T*>(x);
    offset_ = places.offset.data();
    empty_ = places.empty_from(rows_.lead());
    numbers_ = n;
    groups_ = (n - rows_.lead()) / W;
    written_ = 0;
    if (rows_.lead() > 0) {
      Pack<T, W> block[W];
      gather_group(x_, offset_, false, block);
      rows_.begin(block);
    }
  }
  /// What is computed meanwhile is there up to `done` of `all`.
  BUNRAKU_INLINE void advance(std::ptrdiff_t done, std::ptrdiff_t all) {
    if (groups_ > 0) {
      write_to(static_cast<int>(groups_ * done / all));
    }
  }
  /// All of it is written, if anything is left.
  void finish() {
    if (groups_ == 0) {
      return;
    }
    write_to(groups_);
    Pack<T, W> block[W];
    gather_group(x_, offset_ + numbers_ - W, false, block);
    rows_.finish(block, numbers_ - rows_.lead() - groups_ * W);
    groups_ = 0;
  }

 private:
  [[gnu::noinline]] void write_to(int end) {
    for (; written_ < end; ++written_) {
      Pack<T, W> block[W];
      gather_group(x_, offset_ + rows_.lead() + written_ * W, empty_[written_] != 0, block);
      rows_.put(block);
    }
  }

  const T* x_ = nullptr;
  const int* offset_ = nullptr;
  const std::uint8_t* empty_ = nullptr;
  int numbers_ = 0;
  int groups_ = 0;  // whole ones; 0: nothing is under way
  int written_ = 0;
  FarRows<T, W> rows_;
};

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
