/// @file
/// What forward dynamics of chains of beams takes against their number, and against the modes of each.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "flexible_parts.hpp"
#include "meter.hpp"
#include "shapes.hpp"

namespace bench {

namespace {

namespace bk = bunraku;
using Random = std::mt19937_64;

/// What is asked of the exponent of bodies.
constexpr double exponent_tolerance = 0.05;
/// Bodies of the chains whose modes grow.
constexpr int bodies_of_modes = 16;

struct Row {
  int bodies;
  int modes;
  int nv;
  double cost;
  std::size_t bytes;
};

std::vector<double> random_numbers(Random& random, int count, double range) {
  std::uniform_real_distribution<double> uniform(-range, range);
  std::vector<double> out(static_cast<std::size_t>(count));
  std::ranges::generate(out, [&] { return uniform(random); });
  return out;
}

/// Hinges at random angles, modes bent by little. Velocities add up along a chain: they are small.
std::vector<ShapeState> random_chain_states(const bk::Model& model, int bodies) {
  Random random(1);
  std::vector<ShapeState> states;
  for (int i = 0; i < std::clamp(8192 / bodies, 1, 64); ++i) {
    ShapeState state{random_numbers(random, model.nq(), 3), random_numbers(random, model.nv(), 1e-3),
                     random_numbers(random, model.nv(), 1e-2)};
    for (const bk::FlexiblePart& part : model.flexible()) {
      const std::vector<double> bent = random_numbers(random, part.modes, 1e-3);
      std::ranges::copy(bent, state.q.begin() + part.q_index);
    }
    states.push_back(std::move(state));
  }
  return states;
}

/// Heap that a State object takes after its first call: that of a second one, as freed scraps count as used.
std::size_t bytes_of_state(const bk::Model& model, const ShapeState& at, std::vector<double>& out) {
  std::size_t before = 0;
  std::size_t after = 0;
  for (int i = 0; i < 2; ++i) {
    before = heap_bytes();
    bk::State state(model);
    state.set(std::span(at.q), std::span(at.v));
    bk::forward_dynamics(state, std::span(at.x), std::span(out));
    after = heap_bytes();
  }
  return after - before;
}

Row run(int bodies, int modes, double seconds) {
  BeamData data;
  data.modes = modes;
  const bk::Model model = chain_of_beams(bodies, data);
  const std::vector<ShapeState> states = random_chain_states(model, bodies);
  std::vector<double> out(static_cast<std::size_t>(model.nv()));
  Row row{bodies, modes, model.nv(), 0, bytes_of_state(model, states.front(), out)};
  bk::State dynamics(model);
  const Batch batch = [&] {
    for (const ShapeState& state : states) {
      dynamics.set(std::span(state.q), std::span(state.v));
      bk::forward_dynamics(dynamics, std::span(state.x), std::span(out));
    }
  };
  batch();
  require_finite(out, "forward dynamics", model.name());
  row.cost = measure({&batch, 1}, seconds)[0] / static_cast<double>(states.size());
  return row;
}

void print_head() {
  fmt::print(
      "{} a call of set(q, v) and forward_dynamics, and heap bytes of a State object: chains of beams\n"
      "on revolute hinges.\n\n{:>8}{:>8}{:>8}{:>15}{:>13}{:>13}{:>13}\n",
      counting() ? "Instructions of" : "Least nanoseconds of", "bodies", "modes", "dof", counting() ? "instr." : "ns",
      "a body", "a dof", "bytes");
  std::fflush(stdout);
}

void print_row(const Row& row) {
  fmt::print("{:>8}{:>8}{:>8}{:>15.0f}{:>13.1f}{:>13.1f}{:>13}\n", row.bodies, row.modes, row.nv, row.cost,
             row.cost / row.bodies, row.cost / row.nv, row.bytes);
  std::fflush(stdout);
}

std::string json(const std::vector<Row>& rows, const std::string& exponents) {
  std::vector<std::string> lines;
  lines.reserve(rows.size());
  for (const Row& row : rows) {
    lines.push_back(
        fmt::format(R"(      {{"quantity": "fd", "bodies": {}, "modes": {}, "dof": {}, "{}": {:.1f}, "bytes": {}}})",
                    row.bodies, row.modes, row.nv, unit(), row.cost, row.bytes));
  }
  return fmt::format("{{\n    \"rows\": [\n{}\n    ],\n    {}\n  }}", fmt::join(lines, ",\n"), exponents);
}

}  // namespace

bk::Model chain_of_beams(int bodies, const BeamData& data) {
  const bk::FlexibleBody link = carrying_beam(data);
  bk::ModelBuilder builder(fmt::format("chain of {} beams of {} modes", bodies, data.modes));
  for (int i = 0; i < bodies; ++i) {
    bk::BodySpec body{.name = fmt::format("beam{}", i)};
    if (i > 0) {
      body.parent = fmt::format("beam{}.tip", i - 1);
    }
    body.hinge.type = bk::HingeType::revolute;
    body.hinge.axis = i % 2 == 0 ? bk::Vec3<double>::unit_z() : bk::Vec3<double>::unit_y();
    bk::add_flexible_body(builder, std::move(body), link);
  }
  return builder.build();
}

std::string measure_flexible_bodies(double seconds) {
  print_head();
  std::vector<Row> rows;
  std::vector<GrowthPoint> costs;
  std::vector<GrowthPoint> bytes;
  for (int n = 2; n <= 1024; n *= 2) {
    rows.push_back(run(n, BeamData{}.modes, seconds));
    print_row(rows.back());
    costs.emplace_back(n, rows.back().cost);
    bytes.emplace_back(n, static_cast<double>(rows.back().bytes));
  }
  const double of_cost = exponent(costs).value_or(0);
  const double of_bytes = exponent(bytes).value_or(0);
  fmt::print("\nexponent of the number of bodies {:.3f} (1.00 ± {:.2f}: {}), of bytes {:.3f}\n", of_cost,
             exponent_tolerance, std::abs(of_cost - 1) <= exponent_tolerance ? "met" : "MISSED", of_bytes);
  return json(rows, fmt::format(R"("exponents": {{"fd": {:.4f}, "bytes": {:.4f}}})", of_cost, of_bytes));
}

std::string measure_flexible_modes(double seconds) {
  print_head();
  std::vector<Row> rows;
  std::vector<GrowthPoint> costs;
  for (const int modes : {0, 1, 2, 4, 8, 16, 32}) {
    rows.push_back(run(bodies_of_modes, modes, seconds));
    print_row(rows.back());
    if (modes >= 8) {
      costs.emplace_back(modes, rows.back().cost);
    }
  }
  const double slope = exponent(costs).value_or(0);
  fmt::print("\nexponent of the number of modes, from 8 on, {:.3f}; {} modes cost {:.1f} times a rigid body\n", slope,
             BeamData{}.modes, rows[3].cost / rows[0].cost);
  return json(rows, fmt::format(R"("exponents": {{"fd_from_8": {:.4f}}})", slope));
}

}  // namespace bench
