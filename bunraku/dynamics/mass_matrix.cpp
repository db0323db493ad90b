#include "bunraku/dynamics/mass_matrix.hpp"

#include <algorithm>

#include "bunraku/dynamics/detail/cholesky.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"

namespace bunraku {

template <class T>
void mass_matrix(BasicState<T>& state, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the mass matrix");
  s.write_square(out, [&s](T* numbers) {
    if (!s.has_mimics()) {
      s.sweeps.mass_matrix(numbers);
      return;
    }
    s.fold_mass();
    std::copy_n(s.reduced_mass.data(), s.reduced_mass.size(), numbers);
  });
}

template <class T>
void inverse_mass_matrix(BasicState<T>& state, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the inverse mass matrix");
  s.write_square(out, [&s](T* numbers) {
    if (!s.has_mimics()) {
      s.sweeps.inverse_mass_matrix(numbers);
      return;
    }
    s.need_factor();
    Eigen::Map<typename detail::StateData<T>::Matrix> inverse(numbers, s.nv(), s.nv());
    inverse.setIdentity();
    for (int j = 0; j < s.nv(); ++j) {
      kernels::solve_factored(s.factor, inverse.col(j).data());
    }
  });
}

template <class T>
void inverse_mass_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out) {
  state.data().for_each_column(x, out, [](detail::StateData<T>& s, std::span<const T> column, std::span<T> solution) {
    s.solve(column, solution);
  });
}

template <class T>
T log_det_mass(BasicState<T>& state) {
  detail::StateData<T>& s = state.data();
  if (!s.has_mimics()) {
    return s.sweeps.log_determinant();
  }
  s.need_factor();
  return 2 * s.factor.diagonal().array().log().sum();
}

template void mass_matrix(BasicState<double>&, MatrixOut<double>);
template void inverse_mass_matrix(BasicState<double>&, MatrixOut<double>);
template void inverse_mass_times(BasicState<double>&, MatrixIn<double>, MatrixOut<double>);
template double log_det_mass(BasicState<double>&);
template void mass_matrix(BasicState<float>&, MatrixOut<float>);
template void inverse_mass_matrix(BasicState<float>&, MatrixOut<float>);
template void inverse_mass_times(BasicState<float>&, MatrixIn<float>, MatrixOut<float>);
template float log_det_mass(BasicState<float>&);

}  // namespace bunraku
