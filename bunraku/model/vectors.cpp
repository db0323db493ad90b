#include "bunraku/model/vectors.hpp"

#include <algorithm>

#include "bunraku/model/detail/arguments.hpp"

namespace bunraku {

namespace {

/// One property of each velocity coordinate.
void collect(const Model& model, double HingeDof::* property, std::span<double> out, std::string_view name) {
  check_size(out.size(), model.nv(), name);
  for (const Body& body : model.bodies()) {
    for (int i = 0; i < body.nv; ++i) {
      out[static_cast<std::size_t>(body.v_index + i)] = body.hinge.dofs[static_cast<std::size_t>(i)].*property;
    }
  }
}

/// One limit of each position coordinate; `none` where positions and velocities are not the same coordinates.
void collect_positions(const Model& model, double HingeDof::* limit, double none, std::span<double> q) {
  check_size(q.size(), model.nq(), "q");
  std::ranges::fill(q, none);
  for (const Body& body : model.bodies()) {
    for (int i = 0; i < body.nv && body.nv == body.nq; ++i) {
      q[static_cast<std::size_t>(body.q_index + i)] = body.hinge.dofs[static_cast<std::size_t>(i)].*limit;
    }
  }
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

void lower_limits(const Model& model, Out<double> q) {
  collect_positions(model, &HingeDof::lower, -infinity, q);
}

void upper_limits(const Model& model, Out<double> q) {
  collect_positions(model, &HingeDof::upper, infinity, q);
}

void velocity_limits(const Model& model, Out<double> v) {
  collect(model, &HingeDof::velocity, v, "v");
}

void effort_limits(const Model& model, Out<double> tau) {
  collect(model, &HingeDof::effort, tau, "tau");
}

void armature(const Model& model, Out<double> out) {
  collect(model, &HingeDof::armature, out, "the armature");
}

void damping(const Model& model, Out<double> out) {
  collect(model, &HingeDof::damping, out, "the damping");
}

void friction(const Model& model, Out<double> out) {
  collect(model, &HingeDof::friction, out, "the friction");
}

void stiffness(const Model& model, Out<double> out) {
  collect(model, &HingeDof::stiffness, out, "the stiffness");
}

void inertial_parameters(const Model& model, Out<double> pi) {
  check_size(pi.size(), 10 * std::ssize(model.bodies()), "pi");
  double* at = pi.data();
  for (const Body& body : model.bodies()) {
    at = std::ranges::copy(body.inertia.parameters(), at).out;
  }
}

}  // namespace bunraku
