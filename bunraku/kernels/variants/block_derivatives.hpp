/// @file
/// Derivatives of the dynamics of a register of states. Included by block_sweeps_of.hpp.
#pragma once

#include "bunraku/kernels/variants/block_sweeps_of.hpp"

namespace bunraku::kernels {

template <class S>
void BlockSweepsOf<S>::differentiate(const S* acceleration, bool passive, bool mass) {
  const int square = coordinates_.nv * coordinates_.nv;
  slopes_.resize(at(3 * square + 3 * n_ * n_));
  if (!derivatives_) {
    derivatives_.emplace(ws_, lists());
  }
  copy_inertias(ws_, *derivatives_);  // which may be the states' own
  S* const dq = slopes_.data();
  S* const dv = dq + square;
  kernels::inverse_derivatives(ws_, *derivatives_, ws_.v, acceleration, {dq, dv, mass ? dv + square : nullptr});
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
  S* const to = slopes_.data() + 3 * full * full + i * n_ * n_;
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
void BlockSweepsOf<S>::put_columns(const S* columns, const RowBlock<T>& out) {
  square_.resize(at(n_ * n_));
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      square_[at(i * n_ + j)] = columns[j * n_ + i];
    }
  }
  put(square_.data(), n_ * n_, out);
}

template <class S>
BlockStatus BlockSweepsOf<S>::inverse_derivatives(const RowBlock<const T>& acceleration, bool passive,
                                                  const RowBlock<T>& dq, const RowBlock<T>& dv, const RowBlock<T>& da) {
  const BlockStatus status = take(acceleration, 0);
  differentiate(spread(given_), passive, true);
  put_columns(folded_slopes(0), dq);
  put_columns(folded_slopes(1), dv);
  put_columns(folded_slopes(2), da);
  return status;
}

template <class S>
BlockStatus BlockSweepsOf<S>::forward_derivatives(const RowBlock<const T>& torque, bool passive, const RowBlock<T>& dq,
                                                  const RowBlock<T>& dv, const RowBlock<T>& dtau) {
  BlockStatus status = take(torque, 0);
  accelerate(passive);
  status.doubtful = doubts(ws_.of_forward);
  differentiate(spread(user_), passive, false);
  // with mimics the products take the place of what was folded
  const int full = coordinates_.nv * coordinates_.nv;
  S* const inverse = slopes_.data() + 2 * full;
  S* const by_q = slopes_.data() + (coordinates_.has_mimics ? 0 : 3 * full);
  S* const by_v = by_q + n_ * n_;
  const S* const x = folded_slopes(0);
  const S* const y = folded_slopes(1);
  const bool had = std::exchange(ws_.has_articulated, true);
  std::swap(ws_.of_state, ws_.of_forward);
  kernels::inverse_mass_matrix(ws_, inverse);
  std::swap(ws_.of_state, ws_.of_forward);
  ws_.has_articulated = had;
  if (!products_) {
    products_.emplace(ws_, lists());
  }
  multiply_derivatives(ws_, *products_, static_cast<const S*>(inverse), x, y, by_q, by_v);
  put_columns(by_q, dq);
  put_columns(by_v, dv);
  put(inverse, n_ * n_, dtau);
  return status;
}

}  // namespace bunraku::kernels
