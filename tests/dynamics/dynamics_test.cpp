/// Dynamics of trees of all hinge types, against a dense reference, closed forms and invariants.
#include "bunraku/dynamics/dynamics.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/plain_kinematics.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

class RandomDynamics : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam()) + 200};
  Model model = random_dynamics_model(GetParam(), random);
  Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(GetParam()));
  Eigen::VectorXd v = random.vector(model.nv());
  Eigen::VectorXd a = random.vector(model.nv());
  State ideal{model, PassiveForces::left_out};
  DenseReference reference{model, q};

  void SetUp() override { ideal.set(q, v); }
};

TEST_P(RandomDynamics, MassMatrixIsTheSumOverBodies) {  // item I2
  EXPECT_TRUE(is_near(mass_matrix(ideal), reference.mass(), 1e-12));
}

TEST_P(RandomDynamics, BiasAndInverseObeyNewtonAndEuler) {  // items I1, K5
  const Eigen::VectorXd expected = reference.bias(v);
  EXPECT_TRUE(is_near(bias(ideal), expected, 1e-9)) << "as far as differences allow";
  EXPECT_TRUE(is_near(inverse_dynamics(ideal, a), mass_matrix(ideal) * a + bias(ideal), 1e-12));
}

TEST_P(RandomDynamics, GravityTorquesAreTheGradientOfTheEnergy) {
  const Eigen::VectorXd torque = gravity_torques(ideal);
  for (int i = 0; i < model.nv(); ++i) {
    const double slope = central_difference([&](double t) {
      State moved(model, PassiveForces::left_out);
      moved.set(integrate(model, q, Eigen::VectorXd::Unit(model.nv(), i), t), Eigen::VectorXd::Zero(model.nv()));
      return potential_energy(moved);
    });
    EXPECT_NEAR(torque[i], slope, 1e-8 * std::max(1.0, std::abs(slope)));
  }
}

TEST_P(RandomDynamics, ForwardUndoesInverse) {
  const double scale = mass_matrix(ideal).norm() * inverse_mass_matrix(ideal).norm();
  EXPECT_TRUE(is_near(forward_dynamics(ideal, inverse_dynamics(ideal, a)), a, 1e-14 * scale));
  State real(model);
  real.set(q, v);
  EXPECT_TRUE(is_near(forward_dynamics(real, inverse_dynamics(real, a)), a, 1e-14 * scale))
      << "with friction and springs";
}

TEST_P(RandomDynamics, PassiveTorquesDoTheWorkOfEveryHinge) {  // mimics act on their leaders
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(model.nv());
  for (const Body& body : model.bodies()) {
    const bool follows = body.leader != world;
    std::vector<double> position(q.data() + body.q_index, q.data() + body.q_index + body.hinge.configuration_size());
    if (follows) {
      position[0] = body.leader_ratio * q[body.q_index] + body.leader_offset;
    }
    std::array<double, max_hinge_velocities> stretch{};
    hinge_difference(body.hinge, body.hinge.rest.data(), position.data(), stretch.data());
    for (int j = 0; j < body.hinge.velocity_size(); ++j) {
      const HingeDof& dof = body.hinge.dofs[static_cast<std::size_t>(j)];
      const double ratio = follows ? body.leader_ratio : 1;
      const double rate = ratio * v[body.v_index + j];
      expected[body.v_index + j] -= ratio * (dof.damping * rate + std::copysign(dof.friction, rate) +
                                             dof.stiffness * stretch[static_cast<std::size_t>(j)]);
    }
  }
  State real(model);
  real.set(q, v);
  EXPECT_TRUE(is_near(passive_torques(real), expected, 1e-13));
  EXPECT_TRUE(is_near(inverse_dynamics(ideal, a) - inverse_dynamics(real, a), expected, 1e-11));
  EXPECT_GT(expected.norm(), 0);
}

TEST_P(RandomDynamics, InverseMassMatrixIsTheInverse) {
  const Eigen::MatrixXd mass = reference.mass();
  const Eigen::MatrixXd inverse = inverse_mass_matrix(ideal);
  const double condition = mass.norm() * inverse.norm();
  EXPECT_TRUE(
      is_near(mass * inverse, Eigen::MatrixXd(Eigen::MatrixXd::Identity(model.nv(), model.nv())), 1e-14 * condition));
  EXPECT_TRUE(is_near(inverse_mass_times(ideal, a), inverse * a, 1e-13 * condition));
  EXPECT_NEAR(log_det_mass(ideal), log_determinant_of(mass), 1e-10);
}

