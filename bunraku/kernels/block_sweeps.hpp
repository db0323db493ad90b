/// @file
/// The sweeps of a register of states at once, in the variant for the processor, from and to the caller's rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bunraku/kernels/tree.hpp"
#include "bunraku/model/nodes.hpp"

namespace bunraku::kernels {

struct ColumnLayout;
struct DerivativeLayout;
struct MatrixPlaces;

/// Numbers of some states in the caller's memory, a row a state.
template <class T>
struct RowBlock {
  T* data = nullptr;                        ///< Of state 0; null: none.
  std::ptrdiff_t row_stride = 0;            ///< From one state to the next.
  std::ptrdiff_t column_stride = 1;         ///< From one number of a state to the next.
  std::ptrdiff_t first = 0;                 ///< The first state of the block …
  const std::ptrdiff_t* indices = nullptr;  ///< … or the states themselves.
  int count = 0;                            ///< States, at most as many as lanes.
  bool far = false;                         ///< Whether what the call writes is more than caches hold.

  /// The first number of the block's i-th state.
  T* row(int i) const { return data + (indices != nullptr ? indices[i] : first + i) * row_stride; }
};

/// What this thread has written to `far` rows comes, for all threads, before what it writes from now on.
void settle_rows();

/// A bit for each lane of a block.
using LaneBits = std::uint32_t;

/// What is to be said of which of a block's states.
struct BlockStatus {
  LaneBits not_finite = 0;      ///< A number is not finite.
  LaneBits not_normalized = 0;  ///< A quaternion is not of unit norm.
  LaneBits doubtful = 0;        ///< A D may be rounding of zero: the state needs a closer look, alone.
};

/// States that a block has loaded, for what else is computed of them: packs of lanes() numbers, number after number.
template <class T>
struct LoadedStates {
  const T* q = nullptr;        ///< Positions of all hinges.
  const T* v = nullptr;        ///< Velocities of the user.
  const T* passive = nullptr;  ///< Torques of the user's by springs, damping and friction.
};

/// Which of a model's numbers differ from state to state.
struct Varied {
  bool inertial = false;   ///< 10 a body.
  bool placement = false;  ///< X_PF, 7 a body.
  bool armature = false;   ///< nv.
  bool damping = false;    ///< nv.
  bool friction = false;   ///< nv.
  bool stiffness = false;  ///< nv.
  bool gravity = false;    ///< 3.
};

/// Such numbers in the caller's rows; null where they do not differ.
template <class T>
struct VariedRows {
  RowBlock<const T> inertial{};
  RowBlock<const T> placement{};
  RowBlock<const T> armature{};
  RowBlock<const T> damping{};
  RowBlock<const T> friction{};
  RowBlock<const T> stiffness{};
  RowBlock<const T> gravity{};
};

/// What drives a block's trajectories; see batch/rollout.hpp.
template <class T>
struct Drive {
  RowBlock<const T> torques{};      ///< `steps` × nv, or nv numbers a state; none: zero.
  bool torques_change = false;      ///< Whether there are nv numbers for each step.
  const T* gain = nullptr;          ///< nv × 2nv, row by row; none: no feedback.
  RowBlock<const T> reference_q{};  ///< nq numbers a state; stride 0: the same for all.
  RowBlock<const T> reference_v{};  ///< nv numbers a state; none: rest.
};

/// How a trajectory is made.
struct Course {
  double step = 0;           ///< s.
  int steps = 0;             ///< How many.
  int record_every = 1;      ///< States after each so many steps are recorded.
  bool runge_kutta = false;  ///< The classical Runge–Kutta method, or semi-implicit Euler.
};

/// The sweeps of up to lanes() states at once, with their scratch. All memory is allocated when it is made.
///
/// load() takes the states; what is computed of them goes to the caller's rows. Lanes without a state hold copies of
/// the last. Results of lanes with something to be said of them mean nothing; those of other lanes do not depend on
/// them. With one lane there is no doubt: a singular system throws Error, naming the hinge. What a user's hinge throws
/// goes through.
template <class T>
class BlockSweeps {
 public:
  BlockSweeps();
  virtual ~BlockSweeps();
  BlockSweeps(const BlockSweeps&) = delete;
  BlockSweeps& operator=(const BlockSweeps&) = delete;
  BlockSweeps(BlockSweeps&&) = delete;
  BlockSweeps& operator=(BlockSweeps&&) = delete;

  /// States in a block.
  virtual int lanes() const = 0;

  /// @name Parameters that differ from state to state
  /// @{
  /// Numbers that fold() writes for a block.
  virtual std::size_t folded_size(const Varied& varied) const = 0;
  /// Folds the parameters of a block's states for the sweeps.
  virtual BlockStatus fold(const Varied& varied, const VariedRows<T>& rows, T* numbers) = 0;
  /// From now on the states have the parameters that fold() wrote.
  virtual void set_folded(const Varied& varied, const T* numbers) = 0;
  /// The model's own parameters again.
  virtual void clear_folded() = 0;
  /// What D must be above to be certainly positive, of all velocities, for parameters of the states' own.
  virtual void set_doubts(const double* doubts) = 0;
  /// @}

  /// Ends what is under way: `far` rows of the blocks so far are written from here on, before what comes next. Not
  /// after each block: it waits until all of it is in memory.
  virtual void settle() = 0;

