/// @file
/// The joint map of one hinge of a state, its derivatives, and its product with velocities.
#pragma once

#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"

namespace bunraku::detail {

/// Derivatives of one hinge's joint map in its body's frame; zero where it does not change there.
template <class T>
struct MapRates {
  int nv = 0;
  bool changes = false;
  std::array<Motion<T>, kernels::max_map_rates> rates{};     ///< Column c of ∂H*/∂q_i is number i nv + c.
  std::array<Motion<T>, max_hinge_velocities> bias_rates{};  ///< ∂(Ḣ*θ̇)/∂q_i.

  MapRates(const StateData<T>& s, int k) : nv(s.blocks.nv(k)) {
    const Body& body = s.model.bodies()[static_cast<std::size_t>(k)];
    changes = kernels::has_changing_map(body.hinge.type);
    if (!changes) {
      return;
    }
    const kernels::HingeSlot& slot = s.coordinates.slots[static_cast<std::size_t>(k)];
    std::array<double, max_hinge_positions> q{};
    std::array<double, max_hinge_velocities> v{};
    std::copy_n(s.q.begin() + slot.q, slot.nq, q.begin());
    std::copy_n(s.v.begin() + slot.v, slot.nv, v.begin());
    std::array<Motion<double>, kernels::max_map_rates> columns{};
    std::array<Motion<double>, max_hinge_velocities> bias{};
    kernels::map_rates_at(body.hinge, q.data(), v.data(), columns.data(), bias.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(nv * nv); ++i) {
      rates[i] = kernels::cast<T>(inverse_times(body.X_MB, columns[i]));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(nv); ++i) {
      bias_rates[i] = kernels::cast<T>(inverse_times(body.X_MB, bias[i]));
    }
  }
  /// (∂H*/∂q u) x.
  Motion<T> along(const T* u, const T* x) const {
    Motion<T> out = Motion<T>::zero();
    for (int i = 0; changes && i < nv * nv; ++i) {
      out += rates[static_cast<std::size_t>(i)] * (u[i / nv] * x[i % nv]);
    }
    return out;
  }
  /// (∂H*/∂q_i) x.
  Motion<T> along(int i, const T* x) const {
    Motion<T> out = Motion<T>::zero();
    for (int c = 0; changes && c < nv; ++c) {
      out += rates[static_cast<std::size_t>(i * nv + c)] * x[c];
    }
    return out;
  }
  /// (∂H*/∂q u)'s column c.
  Motion<T> column(const T* u, int c) const {
    Motion<T> out = Motion<T>::zero();
    for (int i = 0; changes && i < nv; ++i) {
      out += rates[static_cast<std::size_t>(i * nv + c)] * u[i];
    }
    return out;
  }
};

/// H*x of body k, x over its own velocities.
template <class T>
Motion<T> joint_motion(const StateData<T>& s, int k, const T* x) {
  Motion<T> out = Motion<T>::zero();
  for (int j = 0; j < s.blocks.nv(k); ++j) {
    out += s.blocks.H(s.blocks.first(k) + j) * x[j];
  }
  return out;
}

}  // namespace bunraku::detail
