/// @file
/// 𝓜⁻¹x by an operator expression, against the tuned Dynamics::solve.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meter.hpp"
#include "operators_parts.hpp"
#include "robots.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

constexpr double tolerance = 1e-10;
constexpr std::size_t robot_states = 64;
constexpr int chain_bodies = 1000;
constexpr const char* peer_name = "bunraku Dynamics";
constexpr const char* quantities[] = {"inverse_mass", "inverse_mass_with_state"};

/// The most that the ratio at a fixed state is to be.
struct Target {
  const char* robot;
  double ratio;
};
constexpr Target targets[] = {{"iiwa", 4}, {"atlas", 4}, {long_chain, 2}};

struct Subject {
  std::string name;
  bk::Model model;
  std::vector<State> states;  ///< 𝓜⁻¹ is applied to the torques.
};

/// Nanoseconds, or instructions, of both sides.
struct Cost {
  double ours;
  double theirs;
  double ratio() const { return ours / theirs; }
};

struct Row {
  std::string robot;
  std::array<Cost, 2> costs;  ///< One for each quantity.
};

Subject make_long_chain() {
  const bk::Model model = random_model(shapes()[0], chain_bodies);
  Subject subject{long_chain, model, {}};
  for (const ShapeState& state : random_shape_states(model)) {
    subject.states.push_back({state.q, state.v, state.x, state.x});
  }
  return subject;
}

std::vector<Subject> subjects(std::vector<std::string> names, const std::string& folder) {
  const bool all = names.empty();
  const bool chain = std::erase(names, long_chain) > 0 || all;
  std::vector<Subject> out;
  if (all || !names.empty()) {
    for (const Robot& robot : load_robots("operators", names, folder, Couplings::kept)) {
      out.push_back({robot.name, robot.model, random_states(robot.model, robot_states)});
    }
  }
  if (chain) {
    out.push_back(make_long_chain());
  }
  return out;
}

/// Both sides of one robot, and where results go.
struct Setup {
  explicit Setup(const Subject& s)
      : subject(s),
        system(s.model),
        evaluation(system(inverse_mass(system))),
        dynamics(s.model),
        ours(static_cast<std::size_t>(s.model.nv())),
        theirs(ours.size()) {}

  void set_our_state(const State& state) { system.set_state(state.q, state.v); }
  void set_their_state(const State& state) { dynamics.set(std::span(state.q), std::span(state.v)); }
  void apply(const State& state) { evaluation.apply(state.torque, ours); }
  void solve(const State& state) { bk::inverse_mass_times(dynamics, std::span(state.torque), theirs); }

  const Subject& subject;
  bk::System system;
  bk::Evaluation evaluation;
  bk::State dynamics;
  std::vector<double> ours;
  std::vector<double> theirs;
};

/// Throws unless both sides give the same at every state, relative to the largest number.
void check(Setup& setup) {
  for (std::size_t i = 0; i < setup.subject.states.size(); ++i) {
    const State& state = setup.subject.states[i];
    setup.set_our_state(state);
    setup.set_their_state(state);
    setup.apply(state);
    setup.solve(state);
    double largest = 0;
    double apart = 0;
    for (std::size_t k = 0; k < setup.ours.size(); ++k) {
      largest = std::max(largest, std::abs(setup.theirs[k]));
      apart = std::max(apart, std::abs(setup.ours[k] - setup.theirs[k]));
    }
    if (!(apart <= tolerance * largest)) {  // also where one is not a number
      throw std::runtime_error(fmt::format(
          "𝓜⁻¹x of {}: the expression and Dynamics::solve are {:.2g} apart, of {:.2g}, at state {}, where {:.0e} of it "
          "is allowed. One of them is wrong, and its speed is worth nothing: nothing more was measured",
          setup.subject.name, apart, largest, i, tolerance));
    }
  }
}

Cost measure_pair(Setup& setup, const Batch& ours, const Batch& theirs, double seconds) {
  const std::array<Batch, 2> batches{ours, theirs};
  const std::vector<double> costs = measure(batches, seconds);
  const auto calls = static_cast<double>(setup.subject.states.size());
  return {costs[0] / calls, costs[1] / calls};
}

