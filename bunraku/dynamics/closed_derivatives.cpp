#include "bunraku/dynamics/closed_derivatives.hpp"

#include <array>
#include <cmath>

#include <Eigen/QR>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/detail/map_rates.hpp"
#include "bunraku/spatial/cross.hpp"
#include "bunraku/spatial/exponential.hpp"

namespace bunraku {

namespace detail {

/// How a node moves with one velocity coordinate of all hinges that carries it, in the node's axes: by q first, then by
/// θ̇. α is the inertial derivative of V.
template <class T>
struct NodeColumn {
  int place = 0;      ///< The user's coordinate, stacked.
  T ratio = T(1);     ///< How much of it there is in that of all hinges.
  Motion<T> H{};      ///< The column of the node's Jacobian; ∂V/∂θ̇, too.
  Motion<T> V_q{};    ///< ∂V/∂q.
  Motion<T> a_q{};    ///< ∂α/∂q.
  Motion<T> a_v{};    ///< ∂α/∂θ̇.
  Force<T> on_a_q{};  ///< What Σ A*f̃ at node a changes by.
  Force<T> on_b_q{};  ///< The same at node b.
};

/// A node of a closure.
template <class T>
struct NodeMotion {
  Motion<T> V = Motion<T>::zero();      ///< In its axes.
  Motion<T> alpha = Motion<T>::zero();  ///< The inertial derivative of V in its axes, without gravity.
  std::vector<NodeColumn<T>> columns{};
};

/// Scratch. Vectors and matrices are stacked over the members.
template <class T>
struct ClosedDerivatives {
  VectorX<T> acceleration;                      ///< θ̈.
  std::vector<std::vector<T>> full;             ///< Of each member: that of all hinges.
  std::vector<std::vector<Motion<T>>> A;        ///< Of each member's bodies: the rate of V, without gravity.
  std::vector<AppliedForce<T>> forces;          ///< On one member.
  std::array<NodeMotion<T>, 2> nodes;           ///< Of one closure.
  MatrixX<T> g_q, g_v;                          ///< ∂g, n×n.
  MatrixX<T> c_q, c_v;                          ///< ∂c, rows × n.
  MatrixX<T> Y;                                 ///< Likewise.
  MatrixX<T> L;                                 ///< Of 𝓜 = LL*, its lower triangle.
  MatrixX<T> b;                                 ///< 𝔟 of the rows that step D solves for, scaled.
  Eigen::ColPivHouseholderQR<MatrixX<T>> qr{};  ///< Of it.
  std::vector<int> rows;                        ///< Of each of its columns: the row.
  VectorX<T> x, s;                              ///< Right sides.
  VectorX<T> workspace;

