#include "bunraku/dynamics/dynamics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bunraku/dynamics/detail/state.hpp"

namespace bunraku {

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
  for (const Body& body : s.model.bodies()) {
    if (body.nq > 0 && (body.hinge.type == HingeType::spherical || body.hinge.type == HingeType::free)) {
      const T* at = q.data() + body.q_index;
      const double norm = Quaternion<double>{at[0], at[1], at[2], at[3]}.norm();
      if (!(std::abs(norm - 1) <= quaternion_tolerance<T>)) {
        refuse_quaternion(body, norm, "q");
      }
    }
  }
  for (std::size_t k = 0; k < s.coordinates.slots.size(); ++k) {
    const Body& body = s.model.bodies()[k];
    T* own = s.q.data() + s.coordinates.slots[k].q;
    if (body.leader != world) {
      *own = static_cast<T>(body.leader_ratio * static_cast<double>(q[static_cast<std::size_t>(body.q_index)]) +
                            body.leader_offset);
    } else {
      std::array<double, max_hinge_positions> exact{};
      std::copy_n(q.data() + body.q_index, body.nq, exact.begin());
      hinge_normalize(body.hinge, exact.data());
      std::transform(exact.begin(), exact.begin() + body.nq, own, [](double x) { return static_cast<T>(x); });
    }
  }
  s.coordinates.spread(v, s.v);
  s.work.set_state(s.q, s.v);
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
