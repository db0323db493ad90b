/// @file
/// A plan run on a register of states at once, in the variant for the processor.
#pragma once

#include <memory>

#include "bunraku/kernels/block_sweeps.hpp"
#include "bunraku/operators/program/detail/layout.hpp"

namespace bunraku::operators {

/// An Evaluator of as many states as the kernels have in a block. All memory is allocated when it is made.
template <class T>
class BlockProgram {
 public:
  BlockProgram();
  virtual ~BlockProgram();
  BlockProgram(const BlockProgram&) = delete;
  BlockProgram& operator=(const BlockProgram&) = delete;
  BlockProgram(BlockProgram&&) = delete;
  BlockProgram& operator=(BlockProgram&&) = delete;

  /// States in a block.
  virtual int lanes() const = 0;
  /// The expression at the states that a block of kernels has loaded, applied to an x each; without rows of x, a
  /// stacked vector's numbers. Where a state is doubtful its results mean nothing: it is to be evaluated alone. What a
  /// user's hinge throws goes through.
  virtual kernels::BlockStatus run(const kernels::LoadedStates<T>& states, const kernels::RowBlock<const T>& x,
                                   const kernels::RowBlock<T>& out) = 0;

  /// Keeps the layout that it works on.
  void keep(std::shared_ptr<const EvaluatorLayout> layout);

 private:
  std::shared_ptr<const EvaluatorLayout> layout_;
};

extern template class BlockProgram<double>;
extern template class BlockProgram<float>;

/// A program for a layout that runs_in_lanes() allows. O(N) memory.
template <class T>
std::unique_ptr<BlockProgram<T>> make_block_program(std::shared_ptr<const EvaluatorLayout> layout);

}  // namespace bunraku::operators
