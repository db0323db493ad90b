/// @file
/// Time and memory against the number of bodies, for chains, stars and binary trees.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <bunraku/bunraku.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

#include "meter.hpp"

namespace {

namespace bk = bunraku;

struct Options : bench::CommonOptions {
  int max = 100000;
  std::vector<std::string> shapes;
};

/// A shape says on which body the body i > 0 hangs.
struct Shape {
  const char* name;
  int (*parent)(int i);
};
constexpr Shape shapes[] = {{"chain", [](int i) { return i - 1; }},
                            {"star", [](int) { return 0; }},
                            {"tree", [](int i) { return (i - 1) / 2; }}};

constexpr const char* quantities[] = {"inverse", "forward", "solve"};

struct Row {
  std::string shape;
  int n;
  std::vector<double> costs;  ///< One for each quantity.
  std::size_t bytes;
};

using Random = std::mt19937_64;

double uniform(Random& random, double range) {
  return std::uniform_real_distribution<double>(-range, range)(random);
}

bk::Vec3<double> direction(Random& random) {
  std::normal_distribution<double> normal;
  return bk::normalized(bk::Vec3<double>{normal(random), normal(random), normal(random)});
}

/// A body of about a kilogram, a decimetre from its parent's, on a hinge about or, one in ten, along a random axis.
bk::BodySpec random_body(Random& random, int i, const Shape& shape) {
  bk::BodySpec body;
  body.name = fmt::format("b{}", i);
  if (i > 0) {
    body.parent = fmt::format("b{}", shape.parent(i));
  }
  body.hinge.type = uniform(random, 1) < 0.8 ? bk::HingeType::revolute : bk::HingeType::prismatic;
  body.hinge.axis = direction(random);
  body.X_PF = {bk::Rotation<double>::about(direction(random), uniform(random, 3)), direction(random) * 0.1};
  const double mass = 1 + uniform(random, 0.5);
  body.inertia = bk::RigidInertia<double>::about_center(
      mass, direction(random) * 0.03,
      bk::Sym3<double>::diagonal(mass * 4e-3, mass * (4e-3 + uniform(random, 1e-3)), mass * 4e-3));
  return body;
}

bk::Model random_model(const Shape& shape, int n) {
  Random random(static_cast<std::uint64_t>(n));
  bk::ModelBuilder builder(fmt::format("{} of {}", shape.name, n));
  for (int i = 0; i < n; ++i) {
    builder.add(random_body(random, i, shape));
  }
  return builder.build();
}

/// Velocities and accelerations add up along a chain: they are small, so that a hundred thousand stay finite.
struct State {
  State(const bk::Model& model, Random& random) {
    for (const bk::Body& body : model.bodies()) {
      q.push_back(uniform(random, body.hinge.type == bk::HingeType::revolute ? 3 : 0.1));
      v.push_back(uniform(random, 1e-3));
      x.push_back(uniform(random, 1e-2));
    }
  }
  std::vector<double> q, v;
  std::vector<double> x;  ///< Accelerations, torques, or what 𝓜⁻¹ is applied to.
};

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Heap that a Dynamics object takes: that of a second one, since freed scraps that malloc sets aside after the first
/// count as used.
std::size_t bytes_of_dynamics(const bk::Model& model) {
  {
    const bk::Dynamics first(model);
  }
  const std::size_t before = heap_bytes();
  const bk::Dynamics second(model);
  return heap_bytes() - before;
}

void require_finite(std::span<const double> numbers, const char* quantity, const std::string& model) {
  if (!std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); })) {
    throw std::runtime_error(fmt::format(
        "{} of a {} is not finite: its speed is worth nothing, and nothing more is measured", quantity, model));
  }
}

