/// @file
/// What a Dynamics object holds: the state in the coordinates of all hinges, the blocks, the tuned sweeps, scratch.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "bunraku/dynamics/detail/blocks.hpp"
#include "bunraku/dynamics/detail/inertia_rate.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/kernels/sweeps.hpp"
#include "bunraku/model/detail/arguments.hpp"

namespace bunraku {

/// "Full" arrays are over the coordinates of all hinges, mimics counted.
template <class T>
struct BasicDynamics<T>::State {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  State(Model m, PassiveForces p);

  /// Velocity coordinates of the user.
  int nv() const { return model.nv(); }
  /// Whether a state may still be refused when it is spread over all hinges: a mimic's ratio or a user's normalize may
  /// lead beyond the range of numbers, or throw.
  bool refusable() const { return coordinates.has_mimics || !coordinates.customs.empty(); }
  /// Whether some hinge follows another, so that D is not block diagonal.
  bool has_mimics() const { return coordinates.has_mimics; }
  /// Gravity in T.
  Vec3<T> gravity() const;

  /// The body whose hinge has that velocity coordinate of the user.
  const Body& owner(int velocity) const;
  /// S*𝓜S and its factor, for models with mimics. Throws Error naming the hinge where it is singular.
  void need_factor();
  /// S*𝓜S, n×n.
  void fold_mass();
  /// Adds the hinges' own forces to full torques, as what an actuator must overcome.
  void add_passive(std::span<T> torque) const;
  /// Energy in the springs.
  T spring_energy() const;

  /// α(k) = φ*(H*θ̈ + a) with θ̈ in `full`, outward.
  void sweep_accelerations(std::span<Motion<T>> out);
  /// The same of each body's B into `composite_rate`, where Ṁ = B + B*. Needs velocities.
  void sweep_composite_rates();
  /// Into `column_rate` for body k's hinge: the rate of H* seen from a frame that stands still where the body's is now,
  /// V × H* + dH*/dt. Needs velocities.
  void rate_columns(int k);

  /// Throws Error naming a mimic hinge where there is one: D is not block diagonal then.
  void require_block_diagonal() const;
  /// hybrid() without and with mimics; torques of free hinges and accelerations of prescribed ones are given.
  void hybrid_by_sweeps(std::span<const bool> prescribed, std::span<T> acceleration, std::span<T> torque,
                        Forces forces);
  void hybrid_by_matrix(std::span<const bool> prescribed, std::span<T> acceleration, std::span<T> torque,
                        Forces forces);
  /// operational_space_inverse() with mimics.
  void operational_space_by_factor(std::span<const Node> nodes, std::span<T> out);

  /// Throws ArgumentError unless the forces are finite and act on bodies of the model.
  void check_forces(Forces forces) const;
  /// Subtracts S*J*f from torques in the user's coordinates.
  void subtract_applied(Forces forces, std::span<T> torque);
  /// An applied force at its body's origin in its body's axes; zero on the world. Needs blocks' world poses.
  Force<T> at_body(const AppliedForce<T>& applied) const;

  Model model;
  PassiveForces passive;
  bool has_passive = false;  ///< Whether some hinge has damping, friction or a spring that counts.
  kernels::Coordinates<T> coordinates;
  std::vector<T> q;  ///< Full.
  std::vector<T> v;  ///< Full.
  kernels::Blocks<T> blocks;
  kernels::Sweeps<T> sweeps;
  std::vector<T> full;            ///< Scratch, full.
  std::vector<T> torques;         ///< Scratch, full.
  std::vector<T> unit;            ///< Scratch, the user's coordinates.
  std::vector<Force<T>> force;    ///< Scratch, one a body.
  std::vector<Motion<T>> motion;  ///< Scratch, one a body.
  std::vector<T> full_mass;       ///< With mimics.
  Matrix reduced_mass;            ///< With mimics.
  Matrix factor;                  ///< With mimics: L of 𝓜 = LL*, in the lower triangle.
  bool factored = false;
  std::vector<Motion<T>> zeta;                          ///< Scratch, one a body.
  std::vector<ArticulatedInertia<T>> free_P;            ///< Scratch of hybrid(), one a body.
  std::vector<Force<T>> free_U;                         ///< Scratch of hybrid(), one a velocity.
  std::vector<T> free_L;                                ///< Scratch of hybrid(), the blocks of all hinges.
  Matrix free_mass;                                     ///< Scratch of hybrid() with mimics, n×n.
  std::vector<Mat6<T>> upsilon;                         ///< Scratch, one a body.
  std::vector<RigidInertia<T>> composite;               ///< Scratch, one a body.
  std::vector<kernels::InertiaRate<T>> composite_rate;  ///< Scratch, one a body.
  std::vector<Motion<T>> column_rate;                   ///< Scratch, full.
  std::vector<T> next_q;  ///< Scratch of set_state() where a state may be refused halfway, full.
  std::vector<T> next_v;  ///< Likewise.
};

}  // namespace bunraku
