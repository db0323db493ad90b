/// @file
/// Derivatives of the dynamics of a register of states. Included by block_sweeps_of.hpp.
#pragma once

#include "bunraku/kernels/variants/block_sweeps_of.hpp"

namespace bunraku::kernels {

template <class S>
template <Wanted wanted>
void BlockSweepsOf<S>::differentiate(const S* acceleration, bool passive, const Slopes<S>& slopes, S* mass) {
  if constexpr (DerivativeScratch<S>::lanes > 1) {
    copy_inertias(ws_, *derivatives_);  // which may be the state's own
  }
  kernels::inverse_derivatives<wanted>(ws_, *derivatives_, ws_.v, acceleration,
                                       {slopes.dq, slopes.dv, mass, slopes.places});
  if (passive) {
    add_passive_derivatives(ws_, slopes);
  }
}

template <class S>
const S* BlockSweepsOf<S>::folded(const S* full, const Slopes<S>& slopes, int i) {
  folded_.resize(at(3 * n_ * n_));
  S* const to = folded_.data() + i * n_ * n_;
  for (int e = 0; e < n_ * n_; ++e) {
    to[e] = S(0);
  }
  for (int c = 0; c < coordinates_.nv; ++c) {
    const Follower<double>& column = coordinates_.velocities[at(c)];
    for (int r = 0; r < coordinates_.nv; ++r) {
      const Follower<double>& row = coordinates_.velocities[at(r)];
      to[column.own * n_ + row.own] += S(row.ratio * column.ratio) * full[slopes.index(at(r), at(c))];
    }
  }
  return to;
}

template <class S>
BlockStatus BlockSweepsOf<S>::inverse_derivatives(const RowBlock<const T>& acceleration, bool passive,
                                                  const RowBlock<T>& dq, const RowBlock<T>& dv, const RowBlock<T>& da) {
  const BlockStatus status = take(acceleration, 0);
  make_derivatives();
  const int square = coordinates_.nv * coordinates_.nv;
  if constexpr (columns_per_register<S> == 1) {
    if (!coordinates_.has_mimics) {
      const int size = lists().elements;
      matrices_.resize(at(3 * size));
      const Slopes<S> slopes{matrices_.data(), matrices_.data() + size, n_, nullptr, lists().in_order.data()};
      S* const mass = slopes.dv + size;
      differentiate<Wanted::in_order>(given_.data(), passive, slopes, mass);
      put(slopes.dq, this->places_in_order(lists(), false), dq);
      put(slopes.dv, this->places_in_order(lists(), false), dv);
      put(mass, this->places_in_order(lists(), true), da);
      return status;
    }
  }
  matrices_.resize(at(3 * square));
  const Slopes<S> slopes{matrices_.data(), matrices_.data() + square, coordinates_.nv};
  S* const mass = slopes.dv + square;
  differentiate<Wanted::matrices>(spread(given_), passive, slopes, mass);
  if (coordinates_.has_mimics) {
    put(folded(slopes.dq, slopes, 0), this->column_places(), dq);
    put(folded(slopes.dv, slopes, 1), this->column_places(), dv);
    put(folded(mass, slopes, 2), this->column_places(), da);
  } else {
    put(slopes.dq, this->slope_places(layouts_.composite), dq);
    put(slopes.dv, this->slope_places(layouts_.composite), dv);
    put(mass, this->slope_places(layouts_.composite), da);
  }
  return status;
}

template <class S>
BlockStatus BlockSweepsOf<S>::forward_derivatives(const RowBlock<const T>& torque, bool passive, const RowBlock<T>& dq,
                                                  const RowBlock<T>& dv, const RowBlock<T>& dtau) {
  BlockStatus status = take(torque, 0);
  accelerate(passive);
  status.doubtful = doubts(ws_.of_forward);
  make_derivatives();
  const bool unbound = !coordinates_.has_mimics && (!passive || (lists().free_bare && ws_.constants == &constants_));
  Slopes<S> slopes = derivatives_->slopes();
  unbound ? differentiate<Wanted::unbound>(spread(user_), passive, slopes, nullptr)
          : differentiate<Wanted::slopes>(spread(user_), passive, slopes, nullptr);
  if (coordinates_.has_mimics) {
    folded(slopes.dq, slopes, 0);
    folded(slopes.dv, slopes, 1);
    slopes = {folded_.data(), folded_.data() + n_ * n_, n_};
  }
  square_.resize(at(n_ * n_));
  S* const inverse = square_.data();
  const bool had = std::exchange(ws_.has_articulated, true);
  std::swap(ws_.of_state, ws_.of_forward);
  kernels::inverse_mass_matrix(ws_, inverse);
  std::swap(ws_.of_state, ws_.of_forward);
  ws_.has_articulated = had;
  if (!products_) {
    products_.emplace(ws_, lists());
  }
  if constexpr (columns_per_register<S> == 1) {
    const Products<S> some{products_->rows_x.data(), products_->rows_y.data(), n_, 1};
    multiply_derivatives(
        ws_, *products_, static_cast<const S*>(inverse), slopes, unbound, [&](int) { return some; },
        [&](int first, int count) {
          store_rows(some.x, count * n_, dq, std::ptrdiff_t{first} * n_);
          store_rows(some.y, count * n_, dv, std::ptrdiff_t{first} * n_);
        });
  } else {
    solved_.resize(at(2 * n_ * n_));
    S* const by_q = solved_.data();
    S* const by_v = by_q + n_ * n_;
    multiply_derivatives(ws_, *products_, static_cast<const S*>(inverse), slopes, unbound, by_q, by_v);
    put(by_q, this->column_places(), dq);
    put(by_v, this->column_places(), dv);
  }
  put(inverse, n_ * n_, dtau);
  return status;
}

}  // namespace bunraku::kernels
