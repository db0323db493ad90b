#include "bunraku/dynamics/detail/cast.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
T BasicDynamics<T>::kinetic_energy() {
  State& s = *state_;
  s.blocks.need_velocities();
  T energy{};
  for (int k = 0; k < s.blocks.size(); ++k) {
    energy += T(0.5) * dot(s.blocks.V(k), s.blocks.M(k) * s.blocks.V(k));
  }
  for (std::size_t i = 0; i < s.v.size(); ++i) {
    energy += T(0.5) * s.coordinates.armature[i] * s.v[i] * s.v[i];
  }
  return energy;
}

template <class T>
T BasicDynamics<T>::potential_energy() {
  State& s = *state_;
  return s.spring_energy() - static_cast<T>(s.model.mass()) * dot(s.gravity(), center_of_mass());
}

template <class T>
Vec3<T> BasicDynamics<T>::center_of_mass() {
  State& s = *state_;
  s.blocks.need_world();
  Vec3<T> moment = Vec3<T>::zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    const Transform<T>& X = s.blocks.X_WB(k);
    moment += X.translation * s.blocks.M(k).mass + X.rotation * s.blocks.M(k).first_moment;
  }
  return s.model.mass() > 0 ? moment / static_cast<T>(s.model.mass()) : Vec3<T>::zero();
}

template <class T>
Force<T> BasicDynamics<T>::momentum() {
  State& s = *state_;
  s.blocks.need_world();
  s.blocks.need_velocities();
  Force<T> sum = Force<T>::zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    sum += s.blocks.X_WB(k) * (s.blocks.M(k) * s.blocks.V(k));
  }
  return Phi<T>(-center_of_mass()) * sum;
}

template double BasicDynamics<double>::kinetic_energy();
template double BasicDynamics<double>::potential_energy();
template Vec3<double> BasicDynamics<double>::center_of_mass();
template Force<double> BasicDynamics<double>::momentum();
template float BasicDynamics<float>::kinetic_energy();
template float BasicDynamics<float>::potential_energy();
template Vec3<float> BasicDynamics<float>::center_of_mass();
template Force<float> BasicDynamics<float>::momentum();

}  // namespace bunraku
