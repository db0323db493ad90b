#include "bunraku/dynamics/closed_dynamics.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/QR>
#include <fmt/format.h>

#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"

namespace bunraku {

namespace {

/// Calls f(row, coordinates, numbers) for each closure's rows of Y on each of its members, in stacked coordinates.
template <class T>
void fill_jacobian(detail::ClosedData<T>& d, Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& Y) {
  if (Y.rows() != d.rows || Y.cols() != d.nv) {
    Y.resize(d.rows, d.nv);
  }
  Y.setZero();
  for (const auto& each : d.closures) {
    const detail::ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    for (const bool second : {false, true}) {
      const detail::ClosedEnd<T>& end = second ? c.b : c.a;
      detail::ClosedMember<T>& m = d.member(end.member);
      detail::StateData<T>& s = m.state.data();
      const auto add = [&](int row, int full, T value) {
        const kernels::Follower<T>& follower = s.coordinates.velocities[static_cast<std::size_t>(full)];
        Y(c.first + row, m.first_v + follower.own) += follower.ratio * value;
      };
      if (c.closure.kind == ClosureKind::hinges) {
        if (end.velocity >= 0) {
          add(0, end.velocity, second ? -c.coupling.slope : T(1));
        }
        continue;
      }
      const Node& node = second ? c.closure.b : c.closure.a;
      s.blocks.need_positions();
      Transform<T> X_KN = kernels::cast<T>(node.X_BN);
      for (int k = node.body; k != world; k = s.blocks.parent(k)) {
        for (int j = s.blocks.first(k); j < s.blocks.first(k) + s.blocks.nv(k); ++j) {
          const Motion<T> column = inverse_times(X_KN, s.blocks.H(j));
          for (int r = 0; r < c.rows; ++r) {
            add(r, j, dot((second ? c.equations.on_b : c.equations.on_a)[static_cast<std::size_t>(r)], column));
          }
        }
        X_KN = s.blocks.X_PB(k) * X_KN;
      }
    }
  }
}

/// Y at the state of all members.
template <class T>
void need_jacobian(detail::ClosedData<T>& d) {
  d.evaluate(false);
  fill_jacobian(d, d.Y);
}

/// 𝓜θ̈ + 𝓒 of all members.
template <class T>
void stacked_inverse_dynamics(detail::ClosedData<T>& d, std::span<const T> acceleration, std::span<T> out) {
  for (const auto& m : d.members) {
    if (m->present) {
      const auto n = static_cast<std::size_t>(m->state.model().nv());
      const auto first = static_cast<std::size_t>(m->first_v);
      inverse_dynamics(m->state, acceleration.subspan(first, n), out.subspan(first, n));
    }
  }
}

/// Rank, scales and uniqueness at the state, into the report.
template <class T>
void find_rank(detail::ClosedData<T>& d) {
  std::fill(d.stacked.begin(), d.stacked.end(), T(0));
  d.sweep_inward(d.stacked, false);
  d.evaluate(false);
  d.make_columns(false);
  d.assemble_small();
  d.solve_small();
}

/// Y*, its rows scaled, so that the space that it spans is found as the rank is.
template <class T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> scaled_adjoint(const detail::ClosedData<T>& d) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> out = d.Y.transpose();
  for (Eigen::Index i = 0; i < out.cols(); ++i) {
    out.col(i) /= d.scale[static_cast<std::size_t>(i)];
  }
  return out;
}

}  // namespace

template <class T>
const ClosureReport& closed_forward_dynamics(BasicClosedSystem<T>& system, In<T> torques, Out<T> out) {
  detail::ClosedData<T>& d = system.data();
  d.run(detail::given(torques, d.nv, "torque"), true, detail::wanted(out, d.nv, "acceleration"));
  return d.report;
}

template <class T>
const ClosureReport& closed_inverse_mass_times(BasicClosedSystem<T>& system, In<T> x, Out<T> out) {
  detail::ClosedData<T>& d = system.data();
  d.run(detail::given(x, d.nv, "x"), false, detail::wanted(out, d.nv, "out"));
  return d.report;
}

