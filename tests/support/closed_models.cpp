#include "support/closed_models.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include <Eigen/SVD>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/spatial/exponential.hpp"
#include "support/plain_kinematics.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {

namespace {

constexpr std::array closing{HingeType::fixed,         HingeType::revolute,  HingeType::prismatic, HingeType::helical,
                             HingeType::cylindrical,   HingeType::universal, HingeType::planar,    HingeType::spherical,
                             HingeType::translational, HingeType::custom};

/// The tree that loops are added to.
ModelBuilder tree(int sample, int bodies, Random& random) {
  ModelBuilder builder = random_tree(bodies, (sample % 5) * 0.25, random);
  if (sample % 3 == 2) {
    add_mimic_pair(builder, random);
  }
  for (BodySpec& body : builder.bodies()) {
    body.hinge.dofs.resize(static_cast<std::size_t>(body.hinge.velocity_size()));
    for (HingeDof& dof : body.hinge.dofs) {
      dof = {.armature = sample % 2 == 0 ? 0.0 : random.uniform(0.01, 0.3),
             .damping = sample % 4 == 3 ? random.uniform(0, 0.5) : 0.0};
    }
    if (body.hinge.type == HingeType::fixed) {  // more freedom: many loops are to leave some
      body.hinge = random_hinge(HingeType::revolute, random);
      body.hinge.name = body.name + "_turn";
    }
  }
  return builder;
}

/// Puts the nodes of a closure on two bodies where it holds.
void place_nodes(ModelBuilder& builder, const PlainKinematics& kinematics, ClosureSpec spec, int number, int body_a,
                 int body_b, Random& random) {
  spec.name = "loop" + std::to_string(number);
  const auto name = [&](int body) {
    return body == world ? std::string(world_name) : kinematics.model().body(body).name;
  };
  const Transform<double> X_WA = kinematics.pose(body_a) * random.transform();
  Transform<double> X_AB = Transform<double>::identity();
  switch (spec.kind) {
    case ClosureKind::nodes: {
      std::array<double, max_hinge_positions> q{};
      std::array<double, max_hinge_velocities> v{};
      std::array<double, max_hinge_positions> there{};
      for (double& each : v) {
        each = random.uniform(-0.8, 0.8);
      }
      hinge_neutral(spec.hinge, q.data());
      hinge_integrate(spec.hinge, q.data(), v.data(), 1, there.data());
      X_AB = hinge_pose(spec.hinge, there.data());
      break;
    }
    case ClosureKind::distance:
      X_AB = random.transform();
      spec.length = norm(X_AB.translation);
      break;
    case ClosureKind::plane:
      X_AB = random.transform();
      X_AB.translation -= spec.hinge.axis * dot(spec.hinge.axis, X_AB.translation);
      break;
    case ClosureKind::line:
      X_AB = random.transform();
      X_AB.translation = spec.hinge.axis * random.uniform();
      break;
    default:
      break;
  }
  spec.a = spec.name + "_a";
  spec.b = spec.name + "_b";
  builder.add(NodeSpec{spec.a, name(body_a), kinematics.pose(body_a).inverse() * X_WA});
  builder.add(NodeSpec{spec.b, name(body_b), kinematics.pose(body_b).inverse() * X_WA * X_AB});
  builder.add(std::move(spec));
}

/// Ties two hinges of one coordinate each where there are such.
void add_coupling(ModelBuilder& builder, const Model& open, const Eigen::VectorXd& q, int number, Random& random) {
  std::vector<int> plain;
  for (int k = 0; k < std::ssize(open.bodies()); ++k) {
    if (open.body(k).nq == 1 && open.body(k).nv == 1) {
      plain.push_back(k);
    }
  }
  if (plain.size() < 2) {
    return;
  }
  const Body& a = open.body(plain[static_cast<std::size_t>(random.integer(0, static_cast<int>(plain.size()) - 2))]);
  const Body& b = open.body(plain.back());
  const double x = q(b.q_index);
  const double p1 = random.uniform(0.5, 1.5);
  const double p2 = random.uniform(-0.3, 0.3);
  builder.add(ClosureSpec{.name = "tie" + std::to_string(number),
                          .kind = ClosureKind::hinges,
                          .a = a.hinge.name,
                          .b = b.hinge.name,
                          .polynomial = {0, p1, p2, 0, 0},
                          .reference_a = q(a.q_index) - p1 * (x - 0.1) - p2 * (x - 0.1) * (x - 0.1),
                          .reference_b = 0.1});
}

}  // namespace

