/// @file
/// Batches whose states have inertial parameters of their own, against batches that share the model's.
#include <cstdio>
#include <random>

#include <fmt/format.h>

#include "batch_parts.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

/// Ten numbers a body, a row a state: each body up to a tenth heavier or lighter than the model's.
template <class T>
std::vector<T> random_parameters(const bk::Model& model, std::ptrdiff_t count) {
  constexpr std::size_t of_body = 10;
  std::vector<double> own(of_body * model.bodies().size());
  bk::inertial_parameters(model, own);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> factor(0.9, 1.1);
  std::vector<T> out;
  out.reserve(static_cast<std::size_t>(count) * own.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    double scale = 1;
    for (std::size_t k = 0; k < own.size(); ++k) {
      scale = k % of_body == 0 ? factor(random) : scale;
      out.push_back(static_cast<T>(scale * own[k]));
    }
  }
  return out;
}

template <class T>
void run(const Robot& robot, const BatchRows<T>& rows, const BatchOptions& options, BatchFigures& figures) {
  const std::vector<T> numbers = random_parameters<T>(robot.model, rows.count);
  bk::BatchParameters<T> parameters;
  parameters.inertial =
      bk::StateRows<const T>(numbers.data(), rows.count, 10 * static_cast<std::ptrdiff_t>(robot.model.bodies().size()));
  for (const BatchQuantity quantity : batch_quantities()) {
    BatchRun<T> shared(robot.model, quantity, rows, rows.count);
    BatchRun<T> own(robot.model, quantity, rows, rows.count);
    own.batch().set_parameters(parameters);
    const std::vector<Batch> batches = {[&] { own(); }, [&] { shared(); }};
    const std::vector<double> costs = measure(batches, options.seconds);
    const BatchFigure figure{robot.name,
                             fmt::format("{}_parameters", name_of(quantity)),
                             precision_of<T>,
                             1,
                             rows.count,
                             costs[0] / own.states(),
                             "bunraku, the model's parameters",
                             costs[1] / shared.states()};
    figures.add(figure, fmt::format("{}_{}", figure.quantity, figure.precision));
    fmt::print("{:<16}{:>4} {:<13}{:<7}{:>10.1f}{:>10.1f}{:>8.2f}\n", robot.name, rows.nv, name_of(quantity),
               figure.precision, figure.ours, figure.theirs, figure.ratio());
    std::fflush(stdout);
  }
}

}  // namespace

void measure_parameters(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures) {
  const std::ptrdiff_t count = options.summary_states();
  fmt::print(
      "Inertial parameters of its own for every state, against the model's for all: {} a state, {} states,\n"
      "one core. A ratio of 0.6 is 60 % of the speed.\n\n{:<16}{:>4} {:<13}{:<7}{:>10}{:>10}{:>8}\n",
      counting() ? "instructions" : "least nanoseconds", count, "robot", "dof", "quantity", "", "own", "shared",
      "ratio");
  std::fflush(stdout);
  for (const Robot& robot : robots) {
    const std::vector<State> states = different_states(robot.model, count);
    run(robot, BatchRows<double>(robot.model, states, count), options, figures);
    run(robot, BatchRows<float>(robot.model, states, count), options, figures);
  }
  fmt::print("\ngeometric mean of the ratios\n{:<16}{:>9}{:>9}\n", "", "double", "float");
  for (const BatchQuantity quantity : batch_quantities()) {
    fmt::print("  {:<14}{:>9.2f}{:>9.2f}\n", name_of(quantity),
               figures.mean(fmt::format("{}_parameters_double", name_of(quantity))),
               figures.mean(fmt::format("{}_parameters_float", name_of(quantity))));
  }
}

}  // namespace bench
