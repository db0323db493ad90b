#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/momentum.hpp"
#include "bunraku/kernels/cast.hpp"

namespace bunraku {

template <class T>
T kinetic_energy(BasicState<T>& state) {
  detail::StateData<T>& s = state.data();
  s.blocks.need_velocities();
  T energy{};
  for (int k = 0; k < s.blocks.size(); ++k) {
    energy += T(0.5) * dot(s.blocks.V(k), s.blocks.M(k) * s.blocks.V(k));
  }
  for (std::size_t i = 0; i < s.v().size(); ++i) {
    energy += T(0.5) * s.coordinates.armature[i] * s.v()[i] * s.v()[i];
  }
  return energy;
}

template <class T>
T potential_energy(BasicState<T>& state) {
  detail::StateData<T>& s = state.data();
  return s.spring_energy() - static_cast<T>(s.model.mass()) * dot(s.gravity(), center_of_mass(state));
}

template <class T>
Vec3<T> center_of_mass(BasicState<T>& state) {
  detail::StateData<T>& s = state.data();
  s.blocks.need_world();
  Vec3<T> moment = Vec3<T>::zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    const Transform<T>& X = s.blocks.X_WB(k);
    moment += X.translation * s.blocks.M(k).mass + X.rotation * s.blocks.M(k).first_moment;
  }
  return s.model.mass() > 0 ? moment / static_cast<T>(s.model.mass()) : Vec3<T>::zero();
}

template <class T>
Force<T> momentum(BasicState<T>& state) {
  detail::StateData<T>& s = state.data();
  s.blocks.need_world();
  s.blocks.need_velocities();
  Force<T> sum = Force<T>::zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    sum += s.blocks.X_WB(k) * (s.blocks.M(k) * s.blocks.V(k));
  }
  return Phi<T>(-center_of_mass(state)) * sum;
}

template double kinetic_energy(BasicState<double>&);
template double potential_energy(BasicState<double>&);
template Vec3<double> center_of_mass(BasicState<double>&);
template Force<double> momentum(BasicState<double>&);
template float kinetic_energy(BasicState<float>&);
template float potential_energy(BasicState<float>&);
template Vec3<float> center_of_mass(BasicState<float>&);
template Force<float> momentum(BasicState<float>&);

}  // namespace bunraku
