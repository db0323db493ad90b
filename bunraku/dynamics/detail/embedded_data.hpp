/// @file
/// What a state with loops holds: that of the open tree, the sweeps of the tree with the loops in it, their equations.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/embedded.hpp"
#include "bunraku/kernels/embedding.hpp"
#include "bunraku/kernels/loop_plans.hpp"

namespace bunraku::detail {

/// Velocities of the user that move together: of a cluster with loops, or one alone.
struct EmbeddedGroup {
  int cluster = -1;             ///< Among those with loops, or −1.
  std::size_t basis = 0;        ///< Where X of the cluster starts.
  std::vector<int> users = {};  ///< The velocities; X is over them in this order.
  std::size_t first = 0;        ///< Of ξ, at this state.
  std::size_t independent = 1;  ///< Of ξ, at this state.
};

template <class T>
struct EmbeddedData {
  EmbeddedData(const Model& model, std::vector<int> c, PassiveForces passive, double t);
  EmbeddedData(const EmbeddedData&) = delete;  // the sweeps point into it
  EmbeddedData& operator=(const EmbeddedData&) = delete;

  /// Velocities of the user.
  std::size_t nv() const { return static_cast<std::size_t>(open.model().nv()); }
  /// What the sweeps need of the loops at the state, checked. Throws ArgumentError where the loops are open.
  void need();
  /// The same with X and θ̈_b as users know them, and the equations.
  void need_equations();
  /// Which of ξ are of which group, after either.
  void count();
  /// The element of X at ξ's place j of a group, velocity i of it.
  T basis(const EmbeddedGroup& group, std::size_t i, std::size_t j) const {
    return group.cluster < 0 ? T(1) : static_cast<T>(embedding.basis()[group.basis + i * group.users.size() + j]);
  }
  /// What acts on the hinges besides bias torques, of all of them: T + T_p + J*f at those that follow none.
  void place_torques(std::span<const T> torque, Forces<T> forces);

  BasicState<T> open;
  std::vector<int> closures;
  std::vector<int> rows;
  double tolerance;
  std::shared_ptr<const kernels::Tree> tree;
  kernels::Embedding embedding;
  std::unique_ptr<kernels::Sweeps<T>> sweeps;
  std::vector<kernels::LoopPlan> plans;  ///< Of all clusters, or none.
  std::vector<int> free;                 ///< Of each cluster: columns of X, if by these.
  const int* independent = nullptr;      ///< Of each cluster: columns of X.
  std::uint64_t version = 0;             ///< Of the open state that the sweeps' X is of; 0: of none.
  std::uint64_t equations = 0;           ///< Of the open state that `embedding` is of.
  std::vector<EmbeddedGroup> groups;
  std::size_t degrees = 0;       ///< r.
  std::vector<T> old_q;          ///< Scratch of set().
  std::vector<T> old_v;          ///< Likewise.
  std::vector<T> full;           ///< Scratch, over all hinges.
  std::vector<T> full_solution;  ///< Likewise.
  std::vector<T> user;           ///< Scratch, over the user's velocities.
  std::vector<T> mass;           ///< Scratch, n×n from its first use.
  std::vector<T> product;        ///< Scratch, likewise.
  std::vector<double> residual;  ///< Scratch, over the user's velocities.
  std::vector<double> reaction;  ///< Scratch, over the equations.

 private:
  void check() const;
  void embed();
  void add_groups();
};

}  // namespace bunraku::detail
