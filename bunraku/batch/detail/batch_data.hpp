/// @file
/// What a batch holds, and how a call runs over its blocks.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bunraku/batch/batch.hpp"
#include "bunraku/kernels/block_sweeps.hpp"

namespace bunraku::detail {

/// What programs keep in a worker; see batch_program.cpp.
template <class T>
class WorkerPrograms;

/// The sweeps of one worker.
template <class T>
struct BatchWorker {
  std::unique_ptr<kernels::BlockSweeps<T>> block{};   ///< Of a register of states.
  std::unique_ptr<kernels::BlockSweeps<T>> single{};  ///< Of a state that needs a closer look.
  std::vector<T> folded{};                            ///< Scratch: parameters of states from here and there.
  std::shared_ptr<WorkerPrograms<T>> programs{};      ///< From the first program on.
};

/// A call's states and what it does to a block of them.
template <class T>
struct BatchCall {
  std::ptrdiff_t states = 0;                 ///< All that there are.
  std::span<const std::ptrdiff_t> subset{};  ///< Those to run; empty: all.
  StateRows<const T> q{};                    ///< Positions.
  StateRows<const T> v{};                    ///< Velocities; none: at rest.
  std::array<StateRows<T>, 3> outputs{};     ///< What is NaN for a state that is not computed.
};

/// States of a call that a block holds.
struct BatchBlock {
  std::ptrdiff_t first = 0;                 ///< The first …
  const std::ptrdiff_t* indices = nullptr;  ///< … or which.
  int count = 0;                            ///< How many.
  bool far = false;                         ///< Whether what the call writes is more than caches hold.

  /// State of lane i.
  std::ptrdiff_t state(int i) const { return indices != nullptr ? indices[i] : first + i; }
  /// The block's part of rows.
  template <class X>
  kernels::RowBlock<X> of(const StateRows<X>& rows) const {
    return {rows.data(), rows.row_stride(), rows.column_stride(), first, indices, count, far};
  }
};

/// What a call does to a block, by reference: nothing is allocated for it. It is given the sweeps with the states
/// loaded, or the worker that has them and whether the block is one state that is run alone.
template <class T>
class BatchStep {
 public:
  template <class F>
  BatchStep(const F& f)  // NOLINT(google-explicit-constructor): a call's lambda
      : object_(&f), call_([](const void* object, BatchWorker<T>& worker, bool alone, const BatchBlock& block) {
          const F& step = *static_cast<const F*>(object);
          if constexpr (std::is_invocable_v<const F&, BatchWorker<T>&, bool, const BatchBlock&>) {
            return step(worker, alone, block);
          } else {
            return step(alone ? *worker.single : *worker.block, block);
          }
        }) {}
  kernels::BlockStatus operator()(BatchWorker<T>& worker, bool alone, const BatchBlock& block) const {
    return call_(object_, worker, alone, block);
  }

 private:
  const void* object_;
  kernels::BlockStatus (*call_)(const void*, BatchWorker<T>&, bool, const BatchBlock&);
};

/// See BasicBatch.
template <class T>
struct BatchData {
  using Step = BatchStep<T>;

  BatchData(Model m, BatchOptions o);

  /// Runs step on all blocks of a call, and makes the report.
  const BatchReport& run(const BatchCall<T>& call, const Step& step);

  /// Throws ArgumentError unless rows have this shape.
  static void check(const StateRows<const T>& rows, std::ptrdiff_t states, std::ptrdiff_t cols, std::string_view name);
  static void check(const StateRows<T>& rows, std::ptrdiff_t states, std::ptrdiff_t cols, std::string_view name);
  /// A call on q alone, or on q and v, with their shapes checked.
  BatchCall<T> call(const StateRows<const T>& q, std::span<const std::ptrdiff_t> subset) const;
  BatchCall<T> call(const StateRows<const T>& q, const StateRows<const T>& v,
                    std::span<const std::ptrdiff_t> subset) const;
  /// Adds an output to a call, at most three, with its shape checked.
  static void wants(BatchCall<T>& call, const StateRows<T>& out, std::ptrdiff_t cols, std::string_view name);

  Model model;
  BatchOptions options;
  bool model_passive = false;  ///< Whether some hinge of the model has damping, friction or a spring that counts.
  bool passive = false;        ///< Whether some hinge of a state has.
  std::shared_ptr<const kernels::Tree> tree;
  std::shared_ptr<Executor> executor;
  std::vector<BatchWorker<T>> workers;
  int lanes = 1;
  BatchReport report;
  std::function<void(std::ptrdiff_t)> progress;

  // parameters of the states' own
  kernels::Varied varied;
  std::ptrdiff_t parameter_states = 0;  ///< 0: none.
  std::vector<T> folded;                ///< Block after block.
  std::size_t block_numbers = 0;        ///< Of a block.

  /// Makes the workers for a tree.
  static std::vector<BatchWorker<T>> make_workers(const std::shared_ptr<const kernels::Tree>& tree, int count);

 private:
  struct Run;
  void run_block(Run& run, BatchWorker<T>& worker, const BatchBlock& block) const;
  void run_alone(Run& run, BatchWorker<T>& worker, std::ptrdiff_t state) const;
  void set_parameters(BatchWorker<T>& worker, const BatchBlock& block) const;
};

}  // namespace bunraku::detail
