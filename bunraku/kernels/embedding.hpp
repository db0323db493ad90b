/// @file
/// What the loops of a tree leave free at a state: for each cluster with loops θ̇ = Xξ and θ̈ = Xξ̇ + θ̈_b over its own
/// coordinates, from the equations of its closures, Yθ̇ = 0 and Yθ̈ = U.
///
/// The closures of a cluster say nothing of the body c that it hangs on: motions are taken against c, as if it stood
/// still. All is in double precision, whatever the state is in, since rank is decided here, and depends on values, so
/// that it is for single states.
#pragma once

#include <vector>

#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/kernels/row_space.hpp"
#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// A closure that is embedded.
struct Loop {
  int closure = 0;    ///< Of the model.
  int cluster = -1;   ///< Among the clusters with loops, or −1: both nodes are on one link.
  int first_row = 0;  ///< Of its equations among those of all loops, in the order in which they were named.
  int rows = 0;       ///< Equations.
  int local_row = 0;  ///< The first among those of its cluster.
  double gap = 0;     ///< The most that it is open, as part of the cluster's size, or rad.
  double slip = 0;    ///< The most of Yθ̇ in a row, as part of what it could be at that speed and 1 rad/s more.
  ClosureEquations<double> equations{.keeps = true};  ///< Of its nodes, at the state.
};

/// A body of a cluster with loops.
struct LoopBody {
  int body = world;     ///< Its number.
  int parent = world;   ///< Its parent's.
  bool steady = false;  ///< Whether its hinge's H* is the same at any q, and stays where it was put.
};

/// A cluster with loops.
struct LoopCluster {
  int cluster = 0;                    ///< Of the tree.
  int base = world;                   ///< The body c.
  std::vector<LoopBody> bodies = {};  ///< On the way from c to the nodes, parent before child.
  std::vector<int> loops = {};        ///< In it.
  std::size_t coordinates = 0;        ///< m.
  std::size_t rows = 0;               ///< Of all its loops.
  std::size_t first = 0;              ///< Where its Y starts among all, row by row.
  std::size_t first_row = 0;          ///< Where its rows start among all.
  std::size_t basis = 0;              ///< Where its X starts, m×m row by row, of which the first columns count.
  const CoupledLinks* links = {};     ///< The tree's.
};

/// Where a body, or a node, is and moves against c.
struct LoopMotion {
  Transform<double> X = Transform<double>::identity();  ///< Its pose in c.
  Motion<double> V = Motion<double>::zero();            ///< Its velocity in its own axes.
  Motion<double> alpha = Motion<double>::zero();        ///< Its acceleration at θ̈ = 0, likewise.
};

/// See above. All memory is allocated when it is made.
class Embedding {
 public:
  /// Of the loops that the tree embeds, in the order in which they are named.
  Embedding(const Tree& tree, std::span<const int> closures);

  /// X, θ̈_b and what the loops lack, from positions and velocities of all hinges. O(Σ rows · m · rank). A direction
  /// counts as free where what is left of its equations is less than 1e-9 of them, or than a hundred times the gap.
  template <class T>
  void set_state(const T* q, const T* v);
  /// The smallest f̃ with Y*f̃ = ρ in all clusters; ρ over the user's velocities, f̃ over the rows of all loops. The size
  /// of a row counts in its own scale. O(Σ rows · m · rank).
  void forces(const double* rho, double* f);

  /// The loops.
  std::span<const Loop> loops() const { return loops_; }
  /// The clusters.
  std::span<const LoopCluster> clusters() const { return clusters_; }
  /// X of all clusters.
  std::span<const double> basis() const { return basis_; }
  /// θ̈_b over the velocities of all hinges, at those that follow none.
  std::span<const double> bias() const { return bias_; }
  /// Of each cluster with loops: columns of X.
  std::span<const int> independent() const { return independent_; }
  /// Equations of all loops.
  std::size_t rows() const { return scale_.size(); }
  /// The most by which Yθ̈_b differs from U, as part of what it could be; not small where θ̇ leads out of a singular
  /// pose in no direction that the loops allow, together with the loop where that is so.
  double contradiction(const Loop** loop) const;

 private:
  void add_cluster(const Tree& tree, int cluster);
  void move_bodies(const LoopCluster& c);
  void measure(const LoopCluster& c);
  LoopMotion node_motion(const Node& node) const;
  void add_columns(const LoopCluster& c, const Node& node, const Transform<double>& X, const Force<double>* on,
                   const Loop& loop);
  void add_nodes(const LoopCluster& c, Loop& loop);
  void add_coupling(const LoopCluster& c, Loop& loop);
  double scale_rows(const LoopCluster& c);
  void note_lack(const LoopCluster& c);
  void settle(const LoopCluster& c);

  const Tree* tree_;
  std::vector<Loop> loops_;
  std::vector<LoopCluster> clusters_;
  std::vector<double> q_;           // of all hinges
  std::vector<double> v_;           // likewise
  std::vector<LoopMotion> motion_;  // of bodies, and the world at last
  std::vector<Motion<double>> H_;   // columns of H*
  std::vector<double> Y_;           // of all clusters
  std::vector<double> U_;           // of all rows
  std::vector<double> scale_;       // what a row could be at unit speed
  std::vector<double> basis_;
  std::vector<double> bias_;
  std::vector<double> lacking_;  // of each cluster: see contradiction
  std::vector<int> worst_;       // of each cluster: the loop where that is so
  std::vector<int> independent_;
  double reach_ = 0;  // of the cluster at hand, m
  RowSpace row_space_;
  RowSpace column_space_;
  std::vector<double> rows_;      // scratch: scaled Y of a cluster, or its transpose
  std::vector<double> numbers_;   // scratch: of rows or coordinates
  std::vector<double> solution_;  // likewise
};

}  // namespace bunraku::kernels
