/// Some hinges prescribed, the rest free, against a dense partitioned solve.
#include <limits>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Hybrid : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam()) + 700};
  Model model = random_dynamics_model(GetParam(), random);
  Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(GetParam()));
  Eigen::VectorXd v = random.vector(model.nv());
  Eigen::VectorXd acceleration = random.vector(model.nv());
  Eigen::VectorXd torque = random.vector(model.nv());
  AppliedForce<double> force{Node{"n", static_cast<int>(model.bodies().size()) - 1, random.transform()}, random.force(),
                             Frame::aligned};
  State dynamics{model};

  void SetUp() override { dynamics.set(q, v); }

  void check(const HingeSet& mask) {
    const int n = model.nv();
    std::vector<int> given;
    std::vector<int> free;
    for (const Body& body : model.bodies()) {
      const auto k = static_cast<int>(&body - model.bodies().data());
      for (int j = 0; j < body.nv; ++j) {
        (mask.contains(k) ? given : free).push_back(body.v_index + j);
      }
    }
    const Eigen::MatrixXd mass = DenseReference(model, q).mass();
    const Eigen::VectorXd bias = inverse_dynamics(dynamics, Eigen::VectorXd::Zero(n), {&force, 1});
    Eigen::VectorXd expected_a = acceleration;
    const Eigen::MatrixXd mass_ff = mass(free, free);
    const Eigen::VectorXd right = torque(free) - bias(free) - mass(free, given) * acceleration(given);
    expected_a(free) = Eigen::VectorXd(solve_symmetric(mass_ff, right));
    const Eigen::VectorXd expected_t = mass * expected_a + bias;

    Eigen::VectorXd a = acceleration;
    Eigen::VectorXd t = torque;
    a(free).setConstant(nan);
    t(given).setConstant(nan);
    hybrid_dynamics(dynamics, mask, a, t, {&force, 1});
    const double condition = free.empty() ? 1 : condition_number(mass_ff);
    EXPECT_TRUE(is_near(a, expected_a, 1e-13 * condition));
    EXPECT_TRUE(is_near(t, expected_t, 1e-13 * condition));
    EXPECT_EQ(Eigen::VectorXd(a(given)), Eigen::VectorXd(acceleration(given))) << "what is given stays";
    EXPECT_EQ(Eigen::VectorXd(t(free)), Eigen::VectorXd(torque(free)));
  }
};

TEST_P(Hybrid, NoneIsForwardAndAllIsInverse) {
  HingeSet mask(model);
  Eigen::VectorXd a = Eigen::VectorXd::Constant(model.nv(), nan);
  Eigen::VectorXd t = torque;
  hybrid_dynamics(dynamics, mask, a, t, {&force, 1});
  const Eigen::MatrixXd mass = DenseReference(model, q).mass();
  EXPECT_TRUE(is_near(a, forward_dynamics(dynamics, torque, {&force, 1}), 1e-13 * condition_number(mass)));
  EXPECT_EQ(t, torque);
  check(mask);
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    mask.insert(k);
  }
  t.setConstant(nan);
  a = acceleration;
  hybrid_dynamics(dynamics, mask, a, t, {&force, 1});
  EXPECT_TRUE(is_near(t, inverse_dynamics(dynamics, acceleration, {&force, 1}), 1e-12));
  EXPECT_EQ(a, acceleration);
  check(mask);
}

TEST_P(Hybrid, RandomMasks) {
  for (int i = 0; i < 5; ++i) {
    HingeSet mask(model);
    for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
      if (random.uniform() > 0) {  // mimic hinges' own too, which does not count
        mask.insert(k);
      }
    }
    check(mask);
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, Hybrid, testing::Range(0, 18));  // mimics too

TEST(HybridCalls, InFloat) {
  for (const int sample : {2, 3}) {  // without and with mimics
    Random random(750);
    const Model model = random_dynamics_model(sample, random);
    const Eigen::VectorXd q = random_configuration(model, 3);
    const Eigen::VectorXd v = random.vector(model.nv());
    State exact(model);
    BasicState<float> dynamics(model);
    exact.set(q, v);
    dynamics.set(q.cast<float>(), v.cast<float>());
    HingeSet mask(model);
    for (int k = 0; k < static_cast<int>(model.bodies().size()); k += 2) {
      mask.insert(k);
    }
    Eigen::VectorXd a = random.vector(model.nv());
    Eigen::VectorXd t = random.vector(model.nv());
    Eigen::VectorXf rough_a = a.cast<float>();
    Eigen::VectorXf rough_t = t.cast<float>();
    hybrid_dynamics(exact, mask, a, t);
    hybrid_dynamics(dynamics, mask, rough_a, rough_t);
    EXPECT_TRUE(is_near(rough_a.cast<double>(), a, 5e-4));
    EXPECT_TRUE(is_near(rough_t.cast<double>(), t, 5e-4));
  }
}

