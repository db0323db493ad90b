/// @file
/// What a state holds: q and v in the coordinates of all hinges, the blocks, the tuned sweeps, scratch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "bunraku/dynamics/applied_force.hpp"
#include "bunraku/dynamics/detail/blocks.hpp"
#include "bunraku/dynamics/detail/inertia_rate.hpp"
#include "bunraku/dynamics/detail/matrices.hpp"
#include "bunraku/dynamics/state.hpp"
#include "bunraku/kernels/sweeps.hpp"
#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/hinge_set.hpp"

namespace bunraku::detail {

/// Which way a velocity goes: Coulomb's sign(v), zero at rest.
template <class T>
T direction(T v) {
  return v > T(0) ? T(1) : v < T(0) ? T(-1) : T(0);
}

/// "Full" arrays are over the coordinates of all hinges, mimics counted.
template <class T>
struct StateData {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

  StateData(Model m, PassiveForces p);
  StateData(const StateData&) = delete;  // the blocks and sweeps point into it
  StateData& operator=(const StateData&) = delete;

  /// A new state, checked but for what may_refuse says. Throws ArgumentError then, and leaves all as it was.
  void set(std::span<const T> new_q, std::span<const T> new_v) {
    if (may_refuse) {
      set_checked(new_q, new_v);
    } else {
      coordinates.spread_positions(new_q, q);
      std::copy(new_v.begin(), new_v.end(), v.begin());
    }
    spoil();
  }
  void set_checked(std::span<const T> new_q, std::span<const T> new_v);
  /// The state of another of the same model, to the last bit.
  void copy(const StateData& other);
  /// Velocities of the user at rest.
  std::span<const T> rest() const { return at_rest; }

  /// Velocity coordinates of the user.
  int nv() const { return model.nv(); }
  /// Whether some hinge follows another, so that the user's coordinates are not those of all hinges.
  bool has_mimics() const { return coordinates.has_mimics; }
  /// Calls f(dof, velocity index, stretch of its spring) for every velocity of all hinges.
  template <class F>
  void for_each_dof(F&& f) const;
  /// Calls f(*this, column of x, column of out) for every column of what the user gave.
  template <class F>
  void for_each_column(const MatrixInput<T>& x, const MatrixOutput<T>& out, F&& f);
  /// Calls f(numbers) to write an n×n matrix without gaps, which goes to `out`.
  template <class F>
  void write_square(const MatrixSpan<T>& out, F&& f);
  /// 𝓜⁻¹x for one x of the user's coordinates; x may be out. Throws Error where it is singular.
  void solve(std::span<const T> x, std::span<T> out);
  /// Gravity in T.
  Vec3<T> gravity() const;

  /// The body whose hinge has that velocity coordinate of the user.
  const Body& owner(int velocity) const;
  /// S*𝓜S and its dense factor, for what has no sweeps over clusters yet. O(n³). Throws Error naming the hinge where it
  /// is singular.
  void need_factor();
  /// S*𝓜S, n×n. O(n²) beyond 𝓜 itself, and O(n) more for each hinge that follows another.
  void fold_mass(T* out);
  /// The same into `reduced_mass`.
  void fold_mass();
  /// Dense scratch for models with mimics.
  void make_room();
  /// Adds the hinges' own forces to full torques, as what an actuator must overcome.
  void add_passive(std::span<T> torque) const {
    if (has_passive) {
      add_springs_and_friction(torque);
    }
  }
  void add_springs_and_friction(std::span<T> torque) const;
  /// Energy in the springs.
  T spring_energy() const;

  /// α(k) = φ*(H*θ̈ + a) with θ̈ in `full`, outward.
  void sweep_accelerations(std::span<Motion<T>> out);
  /// The same of each body's B into `composite_rate`, where Ṁ = B + B*. Needs velocities.
  void sweep_composite_rates();
  /// Into `column_rate` for body k's hinge: the rate of H* seen from a frame that stands still where the body's is now,
  /// V × H* + dH*/dt. Needs velocities.
  void rate_columns(int k);

  /// Makes all stale that depends on q and v.
  void spoil() {
    sweeps.set_state(q.data(), v.data());
    blocks.set_state(q.data(), v.data());
    factored = false;
    ++version;
  }

  /// Throws Error naming a mimic hinge where there is one: D is not block diagonal then.
  void require_block_diagonal() const;
  /// hybrid_dynamics() without and with mimics; torques of free hinges and accelerations of prescribed ones are given.
  void hybrid_by_sweeps(const HingeSet& prescribed, std::span<T> acceleration, std::span<T> torque, Forces<T> forces);
  void hybrid_by_matrix(const HingeSet& prescribed, std::span<T> acceleration, std::span<T> torque, Forces<T> forces);

