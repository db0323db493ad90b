/// @file
/// closed_forward_dynamics against Pinocchio's constrained dynamics on the same systems at the same states.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "closed_parts.hpp"
#include "closed_systems.hpp"
#include "meter.hpp"
#include "peer_model.hpp"
#include "pinocchio_closed.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

/// Accelerations of the two sides are this near, relative to the largest.
constexpr double tolerance = 1e-9;

/// Pinocchio's algorithms, each with parameters of its iteration from one end to the other. Small ones need fewer
/// steps, large ones lose fewer digits; constraints that are not independent need some. Each is given as many steps as
/// it takes to agree.
constexpr PeerMethod methods[] = {{PeerSolver::constraint_dynamics, 0},
                                  {PeerSolver::constraint_dynamics, 1e-12},
                                  {PeerSolver::constraint_dynamics, 1e-9},
                                  {PeerSolver::constraint_dynamics, 1e-6},
                                  {PeerSolver::lcaba, 1e-9},
                                  {PeerSolver::lcaba, 1e-7},
                                  {PeerSolver::lcaba, 1e-5}};
constexpr int most_iterations[] = {1, 2, 3, 4, 6, 10, 30};

struct Way {
  PinocchioClosed* peer = nullptr;
  PeerMethod method = {};
  const char* flags = "";
  double apart = 0;       ///< The largest difference to ours at any state, relative.
  double iterations = 0;  ///< Mean.

  std::string name() const {
    return fmt::format("{} {:g}{}", method.solver == PeerSolver::lcaba ? "lcaba" : "cd", method.mu, flags);
  }
};

struct Row {
  std::string system;
  int nv, rows, rank;
  double ours;
  double theirs;
  Way way;
};

/// Closures as Pinocchio takes them. Throws std::runtime_error for those that it has no equal of.
std::vector<PeerClosure> peer_closures(const ClosedRobot& robot) {
  std::vector<PeerClosure> out;
  for (const bk::Closure& c : robot.model.closures()) {
    const bk::HingeType type = c.hinge.type;
    const bool pin = robot.planar && type == bk::HingeType::revolute;
    if (c.kind != bk::ClosureKind::nodes ||
        (type != bk::HingeType::fixed && type != bk::HingeType::spherical && !pin)) {
      throw std::runtime_error(fmt::format("{}: Pinocchio has no closure like {}", robot.name, c.name));
    }
    out.push_back({.whole = type == bk::HingeType::fixed,
                   .body_a = c.a.body,
                   .body_b = c.b.body,
                   .X_AN = peer_pose(c.a.X_BN),
                   .X_BN = peer_pose(c.b.X_BN)});
  }
  return out;
}

/// Both sides of one system.
struct Setup {
  Setup(const ClosedRobot& robot, std::size_t count)
      : system(robot.model, bk::PassiveForces::left_out),
        states(closed_states(robot.model, count)),
        ours(static_cast<std::size_t>(robot.model.nv())),
        theirs(ours.size()) {
    const std::vector<PeerBody> bodies = peer_bodies(robot.model);
    const std::vector<PeerClosure> closures = peer_closures(robot);
    peers = {make_closed_plain(bodies, closures, peer_gravity(robot.model)),
             make_closed_without_slp(bodies, closures, peer_gravity(robot.model))};
    for (const ClosedState& s : states) {
      for (const auto& peer : peers) {
        peer->add_state(s.q, s.v, s.torque);
      }
    }
  }
  const bk::ClosureReport& run(const ClosedState& s) {
    system.set(std::span(s.q), std::span(s.v));
    return bk::closed_forward_dynamics(system, std::span(s.torque), std::span(ours));
  }

  bk::ClosedSystem system;
  std::vector<ClosedState> states;
  std::vector<double> ours;
  std::vector<double> theirs;
  std::array<std::unique_ptr<PinocchioClosed>, 2> peers;
};

/// How far a way of Pinocchio's is from ours, and how many iterations it takes.
void compare(Setup& setup, Way& way) {
  for (std::size_t i = 0; i < setup.states.size(); ++i) {
    setup.run(setup.states[i]);
    way.iterations += way.peer->forward(i, way.method) / static_cast<double>(setup.states.size());
    way.peer->get_acceleration(way.method.solver, setup.theirs);
    double largest = 0;
    double apart = 0;
    for (std::size_t k = 0; k < setup.ours.size(); ++k) {
      largest = std::max(largest, std::abs(setup.theirs[k]));
      apart = std::max(apart, std::abs(setup.ours[k] - setup.theirs[k]));
    }
    const double relative = apart / largest;
    way.apart = std::max(way.apart, std::isfinite(relative) ? relative : std::numeric_limits<double>::infinity());
  }
}

