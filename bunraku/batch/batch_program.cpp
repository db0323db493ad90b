/// Programs of operator expressions on batches: in lanes by the executor of single states, or state by state.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bunraku/batch/detail/batch_data.hpp"
#include "bunraku/dynamics/detail/program_data.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/error.hpp"
#include "bunraku/operators/program/detail/block_program.hpp"

namespace bunraku {

namespace detail {

/// Programs with room for their values, and a state for those that must be evaluated alone.
template <class T>
class WorkerPrograms {
 public:
  WorkerPrograms(const Model& model, PassiveForces passive)
      : state_(model, passive), q_(static_cast<std::size_t>(model.nq())), v_(static_cast<std::size_t>(model.nv())) {}

  /// Takes room for a program, unless there is some.
  void make(const Program& program) {
    if (find(program) != nullptr) {
      return;
    }
    std::erase_if(entries_, [](const Entry& each) { return each.key.expired(); });
    const ProgramData& data = *program.data();
    Entry entry{.key = program.data()};
    if (operators::runs_in_lanes(*data.layout)) {
      entry.block = operators::make_block_program<T>(data.layout);
    }
    make_room(state_, program.data());
    x_.resize(std::max(x_.size(), static_cast<std::size_t>(program.cols())));
    out_.resize(std::max(out_.size(), static_cast<std::size_t>(program.rows())));
    entries_.push_back(std::move(entry));
  }
  /// The program in lanes, or null where it has steps that cannot.
  operators::BlockProgram<T>* block(const Program& program) { return find(program)->block.get(); }

  /// A program at one state, as of a single call.
  kernels::BlockStatus run_alone(const Program& program, const kernels::RowBlock<const T>& q,
                                 const kernels::RowBlock<const T>& v, const kernels::RowBlock<const T>& x,
                                 const kernels::RowBlock<T>& out) {
    const std::span<T> given(x_.data(), static_cast<std::size_t>(program.cols()));
    const std::span<T> result(out_.data(), static_cast<std::size_t>(program.rows()));
    const auto take = [](const kernels::RowBlock<const T>& from, std::span<T> to) {
      for (std::size_t j = 0; j < to.size(); ++j) {
        to[j] = from.row(0)[static_cast<std::ptrdiff_t>(j) * from.column_stride];
      }
    };
    if (program.data()->is_stacked()) {
      given[0] = T(1);
    } else {
      take(x, given);
    }
    for (const T& each : given) {
      if (!std::isfinite(each)) {
        return {.not_finite = 1};
      }
    }
    take(q, q_);
    if (v.data != nullptr) {
      take(v, v_);
    } else {
      std::fill(v_.begin(), v_.end(), T(0));
    }
    state_.set(q_, v_);
    program.apply<T>(state_, given, result);
    for (std::size_t j = 0; j < result.size(); ++j) {
      out.row(0)[static_cast<std::ptrdiff_t>(j) * out.column_stride] = result[j];
    }
    return {};
  }

 private:
  struct Entry {
    std::weak_ptr<const ProgramData> key;
    std::unique_ptr<operators::BlockProgram<T>> block{};
  };
  Entry* find(const Program& program) {
    for (Entry& each : entries_) {
      if (!each.key.owner_before(program.data()) && !program.data().owner_before(each.key)) {
        return &each;
      }
    }
    return nullptr;
  }

  std::vector<Entry> entries_;
  BasicState<T> state_;
  std::vector<T> q_;
  std::vector<T> v_;
  std::vector<T> x_;
  std::vector<T> out_;
};

}  // namespace detail

template <class T>
const BatchReport& BasicBatch<T>::apply(const Program& program, RowsIn q, RowsIn v, RowsIn x, RowsOut out,
                                        Subset subset) {
  if (!data_->model.is_same_as(program.model())) {
    throw ArgumentError(fmt::format("the program was made for model '{}', the batch is of another, '{}'",
                                    program.model().name(), data_->model.name()));
  }
  if (data_->parameter_states > 0) {
    throw ArgumentError(
        "programs run with the model's parameters, not with those of the states' own: "
        "call clear_parameters() first");
  }
  detail::BatchCall<T> call = v.data() != nullptr ? data_->call(q, v, subset) : data_->call(q, subset);
  const bool stacked = program.data()->is_stacked();
  if (!stacked || x.data() != nullptr) {
    data_->check(x, call.states, stacked ? 0 : program.cols(), "x");
  }
  data_->wants(call, out, program.rows(), "out");
  for (detail::BatchWorker<T>& worker : data_->workers) {
    if (worker.programs == nullptr) {
      worker.programs = std::make_shared<detail::WorkerPrograms<T>>(data_->model, data_->options.passive);
    }
    worker.programs->make(program);
  }
  const bool passive = program.data()->passive && data_->passive;
  return data_->run(call, [&](detail::BatchWorker<T>& worker, bool alone, const detail::BatchBlock& block) {
    if (alone) {
      return worker.programs->run_alone(program, block.of(q), block.of(v), block.of(x), block.of(out));
    }
    operators::BlockProgram<T>* lanes = worker.programs->block(program);
    if (lanes == nullptr) {  // every state alone
      return kernels::BlockStatus{.doubtful = ~kernels::LaneBits{0}};
    }
    return lanes->run(worker.block->loaded(passive), block.of(x), block.of(out));
  });
}

template const BatchReport& BasicBatch<double>::apply(const Program&, RowsIn, RowsIn, RowsIn, RowsOut, Subset);
template const BatchReport& BasicBatch<float>::apply(const Program&, RowsIn, RowsIn, RowsIn, RowsOut, Subset);

}  // namespace bunraku
