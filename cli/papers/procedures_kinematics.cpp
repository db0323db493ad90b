/// @file
/// Procedures of kinematics and inverse dynamics: K3 to K6, I1, I2.
#include <algorithm>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/QR>

#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "papers/procedures.hpp"

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// ω and v of all bodies in the world's axes, one below the other.
MatrixXd world_velocities(const Dense& dense) {
  VectorXd out(6 * dense.bodies());
  for (int k = 0; k < dense.bodies(); ++k) {
    out.segment<6>(6 * k) << dense.rates().w[static_cast<std::size_t>(k)], dense.rates().v[static_cast<std::size_t>(k)];
  }
  return out;
}

/// 6-vectors of the world's axes, one a body, in the bodies'.
VectorXd in_bodies(const Dense& dense, const VectorXd& x) {
  VectorXd out(x.size());
  for (int k = 0; k < dense.bodies(); ++k) {
    out.segment<3>(6 * k) = dense.axes(k).transpose() * x.segment<3>(6 * k);
    out.segment<3>(6 * k + 3) = dense.axes(k).transpose() * x.segment<3>(6 * k + 3);
  }
  return out;
}

/// dV/dt in the bodies' axes.
VectorXd velocity_slope(const Dense& dense) {
  return in_bodies(dense, slope([&](double t) { return world_velocities(Dense(later(dense.instant(), t))); }));
}

/// The axes of each node in the world, twice on the diagonal.
MatrixXd node_axes(const Dense& dense) {
  const std::vector<Node>& nodes = dense.instant().nodes;
  MatrixXd out = MatrixXd::Zero(6 * static_cast<int>(nodes.size()), 6 * static_cast<int>(nodes.size()));
  int i = 0;
  for (const Node& node : nodes) {
    out.block<3, 3>(i, i) = out.block<3, 3>(i + 3, i + 3) = dense.axes(node.body) * to_eigen(node.X_BN.rotation);
    i += 6;
  }
  return out;
}

/// Moved a little along one velocity coordinate, at rest.
Instant shifted(const Instant& now, int coordinate, double t) {
  Instant out = now;
  out.q = integrate(now.model, now.q, VectorXd::Unit(now.model.nv(), coordinate), t);
  return out;
}

/// Momenta of all bodies about their origins in the world's axes: m v_c, and I_c ω + c × m v_c.
MatrixXd momenta(const Dense& dense) {
  VectorXd out(6 * dense.bodies());
  for (int k = 0; k < dense.bodies(); ++k) {
    const RigidInertia<double>& inertia = dense.instant().model.body(k).inertia;
    const Eigen::Vector3d c = dense.axes(k) * to_eigen(inertia.center());
    const Eigen::Vector3d& w = dense.rates().w[static_cast<std::size_t>(k)];
    const Eigen::Vector3d p = inertia.mass * (dense.rates().v[static_cast<std::size_t>(k)] + w.cross(c));
    out.segment<6>(6 * k) << dense.axes(k) * (to_eigen(inertia.central()) * (dense.axes(k).transpose() * w)) +
                                 c.cross(p),
        p;
  }
  return out;
}

/// Λ(q): q̇ = Λω for ω in the child's axes.
Eigen::Matrix<double, 4, 3> quaternion_map(const Eigen::Vector4d& q) {
  Eigen::Matrix<double, 4, 3> out;
  out << -q.tail<3>().transpose(), q[0] * Eigen::Matrix3d::Identity() + tilde(q.tail<3>());
  return out / 2;
}

/// Λ(q) of the base's quaternion: what a step of the library makes of each unit ω, by differences.
MatrixXd stepped_map(const Instant& now) {
  MatrixXd out(4, 3);
  for (int j = 0; j < 3; ++j) {
    const VectorXd unit = VectorXd::Unit(now.model.nv(), j);
    out.col(j) = slope([&](double t) -> MatrixXd { return integrate(now.model, now.q, unit, t).head<4>(); });
  }
  return out;
}

}  // namespace

MatrixXd slope(const std::function<MatrixXd(double)>& f, double h) {
  const auto difference = [&](int i) -> MatrixXd { return f(i * h) - f(-i * h); };
  return (difference(1) * (4.0 / 5) - difference(2) / 5 + difference(3) * (4.0 / 105) - difference(4) / 280) / h;
}

