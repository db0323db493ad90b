#include "bunraku/batch/detail/batch_data.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku::detail {

namespace {

/// At most so many blocks are taken at a time by a worker …
constexpr std::ptrdiff_t most_at_a_time = 16;
/// … and so few that each takes at least so many times, or all would wait long for the last one to end.
constexpr std::ptrdiff_t least_parts = 16;
/// Bytes that a call may write without caches in its way.
constexpr std::ptrdiff_t most_cached = std::ptrdiff_t{8} << 20;

/// With less to do, waking others would take longer than doing it: velocities of all states.
constexpr std::ptrdiff_t least_shared = 4096;

}  // namespace

/// One call under way.
template <class T>
struct BatchData<T>::Run {
  struct Failure {
    std::ptrdiff_t state = 0;
    StateStatus status{};
    std::string reason{};
  };
  const BatchCall<T>& call;
  const Step& step;
  std::mutex mutex{};
  std::vector<Failure> failures{};
  std::exception_ptr thrown{};

  void fail(std::ptrdiff_t state, StateStatus status, std::string reason) {
    for (const StateRows<T>& out : call.outputs) {
      for (std::ptrdiff_t j = 0; j < out.cols(); ++j) {
        out.row(state)[j * out.column_stride()] = std::numeric_limits<T>::quiet_NaN();
      }
    }
    const std::lock_guard lock(mutex);
    failures.push_back({state, status, std::move(reason)});
  }
};

template <class T>
std::vector<BatchWorker<T>> BatchData<T>::make_workers(const std::shared_ptr<const kernels::Tree>& tree, int count) {
  std::vector<BatchWorker<T>> out(static_cast<std::size_t>(count));
  for (BatchWorker<T>& worker : out) {
    worker.block = kernels::make_block_sweeps<T>(tree, false);
    worker.single = kernels::make_block_sweeps<T>(tree, true);
  }
  return out;
}

template <class T>
BatchData<T>::BatchData(Model m, BatchOptions o)
    : model(std::move(m)),
      options(std::move(o)),
      tree(std::make_shared<const kernels::Tree>(model)),
      executor(options.executor != nullptr ? options.executor : make_thread_pool(options.threads)),
      workers(make_workers(tree, executor->workers())),
      lanes(workers.front().block->lanes()) {
  for (const Body& body : model.bodies()) {
    for (const HingeDof& dof : body.hinge.dofs) {
      model_passive = model_passive || (options.passive == PassiveForces::included &&
                                        (dof.damping != 0 || dof.friction != 0 || dof.stiffness != 0));
    }
  }
  passive = model_passive;
}

namespace {

template <class X>
void check_shape(const StateRows<X>& rows, std::ptrdiff_t states, std::ptrdiff_t cols, std::string_view name) {
  if (rows.rows() != states || rows.cols() != cols) {
    throw ArgumentError(fmt::format("{} has {} rows of {} numbers where {} states of {} are wanted", name, rows.rows(),
                                    rows.cols(), states, cols));
  }
}

}  // namespace

template <class T>
void BatchData<T>::check(const StateRows<const T>& rows, std::ptrdiff_t states, std::ptrdiff_t cols,
                         std::string_view name) {
  check_shape(rows, states, cols, name);
}
template <class T>
void BatchData<T>::check(const StateRows<T>& rows, std::ptrdiff_t states, std::ptrdiff_t cols, std::string_view name) {
  check_shape(rows, states, cols, name);
}

template <class T>
BatchCall<T> BatchData<T>::call(const StateRows<const T>& q, std::span<const std::ptrdiff_t> subset) const {
  check(q, q.rows(), model.nq(), "q");
  if (parameter_states > 0 && q.rows() != parameter_states) {
    throw ArgumentError(
        fmt::format("q has {} states where parameters were set for {}: give as many, or clear_parameters()", q.rows(),
                    parameter_states));
  }
  for (const std::ptrdiff_t i : subset) {
    if (i < 0 || i >= q.rows()) {
      throw ArgumentError(fmt::format("the subset names state {}, but there are {} states", i, q.rows()));
    }
  }
  return {.states = q.rows(), .subset = subset, .q = q};
}

template <class T>
BatchCall<T> BatchData<T>::call(const StateRows<const T>& q, const StateRows<const T>& v,
                                std::span<const std::ptrdiff_t> subset) const {
  BatchCall<T> out = call(q, subset);
  check(v, q.rows(), model.nv(), "v");
  out.v = v;
  return out;
}

template <class T>
void BatchData<T>::wants(BatchCall<T>& call, const StateRows<T>& out, std::ptrdiff_t cols, std::string_view name) {
  check(out, call.states, cols, name);
  for (StateRows<T>& each : call.outputs) {
    if (each.data() == nullptr) {
      each = out;
      return;
    }
  }
}

/// The parameters of a block's states, where they have their own.
template <class T>
void BatchData<T>::set_parameters(BatchWorker<T>& worker, const BatchBlock& block) const {
  if (parameter_states == 0) {
    return;
  }
  const auto width = static_cast<std::size_t>(lanes);
  if (block.indices == nullptr) {
    worker.block->set_folded(varied, folded.data() + static_cast<std::size_t>(block.first) / width * block_numbers);
    return;
  }
  worker.folded.resize(block_numbers);
  for (std::size_t i = 0; i < width; ++i) {
    const auto state = static_cast<std::size_t>(block.state(std::min(static_cast<int>(i), block.count - 1)));
    const T* from = folded.data() + state / width * block_numbers + state % width;
    for (std::size_t j = 0; j < block_numbers; j += width) {
      worker.folded[j + i] = from[j];
    }
  }
  worker.block->set_folded(varied, worker.folded.data());
}