  void resize(const ClosedData<T>& d) {
    const Eigen::Index n = d.nv;
    const Eigen::Index m = d.rows;
    for (MatrixX<T>* each : {&g_q, &g_v, &L}) {
      each->resize(n, n);
    }
    c_q.resize(m, n);
    c_v.resize(m, n);
    Y.resize(m, n);
    b.resize(n, d.solved);
    acceleration.resize(n);
    x.resize(n);
    s.resize(d.solved);
    workspace.resize(n);
    full.resize(d.members.size());
    A.resize(d.members.size());
  }
};

}  // namespace detail

namespace {

using detail::ClosedClosure;
using detail::ClosedData;
using detail::ClosedDerivatives;
using detail::ClosedMember;
using detail::NodeColumn;
using detail::NodeMotion;
using detail::StateData;

template <class T>
using ClosureNumbers = std::array<T, kernels::max_closure_rows>;

/// The inertial derivative of a velocity from the rate of its components.
template <class T>
Motion<T> inertial_rate(const Motion<T>& V, const Motion<T>& rate) {
  return {rate.angular, rate.linear + cross(V.angular, V.linear)};
}
/// Its change along changes of both.
template <class T>
Motion<T> inertial_rate_along(const Motion<T>& V, const Motion<T>& V_rate, const Motion<T>& rate) {
  return {rate.angular, rate.linear + cross(V_rate.angular, V.linear) + cross(V.angular, V_rate.linear)};
}

/// θ̈ of all hinges and A of all bodies of a member, outward.
template <class T>
void sweep_member(ClosedDerivatives<T>& w, std::size_t i, ClosedMember<T>& m) {
  StateData<T>& s = m.state.data();
  s.blocks.need_velocities();
  w.full[i].resize(s.full.size());
  w.A[i].resize(s.model.bodies().size());
  s.coordinates.spread(std::span<const T>(w.acceleration.data() + m.first_v, static_cast<std::size_t>(s.nv())),
                       w.full[i]);
  for (int k = 0; k < s.blocks.size(); ++k) {
    Motion<T>& A = w.A[i][static_cast<std::size_t>(k)];
    A = joint_motion(s, k, w.full[i].data() + s.blocks.first(k)) + s.blocks.map_rate(k) +
        cross(s.blocks.V(k), s.blocks.relative(k));
    if (const int p = s.blocks.parent(k); p != world) {
      A += inverse_times(s.blocks.X_PB(k), w.A[i][static_cast<std::size_t>(p)]);
    }
  }
}

/// How a node moves and how that changes with the coordinates between it and the world. Of a column H of body k with
/// parent p, and ψ̇ = V(p) × H + (∂H*)θ̇, ψ̈ = A(p) × H + V(p) × ψ̇ + (∂H*)θ̈ + V(k) × (∂H*)θ̇ + ∂(Ḣ*)θ̇ and
/// Ḣ = V(k) × H + Ḣ* what hangs on it has, in its own axes, ∂V = ψ̇ and ∂A = ψ̇ × V + ψ̈ by q, and ∂V = H and
/// ∂A = H × V + ψ̇ + Ḣ by θ̇. See kernels/inverse_derivatives.hpp. O(d).
template <class T>
void move_node(ClosedData<T>& d, const ClosedDerivatives<T>& w, int member, const Node& node, NodeMotion<T>& out) {
  out.columns.clear();
  out.V = out.alpha = Motion<T>::zero();
  if (node.body == world) {
    return;
  }
  const ClosedMember<T>& m = d.member(member);
  StateData<T>& s = d.member(member).state.data();
  const std::vector<Motion<T>>& A = w.A[static_cast<std::size_t>(member)];
  const T* acceleration = w.full[static_cast<std::size_t>(member)].data();
  Transform<T> X_KN = kernels::cast<T>(node.X_BN);
  out.V = inverse_times(X_KN, s.blocks.V(node.body));
  out.alpha = inertial_rate(out.V, inverse_times(X_KN, A[static_cast<std::size_t>(node.body)]));
  for (int k = node.body; k != world; k = s.blocks.parent(k)) {
    const detail::MapRates<T> map(s, k);
    const int first = s.blocks.first(k);
    const T* rate = s.v().data() + first;
    const Motion<T>& V = s.blocks.V(k);
    const Motion<T> V_p = V - s.blocks.relative(k);
    const int p = s.blocks.parent(k);
    const Motion<T> A_p =
        p == world ? Motion<T>::zero() : inverse_times(s.blocks.X_PB(k), A[static_cast<std::size_t>(p)]);
    for (int j = 0; j < s.blocks.nv(k); ++j) {
      const Motion<T>& H = s.blocks.H(first + j);
      const Motion<T> change = map.along(j, rate);
      const Motion<T> slope = cross(V_p, H) + change;
      const Motion<T> curvature =
          cross(A_p, H) + cross(V_p, slope) + map.along(j, acceleration + first) + cross(V, change) + map.bias_rate(j);
      const Motion<T> column_rate = cross(V, H) + map.column(rate, j);
      const kernels::Follower<T>& follower = s.coordinates.velocities[static_cast<std::size_t>(first + j)];
      NodeColumn<T>& column = out.columns.emplace_back();
      column.place = m.first_v + follower.own;
      column.ratio = follower.ratio;
      column.H = inverse_times(X_KN, H);
      column.V_q = inverse_times(X_KN, slope);
      column.a_q = inertial_rate_along(out.V, column.V_q, cross(column.V_q, out.V) + inverse_times(X_KN, curvature));
      column.a_v =
          inertial_rate_along(out.V, column.H, cross(column.H, out.V) + inverse_times(X_KN, slope + column_rate));
    }
    X_KN = s.blocks.X_PB(k) * X_KN;
  }
}

/// The nodes of a closure and a direction in which they move.
template <class T>
struct ClosureDirection {
  Motion<T> between = Motion<T>::zero();  ///< Of b against a, in a's axes at b's point.
  Motion<T> V_A = Motion<T>::zero();      ///< Changes of V and α of both in their own axes.
  Motion<T> V_B = Motion<T>::zero();
  Motion<T> a_A = Motion<T>::zero();
  Motion<T> a_B = Motion<T>::zero();
};
/// What a closure's equations do along it.
template <class T>
struct ClosureChange {
  ClosureNumbers<T> c{};             ///< ∂(Aα − rate).
  Force<T> on_a = Force<T>::zero();  ///< ∂(A*f̃) at node a, in its axes.
  Force<T> on_b = Force<T>::zero();  ///< The same at node b.
};

/// One closure at a state.
template <class T>
struct ClosureAt {
  const Closure& closure;
  const kernels::ClosureEquations<T>& equations;
  kernels::ClosureMotion<T> motion;
  Motion<T> a_A, a_B;   ///< α of the nodes, in their own axes.
  ClosureNumbers<T> f;  ///< f̃ of all rows.

