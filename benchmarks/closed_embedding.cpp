/// @file
/// The same systems cut open and embedded: closed_forward_dynamics against embedded_forward_dynamics.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>

#include <bunraku/dynamics/embedded.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "closed_parts.hpp"
#include "closed_systems.hpp"
#include "meter.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

/// Accelerations of the two ways are this near, relative to the largest.
constexpr double tolerance = 1e-8;

struct Row {
  std::string system;
  int nv, loops;
  double cut;
  double embedded;
};

/// Four-bars one on the coupler of the other, in planes that are turned against each other, the first at the end of a
/// chain of so many bodies.
bk::Model four_bars(int count, int trunk = 0) {
  bk::ModelBuilder builder(fmt::format("{} four-bars", count));
  std::string carrier = "world";
  for (int i = 0; i < trunk; ++i) {
    bk::BodySpec body{.name = fmt::format("trunk{}", i), .parent = carrier, .hinge = {.type = bk::HingeType::revolute}};
    body.X_PF = {bk::Rotation<double>::about_x(i % 2 == 0 ? 0.9 : -0.7), {0.2, 0.03, 0}};
    body.inertia = bk::RigidInertia<double>::about_center(2, {0.1, 0, 0}, {0.004, 0.02, 0.02, 0, 0, 0});
    builder.add(body);
    carrier = body.name;
  }
  for (int i = 0; i < count; ++i) {
    const bk::Transform<double> base{bk::Rotation<double>::about_x(i == 0 ? 0.0 : 0.7),
                                     i == 0 ? bk::Vec3<double>::zero() : bk::Vec3<double>{0.3, 0.05, 0}};
    const auto add = [&](const std::string& name, const std::string& parent, const bk::Transform<double>& at,
                         double length) {
      bk::BodySpec body{.name = name, .parent = parent, .hinge = {.type = bk::HingeType::revolute}};
      body.X_PF = at;
      body.inertia = bk::RigidInertia<double>::about_center(1, {length / 2, 0, 0}, {0.002, 0.02, 0.02, 0, 0, 0});
      builder.add(body);
    };
    const auto named = [&](const char* what) { return fmt::format("{}{}", what, i); };
    const auto up = bk::Rotation<double>::about_z(std::numbers::pi / 2);
    add(named("left"), carrier, base * bk::Transform<double>::rotate(up), 0.4);
    add(named("coupler"), named("left"), {up.inverse(), {0.4, 0, 0}}, 0.7);
    add(named("right"), carrier, base * bk::Transform<double>{up, {0.7, 0, 0}}, 0.4);
    const auto tip = [&](const char* what, const char* body, double at) {
      builder.add(
          bk::NodeSpec{.name = named(what), .body = named(body), .X_BN = bk::Transform<double>::translate({at, 0, 0})});
    };
    tip("end", "coupler", 0.7);
    tip("tip", "right", 0.4);
    builder.add(bk::ClosureSpec{
        .name = named("pin"), .hinge = {.type = bk::HingeType::revolute}, .a = named("end"), .b = named("tip")});
    carrier = named("coupler");
  }
  return builder.build();
}

/// Both ways over the same states, which satisfy the closures. Throws std::runtime_error where they do not agree.
Row run(const std::string& name, const bk::Model& model, const std::vector<ClosedState>& states, double seconds) {
  bk::ClosedSystem cut(model, bk::PassiveForces::left_out);
  bk::EmbeddingOptions options;
  options.passive = bk::PassiveForces::left_out;
  bk::EmbeddedState embedded(model, options);
  std::vector<double> one(static_cast<std::size_t>(model.nv()));
  std::vector<double> two(one.size());
  const auto by_cut = [&](const ClosedState& s) {
    cut.set(std::span(s.q), std::span(s.v));
    bk::closed_forward_dynamics(cut, std::span(s.torque), std::span(one));
  };
  const auto by_clusters = [&](const ClosedState& s) {
    embedded.set(std::span(s.q), std::span(s.v));
    bk::embedded_forward_dynamics(embedded, std::span(s.torque), std::span(two));
  };
  for (const ClosedState& s : states) {
    by_cut(s);
    by_clusters(s);
    double largest = 0;
    double apart = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      largest = std::max(largest, std::abs(one[i]));
      apart = std::max(apart, std::abs(one[i] - two[i]));
    }
    if (!(apart <= tolerance * largest)) {
      throw std::runtime_error(fmt::format("cut and embedded are {:.1e} of {:.1e} apart", apart, largest));
    }
  }
  const auto all = [&](const auto& call) {
    return [&states, &call] {
      for (const ClosedState& s : states) {
        call(s);
      }
    };
  };
  const std::vector<Batch> batches{all(by_cut), all(by_clusters)};
  const std::vector<double> costs = measure(batches, seconds);
  const auto calls = static_cast<double>(states.size());
  return {name, model.nv(), static_cast<int>(model.closures().size()), costs[0] / calls, costs[1] / calls};
}

}  // namespace

std::string measure_closed_embedding(const std::vector<std::string>& names, const std::string& folder,
                                     std::size_t states, double seconds) {
  fmt::print(
      "{} of a call, cut open (set, closed_forward_dynamics) and embedded (set, embedded_forward_dynamics).\n\n"
      "{:<14}{:>6}{:>7}{:>12}{:>12}{:>16}\n",
      counting() ? "Instructions" : "Least time", "system", "dof", "loops", "cut", "embedded", "cut / embedded");
  std::vector<std::string> lines;
  const auto add = [&](const std::string& name, const bk::Model& model) {
    try {
      const Row row = run(name, model, closed_states(model, states), seconds);
      fmt::print("{:<14}{:>6}{:>7}{:>12.0f}{:>12.0f}{:>16.2f}\n", row.system, row.nv, row.loops, row.cut, row.embedded,
                 row.cut / row.embedded);
      lines.push_back(fmt::format(
          R"(      {{"robot": "{}", "quantity": "closed_fd", "loops": {}, "cut_{}": {:.1f}, "embedded_{}": {:.1f}, "ratio": {:.4f}}})",
          row.system, row.loops, unit(), row.cut, unit(), row.embedded, row.cut / row.embedded));
    } catch (const std::exception& problem) {
      fmt::print("{:<14}left out: {}\n", name, problem.what());
    }
    std::fflush(stdout);
  };
  for (int n = 1; n <= 64; n *= 2) {
    add(fmt::format("four_bars {}", n), four_bars(n));
  }
  for (const int trunk : {10, 30}) {
    add(fmt::format("on trunk of {}", trunk), four_bars(1, trunk));
  }
  for (const ClosedRobot& robot : load_closed(names, folder)) {
    add(robot.name, robot.model);
  }
  return fmt::format("{{\n    \"rows\": [\n{}\n    ]\n  }}", fmt::join(lines, ",\n"));
}

}  // namespace bench
