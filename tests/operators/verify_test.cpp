/// Conjectures, true and false.
#include "bunraku/operators/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/coupled_models.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

Verdict verdict(const std::string& left, const std::string& right, const VerifyOptions& options = {}) {
  return verify(parse(left, options.variables), parse(right, options.variables), options);
}

TEST(Verify, TrueOnes) {
  for (const auto& [left, right] : std::vector<std::pair<const char*, const char*>>{
           {"inv(phi)", "I - E_phi"},
           {"I", "inv(phi)*phi"},
           {"inv(phi)*phi", "I"},
           {"inv(H*phi*M*~phi*~H)", "~(I - H*psi*K)*inv(D)*(I - H*psi*K)"},
           {"~phi*(~H*thetadd + a)", "alpha"},
           {"H*f + armature*thetadd", "T"},
           {"H*f + armature*thetadd - T_p", "T"},
           {"inv(H*phi*M*~phi*~H + armature)*(T - H*phi*(M*~phi*a + b))", "thetadd"},
           {"~V*M*V", "~thetad*H*phi*M*~phi*~H*thetad"},
           {"sqrt(D)*sqrt(D)", "D"},
           {"cross(V)*V", "0*V"},
           {"~cross(V) + cross(V)", "~(~cross(V) + cross(V))"},
           {"~B*Omega*B", "~B*~phi*~H*dense_inv(H*phi*M*~phi*~H)*H*phi*B"},
           {"phi*M*~phi", "R + phit*R + R*~phit"},
           {"Omega - Upsilon", "~psit*Upsilon + Upsilon*psit"},  // RJK91 (20): on chains only, see below
       }) {
    SCOPED_TRACE(left);
    const bool chains_only = std::string(left).starts_with("Omega - ");
    const VerifyOptions options{.trees = chains_only ? 0 : 15};
    const Verdict found = verdict(left, right, options);
    EXPECT_TRUE(found.holds) << found.counterexample;
    EXPECT_LE(found.residual, 1e-9);
    EXPECT_EQ(found.samples, 10 + options.trees);
    EXPECT_THAT(found.counterexample, IsEmpty());
  }
}

TEST(Verify, TellsWhatIsProved) {
  for (const auto& [left, right] : std::vector<std::pair<const char*, const char*>>{
           {"inv(phi)", "I - E_phi"},
           {"inv(H*phi*M*~phi*~H)", "~(I - H*psi*K)*inv(D)*(I - H*psi*K)"},
           {"inv(H*phi*M*~phi*~H + armature)*(T - H*phi*(M*~phi*a + b))", "thetadd"},
           {"H*f + armature*thetadd - T_p", "T"},
           {"~V*M*V", "~thetad*H*phi*M*~phi*~H*thetad"},
           {"sqrt(D)*sqrt(D)", "D"},
           {"inv(sqrt(D))*D*inv(sqrt(D))", "I"},
           {"phi*M*~phi", "R + phit*R + R*~phit"},
           {"~B*Omega*B", "~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B"},
           {"H*psi*M*~psi*~H", "D - (I - H*psi*K)*armature*~(I - H*psi*K)"},
       }) {
    SCOPED_TRACE(left);
    const Verdict found = verdict(left, right);
    EXPECT_EQ(to_string(found), "proved");
    ASSERT_TRUE(found.proof);
    EXPECT_FALSE(found.proof->steps.empty());
    EXPECT_THAT(to_string(*found.proof), HasSubstr("\n= 0\n"));
  }
  EXPECT_EQ(to_string(verdict("cross(V)*V", "0*V")), "holds") << "no rule for it";
  EXPECT_EQ(to_string(verdict("phi", "psi")), "refuted");
  EXPECT_FALSE(verdict("phi", "psi").proof);
}

TEST(Verify, SystemsHaveWhatIsAskedFor) {
  EXPECT_EQ(to_string(verdict("H*P*~H", "D")), "proved");
  EXPECT_EQ(to_string(verdict("H*P*~H", "D", {.armature = true})), "refuted");
  EXPECT_EQ(to_string(verdict("H*P*~H + armature", "D", {.armature = true, .massless = true})), "proved");
  const VerifyOptions all{.armature = true, .couplings = true, .massless = true};
  EXPECT_EQ(to_string(verdict("(I - H*psi*K)*H*phi", "H*psi", all)), "proved");
  EXPECT_EQ(to_string(verdict("H*phi*M*~phi*~H + armature", "(I + H*phi*K)*D*~(I + H*phi*K)", all)), "proved");
  EXPECT_EQ(to_string(verdict("H*P*~H + armature", "D", all)), "refuted") << "a hinge within a cluster moves others";
  EXPECT_THROW(verdict("inv(M)*M", "I", {.massless = true}), OperatorError) << "singular";
}

TEST(Verify, FalseOnes) {
  for (const auto& [left, right] : std::vector<std::pair<const char*, const char*>>{
           {"phi*psi", "psi*phi"},
           {"inv(phi)", "I + E_phi"},
           {"phi*M*~phi", "R + phit*R + R*phit"},
           {"H*P*~H", "H*M*~H"},
           {"~phi*(~H*thetadd + a)", "V"},
           {"V", "alpha"},
           {"Omega - Upsilon", "~psit*Upsilon + Upsilon*psit"},  // on trees
           {"D", "1.0000001*D"},
           {"M", "0*M"},
           {"cross(V)", "~cross(V)"},
           {"H*phi*M*~phi*~H + armature", "H*phi*M*~phi*~H"},
           {"inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))", "thetadd + armature*thetadd"},
       }) {
    SCOPED_TRACE(left);
    const Verdict found = verdict(left, right);
    EXPECT_FALSE(found.holds);
    EXPECT_GT(found.residual, 1e-9);
    EXPECT_EQ(found.samples, 25);
    EXPECT_THAT(found.counterexample,
                MatchesRegex("random (chain|tree) [0-9]+ of [0-9]+ bodies: [-0-9.e]+ against [-0-9.e]+ in row "
                             "[0-9]+, column [0-9]+, a relative difference of [0-9.e-]+"));
  }
}

