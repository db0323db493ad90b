/// @file
/// Procedures of forward dynamics: D1, D2, L1.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include "bunraku/dynamics/forward_dynamics.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "papers/procedures.hpp"

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

std::size_t at(int k) {
  return static_cast<std::size_t>(k);
}

// ---------------------------------------------------------------------------------------------------------------------
// D1: the four algorithms, link by link. Only φ(p,k), H(k), M(k), a(k), b(k) and the nodes are used.

/// What the algorithms share: (34)–(39).
struct Links {
  explicit Links(const Sample& sample)
      : dense(sample.dense()), a(dense.a()), b(dense.b()), tip(dense.B() * sample.y()) {
    const int n = dense.bodies();
    for (int k = 0; k < n; ++k) {
      phi.push_back(force_matrix(dense.axes_in_parent(k), dense.origin_in_parent(k)));
      P.push_back(dense.inertia(k));
    }
    D.resize(at(n));
    G.resize(at(n));
    open.resize(at(n));
    psi.resize(at(n));
    for (int k = n - 1; k >= 0; --k) {
      const MatrixXd& H = dense.joint_map(k);  // H*
      D[at(k)] = H.transpose() * P[at(k)] * H;
      G[at(k)] = MatrixXd::Zero(6, H.cols());
      if (H.cols() > 0) {
        G[at(k)] = D[at(k)].llt().solve(H.transpose() * P[at(k)]).transpose();
      }
      open[at(k)] = Matrix6::Identity() - G[at(k)] * H.transpose();
      psi[at(k)] = phi[at(k)] * open[at(k)];
      if (const int p = dense.parent(k); p != world) {
        P[at(p)] += psi[at(k)] * P[at(k)] * psi[at(k)].transpose();
      }
    }
  }

  /// z(k) = local(k) + Σ over its children step(c) z(c) + carried(c).
  std::vector<Vector6> inward(const std::vector<Matrix6>& step, const std::function<Vector6(int)>& local,
                              const std::function<Vector6(int)>& carried) const {
    std::vector<Vector6> z(P.size(), Vector6::Zero());
    for (int k = dense.bodies() - 1; k >= 0; --k) {
      z[at(k)] += local(k);
      if (const int p = dense.parent(k); p != world) {
        z[at(p)] += step[at(k)] * z[at(k)] + carried(k);
      }
    }
    return z;
  }
  /// ζ = φ*a.
  std::vector<Vector6> outward_biases() const {
    std::vector<Vector6> zeta;
    for (int k = 0; k < dense.bodies(); ++k) {
      zeta.emplace_back(a.segment<6>(6 * k));
      if (const int p = dense.parent(k); p != world) {
        zeta.back() += phi[at(k)].transpose() * zeta[at(p)];
      }
    }
    return zeta;
  }
  VectorXd hinge(const VectorXd& x, int k) const { return x.segment(dense.first(k), dense.count(k)); }

  const Dense& dense;
  VectorXd a;
  VectorXd b;
  VectorXd tip;
  std::vector<Matrix6> phi;
  std::vector<Matrix6> P;
  std::vector<MatrixXd> D;
  std::vector<MatrixXd> G;
  std::vector<Matrix6> open;
  std::vector<Matrix6> psi;
};

struct Motions {
  VectorXd hinges;
  VectorXd bodies;
};

/// ε of an algorithm: what is left of T at each hinge.
VectorXd innovations(const Links& links, int which, const VectorXd& T) {
  const Dense& dense = links.dense;
  const std::vector<Vector6> zeta = links.outward_biases();
  const auto none = [](int) -> Vector6 { return Vector6::Zero(); };
  const auto body_force = [&](int k) -> Vector6 {
    return dense.inertia(k) * zeta[at(k)] + links.b.segment<6>(6 * k) + links.tip.segment<6>(6 * k);
  };
  const auto gained = [&](const VectorXd& torques, int k) -> Vector6 {
    return links.phi[at(k)] * links.G[at(k)] * links.hinge(torques, k);
  };
  VectorXd left = T;
  std::vector<Vector6> z;
  if (which <= 2) {  // (49)–(51)
    const std::vector<Vector6> f = links.inward(links.phi, body_force, none);
    for (int k = 0; k < dense.bodies(); ++k) {
      left.segment(dense.first(k), dense.count(k)) -= dense.joint_map(k).transpose() * f[at(k)];
    }
    const VectorXd free = left;
    z = links.inward(links.psi, none, [&](int k) { return gained(free, k); });
  } else if (which == 3) {  // (63)–(65)
    z = links.inward(links.psi, none,
                     [&](int k) -> Vector6 { return links.psi[at(k)] * body_force(k) + gained(T, k); });
    for (int k = 0; k < dense.bodies(); ++k) {
      z[at(k)] += body_force(k);
    }
  } else {  // (70)–(71)
    z = links.inward(
        links.psi, [&](int k) -> Vector6 { return links.b.segment<6>(6 * k) + links.tip.segment<6>(6 * k); },
        [&](int k) -> Vector6 { return links.psi[at(k)] * links.P[at(k)] * links.a.segment<6>(6 * k) + gained(T, k); });
  }
  for (int k = 0; k < dense.bodies(); ++k) {
    left.segment(dense.first(k), dense.count(k)) -= dense.joint_map(k).transpose() * z[at(k)];
  }
  return left;
}

