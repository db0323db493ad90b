/// @file
/// The blocks of the spatial operators in the user's frames: φ(p,k), H, M and a for every body, at its own origin
/// in its own axes. They are plain to read beside the papers; the tuned sweeps are in sweeps.hpp.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "bunraku/kernels/coordinates.hpp"
#include "bunraku/kernels/one_axis.hpp"
#include "bunraku/spatial/cross.hpp"

namespace bunraku::kernels {

/// What sweeps need of a body and its hinge, close together in memory.
struct Joint {
  int parent = world;                 ///< The body's parent.
  int first = 0;                      ///< The hinge's first velocity among all.
  int nv = 0;                         ///< Its velocities.
  HingeType type = HingeType::fixed;  ///< Its type.
};

/// Blocks of all bodies, fixed ones included, over the coordinates of all hinges, mimics counted. What is asked for by
/// need_… is computed once for a state. Indices: k a body, j a velocity of all hinges; `world` has a pose and no
/// motion.
template <class T>
class Blocks {
 public:
  /// O(N) memory. The coordinates must outlive this.
  Blocks(const Model& model, const Coordinates<T>& coordinates);

  /// A new state, in arrays that stay where they are until the next; nothing is computed.
  void set_state(const T* q, const T* v) {
    q_ = q;
    v_ = v;
    positions_ = world_poses_ = velocities_ = false;
  }

  /// X_PB and H* of every body (outward, each body by itself).
  void need_positions();
  /// X_WB = X_WP X_PB, outward.
  void need_world();
  /// V(k) = φ*(p,k)V(p) + H*θ̇ and a(k), outward (RK92 6; RK88 2.19, 2.31–2.32).
  void need_velocities();
  /// Number of bodies.
  int size() const { return static_cast<int>(X_PB_.size()); }
  /// The parent of body k.
  int parent(int k) const { return joints_[at(k)].parent; }
  /// Velocities of body k's hinge.
  int nv(int k) const { return joints_[at(k)].nv; }
  /// The first velocity of body k's hinge among all.
  int first(int k) const { return joints_[at(k)].first; }
  /// M(k).
  const RigidInertia<T>& M(int k) const { return M_[at(k)]; }

  /// φ(p,k) as a transform: the pose of body k in its parent. Needs positions.
  const Transform<T>& X_PB(int k) const { return X_PB_[at(k)]; }
  /// Column j of H*. Needs positions.
  const Motion<T>& H(int j) const { return H_[at(j)]; }
  /// The pose of body k in the world, or of the world. Needs world.
  const Transform<T>& X_WB(int k) const { return X_WB_[at(k + 1)]; }
  /// V(k), zero for the world. Needs velocities.
  const Motion<T>& V(int k) const { return V_[at(k + 1)]; }
  /// H*θ̇ of body k: its velocity against the parent. Needs velocities.
  const Motion<T>& relative(int k) const { return relative_[at(k)]; }
  /// (dH*/dt)θ̇ of body k with the derivative taken in the body's own axes. Needs velocities.
  const Motion<T>& map_rate(int k) const { return map_rate_[at(k)]; }
  /// a(k): α(k) = φ*(p,k)α(p) + H*θ̈ + a(k) for the inertial derivative α of V. Needs velocities.
  const Motion<T>& a(int k) const { return a_[at(k)]; }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void place(int k);
  Motion<T> bias(int k) const;  // (dH*/dt)θ̇ of body k

  Model model_;
  const Coordinates<T>& coordinates_;
  const T* q_ = nullptr;
  const T* v_ = nullptr;
  bool positions_ = false;
  bool world_poses_ = false;
  bool velocities_ = false;
  std::vector<RigidInertia<T>> M_;
  std::vector<Joint> joints_;
  std::vector<OneAxis> one_axis_;
  std::vector<Transform<T>> X_PB_;
  std::vector<Transform<T>> X_WB_;  // [0] is the world
  std::vector<Motion<T>> H_;
  std::vector<Motion<T>> V_;  // [0] is the world
  std::vector<Motion<T>> relative_;
  std::vector<Motion<T>> map_rate_;
  std::vector<Motion<T>> a_;
};

extern template class Blocks<double>;
extern template class Blocks<float>;

}  // namespace bunraku::kernels
