#include "bunraku/model/configuration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include <fmt/format.h>

#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/detail/random.hpp"

namespace bunraku {

namespace {

/// Calls f(body, q offset, v offset) for each hinge with coordinates of its own.
template <class F>
void for_each_hinge(const Model& model, F&& f) {
  for (const Body& body : model.bodies()) {
    if (body.nv > 0) {
      f(body.hinge, body.q_index, body.v_index);
    }
  }
}

/// A rotation drawn uniformly from all (Shoemake's subgroup method).
Quaternion<double> uniform_rotation(Random& random) {
  const double u = random.uniform();
  const double a = random.uniform(0, 2 * std::numbers::pi);
  const double b = random.uniform(0, 2 * std::numbers::pi);
  const double r = std::sqrt(1 - u);
  const double s = std::sqrt(u);
  return {s * std::cos(b), r * std::sin(a), r * std::cos(a), s * std::sin(b)};
}

/// Whether position i of a hinge with plain coordinates is an angle.
bool is_angle(HingeType type, int i) {
  switch (type) {
    case HingeType::prismatic:
    case HingeType::translational:
      return false;
    case HingeType::cylindrical:
      return i == 0;
    case HingeType::planar:
      return i == 2;
    default:
      return true;
  }
}

void random_hinge(const Hinge& hinge, Random& random, double* q) {
  if (hinge.type == HingeType::spherical || hinge.type == HingeType::free) {
    const Quaternion<double> r = uniform_rotation(random);
    q[0] = r.w;
    q[1] = r.x;
    q[2] = r.y;
    q[3] = r.z;
    for (int i = 4; i < hinge.configuration_size(); ++i) {
      q[i] = random.uniform(-1, 1);
    }
    return;
  }
  if (hinge.type == HingeType::custom) {
    std::array<double, max_hinge_velocities> v{};
    for (int i = 0; i < hinge.velocity_size(); ++i) {
      v[static_cast<std::size_t>(i)] = random.uniform(-1, 1);
    }
    std::array<double, max_hinge_positions> start{};
    hinge_neutral(hinge, start.data());
    hinge_integrate(hinge, start.data(), v.data(), 1, q);
    return;
  }
  for (int i = 0; i < hinge.configuration_size(); ++i) {
    const HingeDof& dof = hinge.dofs[static_cast<std::size_t>(i)];
    const double reach = is_angle(hinge.type, i) ? std::numbers::pi : 1.0;
    // one finite limit: as far as without any, on the side that is open
    const double low = std::isfinite(dof.lower)   ? dof.lower
                       : std::isfinite(dof.upper) ? std::min(-reach, dof.upper - reach)
                                                  : -reach;
    const double high = std::isfinite(dof.upper) ? dof.upper : std::max(reach, low + reach);
    q[i] = random.uniform(low, high);
  }
}

}  // namespace

void neutral(const Model& model, std::span<double> q) {
  check_size(q.size(), model.nq(), "q");
  for_each_hinge(model,
                 [&](const Hinge& hinge, int at, int) { hinge_neutral(hinge, &q[static_cast<std::size_t>(at)]); });
}

void random_configuration(const Model& model, std::uint64_t seed, std::span<double> q) {
  check_size(q.size(), model.nq(), "q");
  Random random(seed);
  for_each_hinge(
      model, [&](const Hinge& hinge, int at, int) { random_hinge(hinge, random, &q[static_cast<std::size_t>(at)]); });
}

void integrate(const Model& model, std::span<const double> q, std::span<const double> v, double dt,
               std::span<double> out) {
  check_argument(q, model.nq(), "q");
  check_argument(v, model.nv(), "v");
  check_argument(std::span<const double>(&dt, 1), 1, "dt");
  check_size(out.size(), model.nq(), "out");
  check_quaternions(model, q, "q");
  std::array<double, max_hinge_positions> moved{};  // so that `out` may be q
  for_each_hinge(model, [&](const Hinge& hinge, int at, int v_at) {
    hinge_integrate(hinge, &q[static_cast<std::size_t>(at)], &v[static_cast<std::size_t>(v_at)], dt, moved.data());
    if (!std::all_of(moved.begin(), moved.begin() + hinge.configuration_size(),
                     [](double x) { return std::isfinite(x); })) {
      throw ArgumentError(fmt::format("v dt leads hinge '{}' beyond the range of numbers", hinge.name));
    }
    std::copy_n(moved.begin(), hinge.configuration_size(), &out[static_cast<std::size_t>(at)]);
  });
}

void difference(const Model& model, std::span<const double> q0, std::span<const double> q1, std::span<double> v) {
  check_argument(q0, model.nq(), "q0");
  check_argument(q1, model.nq(), "q1");
  check_quaternions(model, q0, "q0");
  check_quaternions(model, q1, "q1");
  check_size(v.size(), model.nv(), "v");
  for_each_hinge(model, [&](const Hinge& hinge, int at, int v_at) {
    hinge_difference(hinge, &q0[static_cast<std::size_t>(at)], &q1[static_cast<std::size_t>(at)],
                     &v[static_cast<std::size_t>(v_at)]);
  });
}

void normalize(const Model& model, std::span<double> q) {
  check_argument(std::span<const double>(q), model.nq(), "q");
  for_each_hinge(model,
                 [&](const Hinge& hinge, int at, int) { hinge_normalize(hinge, &q[static_cast<std::size_t>(at)]); });
}

void reference_configuration(const Model& model, std::string_view name, std::span<double> q) {
  check_size(q.size(), model.nq(), "q");
  std::ranges::copy(model.reference(name).q, q.begin());
}

void initial_configuration(const Model& model, std::span<double> q) {
  if (model.find_reference(initial_name) != nullptr) {
    reference_configuration(model, initial_name, q);
  } else {
    neutral(model, q);
  }
}

}  // namespace bunraku