  /// Throws ArgumentError unless the forces are finite and act on bodies of the model.
  void check_forces(Forces<T> forces) const {
    if (!forces.empty()) {
      check_each(forces);
    }
  }
  void check_each(Forces<T> forces) const;
  /// Subtracts S*J*f from torques in the user's coordinates.
  void subtract_applied(Forces<T> forces, std::span<T> torque) {
    if (!forces.empty()) {
      subtract_each(forces, torque);
    }
  }
  void subtract_each(Forces<T> forces, std::span<T> torque);
  /// An applied force at its body's origin in its body's axes; zero on the world. Needs blocks' world poses.
  Force<T> at_body(const AppliedForce<T>& applied) const;

  std::vector<std::pair<std::weak_ptr<const void>, std::shared_ptr<void>>> programs;  ///< What programs keep here.
  std::uint64_t version = 1;                                                          ///< Of q and v.
  Model model;
  PassiveForces passive;
  /// Whether a state may still be refused when it is spread over all hinges: a mimic's ratio or a user's normalize may
  /// lead beyond the range of numbers, or throw.
  bool may_refuse = false;
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
  std::vector<ArticulatedInertia<T>> free_P;            ///< Scratch of hybrid_dynamics(), one a body.
  std::vector<Force<T>> free_U;                         ///< Scratch of hybrid_dynamics(), one a velocity.
  std::vector<T> free_L;                                ///< Scratch of hybrid_dynamics(), the blocks of all hinges.
  Matrix free_mass;                                     ///< Scratch of hybrid_dynamics() with mimics, n×n.
  std::vector<Mat6<T>> upsilon;                         ///< Scratch, one a body.
  std::vector<RigidInertia<T>> composite;               ///< Scratch, one a body.
  std::vector<kernels::InertiaRate<T>> composite_rate;  ///< Scratch, one a body.
  std::vector<Motion<T>> column_rate;                   ///< Scratch, full.
  std::vector<T> spread_x;                              ///< Scratch of solve() with mimics, full.
  std::vector<T> spread_solution;                       ///< Likewise.
  std::vector<T> own_q;                                 ///< With mimics: the user's, quaternions of unit norm.
  std::vector<T> own_v;                                 ///< With mimics: the user's.
  std::vector<T> at_rest;                               ///< Zeros, the user's coordinates.
  std::vector<T> square;  ///< Scratch, n×n from the first time that a block of a larger matrix is written to.
  std::vector<T> next_q;  ///< Scratch of set() where a state may be refused halfway, full.
  std::vector<T> next_v;  ///< Likewise.
};

template <class T>
template <class F>
void StateData<T>::for_each_dof(F&& f) const {
  std::array<double, max_hinge_positions> position{};
  std::array<double, max_hinge_velocities> stretch{};
  for (std::size_t k = 0; k < coordinates.slots.size(); ++k) {
    const Hinge& hinge = model.bodies()[k].hinge;
    const kernels::HingeSlot& slot = coordinates.slots[k];
    if (slot.nv == 0) {
      continue;
    }
    std::copy_n(q.begin() + slot.q, slot.nq, position.begin());
    hinge_difference(hinge, hinge.rest.data(), position.data(), stretch.data());
    for (int j = 0; j < slot.nv; ++j) {
      const auto at = static_cast<std::size_t>(j);
      f(hinge.dofs[at], static_cast<std::size_t>(slot.v) + at, stretch[at]);
    }
  }
}

template <class T>
template <class F>
void StateData<T>::for_each_column(const MatrixInput<T>& x, const MatrixOutput<T>& out, F&& f) {
  const auto columns = given_columns(x, nv(), "x");
  const auto results = wanted(out, columns.rows, columns.cols, "out");
  for (std::ptrdiff_t j = 0; j < columns.cols; ++j) {
    f(*this, columns.column(j), results.column(j));
  }
}

template <class T>
template <class F>
void StateData<T>::write_square(const MatrixSpan<T>& out, F&& f) {
  if (out.compact()) {
    f(out.data);
    return;
  }
  const auto n = static_cast<std::size_t>(nv());
  square.resize(n * n);
  f(square.data());
  for (std::size_t j = 0; j < n; ++j) {
    std::copy_n(square.begin() + static_cast<std::ptrdiff_t>(j * n), n,
                out.column(static_cast<std::ptrdiff_t>(j)).begin());
  }
}

}  // namespace bunraku::detail
