#include <algorithm>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"

namespace bunraku {

/// Outward: α(k) = φ*(p,k)α(p) + H*(k)θ̈(k) + a(k), gravity as the world's pseudo-acceleration (RK92 8, RK88 3.21).
/// Inward: f(k) = Σ φ(k,j)f(j) + M(k)α(k) + b(k) − the forces on body k (RK92 24).
template <class T>
void reactions(BasicState<T>& state, In<T> acceleration, std::type_identity_t<std::span<Force<T>>> out,
               std::type_identity_t<Forces<T>> forces) {
  detail::StateData<T>& s = state.data();
  const std::span<const T> rate = detail::given(acceleration, s.nv(), "acceleration");
  check_size(out.size(), s.blocks.size(), "the reactions");
  s.check_forces(forces);
  s.blocks.need_world();
  s.blocks.need_velocities();
  s.coordinates.spread(rate, s.full);
  std::fill(out.begin(), out.end(), Force<T>::zero());
  for (const AppliedForce<T>& applied : forces) {
    if (applied.body != world) {
      out[static_cast<std::size_t>(applied.body)] -= s.at_body(applied);
    }
  }
  const Motion<T> base{Vec3<T>::zero(), -s.gravity()};
  for (int k = 0; k < s.blocks.size(); ++k) {
    const int p = s.blocks.parent(k);
    Motion<T>& alpha = s.motion[static_cast<std::size_t>(k)];
    alpha = kernels::phi_adjoint_times(s.blocks, k, p == world ? base : s.motion[static_cast<std::size_t>(p)]) +
            kernels::h_adjoint_times(s.blocks, k, kernels::hinge_part(s.blocks, k, s.full.data())) + s.blocks.a(k);
    out[static_cast<std::size_t>(k)] += s.blocks.M(k) * alpha + s.blocks.b(k);
  }
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    if (const int p = s.blocks.parent(k); p != world) {
      out[static_cast<std::size_t>(p)] += kernels::phi_times(s.blocks, k, out[static_cast<std::size_t>(k)]);
    }
  }
}

template void reactions(BasicState<double>&, In<double>, std::span<Force<double>>, Forces<double>);
template void reactions(BasicState<float>&, In<float>, std::span<Force<float>>, Forces<float>);

}  // namespace bunraku
