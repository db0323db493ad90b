/// @file
/// Columns of matrices, many at once: a block of columns is moved from a link's frame to its parent's in one go.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "bunraku/kernels/pack.hpp"
#include "bunraku/kernels/tree.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace bunraku::kernels {

/// One number for each of several columns: of one state a full register, of several states a pack for each column.
template <class S>
struct ColumnOf {
  using type = S;  ///< The numbers.
};
template <class T>
struct ColumnOf<Pack<T, 1>> {
  using type = Full<T>;
};
/// One number for each of several columns.
template <class S>
using Column = typename ColumnOf<S>::type;
/// Columns in one register.
template <class S>
inline constexpr int columns_per_register = Lanes<Column<S>>::count / Lanes<S>::count;

/// Numbers from the start of a register on: registers that straddle lines of a cache take twice as long to read.
template <class S>
struct RegisterArray {
  /// Room for at least so many numbers, zeros.
  explicit RegisterArray(std::size_t numbers)
      : registers((numbers + columns_per_register<S> - 1) / columns_per_register<S>) {}

  /// The numbers.
  BUNRAKU_INLINE S* data() { return reinterpret_cast<S*>(registers.data()); }
  /// Likewise.
  BUNRAKU_INLINE const S* data() const { return reinterpret_cast<const S*>(registers.data()); }

  std::vector<Column<S>> registers;  ///< They in whole registers.
};

/// The six components of so many columns, each a force.
template <class S>
struct Columns {
  Vec3<Column<S>> moment{};  ///< N.
  Vec3<Column<S>> force{};   ///< F.
};

/// All bits of one lane.
template <class S>
struct LaneMask {
  using T = NumberOf<S>;                                 ///< Of a lane.
  static constexpr int count = columns_per_register<S>;  ///< Lanes.
  BitsOf<T> bits[count][count] = {};                     ///< A row for each lane.

  /// The table.
  constexpr LaneMask() {
    for (int i = 0; i < count; ++i) {
      bits[i][i] = -1;
    }
  }
};
template <class S>
alignas(64) inline constexpr LaneMask<S> lane_masks{};

/// x with one lane replaced; writing one lane in memory would stall the read of all.
template <class S>
BUNRAKU_INLINE Column<S> blended(const Column<S>& x, int lane, const S& value) {
  if constexpr (columns_per_register<S> == 1) {
    return value;
  } else {
    using Bits = typename LooseOf<BitsOf<NumberOf<S>>, columns_per_register<S>>::type;
    const Mask<NumberOf<S>, columns_per_register<S>> mask{*reinterpret_cast<const Bits*>(lane_masks<S>.bits[lane])};
    return select(mask, Column<S>(value), x);
  }
}

/// The first half of a register's lanes, or the second.
template <bool second, class T, int W, std::size_t... lane>
BUNRAKU_INLINE Pack<T, W / 2> half_of(const Pack<T, W>& x, std::index_sequence<lane...>) {
  if constexpr (W == 2) {
    return {x[second ? 1 : 0]};
  } else {
    return {__builtin_shufflevector(x.r, x.r, (lane + (second ? W / 2 : 0))...)};
  }
}
template <bool second, class T, int W>
BUNRAKU_INLINE Pack<T, W / 2> half_of(const Pack<T, W>& x) {
  return half_of<second>(x, std::make_index_sequence<W / 2>{});
}

/// The sum of a register's lanes, half by half.
template <class T, int W>
BUNRAKU_INLINE Pack<T, 1> sum_of_lanes(const Pack<T, W>& x) {
  if constexpr (W == 1) {
    return x;
  } else {
    return sum_of_lanes(half_of<false>(x) + half_of<true>(x));
  }
}

/// Writes the first `count` < W numbers of a register, where there is no instruction for that half by half.
template <class T, int W>
BUNRAKU_INLINE void store_first(const Pack<T, W>& x, int count, T* to) {
#if defined(__AVX512F__)
  if constexpr (W * sizeof(T) == 64 && sizeof(T) == 8) {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << count) - 1), __builtin_bit_cast(__m512d, x.r));
    return;
  } else if constexpr (W * sizeof(T) == 64) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), __builtin_bit_cast(__m512, x.r));
    return;
  }
