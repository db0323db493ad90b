#include "bunraku/dynamics/forward_dynamics.hpp"

#include <algorithm>

#include "bunraku/dynamics/detail/state_data.hpp"

namespace bunraku {

template <class T>
void forward_dynamics(BasicState<T>& state, In<T> torques, Out<T> accelerations,
                      std::type_identity_t<Forces<T>> forces) {
  detail::StateData<T>& s = state.data();
  const std::span<const T> torque = detail::given(torques, s.nv(), "torque");
  const std::span<T> acceleration = detail::wanted(accelerations, s.nv(), "acceleration");
  s.check_forces(forces);
  if (!s.has_mimics()) {
    if (!s.has_passive && forces.empty()) {
      s.sweeps->forward(torque.data(), acceleration.data());
      return;
    }
    std::fill(s.torques.begin(), s.torques.end(), T(0));
    s.add_passive(s.torques);
    s.subtract_applied(forces, s.torques);
    for (std::size_t i = 0; i < s.torques.size(); ++i) {
      s.torques[i] = torque[i] - s.torques[i];
    }
    s.sweeps->forward(s.torques.data(), acceleration.data());
    return;
  }
  s.coordinates.place(torque, s.full);
  s.subtract_passive(s.full);
  if (!forces.empty()) {
    std::fill(s.unit.begin(), s.unit.end(), T(0));
    s.subtract_applied(forces, s.unit);
    for (std::size_t i = 0; i < s.unit.size(); ++i) {
      s.full[static_cast<std::size_t>(s.coordinates.leaders[i])] -= s.unit[i];
    }
  }
  s.sweeps->forward(s.full.data(), s.torques.data());
  s.coordinates.pick(s.torques, acceleration);
}

template void forward_dynamics(BasicState<double>&, In<double>, Out<double>, Forces<double>);
template void forward_dynamics(BasicState<float>&, In<float>, Out<float>, Forces<float>);

}  // namespace bunraku