double alpha_by_differences(Sample& sample) {
  return residual(sample.matrix("alpha-~phi*a_g"), velocity_slope(sample.dense()));
}

double jacobian_rate_by_differences(Sample& sample) {
  const Dense& dense = sample.dense();
  const MatrixXd rate = slope([&](double t) -> MatrixXd {
    const Dense then(later(dense.instant(), t));
    return node_axes(then) * then.jacobian();
  });
  return residual(sample.matrix("~B*~phi*(a-a_g)+a0"), node_axes(dense).transpose() * rate * dense.instant().v);
}

double jacobian_by_differences(Sample& sample) {
  const Dense& dense = sample.dense();
  const Instant& now = dense.instant();
  MatrixXd expected(6 * static_cast<int>(now.nodes.size()), now.model.nv());
  int row = 0;
  for (const Node& node : now.nodes) {
    const auto pose = [&](const Dense& at) {
      Eigen::Matrix4d out = Eigen::Matrix4d::Identity();
      out.topLeftCorner<3, 3>() = at.axes(node.body) * to_eigen(node.X_BN.rotation);
      out.topRightCorner<3, 1>() = at.origin(node.body) + at.axes(node.body) * to_eigen(node.X_BN.translation);
      return out;
    };
    const Eigen::Matrix4d inverse = pose(dense).inverse();
    for (int j = 0; j < now.model.nv(); ++j) {
      const MatrixXd rate = slope([&](double t) -> MatrixXd { return inverse * pose(Dense(shifted(now, j, t))); });
      expected.block<6, 1>(row, j) << rate(2, 1), rate(0, 2), rate(1, 0), rate(0, 3), rate(1, 3), rate(2, 3);
    }
    row += 6;
  }
  return residual(sample.matrix("~B*~phi*~H"), expected);
}

double a_by_differences(Sample& sample) {
  const Dense& dense = sample.dense();
  const VectorXd alpha = velocity_slope(dense) + dense.phi().transpose() * dense.a_gravity();
  return residual(sample.matrix("a"),
                  alpha - dense.E_phi().transpose() * alpha - dense.H().transpose() * dense.instant().a);
}

double momentum_by_differences(Sample& sample) {
  const Dense& dense = sample.dense();
  VectorXd rate = slope([&](double t) { return momenta(Dense(later(dense.instant(), t))); });
  const VectorXd now = momenta(dense);
  for (int k = 0; k < dense.bodies(); ++k) {  // the origin moves
    rate.segment<3>(6 * k) += dense.rates().v[static_cast<std::size_t>(k)].cross(now.segment<3>(6 * k + 3));
  }
  return residual(sample.matrix("M*(alpha-~phi*a_g)+b"), in_bodies(dense, rate));
}

double gravity_by_differences(Sample& sample) {
  const Instant& now = sample.dense().instant();
  VectorXd expected(now.model.nv());
  for (int j = 0; j < now.model.nv(); ++j) {
    expected[j] = slope([&](double t) -> MatrixXd {
      return MatrixXd::Constant(1, 1, Dense(shifted(now, j, t)).potential_energy());
    })(0, 0);
  }
  return residual(sample.matrix("H*phi*M*~phi*a_g"), expected);
}

double quaternion_rate(Sample& sample) {
  const Instant& now = sample.dense().instant();
  const Eigen::Vector4d q = now.q.head<4>();
  const Eigen::Vector3d w = now.v.head<3>();
  const MatrixXd rate = quaternion_map(q) * w;
  const MatrixXd stepped = slope([&](double t) -> MatrixXd { return integrate(now.model, now.q, now.v, t).head<4>(); });
  const MatrixXd turned = slope([&](double t) -> MatrixXd { return Dense(later(now, t)).axes(0); });
  return std::max(residual(stepped, rate), residual(turned, sample.dense().axes(0) * tilde(w)));
}

double quaternion_left_inverse(Sample& sample) {
  const MatrixXd L = stepped_map(sample.dense().instant());
  return residual(4 * L.transpose() * L, Eigen::Matrix3d::Identity());
}

double quaternion_right_inverse(Sample& sample) {
  const MatrixXd L = stepped_map(sample.dense().instant());
  return residual(4 * L * L.transpose(), Eigen::Matrix4d::Identity());
}

