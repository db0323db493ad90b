// Closed systems against the constrained equations of motion: closures as functions of the configuration, their
// derivatives by differences of tenth order, motion in the null space.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/assembly.hpp"
#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/embedded.hpp"
#include "bunraku/model/changes.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/allocations.hpp"
#include "support/closed_models.hpp"
#include "support/mechanisms.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The least relative singular value that counts.
double weakest(const Eigen::MatrixXd& Y, int rank) {
  const Eigen::VectorXd sigma = Y.jacobiSvd().singularValues();
  return rank == 0 ? 1 : sigma(rank - 1) / sigma(0);
}

/// A mechanism that is closed there.
ClosedModel at_neutral(const Model& model) {
  return {model, neutral(model)};
}

/// A closed system at a state with velocities that fit.
struct Case {
  Case(const ClosedModel& closed, Random& random)
      : model(closed.model),
        q(closed.q),
        v(fitting_velocity(model, q, random.vector(model.nv()))),
        torque(random.vector(model.nv(), 3)),
        wanted(dense_closed_motion(model, q, v, torque)),
        system(model) {
    system.set(q, v);
  }
  Model model;
  Eigen::VectorXd q;
  Eigen::VectorXd v;
  Eigen::VectorXd torque;
  DenseMotion wanted;
  ClosedSystem system;
};

void expect_right(Case& c, double tolerance) {
  Eigen::VectorXd acceleration(c.model.nv());
  const ClosureReport& report = closed_forward_dynamics(c.system, c.torque, acceleration);
  ASSERT_EQ(report.rank, c.wanted.rank) << c.model.name() << ", " << report.last_kept << " " << report.first_dropped;
  const double size = std::max(1.0, c.wanted.acceleration.cwiseAbs().maxCoeff());
  EXPECT_TRUE(is_near(acceleration, c.wanted.acceleration, tolerance * size));
  // Y*f̃ is unique, f̃ where the report does not say otherwise
  Eigen::VectorXd forces(c.system.rows());
  for (int i = 0, row = 0; i < c.system.closures(); ++i) {
    const int rows = closure_rows(c.system.closure(i));
    closure_forces(c.system, i, forces.segment(row, rows));
    row += rows;
  }
  const Eigen::VectorXd reaction = closure_jacobian(c.system).transpose() * forces;
  EXPECT_TRUE(is_near(reaction, c.wanted.reaction, tolerance * std::max(1.0, c.wanted.reaction.cwiseAbs().maxCoeff())));
}

TEST(ClosedSystems, GapsOfHingesAreTurns) {
  // nearly closed ones, which need no logarithm, and those further away, on both sides of where that changes
  Random random(31);
  for (const double angle : {0.0, 1e-9, 1e-4, 0.0316, 0.0317, 0.4, 3.0}) {
    for (const HingeType type : {HingeType::fixed, HingeType::revolute, HingeType::spherical}) {
      ModelBuilder builder("part");
      builder.add(BodySpec{.name = "part",
                           .hinge = {.type = HingeType::free},
                           .inertia = RigidInertia<double>::about_center(1, {0, 0, 0}, {1, 1, 1, 0, 0, 0})});
      builder.add(ClosureSpec{.name = "pin", .hinge = {.type = type}, .a = "world", .b = "part"});
      ClosedSystem system(builder.build());
      // tilted by `angle` about a direction across the hinge's axis; of a revolute one turned about the axis before
      const Eigen::Vector3d across =
          Eigen::Vector3d(random.vector(2).normalized().homogeneous() - Eigen::Vector3d::UnitZ());
      const double along = type == HingeType::revolute ? 0.7 : 0.0;
      const Eigen::Quaterniond turn(Eigen::AngleAxisd(angle, across) *
                                    Eigen::AngleAxisd(along, Eigen::Vector3d::UnitZ()));
      Eigen::VectorXd q(7);
      q << turn.w(), turn.x(), turn.y(), turn.z(), 0.1, -0.2, 0.3;
      system.set(q, Eigen::VectorXd::Zero(6));
      const Eigen::VectorXd gap = closure_gap(system);
      const Eigen::Index turns = gap.size() - 3;
      EXPECT_NEAR(gap.head(turns).norm(), turns == 0 ? 0 : angle, 1e-15 + 1e-14 * angle) << angle;
      EXPECT_TRUE(is_near(gap.tail(3), Eigen::Vector3d(0.1, -0.2, 0.3), 1e-15));
      if (type == HingeType::fixed) {
        EXPECT_TRUE(is_near(gap.head(3), Eigen::Vector3d(angle * across), 1e-14));
      }
    }
  }
}

