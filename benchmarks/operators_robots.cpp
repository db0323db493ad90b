/// @file
/// 𝓜⁻¹x by the program of an operator expression, against the tuned inverse_mass_times.
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
constexpr const char* peer_name = "bunraku State";
constexpr const char* quantities[] = {"inverse_mass", "inverse_mass_with_state"};
constexpr const char* summary_names[] = {"fixed_state", "new_state"};

/// The most that the geometric mean over all robots and the chain is to be: at a fixed state, with a new one each time.
constexpr double mean_targets[] = {1.3, 1.6};
/// The most that any ratio is to be.
constexpr double row_target = 2.2;

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
        program(s.model, inverse_mass(s.model)),
        of_program(s.model),
        dynamics(s.model),
        ours(static_cast<std::size_t>(s.model.nv())),
        theirs(ours.size()) {}

  void set_our_state(const State& state) { of_program.set(std::span(state.q), std::span(state.v)); }
  void set_their_state(const State& state) { dynamics.set(std::span(state.q), std::span(state.v)); }
  void apply(const State& state) { program.apply<double>(of_program, std::span(state.torque), ours); }
  void solve(const State& state) { bk::inverse_mass_times(dynamics, std::span(state.torque), theirs); }

  const Subject& subject;
  bk::Program program;
  bk::State of_program;
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
      throw std::runtime_error(
          fmt::format("𝓜⁻¹x of {}: the expression and inverse_mass_times are {:.2g} apart, of {:.2g}, at state {}, "
                      "where {:.0e} of it "
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

/// Whether a target is met; the targets are for time.
std::string verdict(double ratio, double target) {
  return counting() ? "" : fmt::format("≤ {} {}", target, ratio <= target ? "met" : "MISSED");
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

/// The ratios of the rows are the peer's cost by ours, as in all benchmarks' files; the summary's are ours by the
/// peer's, as in the table.
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
    summary.push_back(fmt::format(R"("{}": {:.4f})", summary_names[k], means[k]));
  }
  return fmt::format("  \"rows\": [\n{}\n  ],\n  \"summary\": {{{}}}", fmt::join(lines, ",\n"),
                     fmt::join(summary, ", "));
}

void print_header() {
  fmt::print(
      "𝓜⁻¹x, {} a call: the Program of inv(H*phi*M*~phi*~H), with armature where the robot\n"
      "has some, and inverse_mass_times. A ratio of 2 is twice {}.\n\n{:<16}{:>7}{:>5}{:^38}{:^38}\n"
      "{:<28}{:>10}{:>10}{:>7}  {:<10}{:>10}{:>10}{:>7}  {}\n",
      counting() ? "instructions" : "least nanoseconds", counting() ? "the instructions" : "as slow", "", "bodies",
      "dof", "at a fixed state", "with a new state", "", "program", "tuned", "ratio", counting() ? "" : "target",
      "program", "tuned", "ratio", counting() ? "" : "target");
  std::fflush(stdout);
}

}  // namespace

std::string measure_robots(const std::vector<std::string>& names, const std::string& folder, double seconds) {
  const std::vector<Subject> measured = subjects(names, folder);
  print_header();
  std::vector<Row> rows;
  for (const Subject& subject : measured) {
    Setup setup(subject);
    rows.push_back(run(setup, seconds));
    const Row& row = rows.back();
    fmt::print("{:<16}{:>7}{:>5}", row.robot, subject.model.bodies().size(), subject.model.nv());
    fmt::print("{:>10.0f}{:>10.0f}{:>7.2f}  {:<10}{:>10.0f}{:>10.0f}{:>7.2f}  {}\n", row.costs[0].ours,
               row.costs[0].theirs, row.costs[0].ratio(), verdict(row.costs[0].ratio(), row_target), row.costs[1].ours,
               row.costs[1].theirs, row.costs[1].ratio(), verdict(row.costs[1].ratio(), row_target));
    std::fflush(stdout);
  }
  const std::vector<double> means = geometric_means(rows);
  const bool all = names.empty();  // the targets are for the mean over all
  fmt::print("{:<48}{:>7.2f}  {:<10}{:>27.2f}  {}\n", "geometric mean", means[0],
             all ? verdict(means[0], mean_targets[0]) : "", means[1], all ? verdict(means[1], mean_targets[1]) : "");
  return json(rows, means);
}

}  // namespace bench