std::span<const HingeType> closing_hinge_types() {
  return closing;
}

ClosedModel random_closed_model(int sample, int bodies, std::span<const ClosureSpec> closures, Random& random) {
  ModelBuilder builder = tree(sample, bodies, random);
  const Model open = builder.build();
  const Eigen::VectorXd q = random_configuration(open, static_cast<unsigned>(random.integer(1, 1000000)));
  PlainKinematics kinematics(open);
  kinematics.set_configuration(q);
  const int n = static_cast<int>(open.bodies().size());
  for (std::size_t i = 0; i < closures.size(); ++i) {
    if (closures[i].kind == ClosureKind::hinges) {
      add_coupling(builder, open, q, static_cast<int>(i), random);
      continue;
    }
    const int a = random.integer(n / 2, n - 1);
    int b = random.integer(-1, n - 1);
    while (b == a) {
      b = random.integer(-1, n - 1);
    }
    const bool swapped = random.integer(0, 1) == 1;
    place_nodes(builder, kinematics, closures[i], static_cast<int>(i), swapped ? b : a, swapped ? a : b, random);
  }
  return {builder.build(), q};
}

ClosedModel random_closed_model(int sample, int bodies, int loops, Random& random) {
  std::vector<ClosureSpec> closures;
  for (int i = 0; i < loops; ++i) {
    const int which = random.integer(0, static_cast<int>(closing.size()) + 3);
    ClosureSpec spec;
    if (which < static_cast<int>(closing.size())) {
      spec.hinge = random_hinge(closing[static_cast<std::size_t>(which)], random);
    } else {
      constexpr std::array kinds{ClosureKind::distance, ClosureKind::plane, ClosureKind::line, ClosureKind::hinges};
      spec.kind = kinds[static_cast<std::size_t>(which) - closing.size()];
      spec.hinge.axis = random.unit();
    }
    closures.push_back(spec);
  }
  return random_closed_model(sample, bodies, closures, random);
}

// ---------------------------------------------------------------------------------------------------------------------

ClosedModel four_bar(HingeType closed_by, bool folded) {
  const auto bar = [](const char* name, const char* parent, double along, double length) {
    BodySpec body;
    body.name = name;
    body.parent = parent;
    body.hinge = {.type = HingeType::revolute};
    body.X_PF = Transform<double>::translate({along, 0, 0});
    body.inertia = RigidInertia<double>::about_center(
        length, {length / 2, 0, 0},
        {0.01, length * length * length / 12 + 0.01, length * length * length / 12 + 0.01, 0, 0, 0});
    return body;
  };
  const double crank = 1;
  const double coupler = folded ? 2 : 3;
  const double rocker = folded ? 1 : 2.5;
  const double ground = folded ? 2 : 2.8;
  ModelBuilder builder("four_bar");
  builder.set_gravity({0, -9.81, 0});
  builder.add(bar("crank", "world", 0, crank)).add(bar("coupler", "crank", crank, coupler));
  builder.add(bar("rocker", "world", ground, rocker));
  builder.add(NodeSpec{"coupler_end", "coupler", Transform<double>::translate({coupler, 0, 0})});
  builder.add(NodeSpec{"rocker_end", "rocker", Transform<double>::translate({rocker, 0, 0})});
  builder.add(ClosureSpec{.name = "pin", .hinge = {.type = closed_by}, .a = "coupler_end", .b = "rocker_end"});
  Eigen::VectorXd q(3);
  if (folded) {
    q << 0, 0, 0;
  } else {  // crank at 1 rad, the others by the cosine rule
    const double angle = 1.0;
    const Eigen::Vector2d joint(crank * std::cos(angle), crank * std::sin(angle));
    const Eigen::Vector2d base(ground, 0);
    const Eigen::Vector2d between = base - joint;
    const double d = between.norm();
    const double turn = std::acos((coupler * coupler + d * d - rocker * rocker) / (2 * coupler * d));
    const double direction = std::atan2(between.y(), between.x()) + turn;
    const Eigen::Vector2d end = joint + coupler * Eigen::Vector2d(std::cos(direction), std::sin(direction));
    q << angle, direction - angle, std::atan2(end.y() - base.y(), end.x() - base.x());
  }
  return {builder.build(), q};
}

