#include <algorithm>
#include <array>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/detail/derivative_data.hpp"
#include "bunraku/dynamics/detail/map_rates.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"

namespace bunraku {

namespace {

using detail::DerivativeData;
using detail::joint_motion;
using detail::MapRates;
using detail::StateData;

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Adds the derivative of −J*f along u to torques of all hinges; see DerivativeData::add_applied. O(N).
template <class T>
void add_applied_along(StateData<T>& s, DerivativeData<T>& d, Forces<T> forces, const T* u, T* torque) {
  if (forces.empty()) {
    return;
  }
  d.set_loads(s, forces);
  for (int k = 0; k < s.blocks.size(); ++k) {
    auto& body = d.bodies[at(k)];
    const auto& load = d.load(k);
    body.U = joint_motion(s, k, u + s.blocks.first(k));
    if (const int p = s.blocks.parent(k); p != world) {
      body.U += inverse_times(s.blocks.X_PB(k), d.bodies[at(p)].U);
    }
    body.df = cross(body.U, load.in_world - load.all) + load.held * body.U;
    body.total = -load.all;
  }
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const auto& body = d.bodies[at(k)];
    const MapRates<T> map(s, k);
    const int v = s.blocks.first(k);
    for (int j = 0; j < map.nv(); ++j) {
      const Motion<T>& H = s.blocks.H(v + j);
      torque[v + j] += dot(cross(body.U, H) + map.column(u + v, j), body.total) + dot(H, body.df);
    }
    if (const int p = s.blocks.parent(k); p != world) {
      d.bodies[at(p)].total += s.blocks.X_PB(k) * body.total;
      d.bodies[at(p)].df += s.blocks.X_PB(k) * body.df;
    }
  }
}

/// Adds (∂(−J*f)/∂q)*λ over all hinges. O(N).
template <class T>
void add_applied_back(StateData<T>& s, DerivativeData<T>& d, Forces<T> forces, const T* weight, T* dq) {
  if (forces.empty()) {
    return;
  }
  d.set_loads(s, forces);
  for (int k = 0; k < s.blocks.size(); ++k) {
    auto& body = d.bodies[at(k)];
    const auto& load = d.load(k);
    body.U = joint_motion(s, k, weight + s.blocks.first(k));
    if (const int p = s.blocks.parent(k); p != world) {
      body.U += inverse_times(s.blocks.X_PB(k), d.bodies[at(p)].U);
    }
    body.by_U = cross(body.U, load.all - load.in_world) + adjoint_times(load.held, body.U);
    body.total = -load.all;
  }
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    auto& body = d.bodies[at(k)];
    const MapRates<T> map(s, k);
    const int v = s.blocks.first(k);
    body.by_U += cross(joint_motion(s, k, weight + v), body.total);
    for (int j = 0; j < map.nv(); ++j) {
      dq[v + j] += dot(s.blocks.H(v + j), body.by_U) + dot(map.along(j, weight + v), body.total);
    }
    if (const int p = s.blocks.parent(k); p != world) {
      d.bodies[at(p)].total += s.blocks.X_PB(k) * body.total;
      d.bodies[at(p)].by_U += s.blocks.X_PB(k) * body.by_U;
    }
  }
}

/// ∂T along (u, y, z), in the user's coordinates.
template <class T>
void jvp(StateData<T>& s, std::span<const T> acceleration, std::span<const T> u, std::span<const T> y,
         std::span<const T> z, Forces<T> forces, std::span<T> out) {
  DerivativeData<T>& d = derivatives_of(s);
  d.make_bodies(s);
  s.v();  // the sweeps read them all
  const std::array given{acceleration, u, y, z};
  std::array<const T*, 4> full{};
  for (std::size_t i = 0; i < given.size(); ++i) {
    full[i] = s.all_of(given[i], d.vectors[i]);
  }
  s.sweeps->inverse_along(full[0], full[1], full[2], full[3], s.torques.data());
  add_applied_along(s, d, forces, full[1], s.torques.data());
  d.for_passive(
      s, [&](std::size_t i, std::size_t j, T by_q, T by_v) { s.torques[i] += by_q * full[1][j] + by_v * full[2][j]; });
  s.coordinates.gather(s.torques, out);
}

/// (∂T)*λ by q, θ̇ and θ̈, in the user's coordinates.
template <class T>
void vjp(StateData<T>& s, std::span<const T> acceleration, std::span<const T> weight, Forces<T> forces, std::span<T> dq,
         std::span<T> dv, std::span<T> da) {
  DerivativeData<T>& d = derivatives_of(s);
  d.make_bodies(s);
  s.v();
  const T* rate = s.all_of(acceleration, d.vectors[0]);
  const T* lambda = s.all_of(weight, d.vectors[1]);
  s.sweeps->inverse_back(rate, lambda, d.vectors[2].data(), d.vectors[3].data(), s.torques.data());
  add_applied_back(s, d, forces, lambda, d.vectors[2].data());
  d.for_passive(s, [&](std::size_t i, std::size_t j, T by_q, T by_v) {
    d.vectors[2][j] += by_q * lambda[i];
    d.vectors[3][j] += by_v * lambda[i];
  });
  s.coordinates.gather(d.vectors[2], dq);
  s.coordinates.gather(d.vectors[3], dv);
  s.coordinates.gather(s.torques, da);
}

}  // namespace

