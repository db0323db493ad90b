/// Derivatives of closed forward dynamics against differences along the manifold, also where those open the closures.
#include "bunraku/dynamics/closed_derivatives.hpp"

#include <Eigen/SVD>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/allocations.hpp"
#include "support/closed_models.hpp"
#include "support/finite_difference.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;
using testing::HasSubstr;

constexpr double closed_accuracy = 1e-7;  // of differences in steps of 0.001 of accelerations that vary within 0.1

/// θ̈ and all closure forces.
struct ClosedMotion {
  VectorXd acceleration;
  VectorXd force;
};

ClosedMotion motion_of(ClosedSystem& system, const VectorXd& torque) {
  ClosedMotion out{closed_forward_dynamics<double>(system, torque), VectorXd(system.rows())};
  for (int i = 0, row = 0; i < system.closures(); ++i) {
    const int rows = closure_rows(system.closure(i));
    closure_forces<double>(system, i, out.force.segment(row, rows));
    row += rows;
  }
  return out;
}

/// A closed system at a state.
struct ClosedCase {
  ClosedCase(const ClosedModel& closed, Random& random)
      : model(closed.model),
        n(model.nv()),
        q(closed.q),
        v(fitting_velocity(model, q, random.vector(n))),
        torque(random.vector(n, 3)),
        system(model) {
    system.set(q, v);
  }
  /// The derivative of both along a direction in q, v and T.
  ClosedMotion along(const VectorXd& dq, const VectorXd& dv, const VectorXd& dtau) {
    const VectorXd all = central_difference(
        [&](double s) -> VectorXd {
          system.set(integrate(model, q, dq, s), VectorXd(v + s * dv));
          const ClosedMotion there = motion_of(system, torque + s * dtau);
          VectorXd out(n + system.rows());
          out << there.acceleration, there.force;
          return out;
        },
        1e-3);
    system.set(q, v);
    return {all.head(n), all.tail(system.rows())};
  }
  /// Whether all closures' equations are independent, and not nearly dependent: others may contradict each other where
  /// the differences lead.
  bool is_regular() {
    const ClosureReport& report = closure_report(system);
    if (report.rows == 0 || report.rank < report.rows || report.degrees_of_freedom == 0) {
      return false;
    }
    const VectorXd sigma = closure_jacobian(system).jacobiSvd().singularValues();
    return sigma(report.rank - 1) > 0.01 * sigma(0);
  }

  Model model;
  int n;
  VectorXd q;
  VectorXd v;
  VectorXd torque;
  ClosedSystem system;
};

/// A sample whose closures are independent.
ClosedCase regular_case(Random& random) {
  for (int sample = 0;; ++sample) {
    ClosedCase out(random_closed_model(sample, 10, 2, random), random);
    if (out.is_regular()) {
      return out;
    }
  }
}

/// The largest difference, as part of the largest number.
double apart(const MatrixXd& ours, const MatrixXd& wanted) {
  return wanted.size() == 0 ? 0 : (ours - wanted).cwiseAbs().maxCoeff() / std::max(1.0, wanted.cwiseAbs().maxCoeff());
}

/// All of one system, against differences; with forces where they are unique. Returns the largest difference.
double expect_differences(ClosedCase& c) {
  const int n = c.n;
  const int m = c.system.rows();
  const ClosureReport report = closure_report(c.system);
  MatrixXd dq(n, n), dv(n, n), dtau(n, n);
  MatrixXd fq = MatrixXd::Zero(m, n), fv = fq, ftau = fq;
  bool unique = report.redundant.empty();
  if (unique) {
    closed_forward_dynamics_derivatives<double>(c.system, c.torque, dq, dv, dtau, fq, fv, ftau);
  } else {
    closed_forward_dynamics_derivatives<double>(c.system, c.torque, dq, dv, dtau);
  }
  for (int i = 0; i < c.system.closures(); ++i) {  // rows of a custom hinge are any basis, another one at each state
    unique = unique && c.system.closure(i).hinge.type != HingeType::custom;
  }
  MatrixXd wq(n, n), wv(n, n), wtau(n, n), gq(m, n), gv(m, n), gtau(m, n);
  const VectorXd none = VectorXd::Zero(n);
  for (int j = 0; j < n; ++j) {
    const VectorXd e = VectorXd::Unit(n, j);
    const ClosedMotion by_q = c.along(e, none, none);
    const ClosedMotion by_v = c.along(none, e, none);
    const ClosedMotion by_tau = c.along(none, none, e);
    wq.col(j) = by_q.acceleration;
    wv.col(j) = by_v.acceleration;
    wtau.col(j) = by_tau.acceleration;
    gq.col(j) = by_q.force;
    gv.col(j) = by_v.force;
    gtau.col(j) = by_tau.force;
  }
  double most = std::max({apart(dq, wq), apart(dv, wv), apart(dtau, wtau)});
  if (unique) {
    most = std::max({most, apart(fq, gq), apart(fv, gv), apart(ftau, gtau)});
  }
  EXPECT_LT(apart(dq, wq), closed_accuracy);
  EXPECT_LT(apart(dv, wv), closed_accuracy);
  EXPECT_LT(apart(dtau, wtau), closed_accuracy);
  if (unique) {
    EXPECT_LT(apart(fq, gq), closed_accuracy);
    EXPECT_LT(apart(fv, gv), closed_accuracy);
    EXPECT_LT(apart(ftau, gtau), closed_accuracy);
  }
  return most;
}