#endif
  if constexpr (W > 1) {
    constexpr int half = W / 2;
    if (count >= half) {
      half_of<false>(x).store(to);
      store_first(half_of<true>(x), count - half, to + half);
    } else {
      store_first(half_of<false>(x), count, to);
    }
  }
}
/// As many numbers side by side as a column has.
template <class S>
BUNRAKU_INLINE Column<S> load_column(const S* from) {
  if constexpr (columns_per_register<S> == 1) {
    return *from;
  } else {
    return Column<S>::load(reinterpret_cast<const NumberOf<S>*>(from));
  }
}
/// The other way.
template <class S>
BUNRAKU_INLINE void store_column(const Column<S>& x, S* to) {
  if constexpr (columns_per_register<S> == 1) {
    *to = x;
  } else {
    x.store(reinterpret_cast<NumberOf<S>*>(to));
  }
}
/// The same of the first `count` numbers.
template <class S>
BUNRAKU_INLINE void store_some(const Column<S>& x, int count, S* to) {
  if (count == columns_per_register<S>) {
    store_column(x, to);
  } else if constexpr (columns_per_register<S> > 1) {
    store_first(x, count, reinterpret_cast<NumberOf<S>*>(to));
  }
}

/// The sum over the columns of a register.
template <class S>
BUNRAKU_INLINE S total(const Column<S>& x) {
  if constexpr (columns_per_register<S> == 1) {
    return x;
  } else {
    return sum_of_lanes(x);
  }
}
/// Likewise of each component.
template <class S>
BUNRAKU_INLINE Vec3<S> total(const Vec3<Column<S>>& x) {
  return {total<S>(x.x), total<S>(x.y), total<S>(x.z)};
}

/// Where each coordinate has its lane. Coordinates are in the depth-first order of the links. Where a tree branches,
/// every child but the first starts a new register: a register then holds, besides a subtree's columns, at most columns
/// of its ancestors, which come later in an inward sweep, so that whole registers can be moved.
///
/// A cluster of coupled links comes as one: its coordinates first, then what hangs on each of its links, which starts a
/// new register unless it is the first. A link of a cluster has in its registers what hangs on it; the cluster's own
/// columns are put in at the parent.
struct BUNRAKU_API ColumnLayout {
  /// For the coordinates of all hinges, each link on its own, or for the user's, clusters as one; `lanes` columns a
  /// register. O(N).
  ColumnLayout(const Tree& tree, bool users, int lanes);
  ~ColumnLayout();
  ColumnLayout(const ColumnLayout&) = delete;
  ColumnLayout& operator=(const ColumnLayout&) = delete;
  ColumnLayout(ColumnLayout&&) = delete;
  ColumnLayout& operator=(ColumnLayout&&) = delete;

  // by links
  std::vector<int> first;           ///< First coordinate.
  std::vector<int> register_begin;  ///< The first register of the subtree …
  std::vector<int> register_end;    ///< … and one beyond the last.
  // by coordinates
  std::vector<int> user;            ///< Where it is among those of the matrix.
  std::vector<int> full;            ///< Where it is among those of all hinges.
  std::vector<int> slot;            ///< Its lane, counted through all registers.
  std::vector<int> cell;            ///< Where its first component is in an array of Columns.
  std::vector<std::ptrdiff_t> row;  ///< Where its row starts in a square matrix.
  std::vector<int> parent;          ///< The one before it inward, or −1.
  std::vector<int> coordinate_end;  ///< One beyond the last of its link's subtree.
  int registers = 0;                ///< How many there are.
  int depth = 0;                    ///< The most coordinates between one and the world.
  bool branches = false;            ///< Whether some coordinates are not on one path.
};

/// Registers from one to another.
struct Span {
  int begin = 0;  ///< The first.
  int end = 0;    ///< One beyond the last.
};

/// The registers of a link's subtree.
BUNRAKU_INLINE Span registers(const ColumnLayout& layout, int k) {
  return {layout.register_begin[static_cast<std::size_t>(k)], layout.register_end[static_cast<std::size_t>(k)]};
}

}  // namespace bunraku::kernels