template <class T>
void closure_forces(const BasicClosedSystem<T>& system, int closure, Out<T> out) {
  const detail::ClosedClosure<T>& c = system.data().at(closure);
  const std::span<T> force = detail::wanted(out, c.rows, "out");
  std::fill(force.begin(), force.end(), T(0));
  for (int r = 0; r < c.active; ++r) {
    force[detail::index(c.row[detail::index(r)])] = c.force.x[r];
  }
}

template <class T>
Force<T> closure_wrench(const BasicClosedSystem<T>& system, int closure) {
  const detail::ClosedClosure<T>& c = system.data().at(closure);
  Force<T> sum = Force<T>::zero();
  if (c.closure.kind != ClosureKind::hinges && c.closure.kind != ClosureKind::rows) {
    for (int r = 0; r < c.active; ++r) {
      sum += c.equations.directions[detail::index(c.row[detail::index(r)])] * c.force.x[r];
    }
  }
  return sum;
}

template <class T>
const ClosureReport& closed_inverse_dynamics(BasicClosedSystem<T>& system, In<T> accelerations, Out<T> out) {
  detail::ClosedData<T>& d = system.data();
  const std::span<const T> acceleration = detail::given(accelerations, d.nv, "acceleration");
  const std::span<T> torque = detail::wanted(out, d.nv, "torque");
  stacked_inverse_dynamics(d, acceleration, torque);
  find_rank(d);
  fill_jacobian(d, d.Y);
  const Eigen::ColPivHouseholderQR<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> qr(scaled_adjoint(d));
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> t(torque.data(), d.nv);
  // the first columns of Q span what closure forces can do
  Eigen::Matrix<T, Eigen::Dynamic, 1> seen = qr.householderQ().adjoint() * t;
  seen.head(d.report.rank).setZero();
  t = qr.householderQ() * seen;
  return d.report;
}

template <class T>
const ClosureReport& closed_inverse_dynamics(BasicClosedSystem<T>& system, In<T> accelerations,
                                             std::span<const int> actuated, Out<T> out) {
  detail::ClosedData<T>& d = system.data();
  const std::span<const T> acceleration = detail::given(accelerations, d.nv, "acceleration");
  const std::span<T> torque = detail::wanted(out, d.nv, "torque");
  for (const int i : actuated) {
    if (i < 0 || i >= d.nv) {
      throw ArgumentError(fmt::format("there is no velocity coordinate {}: the system has {}", i, d.nv));
    }
  }
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  stacked_inverse_dynamics(d, acceleration, torque);
  find_rank(d);
  fill_jacobian(d, d.Y);
  const Eigen::ColPivHouseholderQR<Matrix> qr(scaled_adjoint(d));
  const Matrix Q = qr.householderQ();
  const Matrix X = Q.rightCols(d.nv - d.report.rank);  // X*Y* = 0
  Matrix seen(X.cols(), static_cast<Eigen::Index>(actuated.size()));
  for (std::size_t i = 0; i < actuated.size(); ++i) {
    seen.col(static_cast<Eigen::Index>(i)) = X.row(actuated[i]).transpose();
  }
  const Vector wanted = X.transpose() * Eigen::Map<const Vector>(torque.data(), d.nv);
  const Vector u = actuated.empty() || X.cols() == 0 ? Vector(Vector::Zero(seen.cols()))
                                                     : Vector(seen.completeOrthogonalDecomposition().solve(wanted));
  const T left = (seen * u - wanted).norm();
  constexpr T most = std::is_same_v<T, float> ? T(1e-3) : T(1e-9);
  if (left > most * wanted.norm()) {
    throw Error(fmt::format(
        "the {} actuated coordinates cannot do it: {:.2g} of {:.2g} are missing along the {} degrees of freedom",
        actuated.size(), left, wanted.norm(), X.cols()));
  }
  std::fill(torque.begin(), torque.end(), T(0));
  for (std::size_t i = 0; i < actuated.size(); ++i) {
    torque[static_cast<std::size_t>(actuated[i])] += u(static_cast<Eigen::Index>(i));
  }
  return d.report;
}

