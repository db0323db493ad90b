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
#include "bunraku/dynamics/state.hpp"
#include "bunraku/kernels/coordinates.hpp"
#include "bunraku/kernels/inertia_rate.hpp"
#include "bunraku/kernels/sweeps.hpp"
#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/detail/matrices.hpp"

namespace bunraku::detail {

template <class T>
class PreparedPrograms;
template <class T>
struct DerivativeData;
template <class T>
struct StepData;
template <class T>
struct SensitivityData;

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
      if (has_mimics()) {
        std::copy(new_v.begin(), new_v.end(), own_v.begin());
        coordinates.spread_rates(new_v, spread_v);
      } else {
        std::copy(new_v.begin(), new_v.end(), spread_v.begin());
      }
    }
    spoil();
  }
  void set_checked(std::span<const T> new_q, std::span<const T> new_v);
  /// The state of another of the same model, to the last bit.
  void copy(const StateData& other);
  /// The velocities of all hinges.
  const std::vector<T>& v() const {
    if (!has_all_v) {
      coordinates.spread_shared(own_v, spread_v);
      has_all_v = true;
    }
    return spread_v;
  }
  /// The user's positions, quaternions of unit norm.
  const std::vector<T>& user_q() const { return has_own_q() ? own_q : q; }
  /// The user's velocities.
  const std::vector<T>& user_v() const { return has_mimics() ? own_v : spread_v; }
  /// Velocities of the user at rest.
  std::span<const T> rest() const { return at_rest; }

  /// Velocity coordinates of the user.
  int nv() const { return model.nv(); }
  /// Whether some hinge follows another, so that the user's coordinates are not those of all hinges.
  bool has_mimics() const { return coordinates.has_mimics; }
  /// The same of positions, which nodes of flexible bodies have in common.
  bool has_own_q() const { return !coordinates.mimics.empty(); }
  /// The user's numbers as those of all hinges, spread into `scratch` where some hinge follows another.
  const T* all_of(std::span<const T> x, std::vector<T>& scratch) const {
    if (!has_mimics()) {
      return x.data();
    }
    coordinates.spread(x, scratch);
    return scratch.data();
  }
  /// Calls f(*this, column of x, column of out) for every column of what the user gave.
  template <class F>
  void for_each_column(const MatrixInput<T>& x, const MatrixOutput<T>& out, F&& f);
  /// Calls f(numbers) to write an n×n matrix without gaps, which goes to `out`.
  template <class F>
  void write_square(const MatrixSpan<T>& out, F&& f);
  /// 𝓜⁻¹x for one x of the user's coordinates; x may be out. Throws Error where it is singular.
  void solve(std::span<const T> x, std::span<T> out);
  /// The same by what the last forward dynamics at this state has of it.
  void solve_by_factors_of_forward(std::span<const T> x, std::span<T> out);
  /// The same by a function of the sweeps that solves.
  void solve_by(void (kernels::Sweeps<T>::*how)(const T*, T*), std::span<const T> x, std::span<T> out);
  /// Gravity in T.
  Vec3<T> gravity() const;

  /// S*𝓜S, n×n. O(n²) beyond 𝓜 itself, and O(n) more for each hinge that follows another.
  void fold_mass(T* out);
  /// Adds the hinges' own forces to full torques, as what an actuator must overcome.
  void add_passive(std::span<T> torque) const {
    if (has_passive) {
      add_springs_and_friction(torque);
    }
  }
  void add_springs_and_friction(std::span<T> torque) const;
  /// Subtracts S* of the same from the torques of hinges that follow none, in a full array.
  void subtract_passive(std::span<T> torque) const {
    if (has_passive) {
      subtract_springs_and_friction(torque);
    }
  }
  void subtract_springs_and_friction(std::span<T> torque) const;
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
    has_all_v = !has_mimics();
    sweeps->set_state(q.data(), spread_v.data());
    blocks.set_state(q.data(), spread_v.data());
    ++version;
  }

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
  std::shared_ptr<PreparedPrograms<T>> prepared;      ///< The library's own, from the first use.
  std::shared_ptr<DerivativeData<T>> derivatives;     ///< What these keep here, from the first use.
  std::shared_ptr<SensitivityData<T>> sensitivities;  ///< Likewise.
  std::uint64_t version = 1;                          ///< Of q and v.
  Model model;
  PassiveForces passive;
  /// Whether a state may still be refused when it is spread over all hinges: a mimic's ratio or a user's normalize may
  /// lead beyond the range of numbers, or throw.
  bool may_refuse = false;
  bool has_passive = false;  ///< Whether some hinge has damping, friction or a spring that counts.
  kernels::Coordinates<T> coordinates;
  std::vector<T> q;                 ///< Full.
  mutable std::vector<T> spread_v;  ///< Full, of nodes of flexible bodies but for their leader's only …
  mutable bool has_all_v = false;   ///< … where this is so.
  kernels::Blocks<T> blocks;
  std::unique_ptr<kernels::Sweeps<T>> sweeps;
  std::vector<T> full;                                  ///< Scratch, full.
  std::vector<T> torques;                               ///< Scratch, full.
  std::vector<T> unit;                                  ///< Scratch, the user's coordinates.
  std::vector<Force<T>> force;                          ///< Scratch, one a body.
  std::vector<Motion<T>> motion;                        ///< Scratch, one a body.
  std::vector<T> full_mass;                             ///< With mimics.
  std::vector<T> numbers;                               ///< Scratch for what programs write of the bodies.
  std::vector<RigidInertia<T>> composite;               ///< Scratch, one a body.
  std::vector<kernels::InertiaRate<T>> composite_rate;  ///< Scratch, one a body.
  std::vector<Motion<T>> column_rate;                   ///< Scratch, full.
  std::vector<T> spread_x;                              ///< Scratch of solve() with mimics, full.
  std::vector<T> spread_solution;                       ///< Likewise.
  std::vector<T> own_q;                                 ///< With mimics that are not as their leaders: the user's.
  std::vector<T> own_v;                                 ///< With mimics: the user's.
  std::vector<T> at_rest;                               ///< Zeros, the user's coordinates.
  std::vector<T> square;  ///< Scratch, n×n from the first time that a block of a larger matrix is written to.
  std::vector<T> next_q;  ///< Scratch of set() where a state may be refused halfway, full.
  std::vector<T> next_v;  ///< Likewise.
  std::shared_ptr<StepData<T>> steps;  ///< What steps of trajectories keep here, from the first use.
};

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
