/// @file
/// Columns of matrices in SIMD lanes: a block of columns is moved from a link's frame to its parent's at once.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// Numbers side by side in one register of 32 bytes.
template <class T>
inline constexpr int lane_count = static_cast<int>(32 / sizeof(T));

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
/// One number for each of lane_count columns.
template <class T>
struct LanesOf {
  using type [[gnu::vector_size(32)]] = T;  ///< The register.
};
/// One number for each of lane_count columns.
template <class T>
using Lanes = typename LanesOf<T>::type;
/// The same anywhere in memory.
template <class T>
struct LooseOf {
  using type [[gnu::vector_size(32), gnu::aligned(sizeof(T))]] = T;  ///< The register.
};
/// The same anywhere in memory.
template <class T>
using Loose = typename LooseOf<T>::type;
#pragma GCC diagnostic pop

/// The six components of lane_count columns, each a force.
template <class T>
struct Columns {
  Vec3<Lanes<T>> moment{};  ///< N.
  Vec3<Lanes<T>> force{};   ///< F.
};

/// All bits of one lane.
template <class T>
struct LaneMask {
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;  ///< As wide as a number.
  Bits bits[lane_count<T>][lane_count<T>] = {};                                 ///< A row for each lane.

  /// The table.
  constexpr LaneMask() {
    for (int i = 0; i < lane_count<T>; ++i) {
      bits[i][i] = -1;
    }
  }
};
template <class T>
alignas(32) inline constexpr LaneMask<T> lane_masks{};

/// x with the lanes of a mask replaced; writing one lane in memory would stall the read of all.
template <class T>
BUNRAKU_INLINE Lanes<T> blended(const Lanes<T>& x, Loose<typename LaneMask<T>::Bits> mask, T value) {
  return mask ? Lanes<T>{} + value : x;
}

/// Where each coordinate has its lane. Coordinates are in the depth-first order of the links. Where a tree branches,
/// every child but the first starts a new register: a register then holds, besides a subtree's columns, at most columns
/// of its ancestors, which come later in an inward sweep, so that whole registers can be moved.
///
/// A cluster of coupled links comes as one: its coordinates first, then what hangs on each of its links, which starts a
/// new register unless it is the first. A link of a cluster has in its registers what hangs on it; the cluster's own
/// columns are put in at the parent.
struct ColumnLayout {
  /// For coordinates of all hinges, each link on its own. O(N).
  template <class T>
  explicit ColumnLayout(const Tree<T>& tree);
  /// For the user's coordinates, clusters as one. O(N).
  template <class T>
  ColumnLayout(const Tree<T>& tree, const Coordinates<T>& coordinates);

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
  int registers = 0;                ///< Of lane_count lanes.
  int depth = 0;                    ///< The most coordinates between one and the world.
  bool branches = false;            ///< Whether some coordinates are not on one path.

 private:
  template <class T>
  void build(const Tree<T>& tree, const Coordinates<T>* coordinates);
};

}  // namespace bunraku::kernels
