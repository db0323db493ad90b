#include "papers/dense.hpp"

#include <array>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <Eigen/LU>

#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "papers/nodal.hpp"

namespace bunraku::cli::papers {

namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Vector6 = Eigen::Matrix<double, 6, 1>;

/// A motion given at M's origin in M's axes, at B's in B's.
Vector6 moved(const Transform<double>& X_MB, const Motion<double>& motion) {
  const Eigen::Matrix3d R = to_eigen(X_MB.rotation);
  const Eigen::Vector3d w = to_eigen(motion.angular);
  const Eigen::Vector3d v = to_eigen(motion.linear) + w.cross(to_eigen(X_MB.translation));
  Vector6 out;
  out << R.transpose() * w, R.transpose() * v;
  return out;
}

Vector6 stacked(const Eigen::Vector3d& upper, const Eigen::Vector3d& lower) {
  Vector6 out;
  out << upper, lower;
  return out;
}

}  // namespace

Instant later(const Instant& now, double t) {
  Instant out = now;
  out.q = integrate(now.model, now.q, now.v + t / 2 * now.a, t);
  out.v = now.v + t * now.a;
  return out;
}

Eigen::Matrix3d tilde(const Eigen::Vector3d& x) {
  Eigen::Matrix3d out;
  out << 0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0;
  return out;
}

Eigen::Matrix<double, 6, 6> force_matrix(const Eigen::Matrix3d& R, const Eigen::Vector3d& l) {
  Matrix6 out;
  out << R, tilde(l) * R, Eigen::Matrix3d::Zero(), R;
  return out;
}

Eigen::Matrix<double, 6, 6> cross_matrix(const Eigen::Matrix<double, 6, 1>& z) {
  Matrix6 out;
  out << tilde(z.head<3>()), Eigen::Matrix3d::Zero(), tilde(z.tail<3>()), tilde(z.head<3>());
  return out;
}

Dense::Dense(const Instant& instant) : at_(instant) {
  std::vector<Transform<double>> poses;
  for (int k = 0; k < static_cast<int>(at_.model.bodies().size()); ++k) {
    const Body& b = body(k);
    const double* q = at_.q.data() + leader(k).q_index;
    const double* v = at_.v.data() + first(k);
    Transform<double> X_FM;
    H_.emplace_back(6, count(k));
    if (b.hinge.type == HingeType::modal) {
      const NodalMotion motion = nodal_motion(*b.hinge.modal, q, v);
      X_FM = motion.pose();
      for (int j = 0; j < count(k); ++j) {
        H_.back().col(j) = moved(b.X_MB, motion.column(j));
      }
      joint_rate_.push_back(moved(b.X_MB, motion.bias()));
    } else {
      X_FM = hinge_pose(b.hinge, q);
      std::array<Motion<double>, max_hinge_velocities> columns;
      hinge_joint_map(b.hinge, q, columns.data());
      for (int j = 0; j < count(k); ++j) {
        H_.back().col(j) = moved(b.X_MB, columns[at(j)]);
      }
      joint_rate_.push_back(moved(b.X_MB, hinge_bias(b.hinge, q, v)));
    }
    const Transform<double> X_PB = b.X_PF * X_FM * b.X_MB;
    poses.push_back(b.parent == world ? X_PB : poses[at(b.parent)] * X_PB);
    R_.push_back(to_eigen(poses.back().rotation));
    o_.push_back(to_eigen(poses.back().translation));
  }
  rates_ = rates_of(at_.v, at_.a);
}

bool Dense::carries(int i, int j) const {
  while (j > i) {
    j = parent(j);
  }
  return i == j;
}

Eigen::Matrix3d Dense::axes_in_parent(int k) const {
  return parent(k) == world ? axes(k) : Eigen::Matrix3d(axes(parent(k)).transpose() * axes(k));
}

Eigen::Vector3d Dense::origin_in_parent(int k) const {
  return parent(k) == world ? origin(k)
                            : Eigen::Vector3d(axes(parent(k)).transpose() * (origin(k) - origin(parent(k))));
}

