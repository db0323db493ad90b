#include "bunraku/dynamics/state.hpp"

#include <algorithm>
#include <cmath>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/model/configuration.hpp"

namespace bunraku {

namespace {

double squared(double x) {
  return x * x;
}

}  // namespace

template <class T>
BasicState<T>::BasicState(Model model, PassiveForces passive)
    : data_(std::make_unique<detail::StateData<T>>(std::move(model), passive)) {
  std::vector<double> q(static_cast<std::size_t>(data_->model.nq()));
  neutral(data_->model, q);
  set(std::vector<T>(q.begin(), q.end()));
}
template <class T>
BasicState<T>::~BasicState() = default;
template <class T>
BasicState<T>::BasicState(BasicState&&) noexcept = default;
template <class T>
BasicState<T>& BasicState<T>::operator=(BasicState&&) noexcept = default;

template <class T>
BasicState<T>::BasicState(const BasicState& other)
    : data_(std::make_unique<detail::StateData<T>>(other.model(), other.passive_forces())) {
  data_->copy(*other.data_);
}
template <class T>
BasicState<T>& BasicState<T>::operator=(const BasicState& other) {
  if (this != &other) {
    *this = BasicState(other);
  }
  return *this;
}

template <class T>
const Model& BasicState<T>::model() const {
  return data_->model;
}

template <class T>
PassiveForces BasicState<T>::passive_forces() const {
  return data_->passive;
}

template <class T>
const T* BasicState<T>::positions() const {
  return data_->user_q().data();
}

template <class T>
const T* BasicState<T>::velocities() const {
  return data_->user_v().data();
}

template <class T>
void BasicState<T>::set(const Input<T>& q) {
  set(q, data_->rest());
}

template <class T>
void BasicState<T>::set(const Input<T>& q, const Input<T>& v) {
  detail::StateData<T>& s = *data_;
  const std::span<const T> positions = detail::given(q, s.model.nq(), "q");
  const std::span<const T> velocities = detail::given(v, s.model.nv(), "v");
  for (const kernels::QuaternionSlot& slot : s.coordinates.quaternions) {
    const T* x = positions.data() + slot.user;
    const double excess = squared(x[0]) + squared(x[1]) + squared(x[2]) + squared(x[3]) - 1;
    if (!(std::abs(excess) <= quaternion_tolerance<T>)) {  // of the norm it is about half
      const double norm = std::sqrt(1 + excess);
      if (!(std::abs(norm - 1) <= quaternion_tolerance<T>)) {
        refuse_quaternion(s.model.body(slot.body), norm, "q");
      }
    }
  }
  s.set(positions, velocities);
}

template class BasicState<double>;
template class BasicState<float>;

}  // namespace bunraku
