/// @file
/// Derivatives of the dynamics of a register of states. Included by block_sweeps_of.hpp.
#pragma once

#include "bunraku/kernels/variants/block_sweeps_of.hpp"

namespace bunraku::kernels {

template <class S>
template <class F>
void BlockSweepsOf<S>::differentiate(const S* acceleration, bool passive, bool mass, F&& beside) {
  const int square = coordinates_.nv * coordinates_.nv;
  slopes_.resize(at(3 * square));
  if (!derivatives_) {
    derivatives_.emplace(ws_, lists());
  }
  copy_inertias(ws_, *derivatives_);  // which may be the states' own
  S* const dq = slopes_.data();
  S* const dv = dq + square;
  kernels::inverse_derivatives(ws_, *derivatives_, ws_.v, acceleration, {dq, dv, mass ? dv + square : nullptr}, beside);
  if (passive) {
    add_passive_derivatives(ws_, dq, dv);
  }
}

template <class S>
const S* BlockSweepsOf<S>::folded_slopes(int i) {
  const int full = coordinates_.nv;
  const S* from = slopes_.data() + i * full * full;
  if (!coordinates_.has_mimics) {
    return from;
  }
  folded_.resize(at(3 * n_ * n_));
  S* const to = folded_.data() + i * n_ * n_;
  for (int e = 0; e < n_ * n_; ++e) {
    to[e] = S(0);
  }
  for (int c = 0; c < full; ++c) {
    const Follower<double>& column = coordinates_.velocities[at(c)];
    for (int r = 0; r < full; ++r) {
      const Follower<double>& row = coordinates_.velocities[at(r)];
      to[column.own * n_ + row.own] += S(row.ratio * column.ratio) * *from++;
    }
  }
  return to;
}

template <class S>
void BlockSweepsOf<S>::put_slopes(int i, const RowBlock<T>& out) {
  put(folded_slopes(i), coordinates_.has_mimics ? this->column_places() : this->slope_places(layouts_.composite), out);
}

template <class S>
BlockStatus BlockSweepsOf<S>::inverse_derivatives(const RowBlock<const T>& acceleration, bool passive,
                                                  const RowBlock<T>& dq, const RowBlock<T>& dv, const RowBlock<T>& da) {
  const BlockStatus status = take(acceleration, 0);
  RowsAhead<T> ahead[] = {rows_ahead(dq), rows_ahead(dv), rows_ahead(da)};
  differentiate(spread(given_), passive, true, [&] {
    for (RowsAhead<T>& each : ahead) {
      each.ask();
    }
  });
  put_slopes(0, dq);
  put_slopes(1, dv);
  put_slopes(2, da);
  return status;
}

template <class S>
BlockStatus BlockSweepsOf<S>::forward_derivatives(const RowBlock<const T>& torque, bool passive, const RowBlock<T>& dq,
                                                  const RowBlock<T>& dv, const RowBlock<T>& dtau) {
  BlockStatus status = take(torque, 0);
  accelerate(passive);
  status.doubtful = doubts(ws_.of_forward);
  differentiate(spread(user_), passive, false, [] {});
  square_.resize(at(n_ * n_));
  solved_.resize(at(2 * n_ * n_));
  S* const inverse = square_.data();
  S* const by_q = solved_.data();
  S* const by_v = by_q + n_ * n_;
  const bool had = std::exchange(ws_.has_articulated, true);
  std::swap(ws_.of_state, ws_.of_forward);
  kernels::inverse_mass_matrix(ws_, inverse);
  std::swap(ws_.of_state, ws_.of_forward);
  ws_.has_articulated = had;
  if (!products_) {
    products_.emplace(ws_, lists());
  }
  multiply_derivatives(ws_, *products_, static_cast<const S*>(inverse), folded_slopes(0), folded_slopes(1), by_q, by_v);
  put(by_q, this->column_places(), dq);
  put(by_v, this->column_places(), dv);
  put(inverse, n_ * n_, dtau);
  return status;
}

}  // namespace bunraku::kernels