Eigen::Matrix<double, 6, 6> Dense::inertia(int k) const {
  const double mass = body(k).inertia.mass;
  const Eigen::Vector3d c = mass == 0 ? Eigen::Vector3d::Zero() : to_eigen(body(k).inertia.center());
  const Eigen::Matrix3d central = to_eigen(body(k).inertia.central());
  Matrix6 out;
  out << central - mass * tilde(c) * tilde(c), mass * tilde(c), -mass * tilde(c), mass * Eigen::Matrix3d::Identity();
  return out;
}

Rates Dense::rates_of(const Eigen::VectorXd& v, const Eigen::VectorXd& a) const {
  Rates out;
  for (int k = 0; k < bodies(); ++k) {
    const int p = parent(k);
    const Eigen::Vector3d zero = Eigen::Vector3d::Zero();
    const Eigen::Vector3d w_p = p == world ? zero : out.w[at(p)];
    const Eigen::Vector3d v_p = p == world ? zero : out.v[at(p)];
    const Eigen::Vector3d wd_p = p == world ? zero : out.wd[at(p)];
    const Eigen::Vector3d vd_p = p == world ? Eigen::Vector3d(-to_eigen(at_.model.gravity())) : out.vd[at(p)];
    const Eigen::Vector3d l = origin(k) - (p == world ? zero : origin(p));
    const Vector6 across = joint_map(k) * v.segment(first(k), count(k));
    const Vector6 speeding = joint_map(k) * a.segment(first(k), count(k)) + joint_rate_[at(k)];
    const Eigen::Vector3d w_r = axes(k) * across.head<3>();
    const Eigen::Vector3d v_r = axes(k) * across.tail<3>();
    out.w.emplace_back(w_p + w_r);
    out.v.emplace_back(v_p + w_p.cross(l) + v_r);
    out.wd.emplace_back(wd_p + w_p.cross(w_r) + axes(k) * speeding.head<3>());
    out.vd.emplace_back(vd_p + wd_p.cross(l) + w_p.cross(w_p.cross(l) + v_r) + out.w.back().cross(v_r) +
                        axes(k) * speeding.tail<3>());
  }
  return out;
}

Eigen::VectorXd Dense::in_bodies(const std::vector<Eigen::Vector3d>& upper,
                                 const std::vector<Eigen::Vector3d>& lower) const {
  Eigen::VectorXd out(6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    out.segment<6>(6 * k) << axes(k).transpose() * upper[at(k)], axes(k).transpose() * lower[at(k)];
  }
  return out;
}

Eigen::MatrixXd Dense::phi() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * bodies());
  for (int i = 0; i < bodies(); ++i) {
    for (int j = i; j < bodies(); ++j) {
      if (carries(i, j)) {
        out.block<6, 6>(6 * i, 6 * j) =
            force_matrix(axes(i).transpose() * axes(j), axes(i).transpose() * (origin(j) - origin(i)));
      }
    }
  }
  return out;
}

Eigen::MatrixXd Dense::E_phi() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    if (parent(k) != world) {
      out.block<6, 6>(6 * parent(k), 6 * k) = force_matrix(axes_in_parent(k), origin_in_parent(k));
    }
  }
  return out;
}

Eigen::MatrixXd Dense::Delta_phi() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    out.block<6, 6>(6 * k, 6 * k) = force_matrix(axes_in_parent(k), origin_in_parent(k));
  }
  return out;
}

Eigen::MatrixXd Dense::S() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    if (parent(k) != world) {
      out.block<6, 6>(6 * parent(k), 6 * k).setIdentity();
    }
  }
  return out;
}

Eigen::MatrixXd Dense::H() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(at_.model.nv(), 6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    out.block(first(k), 6 * k, count(k), 6) = joint_map(k).transpose();
  }
  return out;
}

Eigen::MatrixXd Dense::M() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    out.block<6, 6>(6 * k, 6 * k) = inertia(k);
  }
  return out;
}

Eigen::MatrixXd Dense::B() const {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * static_cast<int>(at_.nodes.size()));
  int column = 0;
  for (const Node& node : at_.nodes) {
    out.block<6, 6>(6 * node.body, column) =
        force_matrix(to_eigen(node.X_BN.rotation), to_eigen(node.X_BN.translation));
    column += 6;
  }
  return out;
}

Eigen::MatrixXd Dense::R() const {
  const Eigen::MatrixXd forces = phi();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * bodies());
  for (int i = 0; i < bodies(); ++i) {
    for (int j = i; j < bodies(); ++j) {
      const Matrix6 f = forces.block<6, 6>(6 * i, 6 * j);
      out.block<6, 6>(6 * i, 6 * i) += f * inertia(j) * f.transpose();
    }
  }
  return out;
}