/// One state on its own: where lanes were in doubt, or a user's hinge threw.
template <class T>
void BatchData<T>::run_alone(Run& run, BatchWorker<T>& worker, std::ptrdiff_t state) const {
  const BatchBlock alone{.first = state, .indices = nullptr, .count = 1};
  try {
    if (parameter_states > 0) {
      const auto width = static_cast<std::size_t>(lanes);
      const auto i = static_cast<std::size_t>(state);
      worker.folded.resize(block_numbers);
      const T* from = folded.data() + i / width * block_numbers + i % width;
      for (std::size_t j = 0; j < block_numbers / width; ++j) {
        worker.folded[j] = from[j * width];
      }
      worker.single->set_folded(varied, worker.folded.data());
    }
    kernels::BlockStatus status = worker.single->load(alone.of(run.call.q), alone.of(run.call.v));
    if ((status.not_finite | status.not_normalized) == 0) {
      status.not_finite = run.step(worker, true, alone).not_finite;
    }
    if (status.not_finite != 0) {
      run.fail(state, StateStatus::not_finite, "a number of the state is not finite");
    } else if (status.not_normalized != 0) {
      run.fail(state, StateStatus::not_normalized, "a quaternion of q is not of unit norm");
    }
  } catch (const SingularError& error) {
    run.fail(state, StateStatus::singular, error.what());
  } catch (const std::exception& error) {
    run.fail(state, StateStatus::refused, error.what());
  }
}

template <class T>
void BatchData<T>::run_block(Run& run, BatchWorker<T>& worker, const BatchBlock& block) const {
  kernels::BlockStatus status;
  try {
    set_parameters(worker, block);
    status = worker.block->load(block.of(run.call.q), block.of(run.call.v));
    const kernels::BlockStatus after = run.step(worker, false, block);
    status.not_finite |= after.not_finite;
    status.not_normalized |= after.not_normalized;
    status.doubtful |= after.doubtful;
  } catch (...) {  // a user's hinge, of which only one state may be guilty
    worker.block->settle();
    for (int i = 0; i < block.count; ++i) {
      run_alone(run, worker, block.state(i));
    }
    return;
  }
  if ((status.not_finite | status.not_normalized | status.doubtful) == 0) [[likely]] {
    return;
  }
  worker.block->settle();  // some of which are written anew
  for (int i = 0; i < block.count; ++i) {
    const kernels::LaneBits bit = kernels::LaneBits{1} << i;
    if ((status.not_finite & bit) != 0) {
      run.fail(block.state(i), StateStatus::not_finite, "a number of the state is not finite");
    } else if ((status.not_normalized & bit) != 0) {
      run.fail(block.state(i), StateStatus::not_normalized, "a quaternion of q is not of unit norm");
    } else if ((status.doubtful & bit) != 0) {
      run_alone(run, worker, block.state(i));
    }
  }
}

template <class T>
const BatchReport& BatchData<T>::run(const BatchCall<T>& call, const Step& step) {
  const std::ptrdiff_t count = call.subset.empty() ? call.states : static_cast<std::ptrdiff_t>(call.subset.size());
  const std::ptrdiff_t blocks = (count + lanes - 1) / lanes;
  Run run{.call = call, .step = step};
  std::ptrdiff_t written = 0;
  for (const StateRows<T>& each : call.outputs) {
    written += count * each.cols();
  }
  const bool far = written > most_cached / static_cast<std::ptrdiff_t>(sizeof(T));
  const bool shared = count * model.nv() >= least_shared && workers.size() > 1;
  const auto takers = shared ? static_cast<std::ptrdiff_t>(workers.size()) : 1;
  const std::ptrdiff_t blocks_at_a_time =
      std::clamp<std::ptrdiff_t>(blocks / (takers * least_parts), 1, most_at_a_time);
  // each worker has a first part for sure, so that it makes its room in the first call, and in no other
  std::atomic<std::ptrdiff_t> next{blocks_at_a_time * takers};
  std::atomic<std::ptrdiff_t> done{0};
  std::atomic<bool> stopped{false};
  const std::thread::id caller = std::this_thread::get_id();
  const auto work = [&](int number) {
    BatchWorker<T>& worker = workers[static_cast<std::size_t>(number)];
    for (std::ptrdiff_t begin = blocks_at_a_time * number; begin < blocks && !stopped;
         begin = next.fetch_add(blocks_at_a_time)) {
      try {
        std::ptrdiff_t first = begin * lanes;
        const std::ptrdiff_t end = std::min(first + blocks_at_a_time * lanes, count);
        for (; first < end; first += lanes) {
          const int states = static_cast<int>(std::min<std::ptrdiff_t>(lanes, end - first));
          run_block(run, worker,
                    call.subset.empty() ? BatchBlock{first, nullptr, states, far}
                                        : BatchBlock{0, call.subset.data() + first, states, far});
        }
        worker.block->settle();
        done += end - begin * lanes;
        if (progress && std::this_thread::get_id() == caller) {
          progress(done);
        }
      } catch (...) {  // what progress throws, or no memory: told when all have stopped
        worker.block->settle();
        const std::lock_guard lock(run.mutex);
        run.thrown = run.thrown ? run.thrown : std::current_exception();
        stopped = true;
      }
    }
  };
  if (shared) {
    executor->run(std::ref(work));
  } else {
    work(0);
  }
  if (run.thrown) {
    std::rethrow_exception(run.thrown);
  }
  if (progress) {  // the caller may have had no part in it
    progress(done);
  }
  report.begin(call.states);
  for (typename Run::Failure& failure : run.failures) {
    report.add(failure.state, failure.status, std::move(failure.reason));
  }
  return report;
}

template struct BatchData<double>;
template struct BatchData<float>;

}  // namespace bunraku::detail
