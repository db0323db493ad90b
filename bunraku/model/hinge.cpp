#include "bunraku/model/hinge.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/QR>
#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/model/hinge_laws.hpp"
#include "bunraku/spatial/exponential.hpp"

namespace bunraku {

namespace {

constexpr std::array<std::string_view, 13> type_names = {
    "fixed",  "revolute",  "continuous", "prismatic",     "helical", "cylindrical", "universal",
    "planar", "spherical", "free",       "translational", "modal",   "custom"};
constexpr std::array<HingeType, 13> types = {
    HingeType::fixed,         HingeType::revolute,  HingeType::continuous, HingeType::prismatic, HingeType::helical,
    HingeType::cylindrical,   HingeType::universal, HingeType::planar,     HingeType::spherical, HingeType::free,
    HingeType::translational, HingeType::modal,     HingeType::custom};

}  // namespace

std::string_view to_string(HingeType type) {
  const auto* const at = std::find(types.begin(), types.end(), type);
  return type_names[static_cast<std::size_t>(at - types.begin())];
}

std::optional<HingeType> hinge_type_from_string(std::string_view name) {
  const auto* const at = std::find(type_names.begin(), type_names.end(), name);
  return at == type_names.end() ? std::nullopt
                                : std::optional(types[static_cast<std::size_t>(at - type_names.begin())]);
}

bool has_axis(HingeType type) {
  switch (type) {
    case HingeType::revolute:
    case HingeType::continuous:
    case HingeType::prismatic:
    case HingeType::helical:
    case HingeType::cylindrical:
    case HingeType::universal:
    case HingeType::planar:
      return true;
    default:
      return false;
  }
}

bool has_second_axis(HingeType type) {
  return type == HingeType::universal || type == HingeType::planar;
}

int configuration_size(HingeType type) {
  return laws::visit_hinge_law(type, [](auto law) { return decltype(law)::nq; }, [] { return 0; });
}

int velocity_size(HingeType type) {
  return laws::visit_hinge_law(type, [](auto law) { return decltype(law)::nv; }, [] { return 0; });
}

CustomHinge::~CustomHinge() = default;

void CustomHinge::joint_map_rate(const double* q, const double* v, Motion<double>* columns) const {
  const int n = velocity_size();
  std::fill_n(columns, n, Motion<double>::zero());
  double size = 0;
  for (int i = 0; i < configuration_size(); ++i) {
    size = std::max(size, std::abs(q[i]));
  }
  // d/ds H*(q ⊕ e_j s) v_j at s = 0. A power of two, so that q + s is exact where coordinates are plain, as it would
  // not be along v; no less than some last places of q. It balances the sixth-order error against rounding.
  const double step = std::max(0x1p-8, std::exp2(std::ceil(std::log2(std::max(size, 1.0)))) * 0x1p-48);
  constexpr std::array<double, 3> weights = {45, -9, 1};
  std::array<double, max_hinge_positions> moved{};
  std::array<Motion<double>, max_hinge_velocities> ahead{};
  std::array<Motion<double>, max_hinge_velocities> behind{};
  for (int j = 0; j < n; ++j) {
    if (v[j] == 0) {
      continue;
    }
    std::array<double, max_hinge_velocities> unit{};
    unit[static_cast<std::size_t>(j)] = 1;
    for (int m = 1; m <= 3; ++m) {
      integrate(q, unit.data(), m * step, moved.data());
      joint_map(moved.data(), ahead.data());
      integrate(q, unit.data(), -m * step, moved.data());
      joint_map(moved.data(), behind.data());
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        columns[i] += (ahead[at] - behind[at]) * (weights[static_cast<std::size_t>(m - 1)] / (60 * step)) * v[j];
      }
    }
  }
}

Motion<double> CustomHinge::bias(const double* q, const double* v) const {
  std::array<Motion<double>, max_hinge_velocities> rates{};
  joint_map_rate(q, v, rates.data());
  Motion<double> sum = Motion<double>::zero();
  for (int i = 0; i < velocity_size(); ++i) {
    sum += rates[static_cast<std::size_t>(i)] * v[i];
  }
  return sum;
}

namespace {

/// The defaults of CustomHinge take positions and velocities for the same numbers.
void require_equal_sizes(const CustomHinge& hinge, const char* function) {
  if (hinge.configuration_size() != hinge.velocity_size()) {
    throw Error(fmt::format("a custom hinge with {} positions and {} velocities must override {}",
                            hinge.configuration_size(), hinge.velocity_size(), function));
  }
}

}  // namespace

