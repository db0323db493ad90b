/// @file
/// Trajectories of a register of states: see batch/rollout.hpp. Included by block_sweeps_of.hpp.
#pragma once

#include "bunraku/kernels/variants/block_sweeps_of.hpp"

namespace bunraku::kernels {

template <class S>
BlockStatus BlockSweepsOf<S>::rollout(const Drive<T>& drive, const Course& course, bool passive, const RowBlock<T>& q,
                                      const RowBlock<T>& v) {
  const int nq = static_cast<int>(own_q_.size());
  course_.resize(at(3 * nq + 9 * n_));
  S* start_q = course_.data();
  S* torque = start_q + nq;
  S* reference_q = torque + n_;
  S* reference_v = reference_q + nq;
  S* error = reference_v + n_;  // 2n
  S* start_v = error + 2 * n_;
  S* sum_x = start_v + n_;
  S* sum_v = sum_x + n_;
  S* rate = sum_v + n_;
  S* xi = rate + n_;
  BlockStatus status;
  const S h(course.step);
  if (drive.gain != nullptr) {
    load_rows(drive.reference_q, 0, nq, reference_q);
    status.not_finite |= bits_of(not_finite(reference_q, nq));
    for (int i = 0; i < n_; ++i) {
      reference_v[i] = S(0);
    }
    if (drive.reference_v.data != nullptr) {
      load_rows(drive.reference_v, 0, n_, reference_v);
      status.not_finite |= bits_of(not_finite(reference_v, n_));
    }
  }
  for (int i = 0; i < n_; ++i) {
    torque[i] = S(0);
  }
  // accelerations at the state that own_q_ and own_v_ hold, into user_
  const auto accelerations = [&] {
    spread_state();
    for (int i = 0; i < n_; ++i) {
      given_[at(i)] = torque[i];
    }
    if (drive.gain != nullptr) {
      difference(tree_, static_cast<const S*>(own_q_.data()), static_cast<const S*>(reference_q), error);
      for (int i = 0; i < n_; ++i) {
        error[n_ + i] = reference_v[i] - own_v_[at(i)];
      }
      for (int i = 0; i < n_; ++i) {
        for (int j = 0; j < 2 * n_; ++j) {
          given_[at(i)] += S(drive.gain[i * 2 * n_ + j]) * error[j];
        }
      }
    }
    accelerate(passive);
    status.doubtful |= doubts(ws_.of_forward);
  };
  int recorded = 0;
  for (int step = 0; step < course.steps; ++step) {
    if (drive.torques.data != nullptr && (step == 0 || drive.torques_change)) {
      load_rows(drive.torques, drive.torques_change ? std::ptrdiff_t{step} * n_ : 0, n_, torque);
      status.not_finite |= bits_of(not_finite(torque, n_));
    }
    if (!course.runge_kutta) {
      accelerations();
      for (int i = 0; i < n_; ++i) {
        own_v_[at(i)] += user_[at(i)] * h;
      }
      integrate(tree_, static_cast<const S*>(own_q_.data()), static_cast<const S*>(own_v_.data()), h, own_q_.data());
    } else {
      for (int i = 0; i < nq; ++i) {
        start_q[i] = own_q_[at(i)];
      }
      for (int i = 0; i < n_; ++i) {
        start_v[i] = own_v_[at(i)];
        sum_x[i] = sum_v[i] = xi[i] = S(0);
      }
      for (int stage = 0; stage < 4; ++stage) {
        const S weight(stage == 0 || stage == 3 ? 1.0 / 6 : 1.0 / 3);
        const S reach(stage == 2 ? 1.0 : 0.5);  // of the next stage
        accelerations();
        tangent_rate(tree_, static_cast<const S*>(xi), static_cast<const S*>(own_v_.data()), rate);
        for (int i = 0; i < n_; ++i) {
          sum_x[i] += rate[i] * weight;
          sum_v[i] += user_[at(i)] * weight;
          xi[i] = rate[i] * (reach * h);
          own_v_[at(i)] = start_v[i] + user_[at(i)] * (reach * h);
        }
        if (stage < 3) {
          integrate(tree_, static_cast<const S*>(start_q), static_cast<const S*>(xi), S(1), own_q_.data());
        }
      }
      for (int i = 0; i < n_; ++i) {
        own_v_[at(i)] = start_v[i] + sum_v[i] * h;
      }
      integrate(tree_, static_cast<const S*>(start_q), static_cast<const S*>(sum_x), h, own_q_.data());
    }
    if ((step + 1) % course.record_every == 0) {
      store_rows(own_q_.data(), nq, q, std::ptrdiff_t{recorded} * nq);
      store_rows(own_v_.data(), n_, v, std::ptrdiff_t{recorded} * n_);
      ++recorded;
    }
  }
  auto wrong = not_finite(own_q_.data(), nq) | not_finite(own_v_.data(), n_);
  status.not_finite |= bits_of(wrong);
  return status;
}

}  // namespace bunraku::kernels
