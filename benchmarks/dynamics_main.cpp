/// @file
/// Inverse and forward dynamics, the mass matrix and its inverse, against Pinocchio in the same process.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meter.hpp"
#include "peer_model.hpp"
#include "robots.hpp"

namespace {

namespace bk = bunraku;
using bench::PeerConvention;

constexpr double tolerance = 1e-9;

struct Options : bench::CommonOptions {
  std::vector<std::string> robots;
  std::vector<std::string> quantities;
  std::string models = bench::default_models();
  std::size_t states = 64;
};

struct Row {
  std::string robot;
  std::string quantity;
  double ours;
  double theirs;
  std::string way;  ///< Pinocchio's fastest: convention, where there are two, and flags.
};

/// Everything of one robot: both sides, the states, and where results go.
struct Setup {
  explicit Setup(const bench::Robot& robot, std::size_t count)
      : dynamics(robot.model, bk::PassiveForces::left_out),
        peers(bench::peers_of(robot.model)),
        states(bench::random_states(robot.model, count)),
        n(static_cast<std::size_t>(robot.model.nv())),
        ours(n * n),
        theirs(n * n) {
    for (const bench::State& s : states) {
      for (const auto& peer : peers) {
        peer->add_state(s.q, s.v, s.acceleration, s.torque);
      }
    }
  }
  std::span<double> vector() { return std::span(ours).first(n); }

