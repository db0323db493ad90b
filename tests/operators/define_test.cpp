/// Operators that users define, from outside of the library.
#include <string>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/language/definitions.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/operators/verify.hpp"
#include "operators/dense_system.hpp"
#include "operators/messages.hpp"
#include "support/near.hpp"
#include "support/random.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

/// What is not in the library: each body's mass against its linear motion alone, and a drag that grows with the body's
/// number and the first coordinate.
Operator point_mass() {
  return define("point_mass", SpaceKind::body, SpaceKind::body, [](const BlockPlace& at, std::span<double> block) {
    for (std::size_t i = 3; i < 6; ++i) {
      block[6 * i + i] = at.model.bodies()[static_cast<std::size_t>(at.owner)].inertia.mass;
    }
  });
}
Operator drag() {
  return define("drag", SpaceKind::body, SpaceKind::number,
                [](const BlockPlace& at, std::span<double> block) { block[4] = at.q[0] * (1 + at.owner) + at.v[0]; });
}

TEST(Define, CompositeInertiaASecondTime) {
  const Operator R2 = define("R2 = M + E_phi*R2*~E_phi");
  EXPECT_EQ(to_ascii(R2), "gather(E_phi, M)");
  const SystemAndDense both(random_model({.bodies = 7}, 3), 4);
  const DenseSystem dense = both.dense();
  EXPECT_TRUE(is_near(both.system(R2).dense(), dense.get(Symbol::R), 1e-13));
  EXPECT_TRUE(verify(R2, soa::R, {}).holds);
  EXPECT_FALSE(verify(R2, soa::P, {}).holds);
  const PlanReport plan = both.system(R2).plan();
  EXPECT_EQ(plan.fused, 1);
  EXPECT_GT(plan.flops, 0);
  EXPECT_THAT(to_string(plan), HasSubstr("M(k) + Σ φ(k,c)"));
  const Operator Y = define("Y = ~H*inv(D)*H + ~E_psi*Y*E_psi");
  EXPECT_TRUE(is_near(both.system(Y).dense(), dense.get(Symbol::Upsilon), 1e-10));
}

TEST(Define, ByAFunction) {
  const SystemAndDense both(random_model({.bodies = 6}, 5), 2);
  const System& system = both.system;
  const Operator W = point_mass();
  MatrixXd expected = MatrixXd::Zero(36, 36);
  for (int k = 0; k < 6; ++k) {
    expected.block(6 * k + 3, 6 * k + 3, 3, 3).setIdentity();
    expected.block(6 * k + 3, 6 * k + 3, 3, 3) *= both.model.bodies()[static_cast<std::size_t>(k)].inertia.mass;
  }
  EXPECT_EQ(system(W).dense(), expected);
  EXPECT_EQ(system(~W).dense(), expected.transpose());
  // read by its name, in a sum, in a sweep, in an inverse that becomes a family
  DenseSystem dense = both.dense();
  dense.bind(W, expected);
  const Operator mass = parse("H*phi*(M + point_mass)*~phi*~H", {W});
  const Operator x = inv(mass);
  EXPECT_TRUE(is_near(system(mass).dense(), dense(mass), 1e-13));
  EXPECT_TRUE(is_near(system(x).dense() * dense(mass), MatrixXd::Identity(dense.nv, dense.nv), 1e-11));
  EXPECT_EQ(system(x).plan().fused, 2);
  EXPECT_THAT(explain(x), HasSubstr("innovations factorization"));
  const auto verified = [&](const char* left, const char* right) {
    return verify(parse(left, {W}), parse(right, {W}), {}).holds;
  };
  EXPECT_TRUE(verified("phi*point_mass*~phi - gather(E_phi, point_mass)",
                       "phit*gather(E_phi, point_mass) + gather(E_phi, point_mass)*~phit"));
  EXPECT_FALSE(verified("phi*point_mass", "point_mass*phi"));
  EXPECT_FALSE(verified("point_mass", "M"));
  EXPECT_THAT(to_latex(W), HasSubstr("point"));
}

TEST(Define, VectorsFollowTheState) {
  const Model model = random_model({.bodies = 4}, 5);
  System system(model);
  Evaluation evaluation = system(drag());
  const Program program(model, drag());
  State state(model);
  Random random(1);
  for (unsigned seed = 1; seed < 4; ++seed) {
    const VectorXd q = random_configuration(model, seed);
    const VectorXd v = random.vector(model.nv());
    system.set_state(q, v);
    state.set(q, v);
    VectorXd expected = VectorXd::Zero(24);
    for (int k = 0; k < 4; ++k) {
      expected[6 * k + 4] = q[0] * (1 + k) + v[0];
    }
    EXPECT_TRUE(is_near(VectorXd(evaluation.dense()), expected, 1e-14));
    EXPECT_TRUE(is_near(VectorXd(program(state)), expected, 1e-14));
  }
}

TEST(Define, RefusesWhatDefinesNothing) {
  for (const char* const text : {"M", "Y = M", "Y = E_phi*Y*~E_phi", "Y = M + E_phi*Y*E_phi", "Y = M + Y",
                                 "Y = M + 2*E_phi*Y*~E_phi", "Y = M + phi*Y*~phi", "Y = phi + E_phi*Y*~E_phi",
                                 "M = M + E_phi*M*~E_phi", "Y = M + E_phi*Y*~E_phi + S*Y*~S"}) {
    EXPECT_THROW(define(text), OperatorError) << text;
  }
  EXPECT_THROW(define("x", SpaceKind::body, SpaceKind::body, nullptr), OperatorError);
  EXPECT_THROW(define("phi", SpaceKind::body, SpaceKind::body, [](const BlockPlace&, std::span<double>) {}),
               OperatorError);
  const Operator bad = define("bad", SpaceKind::hinge, SpaceKind::hinge,
                              [](const BlockPlace&, std::span<double> block) { block[0] = 1.0 / 0.0; });
  const Model model = random_model({.bodies = 4}, 5);
  System system(model);
  EXPECT_THAT(message_of([&] { static_cast<void>(system(bad).dense()); }), HasSubstr("'bad'"));
  EXPECT_THROW(system.bind(bad, std::vector<double>{}), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
