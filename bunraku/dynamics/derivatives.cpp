#include "bunraku/dynamics/derivatives.hpp"

#include <algorithm>
#include <array>

#include "bunraku/dynamics/detail/derivative_data.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"

namespace bunraku {

namespace {

using detail::DerivativeData;
using detail::MatrixSpan;
using detail::StateData;

template <class T>
using Three = std::array<T*, 3>;

/// Writes the full matrices of the user's acceleration: ∂T/∂q, ∂T/∂θ̇, and 𝓜 unless null.
template <class T>
void write_full(StateData<T>& s, std::span<const T> acceleration, Forces<T> forces, const Three<T>& out) {
  const T* rate = acceleration.data();
  if (s.has_mimics()) {
    s.coordinates.spread(acceleration, s.full);
    rate = s.full.data();
  }
  s.v();  // the sweeps read them all
  s.sweeps->inverse_derivatives(rate, out[0], out[1], out[2]);
  DerivativeData<T>::add_passive(s, out[0], out[1]);
  derivatives_of(s).add_applied(s, forces, out[0]);
}

/// The first of the user's matrices, n×n without gaps: from the full ones with mimics.
template <class T>
Three<T> fold_first(StateData<T>& s, DerivativeData<T>& d, std::size_t count) {
  Three<T> out{};
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = d.full[i].data();
    if (s.has_mimics()) {
      out[i] = d.users[i].data();
      d.fold(s, d.full[i].data(), {out[i], s.nv(), s.nv(), s.nv()});
    }
  }
  return out;
}

template <class T>
void copy(const T* from, const MatrixSpan<T>& to) {
  for (std::ptrdiff_t j = 0; j < to.cols; ++j) {
    std::copy_n(from + j * to.rows, to.rows, to.column(j).data());
  }
}

}  // namespace

template <class T>
void inverse_dynamics_derivatives(BasicState<T>& state, In<T> acceleration, MatrixOut<T> dq, MatrixOut<T> dv,
                                  MatrixOut<T> da, std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> rate = detail::given(acceleration, s.nv(), "acceleration");
  const std::array<MatrixSpan<T>, 3> out = {detail::wanted(dq, s.nv(), s.nv(), "the derivative by q"),
                                            detail::wanted(dv, s.nv(), s.nv(), "the derivative by v"),
                                            detail::wanted(da, s.nv(), s.nv(), "the derivative by a")};
  s.check_forces(forces);
  DerivativeData<T>& d = derivatives_of(s);
  if (!s.has_mimics() && out[0].compact() && out[1].compact() && out[2].compact()) {
    write_full(s, rate, forces, {out[0].data, out[1].data, out[2].data});
    return;
  }
  write_full(s, rate, forces, {d.full[0].data(), d.full[1].data(), d.full[2].data()});
  const Three<T> users = fold_first(s, d, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    copy(users[i], out[i]);
  }
}

template <class T>
void forward_dynamics_derivatives(BasicState<T>& state, In<T> torque, MatrixOut<T> dq, MatrixOut<T> dv,
                                  MatrixOut<T> dtau, std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::array<MatrixSpan<T>, 3> out = {detail::wanted(dq, s.nv(), s.nv(), "the derivative by q"),
                                            detail::wanted(dv, s.nv(), s.nv(), "the derivative by v"),
                                            detail::wanted(dtau, s.nv(), s.nv(), "the derivative by tau")};
  DerivativeData<T>& d = derivatives_of(s);
  forward_dynamics(state, torque, d.acceleration, forces);
  const bool compact = out[0].compact() && out[1].compact() && out[2].compact();
  if (!compact) {
    for (std::vector<T>& each : d.results) {
      each.resize(static_cast<std::size_t>(s.nv()) * static_cast<std::size_t>(s.nv()));
    }
  }
  const auto result = [&](std::size_t i) { return compact ? out[i].data : d.results[i].data(); };
  s.sweeps->inverse_mass_of_forward(result(2));
  write_full<T>(s, d.acceleration, forces, {d.full[0].data(), d.full[1].data(), nullptr});
  const Three<T> users = fold_first(s, d, 2);
  s.sweeps->multiply_derivatives(result(2), users[0], users[1], result(0), result(1));
  for (std::size_t i = 0; i < 3 && !compact; ++i) {
    copy(d.results[i].data(), out[i]);
  }
}

template void inverse_dynamics_derivatives(BasicState<double>&, In<double>, MatrixOut<double>, MatrixOut<double>,
                                           MatrixOut<double>, Forces<double>);
template void forward_dynamics_derivatives(BasicState<double>&, In<double>, MatrixOut<double>, MatrixOut<double>,
                                           MatrixOut<double>, Forces<double>);
template void inverse_dynamics_derivatives(BasicState<float>&, In<float>, MatrixOut<float>, MatrixOut<float>,
                                           MatrixOut<float>, Forces<float>);
template void forward_dynamics_derivatives(BasicState<float>&, In<float>, MatrixOut<float>, MatrixOut<float>,
                                           MatrixOut<float>, Forces<float>);

}  // namespace bunraku
