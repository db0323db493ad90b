/// @file
/// A plan run on a register of states in scalar S of this variant.
#pragma once

#include <vector>

#include "bunraku/kernels/rows.hpp"
#include "bunraku/operators/program/detail/block_program.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"

namespace bunraku::operators {

/// S is Pack<T, W> of this variant.
template <class S>
class BlockProgramOf final : public BlockProgram<kernels::NumberOf<S>> {
 public:
  using T = kernels::NumberOf<S>;  ///< Of a lane.

  BlockProgramOf(const EvaluatorLayout& layout, const T* doubts)
      : evaluator_(layout, doubts), x_(layout.plan->input == no_value ? 0 : at(layout.cols)) {}

  int lanes() const override { return kernels::Lanes<S>::count; }

  kernels::BlockStatus run(const kernels::LoadedStates<T>& states, const kernels::RowBlock<const T>& x,
                           const kernels::RowBlock<T>& out) override {
    kernels::BlockStatus status;
    const int cols = static_cast<int>(x_.size());
    kernels::load_rows(x, 0, cols, x_.data());
    status.not_finite = bits_of(kernels::not_finite(static_cast<const S*>(x_.data()), cols));
    evaluator_.set_state(packs(states.q), packs(states.v));
    evaluator_.set_given(Symbol::T_p, packs(states.passive));
    const S* y = evaluator_.result(x_.data());
    kernels::store_rows(y, evaluator_.rows(), out, 0);
    status.doubtful = bits_of(evaluator_.doubts());
    return status;
  }

 private:
  /// What one variant wrote as packs is read by the same variant.
  static const S* packs(const T* numbers) { return reinterpret_cast<const S*>(numbers); }

  Evaluator<S> evaluator_;
  std::vector<S> x_;
};

}  // namespace bunraku::operators