Eigen::VectorXd Dense::V() const {
  return in_bodies(rates_.w, rates_.v);
}
Eigen::VectorXd Dense::alpha() const {
  return in_bodies(rates_.wd, rates_.vd);
}

Eigen::VectorXd Dense::a() const {
  Eigen::VectorXd out = a_gravity() + joint_rate();
  for (int k = 0; k < bodies(); ++k) {
    const int p = parent(k);
    const Eigen::Vector3d w_p = p == world ? Eigen::Vector3d::Zero() : rates_.w[at(p)];
    const Eigen::Vector3d l = origin(k) - (p == world ? Eigen::Vector3d::Zero() : origin(p));
    const Vector6 across = joint_map(k) * at_.v.segment(first(k), count(k));
    const Eigen::Vector3d w_r = axes(k) * across.head<3>();
    const Eigen::Vector3d v_r = axes(k) * across.tail<3>();
    out.segment<3>(6 * k) += axes(k).transpose() * w_p.cross(w_r);
    out.segment<3>(6 * k + 3) += axes(k).transpose() * (w_p.cross(w_p.cross(l) + v_r) + rates_.w[at(k)].cross(v_r));
  }
  return out;
}

Eigen::VectorXd Dense::a_gravity() const {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    if (parent(k) == world) {
      out.segment<3>(6 * k + 3) = -axes(k).transpose() * to_eigen(at_.model.gravity());
    }
  }
  return out;
}

Eigen::VectorXd Dense::joint_rate() const {
  Eigen::VectorXd out(6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    out.segment<6>(6 * k) = joint_rate_[at(k)];
  }
  return out;
}

Eigen::VectorXd Dense::b() const {
  Eigen::VectorXd out(6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    const Eigen::Vector3d w = axes(k).transpose() * rates_.w[at(k)];
    const Matrix6 M = inertia(k);
    const Eigen::Vector3d first_moment(M(2, 4), M(0, 5), M(1, 3));
    out.segment<6>(6 * k) << w.cross(M.topLeftCorner<3, 3>() * w), w.cross(w.cross(first_moment));
  }
  return out;
}

Eigen::VectorXd Dense::forces(const Rates& rates) const {
  std::vector<Eigen::Vector3d> moments;
  std::vector<Eigen::Vector3d> forces;
  for (int k = 0; k < bodies(); ++k) {
    const double mass = body(k).inertia.mass;
    const Eigen::Vector3d c = axes(k) * (mass == 0 ? Eigen::Vector3d::Zero() : to_eigen(body(k).inertia.center()));
    const Eigen::Matrix3d I = axes(k) * to_eigen(body(k).inertia.central()) * axes(k).transpose();
    const Eigen::Vector3d& w = rates.w[at(k)];
    const Eigen::Vector3d& wd = rates.wd[at(k)];
    forces.emplace_back(mass * (rates.vd[at(k)] + wd.cross(c) + w.cross(w.cross(c))));
    moments.emplace_back(I * wd + w.cross(I * w) + c.cross(forces.back()));
  }
  for (int k = bodies() - 1; k >= 0; --k) {
    if (const int p = parent(k); p != world) {
      forces[at(p)] += forces[at(k)];
      moments[at(p)] += moments[at(k)] + (origin(k) - origin(p)).cross(forces[at(k)]);
    }
  }
  return in_bodies(moments, forces);
}

Eigen::VectorXd Dense::on_hinges(const Eigen::VectorXd& f) const {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(at_.model.nv());
  for (int k = 0; k < bodies(); ++k) {
    out.segment(first(k), count(k)) += joint_map(k).transpose() * f.segment<6>(6 * k);
  }
  return out;
}

Eigen::VectorXd Dense::f() const {
  return forces(rates_);
}
Eigen::VectorXd Dense::torques() const {
  return on_hinges(f());
}
Eigen::VectorXd Dense::bias() const {
  return on_hinges(forces(rates_of(at_.v, Eigen::VectorXd::Zero(at_.model.nv()))));
}