  /// Whether its directions N turn with what the hinge lets move.
  bool turns() const {
    return closure.kind == ClosureKind::nodes &&
           (closure.hinge.type == HingeType::universal || closure.hinge.type == HingeType::custom);
  }
  ClosureChange<T> along(const ClosureDirection<T>& u) const {
    return turns() ? by_differences(u) : closure.kind == ClosureKind::rows ? of_rows(u) : of_directions(u);
  }

 private:
  ClosureChange<T> of_rows(const ClosureDirection<T>& u) const;
  ClosureChange<T> of_directions(const ClosureDirection<T>& u) const;
  ClosureChange<T> by_differences(const ClosureDirection<T>& u) const;
};

/// A is constant in the nodes' axes.
template <class T>
ClosureChange<T> ClosureAt<T>::of_rows(const ClosureDirection<T>& u) const {
  ClosureChange<T> out;
  const auto rate = [](const Motion<T>& V, const Motion<T>& V_rate, const Motion<T>& a) {
    return Motion<T>{a.angular, a.linear - cross(V_rate.angular, V.linear) - cross(V.angular, V_rate.linear)};
  };
  const Motion<T> a = rate(motion.V_A, u.V_A, u.a_A);
  const Motion<T> b = rate(motion.V_B, u.V_B, u.a_B);
  for (std::size_t i = 0; i < static_cast<std::size_t>(equations.rows); ++i) {
    out.c[i] = dot(equations.on_a[i], a) + dot(equations.on_b[i], b);
  }
  return out;
}

/// With p and R of X_AB, x the relative acceleration R α_B − φ*(p)α_A and y what closure_rates() sums up, c is N(x −
/// y); and w = N*f̃ acts on a as −φ(p)w and on b as R*w. In a's axes, where R changes by ω̃R and p by v of the direction;
/// N is constant there but for soft fingers, whose line b holds, and distances.
template <class T>
ClosureChange<T> ClosureAt<T>::of_directions(const ClosureDirection<T>& u) const {
  ClosureChange<T> out;
  const Rotation<T>& R = motion.X_AB.rotation;
  const Vec3<T>& p = motion.X_AB.translation;
  const Vec3<T>& turn = u.between.angular;
  const Vec3<T>& dp = u.between.linear;
  const auto turned = [&](const Motion<T>& x, const Motion<T>& dx) {
    const Motion<T> there = R * x;
    return Motion<T>{cross(turn, there.angular), cross(turn, there.linear)} + R * dx;
  };
  const Motion<T> V_B = R * motion.V_B;
  const Motion<T> dV_B = turned(motion.V_B, u.V_B);
  const Motion<T> alpha_B = R * a_B;
  const Motion<T> dalpha_B = turned(a_B, u.a_B);
  const Vec3<T>& w = motion.V_A.angular;
  const Vec3<T>& dw = u.V_A.angular;
  const Motion<T> x{alpha_B.angular - a_A.angular, alpha_B.linear - a_A.linear - cross(a_A.angular, p)};
  const Motion<T> dx{dalpha_B.angular - u.a_A.angular,
                     dalpha_B.linear - u.a_A.linear - cross(u.a_A.angular, p) - cross(a_A.angular, dp)};
  const Vec3<T> apart = V_B.linear - motion.V_A.linear;
  const Vec3<T> dapart = dV_B.linear - u.V_A.linear;
  Force<T> wrench = Force<T>::zero();
  Force<T> dwrench = Force<T>::zero();
  if (closure.kind == ClosureKind::distance) {
    const Force<T>& N = equations.directions[0];
    const T length = norm(p);
    Vec3<T> N_rate = Vec3<T>::zero();
    if (length > T(0)) {
      const T stretch = dot(N.force, dp);
      const T along = dot(N.force, apart);
      N_rate = (dp - N.force * stretch) * (T(1) / length);
      const T rate = (along * along - squared_norm(apart)) / length;
      const T change = (along * (dot(N_rate, apart) + dot(N.force, dapart)) - dot(apart, dapart)) * (T(2) / length);
      out.c[0] -= change - rate * stretch / length;
    }
    out.c[0] += dot(N.force, dx.linear) + dot(N_rate, x.linear);
    wrench = N * f[0];
    dwrench.force = N_rate * f[0];
  } else {
    const Motion<T> V_r{V_B.angular - w, apart - cross(w, p)};
    const Motion<T> V_r_rate{dV_B.angular - dw, dapart - cross(dw, p) - cross(w, dp)};
    const Motion<T> y{cross(w, V_r.angular), cross(w, apart) + cross(w, V_r.linear)};
    const Motion<T> dy{cross(dw, V_r.angular) + cross(w, V_r_rate.angular),
                       cross(dw, apart + V_r.linear) + cross(w, dapart + V_r_rate.linear)};
    for (std::size_t i = 0; i < static_cast<std::size_t>(equations.rows); ++i) {
      const Force<T>& N = equations.directions[i];
      out.c[i] = dot(N, dx - dy);
      wrench += N * f[i];
      if (closure.kind == ClosureKind::soft_finger && i == 0) {
        const Force<T> N_rate{cross(turn, N.moment), Vec3<T>::zero()};
        out.c[i] += dot(N_rate, x - y);
        dwrench += N_rate * f[i];
      }
    }
  }
  out.on_a = -Force<T>{dwrench.moment + cross(dp, wrench.force) + cross(p, dwrench.force), dwrench.force};
  out.on_b = {R.inverse_times(dwrench.moment - cross(turn, wrench.moment)),
              R.inverse_times(dwrench.force - cross(turn, wrench.force))};
  return out;
}

/// Central differences of sixth order in double precision. Of custom hinges N is any basis of what they do not let
/// move, and may be another one next to here: N N₀* of it is the one that turns least.
template <class T>
ClosureChange<T> ClosureAt<T>::by_differences(const ClosureDirection<T>& u) const {
  constexpr double step = 0x1p-10;
  constexpr std::array<double, 3> weights = {45, -9, 1};
  const auto wide = [](const Motion<T>& x) { return kernels::cast<double>(x); };
  const Motion<double> between = wide(u.between);
  const Transform<double> X = kernels::cast<double>(motion.X_AB);
  ClosureChange<double> sum;
  const auto add = [&](double t, double weight) {
    kernels::ClosureEquations<double> e;
    kernels::closure_velocities<double>(closure,
                                        {{exp(between.angular * t) * X.rotation, X.translation + between.linear * t},
                                         wide(motion.V_A) + wide(u.V_A) * t,
                                         wide(motion.V_B) + wide(u.V_B) * t},
                                        e);
    const Motion<double> there_A = wide(a_A) + wide(u.a_A) * t;
    const Motion<double> there_B = wide(a_B) + wide(u.a_B) * t;
    const auto rows = static_cast<std::size_t>(e.rows);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < rows; ++k) {
        double share = i == k ? 1 : 0;
        if (closure.hinge.type == HingeType::custom) {
          share = dot(e.directions[k].moment, kernels::cast<double>(equations.directions[i].moment)) +
                  dot(e.directions[k].force, kernels::cast<double>(equations.directions[i].force));
        }
        share *= weight;
        sum.c[i] += share * (dot(e.on_a[k], there_A) + dot(e.on_b[k], there_B) - e.rate[k]);
        sum.on_a += e.on_a[k] * (share * static_cast<double>(f[i]));
        sum.on_b += e.on_b[k] * (share * static_cast<double>(f[i]));
      }
    }
  };
  for (int m = 1; m <= 3; ++m) {
    const double weight = weights[static_cast<std::size_t>(m - 1)] / (60 * step);
    add(m * step, weight);
    add(-m * step, -weight);
  }
  ClosureChange<T> out;
  std::ranges::transform(sum.c, out.c.begin(), [](double each) { return static_cast<T>(each); });
  out.on_a = {kernels::cast<T>(sum.on_a.moment), kernels::cast<T>(sum.on_a.force)};
  out.on_b = {kernels::cast<T>(sum.on_b.moment), kernels::cast<T>(sum.on_b.force)};
  return out;
}