TEST_P(RandomDynamics, JacobiansGiveVelocities) {  // item K4
  PlainKinematics kinematics(model);
  kinematics.set_state(q, v);
  Node node{"n", static_cast<int>(model.bodies().size()) - 1, random.transform()};
  Eigen::Matrix<double, 6, Eigen::Dynamic> j(6, model.nv());
  const std::span<double> out(j.data(), static_cast<std::size_t>(j.size()));
  jacobian(ideal, node, Frame::node, out);
  EXPECT_TRUE(is_near(j * v, to_eigen(kinematics.velocity(node)), 1e-12));
  jacobian(ideal, node, Frame::aligned, out);
  const Transform<double> pose = kinematics.pose(node);
  EXPECT_TRUE(is_near(j, reference.jacobian_at(node.body, to_eigen(pose.translation)), 1e-12));
  jacobian(ideal, node, Frame::world, out);
  EXPECT_TRUE(is_near(j, reference.jacobian_at(node.body, Eigen::Vector3d::Zero()), 1e-12));
}

TEST_P(RandomDynamics, EnergyChangesByThePowerOfTheTorques) {
  EXPECT_NEAR(kinetic_energy(ideal), 0.5 * v.dot(mass_matrix(ideal) * v), 1e-12 * kinetic_energy(ideal));
  const Eigen::VectorXd torque = random.vector(model.nv());
  const Eigen::VectorXd acceleration = forward_dynamics(ideal, torque);
  const double rate = central_difference(
      [&](double t) {  // a path through the state with this velocity and acceleration there: its slope is exact
        State moved(model, PassiveForces::left_out);
        moved.set(integrate(model, q, v + 0.5 * t * acceleration, t), v + t * acceleration);
        return kinetic_energy(moved) + potential_energy(moved);
      },
      1e-3);
  const double scale = std::max(1.0, std::abs(kinetic_energy(ideal)) + torque.norm() * v.norm());
  EXPECT_NEAR(rate, torque.dot(v), 1e-9 * scale * std::max(1.0, acceleration.norm()));
}

INSTANTIATE_TEST_SUITE_P(Trees, RandomDynamics, testing::Range(0, 24));

TEST(Dynamics, FreeSystemsKeepTheirMomentum) {
  Random random(230);
  BodySpec base{.name = "base", .inertia = random.inertia()};
  base.hinge.type = HingeType::free;
  ModelBuilder builder;
  builder.add(base).set_gravity({0, 0, 0});
  for (int i = 0; i < 6; ++i) {
    BodySpec body{.name = "b" + std::to_string(i), .parent = i == 0 ? "base" : "b" + std::to_string(i - 1)};
    body.hinge = random_hinge(i % 2 == 0 ? HingeType::revolute : HingeType::universal, random);
    body.X_PF = random.transform();
    body.inertia = random.inertia();
    builder.add(body);
  }
  const Model model = builder.build();
  State dynamics(model, PassiveForces::left_out);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = random.vector(model.nv());
  dynamics.set(q, v);
  Eigen::VectorXd torque = random.vector(model.nv());
  torque.head<6>().setZero();  // nothing pushes from outside
  const Eigen::VectorXd acceleration = forward_dynamics(dynamics, torque);
  const Eigen::VectorXd rate = central_difference(
      [&](double t) -> Eigen::VectorXd {
        State moved(model);
        moved.set(integrate(model, q, v + 0.5 * t * acceleration, t), v + t * acceleration);
        return to_eigen(momentum(moved));
      },
      1e-4);
  EXPECT_TRUE(is_near(rate, Eigen::VectorXd(Eigen::VectorXd::Zero(6)), 1e-6 * acceleration.norm()));
  EXPECT_GT(momentum(dynamics).force.x * momentum(dynamics).force.x, 0);
}

