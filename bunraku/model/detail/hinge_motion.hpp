/// @file
/// The laws of one hinge in `double` or `float`; custom hinges compute in `double`.
#pragma once

#include <algorithm>
#include <array>

#include "bunraku/model/detail/arguments.hpp"
#include "bunraku/model/hinge_laws.hpp"

namespace bunraku {

/// Calls f(hinge, place in q, place in v) for each hinge with coordinates of its own.
template <class F>
void for_each_hinge(const Model& model, F&& f) {
  for (const Body& body : model.bodies()) {
    if (body.nv > 0) {
      f(body.hinge, static_cast<std::size_t>(body.q_index), static_cast<std::size_t>(body.v_index));
    }
  }
}

/// n numbers in double.
template <class T>
std::array<double, max_hinge_positions> widened(const T* x, int n) {
  std::array<double, max_hinge_positions> out{};
  std::copy_n(x, n, out.begin());
  return out;
}
/// n numbers in T.
template <class T>
void narrow(const std::array<double, max_hinge_positions>& x, int n, T* out) {
  std::transform(x.begin(), x.begin() + n, out, [](double each) { return static_cast<T>(each); });
}

/// See hinge_neutral.
template <class T>
void neutral_hinge(const Hinge& hinge, T* q) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.neutral(hinge, q); },
      [&] {
        std::array<double, max_hinge_positions> out{};
        hinge.custom->neutral(out.data());
        narrow(out, hinge.configuration_size(), q);
      });
}

/// See hinge_integrate.
template <class T>
void integrate_hinge(const Hinge& hinge, const T* q, const T* v, T dt, T* out) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.integrate(hinge, q, v, dt, out); },
      [&] {
        std::array<double, max_hinge_positions> moved{};
        hinge.custom->integrate(widened(q, hinge.configuration_size()).data(), widened(v, hinge.velocity_size()).data(),
                                static_cast<double>(dt), moved.data());
        narrow(moved, hinge.configuration_size(), out);
      });
}

/// See hinge_difference.
template <class T>
void difference_hinge(const Hinge& hinge, const T* q0, const T* q1, T* v) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.difference(hinge, q0, q1, v); },
      [&] {
        std::array<double, max_hinge_positions> way{};
        const int n = hinge.configuration_size();
        hinge.custom->difference(widened(q0, n).data(), widened(q1, n).data(), way.data());
        narrow(way, hinge.velocity_size(), v);
      });
}

/// See hinge_normalize.
template <class T>
void normalize_hinge(const Hinge& hinge, T* q) {
  laws::visit_hinge_law(
      hinge.type, [&](auto law) { law.normalize(q); },
      [&] {
        auto out = widened(q, hinge.configuration_size());
        hinge.custom->normalize(out.data());
        narrow(out, hinge.configuration_size(), q);
      });
}

/// Throws ArgumentError unless q is a configuration, v a velocity and dt a number.
template <class T>
void check_motion(const Model& model, std::span<const T> q, std::span<const T> v, double dt) {
  check_argument(q, model.nq(), "q");
  check_argument(v, model.nv(), "v");
  check_argument(std::span<const double>(&dt, 1), 1, "dt");
  check_quaternions(model, q, "q");
}

/// Throws ArgumentError unless both are configurations.
template <class T>
void check_pair(const Model& model, std::span<const T> q0, std::span<const T> q1) {
  check_argument(q0, model.nq(), "q0");
  check_argument(q1, model.nq(), "q1");
  check_quaternions(model, q0, "q0");
  check_quaternions(model, q1, "q1");
}

}  // namespace bunraku