/// The closure forces of all rows.
template <class T>
ClosureNumbers<T> forces_of(const ClosedClosure<T>& c) {
  ClosureNumbers<T> out{};
  for (int r = 0; r < c.active; ++r) {
    out[static_cast<std::size_t>(c.row[static_cast<std::size_t>(r)])] = c.force.x[r];
  }
  return out;
}

/// ∂g and ∂c of what ties two hinge coordinates: c = θ̈_a − p′θ̈_b − p″θ̇_b², where g has f̃ at a and −p′f̃ at b.
template <class T>
void add_coupling(ClosedData<T>& d, ClosedDerivatives<T>& w, const ClosedClosure<T>& c) {
  if (c.b.velocity < 0) {
    return;
  }
  const ClosedMember<T>& m = d.member(c.b.member);
  StateData<T>& s = d.member(c.b.member).state.data();
  const auto velocity = static_cast<std::size_t>(c.b.velocity);
  const kernels::Follower<T>& follower = s.coordinates.velocities[velocity];
  const Eigen::Index place = m.first_v + follower.own;
  const std::array<double, 5>& p = c.closure.polynomial;
  const double x = static_cast<double>(s.q[static_cast<std::size_t>(c.b.position)]) - c.closure.reference_b;
  const T second = static_cast<T>(2 * p[2] + x * (6 * p[3] + x * 12 * p[4]));
  const T third = static_cast<T>(6 * p[3] + x * 24 * p[4]);
  const T rate = s.v()[velocity];
  const T acceleration = w.full[static_cast<std::size_t>(c.b.member)][velocity];
  w.c_q(c.first, place) -= follower.ratio * (second * acceleration + third * rate * rate);
  w.c_v(c.first, place) -= follower.ratio * T(2) * second * rate;
  w.g_q(place, place) -= follower.ratio * follower.ratio * second * forces_of(c)[0];
}