  bk::State dynamics;
  std::array<std::unique_ptr<bench::PinocchioPeer>, 2> peers;  ///< As compiled in two ways.
  std::vector<bench::State> states;
  std::size_t n;
  std::vector<double> ours;
  std::vector<double> theirs;
};

/// How a quantity is computed on either side. `ours` is what a user writes: the state, then the quantity.
struct Quantity {
  const char* name;
  bool conventions;  ///< Whether Pinocchio has two ways.
  bool matrix;
  void (*ours)(Setup&, const bench::State&);
  void (*theirs)(bench::PinocchioPeer&, std::size_t, PeerConvention);
  void (bench::PinocchioPeer::*get)(std::span<double>) const;
};

const Quantity quantities[] = {
    {"inverse", false, false,
     [](Setup& s, const bench::State& x) {
       s.dynamics.set(std::span(x.q), std::span(x.v));
       bk::inverse_dynamics(s.dynamics, std::span(x.acceleration), s.vector());
     },
     [](bench::PinocchioPeer& p, std::size_t i, PeerConvention) { p.rnea(i); }, &bench::PinocchioPeer::get_torque},
    {"forward", true, false,
     [](Setup& s, const bench::State& x) {
       s.dynamics.set(std::span(x.q), std::span(x.v));
       bk::forward_dynamics(s.dynamics, std::span(x.torque), s.vector());
     },
     [](bench::PinocchioPeer& p, std::size_t i, PeerConvention c) { p.aba(i, c); },
     &bench::PinocchioPeer::get_acceleration},
    {"mass_matrix", true, true,
     [](Setup& s, const bench::State& x) {
       s.dynamics.set(std::span(x.q), std::span(x.v));
       bk::mass_matrix(s.dynamics, s.ours);
     },
     [](bench::PinocchioPeer& p, std::size_t i, PeerConvention c) { p.crba(i, c); },
     &bench::PinocchioPeer::get_mass_matrix},
    {"inverse_mass_matrix", false, true,
     [](Setup& s, const bench::State& x) {
       s.dynamics.set(std::span(x.q), std::span(x.v));
       bk::inverse_mass_matrix(s.dynamics, s.ours);
     },
     [](bench::PinocchioPeer& p, std::size_t i, PeerConvention) { p.minverse(i); },
     &bench::PinocchioPeer::get_inverse_mass_matrix},
};

constexpr PeerConvention conventions[] = {PeerConvention::local, PeerConvention::world};

/// One of the ways in which Pinocchio computes a quantity.
struct Way {
  bench::PinocchioPeer* peer;
  PeerConvention convention;
  std::string name;
};

std::vector<Way> ways_of(const Quantity& quantity, const Setup& setup) {
  std::vector<Way> out;
  for (const PeerConvention convention : std::span(conventions).first(quantity.conventions ? 2 : 1)) {
    const char* const name = !quantity.conventions ? "" : convention == PeerConvention::local ? "local" : "world";
    out.push_back({setup.peers[0].get(), convention, name});
    out.push_back({setup.peers[1].get(), convention, fmt::format("{}°", name)});
  }
  return out;
}

/// Throws unless both sides give the same at every state, relative to the largest number.
void check(const Quantity& quantity, Setup& setup, const std::string& robot) {
  const std::size_t size = quantity.matrix ? setup.n * setup.n : setup.n;
  for (const Way& way : ways_of(quantity, setup)) {
    for (std::size_t i = 0; i < setup.states.size(); ++i) {
      quantity.ours(setup, setup.states[i]);
      quantity.theirs(*way.peer, i, way.convention);
      (way.peer->*quantity.get)(std::span(setup.theirs).first(size));
      double largest = 0;
      double apart = 0;
      for (std::size_t k = 0; k < size; ++k) {
        largest = std::max(largest, std::abs(setup.theirs[k]));
        apart = std::max(apart, std::abs(setup.ours[k] - setup.theirs[k]));
      }
      if (!(apart <= tolerance * largest)) {  // also where one is not a number
        throw std::runtime_error(fmt::format(
            "{} of {}: Bunraku and Pinocchio are {:.2g} apart, of {:.2g}, at state {}, where {:.0e} of it is "
            "allowed. One of them is wrong, and its speed is worth nothing: nothing was measured",
            quantity.name, robot, apart, largest, i, tolerance));
      }
    }
  }
}

Row run(const Quantity& quantity, Setup& setup, const std::string& robot, double seconds) {
  check(quantity, setup, robot);
  std::vector<bench::Batch> batches = {[&] {
    for (const bench::State& state : setup.states) {
      quantity.ours(setup, state);
    }
  }};
  const std::vector<Way> ways = ways_of(quantity, setup);
  for (const Way& way : ways) {
    batches.emplace_back([&quantity, &setup, &way] {
      for (std::size_t i = 0; i < setup.states.size(); ++i) {
        quantity.theirs(*way.peer, i, way.convention);
      }
    });
  }
  const std::vector<double> costs = bench::measure(batches, seconds);
  const auto best = std::min_element(costs.begin() + 1, costs.end());
  const auto calls = static_cast<double>(setup.states.size());
  const Way& fastest = ways[static_cast<std::size_t>(best - costs.begin() - 1)];
  return {robot, quantity.name, costs[0] / calls, *best / calls, fastest.name};
}

std::map<std::string, double> geometric_means(const std::vector<Row>& rows) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const Row& row : rows) {
    auto& [sum, count] = sums[row.quantity];
    sum += std::log(row.theirs / row.ours);
    ++count;
  }
  std::map<std::string, double> means;
  for (const auto& [quantity, sum] : sums) {
    means[quantity] = std::exp(sum.first / sum.second);
  }
  return means;
}

std::string json(const std::vector<Row>& rows, const std::map<std::string, double>& means,
                 const std::string& peer_name) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    lines.push_back(fmt::format(
        R"(    {{"robot": "{}", "quantity": "{}", "ours_{}": {:.1f}, "peer": "{}", "peer_{}": {:.1f}, "ratio": {:.4f}}})",
        row.robot, row.quantity, bench::unit(), row.ours, peer_name, bench::unit(), row.theirs, row.theirs / row.ours));
  }
  std::vector<std::string> summary;
  for (const auto& [quantity, mean] : means) {
    summary.push_back(fmt::format(R"("{}": {:.4f})", quantity, mean));
  }
  return fmt::format("{{\n  \"rows\": [\n{}\n  ],\n  \"summary\": {{{}}}\n}}\n", fmt::join(lines, ",\n"),
                     fmt::join(summary, ", "));
}

