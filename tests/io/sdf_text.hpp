/// @file
/// SDF in short texts, and what models made of it are compared with.
#pragma once

#include <array>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"
#include "support/problems.hpp"

namespace bunraku::test::sdf {

inline constexpr double tolerance = 1e-13;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double pi = std::numbers::pi;

/// 2 kg with unit inertia.
inline const std::string inertial =
    "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>";

/// A link of 2 kg with unit inertia.
inline std::string link(const std::string& name, const std::string& rest = "") {
  return fmt::format("<link name='{}'>{}{}</link>\n", name, rest, inertial);
}

inline std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                         const std::string& child, const std::string& rest = "<axis><xyz>0 0 1</xyz></axis>") {
  return fmt::format("<joint name='{}' type='{}'><parent>{}</parent><child>{}</child>{}</joint>\n", name, type, parent,
                     child, rest);
}

/// The text of a file with one model `m`, whose contents start in line 2.
inline std::string in_model(const std::string& contents, const std::string& version = "1.9") {
  return fmt::format("<sdf version='{}'><model name='m'>\n{}</model></sdf>", version, contents);
}

inline Model read(const std::string& text, const LoadOptions& options = {}) {
  return load_text(text, "m.sdf", options);
}
inline Model read_model(const std::string& contents) {
  return read(in_model(contents));
}

/// `line: text` of every error of a file that cannot be loaded.
inline std::vector<std::string> errors(const std::string& text, const LoadOptions& options = {}) {
  return errors_of_text(text, "m.sdf", options);
}

/// X_WB with the hinge coordinates q.
inline Transform<double> pose(const Model& model, int body, const std::vector<double>& q) {
  Transform<double> out = Transform<double>::identity();
  for (; body != world; body = model.body(body).parent) {
    const Body& b = model.body(body);
    out = b.X_PF * hinge_pose(b.hinge, q.data() + b.q_index) * b.X_MB * out;
  }
  return out;
}

/// X_WB at the zero configuration of a model without free bodies.
inline Transform<double> pose(const Model& model, const std::string& name) {
  std::vector<double> q(static_cast<std::size_t>(model.nq()));
  for (const Body& body : model.bodies()) {
    hinge_neutral(body.hinge, q.data() + body.q_index);
  }
  const Node node = model.node(name);
  return pose(model, node.body, q) * node.X_BN;
}

inline void expect_near(const Vec3<double>& a, const Vec3<double>& b) {
  EXPECT_LT(norm(a - b), tolerance) << fmt::format("{} {} {} where {} {} {} is wanted", a.x, a.y, a.z, b.x, b.y, b.z);
}

inline void expect_near(const Transform<double>& a, const Transform<double>& b) {
  expect_near(a.translation, b.translation);
  for (int j = 0; j < 3; ++j) {
    expect_near(a.rotation.matrix().column(j), b.rotation.matrix().column(j));
  }
}

inline Transform<double> rpy(double x, double y, double z, double roll, double pitch, double yaw) {
  return {Rotation<double>::from_rpy(roll, pitch, yaw), {x, y, z}};
}

/// From the rows of a 3×4 matrix.
inline Transform<double> rows(const std::array<double, 12>& m) {
  return {Rotation<double>(Mat3<double>{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}),
          {m[3], m[7], m[11]}};
}

}  // namespace bunraku::test::sdf
