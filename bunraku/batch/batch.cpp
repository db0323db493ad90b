#include "bunraku/batch/batch.hpp"

#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bunraku/batch/detail/batch_data.hpp"
#include "bunraku/error.hpp"

namespace bunraku {

using detail::BatchBlock;
using detail::BatchCall;

template <class T>
BasicBatch<T>::BasicBatch(Model model, BatchOptions options)
    : data_(std::make_unique<detail::BatchData<T>>(std::move(model), std::move(options))) {}
template <class T>
BasicBatch<T>::~BasicBatch() = default;
template <class T>
BasicBatch<T>::BasicBatch(BasicBatch&&) noexcept = default;
template <class T>
BasicBatch<T>& BasicBatch<T>::operator=(BasicBatch&&) noexcept = default;

template <class T>
const Model& BasicBatch<T>::model() const {
  return data_->model;
}

template <class T>
int BasicBatch<T>::threads() const {
  return data_->executor->workers();
}

template <class T>
int BasicBatch<T>::lanes() const {
  return data_->lanes;
}

template <class T>
void BasicBatch<T>::set_progress(std::function<void(std::ptrdiff_t)> progress) {
  data_->progress = std::move(progress);
}

// ---------------------------------------------------------------------------------------------------------------------
// Dynamics

template <class T>
const BatchReport& BasicBatch<T>::inverse_dynamics(RowsIn q, RowsIn v, RowsIn acceleration, RowsOut torque,
                                                   Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  data_->check(acceleration, call.states, model().nv(), "acceleration");
  data_->wants(call, torque, model().nv(), "torque");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.inverse_dynamics(block.of(acceleration), data_->passive, block.of(torque));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::forward_dynamics(RowsIn q, RowsIn v, RowsIn torque, RowsOut acceleration,
                                                   Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  data_->check(torque, call.states, model().nv(), "torque");
  data_->wants(call, acceleration, model().nv(), "acceleration");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.forward_dynamics(block.of(torque), data_->passive, block.of(acceleration));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::inverse_dynamics_derivatives(RowsIn q, RowsIn v, RowsIn acceleration, RowsOut dq,
                                                               RowsOut dv, RowsOut da, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  const std::ptrdiff_t n = model().nv();
  data_->check(acceleration, call.states, n, "acceleration");
  data_->wants(call, dq, n * n, "dq");
  data_->wants(call, dv, n * n, "dv");
  data_->wants(call, da, n * n, "da");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.inverse_derivatives(block.of(acceleration), data_->passive, block.of(dq), block.of(dv), block.of(da));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::forward_dynamics_derivatives(RowsIn q, RowsIn v, RowsIn torque, RowsOut dq,
                                                               RowsOut dv, RowsOut dtau, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  const std::ptrdiff_t n = model().nv();
  data_->check(torque, call.states, n, "torque");
  data_->wants(call, dq, n * n, "dq");
  data_->wants(call, dv, n * n, "dv");
  data_->wants(call, dtau, n * n, "dtau");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.forward_derivatives(block.of(torque), data_->passive, block.of(dq), block.of(dv), block.of(dtau));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::inverse_dynamics_jvp(RowsIn q, RowsIn v, RowsIn acceleration, RowsIn q_rate,
                                                       RowsIn v_rate, RowsIn a_rate, RowsOut torque_rate,
                                                       Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  const std::ptrdiff_t n = model().nv();
  data_->check(acceleration, call.states, n, "acceleration");
  data_->check(q_rate, call.states, n, "q_rate");
  data_->check(v_rate, call.states, n, "v_rate");
  data_->check(a_rate, call.states, n, "a_rate");
  data_->wants(call, torque_rate, n, "torque_rate");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.inverse_jvp(block.of(acceleration), block.of(q_rate), block.of(v_rate), block.of(a_rate),
                              data_->passive, block.of(torque_rate));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::inverse_dynamics_vjp(RowsIn q, RowsIn v, RowsIn acceleration, RowsIn weight,
                                                       RowsOut by_q, RowsOut by_v, RowsOut by_a, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  const std::ptrdiff_t n = model().nv();
  data_->check(acceleration, call.states, n, "acceleration");
  data_->check(weight, call.states, n, "weight");
  data_->wants(call, by_q, n, "by_q");
  data_->wants(call, by_v, n, "by_v");
  data_->wants(call, by_a, n, "by_a");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.inverse_vjp(block.of(acceleration), block.of(weight), data_->passive, block.of(by_q), block.of(by_v),
                              block.of(by_a));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::forward_dynamics_jvp(RowsIn q, RowsIn v, RowsIn torque, RowsIn q_rate, RowsIn v_rate,
                                                       RowsIn torque_rate, RowsOut acceleration_rate, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  const std::ptrdiff_t n = model().nv();
  data_->check(torque, call.states, n, "torque");
  data_->check(q_rate, call.states, n, "q_rate");
  data_->check(v_rate, call.states, n, "v_rate");
  data_->check(torque_rate, call.states, n, "torque_rate");
  data_->wants(call, acceleration_rate, n, "acceleration_rate");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.forward_jvp(block.of(torque), block.of(q_rate), block.of(v_rate), block.of(torque_rate),
                              data_->passive, block.of(acceleration_rate));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::forward_dynamics_vjp(RowsIn q, RowsIn v, RowsIn torque, RowsIn weight, RowsOut by_q,
                                                       RowsOut by_v, RowsOut by_torque, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  const std::ptrdiff_t n = model().nv();
  data_->check(torque, call.states, n, "torque");
  data_->check(weight, call.states, n, "weight");
  data_->wants(call, by_q, n, "by_q");
  data_->wants(call, by_v, n, "by_v");
  data_->wants(call, by_torque, n, "by_torque");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.forward_vjp(block.of(torque), block.of(weight), data_->passive, block.of(by_q), block.of(by_v),
                              block.of(by_torque));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::bias(RowsIn q, RowsIn v, RowsOut torque, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  data_->wants(call, torque, model().nv(), "torque");
  return data_->run(
      call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) { return sweeps.bias(block.of(torque)); });
}

template <class T>
const BatchReport& BasicBatch<T>::gravity_torques(RowsIn q, RowsOut torque, Subset subset) {
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, torque, model().nv(), "torque");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.gravity_torques(block.of(torque));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::mass_matrix(RowsIn q, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, out, std::ptrdiff_t{model().nv()} * model().nv(), "out");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.mass_matrix(block.of(out));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::inverse_mass_matrix(RowsIn q, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, out, std::ptrdiff_t{model().nv()} * model().nv(), "out");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.inverse_mass_matrix(block.of(out));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::inverse_mass_times(RowsIn q, RowsIn x, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, subset);
  const int n = model().nv();
  if (n == 0 ? x.cols() != 0 : x.cols() % n != 0) {
    throw ArgumentError(
        fmt::format("x has {} numbers a state, which is no multiple of the {} velocities", x.cols(), n));
  }
  data_->check(x, call.states, x.cols(), "x");
  data_->wants(call, out, x.cols(), "out");
  const int columns = n == 0 ? 0 : static_cast<int>(x.cols() / n);
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.inverse_mass_times(block.of(x), columns, block.of(out));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::log_det_mass(RowsIn q, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, out, 1, "out");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.log_determinant(block.of(out));
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Kinematics and integrals

template <class T>
const BatchReport& BasicBatch<T>::poses(RowsIn q, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, out, 16 * std::ssize(model().bodies()), "out");
  return data_->run(
      call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) { return sweeps.poses(block.of(out)); });
}

template <class T>
const BatchReport& BasicBatch<T>::pose(RowsIn q, const NodeRef& node, RowsOut out, Subset subset) {
  const Place place = node.place(model());
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, out, 16, "out");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.pose(place, block.of(out));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::velocities(RowsIn q, RowsIn v, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  data_->wants(call, out, 6 * std::ssize(model().bodies()), "out");
  return data_->run(
      call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) { return sweeps.velocities(block.of(out)); });
}

template <class T>
const BatchReport& BasicBatch<T>::jacobian(RowsIn q, const NodeRef& node, Frame frame, RowsOut out, Subset subset) {
  const Place place = node.place(model());
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, out, std::ptrdiff_t{6} * model().nv(), "out");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.jacobian(place, frame, block.of(out));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::center_of_mass(RowsIn q, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, subset);
  data_->wants(call, out, 3, "out");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.center_of_mass(block.of(out));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::energy(RowsIn q, RowsIn v, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  data_->wants(call, out, 2, "out");
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    return sweeps.energy(data_->passive, block.of(out));
  });
}

template <class T>
const BatchReport& BasicBatch<T>::momentum(RowsIn q, RowsIn v, RowsOut out, Subset subset) {
  BatchCall<T> call = data_->call(q, v, subset);
  data_->wants(call, out, 6, "out");
  return data_->run(
      call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) { return sweeps.momentum(block.of(out)); });
}

// ---------------------------------------------------------------------------------------------------------------------
// Trajectories

namespace {

/// Rows for each state, or one for all: then each state is given the same row.
template <class T>
StateRows<const T> for_each_state(const StateRows<const T>& rows, std::ptrdiff_t states) {
  return rows.rows() == 1 && states != 1 ? StateRows<const T>(rows.data(), states, rows.cols(), 0, rows.column_stride())
                                         : rows;
}

}  // namespace

template <class T>
const BatchReport& BasicBatch<T>::rollout(RowsIn q, RowsIn v, const RolloutInput<T>& input,
                                          const RolloutOptions& options, RowsOut out_q, RowsOut out_v, Subset subset) {
  if (!(options.step > 0) || !std::isfinite(options.step)) {
    throw ArgumentError(fmt::format("the step is {} s, and must be above 0", options.step));
  }
  if (options.steps < 1 || options.record_every < 1) {
    throw ArgumentError(
        fmt::format("{} steps, recorded after every {}: give at least 1 of each", options.steps, options.record_every));
  }
  BatchCall<T> call = data_->call(q, v, subset);
  const std::ptrdiff_t n = model().nv();
  const std::ptrdiff_t records = options.records();
  data_->wants(call, out_q, records * model().nq(), "out_q");
  data_->wants(call, out_v, records * n, "out_v");
  const StateRows<const T> torques = for_each_state(input.torques, call.states);
  const bool change = input.torques.cols() == options.steps * n && options.steps != 1;
  if (torques.data() != nullptr) {
    data_->check(torques, call.states, change ? options.steps * n : n, "torques");
  }
  std::vector<T> gain;  // row by row
  StateRows<const T> reference_q;
  StateRows<const T> reference_v;
  if (input.gain.data() != nullptr) {
    data_->check(input.gain, n, 2 * n, "gain");
    reference_q = for_each_state(input.reference_q, call.states);
    reference_v = for_each_state(input.reference_v, call.states);
    data_->check(reference_q, call.states, model().nq(), "reference_q");
    if (reference_v.data() != nullptr) {
      data_->check(reference_v, call.states, n, "reference_v");
    }
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (std::ptrdiff_t j = 0; j < 2 * n; ++j) {
        gain.push_back(input.gain.row(i)[j * input.gain.column_stride()]);
        if (!std::isfinite(gain.back())) {
          throw ArgumentError(fmt::format("gain({}, {}) is {}, not a finite number", i, j, gain.back()));
        }
      }
    }
  }
  const kernels::Course course{.step = options.step,
                               .steps = options.steps,
                               .record_every = options.record_every,
                               .runge_kutta = options.integrator == Integrator::runge_kutta_4};
  return data_->run(call, [&](kernels::BlockSweeps<T>& sweeps, const BatchBlock& block) {
    kernels::Drive<T> drive{.torques = block.of(torques),
                            .torques_change = change,
                            .gain = gain.empty() ? nullptr : gain.data(),
                            .reference_q = block.of(reference_q),
                            .reference_v = block.of(reference_v)};
    return sweeps.rollout(drive, course, data_->passive, block.of(out_q), block.of(out_v));
  });
}

template class BasicBatch<double>;
template class BasicBatch<float>;

}  // namespace bunraku