/// ∂g by closures' directions and ∂c of a closure between nodes. O(d²).
template <class T>
void add_closure_changes(ClosedData<T>& d, ClosedDerivatives<T>& w, ClosedClosure<T>& c) {
  move_node(d, w, c.a.member, c.closure.a, w.nodes[0]);
  move_node(d, w, c.b.member, c.closure.b, w.nodes[1]);
  const ClosureAt<T> here{c.closure, c.equations, d.motion(c, true), w.nodes[0].alpha, w.nodes[1].alpha, forces_of(c)};
  const Rotation<T>& R = here.motion.X_AB.rotation;
  const Vec3<T>& p = here.motion.X_AB.translation;
  const auto rows = static_cast<std::size_t>(c.equations.rows);
  for (const bool second : {false, true}) {
    for (NodeColumn<T>& column : w.nodes[second ? 1 : 0].columns) {
      ClosureDirection<T> by_q;
      ClosureDirection<T> by_v;
      if (second) {
        by_q = {.between = R * column.H, .V_B = column.V_q, .a_B = column.a_q};
        by_v = {.V_B = column.H, .a_B = column.a_v};
      } else {
        by_q = {.between = {-column.H.angular, -column.H.linear - cross(column.H.angular, p)},
                .V_A = column.V_q,
                .a_A = column.a_q};
        by_v = {.V_A = column.H, .a_A = column.a_v};
      }
      const ClosureChange<T> change = here.along(by_q);
      const ClosureChange<T> faster = here.along(by_v);
      for (std::size_t i = 0; i < rows; ++i) {
        w.c_q(c.first + static_cast<Eigen::Index>(i), column.place) += column.ratio * change.c[i];
        w.c_v(c.first + static_cast<Eigen::Index>(i), column.place) += column.ratio * faster.c[i];
      }
      column.on_a_q = change.on_a;
      column.on_b_q = change.on_b;
    }
  }
  for (const NodeMotion<T>& by : w.nodes) {
    for (const NodeColumn<T>& j : by.columns) {
      for (const NodeColumn<T>& i : w.nodes[0].columns) {
        w.g_q(i.place, j.place) += i.ratio * j.ratio * dot(i.H, j.on_a_q);
      }
      for (const NodeColumn<T>& i : w.nodes[1].columns) {
        w.g_q(i.place, j.place) += i.ratio * j.ratio * dot(i.H, j.on_b_q);
      }
    }
  }
}

