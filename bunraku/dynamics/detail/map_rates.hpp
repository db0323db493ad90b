/// @file
/// The joint map of one hinge of a state, its derivatives, and its product with velocities.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"

namespace bunraku::detail {

/// Derivatives of one hinge's joint map in its body's frame; zero where it does not change there.
template <class T>
class MapRates {
 public:
  /// Of a hinge whose map does not change.
  MapRates() = default;
  /// Of body k's.
  MapRates(const StateData<T>& s, int k) : nv_(s.blocks.nv(k)) {
    const Body& body = s.model.bodies()[static_cast<std::size_t>(k)];
    if (!kernels::has_changing_map(body.hinge.type)) {
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
    rates_.emplace();
    for (std::size_t i = 0; i < static_cast<std::size_t>(nv_ * nv_); ++i) {
      rates_->map[i] = kernels::cast<T>(inverse_times(body.X_MB, columns[i]));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(nv_); ++i) {
      rates_->bias[i] = kernels::cast<T>(inverse_times(body.X_MB, bias[i]));
    }
  }

  /// Velocities of the hinge.
  int nv() const { return nv_; }
  /// Whether any of them is not zero.
  bool changes() const { return rates_.has_value(); }
  /// Makes room for those of a map that changes, of so many velocities.
  void begin(int nv) {
    nv_ = nv;
    rates_.emplace();
  }
  /// Sets column c of ∂H*/∂q_i, after begin().
  void set_rate(int i, int c, const Motion<T>& x) { rates_->map[static_cast<std::size_t>(i * nv_ + c)] = x; }
  /// Sets ∂(Ḣ*θ̇)/∂q_i, likewise.
  void set_bias_rate(int i, const Motion<T>& x) { rates_->bias[static_cast<std::size_t>(i)] = x; }
  /// Column c of ∂H*/∂q_i.
  Motion<T> rate(int i, int c) const {
    return changes() ? rates_->map[static_cast<std::size_t>(i * nv_ + c)] : Motion<T>::zero();
  }
  /// ∂(Ḣ*θ̇)/∂q_i.
  Motion<T> bias_rate(int i) const { return changes() ? rates_->bias[static_cast<std::size_t>(i)] : Motion<T>::zero(); }
  /// (∂H*/∂q u) x.
  Motion<T> along(const T* u, const T* x) const {
    Motion<T> out = Motion<T>::zero();
    for (int i = 0; changes() && i < nv_ * nv_; ++i) {
      out += rates_->map[static_cast<std::size_t>(i)] * (u[i / nv_] * x[i % nv_]);
    }
    return out;
  }
  /// (∂H*/∂q_i) x.
  Motion<T> along(int i, const T* x) const {
    Motion<T> out = Motion<T>::zero();
    for (int c = 0; changes() && c < nv_; ++c) {
      out += rate(i, c) * x[c];
    }
    return out;
  }
  /// (∂H*/∂q u)'s column c.
  Motion<T> column(const T* u, int c) const {
    Motion<T> out = Motion<T>::zero();
    for (int i = 0; changes() && i < nv_; ++i) {
      out += rate(i, c) * u[i];
    }
    return out;
  }

 private:
  struct Rates {
    std::array<Motion<T>, kernels::max_map_rates> map{};
    std::array<Motion<T>, max_hinge_velocities> bias{};
  };
  int nv_ = 0;
  std::optional<Rates>
      rates_;  // most maps do not change, and filling it with zeros would be the dearest step of a sweep
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