TEST(ClosedSystems, EveryKindOfClosure) {
  Random random(1);
  for (const HingeType type : closing_hinge_types()) {
    for (int sample = 0; sample < 6; ++sample) {
      ClosureSpec spec;
      spec.hinge = random_hinge(type, random);
      Case c(random_closed_model(sample, 9, std::span(&spec, 1), random), random);
      SCOPED_TRACE(std::string(to_string(type)) + ", sample " + std::to_string(sample));
      expect_right(c, 1e-9);
    }
  }
  for (const ClosureKind kind : {ClosureKind::distance, ClosureKind::plane, ClosureKind::line, ClosureKind::hinges}) {
    for (int sample = 0; sample < 6; ++sample) {
      ClosureSpec spec{.kind = kind};
      spec.hinge.axis = random.unit();
      Case c(random_closed_model(sample, 8, std::span(&spec, 1), random), random);
      SCOPED_TRACE(std::string(to_string(kind)) + ", sample " + std::to_string(sample));
      expect_right(c, 1e-9);
    }
  }
}

TEST(ClosedSystems, SeveralLoopsOnAnyTree) {
  Random random(2);
  int tried = 0;
  for (int sample = 0; sample < 60; ++sample) {
    Case c(random_closed_model(sample, 14, 1 + sample % 6, random), random);
    if (c.wanted.rank >= c.model.nv() ||
        weakest(dense_closures(c.model, c.q, c.v).Y, c.wanted.rank) < 0.005) {  // nearly singular ones: see below
      continue;
    }
    SCOPED_TRACE("sample " + std::to_string(sample));
    ++tried;
    expect_right(c, 1e-9);
  }
  EXPECT_GE(tried, 30);
}

TEST(ClosedSystems, InverseDynamicsUndoesForward) {
  Random random(3);
  for (int sample = 0; sample < 12; ++sample) {
    Case c(random_closed_model(sample, 10, 1 + sample % 3, random), random);
    if (c.wanted.rank >= c.model.nv()) {
      continue;
    }
    const Eigen::VectorXd least = closed_inverse_dynamics(c.system, c.wanted.acceleration);
    EXPECT_TRUE(is_near(closed_forward_dynamics(c.system, least), c.wanted.acceleration,
                        1e-8 * std::max(1.0, c.wanted.acceleration.cwiseAbs().maxCoeff())));
    // of least norm: at right angles to all that closures can do
    EXPECT_LE((closure_jacobian(c.system) * least).norm(), 1e-9 * (1 + least.norm()) * c.model.nv());
    EXPECT_LE(least.norm(), c.torque.norm() * (1 + 1e-9) + 1e-9);
  }
}

TEST(ClosedSystems, TorquesOfChosenHingesAlone) {
  Random random(4);
  Case c(four_bar(HingeType::revolute, false), random);
  const Eigen::VectorXd wanted = c.wanted.acceleration;
  Eigen::VectorXd torque(3);
  closed_inverse_dynamics(c.system, wanted, std::array{0}, torque);
  EXPECT_EQ(torque(1), 0);
  EXPECT_EQ(torque(2), 0);
  EXPECT_TRUE(is_near(closed_forward_dynamics(c.system, torque), wanted, 1e-10 * (1 + wanted.norm())));
  EXPECT_THROW(closed_inverse_dynamics(c.system, wanted, std::array{7}, torque), ArgumentError);
  EXPECT_THROW(closed_inverse_dynamics(c.system, wanted, std::span<const int>(), torque), Error);
}

