/// @file
/// Where derivatives of the dynamics have what of each coordinate, and who is on one path with whom.
#pragma once

#include <vector>

#include "bunraku/kernels/columns.hpp"
#include "bunraku/kernels/slopes.hpp"
#include "bunraku/model/hinge.hpp"

namespace bunraku::kernels {

/// Whether H* of a hinge changes in its own axes.
inline bool has_changing_map(const Hinge& hinge) {
  return hinge.type == HingeType::universal || hinge.type == HingeType::custom ||
         (hinge.type == HingeType::modal && (!hinge.modal->rotation.empty() || !hinge.modal->shortening.empty()));
}

/// A register that has coordinates farther in than a link, other than that of the link's own first coordinate.
struct PathRegister {
  int index = 0;  ///< Which.
  int lanes = 0;  ///< How many such coordinates it has: its first ones.
};

/// A coordinate on one path with another.
struct Related {
  int column = 0;  ///< Where it is in 𝓜⁻¹: among the user's.
  int place = 0;   ///< Where slopes have the element in its row and the other's column.
};

/// A free body against the world, without armature.
struct FreeBody {
  int link = 0;   ///< Its link.
  int first = 0;  ///< Its first coordinate, depth first.
};

/// Lists for one model, made once. Where several states go at once elements of ∂T/∂q and ∂T/∂θ̇ come "in order": number
/// 0 is zero, and then, link by link, of each of their coordinates e come in its row the elements with the coordinates
/// of its own link, and then with each coordinate on the path to the base that in its row and that in its column, but
/// of a free body six of the one and then six of the other. So write_paths() writes them.
///
/// Immutable, and in an ordinary source: the variants hold no containers but of their own numbers.
struct DerivativeLayout {
  /// Of a tree, with the layouts of 𝓜 and of 𝓜⁻¹ and so many coordinates a register. O(n²).
  DerivativeLayout(const Tree& tree, const ColumnLayout& composite, const ColumnLayout& innovation, int lanes);
  ~DerivativeLayout();
  DerivativeLayout(const DerivativeLayout&) = delete;
  DerivativeLayout& operator=(const DerivativeLayout&) = delete;
  DerivativeLayout(DerivativeLayout&&) = delete;
  DerivativeLayout& operator=(DerivativeLayout&&) = delete;

  // by links
  std::vector<int> lane_of;     ///< The lane of its first coordinate, counted through all registers of 𝓜.
  std::vector<int> inside;      ///< Lanes of its first register that are farther in …
  std::vector<int> floating;    ///< … and the first lane of a free body that carries it, or −1.
  std::vector<int> path_begin;  ///< Where its own start in `path`; one more for the end.
  std::vector<int> map_begin;   ///< Where ∂H* starts among those of all links whose H* changes.
  // by registers
  std::vector<int> used;    ///< Lanes that it uses, from its first.
  std::vector<int> in_row;  ///< Whether its coordinates come one after the other: 0 or 1.

  std::vector<int> place;          ///< Of each lane: its coordinate among those of all hinges.
  std::vector<int> lane;           ///< The other way.
  std::vector<PathRegister> path;  ///< Of all links, the nearest first, but for a free body's.
  std::vector<int> changing;       ///< Links whose H* changes in their own axes.
  std::vector<int> several;        ///< Links with several coordinates, but for free bodies.
  std::vector<int> in_order;       ///< Where registers hold one coordinate: places in order, row by row; 0 where zero.
  int elements = 1;                ///< How many elements come in order; the first is zero.
  std::vector<Related> related;    ///< Of each of the user's coordinates, depth first: those on one path with it, too …
  std::vector<int> related_begin;  ///< … and where they start; one more for the end.
  std::vector<int> with_next;      ///< Likewise: whether the next one is on one path with the same others: 0 or 1.
  std::vector<int> of_free;        ///< Likewise: whether it is of a free body: 0 or 1.
  std::vector<FreeBody> free;      ///< All of them; none with mimics, for which their columns are not set apart.
  bool free_bare = true;           ///< Whether their hinges have neither damping nor springs.
  int map_columns = 0;             ///< Columns of all ∂H*.

 private:
  /// Finds `in_order`.
  void put_in_order(const Tree& tree);
};

}  // namespace bunraku::kernels
