#include <algorithm>

#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/kinematics.hpp"

namespace bunraku {

template <class T>
void accelerations(BasicState<T>& state, In<T> acceleration, std::type_identity_t<std::span<Motion<T>>> out) {
  detail::StateData<T>& s = state.data();
  const std::span<const T> rate = detail::given(acceleration, s.nv(), "acceleration");
  check_size(out.size(), s.blocks.size(), "the array of accelerations");
  s.coordinates.spread(rate, s.full);
  s.sweep_accelerations(out);
}

template <class T>
void bias_accelerations(BasicState<T>& state, std::type_identity_t<std::span<Motion<T>>> out) {
  detail::StateData<T>& s = state.data();
  check_size(out.size(), s.blocks.size(), "the array of accelerations");
  std::fill(s.full.begin(), s.full.end(), T(0));
  s.sweep_accelerations(out);
}

template <class T>
void detail::StateData<T>::sweep_accelerations(std::span<Motion<T>> out) {
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

template void accelerations(BasicState<double>&, In<double>, std::span<Motion<double>>);
template void bias_accelerations(BasicState<double>&, std::span<Motion<double>>);
template void detail::StateData<double>::sweep_accelerations(std::span<Motion<double>>);
template void accelerations(BasicState<float>&, In<float>, std::span<Motion<float>>);
template void bias_accelerations(BasicState<float>&, std::span<Motion<float>>);
template void detail::StateData<float>::sweep_accelerations(std::span<Motion<float>>);

}  // namespace bunraku
