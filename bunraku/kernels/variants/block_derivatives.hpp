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
    for_passive_slopes(ws_, [&](std::size_t i, std::size_t j, const S& by_q, const S& by_v) {
      const auto place = slopes.index(i, j);
      slopes.dq[place] += by_q;
      slopes.dv[place] += by_v;
    });
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
  by_factors_of_forward(ws_, [&] { kernels::inverse_mass_matrix(ws_, inverse); });
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

template <class S>
void BlockSweepsOf<S>::make_directions() {
  for (std::vector<S>* each : {&ways_.acceleration, &ways_.q, &ways_.v, &ways_.a}) {
    each->resize(at(coordinates_.nv));
  }
  if (!directions_) {
    directions_.emplace(ws_);
  }
}

/// ∂T along the direction in `ways_`, over the user's coordinates.
template <class S>
const S* BlockSweepsOf<S>::torques_along(bool passive) {
  const Direction<S> along{ways_.q.data(), ways_.v.data(), ways_.a.data()};
  inverse_dynamics_along(ws_, *directions_, ways_.acceleration.data(), along, result_.data());
  if (passive) {
    for_passive_slopes(ws_, [&](std::size_t i, std::size_t j, const S& by_q, const S& by_v) {
      result_[i] += by_q * along.q[j] + by_v * along.v[j];
    });
  }
  return gathered_torques();
}

/// (∂T)*λ over all hinges of the λ in `ways_.a`: by q and by θ̇ in the places of these, by θ̈ in `result_`.
template <class S>
void BlockSweepsOf<S>::torques_back(bool passive) {
  inverse_dynamics_back(ws_, *directions_, ways_.acceleration.data(), ways_.a.data(),
                        {ways_.q.data(), ways_.v.data(), result_.data()});
  if (passive) {
    for_passive_slopes(ws_, [&](std::size_t i, std::size_t j, const S& by_q, const S& by_v) {
      ways_.q[j] += by_q * ways_.a[i];
      ways_.v[j] += by_v * ways_.a[i];
    });
  }
}

template <class S>
BlockStatus BlockSweepsOf<S>::inverse_jvp(const RowBlock<const T>& acceleration, const RowBlock<const T>& q_rate,
                                          const RowBlock<const T>& v_rate, const RowBlock<const T>& a_rate,
                                          bool passive, const RowBlock<T>& torque_rate) {
  make_directions();
  BlockStatus status;
  const auto take_way = [&](const RowBlock<const T>& rows, std::vector<S>& way) {
    status.not_finite |= take(rows, 0).not_finite;
    spread_into(given_, way);
  };
  take_way(acceleration, ways_.acceleration);
  take_way(q_rate, ways_.q);
  take_way(v_rate, ways_.v);
  take_way(a_rate, ways_.a);
  put(torques_along(passive), n_, torque_rate);
  return status;
}

template <class S>
BlockStatus BlockSweepsOf<S>::inverse_vjp(const RowBlock<const T>& acceleration, const RowBlock<const T>& weight,
                                          bool passive, const RowBlock<T>& by_q, const RowBlock<T>& by_v,
                                          const RowBlock<T>& by_a) {
  make_directions();
  BlockStatus status = take(acceleration, 0);
  spread_into(given_, ways_.acceleration);
  status.not_finite |= take(weight, 0).not_finite;
  spread_into(given_, ways_.a);
  torques_back(passive);
  put(gathered_torques(), n_, by_a);
  put(gathered(ways_.q), n_, by_q);
  put(gathered(ways_.v), n_, by_v);
  return status;
}

template <class S>
BlockStatus BlockSweepsOf<S>::forward_jvp(const RowBlock<const T>& torque, const RowBlock<const T>& q_rate,
                                          const RowBlock<const T>& v_rate, const RowBlock<const T>& torque_rate,
                                          bool passive, const RowBlock<T>& acceleration_rate) {
  make_directions();
  BlockStatus status = take(torque, 0);
  accelerate(passive);
  status.doubtful = doubts(ws_.of_forward);
  spread_into(user_, ways_.acceleration);
  status.not_finite |= take(q_rate, 0).not_finite;
  spread_into(given_, ways_.q);
  status.not_finite |= take(v_rate, 0).not_finite;
  spread_into(given_, ways_.v);
  for (S& each : ways_.a) {
    each = S(0);
  }
  const S* const change = torques_along(passive);
  status.not_finite |= take(torque_rate, 0).not_finite;
  for (int i = 0; i < n_; ++i) {
    given_[at(i)] -= change[i];
  }
  by_factors_of_forward(ws_, [&] { solve_given(); });
  put(user_.data(), n_, acceleration_rate);
  return status;
}

template <class S>
BlockStatus BlockSweepsOf<S>::forward_vjp(const RowBlock<const T>& torque, const RowBlock<const T>& weight,
                                          bool passive, const RowBlock<T>& by_q, const RowBlock<T>& by_v,
                                          const RowBlock<T>& by_torque) {
  make_directions();
  BlockStatus status = take(torque, 0);
  accelerate(passive);
  status.doubtful = doubts(ws_.of_forward);
  spread_into(user_, ways_.acceleration);
  status.not_finite |= take(weight, 0).not_finite;
  by_factors_of_forward(ws_, [&] { solve_given(); });
  put(user_.data(), n_, by_torque);
  for (S& each : user_) {
    each = -each;
  }
  spread_into(user_, ways_.a);
  torques_back(passive);
  put(gathered(ways_.q), n_, by_q);
  put(gathered(ways_.v), n_, by_v);
  return status;
}

}  // namespace bunraku::kernels
