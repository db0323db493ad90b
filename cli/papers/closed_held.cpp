#include "papers/closed_held.hpp"

#include <cmath>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <fmt/format.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/model/builder.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/eigen.hpp"

namespace bunraku::cli::papers {

namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A seed that goes with a sample.
std::uint64_t seed_of(const Sample& sample) {
  return static_cast<std::uint64_t>((sample.x()(0) + 2) * 1e9);
}

Vector3d draw(Random& random, double size) {
  return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}

Vector3d draw_unit(Random& random) {
  Vector3d out = draw(random, 1);
  while (out.norm() < 0.2) {
    out = draw(random, 1);
  }
  return out.normalized();
}

/// The arms of a sample, at its configuration, with all their tips as nodes.
Instant arms_of(const Sample& sample, int links) {
  Instant out = sample.dense().instant();
  if (links > 0) {
    Random random(seed_of(sample));
    out.model = random_arms(2 + static_cast<int>(out.model.nodes().size()) % 3 + (links < 6 ? 1 : 0), links, random);
    out.q = random_configuration(out.model, random.seed());
    out.a = random.vector(out.model.nv());
  }
  out.nodes = {out.model.nodes().begin(), out.model.nodes().end()};
  out.v = VectorXd::Zero(out.model.nv());
  return out;
}

/// The axes of the nodes in the world, on the diagonal.
MatrixXd node_axes(const Dense& dense, const std::vector<Node>& nodes) {
  MatrixXd out = MatrixXd::Zero(6 * std::ssize(nodes), 6 * std::ssize(nodes));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Eigen::Matrix3d R = dense.axes(nodes[i].body) * to_eigen(nodes[i].X_BN.rotation.matrix());
    const auto at = 6 * static_cast<Eigen::Index>(i);
    out.block<3, 3>(at, at) = out.block<3, 3>(at + 3, at + 3) = R;
  }
  return out;
}

Vector3d node_point(const Dense& dense, const Node& node) {
  return dense.origin(node.body) + dense.axes(node.body) * to_eigen(node.X_BN.translation);
}

/// (dJ/dt)θ̇ of the nodes: their accelerations at θ̈ = 0.
VectorXd node_bias(Instant now) {
  now.a.setZero();
  const Dense still(now);
  return node_axes(still, now.nodes) * still.node_alpha();
}

Node as_node(const Eigen::Matrix3d& R, const Vector3d& p) {
  return {.name = "there", .body = 0, .X_BN = {Rotation<double>(mat3_from_eigen(R)), vec3_from_eigen(p)}};
}

}  // namespace

Held::Held(Sample& sample, Grip grip, int links) : now_(arms_of(sample, links)), dense_(now_) {
  Random random(seed_of(sample) + 17);
  hold(grip, random);
  move(random);
  mass = dense_.mass_matrix();
  bias = dense_.bias();
  T = mass * now_.a + bias;
  Jd = node_bias(now_);
}

/// The object, where it is held, and what moves there.
void Held::hold(Grip grip, Random& random) {
  turn = node_axes(dense_, now_.nodes);
  J = turn * dense_.jacobian();
  C_ = draw(random, 0.5);
  object_mass_ = random.uniform(0.5, 3);
  object_center_ = draw(random, 0.2);
  const Eigen::Matrix3d root = Eigen::Matrix3d::NullaryExpr([&] { return random.uniform(-0.5, 0.5); });
  const Eigen::Matrix3d second = root * root.transpose() + 0.05 * Eigen::Matrix3d::Identity();  // ∫ρρ*
  object_inertia_ = second.trace() * Eigen::Matrix3d::Identity() - second;
  const Eigen::Matrix3d p = tilde(object_center_);
  M_C.resize(6, 6);
  M_C << object_inertia_ - object_mass_ * p * p, object_mass_ * p, -object_mass_ * p,
      object_mass_ * Eigen::Matrix3d::Identity();
  const int l = arms();
  A = MatrixXd::Zero(6 * l, 6);
  std::vector<MatrixXd> free;
  for (int i = 0; i < l; ++i) {
    const Vector3d arm = node_point(dense_, now_.nodes[static_cast<std::size_t>(i)]) - C_;
    A.block<6, 6>(6 * i, 0).setIdentity();
    A.block<3, 3>(6 * i + 3, 0) = -tilde(arm);
    const std::array turns{Grip::revolute, Grip::ball, Grip::soft};
    grips_.push_back(grip == Grip::mixed ? turns[static_cast<std::size_t>(i % 3)] : grip);
    axes_.push_back(draw_unit(random));
    MatrixXd h(3, 0);
    if (grips_.back() == Grip::revolute) {
      h = axes_.back();
    } else if (grips_.back() == Grip::ball) {
      h = MatrixXd::Identity(3, 3);
    } else if (grips_.back() == Grip::soft) {
      h.resize(3, 2);
      h.col(0) = axes_.back().unitOrthogonal();
      h.col(1) = axes_.back().cross(Vector3d(h.col(0)));
    }
    free.push_back(h);
  }
  Eigen::Index count = 0;
  for (const MatrixXd& h : free) {
    count += h.cols();
  }
  H0 = MatrixXd::Zero(count, 6 * l);
  Q = MatrixXd::Zero(6 * l - count, 6 * l);
  Eigen::Index row = 0;
  Eigen::Index other = 0;
  for (int i = 0; i < l; ++i) {
    const MatrixXd& h = free[static_cast<std::size_t>(i)];
    H0.block(row, 6 * i, h.cols(), 3) = h.transpose();
    row += h.cols();
    MatrixXd padded = MatrixXd::Zero(6, h.cols());
    padded.topRows(3) = h;
    const MatrixXd basis = h.cols() == 0 ? MatrixXd::Identity(6, 6) : MatrixXd(padded.householderQr().householderQ());
    Q.block(other, 6 * i, 6 - h.cols(), 6) = basis.rightCols(6 - h.cols()).transpose();
    other += 6 - h.cols();
  }
}