Row run(Setup& setup, double seconds) {
  check(setup);
  const std::vector<State>& states = setup.subject.states;
  setup.set_our_state(states.front());
  setup.set_their_state(states.front());
  const auto for_each = [&](auto call) {
    return [&states, call] {
      for (const State& state : states) {
        call(state);
      }
    };
  };
  const Cost fixed = measure_pair(setup, for_each([&](const State& state) { setup.apply(state); }),
                                  for_each([&](const State& state) { setup.solve(state); }), seconds);
  const Cost moving = measure_pair(setup, for_each([&](const State& state) {
                                     setup.set_our_state(state);
                                     setup.apply(state);
                                   }),
                                   for_each([&](const State& state) {
                                     setup.set_their_state(state);
                                     setup.solve(state);
                                   }),
                                   seconds);
  return {setup.subject.name, {fixed, moving}};
}

std::string verdict(const Row& row) {
  const auto* const target = std::ranges::find_if(targets, [&](const Target& t) { return t.robot == row.robot; });
  if (target == std::end(targets) || counting()) {  // the targets are for time
    return "";
  }
  return fmt::format("≤ {} {}", target->ratio, row.costs[0].ratio() <= target->ratio ? "met" : "MISSED");
}

std::vector<double> geometric_means(const std::vector<Row>& rows) {
  std::vector<double> out;
  for (std::size_t k = 0; k < std::size(quantities); ++k) {
    double sum = 0;
    for (const Row& row : rows) {
      sum += std::log(row.costs[k].ratio());
    }
    out.push_back(std::exp(sum / static_cast<double>(rows.size())));
  }
  return out;
}

/// The ratios in the file are the peer's cost by ours, as in all benchmarks' files.
std::string json(const std::vector<Row>& rows, const std::vector<double>& means) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < row.costs.size(); ++k) {
      lines.push_back(fmt::format(
          R"(    {{"robot": "{}", "quantity": "{}", "ours_{}": {:.1f}, "peer": "{}", "peer_{}": {:.1f}, "ratio": {:.4f}}})",
          row.robot, quantities[k], unit(), row.costs[k].ours, peer_name, unit(), row.costs[k].theirs,
          1 / row.costs[k].ratio()));
    }
  }
  std::vector<std::string> summary;
  for (std::size_t k = 0; k < means.size(); ++k) {
    summary.push_back(fmt::format(R"("{}": {:.4f})", quantities[k], 1 / means[k]));
  }
  return fmt::format("  \"rows\": [\n{}\n  ],\n  \"summary\": {{{}}}", fmt::join(lines, ",\n"),
                     fmt::join(summary, ", "));
}

void print_header() {
  fmt::print(
      "𝓜⁻¹x, {} a call: Evaluation::apply of inv(H*phi*M*~phi*~H), with armature where the robot\n"
      "has some, and Dynamics::solve. A ratio of 2 is twice {}.\n\n{:<16}{:>7}{:>5}{:^36}{:^29}\n"
      "{:<28}{:>10}{:>10}{:>7}  {:<10}{:>10}{:>10}{:>7}\n",
      counting() ? "instructions" : "least nanoseconds", counting() ? "the instructions" : "as slow", "", "bodies",
      "dof", "at a fixed state", "with set_state(q, v)", "", "operators", "Dynamics", "ratio",
      counting() ? "" : "target", "operators", "Dynamics", "ratio");
  std::fflush(stdout);
}

}  // namespace

bk::Operator inverse_mass(const bk::System& system) {
  return bk::parse(bk::conditions_of(system).armature ? "inv(H*phi*M*~phi*~H + armature)" : "inv(H*phi*M*~phi*~H)");
}

std::string measure_robots(const std::vector<std::string>& names, const std::string& folder, double seconds) {
  const std::vector<Subject> measured = subjects(names, folder);
  print_header();
  std::vector<Row> rows;
  for (const Subject& subject : measured) {
    Setup setup(subject);
    rows.push_back(run(setup, seconds));
    const Row& row = rows.back();
    fmt::print("{:<16}{:>7}{:>5}", row.robot, subject.model.bodies().size(), subject.model.nv());
    fmt::print("{:>10.0f}{:>10.0f}{:>7.2f}  {:<10}{:>10.0f}{:>10.0f}{:>7.2f}\n", row.costs[0].ours, row.costs[0].theirs,
               row.costs[0].ratio(), verdict(row), row.costs[1].ours, row.costs[1].theirs, row.costs[1].ratio());
    std::fflush(stdout);
  }
  const std::vector<double> means = geometric_means(rows);
  fmt::print("{:<48}{:>7.2f}{:>39.2f}\n", "geometric mean", means[0], means[1]);
  return json(rows, means);
}

}  // namespace bench
