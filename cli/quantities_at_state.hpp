/// @file
/// How each quantity is computed at one state: generic functions for the table of quantities.
#pragma once

#include <algorithm>

#include "quantities.hpp"

namespace bunraku::cli::at_state {

/// The numbers of a matrix row by row, from what `compute` writes column by column.
template <class T, class F>
void by_rows(Evaluator<T>& e, std::size_t rows, std::span<T> out, const F& compute) {
  const std::span<T> columns = e.room(out.size());
  compute(columns);
  const std::size_t cols = rows == 0 ? 0 : out.size() / rows;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      out[i * cols + j] = columns[i + j * rows];
    }
  }
}

template <class T>
std::size_t freedoms(const Evaluator<T>& e) {
  return static_cast<std::size_t>(e.model().nv());
}

template <class T>
void put(const Transform<T>& x, T* out) {
  for (int i = 0; i < 3; ++i) {
    const Vec3<T> row = x.rotation.matrix().row(i);
    *out++ = row.x;
    *out++ = row.y;
    *out++ = row.z;
    *out++ = x.translation[i];
  }
  *out++ = 0;
  *out++ = 0;
  *out++ = 0;
  *out++ = 1;
}

template <class Vector, class T>
void put_six(const Vector& x, T* out) {
  for (int i = 0; i < 6; ++i) {
    *out++ = x[i];
  }
}

inline constexpr auto poses = [](auto& e, const Request&, auto out) {
  for (int i = 0; i < static_cast<int>(e.model().bodies().size()); ++i) {
    put(bunraku::pose(e.state(), i), out.data() + std::ptrdiff_t{16} * i);
  }
};

inline constexpr auto pose = [](auto& e, const Request& request, auto out) {
  put(bunraku::pose(e.state(), request.nodes.front()), out.data());
};

inline constexpr auto velocities = [](auto& e, const Request&, auto out) {
  for (int i = 0; i < static_cast<int>(e.model().bodies().size()); ++i) {
    put_six(bunraku::velocity(e.state(), i, Frame::aligned), out.data() + std::ptrdiff_t{6} * i);
  }
};

inline constexpr auto com = [](auto& e, const Request&, auto out) {
  const auto c = bunraku::center_of_mass(e.state());
  out[0] = c.x;
  out[1] = c.y;
  out[2] = c.z;
};

inline constexpr auto id = [](auto& e, const Request&, auto out) { bunraku::inverse_dynamics(e.state(), e.a(), out); };
inline constexpr auto fd = [](auto& e, const Request&, auto out) {
  bunraku::forward_dynamics(e.state(), e.tau(), out);
};
inline constexpr auto bias = [](auto& e, const Request&, auto out) { bunraku::bias(e.state(), out); };
inline constexpr auto gravity = [](auto& e, const Request&, auto out) { bunraku::gravity_torques(e.state(), out); };

inline constexpr auto mass = [](auto& e, const Request&, auto out) {
  by_rows(e, freedoms(e), out, [&](auto columns) { bunraku::mass_matrix(e.state(), columns); });
};
inline constexpr auto inverse_mass = [](auto& e, const Request&, auto out) {
  by_rows(e, freedoms(e), out, [&](auto columns) { bunraku::inverse_mass_matrix(e.state(), columns); });
};
inline constexpr auto coriolis = [](auto& e, const Request&, auto out) {
  by_rows(e, freedoms(e), out, [&](auto columns) { bunraku::coriolis_matrix(e.state(), columns); });
};

inline constexpr auto energy = [](auto& e, const Request&, auto out) {
  out[0] = bunraku::kinetic_energy(e.state());
  out[1] = bunraku::potential_energy(e.state());
};

inline constexpr auto momentum = [](auto& e, const Request&, auto out) {
  put_six(bunraku::momentum(e.state()), out.data());
};

inline constexpr auto log_det = [](auto& e, const Request&, auto out) { out[0] = bunraku::log_det_mass(e.state()); };

inline constexpr auto regressor = [](auto& e, const Request&, auto out) {
  by_rows(e, freedoms(e), out, [&](auto columns) { bunraku::regressor(e.state(), e.a(), columns); });
};

inline constexpr auto jacobian = [](auto& e, const Request& request, auto out) {
  by_rows(e, 6, out,
          [&](auto columns) { bunraku::jacobian(e.state(), request.nodes.front(), request.frame, columns); });
};

/// Which of three matrices, row by row.
template <class T>
void one_of_three(Evaluator<T>& e, std::size_t which, std::span<const T> three, std::span<T> out) {
  by_rows(e, freedoms(e), out, [&](std::span<T> columns) {
    std::ranges::copy(three.subspan(which * columns.size(), columns.size()), columns.begin());
  });
}
inline constexpr auto id_dq = [](auto& e, const Request&, auto out) {
  one_of_three(e, 0, e.inverse_derivatives(), out);
};
inline constexpr auto id_dv = [](auto& e, const Request&, auto out) {
  one_of_three(e, 1, e.inverse_derivatives(), out);
};
inline constexpr auto fd_dq = [](auto& e, const Request&, auto out) {
  one_of_three(e, 0, e.forward_derivatives(), out);
};
inline constexpr auto fd_dv = [](auto& e, const Request&, auto out) {
  one_of_three(e, 1, e.forward_derivatives(), out);
};
inline constexpr auto fd_dtau = [](auto& e, const Request&, auto out) {
  one_of_three(e, 2, e.forward_derivatives(), out);
};
inline constexpr auto jacobian_dq = [](auto& e, const Request& request, auto out) {
  const std::size_t n = freedoms(e);
  const auto matrices = e.room(6 * n * n);
  bunraku::jacobian_dq(e.state(), request.nodes.front(), Frame::node, matrices);
  for (std::size_t at = 0; at < matrices.size(); ++at) {  // row, then column, then coordinate
    const std::size_t column = at / 6 % n;
    const std::size_t coordinate = at / 6 / n;
    out[(at % 6 * n + column) * n + coordinate] = matrices[at];
  }
};

inline constexpr auto lambda_inverse = [](auto& e, const Request& request, auto out) {
  by_rows(e, 6 * request.nodes.size(), out,
          [&](auto columns) { bunraku::lambda_inverse(e.state(), request.nodes, columns); });
};
inline constexpr auto closed_fd = [](auto& e, const Request&, auto out) {
  using T = typename decltype(out)::value_type;
  const std::size_t n = freedoms(e);
  const ClosureReport& report = bunraku::closed_forward_dynamics(e.closed(), e.tau(), out.first(n));
  out[n] = static_cast<T>(report.rank);
  out[n + 1] = static_cast<T>(report.rows);
};
inline constexpr auto closed_id = [](auto& e, const Request&, auto out) {
  bunraku::closed_inverse_dynamics(e.closed(), e.a(), out);
};
inline constexpr auto closure_forces = [](auto& e, const Request&, auto out) {
  auto& system = e.closed();
  bunraku::closed_forward_dynamics(system, e.tau(), e.room(freedoms(e)));
  std::size_t at = 0;
  for (int i = 0; i < system.closures(); ++i) {
    const auto rows = static_cast<std::size_t>(closure_rows(system.closure(i)));
    bunraku::closure_forces(system, i, out.subspan(at, rows));
    at += rows;
  }
};

inline constexpr auto lambda = [](auto& e, const Request& request, auto out) {
  by_rows(e, 6 * request.nodes.size(), out, [&](auto columns) { bunraku::lambda(e.state(), request.nodes, columns); });
};

}  // namespace bunraku::cli::at_state