Row run(const Shape& shape, int n, double seconds) {
  const bk::Model model = random_model(shape, n);
  Row row{shape.name, n, {}, bytes_of_dynamics(model)};
  bk::Dynamics dynamics(model);
  Random random(1);
  std::vector<State> states;
  for (int i = 0; i < std::clamp(20000 / n, 1, 64); ++i) {
    states.emplace_back(model, random);
  }
  std::vector<double> out(static_cast<std::size_t>(model.nv()));
  std::vector<bench::Batch> batches;
  const auto add = [&](auto call) {
    batches.emplace_back([&, call] {
      for (const State& state : states) {
        dynamics.set_state(std::span(state.q), std::span(state.v));
        call(std::span<const double>(state.x));
      }
    });
  };
  add([&](std::span<const double> x) { dynamics.inverse(x, out); });
  add([&](std::span<const double> x) { dynamics.forward(x, out); });
  add([&](std::span<const double> x) { dynamics.solve(x, out); });
  for (std::size_t k = 0; k < batches.size(); ++k) {
    batches[k]();
    require_finite(out, quantities[k], model.name());
  }
  for (const double cost : bench::measure(batches, seconds)) {
    row.costs.push_back(cost / static_cast<double>(states.size()));
  }
  return row;
}

/// The slope of the line of least squares through (log n, log cost), where there are two points at least.
std::optional<double> exponent(const std::vector<Row>& rows, const std::string& shape, std::size_t quantity) {
  double count = 0;
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (const Row& row : rows) {
    if (row.shape == shape) {
      const double log_n = std::log(row.n);
      const double log_cost = std::log(row.costs[quantity]);
      count += 1;
      x += log_n;
      y += log_cost;
      xx += log_n * log_n;
      xy += log_n * log_cost;
    }
  }
  return count < 2 ? std::nullopt : std::optional((count * xy - x * y) / (count * xx - x * x));
}

std::string json(const std::vector<Row>& rows, const std::vector<const Shape*>& measured) {
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < row.costs.size(); ++k) {
      lines.push_back(fmt::format(R"(    {{"shape": "{}", "quantity": "{}", "n": {}, "{}": {:.1f}, "bytes": {}}})",
                                  row.shape, quantities[k], row.n, bench::unit(), row.costs[k], row.bytes));
    }
  }
  std::vector<std::string> exponents;
  for (const Shape* shape : measured) {
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
      "Bunraku {}, {}, {}\n", bk::version(), bench::compiler_flags(),
      bench::counting() ? "under callgrind" : (core < 0 ? "not pinned to a core" : fmt::format("on core {}", core)));
  fmt::print(
      "{} a call of set_state(q, v) and the quantity; heap bytes of a Dynamics object.\n"
      "Random hinges of one degree of freedom, one in ten prismatic.\n\n{:<8}{:>8}{:>15}{:>15}{:>15}{:>13}{:>9}\n",
      bench::counting() ? "Instructions of" : "Least nanoseconds of", "shape", "bodies", quantities[0], quantities[1],
      quantities[2], "bytes", "a body");
  std::fflush(stdout);
}

void print_exponents(const std::vector<Row>& rows, const std::vector<const Shape*>& measured) {
  fmt::print("\nexponent of the number of bodies, by least squares of the logarithms\n");
  for (const Shape* shape : measured) {
    fmt::print("{:<16}", shape->name);
    for (std::size_t k = 0; k < std::size(quantities); ++k) {
      const std::optional<double> slope = exponent(rows, shape->name, k);
      fmt::print("{:>15}", slope ? fmt::format("{:.3f}", *slope) : "-");
    }
    fmt::print("\n");
  }
}

void measure_all(const Options& options) {
  std::vector<const Shape*> measured;
  for (const Shape& shape : shapes) {
    if (options.shapes.empty() || std::ranges::find(options.shapes, shape.name) != options.shapes.end()) {
      measured.push_back(&shape);
    }
  }
  print_header(bench::pin_to_quiet_core());
  std::vector<Row> rows;
  for (const Shape* shape : measured) {
    for (int step = 4; step <= 12; ++step) {  // half a power of ten apart
      const int n = static_cast<int>(std::lround(std::pow(10.0, step / 2.0)));
      if (n > options.max) {
        break;
      }
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

void declare(CLI::App& app, Options& options) {
  std::vector<std::string> names;
  for (const Shape& shape : shapes) {
    names.emplace_back(shape.name);
  }
  app.add_option("--max", options.max, "the most bodies; from 100 on, half a power of ten apart")
      ->type_name("N")
      ->check(CLI::Range(100, 1000000))
      ->capture_default_str();
  app.add_option("--shapes", options.shapes, fmt::format("only these: {}", fmt::join(names, ", ")))
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember(names));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bench::Program program{.name = "scaling",
                               .description = "Time and memory against the number of bodies.",
                               .declare = [&](CLI::App& app) { declare(app, options); },
                               .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
