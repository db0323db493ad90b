/// @file
/// What closed_forward_dynamics takes against the number of links of one loop, and of arms that hold one object.
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>

#include <bunraku/dynamics/assembly.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "closed_parts.hpp"
#include "closed_systems.hpp"
#include "meter.hpp"
#include "shapes.hpp"

namespace bench {

namespace {

namespace bk = bunraku;
using Pose = bk::Transform<double>;

/// What is asked of the exponent of links.
constexpr double most_of_links = 1.1;

struct Row {
  const char* shape;
  int n;
  double cost;
  std::size_t bytes;
};

/// A random chain whose tip is held by a ball joint where it is when all hinges are at zero.
bk::Model looped_chain(int n) {
  const bk::Model open = random_model(shapes().front(), n);
  bk::State state(open);
  state.set(bk::neutral(open), bk::VectorX<double>::Zero(open.nv()));
  const std::string tip = fmt::format("b{}", n - 1);
  bk::ModelBuilder builder = bk::edit(open);
  builder.add(bk::NodeSpec{.name = "end", .body = tip});
  builder.add(bk::NodeSpec{.name = "held", .X_BN = bk::pose(state, open.node(tip))});
  bk::ClosureSpec closure{.name = "loop", .a = "end", .b = "held"};
  closure.hinge.type = bk::HingeType::spherical;
  builder.add(closure);
  return builder.build();
}

Row chain_row(int n, double seconds) {
  const bk::Model model = looped_chain(n);
  const std::vector<double> q(static_cast<std::size_t>(model.nq()), 0);
  const std::vector<double> still(static_cast<std::size_t>(model.nv()), 0);
  const std::vector<double> torque(static_cast<std::size_t>(model.nv()), 1e-3);
  std::vector<double> out(static_cast<std::size_t>(model.nv()));
  const std::size_t before = heap_bytes();
  bk::ClosedSystem system(model);
  const auto call = [&] {
    system.set(std::span(q), std::span(still));
    bk::closed_forward_dynamics(system, std::span(torque), std::span(out));
  };
  call();
  const std::size_t bytes = heap_bytes() - before;
  require_finite(out, "closed forward dynamics", model.name());
  const int calls = std::max(1, 4096 / n);
  const Batch batch = [&] {
    for (int i = 0; i < calls; ++i) {
      call();
    }
  };
  return {"links", n, measure({&batch, 1}, seconds)[0] / calls, bytes};
}

/// Arms about an object, all at one configuration, whose hands hold it rigidly. Each arm has its own world axes, in
/// which the object would be elsewhere: a node of the object for each hand makes up for it.
Row arms_row(int arms, double seconds) {
  const bk::Model arm = arm_of_seven();
  const std::vector<double> bent{0.2, 0.7, -0.3, 1.1, 0.4, -0.6, 0.3};
  const std::vector<double> rest(bent.size(), 0);
  bk::State at(arm);
  at.set(std::span(bent), std::span(rest));
  const Pose hand = bk::pose(at, arm.node("hand"));
  const Pose object_pose{bk::Rotation<double>::about_x(0.3), hand.translation + bk::Vec3<double>{0.05, 0.02, 0.1}};

  const std::size_t before = heap_bytes();
  bk::ClosedSystem system(arm);
  std::vector<double> q = bent;
  for (int i = 1; i < arms; ++i) {
    system.add_member(arm);
    q.insert(q.end(), bent.begin(), bent.end());
  }
  const int object = system.add_member(free_object(), bk::Role::secondary);
  const bk::Quaternion<double> turned = object_pose.rotation.quaternion();
  const bk::Vec3<double>& p = object_pose.translation;
  q.insert(q.end(), {turned.w, turned.x, turned.y, turned.z, p.x, p.y, p.z});
  for (int i = 0; i < arms; ++i) {
    bk::Closure grasp;
    grasp.name = fmt::format("hand{}", i);
    grasp.hinge.type = bk::HingeType::fixed;
    grasp.a = arm.node("hand");
    grasp.b = {.name = fmt::format("grasp{}", i), .body = 0, .X_BN = object_pose.inverse() * hand};
    system.add_closure(grasp, i, object);
  }
  const std::vector<double> still(static_cast<std::size_t>(system.nv()), 0);
  std::vector<double> torque(still.size());
  for (std::size_t i = 0; i < torque.size(); ++i) {
    torque[i] = std::sin(static_cast<double>(i));
  }
  std::vector<double> out(still.size());
  const auto call = [&] {
    system.set(std::span(q), std::span(still));
    bk::closed_forward_dynamics(system, std::span(torque), std::span(out));
  };
  call();
  const std::size_t bytes = heap_bytes() - before;
  require_finite(out, "closed forward dynamics", fmt::format("grasp by {} arms", arms));
  const Batch batch = call;
  return {"arms", arms, measure({&batch, 1}, seconds)[0], bytes};
}

std::optional<double> exponent_of(const std::vector<Row>& rows, const std::string& shape) {
  std::vector<GrowthPoint> points;
  for (const Row& row : rows) {
    if (row.shape == shape) {
      points.emplace_back(row.n, row.cost);
    }
  }
  return exponent(points);
}

}  // namespace

std::string measure_closed_growth(double seconds) {
  fmt::print(
      "{} a call of set(q, v) and closed_forward_dynamics, and heap bytes of a ClosedSystem: random chains with one\n"
      "ball joint from tip to world, and arms of 7 hinges that hold one object.\n\n{:<8}{:>8}{:>15}{:>13}{:>12}\n",
      counting() ? "Instructions of" : "Least nanoseconds of", "shape", "number", counting() ? "instr." : "ns", "each",
      "bytes");
  std::vector<Row> rows;
  const auto add = [&](const Row& row) {
    rows.push_back(row);
    fmt::print("{:<8}{:>8}{:>15.0f}{:>13.1f}{:>12}\n", row.shape, row.n, row.cost, row.cost / row.n, row.bytes);
    std::fflush(stdout);
  };
  for (int n = 8; n <= 2048; n *= 4) {
    add(chain_row(n, seconds));
  }
  for (int n = 2; n <= 64; n *= 2) {
    add(arms_row(n, seconds));
  }
  const std::optional<double> links = exponent_of(rows, "links");
  const std::optional<double> arms = exponent_of(rows, "arms");
  fmt::print("\nexponent of links {:.3f} (at most {:.1f}: {}), of arms {:.3f}\n", *links, most_of_links,
             *links <= most_of_links ? "met" : "MISSED", *arms);
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    lines.push_back(
        fmt::format(R"(      {{"shape": "{}", "quantity": "closed_fd", "n": {}, "{}": {:.1f}, "bytes": {}}})",
                    row.shape, row.n, unit(), row.cost, row.bytes));
  }
  return fmt::format(
      "{{\n    \"rows\": [\n{}\n    ],\n    \"exponents\": {{\"links\": {{\"closed_fd\": {:.4f}}}, "
      "\"arms\": {{\"closed_fd\": {:.4f}}}}}\n  }}",
      fmt::join(lines, ",\n"), *links, *arms);
}

}  // namespace bench