TEST(Verify, ResidualIsRelative) {
  EXPECT_NEAR(verdict("M", "0.75*M").residual, 0.25, 1e-12);
  EXPECT_NEAR(verdict("M", "2*M").residual, 0.5, 1e-12);
  EXPECT_NEAR(verdict("M", "0*M").residual, 1, 1e-12);
  EXPECT_EQ(verdict("0*M", "M - M").residual, 0);
  EXPECT_TRUE(verdict("D", "1.0000001*D", {.tolerance = 1e-6}).holds);
}

TEST(Verify, OnGivenModels) {
  const Model robot = coupled_models(false)[2].model;
  const Verdict found = verdict("inv(H*phi*M*~phi*~H)", "~(I - H*psi*K)*inv(D)*(I - H*psi*K)",
                                {.chains = 0, .trees = 0, .models = {robot, robot}});
  EXPECT_TRUE(found.holds) << found.counterexample;
  EXPECT_EQ(found.samples, 2);
  const Verdict refuted = verdict("phi", "~phi", {.chains = 0, .trees = 0, .models = {robot}});
  EXPECT_THAT(refuted.counterexample, HasSubstr("'coupled' at a random state: "));
  const Model geared = random_model({.armature = true}, 4);
  EXPECT_TRUE(verdict("H*P*~H", "D").holds) << "random systems have no armature where it is not named";
  EXPECT_FALSE(verdict("H*P*~H", "D", {.models = {geared}}).holds);
  EXPECT_THROW(verdict("Upsilon", "Upsilon", {.models = {robot}}), OperatorError);
}

TEST(Verify, Variables) {
  const Operator x = Operator::variable("x", SpaceKind::hinge, SpaceKind::number);
  const Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  const VerifyOptions options{.variables = {x, W}};
  EXPECT_TRUE(verdict("(I - E_phi)*(phi*W + W)*~H*x", "(2*W - E_phi*W)*~H*x", options).holds);
  EXPECT_TRUE(verdict("inv(phi*W)", "inv(W)*inv(phi)", options).holds);
  EXPECT_FALSE(verdict("W*M", "M*W", options).holds);
  EXPECT_FALSE(verdict("W", "~W", options).holds) << "random values are not symmetric";
  EXPECT_FALSE(verdict("W", "0*W", options).holds);
  EXPECT_THROW(verify(x, x), OperatorError) << "without values";
}

TEST(Verify, WhatCannotBeCompared) {
  try {
    verdict("phi", "H");
    ADD_FAILURE();
  } catch (const OperatorError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("body space to body space"), HasSubstr("body space to hinge space")));
  }
  EXPECT_THROW(verdict("I", "H"), OperatorError);
  EXPECT_THROW(verdict("I", "I"), OperatorError);
  EXPECT_THROW(verdict("dense_inv(E_phi)", "M"), OperatorError) << "singular";
}

TEST(Verify, SameInEveryRun) {
  const Verdict first = verdict("phi*psi", "psi*phi");
  const Verdict second = verdict("phi*psi", "psi*phi");
  const Verdict other = verdict("phi*psi", "psi*phi", {.seed = 2});
  EXPECT_EQ(first.counterexample, second.counterexample);
  EXPECT_EQ(first.residual, second.residual);
  EXPECT_NE(first.counterexample, other.counterexample);
}

TEST(RandomSystems, AreOfTheirKind) {
  bool branches = false;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Model chain = random_model({.serial = true}, seed);
    const Model tree = random_model({}, seed);
    const Model geared = random_model({.armature = true, .bodies = 12}, seed);
    EXPECT_GE(tree.bodies().size(), 3);
    EXPECT_LE(tree.bodies().size(), 8);
    EXPECT_EQ(geared.bodies().size(), 12);
    EXPECT_EQ(tree.nodes().size(), 2);
    for (int k = 0; k < static_cast<int>(chain.bodies().size()); ++k) {
      EXPECT_EQ(chain.body(k).parent, k - 1);
      EXPECT_GT(chain.body(k).inertia.mass, 0);
      for (const HingeDof& dof : chain.body(k).hinge.dofs) {
        EXPECT_EQ(dof.armature, 0);
      }
    }
    for (int k = 0; k < static_cast<int>(tree.bodies().size()); ++k) {
      branches = branches || tree.body(k).parent < k - 1;
    }
    for (const Body& body : geared.bodies()) {
      for (const HingeDof& dof : body.hinge.dofs) {
        EXPECT_GT(dof.armature, 0);
      }
    }
    const Model again = random_model({}, seed);
    EXPECT_EQ(again.bodies().back().inertia.mass, tree.bodies().back().inertia.mass);
    EXPECT_GT(norm(tree.gravity()), 0);
  }
  EXPECT_TRUE(branches);
}

}  // namespace
}  // namespace bunraku::test
