#include "support/mechanisms.hpp"

#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "bunraku/model/builder.hpp"

namespace bunraku::test {

namespace {

using Vec = Vec3<double>;
using Pose = Transform<double>;

/// Puts bodies where they are in the world when all hinges are neutral, so that loops are closed there.
class Mechanism {
 public:
  explicit Mechanism(const char* name) : builder_(name) {}

  /// A rod along x of its axes, from the hinge, which is at its origin.
  void rod(const std::string& name, const std::string& parent, HingeType type, const Vec& axis, const Pose& in_world,
           double length, double mass) {
    const double across = 0.02;
    const auto about = mass / 12 * (length * length + across * across);
    add(name, parent, type, axis, in_world,
        RigidInertia<double>::about_center(mass, Vec::unit_x() * (length / 2),
                                           Sym3<double>::diagonal(mass / 6 * across * across, about, about)));
  }
  void add(const std::string& name, const std::string& parent, HingeType type, const Vec& axis, const Pose& in_world,
           const RigidInertia<double>& inertia) {
    BodySpec body;
    body.name = name;
    body.parent = parent;
    body.hinge.type = type;
    body.hinge.axis = axis;
    body.X_PF = pose(parent).inverse() * in_world;
    body.inertia = inertia;
    builder_.add(body);
    poses_[name] = in_world;
  }
  /// Joins two bodies where they are in the world.
  void close(const std::string& name, HingeType type, const Vec& axis, const std::string& a, const std::string& b,
             const Vec& at) {
    for (const auto& [body, suffix] : {std::pair(a, "_a"), std::pair(b, "_b")}) {
      builder_.add(NodeSpec{.name = name + suffix, .body = body, .X_BN = pose(body).inverse() * Pose::translate(at)});
    }
    ClosureSpec closure{.name = name, .a = name + "_a", .b = name + "_b"};
    closure.hinge.type = type;
    closure.hinge.axis = axis;
    builder_.add(closure);
  }
  Model build() const { return builder_.build(); }

 private:
  Pose pose(const std::string& body) const { return body == world_name ? Pose::identity() : poses_.at(body); }

  ModelBuilder builder_;
  std::map<std::string, Pose> poses_;
};

/// x along a direction in the plane across z.
Pose along(const Vec& from, const Vec& to) {
  const double angle = std::atan2(to.y - from.y, to.x - from.x);
  return {Rotation<double>::about_z(angle), from};
}

double distance(const Vec& a, const Vec& b) {
  return std::sqrt(squared_norm(b - a));
}

Vec on_circle(double radius, double angle, double height) {
  return {radius * std::cos(angle), radius * std::sin(angle), height};
}

}  // namespace

Model four_bar() {
  Mechanism out("four_bar");
  const Vec axis = Vec::unit_z();
  const Vec a{0, 0, 0};
  const Vec b{0.1, 0.25, 0};
  const Vec c{0.55, 0.4, 0};
  const Vec d{0.5, 0, 0};
  out.rod("crank", "world", HingeType::revolute, axis, along(a, b), distance(a, b), 0.4);
  out.rod("coupler", "crank", HingeType::revolute, axis, along(b, c), distance(b, c), 0.8);
  out.rod("rocker", "world", HingeType::revolute, axis, along(d, c), distance(d, c), 0.6);
  out.close("pin", HingeType::revolute, axis, "coupler", "rocker", c);
  return out.build().with_gravity({0, -9.81, 0});
}

Model stewart_platform() {
  Mechanism out("stewart_platform");
  const double height = 0.8;
  out.add("platform", "world", HingeType::free, Vec::unit_z(), Pose::translate({0, 0, height}),
          RigidInertia<double>::about_center(5, Vec::zero(), Sym3<double>::diagonal(0.15, 0.15, 0.28)));
  for (int i = 0; i < 6; ++i) {
    const double pair = 2 * std::numbers::pi / 3 * (i / 2);
    const double side = i % 2 == 0 ? -1 : 1;
    const Vec foot = on_circle(0.6, pair + side * 0.25, 0);
    const Vec top = on_circle(0.35, pair + side * 0.8, height);
    // the leg's axes: x along it; z of the first hinge of the universal one is tangential, y of the second across
    const Vec x = normalized(top - foot);
    const Vec y = normalized(cross(Vec::unit_z(), x));
    const Vec z = cross(x, y);
    const Pose leg{Rotation<double>(Mat3<double>::from_columns(x, y, z)), foot};
    const std::string n = std::to_string(i);
    out.add("cross" + n, "world", HingeType::revolute, Vec::unit_z(), leg,
            RigidInertia<double>::about_center(0.1, Vec::zero(), Sym3<double>::diagonal(2e-5, 2e-5, 2e-5)));
    out.rod("cylinder" + n, "cross" + n, HingeType::revolute, Vec::unit_y(), leg, 0.4, 1.2);
    out.rod("rod" + n, "cylinder" + n, HingeType::prismatic, Vec::unit_x(), leg * Pose::translate(Vec::unit_x() * 0.3),
            distance(foot, top) - 0.3, 0.7);
    out.close("ball" + n, HingeType::spherical, Vec::unit_z(), "rod" + n, "platform", top);
  }
  return out.build();
}

Model planar_3rrr() {
  Mechanism out("planar_3rrr");
  const Vec axis = Vec::unit_z();
  for (int i = 0; i < 3; ++i) {
    const double angle = 2 * std::numbers::pi / 3 * i;
    const Vec foot = on_circle(0.5, angle, 0);
    const Vec elbow = on_circle(0.45, angle + 0.6, 0);
    const Vec corner = on_circle(0.12, angle + 0.3, 0);
    const std::string n = std::to_string(i);
    out.rod("upper" + n, "world", HingeType::revolute, axis, along(foot, elbow), distance(foot, elbow), 0.5);
    out.rod("lower" + n, "upper" + n, HingeType::revolute, axis, along(elbow, corner), distance(elbow, corner), 0.4);
    if (i == 0) {
      out.add("platform", "lower0", HingeType::revolute, axis, along(corner, Vec::zero()),
              RigidInertia<double>::about_center(1, Vec::unit_x() * 0.12, Sym3<double>::diagonal(4e-3, 4e-3, 8e-3)));
    } else {
      out.close("pin" + n, HingeType::revolute, axis, "lower" + n, "platform", corner);
    }
  }
  return out.build();
}

}  // namespace bunraku::test
