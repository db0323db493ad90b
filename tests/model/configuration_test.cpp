/// Configurations of whole models.
#include "bunraku/model/configuration.hpp"

#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

Model tree() {
  Random random(40);
  return random_tree(30, 0.3, random).build();
}

TEST(Configuration, IntegrateAndDifferenceAreInverse) {
  const Model model = tree();
  Random random(41);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Eigen::VectorXd q = random_configuration(model, seed);
    const Eigen::VectorXd v = random.vector(model.nv());
    EXPECT_TRUE(is_near(difference(model, q, integrate(model, q, v)), v, 1e-13));
    EXPECT_TRUE(is_near(integrate(model, q, v, 0.5), integrate(model, q, v * 0.5), 1e-13));
  }
}

TEST(Configuration, IntegrateMayWriteOverItsInput) {
  const Model model = tree();
  Random random(42);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = random.vector(model.nv());
  std::vector<double> in_place(q.begin(), q.end());
  integrate(model, in_place, detail::as_span(v), 0.3, in_place);
  EXPECT_TRUE(is_near(Eigen::Map<Eigen::VectorXd>(in_place.data(), model.nq()), integrate(model, q, v, 0.3), 0));
}

TEST(Configuration, RandomIsReproducibleAndStaysWithinLimits) {
  BodySpec spec{.name = "a", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  spec.hinge.type = HingeType::revolute;
  spec.hinge.dofs = {{.lower = 0.2, .upper = 0.3}};
  BodySpec open = spec;
  open.name = "b";
  open.hinge.dofs = {{.lower = 5}};
  const Model model = ModelBuilder().add(spec).add(open).build();
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Eigen::VectorXd q = random_configuration(model, seed);
    EXPECT_EQ(q, random_configuration(model, seed));
    EXPECT_GE(q[0], 0.2);
    EXPECT_LE(q[0], 0.3);
    EXPECT_GE(q[1], 5);
    EXPECT_LE(q[1], 5 + std::numbers::pi);
  }
  EXPECT_NE(random_configuration(model, 1), random_configuration(model, 2));
}

TEST(Configuration, NormalizeMendsQuaternions) {
  BodySpec spec{.name = "a", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  spec.hinge.type = HingeType::free;
  const Model model = ModelBuilder().add(spec).build();
  Eigen::VectorXd q(7);
  q << 0, 3, 0, 4, 1, 2, 3;
  Eigen::VectorXd expected(7);
  expected << 0, 0.6, 0, 0.8, 1, 2, 3;
  EXPECT_TRUE(is_near(normalize(model, q), expected, 1e-15));
  q.head<4>().setZero();
  EXPECT_EQ(normalize(model, q)[0], 1);
}

TEST(Configuration, BadQuaternionsAndOverflowsAreRefused) {
  BodySpec spec{.name = "a", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  spec.hinge.type = HingeType::free;
  const Model model = ModelBuilder().add(spec).build();
  const Eigen::VectorXd q = neutral(model);
  const Eigen::VectorXd v = Eigen::VectorXd::Ones(6);
  Eigen::VectorXd zero = q;
  zero[0] = 0;
  EXPECT_THROW(static_cast<void>(integrate(model, zero, v)), ArgumentError);
  EXPECT_THROW(static_cast<void>(integrate(model, q * 2, v)), ArgumentError);
  EXPECT_THROW(static_cast<void>(difference(model, q, zero)), ArgumentError);
  EXPECT_THROW(static_cast<void>(integrate(model, q, v * 1e200)), ArgumentError);
  EXPECT_TRUE(integrate(model, q, v * 1e100).allFinite());
}

TEST(Configuration, WrongArgumentsAreNamed) {
  const Model model = tree();
  Eigen::VectorXd q = neutral(model);
  const Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const ArgumentError& e) {
      return e.what();
    }
    return "nothing thrown";
  };
  EXPECT_THAT(message([&] { static_cast<void>(integrate(model, v.head(2), v)); }), HasSubstr("q has 2 numbers"));
  EXPECT_THAT(message([&] { static_cast<void>(integrate(model, q, q.head(1))); }), HasSubstr("v has 1 numbers"));
  q[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message([&] { static_cast<void>(integrate(model, q, v)); }), HasSubstr("q[3] is nan"));
  EXPECT_THAT(message([&] { static_cast<void>(difference(model, q, q)); }), HasSubstr("q0[3]"));
  EXPECT_THAT(
      message([&] { static_cast<void>(integrate(model, neutral(model), v, std::numeric_limits<double>::infinity())); }),
      HasSubstr("dt"));
}

}  // namespace
}  // namespace bunraku::test
