/// @file
/// The dynamics of many states at once: states side by side in SIMD registers, blocks of them on threads.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "bunraku/batch/executor.hpp"
#include "bunraku/batch/parameters.hpp"
#include "bunraku/batch/rollout.hpp"
#include "bunraku/batch/state_rows.hpp"
#include "bunraku/batch/status.hpp"
#include "bunraku/model/model.hpp"
#include "bunraku/model/nodes.hpp"
#include "bunraku/model/passive_forces.hpp"

namespace bunraku {

class Program;

namespace detail {
template <class T>
struct BatchData;
}  // namespace detail

/// How a batch is run.
struct BatchOptions {
  PassiveForces passive = PassiveForces::included;  ///< Whether damping, friction and springs act.
  int threads = 1;                                  ///< Threads of its own; 0: as many as there are cores.
  std::shared_ptr<Executor> executor{};             ///< In place of threads of its own; may serve several batches.
};

/// Many states of one model, in scalar T: `float` or `double`. Each function takes the numbers of all states as rows
/// (states × nq and so on: numpy's and Eigen's matrices, in place) and writes a row a state; matrices are row by row,
/// n×n numbers a state, all of them. Nothing is kept of the states from one call to the next.
///
/// A state with wrong numbers or a singular system does not stop the others: its outputs are NaN, all of them, and the
/// report says why; or_throw() makes an exception of it. The report is there until the next call. Wrong shapes are the
/// caller's mistake and throw ArgumentError before anything is computed. Rows to write share no numbers with rows to
/// read: a state may be computed twice.
///
/// `subset` runs the states of these indices alone, in the same rows; the others' outputs stay as they are. Results do
/// not depend on the number of threads, on the subset, or on a state's place in the batch, to the last bit; they agree
/// with those of BasicState to rounding. Nothing allocates after the first call of a size. Costs are those of the
/// functions of the same name of a state, a state. One batch may not be used by two threads at a time.
template <class T>
class BUNRAKU_API BasicBatch {
 public:
  using Subset = std::span<const std::ptrdiff_t>;  ///< Indices of states, each once; empty: all.
  using RowsIn = const StateRows<const T>&;        ///< Numbers to read.
  using RowsOut = const StateRows<T>&;             ///< Numbers to write.

  /// Throws ArgumentError for a number of threads below 0.
  explicit BasicBatch(Model model, BatchOptions options = {});
  ~BasicBatch();
  BasicBatch(BasicBatch&&) noexcept;             ///< Takes all over; the other is then of no use.
  BasicBatch& operator=(BasicBatch&&) noexcept;  ///< Takes all over; the other is then of no use.
  BasicBatch(const BasicBatch&) = delete;
  BasicBatch& operator=(const BasicBatch&) = delete;

  /// The model.
  const Model& model() const;
  /// Threads in use.
  int threads() const;
  /// How many states are in one register.
  int lanes() const;

  /// From now on the states have these parameters of their own; calls must then be of as many states. The numbers are
  /// folded now, and may go. O(states · N) memory. Throws ArgumentError for wrong shapes or a quaternion or number that
  /// is wrong, and then leaves all as it was.
  void set_parameters(const BatchParameters<T>& parameters);
  /// The model's own again.
  void clear_parameters();

