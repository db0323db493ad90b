/// Small motions and equilibria, against closed forms and against motions that start nearby.
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/finite_difference.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

constexpr double g = 9.81;

/// A rod of mass 1 and length 1 with its centre halfway along −z, turning about y with friction.
BodySpec rod(const char* name, const char* parent, double from) {
  BodySpec out;
  out.name = name;
  out.parent = parent;
  out.hinge = {.name = name, .type = HingeType::revolute, .axis = Vec3<double>::unit_y()};
  out.hinge.dofs = {HingeDof{.damping = 0.1}};
  out.X_PF = Transform<double>::translate({0, 0, from});
  out.inertia = RigidInertia<double>::about_center(1, {0, 0, -0.5}, {1.0 / 12, 1.0 / 12, 0.001, 0, 0, 0});
  return out;
}

Model pendulum() {
  return ModelBuilder("pendulum").add(rod("first", "world", 0)).build();
}
Model double_pendulum() {
  return ModelBuilder("double_pendulum").add(rod("first", "world", 0)).add(rod("second", "first", -1)).build();
}
/// Two pendulums that do not feel each other.
Model two_pendulums() {
  return ModelBuilder("two").add(rod("first", "world", 0)).add(rod("second", "world", -1)).build();
}

TEST(Linearization, OfAPendulumIsItsClosedForm) {
  State state(pendulum());
  const double angle = 0.7;
  state.set(Eigen::VectorXd::Constant(1, angle));
  const Linearization<double> linear = linearize<double>(state, Eigen::VectorXd::Zero(1));
  Eigen::Matrix2d A;
  A << 0, 1, -0.5 * g * std::cos(angle) * 3, -0.1 * 3;  // inertia 1/3 about the hinge
  EXPECT_TRUE(is_near(linear.A, A, 1e-14));
  EXPECT_TRUE(is_near(linear.B, Eigen::Vector2d(0, 3), 1e-14));
}

class LinearizationOf : public testing::TestWithParam<int> {};

/// x(t) of two motions is linear in where the other one starts.
TEST_P(LinearizationOf, RandomTreesIsHowNearbyMotionsPart) {
  Random random(static_cast<unsigned>(GetParam()) + 40);
  const Model model = random_dynamics_model(GetParam(), random);
  const int n = model.nv();
  const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(GetParam()));
  const Eigen::VectorXd v = random.vector(n);
  const Eigen::VectorXd torque = random.vector(n);
  State state(model);
  state.set(q, v);
  const Linearization<double> linear = linearize<double>(state, torque);
  const Eigen::VectorXd x = random.vector(2 * n);
  const Eigen::VectorXd u = random.vector(n);
  // the rate at which q ⊕ sδ at θ̇ + sy moves away from q at θ̇
  const Eigen::VectorXd away = central_difference([&](double s) -> Eigen::VectorXd {
    const Eigen::VectorXd near = integrate(model, q, Eigen::VectorXd(x.head(n)), s);
    return central_difference([&](double t) -> Eigen::VectorXd {
      return difference(model, integrate(model, q, v, t),
                        integrate(model, near, Eigen::VectorXd(v + s * x.tail(n)), t));
    });
  });
  const Eigen::VectorXd faster = central_difference(
      [&](double s) -> Eigen::VectorXd {
        State other(model);
        other.set(integrate(model, q, Eigen::VectorXd(x.head(n)), s), Eigen::VectorXd(v + s * x.tail(n)));
        return forward_dynamics<double>(other, Eigen::VectorXd(torque + s * u));
      },
      1e-3);
  const Eigen::VectorXd rate = linear.A * x + linear.B * u;
  EXPECT_TRUE(is_near(rate.head(n), away, 1e-8));
  EXPECT_TRUE(is_near(rate.tail(n), faster, 1e-7));
}

INSTANTIATE_TEST_SUITE_P(Samples, LinearizationOf, testing::Range(0, 12));

TEST(Linearization, SizesAreChecked) {
  State state(pendulum());
  Eigen::MatrixXd A(2, 2);
  Eigen::MatrixXd B(1, 1);
  EXPECT_THROW(linearize<double>(state, Eigen::VectorXd::Zero(1), A, B), ArgumentError);
  EXPECT_THROW(linear_modes(Eigen::MatrixXd::Zero(2, 3), Eigen::MatrixXd::Zero(2, 1)), ArgumentError);
  EXPECT_THROW(linear_modes(Eigen::MatrixXd::Zero(2, 2), Eigen::MatrixXd::Zero(3, 1)), ArgumentError);
  EXPECT_THROW(linear_modes(Eigen::MatrixXd::Constant(2, 2, NAN), Eigen::MatrixXd::Zero(2, 1)), ArgumentError);
}

