/// @file
/// Where one closure acts on a tree, and what its unit forces come to there.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// Rows of a closure are handled side by side, so many numbers of each kind: a power of two.
inline constexpr int closure_lanes = 8;

/// A number for each row of a closure, and zeros.
template <class T>
struct alignas(closure_lanes * sizeof(T)) RowNumbers {
  T x[closure_lanes] = {};
};

/// A spatial force for each row of a closure: six components.
template <class T>
using RowForces = std::array<RowNumbers<T>, 6>;

/// Squares of a moment and of a force for each row of a closure.
template <class T>
struct RowSizes {
  RowNumbers<T> moment{};  ///< |N|².
  RowNumbers<T> force{};   ///< |F|².
};

/// Where unit forces act on a tree: their axes and point in the frame of a link. Plain numbers, as the kernels of all
/// variants read them.
template <class T>
struct ActingForces {
  int place = -1;      ///< Of the link among those of the support; −1: not on this tree.
  T rotation[9] = {};  ///< Row by row.
  T translation[3] = {};

  /// Sets the pose.
  void set(const Transform<T>& X) {
    for (int i = 0; i < 9; ++i) {
      rotation[i] = X.rotation(i / 3, i % 3);
    }
    for (int i = 0; i < 3; ++i) {
      translation[i] = X.translation[i];
    }
  }
};

/// The columns of A* of one closure on one tree. Memory is kept when it is made anew for another closure.
template <class T>
struct ClosureColumns {
  int rows = 0;                  ///< Equations of the closure.
  std::vector<int> links;        ///< The support: links that carry its nodes, and all inward of them; tips first.
  std::vector<int> up;           ///< For each: the place of its parent here, or −1 for the world.
  std::vector<int> first;        ///< For each: the place of its first coordinate in `coordinates`.
  std::vector<int> coordinates;  ///< Velocities that move them; of clusters those that are followed.
  std::vector<int> hinges;       ///< Velocities of all hinges that the closure names itself.
  std::vector<RowNumbers<T>> of_hinges;  ///< For each of them: A_h*.

  RowForces<T> N{};                            ///< The closure's directions, in a's axes at b's point.
  std::array<ActingForces<T>, 2> acting = {};  ///< Where −N acts, at node a, and N, at node b.
  /// For each link: what of BA* in its frame is not in N, to which ψ adds on the way inward. Zero again afterwards.
  std::vector<RowForces<T>> x;
  /// Of what comes together in x, before any of it cancels; at first of the two nodes' forces, one by one. Likewise.
  std::vector<RowSizes<T>> size;
  std::vector<RowNumbers<T>> e;  ///< For each coordinate: HψBA* + …
  RowForces<T> world{};          ///< x of the world.
  RowNumbers<T> acceleration{};  ///< e*D⁻¹ε + x*a, with gravity as the world's acceleration upward.
  RowNumbers<T> scale{};         ///< What e*D⁻¹e would be if nothing in it vanished by chance.

  /// A closure that acts on two links (−1: the world) and on some velocities of all hinges. O(depth).
  void place(const Tree& tree, int equations, std::span<const int> on_links, std::span<const int> on_hinges);
  /// The place of a link in `links`.
  int find(int link) const;
};

extern template struct ClosureColumns<double>;
extern template struct ClosureColumns<float>;

}  // namespace bunraku::kernels