/// Velocities that fit: Q(AV(C) − Jθ̇) = 0.
void Held::move(Random& random) {
  V_C = random.vector(6);
  const MatrixXd QJ = Q * J;
  const VectorXd loose = random.vector(static_cast<int>(J.cols()));
  now_.v = loose + QJ.completeOrthogonalDecomposition().solve(Q * A * V_C - QJ * loose);
  dense_ = Dense(now_);
  W = H0 * (A * V_C - J * now_.v);
  const Vector3d w = V_C.head<3>();
  a_C = VectorXd::Zero(6 * arms());
  Hd_W = Hd_tip = VectorXd::Zero(6 * arms());
  const VectorXd relative = H0.transpose() * W;
  const VectorXd tips = J * now_.v;
  for (int i = 0; i < arms(); ++i) {
    const Vector3d arm = node_point(dense_, now_.nodes[static_cast<std::size_t>(i)]) - C_;
    const Vector3d turning = relative.segment<3>(6 * i);
    a_C.segment<3>(6 * i + 3) = w.cross(w.cross(arm));
    Hd_W.segment<3>(6 * i) = w.cross(turning);
    Hd_tip.segment<3>(6 * i) = Vector3d(tips.segment<3>(6 * i)).cross(turning);
  }
  b_C.resize(6);
  b_C << w.cross(Vector3d(M_C.topLeftCorner<3, 3>() * w)), object_mass_ * w.cross(w.cross(object_center_));
}

MatrixXd Held::matrix(const char* text) const {
  System system(now_.model, as_span(now_.q), as_span(now_.v));
  system.set_accelerations(as_span(now_.a));
  system.set_nodes(now_.nodes);
  Evaluation evaluation = system.literal(parse(expand(text), variables()));
  return evaluation.dense();
}

HeldMotion Held::motion() const {
  const Eigen::Index n = mass.rows();
  const Eigen::Index m = Q.rows();
  MatrixXd all = MatrixXd::Zero(n + 6 + m, n + 6 + m);
  all.topLeftCorner(n, n) = mass;
  all.block(n, n, 6, 6) = M_C;
  all.block(0, n + 6, n, m) = (Q * J).transpose();
  all.block(n, n + 6, 6, m) = -(Q * A).transpose();
  all.block(n + 6, 0, m, n) = Q * J;
  all.block(n + 6, n, m, 6) = -Q * A;
  VectorXd right(n + 6 + m);
  right << T - bias, -b_C, Q * (a_C - Jd - Hd_W);
  const VectorXd x = all.fullPivLu().solve(right);
  HeldMotion out;
  out.thetadd = x.head(n);
  out.alpha_C = x.segment(n, 6);
  out.f = Q.transpose() * x.tail(m);
  out.alpha = J * out.thetadd + Jd;
  out.Wd = H0 * (A * out.alpha_C + a_C - out.alpha - Hd_W);
  return out;
}

double difference(const HeldMotion& found, const HeldMotion& right) {
  return std::max({residual(found.thetadd, right.thetadd), residual(found.f, right.f),
                   found.Wd.size() == 0 ? 0.0 : residual(found.Wd, right.Wd)});
}

