/// @file
/// The joint map of one hinge of a state, its derivatives, and its product with velocities.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"
#include "bunraku/kernels/room.hpp"

namespace bunraku::detail {

/// Room for ∂H*/∂q and ∂(Ḣ*θ̇)/∂q of one hinge: beside the object but for modal hinges of more than six modes. Most maps
/// do not change, and filling it with zeros would be the dearest step of a sweep.
template <class T>
class MapColumns {
 public:
  /// Makes room for so many velocities.
  void begin(int nv) {
    if (nv <= max_hinge_velocities) {
      small_.emplace();
    } else {
      large_.resize(static_cast<std::size_t>(nv * nv + nv));
      bias_at_ = nv * nv;
    }
  }
  /// Whether there is any.
  bool begun() const { return small_.has_value() || !large_.empty(); }
  /// nv² columns.
  Motion<T>* map() { return large_.empty() ? small_->map.data() : large_.data(); }
  /// nv² columns.
  const Motion<T>* map() const { return large_.empty() ? small_->map.data() : large_.data(); }
  /// nv columns.
  Motion<T>* bias() { return large_.empty() ? small_->bias.data() : large_.data() + bias_at_; }
  /// nv columns.
  const Motion<T>* bias() const { return large_.empty() ? small_->bias.data() : large_.data() + bias_at_; }

 private:
  struct Small {
    std::array<Motion<T>, kernels::max_map_rates> map{};
    std::array<Motion<T>, max_hinge_velocities> bias{};
  };
  std::optional<Small> small_;
  std::vector<Motion<T>> large_;
  int bias_at_ = 0;
};

/// Derivatives of one hinge's joint map in its body's frame; zero where it does not change there.
template <class T>
class MapRates {
 public:
  /// Of a hinge whose map does not change.
  MapRates() = default;
  /// Of body k's.
  MapRates(const StateData<T>& s, int k) : nv_(s.blocks.nv(k)) {
    const Body& body = s.model.bodies()[static_cast<std::size_t>(k)];
    if (!kernels::has_changing_map(body.hinge)) {
      return;
    }
    const kernels::HingeSlot& slot = s.coordinates.slots[static_cast<std::size_t>(k)];
    MapColumns<double> columns;
    columns.begin(nv_);
    kernels::with_room(nv_, [&]<int most>() {
      std::array<double, most + 1> q{};
      std::array<double, most> v{};
      std::copy_n(s.q.begin() + slot.q, slot.nq, q.begin());
      std::copy_n(s.v().begin() + slot.v, slot.nv, v.begin());
      kernels::map_rates_at<double>(body.hinge, q.data(), v.data(), columns.map(), columns.bias());
    });
    begin(nv_);
    for (int i = 0; i < nv_ * nv_; ++i) {
      rates_.map()[i] = kernels::cast<T>(inverse_times(body.X_MB, columns.map()[i]));
    }
    for (int i = 0; i < nv_; ++i) {
      rates_.bias()[i] = kernels::cast<T>(inverse_times(body.X_MB, columns.bias()[i]));
    }
  }

  /// Velocities of the hinge.
  int nv() const { return nv_; }
  /// Whether any of them is not zero.
  bool changes() const { return rates_.begun(); }
  /// Makes room for those of a map that changes, of so many velocities.
  void begin(int nv) {
    nv_ = nv;
    rates_.begin(nv);
  }
  /// Sets column c of ∂H*/∂q_i, after begin().
  void set_rate(int i, int c, const Motion<T>& x) { rates_.map()[i * nv_ + c] = x; }
  /// Sets ∂(Ḣ*θ̇)/∂q_i, likewise.
  void set_bias_rate(int i, const Motion<T>& x) { rates_.bias()[i] = x; }
  /// Column c of ∂H*/∂q_i.
  Motion<T> rate(int i, int c) const { return changes() ? rates_.map()[i * nv_ + c] : Motion<T>::zero(); }
  /// ∂(Ḣ*θ̇)/∂q_i.
  Motion<T> bias_rate(int i) const { return changes() ? rates_.bias()[i] : Motion<T>::zero(); }
  /// (∂H*/∂q u) x.
  Motion<T> along(const T* u, const T* x) const { return slopes().along(u, x); }
  /// (∂H*/∂q_i) x.
  Motion<T> along(int i, const T* x) const { return slopes().along(i, x); }
  /// (∂H*/∂q u)'s column c.
  Motion<T> column(const T* u, int c) const { return slopes().column(u, c); }

 private:
  kernels::MapSlopes<T> slopes() const {
    return changes() ? kernels::MapSlopes<T>{nv_, rates_.map(), rates_.bias()} : kernels::MapSlopes<T>{nv_};
  }

  int nv_ = 0;
  MapColumns<T> rates_;
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
