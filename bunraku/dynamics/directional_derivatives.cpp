#include <algorithm>
#include <array>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/detail/product_sweeps.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"

namespace bunraku {

namespace {

using detail::DerivativeData;
using detail::joint_motion;
using detail::MapRates;
using detail::PlainTree;
using detail::StateData;

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// What products need of the state at the accelerations in d.vectors[0].
template <class T>
void take_motions(StateData<T>& s, DerivativeData<T>& d, Forces<T> forces) {
  s.blocks.need_velocities();
  d.set_loads(s, forces);
  detail::sweep_motions(PlainTree<T>{s, d}, d.vectors[0].data());
}

/// δT along (u, y, z) in (q, θ̇, θ̈), over all hinges: one sweep outward, one inward. ∇ is the derivative seen from a
/// frame that stands still where the body's is, in which only H* and M move: ∇H* = ∂H* + U × H*, U = φ*H*u.
template <class T>
void push_forward(StateData<T>& s, DerivativeData<T>& d, const T* acceleration, const T* u, const T* y, const T* z,
                  T* torque) {
  const PlainTree<T> tree{s, d};
  for (int k = 0; k < s.blocks.size(); ++k) {
    auto& body = d.bodies[at(k)];
    const int v = s.blocks.first(k);
    const MapRates<T> map(s, k);
    const Motion<T>& V = s.blocks.V(k);
    const Motion<T>& relative = s.blocks.relative(k);
    body.U = joint_motion(tree, k, u + v);
    body.V_rate = Motion<T>::zero();
    body.A_rate = Motion<T>::zero();
    if (const int p = s.blocks.parent(k); p != world) {
      body.U += inverse_times(s.blocks.X_PB(k), d.bodies[at(p)].U);
      body.V_rate = inverse_times(s.blocks.X_PB(k), d.bodies[at(p)].V_rate);
      body.A_rate = inverse_times(s.blocks.X_PB(k), d.bodies[at(p)].A_rate);
    }
    const Motion<T>& U = body.U;
    const T* rate = s.v().data() + v;
    const Motion<T> own = cross(U, relative) + map.along(u + v, rate) + joint_motion(tree, k, y + v);
    body.V_rate += own;
    body.A_rate += cross(U, body.relative_rate) + map.along(u + v, acceleration + v) + joint_motion(tree, k, z + v) +
                   cross(body.V_rate, relative) + cross(V, own) + map.along(y + v, rate) + map.along(rate, y + v);
    for (int i = 0; map.changes() && i < map.nv(); ++i) {
      body.A_rate += map.bias_rate(i) * u[v + i];
    }
    const RigidInertia<T>& M = s.blocks.M(k);
    const Motion<T> V_rate = body.V_rate - cross(U, V);  // in the body's own components
    const auto& load = d.load(k);
    body.df = cross(U, body.f + load.in_world) + load.held * U + M * (body.A_rate - cross(U, body.A)) +
              cross(V_rate, body.momentum) + cross(V, M * V_rate);
    body.total = body.f;
  }
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const auto& body = d.bodies[at(k)];
    const MapRates<T> map(s, k);
    const int v = s.blocks.first(k);
    for (int j = 0; j < map.nv(); ++j) {
      const Motion<T>& H = s.blocks.H(v + j);
      torque[v + j] = dot(cross(body.U, H) + map.column(u + v, j), body.total) + dot(H, body.df) +
                      s.coordinates.armature[at(v + j)] * z[v + j];
    }
    if (const int p = s.blocks.parent(k); p != world) {
      d.bodies[at(p)].total += s.blocks.X_PB(k) * body.total;
      d.bodies[at(p)].df += s.blocks.X_PB(k) * body.df;
    }
  }
}

/// Both at the accelerations of the user.
template <class T>
void jvp(StateData<T>& s, std::span<const T> acceleration, std::span<const T> u, std::span<const T> y,
         std::span<const T> z, Forces<T> forces, std::span<T> out) {
  DerivativeData<T>& d = derivatives_of(s);
  d.make_bodies(s);
  for (std::size_t i = 0; i < 4; ++i) {
    s.coordinates.spread(std::array{acceleration, u, y, z}[i], d.vectors[i]);
  }
  take_motions<T>(s, d, forces);
  push_forward(s, d, d.vectors[0].data(), d.vectors[1].data(), d.vectors[2].data(), d.vectors[3].data(),
               s.torques.data());
  d.for_passive(s, [&](std::size_t i, std::size_t j, T by_q, T by_v) {
    s.torques[i] += by_q * d.vectors[1][j] + by_v * d.vectors[2][j];
  });
  s.coordinates.gather(s.torques, out);
}

template <class T>
void vjp(StateData<T>& s, std::span<const T> acceleration, std::span<const T> weight, Forces<T> forces, std::span<T> dq,
         std::span<T> dv, std::span<T> da) {
  DerivativeData<T>& d = derivatives_of(s);
  d.make_bodies(s);
  s.coordinates.spread(acceleration, d.vectors[0]);
  s.coordinates.spread(weight, d.vectors[1]);
  take_motions<T>(s, d, forces);
  detail::pull_back(PlainTree<T>{s, d}, d.vectors[0].data(), d.vectors[1].data(), d.vectors[2].data(),
                    d.vectors[3].data(), s.torques.data());
  d.for_passive(s, [&](std::size_t i, std::size_t j, T by_q, T by_v) {
    d.vectors[2][j] += by_q * d.vectors[1][i];
    d.vectors[3][j] += by_v * d.vectors[1][i];
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
  s.solve(d.change, out);
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
  s.solve(w, d.change);
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
