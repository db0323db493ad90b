#include <algorithm>

#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
void BasicDynamics<T>::accelerations(std::span<const T> acceleration, std::span<Motion<T>> out) {
  State& s = *state_;
  check_argument(acceleration, s.nv(), "acceleration");
  check_size(out.size(), s.blocks.size(), "the array of accelerations");
  s.coordinates.spread(acceleration, s.full);
  s.sweep_accelerations(out);
}

template <class T>
void BasicDynamics<T>::bias_accelerations(std::span<Motion<T>> out) {
  State& s = *state_;
  check_size(out.size(), s.blocks.size(), "the array of accelerations");
  std::fill(s.full.begin(), s.full.end(), T(0));
  s.sweep_accelerations(out);
}

template <class T>
void BasicDynamics<T>::State::sweep_accelerations(std::span<Motion<T>> out) {
  blocks.need_velocities();
  for (int k = 0; k < blocks.size(); ++k) {  // α(k) = φ*(p,k)α(p) + H*θ̈ + a(k) (RK92 8, 25)
    const int p = blocks.parent(k);
    Motion<T> alpha = blocks.a(k);
    if (p != world) {
      alpha += inverse_times(blocks.X_PB(k), out[static_cast<std::size_t>(p)]);
    }
    for (int j = blocks.first(k); j < blocks.first(k) + blocks.nv(k); ++j) {
      alpha += blocks.H(j) * full[static_cast<std::size_t>(j)];
    }
    out[static_cast<std::size_t>(k)] = alpha;
  }
}

template void BasicDynamics<double>::accelerations(std::span<const double>, std::span<Motion<double>>);
template void BasicDynamics<double>::bias_accelerations(std::span<Motion<double>>);
template void BasicDynamics<double>::State::sweep_accelerations(std::span<Motion<double>>);
template void BasicDynamics<float>::accelerations(std::span<const float>, std::span<Motion<float>>);
template void BasicDynamics<float>::bias_accelerations(std::span<Motion<float>>);
template void BasicDynamics<float>::State::sweep_accelerations(std::span<Motion<float>>);

}  // namespace bunraku