Motions forward(const Links& links, int which, const VectorXd& T) {
  const Dense& dense = links.dense;
  const VectorXd left = innovations(links, which, T);
  const std::vector<Vector6> zeta = links.outward_biases();
  Motions out{VectorXd(T.size()), VectorXd(6 * dense.bodies())};
  std::vector<Vector6> lambda;
  for (int k = 0; k < dense.bodies(); ++k) {  // (53)–(54), (72)–(73)
    const int p = dense.parent(k);
    const MatrixXd& H = dense.joint_map(k);
    const Vector6 a = which == 4 ? Vector6(links.a.segment<6>(6 * k)) : Vector6::Zero();
    const Vector6 carried = p == world ? Vector6::Zero() : Vector6(links.phi[at(k)].transpose() * lambda[at(p)]);
    VectorXd nu(H.cols());
    if (H.cols() > 0) {
      nu = links.D[at(k)].llt().solve(links.hinge(left, k));
    }
    lambda.emplace_back(links.open[at(k)].transpose() * (carried + a) + H * nu);
    out.hinges.segment(dense.first(k), dense.count(k)) = nu - links.G[at(k)].transpose() * (carried + a);
    out.bodies.segment<6>(6 * k) = which == 4 ? lambda.back() : Vector6(lambda.back() + zeta[at(k)]);
  }
  return out;
}

/// The same of the library: θ̈, and α where it has it on the way, gravity taken out.
double library_residual(Sample& sample, int which, const VectorXd& T) {
  const Dense& dense = sample.dense();
  const Instant& now = dense.instant();
  constexpr std::array algorithms = {ForwardAlgorithm::fd1, ForwardAlgorithm::fd2, ForwardAlgorithm::fd3,
                                     ForwardAlgorithm::fd4};
  State state(now.model, PassiveForces::left_out);
  state.set(now.q, now.v);
  std::vector<AppliedForce<double>> forces;
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {  // the papers' f(0) acts on the environment
    const Vector6 y = -sample.y().segment<6>(6 * static_cast<int>(i));
    forces.emplace_back(now.nodes[i], Force<double>{{y[0], y[1], y[2]}, {y[3], y[4], y[5]}}, Frame::node);
  }
  VectorXd found(T.size());
  std::vector<Motion<double>> links(which % 2 == 0 ? at(dense.bodies()) : 0);
  forward_dynamics_by(algorithms[at(which - 1)], state, T, found, forces, links);
  double worst = residual(found, now.a);
  if (!links.empty()) {
    VectorXd alpha(6 * dense.bodies());
    for (int k = 0; k < dense.bodies(); ++k) {
      alpha.segment<6>(6 * k) = to_eigen(links[at(k)]);
    }
    worst = std::max(worst, residual(alpha + dense.phi().transpose() * dense.a_gravity(), dense.alpha()));
  }
  return worst;
}

double algorithm(Sample& sample, int which) {
  const Dense& dense = sample.dense();
  const VectorXd pushed = dense.jacobian().transpose() * sample.y();
  const VectorXd T = dense.torques() + pushed;
  const Motions found = forward(Links(sample), which, T);
  const VectorXd solved = sample.mass().llt().solve(T - pushed - dense.bias());
  return std::max({residual(found.hinges, solved), residual(found.hinges, dense.instant().a),
                   residual(found.bodies, dense.alpha()), library_residual(sample, which, T),
                   residual(dense.B().transpose() * found.bodies + dense.node_a(), dense.node_alpha())});
}

// ---------------------------------------------------------------------------------------------------------------------
// D2: V of an earlier time in a and b.

