/// @file
/// How long it takes to find the recursions of an operator expression.
#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meter.hpp"
#include "operators_parts.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

constexpr const char* expressions[] = {
    "inv(H*phi*M*~phi*~H)",
    "~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B",
    "inv(I + H*phi*K)",
    "inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))",
};

struct Row {
  std::string expression;
  double cost;  ///< Milliseconds or instructions.
  int sweeps;
  std::string result;
};

/// A chain with a node at its tip, so that all symbols have values.
bk::System make_system() {
  const bk::Model model = random_model(shapes()[0], 10);
  const ShapeState state = random_shape_states(model).front();
  bk::System system(model, state.q, state.v);
  system.set_torques(state.x);
  system.set_nodes({model.bodies().back().name});
  return system;
}

Row run(const bk::System& system, const std::string& text, double seconds) {
  const bk::Operator x = bk::parse(text);
  const bk::Conditions conditions = bk::conditions_of(system);
  // with a table that is given nothing is kept from one search to the next
  const bk::Search search{.conditions = conditions, .identities = bk::identities()};
  const std::array<Batch, 1> batches{[&] { static_cast<void>(bk::simplify(x, search)); }};
  const double cost = measure(batches, seconds)[0];
  const bk::PlanReport plan = system(x).plan();
  return {text, counting() ? cost : cost / 1e6, plan.fused, plan.expression};
}

}  // namespace

std::string measure_search(double seconds) {
  const bk::System system = make_system();
  fmt::print("simplify(), {}; sweeps of its result.\n\n{:<50}{:>14}{:>8}\n",
             counting() ? "instructions" : "least milliseconds", "expression", counting() ? "instructions" : "ms",
             "sweeps");
  std::vector<std::string> lines;
  for (const char* text : expressions) {
    const Row row = run(system, text, seconds);
    fmt::print("{:<50}{:>14.{}f}{:>8}\n  = {}\n", row.expression, row.cost, counting() ? 0 : 2, row.sweeps, row.result);
    std::fflush(stdout);
    lines.push_back(fmt::format(R"(    {{"expression": "{}", "{}": {:.3f}, "sweeps": {}, "result": "{}"}})",
                                row.expression, counting() ? "instructions" : "ms", row.cost, row.sweeps, row.result));
  }
  return fmt::format("[\n{}\n  ]", fmt::join(lines, ",\n"));
}

}  // namespace bench
