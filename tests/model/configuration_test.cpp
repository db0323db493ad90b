/// Configurations of whole models.
#include "bunraku/model/configuration.hpp"

#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/finite_difference.hpp"
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

TEST(Configuration, InterpolateGoesAtConstantVelocity) {
  const Model model = tree();
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Eigen::VectorXd q0 = random_configuration(model, seed);
    const Eigen::VectorXd q1 = random_configuration(model, 100 + seed);
    const Eigen::VectorXd way = difference(model, q0, q1);
    for (const double s : {0.0, 0.3, 1.0}) {
      EXPECT_TRUE(is_near(difference(model, q0, interpolate(model, q0, q1, s)), way * s, 1e-12));
    }
    Eigen::VectorXd in_place = q1;
    interpolate(model, q0, in_place, 0.3, in_place);
    EXPECT_EQ(in_place, interpolate(model, q0, q1, 0.3));
  }
  EXPECT_THROW(static_cast<void>(interpolate(model, neutral(model), neutral(model), 1.0 / 0.0)), ArgumentError);
}

/// The derivative of f, from tangent vectors to tangent vectors, at zero.
template <class F>
Eigen::MatrixXd numeric(int n, F&& f) {
  Eigen::MatrixXd out(n, n);
  for (int i = 0; i < n; ++i) {
    out.col(i) = central_difference([&](double s) -> Eigen::VectorXd { return f(Eigen::VectorXd::Unit(n, i) * s); });
  }
  return out;
}

TEST(Configuration, DerivativesAreThoseOfTheMotion) {
  const Model model = tree();
  const int n = model.nv();
  Random random(43);
  for (const double size : {1e-6, 0.1, 1.0}) {  // turns of up to 1.7 rad
    const Eigen::VectorXd q = random_configuration(model, 7);
    const Eigen::VectorXd v = random.vector(n) * size;
    const double dt = 0.7;
    const Eigen::VectorXd end = integrate(model, q, v, dt);
    const auto from_end = [&](const Eigen::VectorXd& to) { return difference(model, end, to); };
    EXPECT_TRUE(is_near(
        integrate_dq(model, q, v, dt),
        numeric(n, [&](const Eigen::VectorXd& d) { return from_end(integrate(model, integrate(model, q, d), v, dt)); }),
        1e-10));
    EXPECT_TRUE(is_near(integrate_dv(model, q, v, dt),
                        numeric(n, [&](const Eigen::VectorXd& d) { return from_end(integrate(model, q, v + d, dt)); }),
                        1e-10));
    EXPECT_TRUE(is_near(
        difference_dq0(model, q, end),
        numeric(n, [&](const Eigen::VectorXd& d) { return difference(model, integrate(model, q, d), end); }), 1e-10));
    EXPECT_TRUE(is_near(
        difference_dq1(model, q, end),
        numeric(n, [&](const Eigen::VectorXd& d) { return difference(model, q, integrate(model, end, d)); }), 1e-10));
  }
}

TEST(Configuration, DerivativesWriteIntoBlocks) {
  const Model model = tree();
  const int n = model.nv();
  const Eigen::VectorXd q = random_configuration(model, 3);
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(n, 0.3);
  const Eigen::MatrixXd expected = integrate_dq(model, q, v, 0.5);
  Eigen::MatrixXd all = Eigen::MatrixXd::Constant(n + 2, n + 3, 9);
  integrate_dq(model, q, v, 0.5, all.block(1, 2, n, n));
  EXPECT_EQ(all.block(1, 2, n, n), expected);
  EXPECT_EQ((all.array() == 9).count(), (n + 2) * (n + 3) - n * n) << "nothing beside the block";
  std::vector<double> flat(static_cast<std::size_t>(n * n), 9);
  integrate_dq(model, q, v, 0.5, flat);
  EXPECT_EQ(Eigen::MatrixXd(Eigen::Map<Eigen::MatrixXd>(flat.data(), n, n)), expected);
  flat.pop_back();
  EXPECT_THROW(integrate_dq(model, q, v, 0.5, flat), ArgumentError);
  EXPECT_THROW(difference_dq0(model, q, q, all), ArgumentError);
}

TEST(Configuration, SinglePrecisionAgrees) {
  const Model model = tree();
  const Eigen::VectorXd q = random_configuration(model, 5);
  const Eigen::VectorXd to = random_configuration(model, 6);
  Random random(44);
  const Eigen::VectorXd v = random.vector(model.nv());
  const Eigen::VectorXf qf = q.cast<float>();
  const Eigen::VectorXf tof = to.cast<float>();
  const Eigen::VectorXf vf = v.cast<float>();
  const auto close = [](const Eigen::MatrixXf& a, const Eigen::MatrixXd& b) {
    return is_near(Eigen::MatrixXd(a.cast<double>()), b, 2e-5);
  };
  EXPECT_EQ(neutral<float>(model), neutral(model).cast<float>());
  EXPECT_EQ(random_configuration<float>(model, 5), qf);
  EXPECT_EQ(initial_configuration<float>(model), neutral<float>(model));
  EXPECT_TRUE(close(integrate(model, qf, vf, 0.3), integrate(model, q, v, 0.3)));
  EXPECT_TRUE(close(difference(model, qf, integrate(model, qf, vf, 0.3)), v * 0.3));
  EXPECT_TRUE(close(interpolate(model, qf, tof, 0.3), interpolate(model, q, to, 0.3)));
  EXPECT_TRUE(close(normalize(model, qf), q));
  EXPECT_TRUE(close(integrate_dq(model, qf, vf, 0.3), integrate_dq(model, q, v, 0.3)));
  EXPECT_TRUE(close(integrate_dv(model, qf, vf, 0.3), integrate_dv(model, q, v, 0.3)));
  const Eigen::VectorXd near = integrate(model, q, v, 0.3);
  const Eigen::VectorXf nearf = near.cast<float>();
  EXPECT_TRUE(close(difference_dq0(model, qf, nearf), difference_dq0(model, q, near)));
  EXPECT_TRUE(close(difference_dq1(model, qf, nearf), difference_dq1(model, q, near)));
  Eigen::VectorXf bad = qf;
  bad *= 1.01F;
  EXPECT_THROW(static_cast<void>(integrate(model, bad, vf)), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
