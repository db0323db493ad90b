#include "bunraku/dynamics/dynamics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bunraku/dynamics/detail/state.hpp"

namespace bunraku {

namespace {

double squared(double x) {
  return x * x;
}

}  // namespace

template <class T>
BasicDynamics<T>::BasicDynamics(Model model, PassiveForces passive)
    : state_(std::make_unique<State>(std::move(model), passive)) {
  std::vector<double> q(static_cast<std::size_t>(state_->model.nq()));
  neutral(state_->model, q);
  const std::vector<T> in_scalar(q.begin(), q.end());
  const std::vector<T> at_rest(static_cast<std::size_t>(state_->model.nv()));
  set_state(in_scalar, at_rest);
}
template <class T>
BasicDynamics<T>::~BasicDynamics() = default;
template <class T>
BasicDynamics<T>::BasicDynamics(BasicDynamics&&) noexcept = default;
template <class T>
BasicDynamics<T>& BasicDynamics<T>::operator=(BasicDynamics&&) noexcept = default;

template <class T>
const Model& BasicDynamics<T>::model() const {
  return state_->model;
}

template <class T>
void BasicDynamics<T>::set_state(std::span<const T> q, std::span<const T> v) {
  State& s = *state_;
  check_argument(q, s.model.nq(), "q");
  check_argument(v, s.model.nv(), "v");
  for (const kernels::QuaternionSlot& slot : s.coordinates.quaternions) {
    const T* x = q.data() + slot.user;
    const double excess = squared(x[0]) + squared(x[1]) + squared(x[2]) + squared(x[3]) - 1;
    if (!(std::abs(excess) <= quaternion_tolerance<T>)) {  // of the norm it is about half
      const double norm = std::sqrt(1 + excess);
      if (!(std::abs(norm - 1) <= quaternion_tolerance<T>)) {
        refuse_quaternion(s.model.body(slot.body), norm, "q");
      }
    }
  }
  if (s.refusable()) {
    s.coordinates.spread_positions(q, s.next_q);
    s.coordinates.spread(v, s.next_v);
    check_argument(std::span<const T>(s.next_q), s.coordinates.nq, "q of all hinges");
    check_argument(std::span<const T>(s.next_v), s.coordinates.nv, "v of all hinges");
    s.q.swap(s.next_q);
    s.v.swap(s.next_v);
  } else {
    s.coordinates.spread_positions(q, s.q);
    std::copy(v.begin(), v.end(), s.v.begin());
  }
  s.sweeps.set_state(s.q.data(), s.v.data());
  s.blocks.set_state(s.q.data(), s.v.data());
  s.factored = false;
}

template BasicDynamics<double>::BasicDynamics(Model, PassiveForces);
template BasicDynamics<double>::~BasicDynamics();
template BasicDynamics<double>::BasicDynamics(BasicDynamics&&) noexcept;
template BasicDynamics<double>& BasicDynamics<double>::operator=(BasicDynamics&&) noexcept;
template const Model& BasicDynamics<double>::model() const;
template void BasicDynamics<double>::set_state(std::span<const double>, std::span<const double>);
template BasicDynamics<float>::BasicDynamics(Model, PassiveForces);
template BasicDynamics<float>::~BasicDynamics();
template BasicDynamics<float>::BasicDynamics(BasicDynamics&&) noexcept;
template BasicDynamics<float>& BasicDynamics<float>::operator=(BasicDynamics&&) noexcept;
template const Model& BasicDynamics<float>::model() const;
template void BasicDynamics<float>::set_state(std::span<const float>, std::span<const float>);

}  // namespace bunraku
