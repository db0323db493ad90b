/// @file
/// Derivatives of inverse and forward dynamics against Pinocchio in the same process.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "derivatives_parts.hpp"
#include "meter.hpp"
#include "peer_model.hpp"
#include "pinocchio_derivatives.hpp"
#include "robots.hpp"

namespace {

namespace bk = bunraku;

/// Of the largest number: products with 𝓜⁻¹ lose what its condition says, on either side.
constexpr double tolerance = 1e-8;

struct Options : bench::CommonOptions {
  std::vector<std::string> robots;
  std::string models = bench::default_models();
  std::size_t states = 64;
  int max = 10000;
  std::vector<std::string> parts;

  bool wants(const char* part) const { return parts.empty() || std::ranges::find(parts, part) != parts.end(); }
};

struct Row {
  std::string robot;
  std::string quantity;
  double ours;
  double theirs;
  bool without_slp;  ///< Whether Pinocchio's fastest way was the one with that flag.
};

/// Everything of one robot: both sides, the states, and where results go.
struct Setup {
  explicit Setup(const bench::Robot& robot, std::size_t count)
      : state(robot.model, bk::PassiveForces::left_out),
        states(bench::random_states(robot.model, count)),
        n(static_cast<std::size_t>(robot.model.nv())),
        ours(3 * n * n),
        theirs(3 * n * n) {
    const std::vector<bench::PeerBody> bodies = bench::peer_bodies(robot.model);
    const std::array<double, 3> gravity = bench::peer_gravity(robot.model);
    peers = {bench::make_derivatives_plain(bodies, gravity), bench::make_derivatives_without_slp(bodies, gravity)};
    for (const bench::State& s : states) {
      for (const auto& peer : peers) {
        peer->add_state(s.q, s.v, s.acceleration, s.torque);
      }
    }
  }
  /// One of the three matrices.
  std::span<double> matrix(std::size_t i) { return std::span(ours).subspan(i * n * n, n * n); }