  /// @name Dynamics
  /// @{
  /// T = 𝓜θ̈ + 𝓒 and passive forces: states × nv.
  const BatchReport& inverse_dynamics(RowsIn q, RowsIn v, RowsIn acceleration, RowsOut torque, Subset subset = {});
  /// θ̈ = 𝓜⁻¹(T − 𝓒): states × nv.
  const BatchReport& forward_dynamics(RowsIn q, RowsIn v, RowsIn torque, RowsOut acceleration, Subset subset = {});
  /// ∂T/∂q, ∂T/∂θ̇ and ∂T/∂θ̈ = 𝓜 of inverse_dynamics(), in tangent coordinates and with the derivatives of damping and
  /// springs, as of a state without forces from outside: states × nv² each. The first call makes room, O(nv²) a thread.
  const BatchReport& inverse_dynamics_derivatives(RowsIn q, RowsIn v, RowsIn acceleration, RowsOut dq, RowsOut dv,
                                                  RowsOut da, Subset subset = {});
  /// ∂θ̈/∂q = −𝓜⁻¹ ∂T/∂q, ∂θ̈/∂θ̇ = −𝓜⁻¹ ∂T/∂θ̇ and ∂θ̈/∂T = 𝓜⁻¹ of forward_dynamics(), likewise.
  const BatchReport& forward_dynamics_derivatives(RowsIn q, RowsIn v, RowsIn torque, RowsOut dq, RowsOut dv,
                                                  RowsOut dtau, Subset subset = {});
  /// (∂T/∂q)u + (∂T/∂θ̇)y + (∂T/∂θ̈)z for rates u, y, z of q, θ̇ and θ̈, of each state its own: states × nv. The first call
  /// of a product makes room, O(N) a thread.
  const BatchReport& inverse_dynamics_jvp(RowsIn q, RowsIn v, RowsIn acceleration, RowsIn q_rate, RowsIn v_rate,
                                          RowsIn a_rate, RowsOut torque_rate, Subset subset = {});
  /// (∂T/∂q)*λ, (∂T/∂θ̇)*λ and (∂T/∂θ̈)*λ, the gradients of λ·T for weights λ, likewise: states × nv each.
  const BatchReport& inverse_dynamics_vjp(RowsIn q, RowsIn v, RowsIn acceleration, RowsIn weight, RowsOut by_q,
                                          RowsOut by_v, RowsOut by_a, Subset subset = {});
  /// (∂θ̈/∂q)u + (∂θ̈/∂θ̇)y + 𝓜⁻¹x for rates u, y, x of q, θ̇ and T, likewise: states × nv.
  const BatchReport& forward_dynamics_jvp(RowsIn q, RowsIn v, RowsIn torque, RowsIn q_rate, RowsIn v_rate,
                                          RowsIn torque_rate, RowsOut acceleration_rate, Subset subset = {});
  /// (∂θ̈/∂q)*λ, (∂θ̈/∂θ̇)*λ and 𝓜⁻¹λ, the gradients of λ·θ̈, likewise: states × nv each.
  const BatchReport& forward_dynamics_vjp(RowsIn q, RowsIn v, RowsIn torque, RowsIn weight, RowsOut by_q, RowsOut by_v,
                                          RowsOut by_torque, Subset subset = {});
  /// 𝓒 with gravity: states × nv.
  const BatchReport& bias(RowsIn q, RowsIn v, RowsOut torque, Subset subset = {});
  /// Gravity's part alone: states × nv.
  const BatchReport& gravity_torques(RowsIn q, RowsOut torque, Subset subset = {});
  /// 𝓜: states × nv².
  const BatchReport& mass_matrix(RowsIn q, RowsOut out, Subset subset = {});
  /// 𝓜⁻¹: states × nv².
  const BatchReport& inverse_mass_matrix(RowsIn q, RowsOut out, Subset subset = {});
  /// 𝓜⁻¹x for as many x as there are in a row, one after the other: states × (nv · columns).
  const BatchReport& inverse_mass_times(RowsIn q, RowsIn x, RowsOut out, Subset subset = {});
  /// ln det 𝓜: states × 1.
  const BatchReport& log_det_mass(RowsIn q, RowsOut out, Subset subset = {});
  /// @}

  /// @name Kinematics and integrals
  /// @{
  /// The poses of all bodies in the world: states × 16 a body, 4×4 row by row.
  const BatchReport& poses(RowsIn q, RowsOut out, Subset subset = {});
  /// The pose of one node in the world: states × 16.
  const BatchReport& pose(RowsIn q, const NodeRef& node, RowsOut out, Subset subset = {});
  /// (ω, v) of all bodies at their origins, in world axes: states × 6 a body.
  const BatchReport& velocities(RowsIn q, RowsIn v, RowsOut out, Subset subset = {});
  /// The Jacobian of a node, angular over linear, row by row: states × 6 nv.
  const BatchReport& jacobian(RowsIn q, const NodeRef& node, Frame frame, RowsOut out, Subset subset = {});
  /// The centre of mass in the world: states × 3.
  const BatchReport& center_of_mass(RowsIn q, RowsOut out, Subset subset = {});
  /// Kinetic and potential energy, springs included: states × 2.
  const BatchReport& energy(RowsIn q, RowsIn v, RowsOut out, Subset subset = {});
  /// Momentum about the centre of mass in world axes, angular over linear: states × 6.
  const BatchReport& momentum(RowsIn q, RowsIn v, RowsOut out, Subset subset = {});
  /// @}

  /// Trajectories from (q, v), recorded into states × (records · nq) and states × (records · nv), record after record.
  /// A state that fails on the way is NaN from its start. O(steps · N) a state. Throws ArgumentError for wrong shapes
  /// or options.
  const BatchReport& rollout(RowsIn q, RowsIn v, const RolloutInput<T>& input, const RolloutOptions& options,
                             RowsOut out_q, RowsOut out_v, Subset subset = {});

  /// expression · x, one x a state: states × cols in, states × rows out; a stacked vector takes no x (`{}`), and
  /// without rows of v the states are at rest. The same plan and the same executor as of a single state, in SIMD
  /// registers; only where the plan forms inverses or roots of blocks or of a dense matrix, or has operators that
  /// functions of the user give, state by state, at the cost of single calls and with their allocations. With the first
  /// call of a program each thread takes O(N) room for it, for as long as there are both the batch and the program.
  /// Throws ArgumentError for a program of another model, and while states have parameters of their own.
  const BatchReport& apply(const Program& program, RowsIn q, RowsIn v, RowsIn x, RowsOut out, Subset subset = {});

  /// Calls progress(states done so far) now and then from the calling thread while a call runs, and at its end; what it
  /// throws ends the call, after the blocks under way, and is thrown on: outputs are then partly written, and the batch
  /// is as usable as before. None: an empty function.
  void set_progress(std::function<void(std::ptrdiff_t)> progress);

  /// For the library's own sources.
  detail::BatchData<T>& data() { return *data_; }

 private:
  std::unique_ptr<detail::BatchData<T>> data_;
};

extern template class BasicBatch<double>;
extern template class BasicBatch<float>;

/// Many states in double precision.
using Batch = BasicBatch<double>;

}  // namespace bunraku