template <class T>
void inverse_dynamics_jvp(BasicState<T>& state, In<T> acceleration, In<T> q_rate, In<T> v_rate, In<T> a_rate,
                          Out<T> torque_rate, std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> a = detail::given(acceleration, s.nv(), "acceleration");
  const std::span<const T> u = detail::given(q_rate, s.nv(), "q_rate");
  const std::span<const T> y = detail::given(v_rate, s.nv(), "v_rate");
  const std::span<const T> z = detail::given(a_rate, s.nv(), "a_rate");
  const std::span<T> out = detail::wanted(torque_rate, s.nv(), "torque_rate");
  s.check_forces(forces);
  jvp<T>(s, a, u, y, z, forces, out);
}

template <class T>
void inverse_dynamics_vjp(BasicState<T>& state, In<T> acceleration, In<T> weight, Out<T> by_q, Out<T> by_v, Out<T> by_a,
                          std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> a = detail::given(acceleration, s.nv(), "acceleration");
  const std::span<const T> w = detail::given(weight, s.nv(), "weight");
  const std::span<T> dq = detail::wanted(by_q, s.nv(), "by_q");
  const std::span<T> dv = detail::wanted(by_v, s.nv(), "by_v");
  const std::span<T> da = detail::wanted(by_a, s.nv(), "by_a");
  s.check_forces(forces);
  vjp<T>(s, a, w, forces, dq, dv, da);
}

template <class T>
void forward_dynamics_jvp(BasicState<T>& state, In<T> torque, In<T> q_rate, In<T> v_rate, In<T> torque_rate,
                          Out<T> acceleration_rate, std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> u = detail::given(q_rate, s.nv(), "q_rate");
  const std::span<const T> y = detail::given(v_rate, s.nv(), "v_rate");
  const std::span<const T> x = detail::given(torque_rate, s.nv(), "torque_rate");
  const std::span<T> out = detail::wanted(acceleration_rate, s.nv(), "acceleration_rate");
  DerivativeData<T>& d = derivatives_of(s);
  forward_dynamics(state, torque, d.acceleration, forces);
  jvp<T>(s, d.acceleration, u, y, s.rest(), forces, d.change);
  for (std::size_t i = 0; i < d.change.size(); ++i) {
    d.change[i] = x[i] - d.change[i];
  }
  s.solve_by_factors_of_forward(d.change, out);
}

template <class T>
void forward_dynamics_vjp(BasicState<T>& state, In<T> torque, In<T> weight, Out<T> by_q, Out<T> by_v, Out<T> by_torque,
                          std::type_identity_t<Forces<T>> forces) {
  StateData<T>& s = state.data();
  const std::span<const T> w = detail::given(weight, s.nv(), "weight");
  const std::span<T> dq = detail::wanted(by_q, s.nv(), "by_q");
  const std::span<T> dv = detail::wanted(by_v, s.nv(), "by_v");
  const std::span<T> dtau = detail::wanted(by_torque, s.nv(), "by_torque");
  DerivativeData<T>& d = derivatives_of(s);
  forward_dynamics(state, torque, d.acceleration, forces);
  s.solve_by_factors_of_forward(w, d.change);
  vjp<T>(s, d.acceleration, d.change, forces, dq, dv, dtau);
  std::transform(dq.begin(), dq.end(), dq.begin(), std::negate<>());
  std::transform(dv.begin(), dv.end(), dv.begin(), std::negate<>());
  std::copy(d.change.begin(), d.change.end(), dtau.begin());
}

template void inverse_dynamics_jvp(BasicState<double>&, In<double>, In<double>, In<double>, In<double>, Out<double>,
                                   Forces<double>);
template void inverse_dynamics_vjp(BasicState<double>&, In<double>, In<double>, Out<double>, Out<double>, Out<double>,
                                   Forces<double>);
template void forward_dynamics_jvp(BasicState<double>&, In<double>, In<double>, In<double>, In<double>, Out<double>,
                                   Forces<double>);
template void forward_dynamics_vjp(BasicState<double>&, In<double>, In<double>, Out<double>, Out<double>, Out<double>,
                                   Forces<double>);
template void inverse_dynamics_jvp(BasicState<float>&, In<float>, In<float>, In<float>, In<float>, Out<float>,
                                   Forces<float>);
template void inverse_dynamics_vjp(BasicState<float>&, In<float>, In<float>, Out<float>, Out<float>, Out<float>,
                                   Forces<float>);
template void forward_dynamics_jvp(BasicState<float>&, In<float>, In<float>, In<float>, In<float>, Out<float>,
                                   Forces<float>);
template void forward_dynamics_vjp(BasicState<float>&, In<float>, In<float>, Out<float>, Out<float>, Out<float>,
                                   Forces<float>);

}  // namespace bunraku
