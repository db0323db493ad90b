#include <algorithm>

#include "bunraku/dynamics/detail/cholesky.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
void BasicDynamics<T>::forward(std::span<const T> torque, std::span<T> acceleration, Forces forces) {
  State& s = *state_;
  check_argument(torque, s.nv(), "torque");
  check_size(acceleration.size(), s.nv(), "acceleration");
  s.check_forces(forces);
  if (!s.has_mimics()) {
    if (!s.has_passive && forces.empty()) {
      s.sweeps.forward(torque.data(), acceleration.data());
      return;
    }
    std::fill(s.torques.begin(), s.torques.end(), T(0));
    s.add_passive(s.torques);
    s.subtract_applied(forces, s.torques);
    for (std::size_t i = 0; i < s.torques.size(); ++i) {
      s.torques[i] = torque[i] - s.torques[i];
    }
    s.sweeps.forward(s.torques.data(), acceleration.data());
    return;
  }
  s.need_factor();
  s.sweeps.inverse(s.v.data(), s.sweeps.zeros(), s.torques.data());
  s.add_passive(s.torques);
  s.coordinates.gather(s.torques, s.unit);
  s.subtract_applied(forces, s.unit);
  for (std::size_t i = 0; i < s.unit.size(); ++i) {
    acceleration[i] = torque[i] - s.unit[i];
  }
  kernels::solve_factored(s.factor, acceleration.data());
}

template void BasicDynamics<double>::forward(std::span<const double>, std::span<double>, Forces);
template void BasicDynamics<float>::forward(std::span<const float>, std::span<float>, Forces);

}  // namespace bunraku
