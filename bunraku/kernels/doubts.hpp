/// @file
/// Where some D of a state may be rounding of zero: the question of singular.hpp, asked of the hinges one by one.
#pragma once

#include <vector>

#include "bunraku/kernels/singular.hpp"
#include "bunraku/kernels/tree.hpp"

namespace bunraku::kernels {

/// What of a state the question needs, in plain numbers, and the question. It belongs to no variant of the kernels.
template <class T>
struct Doubts {
  /// Room for all, once.
  explicit Doubts(const Tree& t);
  ~Doubts();
  Doubts(const Doubts&) = delete;
  Doubts& operator=(const Doubts&) = delete;
  Doubts(Doubts&&) = delete;
  Doubts& operator=(Doubts&&) = delete;
  /// Throws Error where a D is rounding of zero, naming the outermost hinge of which that is so.
  void settle();

  std::vector<Motion<T>> H;              ///< Columns of H*.
  std::vector<Force<T>> U;               ///< Of each velocity.
  std::vector<T> D_inverse;              ///< Likewise.
  std::vector<T> L;                      ///< Of each cluster.
  std::vector<T> armature;               ///< Of each velocity.
  std::vector<RigidInertia<T>> inertia;  ///< Of each link.
  std::vector<Transform<T>> pose;        ///< Of each link in its parent.
  std::vector<T> basis;                  ///< X of each cluster with loops.
  const int* independent = nullptr;      ///< Columns of X in each of them.

 private:
  void settle_cluster(const CoupledLinks& c);
  std::size_t reduce(const CoupledLinks& c);
  const Hinge& hinge_of(const CoupledLinks& c, std::size_t j) const;

  const Tree* tree_;
  std::vector<RigidInertia<T>> composite_;
  std::vector<T> square_;    // D of a cluster
  std::vector<T> rounding_;  // of a cluster's coordinates
  std::vector<T> reduced_;   // of what its loops leave free
  std::vector<int> pivots_;  // likewise
};

}  // namespace bunraku::kernels
