#include <algorithm>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/dynamics/detail/coriolis_columns.hpp"
#include "bunraku/dynamics/detail/product_sweeps.hpp"
#include "bunraku/dynamics/detail/sensitivity_data.hpp"
#include "bunraku/dynamics/mass_matrix.hpp"
#include "bunraku/dynamics/sensitivities.hpp"

namespace bunraku {

namespace {

using detail::MapRates;
using detail::MatrixSpan;
using detail::place_of;
using detail::SensitivityData;
using detail::StateData;

/// Adds an element of a matrix over all hinges to the user's, times a factor.
template <class T>
struct FoldedMatrix {
  const StateData<T>& s;
  MatrixSpan<T> out;
  T factor{1};

  void add(int i, int j, const T& element) const {
    const auto& row = s.coordinates.velocities[place_of(i)];
    const auto& column = s.coordinates.velocities[place_of(j)];
    out(row.own, column.own) += factor * row.ratio * column.ratio * element;
  }
};

/// Adds ∂𝓜/∂q_i of one of all hinges' coordinates, that of body b, to the user's matrix. Seen from a frame that stands
/// still, a column S(j) of a body outside of b changes by S(i) × S(j), and so do all that their forces meet: between
/// two such nothing changes. With h = R(m)S(k) for a body m, what is left is, for k on m,
///
///     m on b or outside of it, j farther in than b:   S(j)·[S(i) × h],
///     m farther in than b, j on m or farther in:      S(j)·[S(i) × R(b)S(k) − R(b)(S(i) × S(k))],
///
/// and (∂H)R(b)H* on b itself: JR03 5.3 for all hinges. Needs composites.
template <class T>
void add_mass_change(StateData<T>& s, SensitivityData<T>& d, int b, int i, const FoldedMatrix<T>& out) {
  const kernels::Blocks<T>& blocks = s.blocks;
  const Motion<T>& S = blocks.H(i);
  const MapRates<T> map(s, b);
  const int own = i - blocks.first(b);
  // adds f in body k's frame to rows farther in than it, and to columns
  const auto add_inward = [&](int k, Force<T> f, int column) {
    for (int p = k; p != world; p = blocks.parent(p)) {
      if (p != k) {
        for (int j = blocks.first(p); j < blocks.first(p) + blocks.nv(p); ++j) {
          const T element = dot(blocks.H(j), f);
          out.add(j, column, element);
          out.add(column, j, element);
        }
      }
      f = blocks.X_PB(p) * f;
    }
  };
  std::fill(d.carried.begin(), d.carried.end(), std::uint8_t{0});
  for (int m = b; m < blocks.size(); ++m) {
    d.carried[place_of(m)] = m == b || (blocks.parent(m) != world && d.carried[place_of(blocks.parent(m))] != 0);
    for (int k = blocks.first(m); d.carried[place_of(m)] != 0 && k < blocks.first(m) + blocks.nv(m); ++k) {
      Force<T> h = s.composite[place_of(m)] * blocks.H(k);
      for (int p = m; p != b; p = blocks.parent(p)) {
        h = blocks.X_PB(p) * h;
      }
      for (int c = 0; map.changes() && c < map.nv(); ++c) {
        const T element = dot(map.rate(own, c), h);
        out.add(blocks.first(b) + c, k, element);
        out.add(k, blocks.first(b) + c, element);
      }
      Force<T> change = cross(S, h);
      if (map.changes() && m == b) {
        change += s.composite[place_of(b)] * map.rate(own, k - blocks.first(b));
      }
      add_inward(b, change, k);
    }
  }
  const RigidInertia<T>& R = s.composite[place_of(b)];
  Transform<T> X_MB = blocks.X_PB(b);
  for (int m = blocks.parent(b); m != world; m = blocks.parent(m)) {
    for (int k = blocks.first(m); k < blocks.first(m) + blocks.nv(m); ++k) {
      const Motion<T> S_k = inverse_times(X_MB, blocks.H(k));
      const Force<T> change = X_MB * (cross(S, R * S_k) - R * cross(S, S_k));
      for (int j = blocks.first(m); j < blocks.first(m) + blocks.nv(m); ++j) {
        out.add(j, k, dot(blocks.H(j), change));
      }
      add_inward(m, change, k);
    }
    X_MB = blocks.X_PB(m) * X_MB;
  }
}

/// Adds ∂𝓜/∂q_i of the user's coordinate i. Needs composites.
template <class T>
void add_mass_changes(StateData<T>& s, SensitivityData<T>& d, int i, const MatrixSpan<T>& out) {
  for (int b = 0; b < s.blocks.size(); ++b) {
    for (int j = s.blocks.first(b); j < s.blocks.first(b) + s.blocks.nv(b); ++j) {
      const auto& follower = s.coordinates.velocities[place_of(j)];
      if (follower.own == i) {
        add_mass_change(s, d, b, j, FoldedMatrix<T>{s, out, follower.ratio});
      }
    }
  }
}

/// Adds C_u to the user's matrix, u over all hinges in d.way: as coriolis_matrix() with the motion of u in place of the
/// velocities; bodies that u does not reach, and that are not on the way to one, are left out. Needs composites.
template <class T>
void add_connection(StateData<T>& s, SensitivityData<T>& d, const FoldedMatrix<T>& out) {
  const kernels::Blocks<T>& blocks = s.blocks;
  std::fill(d.carried.begin(), d.carried.end(), std::uint8_t{0});
  for (int k = 0; k < blocks.size(); ++k) {
    const int v = blocks.first(k);
    const T* u = d.way.data() + v;
    Motion<T>& U = d.motion[place_of(k)];
    U = Motion<T>::zero();
    if (blocks.parent(k) != world && d.carried[place_of(blocks.parent(k))] != 0) {
      U = inverse_times(blocks.X_PB(k), d.motion[place_of(blocks.parent(k))]);
      d.carried[place_of(k)] = 1;
    }
    for (int j = 0; j < blocks.nv(k); ++j) {
      U += blocks.H(v + j) * u[j];
      d.carried[place_of(k)] |= static_cast<std::uint8_t>(u[j] != T(0));
    }
    s.composite_rate[place_of(k)] = kernels::InertiaRate<T>::of(blocks.M(k), U);
    const MapRates<T> map(s, k);
    for (int j = 0; j < blocks.nv(k); ++j) {
      s.column_rate[place_of(v + j)] = cross(U, blocks.H(v + j)) + map.column(u, j);
    }
  }
  for (int k = blocks.size() - 1; k >= 0; --k) {
    if (blocks.parent(k) != world && d.carried[place_of(k)] != 0) {
      d.carried[place_of(blocks.parent(k))] = 1;
      s.composite_rate[place_of(blocks.parent(k))] += blocks.X_PB(k) * s.composite_rate[place_of(k)];
    }
  }
  for (int k = 0; k < blocks.size(); ++k) {
    if (d.carried[place_of(k)] != 0) {
      detail::add_coriolis_columns(s, k, [&](int i, int j, const T& element) { out.add(i, j, element); });
    }
  }
}

}  // namespace

template <class T>
void mass_matrix_derivative(BasicState<T>& state, int i, MatrixOut<T> matrix) {
  StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the mass matrix's derivative");
  if (i < 0 || i >= s.nv()) {
    throw ArgumentError(fmt::format("there is no coordinate {}: the model has {}, from 0 on", i, s.nv()));
  }
  s.blocks.need_positions();
  kernels::sweep_composites(s.blocks, s.composite);
  out.set_zero();
  add_mass_changes(s, detail::sensitivities_of(s), i, out);
}

template <class T>
void mass_matrix_derivatives(BasicState<T>& state, MatrixOut<T> matrix) {
  StateData<T>& s = state.data();
  const std::ptrdiff_t n = s.nv();
  const auto out = detail::wanted(matrix, n, n * n, "the mass matrix's derivatives");
  s.blocks.need_positions();
  kernels::sweep_composites(s.blocks, s.composite);
  out.set_zero();
  for (int b = 0; b < s.blocks.size(); ++b) {
    for (int j = s.blocks.first(b); j < s.blocks.first(b) + s.blocks.nv(b); ++j) {
      const auto& follower = s.coordinates.velocities[place_of(j)];
      add_mass_change(s, detail::sensitivities_of(s), b, j,
                      FoldedMatrix<T>{s, {out.data + follower.own * n * out.stride, n, n, out.stride}, follower.ratio});
    }
  }
}

template <class T>
void mass_matrix_rate(BasicState<T>& state, MatrixOut<T> matrix) {
  StateData<T>& s = state.data();
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the mass matrix's rate");
  coriolis_matrix(state, matrix);
  for (std::ptrdiff_t j = 0; j < out.cols; ++j) {
    for (std::ptrdiff_t i = 0; i <= j; ++i) {
      out(i, j) = out(j, i) = out(i, j) + out(j, i);
    }
  }
}

template <class T>
void coriolis_along(BasicState<T>& state, In<T> direction, MatrixOut<T> matrix) {
  StateData<T>& s = state.data();
  const std::span<const T> u = detail::given(direction, s.nv(), "direction");
  const auto out = detail::wanted(matrix, s.nv(), s.nv(), "the Coriolis matrix");
  s.blocks.need_positions();
  kernels::sweep_composites(s.blocks, s.composite);
  SensitivityData<T>& d = detail::sensitivities_of(s);
  s.coordinates.spread(u, d.way);
  out.set_zero();
  add_connection(s, d, FoldedMatrix<T>{s, out});
}

template <class T>
void christoffel(BasicState<T>& state, MatrixOut<T> matrix) {
  StateData<T>& s = state.data();
  const std::ptrdiff_t n = s.nv();
  const auto out = detail::wanted(matrix, n, n * n, "Christoffel's symbols");
  s.blocks.need_positions();
  kernels::sweep_composites(s.blocks, s.composite);
  out.set_zero();
  SensitivityData<T>& d = detail::sensitivities_of(s);
  for (int j = 0; j < s.nv(); ++j) {
    for (std::size_t i = 0; i < d.way.size(); ++i) {
      const auto& follower = s.coordinates.velocities[i];
      d.way[i] = follower.own == j ? follower.ratio : T(0);
    }
    add_connection(s, d, FoldedMatrix<T>{s, {out.data + j * n * out.stride, n, n, out.stride}});
  }
}

template void mass_matrix_derivative(BasicState<double>&, int, MatrixOut<double>);
template void mass_matrix_derivatives(BasicState<double>&, MatrixOut<double>);
template void mass_matrix_rate(BasicState<double>&, MatrixOut<double>);
template void coriolis_along(BasicState<double>&, In<double>, MatrixOut<double>);
template void christoffel(BasicState<double>&, MatrixOut<double>);
template void mass_matrix_derivative(BasicState<float>&, int, MatrixOut<float>);
template void mass_matrix_derivatives(BasicState<float>&, MatrixOut<float>);
template void mass_matrix_rate(BasicState<float>&, MatrixOut<float>);
template void coriolis_along(BasicState<float>&, In<float>, MatrixOut<float>);
template void christoffel(BasicState<float>&, MatrixOut<float>);

}  // namespace bunraku