TEST(Dynamics, PendulumInClosedForm) {
  BodySpec rod{.name = "rod"};
  rod.hinge = {.name = "pin",
               .type = HingeType::revolute,
               .axis = {0, 1, 0},
               .dofs = {{.armature = 0.3, .damping = 0.2, .friction = 0.1, .stiffness = 5}},
               .rest = {0.5}};
  rod.inertia = RigidInertia<double>::about_center(2, {0, 0, -0.5}, Sym3<double>::diagonal(0.1, 0.1, 0.01));
  const Model model = ModelBuilder().add(rod).build();
  State dynamics(model);
  const double angle = 0.4;
  const double rate = -3;
  dynamics.set(Eigen::VectorXd::Constant(1, angle), Eigen::VectorXd::Constant(1, rate));
  const double inertia = 0.1 + 2 * 0.25 + 0.3;
  const double gravity = 2 * 9.81 * 0.5 * std::sin(angle);
  const double passive = 0.2 * rate - 0.1 + 5 * (angle - 0.5);
  EXPECT_NEAR(mass_matrix(dynamics)(0, 0), inertia, 1e-15);
  EXPECT_NEAR(gravity_torques(dynamics)[0], gravity, 1e-14);
  EXPECT_NEAR(inverse_dynamics(dynamics, Eigen::VectorXd::Constant(1, 7))[0], 7 * inertia + gravity + passive, 1e-13);
  EXPECT_NEAR(forward_dynamics(dynamics, Eigen::VectorXd::Constant(1, 1))[0], (1 - gravity - passive) / inertia, 1e-13);
  EXPECT_NEAR(kinetic_energy(dynamics), 0.5 * inertia * rate * rate, 1e-14);
  EXPECT_NEAR(potential_energy(dynamics), -2 * 9.81 * 0.5 * std::cos(angle) + 2.5 * 0.01, 1e-13);
}

TEST(Dynamics, NamesTheHingeThatMovesNothing) {
  BodySpec ghost{.name = "ghost"};
  ghost.hinge = {.name = "loose", .type = HingeType::revolute};
  State dynamics(ModelBuilder().add(ghost).build());
  try {
    static_cast<void>(forward_dynamics(dynamics, Eigen::VectorXd::Zero(1)));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'loose'"));
  }
  EXPECT_EQ(mass_matrix(dynamics)(0, 0), 0) << "what needs no inverse still works";
}

TEST(Dynamics, NoOrderOfCallsMatters) {
  Random random(231);
  const Model model = random_tree(10, 0.3, random).build();
  const Eigen::VectorXd q = random_configuration(model, 2);
  const Eigen::VectorXd v = random.vector(model.nv());
  const Eigen::VectorXd tau = random.vector(model.nv());
  State one(model);
  State other(model);
  one.set(q, v);
  const Eigen::VectorXd first = forward_dynamics(one, tau);
  other.set(random_configuration(model, 3), v);
  static_cast<void>(inverse_mass_matrix(other));
  static_cast<void>(kinetic_energy(other));
  other.set(q, v);
  static_cast<void>(mass_matrix(other));
  static_cast<void>(bias(other));
  EXPECT_EQ(forward_dynamics(other, tau), first);
  EXPECT_EQ(forward_dynamics(one, tau), first);
}