// ---------------------------------------------------------------------------------------------------------------------

namespace {

using Row = std::vector<double>;

void add(Row& out, const Vec3<double>& v) {
  out.insert(out.end(), {v.x, v.y, v.z});
}

/// What must vanish of the pose of b in a, more numbers than equations: no basis is chosen.
void add_conditions(const Closure& closure, const Transform<double>& X, Row& out) {
  const Vec3<double>& p = X.translation;
  const Vec3<double>& n = closure.hinge.axis;
  const Mat3<double>& R = X.rotation.matrix();
  const Vec3<double> turned{(R(2, 1) - R(1, 2)) / 2, (R(0, 2) - R(2, 0)) / 2, (R(1, 0) - R(0, 1)) / 2};
  const Vec3<double> beside = p - n * dot(n, p);
  const Vec3<double> tilt = X.rotation * n - n;
  if (closure.kind == ClosureKind::distance) {
    out.push_back(dot(p, p) - closure.length * closure.length);
    return;
  }
  if (closure.kind == ClosureKind::plane) {
    out.push_back(dot(n, p));
    return;
  }
  if (closure.kind == ClosureKind::line) {
    add(out, beside);
    return;
  }
  switch (closure.hinge.type) {
    case HingeType::fixed:
      add(out, turned);
      add(out, p);
      break;
    case HingeType::revolute:
    case HingeType::continuous:
      add(out, tilt);
      add(out, p);
      break;
    case HingeType::prismatic:
      add(out, turned);
      add(out, beside);
      break;
    case HingeType::helical: {
      add(out, tilt);
      add(out, beside);
      const Vec3<double> across =
          normalized(std::abs(n.x) < 0.8 ? cross(n, Vec3<double>::unit_x()) : cross(n, Vec3<double>::unit_y()));
      const Vec3<double> there = X.rotation * across;
      const double angle = std::atan2(dot(n, cross(across, there)), dot(across, there));
      out.push_back(dot(n, p) - closure.hinge.pitch / (2 * std::numbers::pi) * angle);
      break;
    }
    case HingeType::cylindrical:
      add(out, tilt);
      add(out, beside);
      break;
    case HingeType::universal:
      add(out, p);
      out.push_back(dot(n, X.rotation * closure.hinge.axis2) - dot(n, closure.hinge.axis2));
      break;
    case HingeType::planar:
      add(out, tilt);
      out.push_back(dot(n, p));
      break;
    case HingeType::spherical:
      add(out, p);
      break;
    case HingeType::translational:
      add(out, turned);
      break;
    case HingeType::custom: {
      std::array<double, max_hinge_positions> q{};
      hinge_nearest(closure.hinge, X, q.data());
      const Motion<double> open = log(hinge_pose(closure.hinge, q.data()).inverse() * X);
      add(out, open.angular);
      add(out, open.linear);
      break;
    }
    case HingeType::modal:
    case HingeType::free:
      break;
  }
}

Eigen::VectorXd conditions(const Model& model, const Eigen::VectorXd& q) {
  PlainKinematics kinematics(model);
  kinematics.set_configuration(q);
  Row out;
  for (const Closure& c : model.closures()) {
    if (c.kind == ClosureKind::hinges) {
      const double x = q(model.body(c.hinge_b).q_index) - c.reference_b;
      const auto& p = c.polynomial;
      out.push_back(q(model.body(c.hinge_a).q_index) - c.reference_a -
                    (p[0] + x * (p[1] + x * (p[2] + x * (p[3] + x * p[4])))));
    } else {
      add_conditions(c, kinematics.pose(c.a).inverse() * kinematics.pose(c.b), out);
    }
  }
  return Eigen::Map<Eigen::VectorXd>(out.data(), static_cast<Eigen::Index>(out.size()));
}

/// Derivatives of tenth order.
constexpr double step = 0.05;
constexpr std::array first_order{5.0 / 6, -5.0 / 21, 5.0 / 84, -5.0 / 504, 1.0 / 1260};
constexpr std::array second_order{5.0 / 3, -5.0 / 21, 5.0 / 126, -5.0 / 1008, 1.0 / 3150};

}  // namespace

