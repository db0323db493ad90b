/// @file
/// Poses and joint maps of all links from a configuration.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "bunraku/error.hpp"
#include "bunraku/kernels/positions.hpp"
#include "bunraku/model/hinge_laws.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/folded.hpp"
#include "bunraku/operators/program/detail/rigid.hpp"
#include "bunraku/operators/program/detail/scalar.hpp"

namespace bunraku::operators {

/// Numbers of a scalar in double precision, where they have some.
template <class S>
std::array<double, max_hinge_positions> plain(const S* x, int n) {
  std::array<double, max_hinge_positions> out{};
  if constexpr (std::is_constructible_v<double, S>) {
    std::transform(x, x + n, out.begin(), [](const S& each) { return static_cast<double>(each); });
  } else {
    throw Error("hinges that a user defines compute with double numbers, and this scalar is more than one");
  }
  return out;
}

/// The pose in its parent's hinge frame and the columns of H* of a hinge, by its law.
template <class S>
Transform<S> place_by_law(const Hinge& hinge, const S* q, int nq, Motion<S>* columns) {
  using kernels::cast;
  return laws::visit_hinge_law(
      hinge.type,
      [&](auto law) {
        law.joint_map(hinge, q, columns);
        return law.pose(hinge, q);
      },
      [&] {
        if constexpr (kernels::is_wide<S>) {
          Transform<S> X = Transform<S>::identity();
          kernels::place_custom(hinge, q, X, columns);
          return X;
        } else {
          const std::array<double, max_hinge_positions> x = plain(q, nq);
          std::array<Motion<double>, max_hinge_velocities> wide{};
          hinge.custom->joint_map(x.data(), wide.data());
          for (int j = 0; j < hinge.velocity_size(); ++j) {
            columns[j] = cast<S>(wide[at(j)]);
          }
          return cast<S>(hinge.custom->pose(x.data()));
        }
      });
}

/// (dH*/dt) v of a hinge, in M's axes.
template <class S>
Motion<S> rate_by_law(const Hinge& hinge, const S* q, int nq, const S* v) {
  return laws::visit_hinge_law(
      hinge.type, [&](auto law) { return law.bias(hinge, q, v); },
      [&] {
        if constexpr (kernels::is_wide<S>) {
          return kernels::custom_rate(hinge, q, v);
        } else {
          return kernels::cast<S>(hinge.custom->bias(plain(q, nq).data(), plain(v, hinge.velocity_size()).data()));
        }
      });
}

/// The derivative of H* of a user's hinge along ratio · u, in M's axes.
template <class S>
void rate_of_custom(const Hinge& hinge, const S* q, const S* u, double ratio, Motion<S>* columns) {
  std::array<double, max_hinge_positions> along = plain(u, hinge.velocity_size());
  for (double& each : along) {
    each *= ratio;
  }
  std::array<Motion<double>, max_hinge_velocities> wide{};
  hinge.custom->joint_map_rate(plain(q, hinge.configuration_size()).data(), along.data(), wide.data());
  for (int j = 0; j < hinge.velocity_size(); ++j) {
    columns[j] = kernels::cast<S>(wide[at(j)]);
  }
}

/// Cosines and sines of the links that turn about z, a register of them at a time where the scalar has registers.
template <class S>
void spin_all(const Folded& folded, const S* q, std::vector<kernels::Spin<S>>& out) {
  const auto store = [&](const kernels::RevoluteSlot& slot, const S& c, const S& s) {
    const S oc = constant<S>(slot.offset_c);
    const S os = constant<S>(slot.offset_s);
    out[at(slot.link)] = {c * oc - s * os, s * oc + c * os};
  };
  if constexpr (std::is_floating_point_v<S>) {
    using Register = kernels::Full<S>;
    constexpr std::size_t lanes = kernels::Lanes<Register>::count;
    const std::size_t count = folded.turns.size();
    for (std::size_t i = 0; i < count; i += lanes) {
      const std::size_t last = std::min(i + lanes, count) - 1;
      std::array<S, lanes> angles;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        angles[lane] = q[folded.turns[std::min(i + lane, last)].q];
      }
      Register s;
      Register c;
      kernels::sincos(Register::load(angles.data()), s, c);
      for (std::size_t lane = 0; i + lane <= last; ++lane) {
        store(folded.turns[i + lane], c[static_cast<int>(lane)], s[static_cast<int>(lane)]);
      }
    }
  } else {
    for (const kernels::RevoluteSlot& slot : folded.turns) {
      S s;
      S c;
      kernels::sincos(q[slot.q], s, c);
      store(slot, c, s);
    }
  }
}

/// Everything of a configuration of all hinges.
template <class S>
void place_all(const Folded& folded, const kernels::Link<S>* links, const S* q, Joints<S>& out) {
  using kernels::cast;
  spin_all(folded, q, out.spin);
  for (const int posed : folded.posed) {
    const std::size_t k = at(posed);
    const kernels::Link<S>& l = links[k];
    const LinkPlace& place = folded.places[k];
    const Body& body = folded.model.bodies()[at(l.body)];
    Motion<S>* columns = out.columns.data() + l.v;
    Transform<S>& X = out.pose[k];
    switch (place.placing) {
      case Placing::turn: {
        const kernels::Spin<S>& s = out.spin[k];
        const Mat3<S> turn{{{s.c, -s.s, S(0)}, {s.s, s.c, S(0)}, {S(0), S(0), S(1)}}};
        X = {Rotation<S>(l.turn * turn), l.p};
        columns[0] = {Vec3<S>::unit_z(), Vec3<S>::zero()};
        break;
      }
      case Placing::slide:
        X = {Rotation<S>(l.turn), l.p + l.turn.column(2) * q[l.q]};
        columns[0] = {Vec3<S>::zero(), Vec3<S>::unit_z()};
        break;
      case Placing::float_free: {
        const S* x = q + l.q;
        X.rotation = Rotation<S>(l.turn * Rotation<S>(Quaternion<S>{x[0], x[1], x[2], x[3]}).matrix());
        laws::Free::joint_map(body.hinge, x, columns);
        break;
      }
      case Placing::law:
        X = Transform<S>{Rotation<S>(l.turn), l.p} *
            place_by_law(body.hinge, q + l.q, body.hinge.configuration_size(), columns);
        break;
      case Placing::one_axis:
        X = folded.one_axis[k].pose(q[l.q]);
        columns[0] = cast<S>(folded.one_axis[k].column);
        break;
      case Placing::body: {
        const Transform<S> X_MB = cast<S>(body.X_MB);
        X = cast<S>(body.X_PF) * place_by_law(body.hinge, q + l.q, body.hinge.configuration_size(), columns) * X_MB;
        for (int j = 0; j < l.nv; ++j) {
          columns[j] = inverse_times(X_MB, columns[j]);
        }
        break;
      }
    }
    if (place.ratio != 1) {
      columns[0] = columns[0] * constant<S>(place.ratio);
    }
  }
}

}  // namespace bunraku::operators
