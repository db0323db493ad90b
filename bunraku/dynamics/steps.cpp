#include "bunraku/dynamics/steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/detail/derivative_data.hpp"
#include "bunraku/dynamics/detail/state_data.hpp"
#include "bunraku/dynamics/detail/step_data.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"
#include "bunraku/kernels/integrate.hpp"
#include "bunraku/model/configuration.hpp"

namespace bunraku {

namespace {

using detail::StepChanges;
using detail::StepData;

constexpr std::array<double, 4> stage_weights = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
constexpr std::array<double, 3> stage_reach = {0.5, 0.5, 1};  // of the next stage, in steps

template <class T>
StepData<T>& steps_of(BasicState<T>& state) {
  std::shared_ptr<StepData<T>>& data = state.data().steps;
  if (data == nullptr) {
    data = std::make_shared<StepData<T>>(state);
  }
  return *data;
}

void check_step(double h) {
  if (!(h > 0) || !std::isfinite(h)) {
    throw ArgumentError(fmt::format("the step is {} s, and must be above 0", h));
  }
}

/// y ← x + z c.
template <class T>
void step_along(const auto& x, const std::vector<T>& z, T c, std::vector<T>& y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = x.data()[i] + z[i] * c;
  }
}

/// out ← D x for a matrix with a block on its diagonal for each hinge, and zeros else. O(n) a column.
template <class T>
void apply_hinge_blocks(const Model& model, const MatrixX<T>& D, const MatrixX<T>& x, MatrixX<T>& out) {
  for (const Body& body : model.bodies()) {
    for (Eigen::Index j = 0; j < x.cols() && body.nv > 0; ++j) {
      for (int i = body.v_index; i < body.v_index + body.nv; ++i) {
        T sum = 0;
        for (int k = body.v_index; k < body.v_index + body.nv; ++k) {
          sum += D(i, k) * x(k, j);
        }
        out(i, j) = sum;
      }
    }
  }
}

/// out ← out + x y, without room for blocks of it.
template <class T>
void add_matrix_product(const MatrixX<T>& x, const MatrixX<T>& y, MatrixX<T>& out) {
  for (Eigen::Index j = 0; j < y.cols(); ++j) {
    out.col(j).noalias() += x * y.col(j);
  }
}

/// The changes of the last configuration, from those of ξ for the whole step: into c.q.
template <class T>
void change_configuration(const BasicState<T>& state, StepChanges<T>& c, const std::vector<T>& v, double h,
                          const MatrixX<T>& way) {
  const Model& model = state.model();
  const Eigen::Index n = model.nv();
  integrate_dq(model, state.q(), v, h, c.by_start);
  integrate_dv(model, state.q(), v, h, c.by_way);
  apply_hinge_blocks(model, c.by_way, way, c.q);
  c.q.leftCols(n) += c.by_start;
}

/// One step of Runge and Kutta; into s.q and s.v, and with `changes` their derivatives into those of the same name.
template <class T>
void runge_kutta(BasicState<T>& state, StepData<T>& s, In<T> torque, double h, Forces<T> forces,
                 StepChanges<T>* changes) {
  const Model& model = state.model();
  const kernels::Tree& tree = state.data().sweeps->tree();
  const Eigen::Index n = model.nv();
  std::ranges::fill(s.way, T(0));
  std::ranges::fill(s.sum_way, T(0));
  std::ranges::fill(s.sum_v, T(0));
  std::ranges::copy(state.v(), s.v.begin());
  if (changes != nullptr) {
    for (MatrixX<T>* each : {&changes->q, &changes->v, &changes->way, &changes->sum_way, &changes->sum_v}) {
      each->setZero();
    }
    changes->q.leftCols(n).setIdentity();
    changes->v.middleCols(n, n).setIdentity();
  }
  for (std::size_t stage = 0; stage < 4; ++stage) {
    BasicState<T>& here = stage == 0 ? state : s.stage;
    const auto weight = static_cast<T>(stage_weights[stage]);
    const auto time = static_cast<T>(stage < 3 ? stage_reach[stage] * h : 0);
    if (changes == nullptr) {
      forward_dynamics<T>(here, torque, s.a, forces);
    } else {
      forward_dynamics_derivatives<T>(here, torque, changes->dq, changes->dv, changes->dtau, forces);
      std::ranges::copy(derivatives_of(here.data()).acceleration, s.a.begin());
    }
    kernels::tangent_rate<T>(tree, s.way.data(), s.v.data(), s.rate.data());
    if (changes != nullptr) {
      StepChanges<T>& c = *changes;
      for (Eigen::Index j = 0; j < 3 * n; ++j) {
        kernels::tangent_rate_along<T>(tree, s.way.data(), s.v.data(), c.way.col(j).data(), c.v.col(j).data(),
                                       c.rate.col(j).data());
      }
      if (stage == 0) {
        c.a << c.dq, c.dv, c.dtau;
      } else {
        c.a.leftCols(2 * n).setZero();
        c.a.rightCols(n) = c.dtau;
        add_matrix_product(c.dq, c.q, c.a);
        add_matrix_product(c.dv, c.v, c.a);
      }
      c.sum_way += c.rate * weight;
      c.sum_v += c.a * weight;
      c.way = c.rate * time;
      c.v = c.a * time;
      c.v.middleCols(n, n).diagonal().array() += T(1);
    }
    step_along<T>(s.sum_way, s.rate, weight, s.sum_way);
    step_along<T>(s.sum_v, s.a, weight, s.sum_v);
    if (stage < 3) {
      std::ranges::transform(s.rate, s.way.begin(), [&](T each) { return each * time; });
      step_along<T>(state.v(), s.a, time, s.v);
      integrate(model, state.q(), s.way, 1, s.q);
      s.stage.set(s.q, s.v);
      if (changes != nullptr) {
        change_configuration<T>(state, *changes, s.way, 1, changes->way);
      }
    }
  }
  step_along<T>(state.v(), s.sum_v, static_cast<T>(h), s.v);
  integrate(model, state.q(), s.sum_way, h, s.q);
  if (changes != nullptr) {
    change_configuration<T>(state, *changes, s.sum_way, h, changes->sum_way);
    changes->v = changes->sum_v * static_cast<T>(h);
    changes->v.middleCols(n, n).diagonal().array() += T(1);
  }
}

/// One of Euler; likewise.
template <class T>
void semi_implicit_euler(BasicState<T>& state, StepData<T>& s, In<T> torque, double h, Forces<T> forces,
                         StepChanges<T>* changes) {
  const Eigen::Index n = state.model().nv();
  if (changes == nullptr) {
    forward_dynamics<T>(state, torque, s.a, forces);
  } else {
    forward_dynamics_derivatives<T>(state, torque, changes->dq, changes->dv, changes->dtau, forces);
    std::ranges::copy(derivatives_of(state.data()).acceleration, s.a.begin());
  }
  step_along<T>(state.v(), s.a, static_cast<T>(h), s.v);
  integrate(state.model(), state.q(), s.v, h, s.q);
  if (changes != nullptr) {
    changes->v << changes->dq, changes->dv, changes->dtau;
    changes->v *= static_cast<T>(h);
    changes->v.middleCols(n, n).diagonal().array() += T(1);
    change_configuration<T>(state, *changes, s.v, h, changes->v);
  }
}

template <class T>
void make_step(BasicState<T>& state, StepData<T>& s, In<T> torque, double h, Integrator integrator, Forces<T> forces,
               StepChanges<T>* changes) {
  integrator == Integrator::runge_kutta_4 ? runge_kutta<T>(state, s, torque, h, forces, changes)
                                          : semi_implicit_euler<T>(state, s, torque, h, forces, changes);
}

}  // namespace

