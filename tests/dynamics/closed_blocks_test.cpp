/// Step D group by group (RJK89 after 3.11) against step D with one Λ.
#include <array>

#include <gtest/gtest.h>

#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/allocations.hpp"
#include "support/grasps.hpp"

namespace bunraku::test {

namespace {

/// An object and arms that hold it, closed where they happen to be.
struct Held {
  ClosedSystem system;
  std::vector<int> arms;
  std::vector<int> closures;
  Eigen::VectorXd torque;

  Held(const Model& object, Role role = Role::secondary) : system(object) {
    if (role == Role::secondary) {
      system.data().members[0]->role = role;
    }
  }

  int hold(const Model& arm, Random& random, HingeType type, int body, const Eigen::VectorXd* q = nullptr) {
    const int member = system.add_member(arm);
    State& state = system.state(member);
    state.set(q != nullptr ? *q : random.vector(arm.nq(), 2), Eigen::VectorXd::Zero(arm.nv()));
    const Node tip = arm.node("tip");
    State& object = system.state(0);
    Closure closure;
    closure.name = "grasp" + std::to_string(arms.size());
    closure.hinge.type = type;
    closure.hinge.axis = random.unit();
    closure.hinge.axis2 = random.unit();
    closure.a = tip;
    closure.b = {.name = "there", .body = body, .X_BN = pose(object, body).inverse() * pose(state, tip)};
    closures.push_back(system.add_closure(closure, member, 0));
    arms.push_back(member);
    return member;
  }

