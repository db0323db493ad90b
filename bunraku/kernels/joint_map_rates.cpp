#include "bunraku/kernels/joint_map_rates.hpp"

#include <array>
#include <vector>

namespace bunraku::kernels {

namespace {

/// Of a modal hinge; either may be left out.
void modal_rates(const Hinge& hinge, const double* q, const double* v, double* map, double* bias) {
  const int nv = hinge.velocity_size();
  std::vector<double> still(at(nv));
  std::vector<Motion<double>> rates(at(nv * nv));
  std::vector<Motion<double>> bias_rates(at(nv));
  modal_rates_at(hinge, q, v == nullptr ? still.data() : v, rates.data(), bias_rates.data());
  for (int i = 0; map != nullptr && i < 6 * nv * nv; ++i) {
    map[i] = rates[at(i / 6)][i % 6];
  }
  for (int i = 0; bias != nullptr && i < 6 * nv; ++i) {
    bias[i] = bias_rates[at(i / 6)][i % 6];
  }
}

}  // namespace

void plain_map_rates(const Hinge& hinge, const double* q, double* numbers) {
  if (hinge.type == HingeType::modal) {
    modal_rates(hinge, q, nullptr, numbers, nullptr);
    return;
  }
  const int nv = hinge.velocity_size();
  for (int i = 0; i < nv; ++i) {
    std::array<double, max_hinge_velocities> unit{};
    unit[at(i)] = 1;
    std::array<Motion<double>, max_hinge_velocities> columns{};
    hinge_joint_map_rate(hinge, q, unit.data(), columns.data());
    for (int c = 0; c < 6 * nv; ++c) {
      *numbers++ = columns[at(c / 6)][c % 6];
    }
  }
}

void plain_bias_rates(const Hinge& hinge, const double* q, const double* v, double* numbers) {
  if (hinge.type == HingeType::modal) {
    modal_rates(hinge, q, v, nullptr, numbers);
    return;
  }
  constexpr double step = 0x1p-4;
  constexpr std::array<double, 4> weights = {672, -168, 32, -3};  // of 840 steps
  for (int i = 0; i < hinge.velocity_size(); ++i) {
    std::array<double, max_hinge_velocities> unit{};
    unit[at(i)] = 1;
    const auto bias = [&](double s) {
      std::array<double, max_hinge_positions> moved{};
      hinge_integrate(hinge, q, unit.data(), s, moved.data());
      return hinge_bias(hinge, moved.data(), v);
    };
    Motion<double> rate = Motion<double>::zero();
    for (int m = 1; m <= 4; ++m) {
      rate += (bias(m * step) - bias(-m * step)) * (weights[at(m - 1)] / (840 * step));
    }
    for (int c = 0; c < 6; ++c) {
      *numbers++ = rate[c];
    }
  }
}

}  // namespace bunraku::kernels
