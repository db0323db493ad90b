#include "bunraku/dynamics/detail/prepared.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"

namespace bunraku {

namespace {

/// y = X x for each column, where x may be y.
template <class T>
void apply_columns(BasicState<T>& state, detail::Prepared which, MatrixIn<T> x, MatrixOut<T> out) {
  detail::StateData<T>& s = state.data();
  s.for_each_column(x, out, [which](detail::StateData<T>& data, std::span<const T> column, std::span<T> result) {
    std::copy(column.begin(), column.end(), data.unit.begin());
    detail::prepared(data, which).apply(data.unit.data(), result.data());
  });
}

}  // namespace

template <class T>
void mass_root_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out) {
  apply_columns<T>(state, detail::Prepared::mass_root, x, out);
}

template <class T>
void inverse_mass_root_times(BasicState<T>& state, MatrixIn<T> x, MatrixOut<T> out) {
  apply_columns<T>(state, detail::Prepared::inverse_mass_root, x, out);
}

template void mass_root_times(BasicState<double>&, MatrixIn<double>, MatrixOut<double>);
template void inverse_mass_root_times(BasicState<double>&, MatrixIn<double>, MatrixOut<double>);
template void mass_root_times(BasicState<float>&, MatrixIn<float>, MatrixOut<float>);
template void inverse_mass_root_times(BasicState<float>&, MatrixIn<float>, MatrixOut<float>);

}  // namespace bunraku
