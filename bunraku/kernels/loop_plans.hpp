/// @file
/// Loops as the tuned sweeps see them: what of their closures is the same at any state, in the links' frames, so that
/// X and θ̈_b follow from a state with all that is known of its hinges (loop_freedom.hpp). All of it is plain numbers,
/// as the kernels of all variants read them.
#pragma once

#include <array>
#include <vector>

#include "bunraku/kernels/closure_support.hpp"
#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// The most coordinates, velocities and equations of a cluster that is small enough for it.
inline constexpr int most_loop_numbers = 16;

/// A direction is free where what is left of its equations is less than this part of what they could be.
inline constexpr double free_below = 1e-9;
/// Equations that depend on each other where the loop is closed come apart as it opens: so much more than it does.
inline constexpr double gap_tells = 100;
/// Of a cluster far away from c's origin this part of the way counts as its size, above what rounding leaves of it.
inline constexpr double part_of_way = 1e-4;
/// What is that near to counting as nothing, either way, is looked at elsewhere: a factor of squares.
inline constexpr double doubt = 16;
/// Two rows are well apart where the square of the sine between them is more.
inline constexpr double least_angle = 1e-6;
/// What a tolerance of closing stands for in rates, which are of second order.
inline constexpr double looser_in_rates = 100;

/// A point on a link of a cluster.
struct LoopPoint {
  int place = -1;          ///< The link's among those of the cluster; −1: the base, or the world.
  Vec3<double> at{};       ///< On it.
  bool at_origin = false;  ///< Whether that is its frame's origin.
};

/// A closure in a cluster.
struct LoopTie {
  int closure = 0;                       ///< Of the model.
  bool hinges = false;                   ///< Whether it ties two coordinates; else two nodes by constant directions.
  int rows = 0;                          ///< Equations.
  int first = 0;                         ///< The first among those of the cluster.
  LoopPoint a{};                         ///< Where node a is.
  LoopPoint b{};                         ///< Where node b is.
  RowForces<double> N{};                 ///< Its directions, in the axes of a's link.
  RowNumbers<double> squared_moments{};  ///< |N|² of each of them, and zeros beyond.
  RowNumbers<double> squared_forces{};   ///< |F|², likewise.
  RowNumbers<double> sizes{};            ///< |N|², and ones beyond.
  bool apart = false;                    ///< Whether the nodes may be apart.
  int axes = 0;                          ///< How many axes of both nodes should be the same.
  std::array<Vec3<double>, 3> axes_a{};  ///< They on a's link.
  std::array<Vec3<double>, 3> axes_b{};  ///< And on b's.
  bool once = false;         ///< Whether each of the cluster's coordinates is moved by one hinge on the ways as it is.
  std::vector<int> way_a{};  ///< Places of the links from a's to the base.
  std::vector<int> way_b{};  ///< And from b's.
};

/// A cluster with loops.
struct LoopPlan {
  const CoupledLinks* links = nullptr;  ///< The tree's.
  int rows = 0;                         ///< Equations.
  std::vector<LoopTie> ties{};          ///< Its closures.
  std::vector<LoopPoint> points{};      ///< Whose distance from the first is its size.
};

/// All clusters with loops of a tree, or none where one is too large or has a closure that takes more.
std::vector<LoopPlan> loop_plans(const Tree& tree);

}  // namespace bunraku::kernels
