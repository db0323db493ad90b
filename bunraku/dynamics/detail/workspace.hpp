/// @file
/// The scratch of the sweeps, and the sweeps themselves. All arrays are allocated once; index [k + 1] of a body array
/// is body k, [0] the world.
#pragma once

#include <span>
#include <vector>

#include "bunraku/dynamics/detail/tree.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"
#include "bunraku/spatial/cross.hpp"

namespace bunraku::kernels {

/// Sweeps over the hinges' own coordinates: mimics are folded in by the caller. Spatial accelerations in here are
/// Plücker's, V̇ in moving axes; what users get is turned into the papers' α.
template <class T>
class Workspace {
 public:
  /// O(N) memory.
  explicit Workspace(const Model& model);

  /// Positions and velocities of all hinges, quaternions of unit norm. Nothing is computed.
  void set_state(std::span<const T> q, std::span<const T> v);

  /// Outward: X and H* from q.
  void update_positions();
  void need_positions() {
    if (!positions_) {
      update_positions();
      positions_ = true;
    }
  }
  void need_velocities() {
    need_positions();
    if (!velocities_) {
      update_velocities();
      velocities_ = true;
    }
  }
  void need_articulated() {
    need_positions();
    if (!articulated_ok_) {
      update_articulated();
      articulated_ok_ = true;
    }
  }
  /// Outward: V(k) = φ*V(k+1) + H*θ̇ (RK92 6), and the bias a(k).
  void update_velocities();
  /// Inward: P, G, D by the Riccati recursion (RK92 34–41). Throws Error naming the hinge where D is singular.
  void update_articulated();
  /// Outward: the poses in the world.
  void update_world();

  /// T = Hφ[M φ*(H*θ̈ + a) + b] + armature (RK92 6–12). Without velocities: V, a and b are left out.
  void inverse(std::span<const T> acceleration, const Vec3<T>& gravity, bool with_velocity, std::span<T> torque);
  /// θ̈ from T by the articulated sweeps (RK92 §VII), gravity and velocities included.
  void forward(std::span<const T> torque, const Vec3<T>& gravity, std::span<T> acceleration);
  /// 𝓜⁻¹x = [I − HψK]* D⁻¹ [I − HψK] x, in two sweeps.
  void solve(std::span<const T> x, std::span<T> out);
  /// 𝓜 = HφMφ*H* + armature by composite bodies (RK92 28–33), nv×nv, column by column, both triangles.
  void mass_matrix(std::span<T> out);
  /// ln det 𝓜 = Σ ln det D.
  T log_determinant() const { return log_determinant_; }

  /// The pose of the user's body frame in the world; update_world() comes first.
  Transform<T> world_pose(int body) const;
  /// The pose of C in the world; update_world() comes first.
  const Transform<T>& world_frame(int body) const { return world_[static_cast<std::size_t>(body + 1)]; }
  /// V(k) at C, in C's axes; update_velocities() comes first.
  const Motion<T>& velocity(int body) const { return velocity_[static_cast<std::size_t>(body + 1)]; }
  /// Column j of H* of all hinges, at its body's C; update_positions() comes first.
  const Motion<T>& joint_map(int j) const { return joint_map_[static_cast<std::size_t>(j)]; }
  /// The model, folded.
  const Tree<T>& tree() const { return tree_; }

 private:
  void place_general(std::size_t k);

  bool positions_ = false, velocities_ = false, articulated_ok_ = false;
  Model model_;
  Tree<T> tree_;
  std::vector<T> q_, v_;                            // of all hinges
  std::vector<Transform<T>> local_;                 // per body
  std::vector<Transform<T>> world_;                 // [0] the world
  std::vector<Motion<T>> joint_map_;                // per velocity coordinate
  std::vector<Motion<T>> velocity_;                 // [0] the world
  std::vector<Motion<T>> bias_;                     // per body: V × H*θ̇ + (dH*/dt)θ̇
  std::vector<Motion<T>> acceleration_;             // [0] the world
  std::vector<Force<T>> force_;                     // [0] the world
  std::vector<RigidInertia<T>> composite_;          // [0] the world
  std::vector<ArticulatedInertia<T>> articulated_;  // [0] the world
  std::vector<Force<T>> gain_;                      // per velocity coordinate: P H*
  std::vector<T> d_inverse_;                        // D⁻¹ blocks, row by row
  std::vector<T> innovation_;                       // per velocity coordinate
  T log_determinant_{};
};

extern template class Workspace<double>;
extern template class Workspace<float>;

}  // namespace bunraku::kernels
