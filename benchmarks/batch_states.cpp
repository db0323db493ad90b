/// @file
/// Batches of all sizes on one core, against a loop over Pinocchio's single calls.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "batch_parts.hpp"
#include "peer_model.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

/// Of the largest number of a state's result.
template <class T>
constexpr double tolerance = std::is_same_v<T, double> ? 1e-9 : 1e-4;

/// How Pinocchio computes a quantity.
struct PeerCall {
  bool conventions;  ///< Whether it has two ways.
  void (*call)(PinocchioPeer&, std::size_t, PeerConvention);
  void (PinocchioPeer::*get)(std::span<double>) const;
  PeerResult result;
};

PeerCall peer_call(BatchQuantity quantity) {
  switch (quantity) {
    case BatchQuantity::id:
      return {false, [](PinocchioPeer& p, std::size_t i, PeerConvention) { p.rnea(i); }, &PinocchioPeer::get_torque,
              PeerResult::torque};
    case BatchQuantity::fd:
      return {true, [](PinocchioPeer& p, std::size_t i, PeerConvention c) { p.aba(i, c); },
              &PinocchioPeer::get_acceleration, PeerResult::acceleration};
    case BatchQuantity::mass:
      return {true, [](PinocchioPeer& p, std::size_t i, PeerConvention c) { p.crba(i, c); },
              &PinocchioPeer::get_mass_matrix, PeerResult::mass_matrix};
    case BatchQuantity::inverse_mass:
      return {false, [](PinocchioPeer& p, std::size_t i, PeerConvention) { p.minverse(i); },
              &PinocchioPeer::get_inverse_mass_matrix, PeerResult::inverse_mass_matrix};
    default:
      return {true, [](PinocchioPeer& p, std::size_t i, PeerConvention c) { p.solve(i, c); },
              &PinocchioPeer::get_solution, PeerResult::solution};
  }
}

/// One of the ways in which Pinocchio computes a quantity.
struct Way {
  PinocchioPeer* peer;
  PeerConvention convention;
  std::string name;
};

/// Everything of one robot.
struct Setup {
  Setup(const Robot& r, const BatchOptions& options)
      : robot(r),
        summary(options.summary_states()),
        states(different_states(r.model, summary)),
        peers(peers_of(r.model)),
        doubles(r.model, states, std::ranges::max(options.states)),
        floats(r.model, states, std::ranges::max(options.states)) {
    for (const State& s : states) {
      for (const auto& peer : peers) {
        peer->add_state(s.q, s.v, s.acceleration, s.torque);
      }
    }
  }

  std::vector<Way> ways(const PeerCall& call) const {
    std::vector<Way> out;
    constexpr std::array conventions = {PeerConvention::local, PeerConvention::world};
    for (const PeerConvention convention : std::span(conventions).first(call.conventions ? 2 : 1)) {
      const char* const name = !call.conventions ? "" : convention == PeerConvention::local ? "local" : "world";
      out.push_back({peers[0].get(), convention, name});
      out.push_back({peers[1].get(), convention, fmt::format("{}°", name)});
    }
    return out;
  }

  const Robot& robot;
  std::ptrdiff_t summary;                               ///< States of a batch where both are compared.
  std::vector<State> states;                            ///< Those that are different: all that Pinocchio is run at.
  std::array<std::unique_ptr<PinocchioPeer>, 2> peers;  ///< As compiled in two ways.
  BatchRows<double> doubles;
  BatchRows<float> floats;
};

/// Costs a state of one quantity, of ours by size.
struct Costs {
  std::vector<std::optional<double>> doubles, floats;
  double theirs = 0;  ///< Each result is lost with the next state's.
  double kept = 0;    ///< The same with a copy of each, in rows.
  std::string way;
};

template <class T>
void check(const Setup& setup, BatchQuantity quantity, BatchRun<T>& run) {
  const PeerCall call = peer_call(quantity);
  run();
  std::vector<double> theirs(run.result(0).size());
  for (const Way& way : setup.ways(call)) {
    for (std::size_t i = 0; i < setup.states.size(); ++i) {
      call.call(*way.peer, i, way.convention);
      (way.peer->*call.get)(theirs);
      require_close<T>(run.result(static_cast<std::ptrdiff_t>(i)), theirs, tolerance<T>,
                       fmt::format("{} of {} in {}, state {}: a batch and Pinocchio", name_of(quantity),
                                   setup.robot.name, precision_of<T>, i));
    }
  }
}

/// At the size of the summary, both sides take turns.
void compare(const Setup& setup, BatchQuantity quantity, double seconds, Costs& costs) {
  BatchRun<double> doubles(setup.robot.model, quantity, setup.doubles, setup.summary);
  BatchRun<float> floats(setup.robot.model, quantity, setup.floats, setup.summary);
  check(setup, quantity, doubles);
  check(setup, quantity, floats);
  const PeerCall call = peer_call(quantity);
  const std::vector<Way> ways = setup.ways(call);
  std::vector<Batch> batches = {[&] { doubles(); }, [&] { floats(); }};
  for (const Way& way : ways) {
    batches.emplace_back([&] {
      for (std::size_t i = 0; i < setup.states.size(); ++i) {
        call.call(*way.peer, i, way.convention);
      }
    });
  }
  const std::size_t width = ways.front().peer->where(call.result).size();
  std::vector<double> rows(width * setup.states.size());
  for (const Way& way : ways) {
    batches.emplace_back([&] {
      for (std::size_t i = 0; i < setup.states.size(); ++i) {
        call.call(*way.peer, i, way.convention);
        std::ranges::copy(way.peer->where(call.result), rows.data() + i * width);
      }
    });
  }
  const std::vector<double> measured = measure(batches, seconds);
  const auto first = measured.begin() + 2;
  const auto kept = first + static_cast<std::ptrdiff_t>(ways.size());
  const auto best = std::min_element(first, kept);
  costs.doubles.emplace_back(measured[0] / doubles.states());
  costs.floats.emplace_back(measured[1] / floats.states());
  costs.theirs = *best / static_cast<double>(setup.states.size());
  costs.kept = *std::min_element(kept, measured.end()) / static_cast<double>(setup.states.size());
  costs.way = ways[static_cast<std::size_t>(best - first)].name;
}

