/// @file
/// Time and memory of 𝓜⁻¹x by an operator expression, against the number of bodies.
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meter.hpp"
#include "operators_parts.hpp"
#include "robots.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

/// Of instructions and bytes 1 ± this.
constexpr double target_width = 0.03;
/// Of time, the most: what fits the processor's caches at first does not in the end.
constexpr double most_of_time = 1.15;

constexpr const char* quantities[] = {"inverse_mass", "inverse_mass_with_state"};

struct Row {
  std::string shape;
  int n;
  std::array<double, 2> costs;  ///< One for each quantity.
  std::size_t bytes;
};

/// A system at a state and the expression, applied once.
struct Prepared {
  Prepared(const bk::Model& model, const ShapeState& state, std::span<double> out)
      : system(model, state.q, state.v), evaluation(system(inverse_mass(model))) {
    evaluation.apply(state.x, out);
  }
  bk::System system;
  bk::Evaluation evaluation;
};

/// Heap that the system and the evaluation take: those of a second one, since freed scraps that malloc sets aside after
/// the first count as used.
std::size_t bytes_of(const bk::Model& model, const ShapeState& state, std::span<double> out) {
  {
    const Prepared first(model, state, out);
  }
  const std::size_t before = heap_bytes();
  const Prepared second(model, state, out);
  return heap_bytes() - before;
}

Row run(const Shape& shape, int n, double seconds) {
  const bk::Model model = random_model(shape, n);
  const std::vector<ShapeState> states = random_shape_states(model);
  std::vector<double> out(static_cast<std::size_t>(model.nv()));
  const std::size_t bytes = bytes_of(model, states.front(), out);
  Prepared prepared(model, states.front(), out);
  require_finite(out, "𝓜⁻¹x", model.name());
  const std::array<Batch, 1> fixed{[&] {
    for (const ShapeState& state : states) {
      prepared.evaluation.apply(state.x, out);
    }
  }};
  const std::array<Batch, 1> moving{[&] {
    for (const ShapeState& state : states) {
      prepared.system.set_state(state.q, state.v);
      prepared.evaluation.apply(state.x, out);
    }
  }};
  const auto calls = static_cast<double>(states.size());
  const double at_fixed_state = measure(fixed, seconds)[0] / calls;
  return {shape.name, n, {at_fixed_state, measure(moving, seconds)[0] / calls}, bytes};
}

/// Of the costs, one after another, and of the bytes.
std::vector<std::pair<std::string, std::optional<double>>> exponents(const std::vector<Row>& rows,
                                                                     const std::string& shape) {
  std::array<std::vector<GrowthPoint>, 3> points;
  for (const Row& row : rows) {
    if (row.shape == shape) {
      points[0].emplace_back(row.n, row.costs[0]);
      points[1].emplace_back(row.n, row.costs[1]);
      points[2].emplace_back(row.n, row.bytes);
    }
  }
  return {{quantities[0], exponent(points[0])}, {quantities[1], exponent(points[1])}, {"bytes", exponent(points[2])}};
}

std::string json(const std::vector<Row>& rows, const std::vector<const Shape*>& measured) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < row.costs.size(); ++k) {
      lines.push_back(fmt::format(R"(      {{"shape": "{}", "quantity": "{}", "n": {}, "{}": {:.1f}, "bytes": {}}})",
                                  row.shape, quantities[k], row.n, unit(), row.costs[k], row.bytes));
    }
  }
  std::vector<std::string> slopes;
  for (const Shape* shape : measured) {
    std::vector<std::string> numbers;
    for (const auto& [quantity, slope] : exponents(rows, shape->name)) {
      numbers.push_back(fmt::format(R"("{}": {})", quantity, slope ? fmt::format("{:.4f}", *slope) : "null"));
    }
    slopes.push_back(fmt::format(R"(      "{}": {{{}}})", shape->name, fmt::join(numbers, ", ")));
  }
  return fmt::format("{{\n    \"rows\": [\n{}\n    ],\n    \"exponents\": {{\n{}\n    }}\n  }}",
                     fmt::join(lines, ",\n"), fmt::join(slopes, ",\n"));
}

void print_header() {
  fmt::print(
      "𝓜⁻¹x by Evaluation::apply, {} a call, and heap bytes of System and Evaluation.\n"
      "Random hinges of one degree of freedom, one in ten prismatic.\n\n{:<8}{:>8}{:>15}{:>15}{:>13}{:>9}\n",
      counting() ? "instructions" : "least nanoseconds", "shape", "bodies", "fixed state", "with set_state", "bytes",
      "a body");
  std::fflush(stdout);
}

bool is_met(const std::string& quantity, double slope) {
  const bool of_time = !counting() && quantity != "bytes";
  return of_time ? slope <= most_of_time : std::abs(slope - 1) <= target_width;
}

void print_exponents(const std::vector<Row>& rows, const std::vector<const Shape*>& measured) {
  fmt::print("\nexponent of the number of bodies, by least squares of the logarithms;\ntarget 1.00 ± {:.2f} for {}\n",
             target_width, counting() ? "all" : fmt::format("the bytes, at most {:.2f} for time", most_of_time));
  for (const Shape* shape : measured) {
    fmt::print("{:<16}", shape->name);
    bool any = false;
    std::vector<std::string> missed;
    for (const auto& [quantity, slope] : exponents(rows, shape->name)) {
      fmt::print("{:>{}}", slope ? fmt::format("{:.3f}", *slope) : "-", quantity == "bytes" ? 13 : 15);
      any = any || slope.has_value();
      if (slope && !is_met(quantity, *slope)) {
        missed.push_back(quantity);
      }
    }
    fmt::print("  {}\n", !any ? "" : missed.empty() ? "met" : fmt::format("MISSED: {}", fmt::join(missed, ", ")));
  }
}

}  // namespace

std::string measure_growth(const GrowthOptions& options, double seconds) {
  const std::vector<const Shape*> measured = options.measured();
  print_header();
  std::vector<Row> rows;
  for (const Shape* shape : measured) {
    for (const int n : options.sizes()) {
      rows.push_back(run(*shape, n, seconds));
      const Row& row = rows.back();
      fmt::print("{:<8}{:>8}{:>15.0f}{:>15.0f}{:>13}{:>9.0f}\n", row.shape, row.n, row.costs[0], row.costs[1],
                 row.bytes, static_cast<double>(row.bytes) / row.n);
      std::fflush(stdout);
    }
  }
  print_exponents(rows, measured);
  return json(rows, measured);
}

}  // namespace bench