/// A massless ring on a beam; with `mimic`, a follower that hangs beside them makes it a model with mimics.
Model ring_on_beam(bool mimic) {
  Random random(751);
  ModelBuilder builder;
  BodySpec beam{.name = "beam", .inertia = random.inertia()};
  beam.hinge = {.name = "pin", .type = HingeType::revolute};
  BodySpec ring{.name = "ring", .parent = "beam"};
  ring.hinge = {.name = "loose", .type = HingeType::revolute};
  builder.add(beam).add(ring);
  if (mimic) {
    BodySpec twin{.name = "twin", .inertia = random.inertia()};
    twin.hinge = {.name = "follower", .type = HingeType::revolute, .mimic = Mimic{"pin", 2}};
    builder.add(twin);
  }
  return builder.build();
}

TEST(HybridCalls, AMasslessHingeMayBePrescribedButNotFree) {
  for (const bool mimic : {false, true}) {
    const Model model = ring_on_beam(mimic);
    State dynamics(model);
    HingeSet mask(model);
    std::vector<double> a(2, 0.5);
    std::vector<double> t(2, 0.5);
    try {
      hybrid_dynamics(dynamics, mask, a, t);
      FAIL();
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr("'loose'"));
    }
    EXPECT_THAT(a, testing::Each(0.5)) << "nothing is written";
    EXPECT_THAT(t, testing::Each(0.5));
    mask.insert("loose");
    a = {nan, 7};
    t = {0.5, nan};
    hybrid_dynamics(dynamics, mask, a, t);
    EXPECT_NEAR(t[1], 0, 1e-15) << "nothing to move";
    EXPECT_EQ(a[1], 7);
    EXPECT_TRUE(std::isfinite(a[0]));
  }
}

TEST(HybridCalls, KeepsItsDigitsWhileABodyFalls) {  // all bias torques cancel
  ModelBuilder builder;
  for (int i = 0; i < 8; ++i) {
    BodySpec body{
        .name = "b" + std::to_string(i),
        .parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i - 1),
        .inertia = RigidInertia<double>::about_center(i == 7 ? 100 : 1, {0.2, 0.1, 0.3}, {0.1, 0.1, 0.1, 0, 0, 0})};
    body.hinge.type = i == 0 ? HingeType::free : HingeType::revolute;
    body.hinge.axis = i % 2 == 0 ? Vec3<double>{1, 0, 0} : Vec3<double>{0, 1, 0};
    builder.add(body);
  }
  const Model model = builder.build();
  BasicState<float> state(model);
  Eigen::VectorXf rate = Eigen::VectorXf::Zero(model.nv());
  Eigen::VectorXf torque = Eigen::VectorXf::Zero(model.nv());
  const HingeSet none(model);
  hybrid_dynamics(state, none, rate, torque);
  Eigen::VectorXf wanted = Eigen::VectorXf::Zero(model.nv());
  wanted[5] = -9.81F;  // angular first, in the body's axes, which are the world's
  EXPECT_LT((rate - wanted).norm(), 1e-5F);
}

TEST(HybridCalls, RefuseWrongArguments) {
  const Model model = ring_on_beam(false);
  State dynamics(model);
  const HingeSet mask(model, {"loose"});
  std::vector<double> a = {nan, 0};
  std::vector<double> t = {0, nan};
  EXPECT_NO_THROW(hybrid_dynamics(dynamics, mask, a, t));
  a[1] = nan;
  EXPECT_THROW(hybrid_dynamics(dynamics, mask, a, t), ArgumentError);
  a[1] = 0;
  t[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(hybrid_dynamics(dynamics, mask, a, t), ArgumentError);
  t[0] = 0;
  EXPECT_THROW(hybrid_dynamics(dynamics, HingeSet(ring_on_beam(true)), a, t), ArgumentError);
  EXPECT_THROW(hybrid_dynamics(dynamics, mask, std::span(a).first(1), t), ArgumentError);
  EXPECT_THROW(hybrid_dynamics(dynamics, mask, a, std::span(t).first(1)), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