/// ∂g, but for closures' directions, and 𝓜: closure forces as forces from outside that the nodes hold.
template <class T>
void differentiate_members(ClosedData<T>& d, ClosedDerivatives<T>& w) {
  w.g_q.setZero();
  w.g_v.setZero();
  w.L.setZero();
  for (std::size_t i = 0; i < d.members.size(); ++i) {
    ClosedMember<T>& m = *d.members[i];
    if (!m.present) {
      continue;
    }
    w.forces.clear();
    for (const auto& each : d.closures) {
      const ClosedClosure<T>& c = *each;
      if (!c.present || c.closure.kind == ClosureKind::hinges) {
        continue;
      }
      const ClosureNumbers<T> f = forces_of(c);
      for (const bool second : {false, true}) {
        if (static_cast<std::size_t>((second ? c.b : c.a).member) != i) {
          continue;
        }
        Force<T> sum = Force<T>::zero();
        for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
          sum -= (second ? c.equations.on_b : c.equations.on_a)[r] * f[r];
        }
        w.forces.emplace_back(second ? c.closure.b : c.closure.a, sum, Frame::node);
      }
    }
    const Eigen::Index n = m.state.model().nv();
    const Eigen::Index first = m.first_v;
    inverse_dynamics_derivatives<T>(m.state, w.acceleration.segment(first, n), w.g_q.block(first, first, n, n),
                                    w.g_v.block(first, first, n, n), w.L.block(first, first, n, n), w.forces);
    sweep_member(w, i, m);
  }
}

/// L of 𝓜 = LL* in place, the lower triangle.
template <class T>
void factor_mass(MatrixX<T>& L) {
  const Eigen::Index n = L.rows();
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index k = 0; k < j; ++k) {
      if (L(j, k) != T(0)) {  // none between members
        L.col(j).tail(n - j) -= L.col(k).tail(n - j) * L(j, k);
      }
    }
    L.col(j).tail(n - j) *= T(1) / std::sqrt(L(j, j));
  }
}