TEST(ClosedSystems, InverseMassIsThatOfTheNullSpace) {
  Random random(5);
  for (int sample = 0; sample < 12; ++sample) {
    Case c(random_closed_model(sample, 10, 1 + sample % 3, random), random);
    State state(c.model);
    state.set(c.q);
    const Eigen::MatrixXd M = mass_matrix(state);
    const Eigen::MatrixXd Y = dense_closures(c.model, c.q, c.v).Y;
    Eigen::JacobiSVD<Eigen::MatrixXd> svd(Y, Eigen::ComputeFullV);
    const Eigen::MatrixXd X = svd.matrixV().rightCols(c.model.nv() - c.wanted.rank);
    const Eigen::VectorXd x = random.vector(c.model.nv());
    const Eigen::VectorXd wanted = X * (X.transpose() * M * X).ldlt().solve(X.transpose() * x);
    EXPECT_TRUE(is_near(closed_inverse_mass_times(c.system, x), wanted, 1e-9 * std::max(1.0, wanted.norm())));
  }
}

TEST(ClosedSystems, ClosedInertiaAtANode) {
  Random random(6);
  Case c(at_neutral(stewart_platform()), random);
  Eigen::MatrixXd got(6, 6);
  closed_lambda_inverse(c.system, 0, {"platform"}, got);
  State state(c.model);
  state.set(c.q);
  const Eigen::MatrixXd J = jacobian(state, "platform", Frame::node);
  const Eigen::MatrixXd Y = closure_jacobian(c.system);
  const Eigen::MatrixXd W = mass_matrix(state).inverse();
  const Eigen::MatrixXd wanted =
      J * (W - W * Y.transpose() * (Y * W * Y.transpose()).inverse() * Y * W) * J.transpose();
  EXPECT_TRUE(is_near(got, wanted, 1e-10 * wanted.norm()));
}