template <class T>
const ClosureReport& closure_report(BasicClosedSystem<T>& system) {
  find_rank(system.data());
  return system.data().report;
}

template <class T>
void closure_gap(BasicClosedSystem<T>& system, Out<T> out) {
  detail::ClosedData<T>& d = system.data();
  const std::span<T> gap = detail::wanted(out, d.rows, "out");
  d.evaluate(false);
  for (const auto& c : d.closures) {
    for (std::size_t r = 0; c->present && r < static_cast<std::size_t>(c->rows); ++r) {
      gap[static_cast<std::size_t>(c->first) + r] =
          c->closure.kind == ClosureKind::hinges ? c->coupling.gap : c->equations.gap[r];
    }
  }
}

template <class T>
void closure_velocity(BasicClosedSystem<T>& system, Out<T> out) {
  detail::ClosedData<T>& d = system.data();
  const std::span<T> velocity = detail::wanted(out, d.rows, "out");
  d.evaluate(false);
  for (const auto& each : d.closures) {
    detail::ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    const auto first = static_cast<std::size_t>(c.first);
    if (c.closure.kind == ClosureKind::hinges) {
      const auto rate = [&](const detail::ClosedEnd<T>& end) {
        return end.velocity < 0 ? T(0) : d.member(end.member).state.data().v()[static_cast<std::size_t>(end.velocity)];
      };
      velocity[first] = rate(c.a) - c.coupling.slope * rate(c.b);
      continue;
    }
    const kernels::ClosureMotion<T> motion = d.motion(c, true);
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
      velocity[first + r] = dot(c.equations.on_a[r], motion.V_A) + dot(c.equations.on_b[r], motion.V_B);
    }
  }
}

template <class T>
void closure_jacobian(BasicClosedSystem<T>& system, MatrixOut<T> out) {
  detail::ClosedData<T>& d = system.data();
  const auto matrix = detail::wanted(out, d.rows, d.nv, "Y");
  need_jacobian(d);
  for (std::ptrdiff_t j = 0; j < d.nv; ++j) {
    std::copy_n(d.Y.data() + j * d.rows, d.rows, matrix.column(j).begin());
  }
}

/// As M_C of momentum: 𝓜⁻¹ applied to 𝓜θ̇, less what closures take away.
template <class T>
void project_velocities(BasicClosedSystem<T>& system) {
  detail::ClosedData<T>& d = system.data();
  find_rank(d);
  // Λ f̃ = Yθ̇, then θ̇ − 𝓜⁻¹Y*f̃
  std::vector<T> velocity(static_cast<std::size_t>(d.rows));
  closure_velocity(system, velocity);
  for (const auto& c : d.closures) {
    for (int r = 0; c->present && r < c->active; ++r) {
      const std::size_t row = detail::index(c->first + c->row[detail::index(r)]);
      const std::size_t i = detail::index(c->solved + r);
      d.right[i] = velocity[row] / d.scale[row];
      d.size[i] = std::abs(d.right[i]) + T(1);
    }
  }
  d.solve_small();
  std::vector<T> change(static_cast<std::size_t>(d.nv));
  d.sweep_outward(change);
  for (const auto& m : d.members) {
    if (m->present) {
      const VectorX<T> q = m->state.q();
      VectorX<T> v = m->state.v();
      v += Eigen::Map<const VectorX<T>>(change.data() + m->first_v, v.size());
      m->state.set(q, v);
    }
  }
}