/// 𝔟 of the rows that step D solves for, scaled as there, and its orthogonal factors.
template <class T>
void factor_closures(BasicClosedSystem<T>& system, ClosedData<T>& d, ClosedDerivatives<T>& w) {
  closure_jacobian<T>(system, w.Y);
  w.rows.assign(static_cast<std::size_t>(d.solved), 0);
  for (const auto& c : d.closures) {
    for (int r = 0; c->present && r < c->active; ++r) {
      w.rows[static_cast<std::size_t>(c->solved + r)] = c->first + c->row[static_cast<std::size_t>(r)];
    }
  }
  for (std::size_t i = 0; i < w.rows.size(); ++i) {
    const auto to = static_cast<Eigen::Index>(i);
    w.x = w.Y.row(w.rows[i]).transpose() * (T(1) / d.scale[static_cast<std::size_t>(w.rows[i])]);
    w.L.template triangularView<Eigen::Lower>().solveInPlace(w.x);
    w.b.col(to) = w.x;
  }
  if (d.solved > 0) {
    w.qr.compute(w.b);
  }
}

/// Solves for ∂θ̈, which takes the place of ∂T − ∂g in w.x, and unless null ∂f̃ of all rows, with −∂c in w.s, of the
/// rows solved for and scaled. With 𝔟P = QR of rank r and η = L*∂θ̈ = L⁻¹(∂T − ∂g) − 𝔟∂f̃: of Q*η the first r numbers
/// solve R*· = −P*∂c, the others are those of Q*L⁻¹(∂T − ∂g).
template <class T>
void solve_changes(const ClosedData<T>& d, ClosedDerivatives<T>& w, T* force) {
  const Eigen::Index n = d.nv;
  const Eigen::Index rank = d.solved > 0 ? d.report.rank : 0;
  w.L.template triangularView<Eigen::Lower>().solveInPlace(w.x);
  const auto reflect = [&](Eigen::Index k) {
    w.x.tail(n - k).applyHouseholderOnTheLeft(w.qr.matrixQR().col(k).tail(n - k - 1), w.qr.hCoeffs()(k),
                                              w.workspace.data());
  };
  for (Eigen::Index k = 0; k < rank; ++k) {
    reflect(k);
  }
  for (Eigen::Index i = 0; i < rank; ++i) {  // from what closures ask
    T sum = w.s(w.qr.colsPermutation().indices()(i));
    for (Eigen::Index k = 0; k < i; ++k) {
      sum -= w.qr.matrixQR()(k, i) * w.workspace(k);
    }
    w.workspace(i) = sum / w.qr.matrixQR()(i, i);
  }
  for (Eigen::Index i = 0; i < rank; ++i) {
    std::swap(w.x(i), w.workspace(i));
    w.workspace(i) -= w.x(i);
  }
  if (force != nullptr) {
    std::fill_n(force, d.rows, T(0));
    for (Eigen::Index i = rank - 1; i >= 0; --i) {
      for (Eigen::Index k = i + 1; k < rank; ++k) {
        w.workspace(i) -= w.qr.matrixQR()(i, k) * w.workspace(k);
      }
      w.workspace(i) /= w.qr.matrixQR()(i, i);
      const auto row = static_cast<std::size_t>(w.rows[static_cast<std::size_t>(w.qr.colsPermutation().indices()(i))]);
      force[row] = w.workspace(i) / d.scale[row];
    }
  }
  for (Eigen::Index k = rank - 1; k >= 0; --k) {
    reflect(k);
  }
  w.L.template triangularView<Eigen::Lower>().transpose().solveInPlace(w.x);
}

template <class T>
using ThreeSpans = std::array<detail::MatrixSpan<T>, 3>;