TEST(ClosedDerivatives, EveryKindOfClosure) {
  Random random(1);
  double most = 0;
  int tried = 0;
  const auto expect = [&](const ClosureSpec& spec, int sample, const std::string& what) {
    ClosedCase c(random_closed_model(sample, 9, std::span(&spec, 1), random), random);
    if (!c.is_regular()) {
      return;
    }
    ++tried;
    SCOPED_TRACE(what + ", sample " + std::to_string(sample));
    most = std::max(most, expect_differences(c));
  };
  for (const HingeType type : closing_hinge_types()) {
    for (int sample = 0; sample < 4; ++sample) {
      ClosureSpec spec;
      spec.hinge = random_hinge(type, random);
      expect(spec, sample, std::string(to_string(type)));
    }
  }
  for (const ClosureKind kind : {ClosureKind::distance, ClosureKind::plane, ClosureKind::line, ClosureKind::hinges}) {
    for (int sample = 0; sample < 4; ++sample) {
      ClosureSpec spec{.kind = kind};
      spec.hinge.axis = random.unit();
      expect(spec, sample, std::string(to_string(kind)));
    }
  }
  RecordProperty("most", testing::PrintToString(most));
  EXPECT_GE(tried, 40);
}

/// Rows N of a custom hinge may be others at each state, its wrench N*f̃ on a may not: ∂f̃ is N ∂(N*f̃) where N turns as
/// little as it can, N ∂N* = 0.
TEST(ClosedDerivatives, ForcesOfCustomHingesAreThoseOfTheirWrench) {
  Random random(4);
  int tried = 0;
  for (int sample = 0; sample < 6; ++sample) {
    ClosureSpec spec;
    spec.hinge = random_hinge(HingeType::custom, random);
    ClosedCase c(random_closed_model(sample, 9, std::span(&spec, 1), random), random);
    if (!c.is_regular()) {
      continue;
    }
    ++tried;
    const int n = c.n;
    const int m = c.system.rows();
    MatrixXd dq(n, n), dv(n, n), dtau(n, n), fq(m, n), fv(m, n), ftau(m, n);
    closed_forward_dynamics_derivatives<double>(c.system, c.torque, dq, dv, dtau, fq, fv, ftau);
    MatrixXd N(m, 6);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < 6; ++j) {
        N(i, j) = c.system.data().closures[0]->equations.directions[static_cast<std::size_t>(i)][j];
      }
    }
    const VectorXd u = random.vector(n), y = random.vector(n), x = random.vector(n);
    const VectorXd wrench = central_difference(
        [&](double s) -> VectorXd {
          c.system.set(integrate(c.model, c.q, u, s), VectorXd(c.v + s * y));
          closed_forward_dynamics<double>(c.system, VectorXd(c.torque + s * x));
          const Force<double> f = closure_wrench(c.system, 0);
          VectorXd out(6);
          out << f.moment.x, f.moment.y, f.moment.z, f.force.x, f.force.y, f.force.z;
          return out;
        },
        1e-3);
    EXPECT_LT(apart(fq * u + fv * y + ftau * x, N * wrench), closed_accuracy) << sample;
  }
  EXPECT_GE(tried, 3);
}

TEST(ClosedDerivatives, SeveralLoopsOnAnyTree) {
  Random random(2);
  int tried = 0;
  for (int sample = 0; sample < 20; ++sample) {
    ClosedCase c(random_closed_model(sample, 12, 1 + sample % 4, random), random);
    if (!c.is_regular()) {
      continue;
    }
    ++tried;
    SCOPED_TRACE("sample " + std::to_string(sample));
    expect_differences(c);
  }
  EXPECT_GE(tried, 8);
}

