#include "evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "progress.hpp"

namespace bunraku::cli {

namespace {

/// Numbers of a chunk, given and computed: 16 MiB of doubles.
constexpr std::ptrdiff_t block_numbers = std::ptrdiff_t{1} << 21;
/// States of a chunk: enough to keep many threads busy, few enough to be shown as progress.
constexpr std::ptrdiff_t most_states = std::ptrdiff_t{1} << 14;

template <class T>
bool all_finite(std::span<const T> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](T x) { return std::isfinite(x); });
}

template <class T>
class Computation {
 public:
  Computation(const EvalTask& what, Workers& workers) : what_(what), workers_(workers) {
    numbers_.resize(what.wanted.size());
    for (const Request& request : what.wanted) {
      numbers_of_state_ += request.shape.count();
      (batched(request) ? any_batched_ : any_single_) = true;
    }
    if (any_batched_) {
      batch_.emplace(what.model, BatchOptions{.passive = what.passive, .executor = workers.executor()});
    }
    for (int i = 0; any_single_ && i < workers.count(); ++i) {
      evaluators_.emplace_back(what.model, what.passive, what.off);
    }
  }

  /// The numbers that it computes of a state.
  std::ptrdiff_t numbers_of_state() const { return numbers_of_state_; }

  /// The quantities of all states, each a row a state.
  const std::vector<std::vector<T>>& run(const StateChunk<T>& chunk, const StateSource<T>& source) {
    FirstFailure failure(chunk.states);
    std::optional<StateStatus> status;
    for (std::size_t r = 0; r < numbers_.size(); ++r) {
      const Request& request = what_.wanted[r];
      numbers_[r].resize(static_cast<std::size_t>(chunk.states * request.shape.count()));
      if (batched(request)) {
        const BatchReport& report = request.quantity->at_states.template in<T>()(
            *batch_, chunk, request, {numbers_[r].data(), chunk.states, request.shape.count()});
        if (!report.ok() && report.first_failed() < failure.first()) {
          failure.add(report.first_failed());
          status = report[report.first_failed()];
        }
      }
    }
    workers_.run(chunk.states, workers_.parts_of(chunk.states),
                 [&](std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t, int worker) {
                   for (std::ptrdiff_t i = begin; i < end && i < failure.first(); ++i) {
                     if (!finish(chunk, i, worker)) {
                       failure.add(i);
                     }
                   }
                 });
    if (failure.first() < chunk.states) {
      explain(chunk, failure.first(), source, status);
    }
    return numbers_;
  }

 private:
  static bool batched(const Request& request) { return request.quantity->at_states.template in<T>() != nullptr; }

  std::span<T> numbers(std::size_t r, std::ptrdiff_t i) {
    const std::int64_t count = what_.wanted[r].shape.count();
    return {numbers_[r].data() + i * count, static_cast<std::size_t>(count)};
  }

  /// Computes of a state what batches do not have; false where it has not all its numbers.
  bool finish(const StateChunk<T>& chunk, std::ptrdiff_t i, int worker) {
    try {
      if (any_single_) {
        evaluators_[static_cast<std::size_t>(worker)].set(chunk, i);
      }
      for (std::size_t r = 0; r < numbers_.size(); ++r) {
        const Request& request = what_.wanted[r];
        if (!batched(request)) {
          request.quantity->at_state.template in<T>()(evaluators_[static_cast<std::size_t>(worker)], request,
                                                      numbers(r, i));
        }
        if (!all_finite<T>(numbers(r, i))) {
          return false;
        }
      }
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  /// Throws what is wrong with a state, as it would be thrown if it were the only one.
  void explain(const StateChunk<T>& chunk, std::ptrdiff_t i, const StateSource<T>& source,
               std::optional<StateStatus> status) const {
    try {
      Evaluator<T> evaluator(what_.model, what_.passive, what_.off);
      std::vector<T> out;
      evaluator.set(chunk, i);
      for (const Request& request : what_.wanted) {
        out.resize(static_cast<std::size_t>(request.shape.count()));
        request.quantity->at_state.template in<T>()(evaluator, request, out);
        if (!all_finite<T>(out)) {
          throw Error("a result is not finite");
        }
      }
      // on the verge of what can be computed, the two may differ
      throw Error(fmt::format("the state cannot be computed: {}", to_string(status.value_or(StateStatus::singular))));
    } catch (const Error& error) {
      source.fail(i, error);
    }
  }

  const EvalTask& what_;
  Workers& workers_;
  bool any_batched_ = false;
  bool any_single_ = false;
  std::ptrdiff_t numbers_of_state_ = 0;
  std::optional<BasicBatch<T>> batch_;
  std::vector<Evaluator<T>> evaluators_;  // one for each worker
  std::vector<std::vector<T>> numbers_;   // of each request
};

}  // namespace

template <class T>
void evaluate(const EvalTask& what, StateSource<T>& source, Answers<T>& answers, Workers& workers) {
  Computation<T> computation(what, workers);
  StateChunk<T> chunk(what.model, what.users);
  const std::ptrdiff_t numbers = std::max<std::ptrdiff_t>(1, chunk.numbers_of_state() + computation.numbers_of_state());
  const std::ptrdiff_t most = std::clamp<std::ptrdiff_t>(block_numbers / numbers, 1, most_states);
  const std::string of_all = source.total() ? fmt::format(" of {}", *source.total()) : "";
  {
    Progress progress;  // its line goes before the answers come
    for (std::int64_t done = 0; source.next(chunk, most, workers); done += chunk.states) {
      progress.show([&] { return fmt::format("{}{} states", done, of_all); });
      answers.add(computation.run(chunk, source), chunk.states, workers);
    }
  }
  answers.commit();
}

template void evaluate(const EvalTask&, StateSource<double>&, Answers<double>&, Workers&);
template void evaluate(const EvalTask&, StateSource<float>&, Answers<float>&, Workers&);

}  // namespace bunraku::cli
