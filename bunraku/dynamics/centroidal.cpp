#include <algorithm>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

namespace {

/// Adds the column of one of all hinges' velocities to the user's matrix of six rows.
template <class T>
void add_column(const Force<T>& f, const kernels::Follower<T>& follower, std::span<T> out) {
  for (int i = 0; i < 6; ++i) {
    out[static_cast<std::size_t>(6 * follower.own + i)] += follower.ratio * f[i];
  }
}

}  // namespace

template <class T>
void BasicDynamics<T>::center_of_mass_jacobian(std::span<T> out) {
  State& s = *state_;
  check_size(out.size(), 3 * s.nv(), "the Jacobian of the centre of mass");
  s.blocks.need_world();
  kernels::sweep_composites(s.blocks, s.composite);
  std::fill(out.begin(), out.end(), T(0));
  if (!(s.model.mass() > 0)) {
    return;  // the centre stays at the world's origin
  }
  const T per_mass = static_cast<T>(1 / s.model.mass());
  for (int k = 0; k < s.blocks.size(); ++k) {
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      const Force<T> momentum = s.composite[static_cast<std::size_t>(k)] * s.blocks.H(j);
      const Vec3<T> velocity = s.blocks.X_WB(k).rotation * momentum.force * per_mass;
      const auto& follower = s.coordinates.velocities[static_cast<std::size_t>(j)];
      for (int i = 0; i < 3; ++i) {
        out[static_cast<std::size_t>(3 * follower.own + i)] += follower.ratio * velocity[i];
      }
    }
  }
}

template <class T>
void BasicDynamics<T>::centroidal_momentum_matrix(std::span<T> out) {
  State& s = *state_;
  check_size(out.size(), 6 * s.nv(), "the centroidal momentum matrix");
  const Vec3<T> c = center_of_mass();
  kernels::sweep_composites(s.blocks, s.composite);
  std::fill(out.begin(), out.end(), T(0));
  for (int k = 0; k < s.blocks.size(); ++k) {  // RH* of body k, taken to the centre of mass
    const Transform<T>& X_WB = s.blocks.X_WB(k);
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      const Force<T> momentum = s.composite[static_cast<std::size_t>(k)] * s.blocks.H(j);
      add_column(Phi<T>(X_WB.translation - c) * (X_WB.rotation * momentum),
                 s.coordinates.velocities[static_cast<std::size_t>(j)], out);
    }
  }
}

template <class T>
void BasicDynamics<T>::centroidal_momentum_matrix_rate(std::span<T> out) {
  State& s = *state_;
  check_size(out.size(), 6 * s.nv(), "the centroidal momentum matrix's rate");
  const Vec3<T> c = center_of_mass();
  s.blocks.need_velocities();
  kernels::sweep_composites(s.blocks, s.composite);
  s.sweep_composite_rates();
  std::fill(out.begin(), out.end(), T(0));
  Vec3<T> c_rate = Vec3<T>::zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    c_rate += s.blocks.X_WB(k).rotation * (s.blocks.M(k) * s.blocks.V(k)).force;
  }
  c_rate = s.model.mass() > 0 ? c_rate / static_cast<T>(s.model.mass()) : Vec3<T>::zero();
  for (int k = 0; k < s.blocks.size(); ++k) {
    const Transform<T>& X_WB = s.blocks.X_WB(k);
    const RigidInertia<T>& R = s.composite[static_cast<std::size_t>(k)];
    const kernels::InertiaRate<T>& B = s.composite_rate[static_cast<std::size_t>(k)];
    s.rate_columns(k);
    for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const Motion<T>& H = s.blocks.H(j);
      const Force<T> rate = B * H + adjoint_times(B, H) + R * s.column_rate[at];  // ṘH* + RḢ*, with Ṙ = B + B*
      Force<T> column = Phi<T>(X_WB.translation - c) * (X_WB.rotation * rate);
      column.moment -= cross(c_rate, X_WB.rotation * (R * H).force);  // the point moves too
      add_column(column, s.coordinates.velocities[at], out);
    }
  }
}

template void BasicDynamics<double>::center_of_mass_jacobian(std::span<double>);
template void BasicDynamics<double>::centroidal_momentum_matrix(std::span<double>);
template void BasicDynamics<double>::centroidal_momentum_matrix_rate(std::span<double>);
template void BasicDynamics<float>::center_of_mass_jacobian(std::span<float>);
template void BasicDynamics<float>::centroidal_momentum_matrix(std::span<float>);
template void BasicDynamics<float>::centroidal_momentum_matrix_rate(std::span<float>);

}  // namespace bunraku
