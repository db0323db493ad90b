/// @file
/// What a closed system holds: members with their states, closures with their columns, and step D's scratch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <Eigen/SVD>

#include "bunraku/dynamics/closed_system.hpp"
#include "bunraku/dynamics/detail/closed_blocks.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/kernels/closure_support.hpp"

namespace bunraku::detail {

/// A tree of a closed system.
template <class T>
struct ClosedMember {
  explicit ClosedMember(const Model& model, Role r, PassiveForces passive);

  BasicState<T> state;
  Role role;
  bool present = true;
  int first_q = 0;              ///< Where its positions begin in stacked vectors.
  int first_v = 0;              ///< Where its velocities begin.
  std::vector<T> torque;        ///< Of all hinges, of the last inward sweeps.
  std::vector<T> given;         ///< Of all hinges, to compare with.
  std::vector<T> acceleration;  ///< Of all hinges.
  std::vector<int> slot;        ///< Of each velocity of all hinges: its place in a closure's columns, or −1.
  std::size_t first_pair = 0;   ///< Its first pair of closures.
  std::size_t pairs = 0;        ///< How many it has.
  int first_full = 0;           ///< Where its velocities begin among those of all hinges of all members.
  std::uint64_t version = 0;    ///< Of the state at the last inward sweeps; 0: none.
  bool biased = false;          ///< Which inward sweeps those were.
  bool touched = false;         ///< Whether some closure acts on it.
  bool swept = false;           ///< Whether the present inward sweeps were over it.
};

/// One side of a closure.
template <class T>
struct ClosedEnd {
  int member = 0;
  int link = -1;                   ///< The link that carries the node, or the hinge; −1: the world.
  kernels::ClosureNode<T> node{};  ///< Where it is on that link, and how it moves.
  int velocity = -1;               ///< Of a coupling: the velocity of all hinges.
  int position = -1;               ///< Of a coupling: the position of all hinges.
};

/// What the columns of a changeable closure are for unit forces in the six relative directions, in a's axes at b's
/// point.
template <class T>
struct RelativeColumns {
  std::vector<kernels::RowNumbers<T>> e;
  kernels::RowNumbers<T> acceleration{};
  kernels::RowNumbers<T> scale{};
};

/// A closure of a closed system.
template <class T>
struct ClosedClosure {
  Closure closure;
  bool exists = false;
  bool present = false;     ///< Whether it exists and is attached.
  bool changeable = false;  ///< Whether columns are kept for all six relative directions, so that a change is step D's.
  bool stale = true;        ///< Whether its columns must be made anew.
  std::uint64_t stamp = 0;  ///< Another one for each closure that was ever added, or changed.
  bool directed = false;    ///< Whether the columns know its directions.
  int rows = 0;
  int first = 0;  ///< Its first row among all.
  /// Rows that nothing can violate, as it is out of a mechanism's plane.
  std::array<bool, kernels::max_closure_rows> idle{};
  int active = 0;  ///< How many rows the columns have: all but those, where that may be.
  int solved = 0;  ///< The first of them among those that step D solves for.
  std::array<int, kernels::max_closure_rows> row{};  ///< Of each of them: its number in the closure.
  ClosedEnd<T> a;
  ClosedEnd<T> b;
  kernels::ClosureColumns<T> on_a;  ///< On a's member; on b's, too, where they are one.
  kernels::ClosureColumns<T> on_b;  ///< On b's member where that is another.
  kernels::ClosureEquations<T> equations;
  kernels::ClosureRelation<T> relation;  ///< Of its nodes.
  kernels::CouplingEquation<T> coupling;
  std::array<RelativeColumns<T>, 2> relative;        ///< Of a changeable closure, on a's and b's members.
  std::array<T, kernels::max_closure_rows> asked{};  ///< dŨ/dt.
  bool asks = false;                                 ///< Whether some of it is not zero.
  kernels::RowNumbers<T> rate{};                     ///< What it asks of accelerations beside that.
  kernels::RowNumbers<T> bias{};                     ///< What accelerations of nodes have beside the columns'.
  kernels::ClosureTerms<T> terms;                    ///< What step D has of it.
  bool direct_terms = false;                         ///< Whether these came with the columns.
  kernels::RowNumbers<T> force{};                    ///< f̃ of the active rows.
  std::array<bool, kernels::max_closure_rows> unique{};