TEST(ClosedSystems, MechanismsThatPeopleKnow) {
  Random random(7);
  struct Known {
    ClosedModel closed;
    int rows;
    int freedoms;
  };
  const Known all[] = {{four_bar(HingeType::revolute, false), 5, 1},
                       {four_bar(HingeType::spherical, false), 3, 1},
                       {at_neutral(stewart_platform()), 18, 6},
                       {at_neutral(planar_3rrr()), 10, 3}};
  for (const Known& each : all) {
    SCOPED_TRACE(each.closed.model.name());
    Case c(each.closed, random);
    EXPECT_LE(closure_gap(c.system).cwiseAbs().maxCoeff(), 1e-14);
    const ClosureReport& report = closure_report(c.system);
    EXPECT_EQ(report.rows, each.rows);
    EXPECT_EQ(report.degrees_of_freedom, each.freedoms);
    expect_right(c, 1e-10);
    // from a guess that is off
    ClosedSystem off(each.closed.model);
    off.state().set(integrate(each.closed.model, each.closed.q, random.vector(each.closed.model.nv(), 0.15), 1.0));
    const AssemblyResult result = assemble(off);
    EXPECT_TRUE(result.closed) << result.residual;
    EXPECT_LE(closure_gap(off).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(ClosedSystems, RedundantClosuresAreTold) {
  Random random(8);
  // a planar loop in space has three equations too many
  Case planar(four_bar(HingeType::revolute, false), random);
  const ClosureReport first = closure_report(planar.system);
  EXPECT_EQ(first.rank, 2);
  EXPECT_THAT(first.redundant, ElementsAre("pin"));
  EXPECT_LT(first.first_dropped, 1e-12);
  EXPECT_GT(first.last_kept, 1e-3);
  EXPECT_FALSE(first.nearly_redundant);
  EXPECT_FALSE(first.singular);
  // a loop closed twice over: motion as before, and the forces of both add up
  ClosedModel once = at_neutral(stewart_platform());
  ModelBuilder builder = edit(once.model);
  ClosureSpec again = builder.closures().front();
  again.name = "again";
  builder.add(again);
  Case c({builder.build(), once.q}, random);
  expect_right(c, 1e-10);
  const ClosureReport second = closure_report(c.system);
  EXPECT_EQ(second.rank, 18);
  EXPECT_EQ(second.rows, 21);
  EXPECT_THAT(second.redundant, ElementsAre("ball0", "again"));
  EXPECT_EQ(second.generic_rank, 18);
  EXPECT_FALSE(second.singular);
  Eigen::VectorXd out(c.model.nv());
  closed_forward_dynamics(c.system, c.torque, out);
  const Force<double> sum = closure_wrench(c.system, 0) + closure_wrench(c.system, 6);
  ClosedSystem alone(once.model);
  alone.set(c.q, c.v);
  closed_forward_dynamics(alone, c.torque, out);
  EXPECT_LE(norm(sum.force - closure_wrench(alone, 0).force), 1e-9 * norm(sum.force));
}

/// A body fixed by a closure to the one that carries it on a hinge, whose own hinge goes through the closure's node,
/// 0.2 above it along z.
Model welded_to_its_parent(const Hinge& carrying, const Vec3<double>& axis) {
  ModelBuilder builder("welded");
  const RigidInertia<double> inertia =
      RigidInertia<double>::about_center(1, {0.1, 0, 0.3}, Sym3<double>::diagonal(0.01, 0.02, 0.02));
  builder.add(BodySpec{.name = "parent", .hinge = carrying, .inertia = inertia});
  BodySpec child{.name = "child",
                 .parent = "parent",
                 .hinge = {.name = "own", .type = HingeType::revolute, .axis = axis},
                 .inertia = inertia};
  child.X_PF.translation = {0, 0, 0.2};
  builder.add(child);
  builder.add(NodeSpec{.name = "at_parent", .body = "parent", .X_BN = Transform<double>::translate({0, 0, 0.2})});
  builder.add(ClosureSpec{.name = "weld", .hinge = {.type = HingeType::fixed}, .a = "child", .b = "at_parent"});
  return builder.build();
}

TEST(ClosedSystems, RowsThatSeeRoundingAloneAreDependent) {
  for (const Vec3<double>& axis : {Vec3<double>{0.3, 0.5, 0.8}, Vec3<double>{1, 0, 0}, Vec3<double>{0, 0, 1}}) {
    const Model model = welded_to_its_parent({.name = "hinge", .type = HingeType::revolute, .axis = {0, 1, 0}}, axis);
    ClosedSystem system(model);
    EmbeddedState embedded(model);
    for (const double angle : {0.0, 0.4, -2.0}) {
      for (const double open : {0.0, 1e-17, 1e-13}) {
        const Eigen::Vector2d q(angle, open);
        const Eigen::Vector2d none = Eigen::Vector2d::Zero();
        system.set(q, none);
        Eigen::VectorXd got(2);
        EXPECT_EQ(closed_forward_dynamics(system, none, got).rank, 1);
        // the two as one body: 0.4 kg·m² about the hinge, 0.2 and 0.8 kg·m from it
        const double wanted = 9.81 * (0.2 * std::cos(angle) + 0.8 * std::sin(angle)) / 0.4;
        EXPECT_NEAR(got(0), wanted, 1e-10) << angle << ", " << open;
        EXPECT_NEAR(got(1), 0, 1e-10);
        embedded.set(q, none);
        EXPECT_EQ(degrees_of_freedom(embedded), 1);
        EXPECT_NEAR(embedded_forward_dynamics(embedded, none)(0), wanted, 1e-10);
      }
    }
  }
}

TEST(ClosedSystems, BalancedWeightsContradictNothing) {
  const Model model =
      welded_to_its_parent({.name = "slide", .type = HingeType::prismatic, .axis = {0, 1, 0}}, {1, 0, 0});
  ClosedSystem system(model);
  const Eigen::Vector2d none = Eigen::Vector2d::Zero();
  for (const double speed : {0.0, 1.0}) {
    system.set(none, Eigen::Vector2d(speed, 0));
    EXPECT_LE(closed_forward_dynamics(system, none).norm(), 1e-14);
  }
}

TEST(ClosedSystems, AFoldedFourBarIsFinite) {
  Random random(9);
  const ClosedModel folded = four_bar(HingeType::spherical, true);
  ClosedSystem system(folded.model);
  system.set(folded.q, Eigen::VectorXd(Eigen::VectorXd::Zero(3)));
  const ClosureReport& report = closure_report(system);
  EXPECT_EQ(report.rank, 1);  // along the bars nothing moves to first order, out of the plane nothing at all
  EXPECT_EQ(report.degrees_of_freedom, 2);
  EXPECT_EQ(report.generic_rank, 2);
  EXPECT_TRUE(report.singular);
  Eigen::VectorXd there(3);
  EXPECT_TRUE(closed_forward_dynamics(system, Eigen::VectorXd(random.vector(3)), there).singular);
  EXPECT_TRUE(there.allFinite());
  const std::vector<std::vector<double>> directions = singular_directions(system);
  ASSERT_EQ(directions.size(), 1U);
  EXPECT_NEAR(std::abs(directions[0][0]), 1, 1e-3);  // a force along the bars
  for (const double angle : {1e-2, 1e-5, 1e-8}) {    // near it, as a parallelogram
    Eigen::VectorXd q(3);
    q << angle, -angle, angle;
    Eigen::VectorXd v(3);
    v << 1, -1, 1;
    system.set(q, v);
    EXPECT_LE(closure_gap(system).norm(), 1e-14);
    EXPECT_LE(closure_velocity(system).norm(), 1e-14);
    const Eigen::VectorXd torque = random.vector(3);
    EXPECT_FALSE(closure_report(system).singular);
    EXPECT_TRUE(singular_directions(system).empty());
    const Eigen::VectorXd got = closed_forward_dynamics(system, torque);
    State state(folded.model);
    state.set(q, v);
    const Eigen::Vector3d X(1, -1, 1);  // exactly: it stays a parallelogram
    const double wanted = X.dot(torque - bias(state)) / X.dot(mass_matrix(state) * X);
    if (angle > 1e-7) {
      EXPECT_TRUE(is_near(got, Eigen::VectorXd(wanted * X), 1e-9 / angle * std::abs(wanted))) << angle;
    }
    EXPECT_TRUE(got.allFinite());
  }
}

TEST(ClosedSystems, ContradictionsAreNamed) {
  ClosedModel twice = at_neutral(stewart_platform());
  ModelBuilder builder = edit(twice.model);
  ClosureSpec again = builder.closures().front();
  again.name = "again";
  builder.add(again);
  const Model model = builder.build();
  ClosedSystem system(model);
  system.set(twice.q, Eigen::VectorXd(Eigen::VectorXd::Zero(model.nv())));
  system.set_rate(system.closure_index("again"), Eigen::Vector3d(0, 0, 1));
  Eigen::VectorXd out(model.nv());
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(model.nv());
  try {
    closed_forward_dynamics(system, none, out);
    FAIL();
  } catch (const ContradictionError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ball0, again"));
  }
  system.set_rate(system.closure_index("ball0"), Eigen::Vector3d(0, 0, 1));  // now both ask the same
  closed_forward_dynamics(system, none, out);
  EXPECT_TRUE(out.allFinite());
}

TEST(ClosedSystems, WorldsAndRowsOfTheUsersOwn) {
  // Q_aV_a + Q_bV_b = Ũ: a body falls along z at a given acceleration, whatever gravity says
  ModelBuilder builder;
  Random random(11);
  builder.add(BodySpec{.name = "body", .hinge = {.type = HingeType::free}, .inertia = random.inertia()});
  ClosureSpec rows{.name = "lift", .kind = ClosureKind::rows, .a = "world", .b = "body"};
  ClosureRow down{};
  down[11] = 1;
  rows.rows = {down};
  builder.add(rows);
  const Model model = builder.build();
  ClosedSystem system(model);
  Eigen::VectorXd q = neutral(model);
  system.set(q, Eigen::VectorXd(Eigen::VectorXd::Zero(6)));
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(6);
  system.set_rate(0, std::array{0.5});
  const Eigen::VectorXd a = closed_forward_dynamics(system, none);
  EXPECT_NEAR(a(5), 0.5, 1e-12);
  Eigen::VectorXd f(1);
  closure_forces(system, 0, f);
  State open(model);
  open.set(q);
  const Eigen::VectorXd pushed = mass_matrix(open) * a + bias(open);  // T − Y*f̃ with T = 0
  EXPECT_TRUE(is_near(pushed, Eigen::VectorXd(-f(0) * Eigen::VectorXd::Unit(6, 5)), 1e-11 * pushed.norm()));
}

TEST(ClosedSystems, EmbeddedLoopsMoveAsCutOnes) {
  Random random(19);
  for (const ClosedModel& closed : {four_bar(HingeType::revolute, false), at_neutral(stewart_platform()),
                                    at_neutral(planar_3rrr()), random_closed_model(1, 10, 2, random)}) {
    SCOPED_TRACE(closed.model.name());
    Case c(closed, random);
    EmbeddedState embedded(c.model);
    embedded.set(c.q, c.v);
    const Eigen::VectorXd cut = closed_forward_dynamics(c.system, c.torque);
    EXPECT_TRUE(is_near(embedded_forward_dynamics(embedded, c.torque), cut, 1e-10 * cut.cwiseAbs().maxCoeff()));
    EXPECT_EQ(degrees_of_freedom(embedded), closure_report(c.system).degrees_of_freedom);
  }
}

TEST(ClosedSystems, InFloatToo) {
  Random random(12);
  for (int sample = 0; sample < 6; ++sample) {
    ClosureSpec spec;
    spec.hinge = random_hinge(HingeType::spherical, random);
    Case c(random_closed_model(sample, 8, std::span(&spec, 1), random), random);
    BasicClosedSystem<float> single(c.model);
    single.set(normalize(c.model, c.q).cast<float>(), c.v.cast<float>());
    const Eigen::VectorXf torque = c.torque.cast<float>();
    const Eigen::VectorXf a = closed_forward_dynamics(single, torque);
    const double size = std::max(1.0, c.wanted.acceleration.cwiseAbs().maxCoeff());
    EXPECT_TRUE(is_near(Eigen::VectorXd(a.cast<double>()), c.wanted.acceleration, 2e-3 * size));
  }
}

/// Two arms and an object as three trees, against the same as one.
TEST(ClosedSystems, MembersAreAsOneTree) {
  Random random(13);
  const auto arm = [&](const std::string& name, const Vec3<double>& base) {
    ModelBuilder builder(name);
    std::string parent = "world";
    for (int k = 0; k < 6; ++k) {
      BodySpec body{
          .name = name + std::to_string(k), .parent = parent, .hinge = random_hinge(HingeType::revolute, random)};
      body.hinge.name = body.name + "_hinge";
      body.X_PF = {random.rotation(), k == 0 ? base : random.vec3(0.4)};
      body.inertia = random.inertia();
      builder.add(body);
      parent = body.name;
    }
    return builder.build();
  };
  const Model left = arm("l", {1, 0, 0});
  const Model right = arm("r", {-1, 0, 0});
  ModelBuilder thing("object");
  thing.add(BodySpec{.name = "object", .hinge = {.type = HingeType::free}, .inertia = random.inertia()});
  const Model object = thing.build();
  const Model both = join(join(left, "world", right), "world", object);
  const Eigen::VectorXd ql = random_configuration(left, 3);
  const Eigen::VectorXd qr = random_configuration(right, 4);
  const Eigen::VectorXd qo = random_configuration(object, 5);
  State sl(left), sr(right), so(object);
  sl.set(ql);
  sr.set(qr);
  so.set(qo);
  const auto grip = [&](const char* name, State& s, const char* tip) {
    Closure c{.name = name};
    c.a = s.model().node(tip);
    c.b = {"grip", 0, pose(so, "object").inverse() * pose(s, tip)};
    return c;
  };
  ClosedSystem parts(left);
  const int r = parts.add_member(right);
  const int o = parts.add_member(object, Role::secondary);
  parts.add_closure(grip("left", sl, "l5"), 0, o);
  const int second = parts.add_closure(grip("right", sr, "r5"), r, o);
  ClosedSystem whole(both);
  Closure a = grip("left", sl, "l5");
  Closure b = grip("right", sr, "r5");
  a.a = both.node("l5");
  b.a = both.node("r5");
  a.b.body = b.b.body = both.body_index("object");
  whole.add_closure(a);
  whole.add_closure(b);
  Eigen::VectorXd q(ql.size() + qr.size() + qo.size());
  q << ql, qr, qo;
  whole.set(q, Eigen::VectorXd(random.vector(whole.nv())));
  project_velocities(whole);
  EXPECT_LE(closure_velocity(whole).norm(), 1e-10);
  const Eigen::VectorXd v = whole.state().v();
  parts.set(q, v);
  EXPECT_LE(closure_gap(parts).norm(), 1e-12);
  const Eigen::VectorXd torque = random.vector(whole.nv());
  const Eigen::VectorXd wanted = closed_forward_dynamics(whole, torque);
  EXPECT_TRUE(is_near(closed_forward_dynamics(parts, torque), wanted, 1e-9 * wanted.norm()));
  const Force<double> f = closure_wrench(parts, second);
  EXPECT_LE(norm(f.force - closure_wrench(whole, 1).force), 1e-8 * norm(f.force));
  // what is let go is free
  parts.detach(second);
  parts.detach(0);
  State open(object);
  open.set(qo, Eigen::VectorXd(v.tail(6)));
  const Eigen::VectorXd flies = forward_dynamics(open, Eigen::VectorXd(torque.tail(6)));
  EXPECT_TRUE(is_near(Eigen::VectorXd(closed_forward_dynamics(parts, torque).tail(6)), flies, 1e-12 * flies.norm()));
}

TEST(ClosedSystems, AChangedClosureTouchesTheSmallSolveAlone) {
  Random random(14);
  Case c(at_neutral(stewart_platform()), random);
  const detail::ClosedWork& work = c.system.data().work;
  Eigen::VectorXd out(c.model.nv());
  Closure welded = c.system.closure(2);
  welded.hinge = {.type = HingeType::revolute};
  c.system.change_closure(2, welded);
  c.system.set_rate(0, Eigen::Vector3d(0, 0, 0));
  closed_forward_dynamics(c.system, Eigen::VectorXd(Eigen::VectorXd::Zero(c.model.nv())), out);
  const detail::ClosedWork before = work;
  Closure ball = welded;
  ball.hinge = {.type = HingeType::spherical};
  c.system.change_closure(2, ball);
  closed_forward_dynamics(c.system, Eigen::VectorXd(Eigen::VectorXd::Zero(c.model.nv())), out);
  EXPECT_EQ(work.sweeps, before.sweeps);
  EXPECT_EQ(work.columns, before.columns);
  EXPECT_EQ(work.solves, before.solves + 1);
  ClosedSystem anew(c.model);
  anew.set(c.q, c.v);
  const Eigen::VectorXd wanted = closed_forward_dynamics(anew, Eigen::VectorXd(Eigen::VectorXd::Zero(c.model.nv())));
  EXPECT_TRUE(is_near(out, wanted, 1e-11 * wanted.norm()));
  // a closure that comes back makes its own columns and nothing else
  c.system.detach(1);
  closed_forward_dynamics(c.system, Eigen::VectorXd(Eigen::VectorXd::Zero(c.model.nv())), out);
  const detail::ClosedWork open = work;
  c.system.attach(1);
  closed_forward_dynamics(c.system, Eigen::VectorXd(Eigen::VectorXd::Zero(c.model.nv())), out);
  EXPECT_EQ(work.sweeps, open.sweeps);
  EXPECT_EQ(work.columns, open.columns + 1);
}

TEST(ClosedSystems, ComingAndGoingDoesNotAllocate) {
  Random random(15);
  Case c(at_neutral(stewart_platform()), random);
  Eigen::VectorXd out(c.model.nv());
  const auto round = [&](int i) {
    c.system.detach(i % 6);
    closed_forward_dynamics(c.system, c.torque, out);
    c.system.attach(i % 6);
    closed_forward_dynamics(c.system, c.torque, out);
  };
  for (int i = 0; i < 6; ++i) {
    round(i);
  }
  const std::size_t before = allocations();
  for (int i = 0; i < 10000; ++i) {
    round(i);
  }
  EXPECT_EQ(allocations(), before);
  EXPECT_TRUE(is_near(out, c.wanted.acceleration, 1e-9 * c.wanted.acceleration.norm()));
}

TEST(ClosedSystems, RedundantOnesDoNotAllocateEither) {
  Random random(16);
  Case c(at_neutral(planar_3rrr()), random);
  Eigen::VectorXd out(c.model.nv());
  closed_forward_dynamics(c.system, c.torque, out);
  const std::size_t before = allocations();
  for (int i = 0; i < 10; ++i) {
    c.system.set(c.q, c.v);
    closed_forward_dynamics(c.system, c.torque, out);
  }
  EXPECT_EQ(allocations(), before);
}

TEST(ClosedSystems, DependentVelocities) {
  Random random(17);
  Case c(four_bar(HingeType::revolute, false), random);
  Eigen::VectorXd v(3);
  dependent_velocities(c.system, std::array{0}, std::array{2.0}, v);
  EXPECT_NEAR(v(0), 2, 1e-14);
  c.system.set(c.q, v);
  EXPECT_LE(closure_velocity(c.system).norm(), 1e-13);
  EXPECT_THROW(dependent_velocities(c.system, std::array{0, 1}, std::array{1.0, 1.0}, v), Error);
  EXPECT_THROW(dependent_velocities(c.system, std::span<const int>(), std::span<const double>(), v), Error);
}

TEST(ClosedSystems, StatesOffTheClosures) {
  Random random(18);
  const ClosedModel closed = four_bar(HingeType::revolute, false);
  ClosedSystem system(closed.model);
  const Eigen::VectorXd off = closed.q + Eigen::Vector3d(0.05, 0, 0);
  const Eigen::VectorXd v = Eigen::Vector3d(1, 1, 1);
  system.set(off, v);
  try {
    settle(system, OffClosures::refuse);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("closure 'pin' is open by"));
  }
  EXPECT_TRUE(is_near(Eigen::VectorXd(system.state().q()), off, 0)) << "nothing was changed";
  settle(system, OffClosures::assemble);
  EXPECT_LE(closure_gap(system).norm(), 1e-11);
  EXPECT_LE(closure_velocity(system).norm(), 1e-11);
  system.set(closed.q, v);
  EXPECT_THROW(settle(system, OffClosures::refuse), Error);
  settle(system, OffClosures::project);
  EXPECT_LE(closure_velocity(system).norm(), 1e-11);
}

TEST(ClosedSystems, WhatCannotBeClosedIsTold) {
  ClosedModel closed = four_bar(HingeType::revolute, false);
  ModelBuilder builder = edit(closed.model);
  builder.nodes().back().X_BN = Transform<double>::translate({20, 0, 0});
  ClosedSystem system(builder.build());
  system.state().set(closed.q);
  const AssemblyResult result = assemble(system);
  EXPECT_FALSE(result.closed);
  EXPECT_EQ(result.worst, "pin");
  EXPECT_GT(result.residual, 1);
  EXPECT_TRUE(std::isfinite(result.residual));
}

TEST(ClosedSystems, WrongArgumentsAreRefused) {
  const ClosedModel closed = four_bar(HingeType::revolute, false);
  ClosedSystem system(closed.model);
  Closure self{.name = "self"};
  self.a = self.b = closed.model.node("crank");
  EXPECT_THROW(system.add_closure(self), ArgumentError);
  Closure nowhere = self;
  nowhere.b.body = 17;
  EXPECT_THROW(system.add_closure(nowhere), ArgumentError);
  EXPECT_THROW(system.add_closure(self, 0, 3), ArgumentError);
  EXPECT_THROW(system.state(1), ArgumentError);
  EXPECT_THROW(system.closure(1), ArgumentError);
  EXPECT_THROW(system.closure_index("pim"), ArgumentError);
  EXPECT_THROW(system.remove_member(4), ArgumentError);
  EXPECT_THROW(system.set_rank_tolerance(0), ArgumentError);
  Eigen::VectorXd out(2);
  EXPECT_THROW(closed_forward_dynamics(system, Eigen::VectorXd(Eigen::VectorXd::Zero(3)), out), ArgumentError);
  EXPECT_EQ(system.rows(), 5);
}

}  // namespace
}  // namespace bunraku::test
