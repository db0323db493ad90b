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
  s.work.need_velocities();
  s.coordinates.spread(acceleration, s.full);
  s.work.inverse(s.full, s.gravity(), true, s.torques);
  s.add_passive(s.torques);
  s.coordinates.gather(s.torques, torque);
  s.subtract_applied(forces, torque);
}

template <class T>
void BasicDynamics<T>::bias(std::span<T> torque) {
  State& s = *state_;
  check_size(torque.size(), s.nv(), "torque");
  s.work.need_velocities();
  std::fill(s.full.begin(), s.full.end(), T(0));
  s.work.inverse(s.full, s.gravity(), true, s.torques);
  s.coordinates.gather(s.torques, torque);
}

template <class T>
void BasicDynamics<T>::gravity_torques(std::span<T> torque) {
  State& s = *state_;
  check_size(torque.size(), s.nv(), "torque");
  s.work.need_positions();
  std::fill(s.full.begin(), s.full.end(), T(0));
  s.work.inverse(s.full, s.gravity(), false, s.torques);
  s.coordinates.gather(s.torques, torque);
}

template void BasicDynamics<double>::inverse(std::span<const double>, std::span<double>, Forces);
template void BasicDynamics<double>::bias(std::span<double>);
template void BasicDynamics<double>::gravity_torques(std::span<double>);
template void BasicDynamics<float>::inverse(std::span<const float>, std::span<float>, Forces);
template void BasicDynamics<float>::bias(std::span<float>);
template void BasicDynamics<float>::gravity_torques(std::span<float>);

}  // namespace bunraku
