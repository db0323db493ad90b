#include <algorithm>

#include "bunraku/dynamics/detail/product_sweeps.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/dynamics/sensitivities.hpp"
#include "bunraku/kernels/cast.hpp"

namespace bunraku {

namespace {

using detail::DerivativeData;
using detail::MatrixSpan;
using detail::place_of;
using detail::StateData;

/// −𝓜⁻¹ of each column, in place.
template <class T>
void solve_columns(StateData<T>& s, const MatrixSpan<T>& out) {
  for (std::ptrdiff_t j = 0; j < out.cols; ++j) {
    const std::span<T> column = out.column(j);
    std::transform(column.begin(), column.end(), column.begin(), std::negate<>());
    s.solve(column, column);
  }
}

/// Writes ∂T/∂(placements), row by row: what meets a motion of a body and of all outside it in (∂T/∂q)*λ of a unit
/// vector λ, met by the six motions of its hinge's frame F.
template <class T>
void write_by_placements(StateData<T>& s, std::span<const T> acceleration, Forces<T> forces, const MatrixSpan<T>& out) {
  DerivativeData<T>& d = derivatives_of(s);
  d.make_bodies(s);
  s.coordinates.spread(acceleration, d.vectors[0]);
  s.blocks.need_velocities();
  d.set_loads(s, forces);
  const detail::PlainTree<T> tree{s, d};
  detail::sweep_motions(tree, d.vectors[0].data());
  for (int i = 0; i < s.nv(); ++i) {
    for (std::size_t j = 0; j < d.vectors[1].size(); ++j) {
      const auto& follower = s.coordinates.velocities[j];
      d.vectors[1][j] = follower.own == i ? follower.ratio : T(0);
    }
    detail::pull_back(tree, d.vectors[0].data(), d.vectors[1].data(), d.vectors[2].data(), d.vectors[3].data(),
                      s.torques.data());
    for (int k = 0; k < s.blocks.size(); ++k) {
      const Transform<T> X_PF = kernels::cast<T>(s.model.bodies()[place_of(k)].X_PF);
      const Force<T> at_F = inverse_times(X_PF, s.blocks.X_PB(k) * d.bodies[place_of(k)].by_U);
      for (int c = 0; c < 6; ++c) {
        out(i, std::ptrdiff_t{6} * k + c) = at_F[c];
      }
    }
  }
}

}  // namespace

template <class T>
void forward_dynamics_by_parameters(BasicState<T>& state, In<T> torque, MatrixOut<T> matrix,
                                    std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), std::ptrdiff_t{10} * s.blocks.size(), "the derivative by parameters");
  DerivativeData<T>& d = derivatives_of(s);
  forward_dynamics(state, torque, d.acceleration, forces);
  regressor(state, d.acceleration, matrix);
  solve_columns(s, out);
}

template <class T>
void inverse_dynamics_by_placements(BasicState<T>& state, In<T> acceleration, MatrixOut<T> matrix,
                                    std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> a = detail::given(acceleration, s.nv(), "acceleration");
  const auto out = detail::wanted(matrix, s.nv(), std::ptrdiff_t{6} * s.blocks.size(), "the derivative by placements");
  s.check_forces(forces);
  write_by_placements<T>(s, a, forces, out);
}

template <class T>
void forward_dynamics_by_placements(BasicState<T>& state, In<T> torque, MatrixOut<T> matrix,
                                    std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), std::ptrdiff_t{6} * s.blocks.size(), "the derivative by placements");
  DerivativeData<T>& d = derivatives_of(s);
  forward_dynamics(state, torque, d.acceleration, forces);
  write_by_placements<T>(s, d.acceleration, forces, out);
  solve_columns(s, out);
}

template void forward_dynamics_by_parameters(BasicState<double>&, In<double>, MatrixOut<double>, Forces<double>);
template void inverse_dynamics_by_placements(BasicState<double>&, In<double>, MatrixOut<double>, Forces<double>);
template void forward_dynamics_by_placements(BasicState<double>&, In<double>, MatrixOut<double>, Forces<double>);
template void forward_dynamics_by_parameters(BasicState<float>&, In<float>, MatrixOut<float>, Forces<float>);
template void inverse_dynamics_by_placements(BasicState<float>&, In<float>, MatrixOut<float>, Forces<float>);
template void forward_dynamics_by_placements(BasicState<float>&, In<float>, MatrixOut<float>, Forces<float>);

}  // namespace bunraku