template <class T>
std::optional<double> cost(const Setup& setup, BatchQuantity quantity, const BatchRows<T>& rows, std::ptrdiff_t count,
                           double seconds) {
  if (BatchRun<T>::too_large(setup.robot.model, quantity, count)) {
    return std::nullopt;
  }
  BatchRun<T> run(setup.robot.model, quantity, rows, count);
  const Batch batch = [&] { run(); };
  return measure({&batch, 1}, seconds, {.least_rounds = least_rounds(count)}).front() / run.states();
}

Costs costs_of(const Setup& setup, BatchQuantity quantity, const BatchOptions& options) {
  Costs costs;
  for (const std::ptrdiff_t count : options.states) {
    if (count == setup.summary) {
      compare(setup, quantity, options.seconds, costs);
    } else {
      costs.doubles.push_back(cost(setup, quantity, setup.doubles, count, options.seconds / 2));
      costs.floats.push_back(cost(setup, quantity, setup.floats, count, options.seconds / 2));
    }
  }
  return costs;
}

/// A line of the table, and its figures.
void report(const Setup& setup, BatchQuantity quantity, const char* precision, const BatchOptions& options,
            const std::vector<std::optional<double>>& ours, const Costs& costs, BatchFigures& figures) {
  fmt::print("{:<16}{:>4} {:<13}{:<7}{:>8.0f} {:<6}{:>7.0f}", setup.robot.name, setup.doubles.nv, name_of(quantity),
             precision, costs.theirs, costs.way, costs.kept);
  double ratio = 0;
  double kept = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (!ours[i]) {
      fmt::print("{:>9}", "-");
      continue;
    }
    fmt::print("{:>9.1f}", *ours[i]);
    const bool in_summary = options.states[i] == setup.summary;
    const BatchFigure figure{setup.robot.name, name_of(quantity),      precision,   1, options.states[i],
                             *ours[i],         setup.peers[0]->name(), costs.theirs};
    figures.add(figure, in_summary ? fmt::format("{}_{}", name_of(quantity), precision) : "");
    if (in_summary) {
      BatchFigure rows = figure;
      rows.peer += ", results kept";
      rows.theirs = costs.kept;
      figures.add(rows, fmt::format("{}_{}_kept", name_of(quantity), precision));
      ratio = figure.ratio();
      kept = rows.ratio();
    }
  }
  fmt::print("{:>8.1f}{:>7.1f}\n", ratio, kept);
  std::fflush(stdout);
}

void print_header(const BatchOptions& options) {
  fmt::print(
      "One core: {} a state of a batch, from rows to rows, against Pinocchio's single calls in a loop, the fastest\n"
      "of its conventions and flags (° with -fno-tree-slp-vectorize). The ratios are at {} states: to each of its\n"
      "results lost with the next state's, and kept in rows, as a batch's are.\n\n"
      "{:<16}{:>4} {:<13}{:<7}{:>8} {:<6}{:>7}",
      counting() ? "instructions" : "least nanoseconds", options.summary_states(), "robot", "dof", "quantity", "",
      "peer", "", "kept");
  for (const std::ptrdiff_t count : options.states) {
    fmt::print("{:>9}", count);
  }
  fmt::print("{:>8}{:>7}\n", "ratio", "kept");
  std::fflush(stdout);
}

}  // namespace

void measure_states(const BatchOptions& options, const std::vector<Robot>& robots, BatchFigures& figures) {
  print_header(options);
  for (const Robot& robot : robots) {
    const Setup setup(robot, options);
    for (const BatchQuantity quantity : batch_quantities()) {
      const Costs costs = costs_of(setup, quantity, options);
      report(setup, quantity, "double", options, costs.doubles, costs, figures);
      report(setup, quantity, "float", options, costs.floats, costs, figures);
    }
  }
  fmt::print("\ngeometric mean of the ratios at {} states over {} robot{}\n{:<16}{:>9}{:>9}{:>9}{:>9}\n",
             options.summary_states(), robots.size(), robots.size() == 1 ? "" : "s", "", "double", "kept", "float",
             "kept");
  for (const BatchQuantity quantity : batch_quantities()) {
    fmt::print("  {:<14}", name_of(quantity));
    for (const char* const key : {"double", "double_kept", "float", "float_kept"}) {
      fmt::print("{:>9.1f}", figures.mean(fmt::format("{}_{}", name_of(quantity), key)));
    }
    fmt::print("\n");
  }
}

}  // namespace bench