template <class T>
void dependent_velocities(BasicClosedSystem<T>& system, std::span<const int> independent, In<T> given, Out<T> out) {
  detail::ClosedData<T>& d = system.data();
  const std::span<const T> known = detail::given(given, static_cast<std::ptrdiff_t>(independent.size()), "velocities");
  const std::span<T> velocity = detail::wanted(out, d.nv, "out");
  for (const int i : independent) {
    if (i < 0 || i >= d.nv) {
      throw ArgumentError(fmt::format("there is no velocity coordinate {}: the system has {}", i, d.nv));
    }
  }
  find_rank(d);
  fill_jacobian(d, d.Y);
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const auto chosen = static_cast<Eigen::Index>(independent.size());
  Matrix all(d.rows + chosen, d.nv);
  VectorX<T> right = VectorX<T>::Zero(d.rows + chosen);
  all.setZero();
  all.topRows(d.rows) = scaled_adjoint(d).transpose();
  for (Eigen::Index i = 0; i < chosen; ++i) {
    all(d.rows + i, independent[static_cast<std::size_t>(i)]) = T(1);
    right(d.rows + i) = known[static_cast<std::size_t>(i)];
  }
  Eigen::ColPivHouseholderQR<Matrix> qr(all);
  qr.setThreshold(static_cast<T>(d.tolerance));
  if (qr.rank() < d.nv) {
    throw Error(fmt::format("{} velocities do not determine the others: {} degrees of freedom are left", chosen,
                            d.nv - static_cast<int>(qr.rank())));
  }
  const VectorX<T> v = qr.solve(right);
  constexpr T most = std::is_same_v<T, float> ? T(1e-3) : T(1e-9);
  if ((all * v - right).norm() > most * (right.norm() + std::numeric_limits<T>::min())) {
    throw Error("the velocities that are given contradict the closures");
  }
  std::copy_n(v.data(), d.nv, velocity.begin());
}

template <class T>
void closed_lambda_inverse(BasicClosedSystem<T>& system, int member, const NodeList& nodes, MatrixOut<T> out) {
  detail::ClosedData<T>& d = system.data();
  detail::ClosedMember<T>& m = d.member(member);
  const auto size = 6 * static_cast<Eigen::Index>(nodes.size());
  const auto matrix = detail::wanted(out, size, size, "Λ⁻¹");
  MatrixX<T> J = MatrixX<T>::Zero(size, d.nv);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    J.block(6 * static_cast<Eigen::Index>(i), m.first_v, 6, m.state.model().nv()) =
        jacobian(m.state, nodes[i], Frame::node);
  }
  VectorX<T> column(d.nv);
  for (Eigen::Index i = 0; i < size; ++i) {
    closed_inverse_mass_times(system, VectorX<T>(J.row(i).transpose()), column);
    const VectorX<T> there = J * column;
    std::copy_n(there.data(), size, matrix.column(i).begin());
  }
}

#define BUNRAKU_CLOSED(T)                                                                                            \
  template const ClosureReport& closed_forward_dynamics(BasicClosedSystem<T>&, In<T>, Out<T>);                       \
  template const ClosureReport& closed_inverse_mass_times(BasicClosedSystem<T>&, In<T>, Out<T>);                     \
  template void closure_forces(const BasicClosedSystem<T>&, int, Out<T>);                                            \
  template Force<T> closure_wrench(const BasicClosedSystem<T>&, int);                                                \
  template const ClosureReport& closed_inverse_dynamics(BasicClosedSystem<T>&, In<T>, Out<T>);                       \
  template const ClosureReport& closed_inverse_dynamics(BasicClosedSystem<T>&, In<T>, std::span<const int>, Out<T>); \
  template const ClosureReport& closure_report(BasicClosedSystem<T>&);                                               \
  template void closure_gap(BasicClosedSystem<T>&, Out<T>);                                                          \
  template void closure_velocity(BasicClosedSystem<T>&, Out<T>);                                                     \
  template void closure_jacobian(BasicClosedSystem<T>&, MatrixOut<T>);                                               \
  template void project_velocities(BasicClosedSystem<T>&);                                                           \
  template void dependent_velocities(BasicClosedSystem<T>&, std::span<const int>, In<T>, Out<T>);                    \
  template void closed_lambda_inverse(BasicClosedSystem<T>&, int, const NodeList&, MatrixOut<T>);
BUNRAKU_CLOSED(double)
BUNRAKU_CLOSED(float)
#undef BUNRAKU_CLOSED

}  // namespace bunraku
