/// @file
/// Derivatives by central differences of sixth order.
#pragma once

#include <type_traits>

#include "bunraku/spatial/transform.hpp"

namespace bunraku::test {

/// f'(0) for f whose values can be subtracted and scaled. With step 0.01 and f of moderate size good to about 1e-11.
template <class F>
auto central_difference(F&& f, double h = 0.01) {
  using Value = std::decay_t<decltype(f(h))>;  // not a lazy expression of values that are gone
  const auto slope = [&](double s) -> Value { return f(s) - f(-s); };
  return Value((slope(h) * 45.0 - slope(2 * h) * 9.0 + slope(3 * h)) * (1 / (60 * h)));
}

/// The same of tenth order: good to about 1e-12.
template <class F>
auto tenth_order_difference(F&& f, double h = 0.03) {
  using Value = std::decay_t<decltype(f(h))>;
  const auto slope = [&](double s) -> Value { return f(s) - f(-s); };
  return Value((slope(h) * (5.0 / 6) - slope(2 * h) * (5.0 / 21) + slope(3 * h) * (5.0 / 84) -
                slope(4 * h) * (5.0 / 504) + slope(5 * h) * (1.0 / 1260)) *
               (1 / h));
}

/// The velocity of a moving frame X(s) at s = 0, at its origin in its own axes.
template <class F>
Motion<double> body_velocity(F&& pose, double h = 0.01) {
  const Transform<double> now = pose(0.0);
  const Mat3<double> rate = central_difference([&](double s) { return pose(s).rotation.matrix(); }, h);
  const Vec3<double> velocity = central_difference([&](double s) { return pose(s).translation; }, h);
  const Mat3<double> w = now.rotation.matrix().transpose() * rate;
  return {{(w(2, 1) - w(1, 2)) / 2, (w(0, 2) - w(2, 0)) / 2, (w(1, 0) - w(0, 1)) / 2},
          now.rotation.inverse_times(velocity)};
}

}  // namespace bunraku::test