/// Two arms, in one tree each, that hold a third member's body: by a soft finger and by a ball.
TEST(ClosedDerivatives, OfMembersAreThoseOfTheirEquations) {
  Random random(13);
  const auto arm = [&](const std::string& name) {
    ModelBuilder builder(name);
    std::string parent = "world";
    for (int k = 0; k < 6; ++k) {
      BodySpec body{
          .name = name + std::to_string(k), .parent = parent, .hinge = random_hinge(HingeType::revolute, random)};
      body.hinge.name = body.name + "_hinge";
      body.X_PF = {random.rotation(), random.vec3(0.4)};
      body.inertia = random.inertia();
      builder.add(body);
      parent = body.name;
    }
    return builder.build();
  };
  const Model left = arm("l");
  const Model right = arm("r");
  ModelBuilder thing("object");
  thing.add(BodySpec{.name = "object", .hinge = {.type = HingeType::free}, .inertia = random.inertia()});
  const Model object = thing.build();
  ClosedSystem system(left);
  const int r = system.add_member(right);
  const int o = system.add_member(object, Role::secondary);
  const VectorXd ql = random_configuration(left, 3);
  const VectorXd qr = random_configuration(right, 4);
  const VectorXd qo = random_configuration(object, 5);
  State sl(left), sr(right), so(object);
  sl.set(ql);
  sr.set(qr);
  so.set(qo);
  Closure soft{.name = "left", .kind = ClosureKind::soft_finger};
  soft.hinge.axis = random.unit();
  soft.a = left.node("l5");
  soft.b = {"grip", 0, pose(so, "object").inverse() * pose(sl, "l5")};
  Closure ball{.name = "right"};
  ball.hinge.type = HingeType::spherical;
  ball.a = right.node("r5");
  ball.b = {"grip", 0, pose(so, "object").inverse() * pose(sr, "r5")};
  system.add_closure(soft, 0, o);
  system.add_closure(ball, r, o);
  VectorXd q(ql.size() + qr.size() + qo.size());
  q << ql, qr, qo;
  system.set(q, VectorXd(random.vector(system.nv())));
  project_velocities(system);
  VectorXd v(system.nv());
  v << system.state(0).v(), system.state(r).v(), system.state(o).v();
  const VectorXd torque = random.vector(system.nv());
  const int n = system.nv();
  const int m = system.rows();
  MatrixXd dq(n, n), dv(n, n), dtau(n, n), fq(m, n), fv(m, n), ftau(m, n);
  closed_forward_dynamics_derivatives<double>(system, torque, dq, dv, dtau, fq, fv, ftau);
  const VectorXd u = random.vector(n), y = random.vector(n), x = random.vector(n);
  const VectorXd all = central_difference(
      [&](double s) -> VectorXd {
        VectorXd there(q.size());
        there << integrate(left, ql, VectorXd(u.head(6)), s), integrate(right, qr, VectorXd(u.segment(6, 6)), s),
            integrate(object, qo, VectorXd(u.tail(6)), s);
        system.set(there, VectorXd(v + s * y));
        const ClosedMotion motion = motion_of(system, torque + s * x);
        VectorXd out(n + m);
        out << motion.acceleration, motion.force;
        return out;
      },
      1e-3);
  EXPECT_LT(apart(dq * u + dv * y + dtau * x, all.head(n)), closed_accuracy);
  EXPECT_LT(apart(fq * u + fv * y + ftau * x, all.tail(m)), closed_accuracy);
}

/// Rows of the user's own, in a tree whose gravity they must not see, and an acceleration that they ask for.
TEST(ClosedDerivatives, OfRowsOfTheUsersOwn) {
  Random random(11);
  ModelBuilder builder = random_tree(8, 0.3, random);
  ClosureSpec rows{.name = "rows", .kind = ClosureKind::rows, .a = "b3", .b = "b7"};
  for (int i = 0; i < 2; ++i) {
    ClosureRow row{};
    for (double& each : row) {
      each = random.uniform(-1, 1);
    }
    rows.rows.push_back(row);
  }
  builder.add(rows);
  const Model model = builder.build();
  ClosedModel closed{model, random_configuration(model, 3)};
  ClosedCase c(closed, random);
  c.system.set_rate(0, std::array{0.5, -0.3});
  expect_differences(c);
}

/// A planar four-bar has more equations than it needs: its accelerations have derivatives, its forces have none.
TEST(ClosedDerivatives, OfRedundantClosuresAreThoseOfAccelerations) {
  Random random(5);
  for (const HingeType type : {HingeType::revolute, HingeType::spherical, HingeType::cylindrical}) {
    ClosedCase c(four_bar(type, false), random);
    expect_differences(c);
  }
  ClosedCase c(four_bar(HingeType::revolute, false), random);
  Closure twice = c.system.closure(0);
  twice.name = "again";
  c.system.add_closure(twice);
  const int n = c.n;
  const int m = c.system.rows();
  MatrixXd dq(n, n), dv(n, n), dtau(n, n), f(m, n);
  closed_forward_dynamics_derivatives<double>(c.system, c.torque, dq, dv, dtau);
  ClosedCase once(four_bar(HingeType::revolute, false), random);
  once.system.set(c.q, c.v);
  const ClosedDynamicsDerivatives<double> wanted = closed_forward_dynamics_derivatives<double>(once.system, c.torque);
  EXPECT_LT(apart(dq, wanted.dq), 1e-10);
  EXPECT_LT(apart(dv, wanted.dv), 1e-10);
  EXPECT_LT(apart(dtau, wanted.dtau), 1e-10);
  try {
    closed_forward_dynamics_derivatives<double>(c.system, c.torque, dq, dv, dtau, f, f, f);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("again"));
  }
}