/// θ̈ without torques at a state; a and b from V where that is given.
VectorXd fall(const Instant& instant, const VectorXd* V) {
  const Dense dense(instant);
  const VectorXd now = V == nullptr ? dense.V() : *V;
  const VectorXd across = now - dense.E_phi().transpose() * now;
  VectorXd a = dense.a_gravity();
  VectorXd b(now.size());
  VectorXd turned(now.size());
  for (int k = 0; k < dense.bodies(); ++k) {
    Vector6 turning = now.segment<6>(6 * k);
    turning.tail<3>().setZero();
    a.segment<6>(6 * k) += cross_matrix(now.segment<6>(6 * k)) * across.segment<6>(6 * k);
    turned.segment<6>(6 * k) = cross_matrix(turning) * now.segment<6>(6 * k);
    b.segment<6>(6 * k) = -cross_matrix(turning).transpose() * dense.inertia(k) * turning;
  }
  a += turned - dense.E_phi().transpose() * turned;
  const MatrixXd gather = dense.H() * dense.phi();
  return dense.mass_matrix().llt().solve(-gather * (dense.M() * (dense.phi().transpose() * a) + b));
}

/// Where a free fall of a quarter of a second ends, by RK4 in steps of h; with V of the step before throughout a step
/// where `delayed`.
VectorXd fallen(const Instant& start, double h, bool delayed) {
  Instant now = start;
  VectorXd V = Dense(now).V();
  const int steps = static_cast<int>(std::lround(0.25 / h));
  for (int i = 0; i < steps; ++i) {
    const VectorXd own = Dense(now).V();
    const auto rate = [&](double t, const VectorXd& v, const VectorXd& a) {
      Instant then = now;
      then.q += t * v;  // one freedom a hinge
      then.v += t * a;
      return std::pair<VectorXd, VectorXd>(then.v, fall(then, delayed ? &V : nullptr));
    };
    const auto [v1, a1] = rate(0, now.v, now.v);
    const auto [v2, a2] = rate(h / 2, v1, a1);
    const auto [v3, a3] = rate(h / 2, v2, a2);
    const auto [v4, a4] = rate(h, v3, a3);
    now.q += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
    now.v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    V = own;
  }
  return now.q;
}

/// The order of the error at the end, from two steps against a much smaller one.
double order(const Instant& start, double h, bool delayed) {
  const VectorXd end = fallen(start, 1.0 / 256, false);
  return std::log2((fallen(start, h, delayed) - end).norm() / (fallen(start, h / 2, delayed) - end).norm());
}

// ---------------------------------------------------------------------------------------------------------------------
// L1: (I − HΨG)T' at the levels of RK92 Fig. 3.

/// What a step of the inward recursion adds to the parent: from z(k) and u(k).
using Step = std::function<Vector6(int k, const Vector6& z, const VectorXd& u)>;

VectorXd filtered(const Sample& sample, const VectorXd& u, const Step& step) {
  const Dense& dense = sample.dense();
  VectorXd out = u;
  std::vector<Vector6> z(at(dense.bodies()), Vector6::Zero());
  for (int k = dense.bodies() - 1; k >= 0; --k) {
    const VectorXd own = u.segment(dense.first(k), dense.count(k));
    out.segment(dense.first(k), dense.count(k)) -= dense.joint_map(k).transpose() * z[at(k)];
    if (const int p = dense.parent(k); p != world) {
      z[at(p)] += step(k, z[at(k)], own);
    }
  }
  return out;
}

/// T' = T − 𝓒.
MatrixXd free_torques(const Sample& sample) {
  return sample.dense().torques() - sample.dense().bias();
}

/// At level 1.
MatrixXd whole(const Sample& sample) {
  return sample.apply(parse(expand("I-H*Psi92*G")), free_torques(sample));
}

MatrixXd applied(const Sample& sample, const char* text, const MatrixXd& x) {
  return sample.apply(parse(expand(text)), x);
}

/// Level 7: z − G(Hz − u), turned and moved to the parent as 3-vectors.
Vector6 by_coordinates(const Dense& dense, const MatrixXd& G, int k, const Vector6& z, const VectorXd& u) {
  const Vector6 x = z - G * (dense.joint_map(k).transpose() * z - u);
  const Eigen::Vector3d moment = dense.axes_in_parent(k) * x.head<3>();
  const Eigen::Vector3d force = dense.axes_in_parent(k) * x.tail<3>();
  Vector6 out;
  out << moment + dense.origin_in_parent(k).cross(force), force;
  return out;
}

/// G(k) out of the whole G.
MatrixXd block_of(const Dense& dense, const MatrixXd& G, int k) {
  return G.block(6 * k, dense.first(k), 6, dense.count(k));
}

}  // namespace

double algorithm_1(Sample& sample) {
  return algorithm(sample, 1);
}
double algorithm_2(Sample& sample) {
  return algorithm(sample, 2);
}
double algorithm_3(Sample& sample) {
  return algorithm(sample, 3);
}
double algorithm_4(Sample& sample) {
  return algorithm(sample, 4);
}