  /// Whether both sides are on one member.
  bool within() const { return a.member == b.member; }
  /// Whether its directions are the same at any pose, and the columns know them.
  bool constant() const { return directed && equations.constant && !changeable; }
  /// Whether all that is before step D can be done at once, with velocities.
  bool direct() const { return within() && equations.constant && !changeable && !asks; }
};

/// Calls f(end, columns) for each side of a closure that is on a link, once for each member.
template <class T, class F>
void for_each_side(ClosedClosure<T>& c, F&& f) {
  if (c.within()) {
    if (c.a.link >= 0 || c.b.link >= 0) {
      f(c.a, c.on_a);
    }
    return;
  }
  if (c.a.link >= 0) {
    f(c.a, c.on_a);
  }
  if (c.b.link >= 0) {
    f(c.b, c.on_b);
  }
}

/// Pivots of a scaled Λ, or of what blocks leave of it, above this leave no doubt about its rank.
template <class T>
inline constexpr T certain_pivot = std::is_same_v<T, float> ? T(1e-2) : T(1e-8);

/// How often the parts of the work were done: what a change costs can be counted.
struct ClosedWork {
  long sweeps = 0;   ///< Inward sweeps over all bodies of a member.
  long columns = 0;  ///< Column sweeps of a closure on its support.
  long solves = 0;   ///< Solves of step D.
};

/// What derivatives keep in a closed system; see closed_derivatives.cpp.
template <class T>
struct ClosedDerivatives;

template <class T>
struct ClosedData {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Svd = Eigen::JacobiSVD<Matrix, Eigen::ColPivHouseholderQRPreconditioner>;

  std::vector<std::unique_ptr<ClosedMember<T>>> members;
  std::vector<std::unique_ptr<ClosedClosure<T>>> closures;
  double tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-9;
  int nq = 0;
  int nv = 0;
  int rows = 0;
  int solved = 0;  ///< Rows of step D.
  ClosureReport report;
  ClosedWork work;
  std::uint64_t stamps = 0;                                  ///< Of closures, so far.
  bool looks_around = true;                                  ///< Whether the rank is compared with that near by.
  std::vector<std::pair<std::uint64_t, int>> generic_ranks;  ///< Known ones, by which closures hold.

  std::size_t stride = 0;                         ///< From row to row of the matrices of step D.
  std::vector<kernels::ClosurePair<T>> pairs;     ///< Closures with velocities in common, member by member.
  std::vector<kernels::SharedCoordinate> common;  ///< Those velocities.
  bool paired = false;                            ///< Whether both are of the present closures.
  std::vector<T> lambda;                          ///< rows × rows, scaled, on and above the diagonal.
  std::vector<T> factor;                          ///< Of the kept rows LDL*, then C and f̃; see closure_solve.hpp.
  std::size_t kept = 0;                           ///< How many rows count as independent.
  std::size_t tangled = 0;                        ///< How many others depend on them: columns of C.
  bool plainly_named = false;                     ///< Whether the report is of these kept rows, with nothing tangled.
  std::vector<int> order;                         ///< All rows: kept, tangled, those that nothing can violate.
  std::vector<T> gathered;                        ///< 𝔟/s but for D^(−½): velocities of all hinges × rows.
  std::vector<T> scratch;                         ///< rows × rows.
  std::vector<T> shared;                          ///< Of each row: the share that null vectors have of it, squared.
  std::vector<T> scale;                           ///< s of each row.
  std::vector<T> right;                           ///< Right side of step D, scaled.
  std::vector<T> size;                            ///< Of each row: how large the terms of its right side are, scaled.
  std::vector<T> force;                           ///< f̃ of all rows, scaled, and a register of zeros.
  std::vector<T> residual;                        ///< Scratch: a number for each row, and a register's more.
  std::vector<T> left_over;                       ///< Likewise.
  std::vector<T> stacked;                         ///< 𝒩 numbers.
  Matrix columns;                                 ///< 𝔟/s, full coordinates × rows.
  Matrix Y;                                       ///< The closures' Jacobian, rows × 𝒩.
  Svd svd;
  ClosedBlocks<T> blocks;
  std::shared_ptr<ClosedDerivatives<T>> derivatives;  ///< From their first use on.

