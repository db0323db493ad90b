#include <algorithm>

#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
void BasicDynamics<T>::inverse(std::span<const T> acceleration, std::span<T> torque, Forces forces) {
  State& s = *state_;
  check_argument(acceleration, s.nv(), "acceleration");
  check_size(torque.size(), s.nv(), "torque");
  s.check_forces(forces);
  if (s.has_mimics()) {
    s.coordinates.spread(acceleration, s.full);
    s.sweeps.inverse(s.v.data(), s.full.data(), s.torques.data());
    s.add_passive(s.torques);
    s.coordinates.gather(s.torques, torque);
  } else {
    s.sweeps.inverse(s.v.data(), acceleration.data(), torque.data());
    s.add_passive(torque);
  }
  s.subtract_applied(forces, torque);
}

template <class T>
void BasicDynamics<T>::bias(std::span<T> torque) {
  State& s = *state_;
  check_size(torque.size(), s.nv(), "torque");
  s.sweeps.inverse(s.v.data(), s.sweeps.zeros(), s.torques.data());
  s.coordinates.gather(s.torques, torque);
}

template <class T>
void BasicDynamics<T>::gravity_torques(std::span<T> torque) {
  State& s = *state_;
  check_size(torque.size(), s.nv(), "torque");
  s.sweeps.inverse(s.sweeps.zeros(), s.sweeps.zeros(), s.torques.data());
  s.coordinates.gather(s.torques, torque);
}

template void BasicDynamics<double>::inverse(std::span<const double>, std::span<double>, Forces);
template void BasicDynamics<double>::bias(std::span<double>);
template void BasicDynamics<double>::gravity_torques(std::span<double>);
template void BasicDynamics<float>::inverse(std::span<const float>, std::span<float>, Forces);
template void BasicDynamics<float>::bias(std::span<float>);
template void BasicDynamics<float>::gravity_torques(std::span<float>);

}  // namespace bunraku
