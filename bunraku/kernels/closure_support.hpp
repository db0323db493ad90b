/// @file
/// Where one closure acts on a tree, and what its unit forces come to there. All of it is plain numbers, as the kernels
/// of all variants read them.
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

/// A pose in plain numbers.
template <class T>
struct PlainPose {
  T rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  ///< Row by row.
  T translation[3] = {};

  /// From a pose.
  void set(const Transform<T>& X) {
    for (int i = 0; i < 9; ++i) {
      rotation[i] = X.rotation(i / 3, i % 3);
    }
    for (int i = 0; i < 3; ++i) {
      translation[i] = X.translation[i];
    }
  }
  /// As a pose.
  Transform<T> get() const {
    Mat3<T> turn;
    for (int i = 0; i < 9; ++i) {
      turn(i / 3, i % 3) = rotation[i];
    }
    return {Rotation<T>(turn), {translation[0], translation[1], translation[2]}};
  }
};

/// A node of a closure, and how it moves.
template <class T>
struct ClosureNode {
  int link = -1;           ///< That carries it; −1: the world.
  PlainPose<T> X_LN{};     ///< On the link; of the world, in the world.
  PlainPose<T> X_WN{};     ///< In the world.
  T velocity[6] = {};      ///< V in its own axes.
  T acceleration[3] = {};  ///< What it has beside its link's, in its axes; on the world gravity upward.
};

/// How the nodes of a closure move against each other, in a's axes.
template <class T>
struct ClosureRelation {
  PlainPose<T> X_AB{};  ///< Node b in node a.
  T apart[3] = {};      ///< Of their own accelerations, b's less a's.
  T asked[6] = {};      ///< Its part along N is the rate of a closure whose N is constant; see closure_rates.
};

/// A velocity that two closures have in common.
struct SharedCoordinate {
  int one = 0;  ///< Its place among the coordinates of the first.
  int two = 0;  ///< And of the second.
  int v = 0;    ///< Among those of all hinges.
};

/// The columns of A* of one closure on one tree. Memory is kept when it is made anew for another closure.
template <class T>
struct ClosureColumns {
  int rows = 0;  ///< Equations of the closure.
  /// The support, inward: from a's link and from b's to where the ways meet, and from there on to the world.
  std::vector<int> links;
  std::array<int, 2> ways{};             ///< Where in it the way from a ends, and that from b.
  std::vector<int> first;                ///< For each link: the place of its first coordinate in `coordinates`.
  std::vector<char> last;                ///< For each: whether it is in a cluster of which none comes after it.
  std::vector<int> coordinates;          ///< Velocities that move them; of clusters those that are followed.
  std::vector<int> hinges;               ///< Velocities of all hinges that the closure names itself.
  T reach2 = 0;                          ///< How far the links are from one another at most, squared; slides at 0.
  std::vector<RowNumbers<T>> of_hinges;  ///< For each of them: A_h*.

  std::array<bool, 2> acts{};            ///< Whether −N acts here, at node a, and N, at node b.
  std::array<PlainPose<T>, 2> acting{};  ///< a's axes at b's point on either's link: where they act.
  RowForces<T> N{};                      ///< The closure's directions, in a's axes at b's point.
  RowForces<T> N_of_link{};              ///< The same in the axes of a's link.
  bool general = false;                  ///< Whether BA* is given instead, as general rows have it.
  std::array<RowForces<T>, 2> given{};   ///< Then: at node a's and at node b's link, in their frames.

  std::vector<RowNumbers<T>> e;  ///< For each coordinate: HψBA* + …
  RowNumbers<T> acceleration{};  ///< e*D⁻¹ε + x*a, with gravity as the world's acceleration upward.
  RowNumbers<T> scale{};         ///< What e*D⁻¹e would be if nothing in it vanished by chance: never rounding alone.
  RowNumbers<T> inverse{};       ///< One over the root of that, over all trees that the closure acts on.

  /// A closure that acts on two links (−1: none) and on some velocities of all hinges. O(depth).
  void place(const Tree& tree, int equations, const std::array<int, 2>& on_links, std::span<const int> on_hinges);
};

/// What step D has of a closure.
template <class T>
struct ClosureTerms {
  RowNumbers<T> scale{};  ///< s of its rows.
  RowNumbers<T> right{};  ///< Their right side, scaled.
  RowNumbers<T> size{};   ///< How large the terms of that are, scaled.
};

/// Which directions N of a closure between two nodes nothing on its tree can violate: where all links between the nodes
/// move in one plane at any configuration, those out of it. `columns` has the links, X_LA node a on its own.
template <class T>
std::array<bool, max_closure_rows> idle_rows(const Tree& tree, const ClosureColumns<T>& columns,
                                             const Transform<T>& X_LA, bool a_on_world, std::span<const Force<T>> N);

/// Two closures that have velocities of one tree in common.
template <class T>
struct ClosurePair {
  const ClosureColumns<T>* one = nullptr;
  const ClosureColumns<T>* two = nullptr;
  std::size_t block = 0;  ///< Where in Λ their block begins.
  std::size_t first = 0;  ///< Where what they have in common begins.
  std::size_t count = 0;  ///< How many velocities that is.
};

extern template struct ClosureColumns<double>;
extern template struct ClosureColumns<float>;

}  // namespace bunraku::kernels