  ClosedMember<T>& member(int i) const;
  /// The member that an end of a closure is on.
  ClosedMember<T>& on(const ClosedEnd<T>& end) const { return *members[index(end.member)]; }
  /// Kernels that are of no tree in particular.
  const kernels::Sweeps<T>& kernel() const { return *members.front()->state.data().sweeps; }
  ClosedClosure<T>& at(int i) const;
  /// Numbers of rows and coordinates after something came or went.
  void count();
  /// Which rows step D solves for.
  void choose_rows();
  /// Where a side of a closure is.
  ClosedEnd<T> end(const Closure& closure, bool second, int i) const;
  /// Supports of a closure's columns.
  void place(ClosedClosure<T>& c);

  /// X_AB and, with velocities, V of the two nodes.
  kernels::ClosureMotion<T> motion(ClosedClosure<T>& c, bool velocities) const;
  /// Of all closures A* and gaps; or directions and rates, as columns need them, with A* of general rows alone.
  void evaluate(bool rates);
  /// Both of a coupling.
  void evaluate_coupling(ClosedClosure<T>& c) const;

  /// Steps A to F. `biased`: forward dynamics of torques in stacked coordinates; else M_C x.
  void run(std::span<const T> x, bool biased, std::span<T> out);
  /// Factors and innovations of all members, where they are stale.
  void sweep_inward(std::span<const T> x, bool biased);
  /// Columns of all closures on all members.
  void make_columns(bool biased);
  /// The right side of step D, how large its terms are, and the scales.
  void assemble_right();
  /// These and Λ.
  void assemble_small();
  /// f̃ by the factors of Λ of independent rows where there is no doubt about these, else by singular values.
  void solve_small();
  /// The former; false where there is doubt.
  bool factor_small();
  bool eliminate(T largest, T floor, T& least);
  bool eliminate_kept(T largest, T floor, T& least);
  void gather();
  bool others_depend(T largest);
  bool solve_kept(bool refined);
  void shorten_force();
  void mark_unique();
  void pair_closures();
  void name_redundant();
  double asked_for() const;
  void solve_by_values();
  void check_contradictions(int rank);
  /// Whether the rank is that of configurations near by.
  void judge_rank();
  void sweep_outward(std::span<T> out);
  /// Groups of closures for step D by blocks, and whether that is cheaper.
  void plan_blocks();
  /// Blocks in place of Λ, the right side and the scales.
  void assemble_blocks();
  /// f̃ by blocks, or with one Λ where the rank is in doubt; false where that is, too.
  bool solve_blocks();
  /// 𝔟/s.
  void fill_columns();
  /// Calls f(member, columns) for each tree that a closure acts on.
  template <class F>
  void for_each_part(ClosedClosure<T>& c, F&& f) {
    f(on(c.a), c.on_a);
    if (!c.within()) {
      f(on(c.b), c.on_b);
    }
  }
};

/// The rank at configurations near by: the largest of a few. O(assembly), in a system of its own.
template <class T>
int rank_near_by(const ClosedData<T>& d);

}  // namespace bunraku::detail
