#include <algorithm>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/momentum.hpp"

namespace bunraku {

namespace {

/// Adds the column of one of all hinges' velocities to the user's matrix of six rows.
template <class T>
void add_column(const Force<T>& f, const kernels::Follower<T>& follower, const detail::MatrixSpan<T>& out) {
  for (int i = 0; i < 6; ++i) {
    out(i, follower.own) += follower.ratio * f[i];
  }
}

}  // namespace

template <class T>
void center_of_mass_jacobian(BasicState<T>& state, MatrixOut<T> jacobian) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(jacobian, 3, s.nv(), "the Jacobian of the centre of mass");
  s.blocks.need_world();
  kernels::sweep_composites(s.blocks, s.composite);
  out.set_zero();
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
        out(i, follower.own) += follower.ratio * velocity[i];
      }
    }
  }
}

template <class T>
void centroidal_momentum_matrix(BasicState<T>& state, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, 6, s.nv(), "the centroidal momentum matrix");
  const Vec3<T> c = center_of_mass(state);
  kernels::sweep_composites(s.blocks, s.composite);
  out.set_zero();
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
void centroidal_momentum_matrix_rate(BasicState<T>& state, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, 6, s.nv(), "the centroidal momentum matrix's rate");
  const Vec3<T> c = center_of_mass(state);
  s.blocks.need_velocities();
  kernels::sweep_composites(s.blocks, s.composite);
  s.sweep_composite_rates();
  out.set_zero();
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

template void center_of_mass_jacobian(BasicState<double>&, MatrixOut<double>);
template void centroidal_momentum_matrix(BasicState<double>&, MatrixOut<double>);
template void centroidal_momentum_matrix_rate(BasicState<double>&, MatrixOut<double>);
template void center_of_mass_jacobian(BasicState<float>&, MatrixOut<float>);
template void centroidal_momentum_matrix(BasicState<float>&, MatrixOut<float>);
template void centroidal_momentum_matrix_rate(BasicState<float>&, MatrixOut<float>);

}  // namespace bunraku