  /// Takes q and v; without rows of v at rest. Wrong states are told, and replaced by the neutral one.
  virtual BlockStatus load(const RowBlock<const T>& q, const RowBlock<const T>& v) = 0;
  /// What load() took, until the next call; the hinges' own forces act where `passive` says so.
  virtual LoadedStates<T> loaded(bool passive) = 0;

  /// @name Quantities of the states, over the user's coordinates, as in batch/batch.hpp
  /// @{
  virtual BlockStatus inverse_dynamics(const RowBlock<const T>& acceleration, bool passive,
                                       const RowBlock<T>& torque) = 0;
  virtual BlockStatus forward_dynamics(const RowBlock<const T>& torque, bool passive,
                                       const RowBlock<T>& acceleration) = 0;
  /// ∂T/∂q, ∂T/∂θ̇ and ∂T/∂θ̈; the first call makes room.
  virtual BlockStatus inverse_derivatives(const RowBlock<const T>& acceleration, bool passive, const RowBlock<T>& dq,
                                          const RowBlock<T>& dv, const RowBlock<T>& da) = 0;
  /// ∂θ̈/∂q, ∂θ̈/∂θ̇ and ∂θ̈/∂T; the first call makes room.
  virtual BlockStatus forward_derivatives(const RowBlock<const T>& torque, bool passive, const RowBlock<T>& dq,
                                          const RowBlock<T>& dv, const RowBlock<T>& dtau) = 0;
  /// Products of these with vectors; the first call of any makes room.
  virtual BlockStatus inverse_jvp(const RowBlock<const T>& acceleration, const RowBlock<const T>& q_rate,
                                  const RowBlock<const T>& v_rate, const RowBlock<const T>& a_rate, bool passive,
                                  const RowBlock<T>& torque_rate) = 0;
  virtual BlockStatus inverse_vjp(const RowBlock<const T>& acceleration, const RowBlock<const T>& weight, bool passive,
                                  const RowBlock<T>& by_q, const RowBlock<T>& by_v, const RowBlock<T>& by_a) = 0;
  virtual BlockStatus forward_jvp(const RowBlock<const T>& torque, const RowBlock<const T>& q_rate,
                                  const RowBlock<const T>& v_rate, const RowBlock<const T>& torque_rate, bool passive,
                                  const RowBlock<T>& acceleration_rate) = 0;
  virtual BlockStatus forward_vjp(const RowBlock<const T>& torque, const RowBlock<const T>& weight, bool passive,
                                  const RowBlock<T>& by_q, const RowBlock<T>& by_v, const RowBlock<T>& by_torque) = 0;
  virtual BlockStatus bias(const RowBlock<T>& torque) = 0;
  virtual BlockStatus gravity_torques(const RowBlock<T>& torque) = 0;
  virtual BlockStatus mass_matrix(const RowBlock<T>& out) = 0;
  virtual BlockStatus inverse_mass_matrix(const RowBlock<T>& out) = 0;
  virtual BlockStatus inverse_mass_times(const RowBlock<const T>& x, int columns, const RowBlock<T>& out) = 0;
  virtual BlockStatus log_determinant(const RowBlock<T>& out) = 0;
  virtual BlockStatus poses(const RowBlock<T>& out) = 0;
  virtual BlockStatus pose(const Place& node, const RowBlock<T>& out) = 0;
  virtual BlockStatus velocities(const RowBlock<T>& out) = 0;
  virtual BlockStatus jacobian(const Place& node, Frame frame, const RowBlock<T>& out) = 0;
  virtual BlockStatus center_of_mass(const RowBlock<T>& out) = 0;
  virtual BlockStatus energy(bool passive, const RowBlock<T>& out) = 0;
  virtual BlockStatus momentum(const RowBlock<T>& out) = 0;
  /// Trajectories from the states, which are used up.
  virtual BlockStatus rollout(const Drive<T>& drive, const Course& course, bool passive, const RowBlock<T>& q,
                              const RowBlock<T>& v) = 0;
  /// @}

  /// Keeps the tree that it works on.
  void keep(std::shared_ptr<const Tree> tree);

 protected:
  /// The lists of derivatives, made at the first call.
  const DerivativeLayout& derivative_layout(const ColumnLayout& composite, const ColumnLayout& innovation, int lanes);
  /// Where 𝓜 by paths is; made at the first call.
  const MatrixPlaces& mass_places();
  /// Where derivatives of torques over all hinges are; likewise.
  const MatrixPlaces& slope_places(const ColumnLayout& composite);
  /// The same in order, see DerivativeLayout; likewise.
  const MatrixPlaces& places_in_order(const DerivativeLayout& layout, bool symmetric);
  /// Where a matrix over the user's coordinates is that is column by column; likewise.
  const MatrixPlaces& column_places();

 private:
  std::shared_ptr<const Tree> tree_;
  std::unique_ptr<const DerivativeLayout> derivative_layout_;
  std::unique_ptr<const MatrixPlaces> mass_places_;
  std::unique_ptr<const MatrixPlaces> slope_places_;
  std::unique_ptr<const MatrixPlaces> in_order_;
  std::unique_ptr<const MatrixPlaces> symmetric_in_order_;
  std::unique_ptr<const MatrixPlaces> column_places_;
};

extern template class BlockSweeps<double>;
extern template class BlockSweeps<float>;

/// The sweeps of a register of states, or of one. O(N) memory.
template <class T>
std::unique_ptr<BlockSweeps<T>> make_block_sweeps(std::shared_ptr<const Tree> tree, bool single);

}  // namespace bunraku::kernels