  bk::State state;
  std::array<std::unique_ptr<bench::PinocchioDerivatives>, 2> peers;  ///< As compiled in two ways.
  std::vector<bench::State> states;
  std::size_t n;
  std::vector<double> ours;
  std::vector<double> theirs;
};

/// How a quantity is computed on either side. `ours` is what a user writes: the state, then the quantity.
struct Quantity {
  const char* name;
  void (*ours)(Setup&, const bench::State&);
  void (bench::PinocchioDerivatives::*theirs)(std::size_t);
  void (bench::PinocchioDerivatives::*get)(std::span<double>) const;
};

const Quantity quantities[] = {
    {"id",
     [](Setup& s, const bench::State& x) {
       s.state.set(std::span(x.q), std::span(x.v));
       bk::inverse_dynamics_derivatives(s.state, std::span(x.acceleration), s.matrix(0), s.matrix(1), s.matrix(2));
     },
     &bench::PinocchioDerivatives::inverse, &bench::PinocchioDerivatives::get_inverse},
    {"fd",
     [](Setup& s, const bench::State& x) {
       s.state.set(std::span(x.q), std::span(x.v));
       bk::forward_dynamics_derivatives(s.state, std::span(x.torque), s.matrix(0), s.matrix(1), s.matrix(2));
     },
     &bench::PinocchioDerivatives::forward, &bench::PinocchioDerivatives::get_forward}};

/// Throws unless both sides give the same three matrices at every state, each relative to its largest number.
void check(const Quantity& quantity, Setup& setup, const std::string& robot) {
  for (const auto& peer : setup.peers) {
    for (std::size_t i = 0; i < setup.states.size(); ++i) {
      quantity.ours(setup, setup.states[i]);
      (peer.get()->*quantity.theirs)(i);
      (peer.get()->*quantity.get)(setup.theirs);
      for (std::size_t m = 0; m < 3; ++m) {
        double largest = 0;
        double apart = 0;
        for (std::size_t k = m * setup.n * setup.n; k < (m + 1) * setup.n * setup.n; ++k) {
          largest = std::max(largest, std::abs(setup.theirs[k]));
          apart = std::max(apart, std::abs(setup.ours[k] - setup.theirs[k]));
        }
        if (!(apart <= tolerance * largest)) {  // also where one is not a number
          throw std::runtime_error(fmt::format(
              "{} of {}: Bunraku and Pinocchio are {:.2g} apart in matrix {}, of {:.2g}, at state {}, where {:.0e} of "
              "it is allowed. One of them is wrong, and its speed is worth nothing: nothing was measured",
              quantity.name, robot, apart, m, largest, i, tolerance));
        }
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
  for (const auto& peer : setup.peers) {
    batches.emplace_back([&quantity, &setup, &peer] {
      for (std::size_t i = 0; i < setup.states.size(); ++i) {
        (peer.get()->*quantity.theirs)(i);
      }
    });
  }
  const std::vector<double> costs = bench::measure(batches, seconds);
  const auto calls = static_cast<double>(setup.states.size());
  return {robot, quantity.name, costs[0] / calls, std::min(costs[1], costs[2]) / calls, costs[2] < costs[1]};
}

/// Rows of all states of a setup, with room for what a batch makes of them.
struct BatchSetup {
  explicit BatchSetup(Setup& setup)
      : batch(setup.state.model(), {.passive = bk::PassiveForces::left_out}),
        states(static_cast<std::ptrdiff_t>(setup.states.size())),
        nn(static_cast<std::ptrdiff_t>(setup.n * setup.n)) {
    for (const bench::State& x : setup.states) {
      q.insert(q.end(), x.q.begin(), x.q.end());
      v.insert(v.end(), x.v.begin(), x.v.end());
      acceleration.insert(acceleration.end(), x.acceleration.begin(), x.acceleration.end());
      torque.insert(torque.end(), x.torque.begin(), x.torque.end());
    }
    for (std::vector<double>& each : out) {
      each.resize(static_cast<std::size_t>(states * nn));
    }
  }
  bk::StateRows<const double> rows(const std::vector<double>& x) const {
    const auto columns = static_cast<std::ptrdiff_t>(x.size()) / states;
    return {x.data(), states, columns, columns, 1};
  }
  bk::StateRows<double> matrix(std::size_t i) { return {out[i].data(), states, nn, nn, 1}; }

  bk::Batch batch;
  std::ptrdiff_t states;
  std::ptrdiff_t nn;
  std::vector<double> q, v, acceleration, torque;
  std::array<std::vector<double>, 3> out;
};

/// As run(), ours by one batch on one core.
Row run_batch(const Quantity& quantity, Setup& setup, const std::string& robot, double seconds) {
  BatchSetup rows(setup);
  const bool inverse = std::string_view(quantity.name) == "id";
  const auto call = [&] {
    (inverse
         ? rows.batch.inverse_dynamics_derivatives(rows.rows(rows.q), rows.rows(rows.v), rows.rows(rows.acceleration),
                                                   rows.matrix(0), rows.matrix(1), rows.matrix(2))
         : rows.batch.forward_dynamics_derivatives(rows.rows(rows.q), rows.rows(rows.v), rows.rows(rows.torque),
                                                   rows.matrix(0), rows.matrix(1), rows.matrix(2)))
        .or_throw();
  };
  call();
  for (std::size_t i = 0; i < setup.states.size(); ++i) {  // row by row here, column by column there
    quantity.ours(setup, setup.states[i]);
    for (std::size_t m = 0; m < 3; ++m) {
      const std::span<const double> single = setup.matrix(m);
      const double* const row = rows.out[m].data() + i * setup.n * setup.n;
      double largest = 0;
      double apart = 0;
      for (std::size_t k = 0; k < single.size(); ++k) {
        largest = std::max(largest, std::abs(single[k]));
        apart = std::max(apart, std::abs(single[k] - row[k % setup.n * setup.n + k / setup.n]));
      }
      if (!(apart <= tolerance * largest)) {
        throw std::runtime_error(fmt::format("{} of {}: the batch is {:.2g} from single calls in matrix {}, of {:.2g}",
                                             quantity.name, robot, apart, m, largest));
      }
    }
  }
  std::vector<bench::Batch> batches = {call};
  for (const auto& peer : setup.peers) {
    batches.emplace_back([&quantity, &setup, &peer] {
      for (std::size_t i = 0; i < setup.states.size(); ++i) {
        (peer.get()->*quantity.theirs)(i);
      }
    });
  }
  const std::vector<double> costs = bench::measure(batches, seconds);
  const auto calls = static_cast<double>(setup.states.size());
  return {robot, fmt::format("{}_batch", quantity.name), costs[0] / calls, std::min(costs[1], costs[2]) / calls,
          costs[2] < costs[1]};
}

double geometric_mean(const std::vector<Row>& rows, const std::string& quantity) {
  double sum = 0;
  int count = 0;
  for (const Row& row : rows) {
    if (row.quantity == quantity) {
      sum += std::log(row.theirs / row.ours);
      ++count;
    }
  }
  return std::exp(sum / count);
}

/// The members "rows" and "summary".
std::string json(const std::vector<Row>& rows, const std::string& peer_name) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    lines.push_back(fmt::format(
        R"(    {{"robot": "{}", "quantity": "{}", "ours_{}": {:.1f}, "peer": "{}", "peer_{}": {:.1f}, "ratio": {:.4f}}})",
        row.robot, row.quantity, bench::unit(), row.ours, peer_name, bench::unit(), row.theirs, row.theirs / row.ours));
  }
  std::vector<std::string> summary;
  for (const Quantity& quantity : quantities) {
    for (const std::string& name : {std::string(quantity.name), fmt::format("{}_batch", quantity.name)}) {
      summary.push_back(fmt::format(R"("{}": {:.4f})", name, geometric_mean(rows, name)));
    }
  }
  return fmt::format("  \"rows\": [\n{}\n  ],\n  \"summary\": {{{}}}", fmt::join(lines, ",\n"),
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
      "Three matrices each, by q, by v, and by a or tau. Bunraku: state.set(q, v), then the derivatives. Pinocchio:\n"
      "computeRNEADerivatives and computeABADerivatives, of the third matrix the upper triangle alone. Those of a "
      "batch:\n"
      "Bunraku: one call for all states, on one core; Pinocchio: as before.\n");
  for (const bench::Robot& robot : robots) {
    if (robot.uncoupled) {
      fmt::print("{}: the mimic coupling is taken out on both sides; each hinge has its own coordinate.\n", robot.name);
    }
  }
  fmt::print("\n{:<16}{:>4}  {:<9}{:>13}{:>13}  {:>6}\n", "robot", "dof", "quantity",
             fmt::format("ours {}", bench::counting() ? "instr." : "ns"),
             fmt::format("peer {}", bench::counting() ? "instr." : "ns"), "ratio");
  std::fflush(stdout);
}

std::string measure_robots(const Options& options, int core) {
  const std::vector<bench::Robot> robots =
      bench::load_robots("derivatives", options.robots, options.models, bench::Couplings::taken_out);
  const std::string peer_name = bench::make_derivatives_plain({}, {})->name();
  print_header(robots, options.states, core, peer_name);
  std::vector<Row> rows;
  for (const bench::Robot& robot : robots) {
    Setup setup(robot, options.states);
    for (const Quantity& quantity : quantities) {
      for (const auto& of : {run, run_batch}) {
        rows.push_back(of(quantity, setup, robot.name, options.seconds));
        const Row& row = rows.back();
        fmt::print("{:<16}{:>4}  {:<9}{:>13.0f}{:>13.0f} {}{:>6.2f}\n", row.robot, setup.n, row.quantity, row.ours,
                   row.theirs, row.without_slp ? "°" : " ", row.theirs / row.ours);
        std::fflush(stdout);
      }
    }
  }
  fmt::print("\ngeometric mean of the ratios over {} robot{}\n", robots.size(), robots.size() == 1 ? "" : "s");
  for (const Quantity& quantity : quantities) {
    for (const std::string& name : {std::string(quantity.name), fmt::format("{}_batch", quantity.name)}) {
      fmt::print("  {:<9}{:>6.2f}\n", name, geometric_mean(rows, name));
    }
  }
  return json(rows, peer_name);
}

void measure_all(const Options& options) {
  const int core = bench::pin_to_quiet_core();
  std::vector<std::string> members;
  if (options.wants("robots")) {
    members.push_back(measure_robots(options, core));
    fmt::print("\n");
  }
  if (options.wants("products")) {
    members.push_back(fmt::format("  \"products\": {}", bench::measure_products(options.max, options.seconds)));
    fmt::print("\n");
  }
  if (options.wants("expressions")) {
    members.push_back(fmt::format("  \"expressions\": {}", bench::measure_expressions(options.max, options.seconds)));
  }
  if (!options.json.empty()) {
    bench::write_file(options.json, fmt::format("{{\n{}\n}}\n", fmt::join(members, ",\n")));
  }
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--parts", options.parts, "only these: robots, products, expressions, casadi")
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember({"robots", "products", "expressions", "casadi"}));
  app.add_option("--max", options.max, "the most bodies of products and expressions, to 10000")
      ->check(CLI::Range(7, 10000))
      ->capture_default_str();
  app.add_option("--robots", options.robots,
                 fmt::format("only these, such as a,b: {}, or any other NAME.urdf there",
                             fmt::join(bench::robot_names(), ", ")))
      ->delimiter(',')
      ->type_name("NAMES");
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
      .name = "derivatives",
      .description =
          "Time of derivatives of inverse and forward dynamics, against Pinocchio, and how that of products with "
          "them grows with the number of bodies.",
      .declare = [&](CLI::App& app) { declare(app, options); },
      .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
