#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/cholesky.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

template <class T>
void BasicDynamics<T>::mass_matrix(std::span<T> out) {
  State& s = *state_;
  check_size(out.size(), std::ptrdiff_t{s.nv()} * s.nv(), "the mass matrix");
  if (!s.has_mimics()) {
    s.sweeps.mass_matrix(out.data());
    return;
  }
  s.fold_mass();
  Eigen::Map<typename State::Matrix>(out.data(), s.nv(), s.nv()) = s.reduced_mass;
}

template <class T>
void BasicDynamics<T>::solve(std::span<const T> x, std::span<T> out) {
  State& s = *state_;
  const auto n = static_cast<std::size_t>(s.nv());
  if (n == 0 ? !x.empty() : x.size() % n != 0) {
    throw ArgumentError(fmt::format("x has {} numbers, the model wants columns of {}", x.size(), n));
  }
  check_argument(x, std::ssize(x), "x");
  check_size(out.size(), std::ssize(x), "out");
  if (s.has_mimics()) {
    s.need_factor();
  }
  for (std::size_t i = 0; i < x.size(); i += n) {
    if (!s.has_mimics()) {
      s.sweeps.solve(x.data() + i, out.data() + i);
      continue;
    }
    Eigen::Map<typename State::Vector> solution(out.data() + i, s.nv());
    solution = Eigen::Map<const typename State::Vector>(x.data() + i, s.nv());
    kernels::solve_factored(s.factor, solution.data());
  }
}

template <class T>
void BasicDynamics<T>::inverse_mass_matrix(std::span<T> out) {
  State& s = *state_;
  check_size(out.size(), std::ptrdiff_t{s.nv()} * s.nv(), "the inverse mass matrix");
  if (!s.has_mimics()) {
    s.sweeps.inverse_mass_matrix(out.data());
    return;
  }
  s.need_factor();
  Eigen::Map<typename State::Matrix> inverse(out.data(), s.nv(), s.nv());
  inverse.setIdentity();
  for (int j = 0; j < s.nv(); ++j) {
    kernels::solve_factored(s.factor, inverse.col(j).data());
  }
}

template <class T>
T BasicDynamics<T>::log_determinant() {
  State& s = *state_;
  if (!s.has_mimics()) {
    return s.sweeps.log_determinant();
  }
  s.need_factor();
  return 2 * s.factor.diagonal().array().log().sum();
}

template void BasicDynamics<double>::mass_matrix(std::span<double>);
template void BasicDynamics<double>::solve(std::span<const double>, std::span<double>);
template void BasicDynamics<double>::inverse_mass_matrix(std::span<double>);
template double BasicDynamics<double>::log_determinant();
template void BasicDynamics<float>::mass_matrix(std::span<float>);
template void BasicDynamics<float>::solve(std::span<const float>, std::span<float>);
template void BasicDynamics<float>::inverse_mass_matrix(std::span<float>);
template float BasicDynamics<float>::log_determinant();

}  // namespace bunraku