HeldMotion Held::by_library() const {
  ModelBuilder builder("object");
  builder.set_gravity(now_.model.gravity());
  const Eigen::Matrix3d& I = object_inertia_;
  BodySpec body{.name = "object"};
  body.hinge.type = HingeType::free;
  body.inertia =
      RigidInertia<double>::about_center(object_mass_, {object_center_.x(), object_center_.y(), object_center_.z()},
                                         {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)});
  builder.add(std::move(body));
  ClosedSystem system(now_.model);
  const int object = system.add_member(builder.build(), Role::secondary);
  system.state(0).set(now_.q, now_.v);
  VectorXd q(7);
  q << 1, 0, 0, 0, C_;
  system.state(object).set(q, V_C);
  for (int i = 0; i < arms(); ++i) {
    const Eigen::Matrix3d R = turn.block<3, 3>(6 * i, 6 * i);
    const Vector3d axis = R.transpose() * axes_[static_cast<std::size_t>(i)];
    Closure closure;
    closure.name = fmt::format("contact {}", i);
    closure.a = now_.nodes[static_cast<std::size_t>(i)];
    closure.b = as_node(R, node_point(dense_, closure.a) - C_);
    closure.hinge.axis = {axis.x(), axis.y(), axis.z()};
    const Grip grip = grips_[static_cast<std::size_t>(i)];
    closure.hinge.type = grip == Grip::rigid      ? HingeType::fixed
                         : grip == Grip::revolute ? HingeType::revolute
                                                  : HingeType::spherical;
    closure.kind = grip == Grip::soft ? ClosureKind::soft_finger : ClosureKind::nodes;
    system.add_closure(closure, 0, object);
  }
  VectorXd torque = VectorXd::Zero(system.nv());
  torque.head(T.size()) = T;
  const VectorXd moved = closed_forward_dynamics(system, torque);
  HeldMotion out;
  out.thetadd = moved.head(T.size());
  out.f.resize(6 * arms());
  for (int i = 0; i < arms(); ++i) {
    const Force<double> f = closure_wrench(system, i);  // in the finger's axes, on the finger
    VectorXd plain(6);
    plain << f.moment.x, f.moment.y, f.moment.z, f.force.x, f.force.y, f.force.z;
    out.f.segment(6 * i, 6) = -turn.block<6, 6>(6 * i, 6 * i) * plain;
  }
  return out;
}

TwoArms::TwoArms(Sample& sample) : now(arms_of(sample, 7)) {
  // the first two arms; the tip of the second is where that of the first is
  const Dense at(now);
  const Node& one = now.nodes[0];
  Node& two = now.nodes[1];
  const Eigen::Matrix3d R = at.axes(two.body).transpose() * at.axes(one.body) * to_eigen(one.X_BN.rotation.matrix());
  const Vector3d p = at.axes(two.body).transpose() * (node_point(at, one) - at.origin(two.body));
  two.X_BN = as_node(R, p).X_BN;
  now.nodes.resize(2);
  const Dense met(now);
  const MatrixXd axes = node_axes(met, now.nodes);
  const MatrixXd both = axes * met.jacobian();
  const MatrixXd apart = both.topRows(6) - both.bottomRows(6);
  Random random(seed_of(sample) + 23);
  const VectorXd loose = random.vector(static_cast<int>(now.v.size()));
  now.v = loose - apart.completeOrthogonalDecomposition().solve(apart * loose);
  const Dense moving(now);
  const MatrixXd all = moving.mass_matrix();
  const VectorXd rates = node_bias(now);
  const VectorXd torque = all * now.a;  // T − 𝓒
  const int n = 7;
  MatrixXd kkt = MatrixXd::Zero(2 * n + 6, 2 * n + 6);
  VectorXd right(2 * n + 6);
  for (int i = 0; i < 2; ++i) {
    mass[i] = all.block(n * i, n * i, n, n);
    J[i] = both.block(6 * i, n * i, 6, n);
    T[i] = torque.segment(n * i, n);
    Jd[i] = rates.segment(6 * i, 6);
    kkt.block(n * i, n * i, n, n) = mass[i];
    kkt.block(n * i, 2 * n, n, 6) = (i == 0 ? -1 : 1) * J[i].transpose();
    kkt.block(2 * n, n * i, 6, n) = (i == 0 ? 1 : -1) * J[i];
    right.segment(n * i, n) = T[i];
  }
  right.tail(6) = Jd[1] - Jd[0];
  solution = kkt.fullPivLu().solve(right);
}

}  // namespace bunraku::cli::papers
