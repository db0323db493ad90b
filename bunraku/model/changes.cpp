#include "bunraku/model/changes.hpp"

#include "bunraku/model/detail/arguments.hpp"

namespace bunraku {

Model with_inertia(const Model& model, std::string_view body, const RigidInertia<double>& inertia) {
  ModelBuilder builder = edit(model);
  builder.body(body).inertia = inertia;
  return builder.build();
}

Model with_parameters(const Model& model, In<double> pi) {
  check_argument(std::span<const double>(pi), 10 * std::ssize(model.bodies()), "pi");
  ModelBuilder builder = edit(model);
  const double* at = pi.data();
  for (BodySpec& body : builder.bodies()) {
    body.inertia = RigidInertia<double>::from_parameters(at);
    at += 10;
  }
  return builder.build();
}

Model with_dofs(const Model& model, std::string_view hinge, std::vector<HingeDof> dofs) {
  ModelBuilder builder = edit(model);
  builder.bodies()[static_cast<std::size_t>(model.hinge_index(hinge))].hinge.dofs = std::move(dofs);
  return builder.build();
}

}  // namespace bunraku