  void start(Random& random) {
    Eigen::VectorXd q(system.nq());
    int at = 0;
    for (int i = 0; i < system.members(); ++i) {
      q.segment(at, system.state(i).q().size()) = system.state(i).q();
      at += static_cast<int>(system.state(i).q().size());
    }
    system.set(q, random.vector(system.nv()));
    project_velocities(system);
    torque = random.vector(system.nv(), 5);
  }
  void go_by(detail::StepD way) {
    system.data().blocks.wanted = way;
    system.detach(closures[0]);
    system.attach(closures[0]);
  }
};

Eigen::VectorXd forces(Held& held) {
  Eigen::VectorXd out(held.system.rows());
  int at = 0;
  for (const int closure : held.closures) {
    const int rows = closure_rows(held.system.closure(closure));
    std::vector<double> part(static_cast<std::size_t>(rows));
    closure_forces(held.system, closure, part);
    std::copy(part.begin(), part.end(), out.data() + at);
    at += rows;
  }
  return out;
}

/// Both ways; relative differences of accelerations and forces.
double difference(Held& held, double* in_forces = nullptr) {
  held.go_by(detail::StepD::dense);
  const Eigen::VectorXd dense = closed_forward_dynamics(held.system, held.torque);
  const Eigen::VectorXd dense_forces = forces(held);
  held.go_by(detail::StepD::blocks);
  const Eigen::VectorXd blocks = closed_forward_dynamics(held.system, held.torque);
  EXPECT_TRUE(held.system.data().blocks.certain);
  if (in_forces != nullptr) {
    *in_forces = (forces(held) - dense_forces).norm() / dense_forces.norm();
  }
  return (blocks - dense).norm() / dense.norm();
}

constexpr std::array contact_types = {HingeType::fixed, HingeType::spherical, HingeType::revolute,
                                      HingeType::universal};

TEST(ClosedBlocks, AreTheSameAsOneMatrix) {
  Random random(81);
  double worst = 0;
  double worst_force = 0;
  for (int arms = 2; arms <= 64; arms = arms < 8 ? arms + 1 : 2 * arms) {
    for (const int more : {0, 2}) {
      Held held(random_object(more, random));
      held.system.state(0).set(random_configuration(held.system.state(0).model(), 3),
                               Eigen::VectorXd::Zero(held.system.nv()));
      for (int i = 0; i < arms; ++i) {
        held.hold(random_arm(6 + i % 2, random), random, contact_types[static_cast<std::size_t>(i % 4)],
                  random.integer(0, more));
      }
      held.start(random);
      double in_forces = 0;
      worst = std::max(worst, difference(held, &in_forces));
      worst_force = std::max(worst_force, in_forces);
    }
  }
  EXPECT_LT(worst, 1e-10);
  EXPECT_LT(worst_force, 1e-10);
}

TEST(ClosedBlocks, KeepDigitsNearSingularArms) {
  Random random(82);
  for (const double tilt : {1e-1, 1e-2, 1e-3, 1e-4, 1e-6}) {
    // two last axes nearly in line: one direction of the tip is lost as they become so
    Held held(random_object(0, random));
    for (int i = 0; i < 4; ++i) {
      ModelBuilder builder = edit(random_arm(6, random));
      BodySpec& last = builder.body("b5");
      last.X_PF = Transform<double>::identity();
      last.hinge.axis = normalized(builder.body("b4").hinge.axis + random.unit() * tilt);
      Model arm = builder.build();
      Eigen::VectorXd q = random.vector(6, 2);
      q(5) = 0;
      held.hold(arm, random, HingeType::fixed, 0, i < 2 ? &q : nullptr);
    }
    held.start(random);
    double in_forces = 0;
    EXPECT_LT(difference(held, &in_forces), 1e-10) << tilt;
    EXPECT_LT(in_forces, 1e-10) << tilt;
  }
}

TEST(ClosedBlocks, KeepClosuresWithinTheObject) {
  Random random(83);
  Held held(random_object(3, random));
  for (int i = 0; i < 5; ++i) {
    held.hold(random_arm(7, random), random, i % 2 == 0 ? HingeType::fixed : HingeType::spherical, i % 4);
  }
  Closure rod;
  rod.name = "rod";
  rod.kind = ClosureKind::distance;
  rod.a = {.name = "one", .body = 1, .X_BN = random.transform()};
  rod.b = {.name = "two", .body = 2, .X_BN = random.transform()};
  State& object = held.system.state(0);
  rod.length = norm(pose(object, rod.a).translation - pose(object, rod.b).translation);
  held.closures.push_back(held.system.add_closure(rod, 0, 0));
  held.start(random);
  EXPECT_LT(difference(held), 1e-10);
  EXPECT_GE(held.system.data().blocks.weak, 1);
}

TEST(ClosedBlocks, HeavyArmsAndLightObjects) {
  Random random(84);
  for (const double mass : {1e-4, 1e4}) {
    ModelBuilder builder = edit(random_object(0, random));
    builder.body("b0").inertia = RigidInertia<double>::about_center(mass, {0.1, 0, 0}, {mass, mass, mass, 0, 0, 0});
    Held held(builder.build());
    for (int i = 0; i < 6; ++i) {
      held.hold(random_arm(7, random), random, HingeType::fixed, 0);
    }
    held.start(random);
    EXPECT_LT(difference(held), 1e-10) << mass;
  }
}

TEST(ClosedBlocks, LeaveRedundantClosuresToOneMatrix) {
  Random random(85);
  Held held(random_object(0, random));
  for (int i = 0; i < 4; ++i) {
    held.hold(random_arm(2, random), random, HingeType::fixed, 0);  // 8 + 6 coordinates, 24 rows
  }
  held.torque = random.vector(held.system.nv(), 5);
  held.go_by(detail::StepD::blocks);
  Eigen::VectorXd out(held.system.nv());
  const ClosureReport& report = closed_forward_dynamics(held.system, held.torque, out);
  EXPECT_FALSE(held.system.data().blocks.certain);
  EXPECT_EQ(report.rank, held.system.nv());
  EXPECT_LT(out.norm(), 1e-9);  // nothing can move
}

TEST(ClosedBlocks, AreChosenWhereTheyAreCheaperAndAllocateNothing) {
  Random random(86);
  for (const int arms : {1, 2, 16}) {
    Held held(random_object(0, random));
    for (int i = 0; i < arms; ++i) {
      held.hold(random_arm(7, random), random, HingeType::fixed, 0);
    }
    held.start(random);
    std::vector<double> out(static_cast<std::size_t>(held.system.nv()));
    closed_forward_dynamics(held.system, held.torque, out);
    EXPECT_EQ(held.system.data().blocks.chosen, arms > 2) << arms;
    const std::size_t before = allocations();
    held.system.state(1).set(held.system.state(1).q(), held.system.state(1).v() * 1.5);
    const std::size_t setting = allocations() - before;
    closed_forward_dynamics(held.system, held.torque, out);
    held.system.detach(held.closures[0]);
    held.system.attach(held.closures[0]);
    closed_forward_dynamics(held.system, held.torque, out);
    EXPECT_EQ(allocations(), before + setting) << arms;
  }
}

TEST(ClosedBlocks, TakeWorkThatGrowsWithTheArms) {
  Random random(87);
  double before = 0;
  for (const int arms : {16, 32, 64}) {
    Held held(random_object(0, random));
    for (int i = 0; i < arms; ++i) {
      held.hold(random_arm(7, random), random, HingeType::fixed, 0);
    }
    const auto& blocks = held.system.data().blocks;
    EXPECT_LT(blocks.block_work, 0.1 * blocks.dense_work);
    if (before > 0) {
      EXPECT_LT(blocks.block_work, 2.01 * before);
    }
    before = blocks.block_work;
  }
}

}  // namespace

}  // namespace bunraku::test
