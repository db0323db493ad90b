#include "bunraku/model/configuration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include <fmt/format.h>

#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/detail/hinge_motion.hpp"
#include "bunraku/model/detail/random.hpp"

namespace bunraku {

namespace {

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
    case HingeType::modal:
      return false;
    case HingeType::cylindrical:
      return i == 0;
    case HingeType::planar:
      return i == 2;
    default:
      return true;
  }
}

/// How far coordinate i of a hinge without limits is drawn from neutral: modes bend a little.
double reach_of(const Hinge& hinge, int i) {
  if (hinge.type != HingeType::modal) {
    return is_angle(hinge.type, i) ? std::numbers::pi : 1.0;
  }
  const auto at = static_cast<std::size_t>(i);
  const double turns = hinge.modal->rotation.empty() ? 0 : squared_norm(hinge.modal->rotation[at]);
  return 0.1 / std::sqrt(std::max({1.0, turns, squared_norm(hinge.modal->translation[at])}));
}

/// Room for the coordinates of any hinge.
template <class T>
using HingeNumbers = std::array<T, most_hinge_positions>;

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
    const double reach = reach_of(hinge, i);
    // one finite limit: as far as without any, on the side that is open
    const double low = std::isfinite(dof.lower)   ? dof.lower
                       : std::isfinite(dof.upper) ? std::min(-reach, dof.upper - reach)
                                                  : -reach;
    const double high = std::isfinite(dof.upper) ? dof.upper : std::max(reach, low + reach);
    q[i] = random.uniform(low, high);
  }
}

template <class T>
void copy_rounded(std::span<const double> from, std::span<T> to) {
  std::ranges::transform(from, to.begin(), [](double x) { return static_cast<T>(x); });
}

template <class T>
void neutral_of(const Model& model, std::span<T> q) {
  check_size(q.size(), model.nq(), "q");
  for_each_hinge(model, [&](const Hinge& hinge, std::size_t at, std::size_t) { neutral_hinge(hinge, &q[at]); });
}

template <class T>
void random_of(const Model& model, std::uint64_t seed, std::span<T> q) {
  check_size(q.size(), model.nq(), "q");
  Random random(seed);
  for_each_hinge(model, [&](const Hinge& hinge, std::size_t at, std::size_t) {
    HingeNumbers<double> drawn{};
    random_hinge(hinge, random, drawn.data());
    copy_rounded({drawn.data(), static_cast<std::size_t>(hinge.configuration_size())}, q.subspan(at));
  });
}

template <class T>
void reference_of(const Model& model, std::string_view name, std::span<T> q) {
  check_size(q.size(), model.nq(), "q");
  copy_rounded<T>(model.reference(name).q, q);
}

/// Writes a hinge's new coordinates, which must be numbers.
template <class T>
void store(const Hinge& hinge, const HingeNumbers<T>& moved, std::string_view what, T* out) {
  const int n = hinge.configuration_size();
  if (!std::all_of(moved.begin(), moved.begin() + n, [](T x) { return std::isfinite(x); })) {
    throw ArgumentError(fmt::format("{} leads hinge '{}' beyond the range of numbers", what, hinge.name));
  }
  std::copy_n(moved.begin(), n, out);
}

template <class T>
void integrate_of(const Model& model, std::span<const T> q, std::span<const T> v, double dt, std::span<T> out) {
  check_motion(model, q, v, dt);
  check_size(out.size(), model.nq(), "out");
  HingeNumbers<T> moved{};  // so that `out` may be q
  for_each_hinge(model, [&](const Hinge& hinge, std::size_t at, std::size_t v_at) {
    integrate_hinge(hinge, &q[at], &v[v_at], static_cast<T>(dt), moved.data());
    store(hinge, moved, "v dt", &out[at]);
  });
}

template <class T>
void difference_of(const Model& model, std::span<const T> q0, std::span<const T> q1, std::span<T> v) {
  check_pair(model, q0, q1);
  check_size(v.size(), model.nv(), "v");
  for_each_hinge(model, [&](const Hinge& hinge, std::size_t at, std::size_t v_at) {
    difference_hinge(hinge, &q0[at], &q1[at], &v[v_at]);
  });
}

template <class T>
void interpolate_of(const Model& model, std::span<const T> q0, std::span<const T> q1, double s, std::span<T> out) {
  check_pair(model, q0, q1);
  check_argument(std::span<const double>(&s, 1), 1, "s");
  check_size(out.size(), model.nq(), "out");
  HingeNumbers<T> way{};
  HingeNumbers<T> moved{};
  for_each_hinge(model, [&](const Hinge& hinge, std::size_t at, std::size_t) {
    difference_hinge(hinge, &q0[at], &q1[at], way.data());
    integrate_hinge(hinge, &q0[at], way.data(), static_cast<T>(s), moved.data());
    store(hinge, moved, "s", &out[at]);
  });
}

template <class T>
void normalize_of(const Model& model, std::span<T> q) {
  check_argument(std::span<const T>(q), model.nq(), "q");
  for_each_hinge(model, [&](const Hinge& hinge, std::size_t at, std::size_t) { normalize_hinge(hinge, &q[at]); });
}

template <class T>
void initial_of(const Model& model, std::span<T> q) {
  if (model.find_reference(initial_name) != nullptr) {
    reference_of(model, initial_name, q);
  } else {
    neutral_of(model, q);
  }
}

}  // namespace

void neutral(const Model& model, Out<double> q) {
  neutral_of<double>(model, q);
}
void random_configuration(const Model& model, std::uint64_t seed, Out<double> q) {
  random_of<double>(model, seed, q);
}
void reference_configuration(const Model& model, std::string_view name, Out<double> q) {
  reference_of<double>(model, name, q);
}
void initial_configuration(const Model& model, Out<double> q) {
  initial_of<double>(model, q);
}
void integrate(const Model& model, In<double> q, In<double> v, double dt, Out<double> out) {
  integrate_of<double>(model, q, v, dt, out);
}
void difference(const Model& model, In<double> q0, In<double> q1, Out<double> v) {
  difference_of<double>(model, q0, q1, v);
}
void interpolate(const Model& model, In<double> q0, In<double> q1, double s, Out<double> out) {
  interpolate_of<double>(model, q0, q1, s, out);
}
void normalize(const Model& model, Out<double> q) {
  normalize_of<double>(model, q);
}

void neutral(const Model& model, Out<float> q) {
  neutral_of<float>(model, q);
}
void random_configuration(const Model& model, std::uint64_t seed, Out<float> q) {
  random_of<float>(model, seed, q);
}
void reference_configuration(const Model& model, std::string_view name, Out<float> q) {
  reference_of<float>(model, name, q);
}
void initial_configuration(const Model& model, Out<float> q) {
  initial_of<float>(model, q);
}
void integrate(const Model& model, In<float> q, In<float> v, double dt, Out<float> out) {
  integrate_of<float>(model, q, v, dt, out);
}
void difference(const Model& model, In<float> q0, In<float> q1, Out<float> v) {
  difference_of<float>(model, q0, q1, v);
}
void interpolate(const Model& model, In<float> q0, In<float> q1, double s, Out<float> out) {
  interpolate_of<float>(model, q0, q1, s, out);
}
void normalize(const Model& model, Out<float> q) {
  normalize_of<float>(model, q);
}

}  // namespace bunraku