void print_header(const std::vector<bench::Robot>& robots, std::size_t states, int core, const std::string& peer_name) {
  fmt::print(
      "Bunraku {} {} against {} from its headers, {}.\n"
      "Bunraku's sweeps have -fno-tree-slp-vectorize. Pinocchio is measured without it and with it (°).\n",
      bk::version(), bench::library(), peer_name, bench::compiler_flags());
  if (bench::counting()) {
    fmt::print("Instructions a call under callgrind, mean over {} states.\n", states);
  } else {
    fmt::print("Least time of a call, mean over {} states in turn, {}.\n", states,
               core < 0 ? "not pinned to a core" : fmt::format("on core {}", core));
  }
  fmt::print(
      "Bunraku: state.set(q, v), then the quantity, both triangles of matrices. Pinocchio: the fastest of its\n"
      "conventions and flags, the upper triangle of matrices alone, as it leaves them.\n");
  for (const bench::Robot& robot : robots) {
    if (robot.uncoupled) {
      fmt::print("{}: the mimic coupling is taken out on both sides; each hinge has its own coordinate.\n", robot.name);
    }
  }
  fmt::print("\n{:<16}{:>4}  {:<20}{:>13}{:>13} {:<6}{:>7}\n", "robot", "dof", "quantity",
             fmt::format("ours {}", bench::counting() ? "instr." : "ns"),
             fmt::format("peer {}", bench::counting() ? "instr." : "ns"), "", "ratio");
  std::fflush(stdout);
}

void measure_all(const Options& options) {
  // Pinocchio's reader ignores couplings unless asked for: here each hinge has its own coordinate on both sides.
  const std::vector<bench::Robot> robots =
      bench::load_robots("dynamics", options.robots, options.models, bench::Couplings::taken_out);
  const int core = bench::pin_to_quiet_core();
  const std::string peer_name = bench::make_peer_plain({}, {})->name();
  print_header(robots, options.states, core, peer_name);
  std::vector<Row> rows;
  for (const bench::Robot& robot : robots) {
    Setup setup(robot, options.states);
    for (const Quantity& quantity : quantities) {
      if (!options.quantities.empty() &&
          std::ranges::find(options.quantities, quantity.name) == options.quantities.end()) {
        continue;
      }
      rows.push_back(run(quantity, setup, robot.name, options.seconds));
      const Row& row = rows.back();
      fmt::print("{:<16}{:>4}  {:<20}{:>13.0f}{:>13.0f} {:<6}{:>7.2f}\n", row.robot, setup.n, row.quantity, row.ours,
                 row.theirs, row.way, row.theirs / row.ours);
      std::fflush(stdout);
    }
  }
  const std::map<std::string, double> means = geometric_means(rows);
  fmt::print("\ngeometric mean of the ratios over {} robot{}\n", robots.size(), robots.size() == 1 ? "" : "s");
  for (const Quantity& quantity : quantities) {
    if (means.contains(quantity.name)) {
      fmt::print("  {:<20}{:>7.2f}\n", quantity.name, means.at(quantity.name));
    }
  }
  if (!options.json.empty()) {
    bench::write_file(options.json, json(rows, means, peer_name));
  }
}

void declare(CLI::App& app, Options& options) {
  std::vector<std::string> names;
  for (const Quantity& quantity : quantities) {
    names.emplace_back(quantity.name);
  }
  app.add_option("--robots", options.robots,
                 fmt::format("only these, such as a,b: {}, or any other NAME.urdf there",
                             fmt::join(bench::robot_names(), ", ")))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--quantities", options.quantities, fmt::format("only these: {}", fmt::join(names, ", ")))
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember(names));
  app.add_option("--models", options.models, "folder with the URDF files, or with a folder urdf of them")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--states", options.states, "number of random states")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bench::Program program{
      .name = "dynamics",
      .description = "Time of inverse and forward dynamics, mass matrix and its inverse, against Pinocchio.",
      .declare = [&](CLI::App& app) { declare(app, options); },
      .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