/// Without closures they are those of the tree; M_C is that of closed_inverse_mass_times().
TEST(ClosedDerivatives, AreThoseOfTreesAndOfTheInverseMass) {
  Random random(7);
  const Model tree = random_dynamics_model(2, random);
  ClosedSystem open(tree);
  const VectorXd q = random_configuration(tree, 3);
  const VectorXd v = random.vector(tree.nv());
  const VectorXd torque = random.vector(tree.nv());
  open.set(q, v);
  const ClosedDynamicsDerivatives<double> ours = closed_forward_dynamics_derivatives<double>(open, torque);
  State state(tree);
  state.set(q, v);
  const ForwardDynamicsDerivatives<double> wanted = forward_dynamics_derivatives<double>(state, torque);
  EXPECT_LT(apart(ours.dq, wanted.dq), 1e-11);
  EXPECT_LT(apart(ours.dv, wanted.dv), 1e-11);
  EXPECT_LT(apart(ours.dtau, wanted.dtau), 1e-11);
  ClosedCase c(random_closed_model(4, 10, 2, random), random);
  const ClosedDynamicsDerivatives<double> closed = closed_forward_dynamics_derivatives<double>(c.system, c.torque);
  const VectorXd x = random.vector(c.n);
  EXPECT_LT(apart(closed.dtau * x, closed_inverse_mass_times<double>(c.system, x)), 1e-10);
}

TEST(ClosedDerivatives, InFloatToo) {
  Random random(3);
  ClosedCase c = regular_case(random);
  BasicClosedSystem<float> single(c.model);
  single.set(c.q.cast<float>(), c.v.cast<float>());
  const Eigen::VectorXf torque = c.torque.cast<float>();
  const ClosedDynamicsDerivatives<float> ours = closed_forward_dynamics_derivatives<float>(single, torque);
  const ClosedDynamicsDerivatives<double> wanted = closed_forward_dynamics_derivatives<double>(c.system, c.torque);
  EXPECT_LT(apart(ours.dq.cast<double>(), wanted.dq), 1e-3);
  EXPECT_LT(apart(ours.dv.cast<double>(), wanted.dv), 1e-3);
  EXPECT_LT(apart(ours.dtau.cast<double>(), wanted.dtau), 1e-3);
}

TEST(ClosedDerivatives, NothingIsAllocatedAfterTheFirstCall) {
  Random random(2);
  ClosedCase c = regular_case(random);
  const int n = c.n;
  const int m = c.system.rows();
  MatrixXd dq(n, n), dv(n, n), dtau(n, n), fq(m, n), fv(m, n), ftau(m, n);
  const auto all = [&] {
    c.system.set(c.q, c.v);
    closed_forward_dynamics_derivatives<double>(c.system, c.torque, dq, dv, dtau, fq, fv, ftau);
  };
  all();
  const std::size_t before = allocations();
  all();
  EXPECT_EQ(allocations(), before);
}

TEST(ClosedDerivatives, RefuseWrongArgumentsAndSingularPoses) {
  Random random(5);
  ClosedCase c(four_bar(HingeType::revolute, false), random);
  MatrixXd right(3, 3), wrong(3, 2);
  const VectorXd few = VectorXd::Zero(2);
  EXPECT_THROW(closed_forward_dynamics_derivatives<double>(c.system, few, right, right, right), ArgumentError);
  EXPECT_THROW(closed_forward_dynamics_derivatives<double>(c.system, c.torque, wrong, right, right), ArgumentError);
  EXPECT_THROW(closed_forward_dynamics_derivatives<double>(c.system, c.torque, right, right, wrong), ArgumentError);
  EXPECT_THROW(
      closed_forward_dynamics_derivatives<double>(c.system, c.torque, right, right, right, right, right, right),
      ArgumentError);
  const ClosedModel flat = four_bar(HingeType::revolute, true);
  ClosedSystem folded(flat.model);
  folded.set(flat.q, VectorXd(VectorXd::Zero(3)));
  EXPECT_THROW(closed_forward_dynamics_derivatives<double>(folded, c.torque, right, right, right), SingularError);
}

}  // namespace
}  // namespace bunraku::test
