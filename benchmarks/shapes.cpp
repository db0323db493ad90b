#include "shapes.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

namespace bench {

namespace {

namespace bk = bunraku;
using Random = std::mt19937_64;

constexpr Shape all_shapes[] = {{"chain", [](int i) { return i - 1; }},
                                {"star", [](int) { return 0; }},
                                {"tree", [](int i) { return (i - 1) / 2; }}};

double uniform(Random& random, double range) {
  return std::uniform_real_distribution<double>(-range, range)(random);
}

bk::Vec3<double> direction(Random& random) {
  std::normal_distribution<double> normal;
  return bk::normalized(bk::Vec3<double>{normal(random), normal(random), normal(random)});
}

/// A body of about a kilogram, a decimetre from its parent's.
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

ShapeState random_state(const bk::Model& model, Random& random) {
  ShapeState state;
  for (const bk::Body& body : model.bodies()) {
    state.q.push_back(uniform(random, body.hinge.type == bk::HingeType::revolute ? 3 : 0.1));
    state.v.push_back(uniform(random, 1e-3));
    state.x.push_back(uniform(random, 1e-2));
  }
  return state;
}

}  // namespace

std::span<const Shape> shapes() {
  return all_shapes;
}

bk::Model random_model(const Shape& shape, int n) {
  Random random(static_cast<std::uint64_t>(n));
  bk::ModelBuilder builder(fmt::format("{} of {}", shape.name, n));
  for (int i = 0; i < n; ++i) {
    builder.add(random_body(random, i, shape));
  }
  return builder.build();
}

std::vector<ShapeState> random_shape_states(const bk::Model& model) {
  const int bodies = std::max(static_cast<int>(model.bodies().size()), 1);
  Random random(1);
  std::vector<ShapeState> states;
  for (int i = 0; i < std::clamp(20000 / bodies, 1, 64); ++i) {
    states.push_back(random_state(model, random));
  }
  return states;
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void require_finite(std::span<const double> numbers, const std::string& quantity, const std::string& model) {
  if (!std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); })) {
    throw std::runtime_error(fmt::format(
        "{} of a {} is not finite: its speed is worth nothing, and nothing more is measured", quantity, model));
  }
}

void GrowthOptions::declare(CLI::App& app) {
  std::vector<std::string> names;
  for (const Shape& shape : all_shapes) {
    names.emplace_back(shape.name);
  }
  app.add_option("--max", max, "the most bodies; from 100 on, half a power of ten apart")
      ->type_name("N")
      ->check(CLI::Range(100, 1000000))
      ->capture_default_str();
  app.add_option("--shapes", shapes, fmt::format("only these: {}", fmt::join(names, ", ")))
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember(names));
}

std::vector<int> GrowthOptions::sizes() const {
  std::vector<int> out;
  for (int step = 4; step <= 12; ++step) {
    const int n = static_cast<int>(std::lround(std::pow(10.0, step / 2.0)));
    if (n <= max) {
      out.push_back(n);
    }
  }
  return out;
}

std::vector<const Shape*> GrowthOptions::measured() const {
  std::vector<const Shape*> out;
  for (const Shape& shape : all_shapes) {
    if (shapes.empty() || std::ranges::find(shapes, shape.name) != shapes.end()) {
      out.push_back(&shape);
    }
  }
  return out;
}

std::optional<double> exponent(std::span<const GrowthPoint> points) {
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (const auto& [n, cost] : points) {
    const double log_n = std::log(n);
    const double log_cost = std::log(cost);
    x += log_n;
    y += log_cost;
    xx += log_n * log_n;
    xy += log_n * log_cost;
  }
  const auto count = static_cast<double>(points.size());
  return count < 2 ? std::nullopt : std::optional((count * xy - x * y) / (count * xx - x * x));
}

}  // namespace bench
