/// @file
/// Batches of all sizes on all cores, against one core, and against Pinocchio's pool on all.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "batch_parts.hpp"
#include "peer_model.hpp"
#include "pinocchio_pool.hpp"

namespace bench {

namespace {

constexpr double tolerance = 1e-9;  ///< Of the largest number of a state's result.

/// Pinocchio's pools are of two quantities.
bool in_pool(BatchQuantity quantity) {
  return quantity == BatchQuantity::id || quantity == BatchQuantity::fd;
}

/// Throws std::runtime_error where a pool has other results than a batch.
void check(const Robot& robot, BatchQuantity quantity, PinocchioPool& pool, const std::vector<State>& states) {
  const auto count = static_cast<std::ptrdiff_t>(states.size());
  const BatchRows<double> rows(robot.model, states, count);
  BatchRun<double> run(robot.model, quantity, rows, count);
  run();
  std::vector<double> theirs(static_cast<std::size_t>(rows.nv));
  for (std::size_t i = 0; i < states.size(); ++i) {
    quantity == BatchQuantity::id ? pool.get_torque(i, theirs) : pool.get_acceleration(i, theirs);
    require_close<double>(
        run.result(static_cast<std::ptrdiff_t>(i)), theirs, tolerance,
        fmt::format("{} of {}, state {}: a batch and Pinocchio's pool", name_of(quantity), robot.name, i));
  }
}

/// Nanoseconds a state of Pinocchio's pool, the faster of the two ways to compile it. Apart from ours: OpenMP's threads
/// go on spinning for a while after their work, on the cores of whoever comes next.
double pool_cost(const Robot& robot, BatchQuantity quantity, const std::vector<State>& states, int threads,
                 double seconds) {
  const Spread spread;
  const std::vector<PeerBody> bodies = peer_bodies(robot.model);
  const std::array<double, 3> gravity = peer_gravity(robot.model);
  const std::array pools = {make_pool_plain(bodies, gravity, states.size(), threads),
                            make_pool_without_slp(bodies, gravity, states.size(), threads)};
  std::vector<Batch> batches;
  for (const auto& pool : pools) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      pool->set_state(i, states[i].q, states[i].v, states[i].acceleration, states[i].torque);
    }
    batches.emplace_back([&pool, quantity] { quantity == BatchQuantity::id ? pool->rnea() : pool->aba(); });
    spread(batches.back());
    check(robot, quantity, *pool, states);
  }
  const std::vector<double> costs = least_nanoseconds(batches, seconds, {.clock = Clock::wall});
  return std::ranges::min(costs) / static_cast<double>(states.size());
}

/// One number of states: our costs a state on one core and on all, taking turns.
struct Pair {
  double one, all;
};

template <class T>
Pair costs(const Robot& robot, BatchQuantity quantity, const BatchRows<T>& rows, std::ptrdiff_t count, int threads,
           double seconds) {
  const Spread spread;
  std::optional<BatchRun<T>> all;
  spread([&] {
    all.emplace(robot.model, quantity, rows, count, threads);
    (*all)();
  });
  BatchRun<T> one(robot.model, quantity, rows, count);
  const std::vector<Batch> batches = {[&] { one(); }, [&] { (*all)(); }};
  const std::vector<double> measured =
      least_nanoseconds(batches, seconds, {.least_rounds = least_rounds(count), .clock = Clock::wall});
  return {measured[0] / one.states(), measured[1] / all->states()};
}

template <class T>
void run(const Robot& robot, BatchQuantity quantity, const BatchRows<T>& rows, double pool, const BatchOptions& options,
         BatchFigures& figures) {
  fmt::print("{:<16}{:>4} {:<13}{:<7}{:>8}", robot.name, rows.nv, name_of(quantity), precision_of<T>,
             pool > 0 ? fmt::format("{:.0f}", pool) : "");
  Pair summary{};
  for (const std::ptrdiff_t count : options.states) {
    if (BatchRun<T>::too_large(robot.model, quantity, count)) {
      fmt::print("{:>9}", "-");
      continue;
    }
    const Pair pair = costs(robot, quantity, rows, count, options.threads, options.seconds);
    fmt::print("{:>9.1f}", pair.all);
    std::fflush(stdout);
    const bool in_summary = count == options.summary_states();
    BatchFigure figure{robot.name, name_of(quantity), precision_of<T>,       options.threads,
                       count,      pair.all,          "bunraku on one core", pair.one};
    figures.add(figure, in_summary ? fmt::format("threads_{}", options.threads) : "");
    if (in_summary) {
      summary = pair;
    }
    if (in_summary && pool > 0) {
      figure.peer = "pinocchio's pool";
      figure.theirs = pool;
      figures.add(figure, fmt::format("{}_{}_pool", name_of(quantity), precision_of<T>));
    }
  }
  fmt::print("{:>8.2f}{:>8}\n", summary.one / summary.all, pool > 0 ? fmt::format("{:.1f}", pool / summary.all) : "");
  std::fflush(stdout);
}

void print_header(const BatchOptions& options) {
  fmt::print(
      "{} cores: least nanoseconds a state by the clock on the wall, all threads at work. At {} states, behind them: "
      "the\ngain over one core, and the ratio to Pinocchio's rneaInParallel and abaInParallel on as many.\n\n"
      "{:<16}{:>4} {:<13}{:<7}{:>8}",
      options.threads, options.summary_states(), "robot", "dof", "quantity", "", "peer");
  for (const std::ptrdiff_t count : options.states) {
    fmt::print("{:>9}", count);
  }
  fmt::print("{:>8}{:>8}\n", "gain", "ratio");
  std::fflush(stdout);
}

}  // namespace

void measure_threads(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures) {
  print_header(options);
  for (const Robot& robot : robots) {
    const std::ptrdiff_t most = std::ranges::max(options.states);
    const std::vector<State> states = different_states(robot.model, options.summary_states());
    const BatchRows<double> doubles(robot.model, states, most);
    const BatchRows<float> floats(robot.model, states, most);
    for (const BatchQuantity quantity : batch_quantities()) {
      const double pool = in_pool(quantity) ? pool_cost(robot, quantity, states, options.threads, options.seconds) : 0;
      run(robot, quantity, doubles, pool, options, figures);
      run(robot, quantity, floats, pool, options, figures);
    }
  }
  fmt::print("\ngeometric mean of the gains at {} states: {:.2f} × on {} cores\n", options.summary_states(),
             figures.mean(fmt::format("threads_{}", options.threads)), options.threads);
  for (const char* const key : {"id_double_pool", "fd_double_pool", "id_float_pool", "fd_float_pool"}) {
    fmt::print("  {:<16}{:>7.1f}\n", key, figures.mean(key));
  }
}

}  // namespace bench
