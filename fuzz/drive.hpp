/// @file
/// What every fuzzer of a reader does with its input: the reader may refuse it with ModelError, and with nothing else;
/// what it accepts must be a model that the rest of the library can use.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bunraku/bunraku.hpp"

namespace bunraku::fuzz {

/// Stops the fuzzer with a finding.
inline void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Uses a model as a user would.
inline void use(const Model& model) {
  Kinematics kinematics(model);
  const Vec3<double> center = kinematics.center_of_mass();
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(model.nv());
  kinematics.set_state(q, v);
  require(difference(model, q, q).norm() < 1e-9);
  for (const Body& body : model.bodies()) {
    require(body.parent < static_cast<int>(&body - model.bodies().data()));
    require(std::isfinite(body.inertia.mass) && body.inertia.mass >= 0);
    require(model.find_body(body.name).has_value() && model.find_hinge(body.hinge.name).has_value());
  }
  static_cast<void>(center);
  static_cast<void>(merge_fixed(model));
  if (urdf_losses(model).empty()) {
    require(load_text(to_urdf(model), "again.urdf").nv() == model.nv());
  }
}

/// Reads text as a model file.
inline void drive(std::string_view text, const LoadOptions& options = {}) {
  try {
    use(load_text(text, "fuzz", options));
  } catch (const ModelError& error) {
    require(!error.problems().empty());
    for (const Problem& problem : error.problems()) {
      require(!problem.text.empty());
    }
  }
}

/// Whether the text could be of the format whose root element is `tag`: one fuzzer a format keeps each to its own.
inline bool mentions(std::string_view text, std::string_view tag) {
  return text.find(tag) != std::string_view::npos;
}

}  // namespace bunraku::fuzz
