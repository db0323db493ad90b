/// @file
/// MJCF in short texts, and what models made of it are compared with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"
#include "support/problems.hpp"

namespace bunraku::test::mjcf {

inline constexpr double tolerance = 1e-12;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double pi = std::numbers::pi;
inline constexpr double degree = pi / 180;

/// Three rows of a rotation and a translation.
using Rows = std::array<std::array<double, 4>, 3>;

inline Model read(const std::string& text, const LoadOptions& options = {}) {
  return load_text(text, "m.xml", options);
}

/// A file whose bodies start in line 2.
inline std::string in_world(const std::string& bodies, const std::string& before = "", const std::string& after = "") {
  return fmt::format("<mujoco>{}<worldbody>\n{}</worldbody>{}</mujoco>", before, bodies, after);
}

/// A shape.
inline const std::string ball = "<geom size='0.1'/>";

inline const Body& body(const Model& model, std::string_view name) {
  return model.body(model.body_index(name));
}

/// The pose of each body in the world.
inline std::vector<Transform<double>> poses(const Model& model, const std::vector<double>& q) {
  std::vector<Transform<double>> out;
  for (const Body& b : model.bodies()) {
    const Transform<double> parent =
        b.parent == world ? Transform<double>::identity() : out[static_cast<std::size_t>(b.parent)];
    out.push_back(parent * b.X_PF * hinge_pose(b.hinge, q.data() + b.q_index) * b.X_MB);
  }
  return out;
}

inline Transform<double> pose(const Model& model, std::string_view name, const std::vector<double>& q = {}) {
  return poses(model, q)[static_cast<std::size_t>(model.body_index(name))];
}

inline void expect_near(const Vec3<double>& a, const Vec3<double>& b) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i])));
  }
}

inline void expect_near(const Transform<double>& x, const Rows& rows) {
  for (std::size_t i = 0; i < 3; ++i) {
    const int r = static_cast<int>(i);
    expect_near(x.rotation.matrix().row(r), {rows[i][0], rows[i][1], rows[i][2]});
    EXPECT_NEAR(x.translation[r], rows[i][3], tolerance * 10);
  }
}

/// Mass, centre and inertia about the centre (xx, yy, zz, xy, xz, yz).
inline void expect_inertia(const Model& model, std::string_view name, double mass, const Vec3<double>& center,
                           const std::array<double, 6>& central) {
  SCOPED_TRACE(std::string(name));
  const RigidInertia<double>& inertia = body(model, name).inertia;
  EXPECT_NEAR(inertia.mass, mass, tolerance * mass);
  expect_near(inertia.center(), center);
  // the shift from the body's origin to the centre costs digits in proportion
  const double slack = 1e-12 * std::max(1.0, mass * squared_norm(center));
  const Sym3<double> c = inertia.central();
  EXPECT_NEAR(c.xx, central[0], slack);
  EXPECT_NEAR(c.yy, central[1], slack);
  EXPECT_NEAR(c.zz, central[2], slack);
  EXPECT_NEAR(c.xy, central[3], slack);
  EXPECT_NEAR(c.xz, central[4], slack);
  EXPECT_NEAR(c.yz, central[5], slack);
}

/// `line: text` of every error of a file that cannot be loaded.
inline std::vector<std::string> errors(const std::string& text, const LoadOptions& options = {}) {
  return errors_of_text(text, "m.xml", options);
}

inline std::vector<std::string> errors_in_world(const std::string& bodies) {
  return errors(in_world(bodies));
}

}  // namespace bunraku::test::mjcf