double quaternion_projection(Sample& sample) {
  const Eigen::Vector4d q = sample.dense().instant().q.head<4>();
  const MatrixXd L = stepped_map(sample.dense().instant());
  return residual(4 * L * L.transpose(), Eigen::Matrix4d::Identity() - q * q.transpose());
}

double free_joint_map(Sample& sample) {
  return residual(sample.matrix("H[0,0]"), MatrixXd::Identity(6, 6));
}

double ball_joint_map(Sample& sample) {
  return residual(sample.matrix("H[2,2]"), MatrixXd::Identity(3, 6));
}

double base_on_submanifold(Sample& sample) {
  const int n = sample.dense().instant().model.nv();
  double worst = 0;
  for (int freedoms = 1; freedoms <= 5; ++freedoms) {
    // C and what is at right angles to it, from the columns of a random matrix
    MatrixXd random(6, 6);
    for (int j = 0; j < 6; ++j) {
      random.col(j) = Random(static_cast<std::uint64_t>(10 * freedoms + j)).vector(6);
    }
    const MatrixXd all = random.householderQr().householderQ();
    const int held = 6 - freedoms;
    MatrixXd onto = MatrixXd::Zero(n, n - held);  // all velocities by those left
    onto.topLeftCorner(6, freedoms) = all.leftCols(freedoms);
    onto.bottomRightCorner(n - 6, n - 6).setIdentity();
    MatrixXd kkt = MatrixXd::Zero(n + held, n + held);
    kkt.topLeftCorner(n, n) = sample.mass();
    kkt.block(0, n, 6, held) = all.rightCols(held);
    kkt.block(n, 0, held, 6) = all.rightCols(held).transpose();
    VectorXd right = VectorXd::Zero(n + held);
    right.head(n) = sample.x();
    const VectorXd expected = kkt.fullPivLu().solve(right).head(n);
    const MatrixXd H = onto.transpose() * sample.matrix("H");
    const MatrixXd mass = H * sample.matrix("phi*M*~phi") * H.transpose();
    worst = std::max(worst, residual(onto * mass.ldlt().solve(onto.transpose() * sample.x()), expected));
  }
  return worst;
}

double lagrange(Sample& sample) {
  const Instant& now = sample.dense().instant();
  const int n = now.model.nv();
  VectorXd expected = sample.mass() * now.a;
  for (int i = 0; i < n; ++i) {
    const MatrixXd mass_slope = slope([&](double t) { return Dense(shifted(now, i, t)).mass_matrix(); });
    const double potential_slope = slope([&](double t) -> MatrixXd {
      return MatrixXd::Constant(1, 1, Dense(shifted(now, i, t)).potential_energy());
    })(0, 0);
    expected += now.v[i] * (mass_slope * now.v);
    expected[i] += potential_slope - now.v.dot(mass_slope * now.v) / 2;
  }
  return residual(sample.matrix("T"), expected);
}

double composite_elements(Sample& sample) {
  const Dense& dense = sample.dense();
  std::vector<Eigen::Matrix<double, 6, 6>> r;
  std::vector<Eigen::Matrix<double, 6, 6>> phi;
  for (int k = 0; k < dense.bodies(); ++k) {
    r.push_back(dense.inertia(k));
    phi.push_back(force_matrix(dense.axes_in_parent(k), dense.origin_in_parent(k)));
  }
  const auto at = [](int k) { return static_cast<std::size_t>(k); };
  for (int k = dense.bodies() - 1; k >= 0; --k) {
    if (const int p = dense.parent(k); p != world) {
      r[at(p)] += phi[at(k)] * r[at(k)] * phi[at(k)].transpose();
    }
  }
  MatrixXd mass = MatrixXd::Zero(sample.mass().rows(), sample.mass().cols());
  for (int k = 0; k < dense.bodies(); ++k) {
    MatrixXd x = r[at(k)] * dense.joint_map(k);
    for (int i = k;; i = dense.parent(i)) {
      const MatrixXd element = dense.joint_map(i).transpose() * x;
      mass.block(dense.first(i), dense.first(k), dense.count(i), dense.count(k)) = element;
      mass.block(dense.first(k), dense.first(i), dense.count(k), dense.count(i)) = element.transpose();
      if (dense.parent(i) == world) {
        break;
      }
      x = phi[at(i)] * x;
    }
  }
  return std::max(residual(mass, sample.mass()), residual(mass, sample.matrix("MASS")));
}

}  // namespace bunraku::cli::papers