/// The ways that agree with ours; where none does, the one that is nearest.
std::vector<Way> agreeing(Setup& setup) {
  std::vector<Way> out;
  Way nearest{.apart = std::numeric_limits<double>::infinity()};
  for (PeerMethod method : methods) {
    for (const int iterations : most_iterations) {
      method.iterations = iterations;
      Way way{setup.peers[0].get(), method, ""};
      compare(setup, way);
      if (way.apart < nearest.apart) {
        nearest = way;
      }
      if (way.apart <= tolerance) {
        out.push_back(way);
        way.peer = setup.peers[1].get();
        way.flags = "°";
        out.push_back(way);
        break;
      }
    }
  }
  if (out.empty()) {
    out.push_back(nearest);
  }
  return out;
}

Row run(const ClosedRobot& robot, std::size_t count, double seconds) {
  Setup setup(robot, count);
  const std::vector<Way> ways = agreeing(setup);
  std::vector<Batch> batches = {[&] {
    for (const ClosedState& state : setup.states) {
      setup.run(state);
    }
  }};
  for (const Way& way : ways) {
    batches.emplace_back([&setup, &way] {
      for (std::size_t i = 0; i < setup.states.size(); ++i) {
        way.peer->forward(i, way.method);
      }
    });
  }
  const std::vector<double> costs = measure(batches, seconds);
  const auto best = std::min_element(costs.begin() + 1, costs.end());
  const auto calls = static_cast<double>(setup.states.size());
  const bk::ClosureReport& report = setup.run(setup.states.front());
  return {robot.name,
          robot.model.nv(),
          report.rows,
          report.rank,
          costs[0] / calls,
          *best / calls,
          ways[static_cast<std::size_t>(best - costs.begin() - 1)]};
}

void print_header(const std::vector<ClosedRobot>& robots, std::size_t states, const std::string& peer) {
  fmt::print(
      "against {} from its headers, {}, without and with -fno-tree-slp-vectorize (°)\n"
      "{} of a call, mean over {} closed states in turn. Bunraku: set(q, v), closed_forward_dynamics. Pinocchio: the\n"
      "faster of constraintDynamics (cd) and lcaba, with the parameter of the iteration that is the fastest of those\n"
      "that agree to {:.0e}.\n",
      peer, compiler_flags(), counting() ? "Instructions" : "Least time", states, tolerance);
  for (const ClosedRobot& robot : robots) {
    if (robot.planar) {
      fmt::print("{}: planar; Pinocchio, which has no revolute closures, is told that points coincide, 3 rows for 5.\n",
                 robot.name);
    }
  }
  fmt::print("\n{:<14}{:>4}{:>6}{:>6}{:>12}{:>12}  {:<13}{:>6}{:>10}{:>8}\n", "system", "dof", "rows", "rank",
             counting() ? "ours instr." : "ours ns", counting() ? "peer instr." : "peer ns", "by", "steps", "apart",
             "ratio");
  std::fflush(stdout);
}

}  // namespace

std::string measure_closed_peers(const std::vector<std::string>& names, const std::string& folder, std::size_t states,
                                 double seconds) {
  const std::vector<ClosedRobot> robots = load_closed(names, folder);
  const std::string peer = make_closed_plain({}, {}, {})->name();
  print_header(robots, states, peer);
  std::vector<std::string> lines;
  std::vector<std::string> summary;
  double sum = 0;
  for (const ClosedRobot& robot : robots) {
    const Row row = run(robot, states, seconds);
    const double ratio = row.theirs / row.ours;
    sum += std::log(ratio) / static_cast<double>(robots.size());
    fmt::print("{:<14}{:>4}{:>6}{:>6}{:>12.0f}{:>12.0f}  {:<13}{:>6.1f}{:>10.1e}{:>8.2f}\n", row.system, row.nv,
               row.rows, row.rank, row.ours, row.theirs, row.way.name(), row.way.iterations, row.way.apart, ratio);
    if (row.way.apart > tolerance) {
      fmt::print("{}: no way of Pinocchio's agrees to {:.0e}; this is the nearest\n", row.system, tolerance);
    }
    std::fflush(stdout);
    lines.push_back(fmt::format(
        R"(    {{"robot": "{}", "quantity": "closed_fd", "ours_{}": {:.1f}, "peer": "{}", "peer_{}": {:.1f}, "ratio": {:.4f}}})",
        row.system, unit(), row.ours, peer, unit(), row.theirs, ratio));
    summary.push_back(fmt::format(R"("{}": {:.4f})", row.system, ratio));
  }
  fmt::print("{:<14}{:>77.2f}\n", "geometric mean", std::exp(sum));
  summary.push_back(fmt::format(R"("mean": {:.4f})", std::exp(sum)));
  return fmt::format("  \"rows\": [\n{}\n  ],\n  \"summary\": {{{}}}", fmt::join(lines, ",\n"),
                     fmt::join(summary, ", "));
}

}  // namespace bench
