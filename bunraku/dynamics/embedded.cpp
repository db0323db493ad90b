#include "bunraku/dynamics/embedded.hpp"

#include <algorithm>

#include "bunraku/dynamics/detail/embedded_data.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"

namespace bunraku {

namespace {

template <class T>
detail::EmbeddedData<T>& ready(BasicEmbeddedState<T>& state) {
  state.data().need();
  return state.data();
}

/// The same with X and θ̈_b at hand.
template <class T>
detail::EmbeddedData<T>& with_equations(BasicEmbeddedState<T>& state) {
  state.data().need_equations();
  state.data().count();
  return state.data();
}

}  // namespace

template <class T>
int degrees_of_freedom(BasicEmbeddedState<T>& state) {
  detail::EmbeddedData<T>& e = ready(state);
  e.count();
  return static_cast<int>(e.degrees);
}

template <class T>
void embedded_basis(BasicEmbeddedState<T>& state, MatrixOut<T> matrix) {
  detail::EmbeddedData<T>& e = with_equations(state);
  const auto out =
      detail::wanted(matrix, static_cast<std::ptrdiff_t>(e.nv()), static_cast<std::ptrdiff_t>(e.degrees), "the basis");
  out.set_zero();
  for (const detail::EmbeddedGroup& group : e.groups) {
    for (std::size_t j = 0; j < group.independent; ++j) {
      for (std::size_t i = 0; i < group.users.size(); ++i) {
        out(group.users[i], static_cast<std::ptrdiff_t>(group.first + j)) = e.basis(group, i, j);
      }
    }
  }
}

template <class T>
void embedded_bias(BasicEmbeddedState<T>& state, Out<T> bias) {
  detail::EmbeddedData<T>& e = with_equations(state);
  const std::span<T> out = detail::wanted(bias, static_cast<std::ptrdiff_t>(e.nv()), "the bias acceleration");
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<T>(e.embedding.bias()[static_cast<std::size_t>(e.tree->coordinates.leaders[i])]);
  }
}

template <class T>
void embedded_forward_dynamics(BasicEmbeddedState<T>& state, In<T> torques, Out<T> accelerations,
                               std::type_identity_t<Forces<T>> forces) {
  detail::EmbeddedData<T>& e = ready(state);
  const std::span<const T> torque = detail::given(torques, static_cast<std::ptrdiff_t>(e.nv()), "torque");
  const std::span<T> acceleration = detail::wanted(accelerations, static_cast<std::ptrdiff_t>(e.nv()), "acceleration");
  if (const detail::StateData<T>& s = e.open.data(); forces.empty() && !s.has_mimics() && !s.has_passive) {
    e.sweeps->forward(torque.data(), acceleration.data());
    return;
  }
  e.place_torques(torque, forces);
  e.sweeps->forward(e.full.data(), e.full_solution.data());
  e.open.data().coordinates.pick(e.full_solution, acceleration);
}

template <class T>
void embedded_solve(BasicEmbeddedState<T>& state, MatrixIn<T> x, MatrixOut<T> out) {
  detail::EmbeddedData<T>& e = ready(state);
  e.open.data().for_each_column(x, out,
                                [&e](detail::StateData<T>& s, std::span<const T> column, std::span<T> solution) {
                                  s.coordinates.place(column, e.full);
                                  e.sweeps->solve(e.full.data(), e.full_solution.data());
                                  s.coordinates.pick(e.full_solution, solution);
                                });
}

template <class T>
void embedded_mass_matrix(BasicEmbeddedState<T>& state, MatrixOut<T> matrix) {
  detail::EmbeddedData<T>& e = with_equations(state);
  const auto r = static_cast<std::ptrdiff_t>(e.degrees);
  const auto out = detail::wanted(matrix, r, r, "the mass matrix");
  const std::size_t n = e.nv();
  e.mass.resize(n * n);
  e.product.resize(n);
  mass_matrix(e.open, e.mass);
  for (const detail::EmbeddedGroup& group : e.groups) {
    for (std::size_t j = 0; j < group.independent; ++j) {
      std::fill(e.product.begin(), e.product.end(), T(0));  // 𝓜 times a column of X
      for (std::size_t i = 0; i < group.users.size(); ++i) {
        const T* column = e.mass.data() + static_cast<std::size_t>(group.users[i]) * n;
        const T part = e.basis(group, i, j);
        for (std::size_t k = 0; k < n; ++k) {
          e.product[k] += part * column[k];
        }
      }
      for (const detail::EmbeddedGroup& other : e.groups) {
        for (std::size_t k = 0; k < other.independent; ++k) {
          T sum(0);
          for (std::size_t i = 0; i < other.users.size(); ++i) {
            sum += e.basis(other, i, k) * e.product[static_cast<std::size_t>(other.users[i])];
          }
          out(static_cast<std::ptrdiff_t>(other.first + k), static_cast<std::ptrdiff_t>(group.first + j)) = sum;
        }
      }
    }
  }
}

template <class T>
T embedded_log_det_mass(BasicEmbeddedState<T>& state) {
  return ready(state).sweeps->log_determinant();
}

template <class T>
void embedded_closure_forces(BasicEmbeddedState<T>& state, In<T> torques, In<T> accelerations, Out<T> closure_forces,
                             std::type_identity_t<Forces<T>> forces) {
  detail::EmbeddedData<T>& e = with_equations(state);
  const std::span<const T> torque = detail::given(torques, static_cast<std::ptrdiff_t>(e.nv()), "torque");
  const std::span<T> out = detail::wanted(closure_forces, e.rows.back(), "the closure forces");
  inverse_dynamics(e.open, accelerations, e.user, forces);
  for (std::size_t i = 0; i < torque.size(); ++i) {
    e.residual[i] = static_cast<double>(torque[i]) - static_cast<double>(e.user[i]);
  }
  e.embedding.forces(e.residual.data(), e.reaction.data());
  std::transform(e.reaction.begin(), e.reaction.end(), out.begin(), [](double f) { return static_cast<T>(f); });
}

template int degrees_of_freedom(BasicEmbeddedState<double>&);
template void embedded_basis(BasicEmbeddedState<double>&, MatrixOut<double>);
template void embedded_bias(BasicEmbeddedState<double>&, Out<double>);
template void embedded_forward_dynamics(BasicEmbeddedState<double>&, In<double>, Out<double>, Forces<double>);
template void embedded_solve(BasicEmbeddedState<double>&, MatrixIn<double>, MatrixOut<double>);
template void embedded_mass_matrix(BasicEmbeddedState<double>&, MatrixOut<double>);
template double embedded_log_det_mass(BasicEmbeddedState<double>&);
template void embedded_closure_forces(BasicEmbeddedState<double>&, In<double>, In<double>, Out<double>, Forces<double>);
template int degrees_of_freedom(BasicEmbeddedState<float>&);
template void embedded_basis(BasicEmbeddedState<float>&, MatrixOut<float>);
template void embedded_bias(BasicEmbeddedState<float>&, Out<float>);
template void embedded_forward_dynamics(BasicEmbeddedState<float>&, In<float>, Out<float>, Forces<float>);
template void embedded_solve(BasicEmbeddedState<float>&, MatrixIn<float>, MatrixOut<float>);
template void embedded_mass_matrix(BasicEmbeddedState<float>&, MatrixOut<float>);
template float embedded_log_det_mass(BasicEmbeddedState<float>&);
template void embedded_closure_forces(BasicEmbeddedState<float>&, In<float>, In<float>, Out<float>, Forces<float>);

}  // namespace bunraku
