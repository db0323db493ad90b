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
using kernels::Slopes;

template <class T>
using Three = std::array<T*, 3>;

/// The user's accelerations of all hinges.
template <class T>
const T* all_of(StateData<T>& s, std::span<const T> acceleration) {
  s.v();  // the sweeps read them all
  return s.all_of(acceleration, s.full);
}

/// What the tuned sweeps have not got in them.
template <class T>
void add_others(StateData<T>& s, Forces<T> forces, const Slopes<T>& to) {
  DerivativeData<T>::add_passive(s, to);
  derivatives_of(s).add_applied(s, forces, to);
}

/// Writes the full matrices of the user's acceleration: ∂T/∂q, ∂T/∂θ̇ and 𝓜.
template <class T>
void write_full(StateData<T>& s, std::span<const T> acceleration, Forces<T> forces, const Three<T>& out) {
  s.sweeps->inverse_derivatives(all_of(s, acceleration), out[0], out[1], out[2]);
  add_others(s, forces, {out[0], out[1], std::ssize(s.full), nullptr});
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
  const Three<T> full = {d.full[0].data(), d.full[1].data(), d.full[2].data()};
  write_full(s, rate, forces, full);
  const Slopes<T> places{full[0], full[1], std::ssize(s.full), nullptr};
  for (std::size_t i = 0; i < 3; ++i) {
    s.has_mimics() ? d.fold(s, full[i], places, out[i]) : copy(full[i], out[i]);
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
  const bool unbound = !s.has_mimics() && forces.empty() && (!s.has_passive || s.sweeps->free_bare());
  Slopes<T> slopes = s.sweeps->slopes(all_of<T>(s, d.acceleration), unbound);
  add_others(s, forces, slopes);
  if (s.has_mimics()) {
    const std::ptrdiff_t n = s.nv();
    d.fold(s, slopes.dq, slopes, {d.users[0].data(), n, n, n});
    d.fold(s, slopes.dv, slopes, {d.users[1].data(), n, n, n});
    slopes = {d.users[0].data(), d.users[1].data(), n, nullptr};
  }
  s.sweeps->multiply_derivatives(result(2), slopes, unbound, result(0), result(1));
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
