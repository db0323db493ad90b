#include "bunraku/dynamics/inverse_dynamics.hpp"

#include <algorithm>

#include "bunraku/dynamics/detail/state_data.hpp"

namespace bunraku {

template <class T>
void inverse_dynamics(BasicState<T>& state, In<T> acceleration, Out<T> torque, std::type_identity_t<Forces<T>> forces) {
  detail::StateData<T>& s = state.data();
  const std::span<const T> rate = detail::given(acceleration, s.nv(), "acceleration");
  const std::span<T> out = detail::wanted(torque, s.nv(), "torque");
  s.check_forces(forces);
  if (s.has_mimics()) {
    s.coordinates.spread(rate, s.full);
    s.sweeps->inverse(s.v().data(), s.full.data(), s.torques.data());
    s.add_passive(s.torques);
    s.coordinates.gather(s.torques, out);
  } else {
    s.sweeps->inverse(s.v().data(), rate.data(), out.data());
    s.add_passive(out);
  }
  s.subtract_applied(forces, out);
}

template <class T>
void bias(BasicState<T>& state, Out<T> torque) {
  detail::StateData<T>& s = state.data();
  const std::span<T> out = detail::wanted(torque, s.nv(), "torque");
  s.sweeps->inverse(s.v().data(), nullptr, s.torques.data());
  s.coordinates.gather(s.torques, out);
}

template <class T>
void gravity_torques(BasicState<T>& state, Out<T> torque) {
  detail::StateData<T>& s = state.data();
  const std::span<T> out = detail::wanted(torque, s.nv(), "torque");
  s.sweeps->inverse(nullptr, nullptr, s.torques.data());
  s.coordinates.gather(s.torques, out);
}

template <class T>
void passive_torques(BasicState<T>& state, Out<T> torque) {
  detail::StateData<T>& s = state.data();
  const std::span<T> out = detail::wanted(torque, s.nv(), "torque");
  std::fill(s.torques.begin(), s.torques.end(), T(0));
  s.add_passive(s.torques);
  s.coordinates.gather(s.torques, out);
  for (T& each : out) {
    each = -each;
  }
}

template void inverse_dynamics(BasicState<double>&, In<double>, Out<double>, Forces<double>);
template void bias(BasicState<double>&, Out<double>);
template void gravity_torques(BasicState<double>&, Out<double>);
template void passive_torques(BasicState<double>&, Out<double>);
template void inverse_dynamics(BasicState<float>&, In<float>, Out<float>, Forces<float>);
template void bias(BasicState<float>&, Out<float>);
template void gravity_torques(BasicState<float>&, Out<float>);
template void passive_torques(BasicState<float>&, Out<float>);

}  // namespace bunraku
