/// @file
/// What every fuzzer of a reader does with its input: the reader may refuse it with ModelError, and with nothing else;
/// what it accepts must be a model that the rest of the library can use.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "bunraku/bunraku.hpp"

namespace bunraku::fuzz {

/// Stops the fuzzer with a finding.
inline void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

/// Whether a number is finite, or the model holds numbers so large that sums of them need not be.
inline bool is_tame(const Model& model) {
  constexpr double large = 1e100;
  for (const Body& body : model.bodies()) {
    for (const Transform<double>* x : {&body.X_PF, &body.X_MB}) {
      if (!(norm(x->translation) < large)) {
        return false;
      }
    }
    for (const HingeDof& dof : body.hinge.dofs) {
      if ((std::isfinite(dof.lower) && std::abs(dof.lower) > large) ||
          (std::isfinite(dof.upper) && std::abs(dof.upper) > large)) {
        return false;
      }
    }
    if (!(body.inertia.mass < large) || !(norm(body.inertia.first_moment) < large) ||
        std::abs(body.leader_ratio) > large || std::abs(body.leader_offset) > large ||
        std::abs(body.hinge.pitch) > large) {
      return false;
    }
  }
  return true;
}

/// Uses a model as a user would. Nothing here may throw.
inline void use(const Model& model) {
  State state(model);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(model.nv());
  state.set(q, v);
  require(q.allFinite());
  require(difference(model, q, q).norm() < 1e-9);
  const bool tame = is_tame(model);
  for (int i = 0; i < static_cast<int>(model.bodies().size()); ++i) {
    const Body& body = model.body(i);
    require(body.parent < i);
    require(std::isfinite(body.inertia.mass) && body.inertia.mass >= 0);
    require(model.find_body(body.name) == i && model.find_hinge(body.hinge.name) == i);
    require(!tame || to_eigen(pose(state, i)).allFinite());
  }
  require(!tame || to_eigen(center_of_mass(state)).allFinite());
  const Model merged = merge_fixed(model);
  require(merged.nv() == model.nv());
  if (urdf_losses(model).empty()) {
    const Model again = load_text(to_urdf(model), "again.urdf");
    require(again.nv() == model.nv() && again.bodies().size() >= model.bodies().size());
  }
}

/// Reads text as a model file.
inline void drive(std::string_view text, const LoadOptions& options = {}) {
  const auto read = [&]() -> std::optional<Model> {
    try {
      return load_text(text, "fuzz", options);
    } catch (const ModelError& error) {
      require(!error.problems().empty());
      for (const Problem& problem : error.problems()) {
        require(!problem.text.empty());
      }
      return std::nullopt;
    }
  };
  if (const std::optional<Model> model = read()) {
    use(*model);
  }
}

/// Whether the text could be of the format whose root element is `tag`: one fuzzer a format keeps each to its own.
inline bool mentions(std::string_view text, std::string_view tag) {
  return text.find(tag) != std::string_view::npos;
}

}  // namespace bunraku::fuzz