TEST(LinearModes, OfAPendulumSwing) {
  State state(pendulum());
  const Linearization<double> linear = linearize<double>(state, Eigen::VectorXd::Zero(1));
  const std::vector<LinearMode> modes = linear_modes(linear.A, linear.B);
  ASSERT_EQ(modes.size(), 2U);
  const double pulsation = std::sqrt(1.5 * g);
  EXPECT_NEAR(modes[0].frequency, pulsation / (2 * std::numbers::pi), 1e-14);
  EXPECT_NEAR(modes[0].damping, 0.3 / (2 * pulsation), 1e-14);
  EXPECT_GT(modes[0].eigenvalue.imag(), 0);
  EXPECT_EQ(modes[1].eigenvalue, std::conj(modes[0].eigenvalue));
  EXPECT_TRUE(modes[0].controllable);
}

TEST(LinearModes, AreOutOfReachOfOthersInputs) {
  for (const bool coupled : {false, true}) {
    State state(coupled ? double_pendulum() : two_pendulums());
    state.set(Eigen::Vector2d(0, coupled ? 0 : 0.5));
    const Linearization<double> linear = linearize<double>(state, Eigen::VectorXd::Zero(2));
    const std::vector<LinearMode> modes = linear_modes(linear.A, linear.B.leftCols(1));
    const auto reached = std::ranges::count_if(modes, [](const LinearMode& mode) { return mode.controllable; });
    EXPECT_EQ(reached, coupled ? 4 : 2);
  }
}

TEST(Trim, FindsWhereAPendulumHangsOrStands) {
  State state(pendulum());
  for (const double guess : {0.4, std::numbers::pi / 2, -1.0}) {
    state.set(Eigen::VectorXd::Constant(1, guess));
    const TrimResult result = trim(state, HingeSet::all(state.model()));
    EXPECT_TRUE(result.found && result.stable) << guess;
    EXPECT_NEAR(std::sin(state.q()(0)), 0, 1e-9);
    EXPECT_NEAR(std::cos(state.q()(0)), 1, 1e-9);
    EXPECT_NEAR(result.least_stiffness, 0.5 * g, 1e-8);
  }
  state.set(Eigen::VectorXd::Constant(1, 2.9));
  const TrimResult result = trim(state, HingeSet::all(state.model()));
  EXPECT_TRUE(result.found && !result.stable);
  EXPECT_NEAR(state.q()(0), std::numbers::pi, 1e-9);
}

TEST(Trim, HoldsTheOtherHinges) {
  State state(double_pendulum());
  state.set(Eigen::Vector2d(0.8, 0));
  const TrimResult result = trim(state, HingeSet(state.model(), {"second"}));
  EXPECT_TRUE(result.found && result.stable);
  EXPECT_EQ(state.q()(0), 0.8);
  EXPECT_NEAR(state.q()(1), -0.8, 1e-9);  // it hangs straight down
  const Eigen::VectorXd torque = inverse_dynamics<double>(state, Eigen::VectorXd::Zero(2));
  EXPECT_NEAR(torque(0), (0.5 + 1) * g * std::sin(0.8), 1e-9);
  EXPECT_NEAR(torque(1), 0, 1e-9);
}

TEST(Trim, SaysWhatFalls) {
  BodySpec body = rod("body", "world", 0);
  body.hinge = {.name = "float", .type = HingeType::free};
  State state(ModelBuilder("falling").add(body).build());
  const TrimResult result = trim(state, HingeSet::all(state.model()));
  EXPECT_FALSE(result.found);
  EXPECT_EQ(result.worst, "float");
  EXPECT_NEAR(result.residual, g, 1e-9);
}

TEST(Trim, RefusesHingesOfAnotherModel) {
  State state(pendulum());
  EXPECT_THROW(trim(state, HingeSet::all(double_pendulum())), ArgumentError);
}

TEST(Trim, WithoutFreeHingesStays) {
  State state(pendulum());
  state.set(Eigen::VectorXd::Constant(1, 0.3));
  const TrimResult result = trim(state, HingeSet(state.model()));
  EXPECT_TRUE(result.found && result.stable);
  EXPECT_EQ(state.q()(0), 0.3);
}

}  // namespace
}  // namespace bunraku::test
