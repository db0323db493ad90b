#include "bunraku/dynamics/articulated.hpp"

#include <fmt/format.h>

#include "bunraku/dynamics/detail/block_algebra.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"

namespace bunraku {

template <class T>
void detail::StateData<T>::require_block_diagonal() const {
  for (const Body& body : model.bodies()) {
    if (body.leader != world) {
      throw Error(
          fmt::format("hinge '{}' mimics another, so that the innovations of the two are one: D is not block diagonal, "
                      "and P, D, G and ψ are not defined body by body",
                      body.hinge.name));
    }
  }
}

template <class T>
ArticulatedInertia<T> articulated_inertia(BasicState<T>& state, int body) {
  detail::StateData<T>& s = state.data();
  static_cast<void>(s.model.body(body));
  s.require_block_diagonal();
  s.blocks.need_articulated();
  return s.blocks.P(body);
}

template <class T>
void hinge_inertia(BasicState<T>& state, int body, MatrixOut<T> inertia) {
  detail::StateData<T>& s = state.data();
  const int n = s.model.body(body).hinge.velocity_size();
  const auto out = detail::wanted(inertia, n, n, "the hinge's inertia");
  s.require_block_diagonal();
  s.blocks.need_articulated();
  for (int i = 0; i < n * n; ++i) {
    out(i % n, i / n) = s.blocks.D(body)[i];
  }
}

template <class T>
void kalman_gain(BasicState<T>& state, int body, MatrixOut<T> gain) {
  detail::StateData<T>& s = state.data();
  const int n = s.model.body(body).hinge.velocity_size();
  const auto out = detail::wanted(gain, 6, n, "the gain");
  s.require_block_diagonal();
  s.blocks.need_articulated();
  for (int i = 0; i < 6 * n; ++i) {
    out(i % 6, i / 6) = s.blocks.G(s.blocks.first(body) + i / 6)[i % 6];
  }
}

template <class T>
void shifted_gain(BasicState<T>& state, int body, MatrixOut<T> gain) {
  detail::StateData<T>& s = state.data();
  const int n = s.model.body(body).hinge.velocity_size();
  const auto out = detail::wanted(gain, 6, n, "the gain");
  s.require_block_diagonal();
  s.blocks.need_articulated();
  for (int j = 0; j < n; ++j) {
    const Force<T> column = kernels::phi_times(s.blocks, body, s.blocks.G(s.blocks.first(body) + j));
    for (int i = 0; i < 6; ++i) {
      out(i, j) = column[i];
    }
  }
}

template <class T>
Mat6<T> articulated_transition(BasicState<T>& state, int i, int j) {
  detail::StateData<T>& s = state.data();
  for (const int body : {i, j}) {
    if (body != world) {
      static_cast<void>(s.model.body(body));
    }
  }
  s.require_block_diagonal();
  int ancestor = j;
  while (ancestor > i) {  // parents have smaller indices, the world's is the smallest
    ancestor = s.blocks.parent(ancestor);
  }
  if (ancestor != i) {
    return Mat6<T>::zero();
  }
  s.blocks.need_articulated();
  const auto columns =
      kernels::psi_times(s.blocks, i, j, kernels::unit_forces(Transform<T>::identity()));  // RK92 38–40
  return {Mat3<T>::from_columns(columns[0].moment, columns[1].moment, columns[2].moment),
          Mat3<T>::from_columns(columns[3].moment, columns[4].moment, columns[5].moment),
          Mat3<T>::from_columns(columns[0].force, columns[1].force, columns[2].force),
          Mat3<T>::from_columns(columns[3].force, columns[4].force, columns[5].force)};
}

template void detail::StateData<double>::require_block_diagonal() const;
template ArticulatedInertia<double> articulated_inertia(BasicState<double>&, int);
template void hinge_inertia(BasicState<double>&, int, MatrixOut<double>);
template void kalman_gain(BasicState<double>&, int, MatrixOut<double>);
template void shifted_gain(BasicState<double>&, int, MatrixOut<double>);
template Mat6<double> articulated_transition(BasicState<double>&, int, int);
template void detail::StateData<float>::require_block_diagonal() const;
template ArticulatedInertia<float> articulated_inertia(BasicState<float>&, int);
template void hinge_inertia(BasicState<float>&, int, MatrixOut<float>);
template void kalman_gain(BasicState<float>&, int, MatrixOut<float>);
template void shifted_gain(BasicState<float>&, int, MatrixOut<float>);
template Mat6<float> articulated_transition(BasicState<float>&, int, int);

}  // namespace bunraku
