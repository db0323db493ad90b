/// @file
/// Time and memory against the number of bodies, for chains, stars and binary trees.
#include <cstdio>

#include <CLI/CLI.hpp>
#include <bunraku/bunraku.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meter.hpp"
#include "shapes.hpp"

namespace {

namespace bk = bunraku;

struct Options : bench::CommonOptions {
  bench::GrowthOptions growth;
};

constexpr const char* quantities[] = {"inverse", "forward", "solve"};

struct Row {
  std::string shape;
  int n;
  std::vector<double> costs;  ///< One for each quantity.
  std::size_t bytes;
};

/// Heap that a State object takes: that of a second one, since freed scraps that malloc sets aside after the first
/// count as used.
std::size_t bytes_of_dynamics(const bk::Model& model) {
  {
    const bk::State first(model);
  }
  const std::size_t before = bench::heap_bytes();
  const bk::State second(model);
  return bench::heap_bytes() - before;
}

Row run(const bench::Shape& shape, int n, double seconds) {
  const bk::Model model = bench::random_model(shape, n);
  Row row{shape.name, n, {}, bytes_of_dynamics(model)};
  bk::State dynamics(model);
  const std::vector<bench::ShapeState> states = bench::random_shape_states(model);
  std::vector<double> out(static_cast<std::size_t>(model.nv()));
  std::vector<bench::Batch> batches;
  const auto add = [&](auto call) {
    batches.emplace_back([&, call] {
      for (const bench::ShapeState& state : states) {
        dynamics.set(std::span(state.q), std::span(state.v));
        call(std::span<const double>(state.x));
      }
    });
  };
  add([&](std::span<const double> x) { bk::inverse_dynamics(dynamics, x, out); });
  add([&](std::span<const double> x) { bk::forward_dynamics(dynamics, x, out); });
  add([&](std::span<const double> x) { bk::inverse_mass_times(dynamics, x, out); });
  for (std::size_t k = 0; k < batches.size(); ++k) {
    batches[k]();
    bench::require_finite(out, quantities[k], model.name());
  }
  for (const double cost : bench::measure(batches, seconds)) {
    row.costs.push_back(cost / static_cast<double>(states.size()));
  }
  return row;
}

std::optional<double> exponent(const std::vector<Row>& rows, const std::string& shape, std::size_t quantity) {
  std::vector<bench::GrowthPoint> points;
  for (const Row& row : rows) {
    if (row.shape == shape) {
      points.emplace_back(row.n, row.costs[quantity]);
    }
  }
  return bench::exponent(points);
}

std::string json(const std::vector<Row>& rows, const std::vector<const bench::Shape*>& measured) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < row.costs.size(); ++k) {
      lines.push_back(fmt::format(R"(    {{"shape": "{}", "quantity": "{}", "n": {}, "{}": {:.1f}, "bytes": {}}})",
                                  row.shape, quantities[k], row.n, bench::unit(), row.costs[k], row.bytes));
    }
  }
  std::vector<std::string> exponents;
  for (const bench::Shape* shape : measured) {
    std::vector<std::string> numbers;
    for (std::size_t k = 0; k < std::size(quantities); ++k) {
      const std::optional<double> slope = exponent(rows, shape->name, k);
      numbers.push_back(fmt::format(R"("{}": {})", quantities[k], slope ? fmt::format("{:.4f}", *slope) : "null"));
    }
    exponents.push_back(fmt::format(R"(    "{}": {{{}}})", shape->name, fmt::join(numbers, ", ")));
  }
  return fmt::format("{{\n  \"rows\": [\n{}\n  ],\n  \"exponents\": {{\n{}\n  }}\n}}\n", fmt::join(lines, ",\n"),
                     fmt::join(exponents, ",\n"));
}

void print_header(int core) {
  fmt::print(
      "Bunraku {}, {}, {}\n", bk::version(), bench::library(),
      bench::counting() ? "under callgrind" : (core < 0 ? "not pinned to a core" : fmt::format("on core {}", core)));
  fmt::print(
      "{} a call of set(q, v) and the quantity; heap bytes of a State object.\n"
      "Random hinges of one degree of freedom, one in ten prismatic.\n\n{:<8}{:>8}{:>15}{:>15}{:>15}{:>13}{:>9}\n",
      bench::counting() ? "Instructions of" : "Least nanoseconds of", "shape", "bodies", quantities[0], quantities[1],
      quantities[2], "bytes", "a body");
  std::fflush(stdout);
}

void print_exponents(const std::vector<Row>& rows, const std::vector<const bench::Shape*>& measured) {
  fmt::print("\nexponent of the number of bodies, by least squares of the logarithms\n");
  for (const bench::Shape* shape : measured) {
    fmt::print("{:<16}", shape->name);
    for (std::size_t k = 0; k < std::size(quantities); ++k) {
      const std::optional<double> slope = exponent(rows, shape->name, k);
      fmt::print("{:>15}", slope ? fmt::format("{:.3f}", *slope) : "-");
    }
    fmt::print("\n");
  }
}

void measure_all(const Options& options) {
  const std::vector<const bench::Shape*> measured = options.growth.measured();
  print_header(bench::pin_to_quiet_core());
  std::vector<Row> rows;
  for (const bench::Shape* shape : measured) {
    for (const int n : options.growth.sizes()) {
      rows.push_back(run(*shape, n, options.seconds));
      const Row& row = rows.back();
      fmt::print("{:<8}{:>8}{:>15.0f}{:>15.0f}{:>15.0f}{:>13}{:>9.0f}\n", row.shape, row.n, row.costs[0], row.costs[1],
                 row.costs[2], row.bytes, static_cast<double>(row.bytes) / row.n);
      std::fflush(stdout);
    }
  }
  print_exponents(rows, measured);
  if (!options.json.empty()) {
    bench::write_file(options.json, json(rows, measured));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bench::Program program{.name = "scaling",
                               .description = "Time and memory against the number of bodies.",
                               .declare = [&](CLI::App& app) { options.growth.declare(app); },
                               .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
