/// Dynamics of trees of all hinge types, against a dense reference, closed forms and invariants.
#include "bunraku/dynamics/dynamics.hpp"

#include <limits>
#include <memory>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/kinematics.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
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
  Dynamics ideal{model, PassiveForces::left_out};
  DenseReference reference{model, q};

  void SetUp() override { ideal.set_state(q, v); }
};

TEST_P(RandomDynamics, MassMatrixIsTheSumOverBodies) {  // item I2
  EXPECT_TRUE(is_near(ideal.mass_matrix(), reference.mass(), 1e-12));
}

TEST_P(RandomDynamics, BiasAndInverseObeyNewtonAndEuler) {  // items I1, K5
  const Eigen::VectorXd expected = reference.bias(v);
  EXPECT_TRUE(is_near(ideal.bias(), expected, 1e-9)) << "as far as differences allow";
  EXPECT_TRUE(is_near(ideal.inverse(a), ideal.mass_matrix() * a + ideal.bias(), 1e-12));
}

TEST_P(RandomDynamics, GravityTorquesAreTheGradientOfTheEnergy) {
  const Eigen::VectorXd torque = ideal.gravity_torques();
  for (int i = 0; i < model.nv(); ++i) {
    const double slope = central_difference([&](double t) {
      Dynamics moved(model, PassiveForces::left_out);
      moved.set_state(integrate(model, q, Eigen::VectorXd::Unit(model.nv(), i), t), Eigen::VectorXd::Zero(model.nv()));
      return moved.potential_energy();
    });
    EXPECT_NEAR(torque[i], slope, 1e-8 * std::max(1.0, std::abs(slope)));
  }
}

TEST_P(RandomDynamics, ForwardUndoesInverse) {
  const double scale = ideal.mass_matrix().norm() * ideal.inverse_mass_matrix().norm();
  EXPECT_TRUE(is_near(ideal.forward(ideal.inverse(a)), a, 1e-14 * scale));
  Dynamics real(model);
  real.set_state(q, v);
  EXPECT_TRUE(is_near(real.forward(real.inverse(a)), a, 1e-14 * scale)) << "with friction and springs";
}

TEST_P(RandomDynamics, InverseMassMatrixIsTheInverse) {
  const Eigen::MatrixXd mass = reference.mass();
  const Eigen::MatrixXd inverse = ideal.inverse_mass_matrix();
  const double condition = mass.norm() * inverse.norm();
  EXPECT_TRUE(
      is_near(mass * inverse, Eigen::MatrixXd(Eigen::MatrixXd::Identity(model.nv(), model.nv())), 1e-14 * condition));
  EXPECT_TRUE(is_near(ideal.solve(a), inverse * a, 1e-13 * condition));
  EXPECT_NEAR(ideal.log_determinant(), log_determinant_of(mass), 1e-10);
}

TEST_P(RandomDynamics, JacobiansGiveVelocities) {  // item K4
  Kinematics kinematics(model);
  kinematics.set_state(q, v);
  Node node{"n", static_cast<int>(model.bodies().size()) - 1, random.transform()};
  Eigen::Matrix<double, 6, Eigen::Dynamic> j(6, model.nv());
  const std::span<double> out(j.data(), static_cast<std::size_t>(j.size()));
  ideal.jacobian(node, ReferenceFrame::node, out);
  EXPECT_TRUE(is_near(j * v, to_eigen(kinematics.velocity(node)), 1e-12));
  ideal.jacobian(node, ReferenceFrame::aligned, out);
  const Transform<double> pose = kinematics.pose(node);
  EXPECT_TRUE(is_near(j, reference.jacobian_at(node.body, to_eigen(pose.translation)), 1e-12));
  ideal.jacobian(node, ReferenceFrame::world_origin, out);
  EXPECT_TRUE(is_near(j, reference.jacobian_at(node.body, Eigen::Vector3d::Zero()), 1e-12));
}