DenseClosures dense_closures(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const auto moved = [&](const Eigen::VectorXd& along, double s) {
    return conditions(model, integrate(model, q, along, s));
  };
  const Eigen::VectorXd here = conditions(model, q);
  DenseClosures out{Eigen::MatrixXd::Zero(here.size(), model.nv()), here * (5269.0 / 1800 / (step * step))};
  for (int k = 0; k < 5; ++k) {
    const double s = (k + 1) * step;
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::VectorXd unit = Eigen::VectorXd::Unit(model.nv(), j);
      out.Y.col(j) += first_order[static_cast<std::size_t>(k)] / step * (moved(unit, s) - moved(unit, -s));
    }
    out.U -= second_order[static_cast<std::size_t>(k)] / (step * step) * (moved(v, s) + moved(v, -s));
  }
  return out;
}

Eigen::VectorXd fitting_velocity(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  const Eigen::MatrixXd Y = dense_closures(model, q, Eigen::VectorXd::Zero(model.nv())).Y;
  if (Y.rows() == 0) {
    return v;
  }
  Eigen::JacobiSVD<Eigen::MatrixXd> svd(Y, Eigen::ComputeThinU | Eigen::ComputeThinV);
  svd.setThreshold(svd.singularValues()(0) < 1e-10 ? 2.0 : 1e-9);
  return v - svd.solve(Eigen::VectorXd(Y * v));
}

DenseMotion dense_closed_motion(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                const Eigen::VectorXd& torque) {
  DenseClosures closures = dense_closures(model, q, v);
  if (closures.Y.rows() == 0) {
    closures = {Eigen::MatrixXd::Zero(1, model.nv()), Eigen::VectorXd::Zero(1)};
  }
  State state(model);
  state.set(q, v);
  const Eigen::MatrixXd M = mass_matrix(state);
  const Eigen::VectorXd bias = inverse_dynamics(state, Eigen::VectorXd(Eigen::VectorXd::Zero(model.nv())));
  Eigen::JacobiSVD<Eigen::MatrixXd> svd(closures.Y, Eigen::ComputeThinU | Eigen::ComputeFullV);
  constexpr double largest_noise = 1e-10;  // where closures cannot move at all, Y is rounding
  svd.setThreshold(svd.singularValues()(0) < largest_noise ? 2.0 : 1e-8);
  const auto rank = svd.rank();
  const Eigen::MatrixXd X = svd.matrixV().rightCols(model.nv() - rank);
  const Eigen::VectorXd forced = svd.solve(closures.U);
  const Eigen::VectorXd left = X.transpose() * (torque - bias - M * forced);
  const Eigen::VectorXd acceleration = forced + X * (X.transpose() * M * X).ldlt().solve(left);
  return {acceleration, torque - bias - M * acceleration, static_cast<int>(rank)};
}

}  // namespace bunraku::test