Eigen::VectorXd Dense::node_V() const {
  Eigen::VectorXd out(6 * static_cast<int>(at_.nodes.size()));
  int row = 0;
  for (const Node& node : at_.nodes) {
    const Eigen::Matrix3d axes_n = axes(node.body) * to_eigen(node.X_BN.rotation);
    const Eigen::Vector3d l = axes(node.body) * to_eigen(node.X_BN.translation);
    const Eigen::Vector3d& w = rates_.w[at(node.body)];
    out.segment<6>(row) << axes_n.transpose() * w, axes_n.transpose() * (rates_.v[at(node.body)] + w.cross(l));
    row += 6;
  }
  return out;
}

Eigen::VectorXd Dense::node_alpha() const {
  Eigen::VectorXd out = node_a();
  int row = 0;
  for (const Node& node : at_.nodes) {
    const Eigen::Matrix3d axes_n = axes(node.body) * to_eigen(node.X_BN.rotation);
    const Eigen::Vector3d l = axes(node.body) * to_eigen(node.X_BN.translation);
    const Eigen::Vector3d& wd = rates_.wd[at(node.body)];
    out.segment<6>(row) +=
        stacked(axes_n.transpose() * wd, axes_n.transpose() * (rates_.vd[at(node.body)] + wd.cross(l)));
    row += 6;
  }
  return out;
}

Eigen::VectorXd Dense::node_a() const {
  Eigen::VectorXd out(6 * static_cast<int>(at_.nodes.size()));
  int row = 0;
  for (const Node& node : at_.nodes) {
    const Eigen::Matrix3d axes_n = axes(node.body) * to_eigen(node.X_BN.rotation);
    const Eigen::Vector3d l = axes(node.body) * to_eigen(node.X_BN.translation);
    const Eigen::Vector3d& w = rates_.w[at(node.body)];
    out.segment<6>(row) << Eigen::Vector3d::Zero(), axes_n.transpose() * w.cross(w.cross(l));
    row += 6;
  }
  return out;
}

Eigen::MatrixXd Dense::jacobian() const {
  const int n = at_.model.nv();
  Eigen::MatrixXd out(6 * static_cast<int>(at_.nodes.size()), n);
  Dense unit = *this;
  for (int j = 0; j < n; ++j) {
    unit.rates_ = rates_of(Eigen::VectorXd::Unit(n, j), Eigen::VectorXd::Zero(n));
    out.col(j) = unit.node_V();
  }
  return out;
}

Eigen::MatrixXd Dense::mass_matrix() const {
  const int n = at_.model.nv();
  // what each unit velocity does to the mass centres and axes, √m v_c and I_c^½ ω one below the other
  Eigen::MatrixXd momenta(6 * bodies(), n);
  Eigen::MatrixXd velocities(6 * bodies(), n);
  for (int j = 0; j < n; ++j) {
    const Rates unit = rates_of(Eigen::VectorXd::Unit(n, j), Eigen::VectorXd::Zero(n));
    for (int k = 0; k < bodies(); ++k) {
      const double mass = body(k).inertia.mass;
      const Eigen::Vector3d c = axes(k) * (mass == 0 ? Eigen::Vector3d::Zero() : to_eigen(body(k).inertia.center()));
      const Eigen::Vector3d v_c = unit.v[at(k)] + unit.w[at(k)].cross(c);
      const Eigen::Vector3d w = axes(k).transpose() * unit.w[at(k)];
      velocities.block<6, 1>(6 * k, j) = stacked(w, v_c);
      momenta.block<6, 1>(6 * k, j) = stacked(to_eigen(body(k).inertia.central()) * w, mass * v_c);
    }
  }
  return velocities.transpose() * momenta;
}

double Dense::kinetic_energy() const {
  double out = 0;
  for (int k = 0; k < bodies(); ++k) {
    const double mass = body(k).inertia.mass;
    const Eigen::Vector3d c = axes(k) * (mass == 0 ? Eigen::Vector3d::Zero() : to_eigen(body(k).inertia.center()));
    const Eigen::Vector3d w = axes(k).transpose() * rates_.w[at(k)];
    out += mass / 2 * (rates_.v[at(k)] + rates_.w[at(k)].cross(c)).squaredNorm() +
           w.dot(to_eigen(body(k).inertia.central()) * w) / 2;
  }
  return out;
}