TEST(Dynamics, BadArgumentsAreRefusedAndLeaveTheState) {
  Random random(232);
  const Model model = random_tree(5, 0, random).build();
  State dynamics(model);
  const Eigen::VectorXd q = random_configuration(model, 2);
  const Eigen::VectorXd v = random.vector(model.nv());
  dynamics.set(q, v);
  const Eigen::VectorXd before = bias(dynamics);
  Eigen::VectorXd bad = v;
  bad[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(dynamics.set(q, bad), ArgumentError);
  EXPECT_THROW(static_cast<void>(inverse_dynamics(dynamics, bad)), ArgumentError);
  EXPECT_THROW(static_cast<void>(forward_dynamics(dynamics, v.head(1))), ArgumentError);
  EXPECT_EQ(bias(dynamics), before);
}

/// A slide that refuses some positions, and takes others beyond the range of numbers.
class PickySlide : public CustomHinge {
 public:
  int configuration_size() const override { return 1; }
  int velocity_size() const override { return 1; }
  Transform<double> pose(const double* q) const override { return Transform<double>::translate({0, 0, q[0]}); }
  void joint_map(const double*, Motion<double>* columns) const override { columns[0] = {{0, 0, 0}, {0, 0, 1}}; }
  void normalize(double* q) const override {
    if (q[0] < 0) {
      throw Error("this slide does not go down");
    }
    q[0] *= q[0] > 100 ? std::numeric_limits<double>::infinity() : 1;
  }
};

TEST(Dynamics, HingesThatRefuseAPositionLeaveTheState) {
  Random random(234);
  BodySpec arm{.name = "arm", .inertia = random.inertia()};
  arm.hinge = random_hinge(HingeType::revolute, random);
  BodySpec slide{.name = "slide", .parent = "arm", .inertia = random.inertia()};
  slide.hinge = {.type = HingeType::custom, .custom = std::make_shared<PickySlide>()};
  const Model model = ModelBuilder().add(arm).add(slide).build();
  const Eigen::VectorXd v = random.vector(2);
  State dynamics(model);
  State other(model);  // nothing is computed before it is refused a state
  for (State* each : {&dynamics, &other}) {
    each->set(Eigen::Vector2d(0.5, 0.3), v);
  }
  EXPECT_THROW(other.set(Eigen::Vector2d(2, -1), 2 * v), Error);
  EXPECT_THROW(other.set(Eigen::Vector2d(2, 101), 2 * v), ArgumentError);
  EXPECT_EQ(bias(other), bias(dynamics));
  EXPECT_EQ(mass_matrix(other), mass_matrix(dynamics));
  EXPECT_EQ(kinetic_energy(other), kinetic_energy(dynamics));
}

/// 𝓜 does not change with where a gantry is, and the small inertia of its wrist must not drown in the distance.
TEST(Dynamics, DistancesCostNoDigitsOfWhatIsSmall) {
  ModelBuilder builder("gantry");
  Random random(31);
  std::string parent(world_name);
  const auto add = [&](const std::string& name, HingeType type, const Vec3<double>& axis, double size) {
    builder.add(BodySpec{.name = name,
                         .parent = parent,
                         .hinge = {.type = type, .axis = axis},
                         .X_PF = Transform<double>::translate({size, 0, size}),
                         .inertia = RigidInertia<double>::about_center(
                             1, {size, size, 0}, {size * size, 2 * size * size, 2 * size * size, 0, 0, 0})});
    parent = name;
  };
  add("rail", HingeType::prismatic, {1, 0, 0}, 1);
  add("bridge", HingeType::prismatic, {0, 1, 0}, 1);
  add("roll", HingeType::revolute, {1, 0, 0}, 0.03);
  add("pitch", HingeType::revolute, {0, 1, 0}, 0.03);
  add("yaw", HingeType::revolute, {0, 0, 1}, 0.03);
  const Model gantry = builder.build();
  State near(gantry);
  State far(gantry);
  Eigen::VectorXd q = random.vector(5);
  q.head(2) << 0, 0;
  near.set(q);
  q.head(2) << -2e4, 3e4;
  far.set(q);
  EXPECT_TRUE(is_near(mass_matrix(far).bottomRightCorner(3, 3).eval(), mass_matrix(near).bottomRightCorner(3, 3).eval(),
                      1e-13));
  EXPECT_TRUE(is_near(inverse_mass_matrix(far), inverse_mass_matrix(near), 1e-11));
}

/// Nor does the inertia of what flies by itself change with where it is, in its own axes.
TEST(Dynamics, DistancesCostNoDigitsOfWhatFlies) {
  ModelBuilder builder("ship and drone");
  const auto add = [&](const std::string& name, const std::string& parent, double size) {
    builder.add(BodySpec{.name = name,
                         .parent = parent,
                         .hinge = {.type = HingeType::free},
                         .inertia = RigidInertia<double>::about_center(
                             1, {size, size, 0}, {size * size, 2 * size * size, 2 * size * size, 0, 0, 0})});
  };
  add("ship", std::string(world_name), 3);
  add("drone", "ship", 0.1);
  const Model model = builder.build();
  State near(model);
  State far(model);
  Eigen::VectorXd q = random_configuration(model, 3);
  near.set(q);
  q.tail(3) << -2e4, 3e4, 1e4;
  far.set(q);
  EXPECT_TRUE(is_near(mass_matrix(far).bottomRightCorner(6, 6).eval(), mass_matrix(near).bottomRightCorner(6, 6).eval(),
                      1e-13));
}

TEST(Dynamics, LongChainsRoundTrip) {
  Random random(233);
  constexpr int n = 10'000;
  const Model model = random_chain(n, random);
  State dynamics(model);
  dynamics.set(random_configuration(model, 1), Eigen::VectorXd(0.01 * random.vector(n)));
  const Eigen::VectorXd torque = random.vector(n);
  const Eigen::VectorXd again = inverse_dynamics(dynamics, forward_dynamics(dynamics, torque));
  const double in_play = std::max(bias(dynamics).cwiseAbs().maxCoeff(), torque.cwiseAbs().maxCoeff());
  EXPECT_LE((again - torque).cwiseAbs().maxCoeff(), 1e-8 * in_play);
}

}  // namespace
}  // namespace bunraku::test