template <class T>
const ClosureReport& differentiate_closed(BasicClosedSystem<T>& system, In<T> torques, const ThreeSpans<T>& out,
                                          const ThreeSpans<T>* forces) {
  ClosedData<T>& d = system.data();
  if (d.derivatives == nullptr) {
    d.derivatives = std::make_shared<ClosedDerivatives<T>>();
  }
  ClosedDerivatives<T>& w = *d.derivatives;
  w.acceleration.resize(d.nv);
  closed_forward_dynamics<T>(system, torques, w.acceleration);
  if (d.report.singular) {
    throw SingularError(fmt::format(
        "the closures are singular here: {} of their equations are independent, {} near by, and accelerations have no "
        "derivative",
        d.report.rank, d.report.generic_rank));
  }
  if (forces != nullptr && d.report.rank < d.solved) {
    throw Error(fmt::format("the forces of closures {} are not unique: ask for the derivatives of accelerations alone",
                            fmt::join(d.report.redundant, ", ")));
  }
  w.resize(d);
  d.evaluate(false);
  differentiate_members(d, w);
  w.c_q.setZero();
  w.c_v.setZero();
  for (const auto& c : d.closures) {
    if (c->present) {
      c->closure.kind == ClosureKind::hinges ? add_coupling(d, w, *c) : add_closure_changes(d, w, *c);
    }
  }
  factor_mass(w.L);
  factor_closures(system, d, w);
  for (std::size_t which = 0; which < 3; ++which) {
    for (Eigen::Index j = 0; j < d.nv; ++j) {
      w.s.setZero();
      if (which == 2) {
        w.x.setZero();
        w.x(j) = T(1);
      } else {
        w.x = -(which == 0 ? w.g_q : w.g_v).col(j);
        for (std::size_t i = 0; i < w.rows.size(); ++i) {
          w.s(static_cast<Eigen::Index>(i)) =
              -(which == 0 ? w.c_q : w.c_v)(w.rows[i], j) / d.scale[static_cast<std::size_t>(w.rows[i])];
        }
      }
      solve_changes(d, w, forces == nullptr ? nullptr : (*forces)[which].column(j).data());
      std::copy_n(w.x.data(), d.nv, out[which].column(j).data());
    }
  }
  return d.report;
}

template <class T>
ThreeSpans<T> wanted_three(MatrixOut<T> dq, MatrixOut<T> dv, MatrixOut<T> dtau, std::ptrdiff_t rows,
                           std::ptrdiff_t cols) {
  return {detail::wanted(dq, rows, cols, "the derivative by q"), detail::wanted(dv, rows, cols, "the derivative by v"),
          detail::wanted(dtau, rows, cols, "the derivative by tau")};
}

}  // namespace

template <class T>
const ClosureReport& closed_forward_dynamics_derivatives(BasicClosedSystem<T>& system, In<T> torques, MatrixOut<T> dq,
                                                         MatrixOut<T> dv, MatrixOut<T> dtau) {
  const ThreeSpans<T> out = wanted_three<T>(dq, dv, dtau, system.nv(), system.nv());
  return differentiate_closed<T>(system, torques, out, nullptr);
}

template <class T>
const ClosureReport& closed_forward_dynamics_derivatives(BasicClosedSystem<T>& system, In<T> torques, MatrixOut<T> dq,
                                                         MatrixOut<T> dv, MatrixOut<T> dtau, MatrixOut<T> force_dq,
                                                         MatrixOut<T> force_dv, MatrixOut<T> force_dtau) {
  const ThreeSpans<T> out = wanted_three<T>(dq, dv, dtau, system.nv(), system.nv());
  const ThreeSpans<T> forces = wanted_three<T>(force_dq, force_dv, force_dtau, system.rows(), system.nv());
  return differentiate_closed<T>(system, torques, out, &forces);
}

#define BUNRAKU_CLOSED_DERIVATIVES(T)                                                                           \
  template const ClosureReport& closed_forward_dynamics_derivatives(BasicClosedSystem<T>&, In<T>, MatrixOut<T>, \
                                                                    MatrixOut<T>, MatrixOut<T>);                \
  template const ClosureReport& closed_forward_dynamics_derivatives(BasicClosedSystem<T>&, In<T>, MatrixOut<T>, \
                                                                    MatrixOut<T>, MatrixOut<T>, MatrixOut<T>,   \
                                                                    MatrixOut<T>, MatrixOut<T>);
BUNRAKU_CLOSED_DERIVATIVES(double)
BUNRAKU_CLOSED_DERIVATIVES(float)
#undef BUNRAKU_CLOSED_DERIVATIVES

}  // namespace bunraku
