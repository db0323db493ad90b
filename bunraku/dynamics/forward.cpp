#include <algorithm>

#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
void BasicDynamics<T>::forward(std::span<const T> torque, std::span<T> acceleration, Forces forces) {
  State& s = *state_;
  check_argument(torque, s.nv(), "torque");
  check_size(acceleration.size(), s.nv(), "acceleration");
  s.check_forces(forces);
  s.work.need_velocities();
  if (!s.has_mimics()) {
    s.work.need_articulated();
    std::fill(s.torques.begin(), s.torques.end(), T(0));
    s.add_passive(s.torques);
    s.subtract_applied(forces, s.torques);
    for (std::size_t i = 0; i < s.torques.size(); ++i) {
      s.torques[i] = torque[i] - s.torques[i];
    }
    s.work.forward(s.torques, s.gravity(), acceleration);
    return;
  }
  s.need_factor();
  std::fill(s.full.begin(), s.full.end(), T(0));
  s.work.inverse(s.full, s.gravity(), true, s.torques);
  s.add_passive(s.torques);
  s.coordinates.gather(s.torques, s.unit);
  s.subtract_applied(forces, s.unit);
  for (std::size_t i = 0; i < s.unit.size(); ++i) {
    acceleration[i] = torque[i] - s.unit[i];
  }
  Eigen::Map<typename State::Vector> x(acceleration.data(), s.nv());
  s.factor.solveInPlace(x);
}

template void BasicDynamics<double>::forward(std::span<const double>, std::span<double>, Forces);
template void BasicDynamics<float>::forward(std::span<const float>, std::span<float>, Forces);

}  // namespace bunraku
