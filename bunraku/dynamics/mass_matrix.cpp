#include "bunraku/dynamics/mass_matrix.hpp"

#include "bunraku/dynamics/detail/state_data.hpp"

namespace bunraku {

template <class T>
void mass_matrix(BasicState<T>& state, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the mass matrix");
  s.write_square(out, [&s](T* numbers) { s.has_mimics() ? s.fold_mass(numbers) : s.sweeps->mass_matrix(numbers); });
}

template <class T>
void inverse_mass_matrix(BasicState<T>& state, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the inverse mass matrix");
  s.write_square(out, [&s](T* numbers) { s.sweeps->inverse_mass_matrix(numbers); });
}

template <class T>
void inverse_mass_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out) {
  state.data().for_each_column(x, out, [](detail::StateData<T>& s, std::span<const T> column, std::span<T> solution) {
    s.solve(column, solution);
  });
}

template <class T>
T log_det_mass(BasicState<T>& state) {
  return state.data().sweeps->log_determinant();
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