template <class T>
void step(BasicState<T>& state, In<T> torque, double h, Integrator integrator, Out<T> q_next, Out<T> v_next,
          std::type_identity_t<Forces<T>> forces) {
  const std::span<T> q = detail::wanted(q_next, state.model().nq(), "q_next");
  const std::span<T> v = detail::wanted(v_next, state.model().nv(), "v_next");
  check_step(h);
  StepData<T>& s = steps_of(state);
  make_step<T>(state, s, torque, h, integrator, forces, nullptr);
  std::ranges::copy(s.q, q.begin());
  std::ranges::copy(s.v, v.begin());
}

template <class T>
void step_derivatives(BasicState<T>& state, In<T> torque, double h, Integrator integrator, MatrixOut<T> A,
                      MatrixOut<T> B, std::type_identity_t<Forces<T>> forces) {
  const Eigen::Index n = state.model().nv();
  const detail::MatrixSpan<T> a = detail::wanted(A, 2 * n, 2 * n, "A");
  const detail::MatrixSpan<T> b = detail::wanted(B, 2 * n, n, "B");
  check_step(h);
  StepData<T>& s = steps_of(state);
  if (s.changes == nullptr) {
    s.changes = std::make_unique<StepChanges<T>>(n);
  }
  make_step<T>(state, s, torque, h, integrator, forces, s.changes.get());
  for (Eigen::Index j = 0; j < 3 * n; ++j) {
    const std::span<T> to = j < 2 * n ? a.column(j) : b.column(j - 2 * n);
    std::copy_n(s.changes->q.col(j).data(), n, to.data());
    std::copy_n(s.changes->v.col(j).data(), n, to.data() + n);
  }
}

template void step(BasicState<double>&, In<double>, double, Integrator, Out<double>, Out<double>, Forces<double>);
template void step(BasicState<float>&, In<float>, double, Integrator, Out<float>, Out<float>, Forces<float>);
template void step_derivatives(BasicState<double>&, In<double>, double, Integrator, MatrixOut<double>,
                               MatrixOut<double>, Forces<double>);
template void step_derivatives(BasicState<float>&, In<float>, double, Integrator, MatrixOut<float>, MatrixOut<float>,
                               Forces<float>);

}  // namespace bunraku