TEST_P(RandomDynamics, EnergyChangesByThePowerOfTheTorques) {
  EXPECT_NEAR(ideal.kinetic_energy(), 0.5 * v.dot(ideal.mass_matrix() * v), 1e-12 * ideal.kinetic_energy());
  const Eigen::VectorXd torque = random.vector(model.nv());
  const Eigen::VectorXd acceleration = ideal.forward(torque);
  const double rate = central_difference(
      [&](double t) {  // the state a short time later, to second order in velocity and exactly along it
        Dynamics moved(model, PassiveForces::left_out);
        moved.set_state(integrate(model, q, v + 0.5 * t * acceleration, t), v + t * acceleration);
        return moved.kinetic_energy() + moved.potential_energy();
      },
      1e-4);
  const double scale = std::max(1.0, std::abs(ideal.kinetic_energy()) + torque.norm() * v.norm());
  EXPECT_NEAR(rate, torque.dot(v), 1e-6 * scale * std::max(1.0, acceleration.norm()));
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
  Dynamics dynamics(model, PassiveForces::left_out);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = random.vector(model.nv());
  dynamics.set_state(q, v);
  Eigen::VectorXd torque = random.vector(model.nv());
  torque.head<6>().setZero();  // nothing pushes from outside
  const Eigen::VectorXd acceleration = dynamics.forward(torque);
  const Eigen::VectorXd rate = central_difference(
      [&](double t) -> Eigen::VectorXd {
        Dynamics moved(model);
        moved.set_state(integrate(model, q, v + 0.5 * t * acceleration, t), v + t * acceleration);
        return to_eigen(moved.momentum());
      },
      1e-4);
  EXPECT_TRUE(is_near(rate, Eigen::VectorXd(Eigen::VectorXd::Zero(6)), 1e-6 * acceleration.norm()));
  EXPECT_GT(dynamics.momentum().force.x * dynamics.momentum().force.x, 0);
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
  Dynamics dynamics(model);
  const double angle = 0.4;
  const double rate = -3;
  dynamics.set_state(Eigen::VectorXd::Constant(1, angle), Eigen::VectorXd::Constant(1, rate));
  const double inertia = 0.1 + 2 * 0.25 + 0.3;
  const double gravity = 2 * 9.81 * 0.5 * std::sin(angle);
  const double passive = 0.2 * rate - 0.1 + 5 * (angle - 0.5);
  EXPECT_NEAR(dynamics.mass_matrix()(0, 0), inertia, 1e-15);
  EXPECT_NEAR(dynamics.gravity_torques()[0], gravity, 1e-14);
  EXPECT_NEAR(dynamics.inverse(Eigen::VectorXd::Constant(1, 7))[0], 7 * inertia + gravity + passive, 1e-13);
  EXPECT_NEAR(dynamics.forward(Eigen::VectorXd::Constant(1, 1))[0], (1 - gravity - passive) / inertia, 1e-13);
  EXPECT_NEAR(dynamics.kinetic_energy(), 0.5 * inertia * rate * rate, 1e-14);
  EXPECT_NEAR(dynamics.potential_energy(), -2 * 9.81 * 0.5 * std::cos(angle) + 2.5 * 0.01, 1e-13);
}

TEST(Dynamics, NamesTheHingeThatMovesNothing) {
  BodySpec ghost{.name = "ghost"};
  ghost.hinge = {.name = "loose", .type = HingeType::revolute};
  Dynamics dynamics(ModelBuilder().add(ghost).build());
  try {
    static_cast<void>(dynamics.forward(Eigen::VectorXd::Zero(1)));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'loose'"));
  }
  EXPECT_EQ(dynamics.mass_matrix()(0, 0), 0) << "what needs no inverse still works";
}

TEST(Dynamics, NoOrderOfCallsMatters) {
  Random random(231);
  const Model model = random_tree(10, 0.3, random).build();
  const Eigen::VectorXd q = random_configuration(model, 2);
  const Eigen::VectorXd v = random.vector(model.nv());
  const Eigen::VectorXd tau = random.vector(model.nv());
  Dynamics one(model);
  Dynamics other(model);
  one.set_state(q, v);
  const Eigen::VectorXd first = one.forward(tau);
  other.set_state(random_configuration(model, 3), v);
  static_cast<void>(other.inverse_mass_matrix());
  static_cast<void>(other.kinetic_energy());
  other.set_state(q, v);
  static_cast<void>(other.mass_matrix());
  static_cast<void>(other.bias());
  EXPECT_EQ(other.forward(tau), first);
  EXPECT_EQ(one.forward(tau), first);
}

TEST(Dynamics, BadArgumentsAreRefusedAndLeaveTheState) {
  Random random(232);
  const Model model = random_tree(5, 0, random).build();
  Dynamics dynamics(model);
  const Eigen::VectorXd q = random_configuration(model, 2);
  const Eigen::VectorXd v = random.vector(model.nv());
  dynamics.set_state(q, v);
  const Eigen::VectorXd before = dynamics.bias();
  Eigen::VectorXd bad = v;
  bad[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(dynamics.set_state(q, bad), ArgumentError);
  EXPECT_THROW(static_cast<void>(dynamics.inverse(bad)), ArgumentError);
  EXPECT_THROW(static_cast<void>(dynamics.forward(v.head(1))), ArgumentError);
  EXPECT_EQ(dynamics.bias(), before);
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
  Dynamics dynamics(model);
  Dynamics other(model);  // nothing is computed before it is refused a state
  for (Dynamics* each : {&dynamics, &other}) {
    each->set_state(Eigen::Vector2d(0.5, 0.3), v);
  }
  EXPECT_THROW(other.set_state(Eigen::Vector2d(2, -1), 2 * v), Error);
  EXPECT_THROW(other.set_state(Eigen::Vector2d(2, 101), 2 * v), ArgumentError);
  EXPECT_EQ(other.bias(), dynamics.bias());
  EXPECT_EQ(other.mass_matrix(), dynamics.mass_matrix());
  EXPECT_EQ(other.kinetic_energy(), dynamics.kinetic_energy());
}

TEST(Dynamics, LongChainsRoundTrip) {
  Random random(233);
  constexpr int n = 10'000;
  const Model model = random_chain(n, random);
  Dynamics dynamics(model);
  dynamics.set_state(random_configuration(model, 1), Eigen::VectorXd(0.01 * random.vector(n)));
  const Eigen::VectorXd torque = random.vector(n);
  const Eigen::VectorXd again = dynamics.inverse(dynamics.forward(torque));
  const double in_play = std::max(dynamics.bias().cwiseAbs().maxCoeff(), torque.cwiseAbs().maxCoeff());
  EXPECT_LE((again - torque).cwiseAbs().maxCoeff(), 1e-8 * in_play);
}

}  // namespace
}  // namespace bunraku::test
