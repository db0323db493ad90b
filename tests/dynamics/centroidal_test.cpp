/// Centre of mass and momentum of the whole system, against sums over bodies and Newton's laws.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_reference.hpp"
#include "support/near.hpp"
#include "support/plain_kinematics.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

constexpr double step = 1e-3;

/// A from the bodies' Jacobians at their centres of mass.
Eigen::MatrixXd dense_momentum_matrix(const Model& model, const Eigen::VectorXd& q) {
  const DenseReference reference(model, q);
  PlainKinematics kinematics(model);
  kinematics.set_configuration(q);
  const Eigen::Vector3d center = to_eigen(kinematics.center_of_mass());
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(6, model.nv());
  for (std::size_t k = 0; k < model.bodies().size(); ++k) {
    const RigidInertia<double>& inertia = model.bodies()[k].inertia;
    const Eigen::Matrix3d r = reference.pose(k).topLeftCorner<3, 3>();
    const Eigen::Vector3d own = reference.pose(k).topRightCorner<3, 1>() + r * to_eigen(inertia.center());
    const Eigen::MatrixXd j = reference.jacobian(k);
    const Eigen::MatrixXd linear = inertia.mass * j.bottomRows<3>();
    out.topRows<3>() += r * to_eigen(inertia.central()) * r.transpose() * j.topRows<3>() +
                        to_eigen(skew(vec3_from_eigen(own - center))) * linear;
    out.bottomRows<3>() += linear;
  }
  return out;
}

class Centroidal : public testing::TestWithParam<int>, protected RandomState {
 protected:
  Centroidal() : RandomState(GetParam()) {}
  State ideal = dynamics<double>();
};

TEST_P(Centroidal, TheMatrixGivesTheMomentum) {
  const Eigen::MatrixXd A = centroidal_momentum_matrix(ideal);
  EXPECT_TRUE(is_near(A * v, to_eigen(momentum(ideal)), 1e-12));
  EXPECT_TRUE(is_near(A, dense_momentum_matrix(model, q), 1e-12));
}

TEST_P(Centroidal, TheRateIsTheDerivativeOfTheMatrix) {
  const Eigen::MatrixXd expected =
      central_difference([&](double t) -> Eigen::MatrixXd { return dense_momentum_matrix(model, later(t)); }, step);
  EXPECT_TRUE(is_near(centroidal_momentum_matrix_rate(ideal), expected, 1e-9));
  const Eigen::VectorXd momentum_rate = central_difference(
      [&](double t) -> Eigen::VectorXd {
        State moved(model);
        moved.set(later(t), v + t * a);
        return to_eigen(momentum(moved));
      },
      step);
  EXPECT_TRUE(
      is_near(centroidal_momentum_matrix(ideal) * a + centroidal_momentum_matrix_rate(ideal) * v, momentum_rate, 1e-9));
}

TEST_P(Centroidal, TheJacobianGivesTheVelocityOfTheCenterOfMass) {
  const Eigen::MatrixXd j = center_of_mass_jacobian(ideal);
  for (int i = 0; i < model.nv(); ++i) {
    const Vec3<double> expected = central_difference(
        [&](double t) {
          PlainKinematics moved(model);
          moved.set_configuration(integrate(model, q, Eigen::VectorXd::Unit(model.nv(), i), t));
          return moved.center_of_mass();
        },
        step);
    ASSERT_TRUE(is_near(j.col(i), to_eigen(expected), 1e-10)) << "column " << i;
  }
  EXPECT_TRUE(is_near(model.mass() * j, dense_momentum_matrix(model, q).bottomRows<3>(), 1e-12));
}

TEST_P(Centroidal, FloatsAgree) {
  BasicState<float> single = dynamics<float>();
  EXPECT_TRUE(is_near(centroidal_momentum_matrix(single).cast<double>(), centroidal_momentum_matrix(ideal), 3e-4));
  EXPECT_TRUE(
      is_near(centroidal_momentum_matrix_rate(single).cast<double>(), centroidal_momentum_matrix_rate(ideal), 3e-4));
  EXPECT_TRUE(is_near(center_of_mass_jacobian(single).cast<double>(), center_of_mass_jacobian(ideal), 3e-4));
}

INSTANTIATE_TEST_SUITE_P(Trees, Centroidal, testing::Range(0, 24));

TEST(CentroidalLaws, OnlyGravityChangesTheMomentumOfAFlyingSystem) {  // item K6: mobile base
  Random random(320);
  for (int sample = 0; sample < 10; ++sample) {
    ModelBuilder builder;
    BodySpec base{.name = "base", .inertia = random.inertia()};
    base.hinge.type = HingeType::free;
    builder.add(base);
    const ModelBuilder tree = random_tree(9, 0.1 * sample, random);
    for (BodySpec body : tree.bodies()) {
      body.parent = body.parent == world_name ? "base" : body.parent;
      builder.add(std::move(body));
    }
    const Model model = builder.build();
    State dynamics(model, PassiveForces::left_out);
    const Eigen::VectorXd v = random.vector(model.nv());
    dynamics.set(random_configuration(model, static_cast<unsigned>(sample)), v);
    Eigen::VectorXd torque = random.vector(model.nv());
    torque.head<6>().setZero();  // the hinges push, nothing else does
    const Eigen::VectorXd a = forward_dynamics(dynamics, torque);
    Eigen::VectorXd expected(6);
    expected << 0, 0, 0, model.mass() * to_eigen(model.gravity());
    const Eigen::VectorXd rate =
        centroidal_momentum_matrix(dynamics) * a + centroidal_momentum_matrix_rate(dynamics) * v;
    const double in_play = centroidal_momentum_matrix(dynamics).cwiseAbs().maxCoeff() * a.cwiseAbs().maxCoeff();
    EXPECT_LE((rate - expected).cwiseAbs().maxCoeff(), 1e-12 * in_play) << "sample " << sample;
  }
}

TEST(CentroidalLaws, NothingHasNoMomentum) {
  BodySpec ghost{.name = "ghost"};
  ghost.hinge.type = HingeType::revolute;
  State dynamics(ModelBuilder().add(ghost).build());
  dynamics.set(Eigen::VectorXd::Constant(1, 0.3), Eigen::VectorXd::Constant(1, 2));
  EXPECT_EQ(center_of_mass_jacobian(dynamics).norm(), 0);
  EXPECT_EQ(centroidal_momentum_matrix(dynamics).norm(), 0);
  EXPECT_EQ(centroidal_momentum_matrix_rate(dynamics).norm(), 0);
}

TEST(CentroidalLaws, WrongSizesAreRefused) {
  RandomState state(1);
  State dynamics = state.dynamics<double>();
  std::vector<double> out(6 * static_cast<std::size_t>(state.model.nv()) + 1);
  EXPECT_THROW(center_of_mass_jacobian(dynamics, out), ArgumentError);
  EXPECT_THROW(centroidal_momentum_matrix(dynamics, out), ArgumentError);
  EXPECT_THROW(centroidal_momentum_matrix_rate(dynamics, out), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