void CustomHinge::integrate(const double* q, const double* v, double dt, double* out) const {
  require_equal_sizes(*this, "integrate");
  for (int i = 0; i < configuration_size(); ++i) {
    out[i] = q[i] + v[i] * dt;
  }
}

void CustomHinge::difference(const double* q0, const double* q1, double* v) const {
  require_equal_sizes(*this, "difference");
  for (int i = 0; i < configuration_size(); ++i) {
    v[i] = q1[i] - q0[i];
  }
}

void CustomHinge::neutral(double* q) const {
  std::fill_n(q, configuration_size(), 0.0);
}

void CustomHinge::normalize(double* /*q*/) const {}

int Hinge::configuration_size() const {
  return type == HingeType::custom  ? custom->configuration_size()
         : type == HingeType::modal ? modal->modes()
                                    : bunraku::configuration_size(type);
}

int Hinge::velocity_size() const {
  return type == HingeType::custom  ? custom->velocity_size()
         : type == HingeType::modal ? modal->modes()
                                    : bunraku::velocity_size(type);
}

Transform<double> hinge_pose(const Hinge& hinge, const double* q) {
  return laws::visit_hinge_law(
      hinge.type, [&](auto law) { return law.pose(hinge, q); }, [&] { return hinge.custom->pose(q); });
}

void hinge_joint_map(const Hinge& hinge, const double* q, Motion<double>* columns) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.joint_map(hinge, q, columns); }, [&] { hinge.custom->joint_map(q, columns); });
}

void hinge_joint_map_rate(const Hinge& hinge, const double* q, const double* v, Motion<double>* columns) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.joint_map_rate(hinge, q, v, columns); },
      [&] { hinge.custom->joint_map_rate(q, v, columns); });
}

Motion<double> hinge_bias(const Hinge& hinge, const double* q, const double* v) {
  return laws::visit_hinge_law(
      hinge.type, [&](auto law) { return law.bias(hinge, q, v); }, [&] { return hinge.custom->bias(q, v); });
}

void hinge_integrate(const Hinge& hinge, const double* q, const double* v, double dt, double* out) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.integrate(hinge, q, v, dt, out); },
      [&] { hinge.custom->integrate(q, v, dt, out); });
}

void hinge_difference(const Hinge& hinge, const double* q0, const double* q1, double* v) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.difference(hinge, q0, q1, v); }, [&] { hinge.custom->difference(q0, q1, v); });
}

void hinge_neutral(const Hinge& hinge, double* q) {
  laws::visit_hinge_law(hinge.type, [&](auto law) { law.neutral(hinge, q); }, [&] { hinge.custom->neutral(q); });
}

namespace {

/// By Gauss–Newton: each step solves the normal equations of H*v ≈ log(X_FM⁻¹X).
void search_nearest(const CustomHinge& hinge, const Transform<double>& X, double* q) {
  constexpr int steps = 50;
  constexpr double small = 1e-14;
  const int n = hinge.velocity_size();
  hinge.neutral(q);
  for (int step = 0; step < steps; ++step) {
    const Motion<double> gap = log(hinge.pose(q).inverse() * X);
    std::array<Motion<double>, max_hinge_velocities> H{};
    hinge.joint_map(q, H.data());
    Eigen::Matrix<double, 6, Eigen::Dynamic, 0, 6, max_hinge_velocities> map(6, n);
    Eigen::Matrix<double, 6, 1> wanted;
    for (int i = 0; i < 6; ++i) {
      wanted(i) = gap[i];
      for (int j = 0; j < n; ++j) {
        map(i, j) = H[static_cast<std::size_t>(j)][i];
      }
    }
    const Eigen::Matrix<double, Eigen::Dynamic, 1, 0, max_hinge_velocities, 1> v =
        map.completeOrthogonalDecomposition().solve(wanted);
    std::array<double, max_hinge_positions> next{};
    hinge.integrate(q, v.data(), 1, next.data());
    std::copy_n(next.begin(), hinge.configuration_size(), q);
    hinge.normalize(q);
    if (v.norm() <= small) {
      return;
    }
  }
}

}  // namespace

void hinge_nearest(const Hinge& hinge, const Transform<double>& X, double* q) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.nearest(hinge, X, q); }, [&] { search_nearest(*hinge.custom, X, q); });
}

void hinge_normalize(const Hinge& hinge, double* q) {
  laws::visit_hinge_law(hinge.type, [&](auto law) { law.normalize(q); }, [&] { hinge.custom->normalize(q); });
}

}  // namespace bunraku