double Dense::potential_energy() const {
  double out = 0;
  for (int k = 0; k < bodies(); ++k) {
    const double mass = body(k).inertia.mass;
    if (mass != 0) {
      out -= mass * to_eigen(at_.model.gravity()).dot(origin(k) + axes(k) * to_eigen(body(k).inertia.center()));
    }
  }
  return out;
}

Eigen::MatrixXd Dense::P() const {
  const Eigen::MatrixXd moves = phi().transpose();  // (j, i): the velocity of j when i moves and nothing else does
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6 * bodies(), 6 * bodies());
  for (int k = 0; k < bodies(); ++k) {
    std::vector<int> outboard;
    std::vector<int> column(at(at_.model.nv()), 0);  // of the coordinates outboard
    int n = 6;
    for (int j = k; j < bodies(); ++j) {
      if (carries(k, j)) {
        outboard.push_back(j);
        if (j != k && count(j) > 0 && !follows(j)) {
          column[at(first(j))] = n;
          n += count(j);
        }
      }
    }
    Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(n, n);
    for (const int j : outboard) {
      Eigen::MatrixXd velocity = Eigen::MatrixXd::Zero(6, n);
      velocity.leftCols<6>() = moves.block<6, 6>(6 * j, 6 * k);
      for (const int i : outboard) {
        if (i != k && count(i) > 0) {
          velocity.middleCols(column[at(first(i))], count(i)) += moves.block<6, 6>(6 * j, 6 * i) * joint_map(i);
        }
      }
      mass += velocity.transpose() * inertia(j) * velocity;
    }
    Matrix6 felt = mass.topLeftCorner<6, 6>();
    if (n > 6) {
      felt -= mass.topRightCorner(6, n - 6) *
              mass.bottomRightCorner(n - 6, n - 6).llt().solve(mass.bottomLeftCorner(n - 6, 6));
    }
    out.block<6, 6>(6 * k, 6 * k) = felt;
  }
  return out;
}

Factors::Factors(const Dense& dense, const Eigen::MatrixXd& mass)
    : U(Eigen::MatrixXd::Identity(mass.rows(), mass.cols())), D(Eigen::MatrixXd::Zero(mass.rows(), mass.cols())) {
  Eigen::MatrixXd rest = mass;
  for (int k = dense.bodies() - 1; k >= 0; --k) {
    const int i = dense.first(k);
    const int n = dense.count(k);
    if (n == 0 || dense.follows(k)) {
      continue;
    }
    D.block(i, i, n, n) = rest.block(i, i, n, n);
    if (i == 0) {
      continue;
    }
    U.block(0, i, i, n) = D.block(i, i, n, n).llt().solve(rest.block(i, 0, n, i)).transpose();
    rest.topLeftCorner(i, i) -= U.block(0, i, i, n) * rest.block(i, 0, n, i);
  }
}

Articulated::Articulated(const Dense& dense)
    : P(dense.P()),
      D(Eigen::MatrixXd::Zero(dense.instant().model.nv(), dense.instant().model.nv())),
      G(Eigen::MatrixXd::Zero(P.rows(), D.rows())),
      E_psi(Eigen::MatrixXd::Zero(P.rows(), P.rows())),
      psi(Eigen::MatrixXd::Identity(P.rows(), P.rows())) {
  for (int k = 0; k < dense.bodies(); ++k) {
    const int i = dense.first(k);
    const int n = dense.count(k);
    const Matrix6 felt = P.block<6, 6>(6 * k, 6 * k);
    const Eigen::MatrixXd& map = dense.joint_map(k);  // H*
    Matrix6 free = Matrix6::Identity();
    if (n > 0) {
      D.block(i, i, n, n) = map.transpose() * felt * map;
      G.block(6 * k, i, 6, n) = D.block(i, i, n, n).llt().solve(map.transpose() * felt).transpose();
      free -= G.block(6 * k, i, 6, n) * map.transpose();
    }
    if (const int p = dense.parent(k); p != world) {
      const Matrix6 step = force_matrix(dense.axes_in_parent(k), dense.origin_in_parent(k)) * free;
      E_psi.block<6, 6>(6 * p, 6 * k) = step;
      psi.block(0, 6 * k, 6 * k, 6) = psi.block(0, 6 * p, 6 * k, 6) * step;
    }
  }
}

}  // namespace bunraku::cli::papers