double delay_is_first_order(Sample& sample) {
  Instant now = sample.dense().instant();
  now.a = fall(now, nullptr);
  const auto error = [&](double h) {
    const VectorXd earlier = Dense(later(now, -h)).V();
    return (fall(now, &earlier) - now.a).norm();
  };
  return std::max(std::abs(error(2e-3) / error(1e-3) - 2), std::abs(error(1e-3) / error(5e-4) - 2));
}

double delayed_order(Sample& sample) {
  return std::abs(order(sample.dense().instant(), 1.0 / 64, true) - 1);
}
double undelayed_order(Sample& sample) {
  return std::abs(order(sample.dense().instant(), 1.0 / 32, false) - 4);
}

double level_2(Sample& sample) {
  const MatrixXd u = free_torques(sample);
  const MatrixXd z = applied(sample, "Psi92", applied(sample, "G", u));
  return residual(u - applied(sample, "H", z), whole(sample));
}

double level_3(Sample& sample) {
  const MatrixXd u = free_torques(sample);
  const MatrixXd z = applied(sample, "psi", applied(sample, "E_phi", applied(sample, "G", u)));
  return residual(u - applied(sample, "H", z), whole(sample));
}

double level_4(Sample& sample) {
  const Dense& dense = sample.dense();
  const MatrixXd step_psi = sample.matrix("E_psi");
  const MatrixXd K = sample.matrix("E_phi*G");
  const Step step = [&](int k, const Vector6& z, const VectorXd& u) -> Vector6 {
    const int p = dense.parent(k);
    return step_psi.block<6, 6>(6 * p, 6 * k) * z + K.block(6 * p, dense.first(k), 6, dense.count(k)) * u;
  };
  return residual(filtered(sample, free_torques(sample), step), whole(sample));
}

double level_5(Sample& sample) {
  const Dense& dense = sample.dense();
  const MatrixXd psi = sample.matrix("psi");
  const MatrixXd phi = sample.matrix("phi");
  const MatrixXd G = sample.matrix("G");
  const Step step = [&](int k, const Vector6& z, const VectorXd& u) -> Vector6 {
    const int p = dense.parent(k);
    return psi.block<6, 6>(6 * p, 6 * k) * z + phi.block<6, 6>(6 * p, 6 * k) * (block_of(dense, G, k) * u);
  };
  return residual(filtered(sample, free_torques(sample), step), whole(sample));
}

double level_6(Sample& sample) {
  const Dense& dense = sample.dense();
  const MatrixXd phi = sample.matrix("Delta_phi");
  const MatrixXd G = sample.matrix("G");
  const Step step = [&](int k, const Vector6& z, const VectorXd& u) -> Vector6 {
    return phi.block<6, 6>(6 * k, 6 * k) * (z - block_of(dense, G, k) * (dense.joint_map(k).transpose() * z - u));
  };
  return residual(filtered(sample, free_torques(sample), step), whole(sample));
}

double level_7(Sample& sample) {
  const Dense& dense = sample.dense();
  const MatrixXd G = sample.matrix("G");
  const Step step = [&](int k, const Vector6& z, const VectorXd& u) {
    return by_coordinates(dense, block_of(dense, G, k), k, z, u);
  };
  return residual(filtered(sample, free_torques(sample), step), whole(sample));
}

double level_7_accelerations(Sample& sample) {
  const Dense& dense = sample.dense();
  const MatrixXd G = sample.matrix("G");
  const MatrixXd D = sample.matrix("D");
  const VectorXd left = filtered(sample, free_torques(sample), [&](int k, const Vector6& z, const VectorXd& u) {
    return by_coordinates(dense, block_of(dense, G, k), k, z, u);
  });
  VectorXd found(left.size());
  std::vector<Vector6> lambda;
  for (int k = 0; k < dense.bodies(); ++k) {
    Vector6 carried = Vector6::Zero();
    if (const int p = dense.parent(k); p != world) {
      const Eigen::Matrix3d back = dense.axes_in_parent(k).transpose();
      const Eigen::Vector3d w = lambda[at(p)].head<3>();
      const Eigen::Vector3d v = lambda[at(p)].tail<3>();
      carried << back * w, back * (v + w.cross(dense.origin_in_parent(k)));
    }
    const int i = dense.first(k);
    const int n = dense.count(k);
    lambda.push_back(carried);
    if (n > 0) {
      found.segment(i, n) =
          D.block(i, i, n, n).llt().solve(left.segment(i, n)) - block_of(dense, G, k).transpose() * carried;
      lambda.back() += dense.joint_map(k) * found.segment(i, n);
    }
  }
  return residual(found, dense.instant().a);
}

}  // namespace bunraku::cli::papers
