/// Derivations: what is found, that every step of it holds, and what is refused.
#include "bunraku/operators/rewriting/simplify.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/operators/verify.hpp"
#include "operators/conditions.hpp"
#include "operators/dense_system.hpp"
#include "operators/messages.hpp"
#include "operators/random_expression.hpp"
#include "support/coupled_models.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Conditions plain{};
constexpr Conditions geared{.armature = true};
constexpr Conditions coupled{.couplings = true};
constexpr Conditions both_of_them{.armature = true, .couplings = true};

/// The expressions of a derivation's text, one a step, with what stands in ⟦ ⟧ in parentheses.
std::vector<std::string> lines_of(const Derivation& derivation) {
  std::vector<std::string> out;
  std::istringstream text(to_string(derivation));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("= ")) {
      for (const auto& [mark, instead] : {std::pair{"⟦", '('}, std::pair{"⟧", ')'}}) {
        for (std::size_t at = 0; (at = line.find(mark)) != std::string::npos;) {
          line.replace(at, std::string_view(mark).size(), 1, instead);
        }
      }
      out.push_back(line.substr(2));
    }
  }
  return out;
}

/// Every step equals the start, in dense matrices, and names a rule of the table or algebra.
void expect_sound(const Derivation& derivation, const Conditions& conditions) {
  const SystemAndDense both = system_for(conditions);
  const DenseSystem dense = both.dense();
  const Eigen::MatrixXd start = dense(derivation.start);
  EXPECT_LT(relative_difference(dense(derivation.result), start), 1e-8) << to_ascii(derivation.result);
  for (const DerivationStep& step : derivation.steps) {
    SCOPED_TRACE(step.rule + ": " + to_ascii(step.expression));
    EXPECT_LT(relative_difference(dense(step.expression), start), 1e-8);
    EXPECT_EQ(step.changed.empty(), step.rule == "algebra");
    for (const Change& each : step.changed) {
      EXPECT_FALSE(each.before == each.after);
      EXPECT_LT(relative_difference(dense(each.before), dense(each.after)), 1e-8)
          << to_ascii(each.before) << " → " << to_ascii(each.after);
    }
    if (step.rule == "algebra") {
      EXPECT_FALSE(step.source.empty());
      continue;
    }
    const auto rule = std::find_if(identities().begin(), identities().end(), [&](const Identity& each) {
      return each.name == step.rule && each.source == step.source;
    });
    ASSERT_NE(rule, identities().end());
    EXPECT_TRUE(rule->applies(conditions));
  }
  ASSERT_FALSE(derivation.steps.empty());
  EXPECT_EQ(derivation.steps.back().expression, derivation.result) << to_ascii(derivation.result);
  const std::string text = to_string(derivation);
  EXPECT_THAT(text, HasSubstr(to_unicode(derivation.start)));
  const std::vector<std::string> lines = lines_of(derivation);
  ASSERT_EQ(lines.size(), derivation.steps.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const DerivationStep& step = derivation.steps[i];
    EXPECT_THAT(text, HasSubstr(step.source));
    EXPECT_EQ(in_space(parse(lines[i]), step.expression.range()), step.expression) << lines[i];
  }
}

struct Wanted {
  const char* start;
  const char* result;
  std::vector<std::string> sources;
  Conditions conditions;
};

std::vector<Wanted> short_derivations() {
  const std::string lemma_1 = "RJK91 lemma 1";
  const std::string lemma_2 = "RJK91 lemma 2";
  const std::string lemma_4 = "RJK91 lemma 4";
  const char* const inverse = "~(I - H*psi*K)*inv(D)*(I - H*psi*K)";
  const char* const omega = "~B*~psi*~H*inv(D)*H*psi*B";
  std::vector<Wanted> out;
  for (const Conditions& c : {plain, coupled}) {
    out.push_back({"inv(H*phi*M*~phi*~H)", inverse, {lemma_1, lemma_2}, c});
    out.push_back({"~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B", omega, {lemma_1, lemma_2, lemma_4}, c});
    out.push_back({"inv(I + H*phi*K)", "I - H*psi*K", {lemma_2}, c});
  }
  for (const Conditions& c : {geared, both_of_them}) {
    out.push_back({"inv(H*phi*M*~phi*~H + armature)", inverse, {lemma_1, lemma_2}, c});
    out.push_back({"~B*~phi*~H*inv(H*phi*M*~phi*~H + armature)*H*phi*B", omega, {lemma_1, lemma_2, lemma_4}, c});
    out.push_back({"inv(I + H*phi*K)", "I - H*psi*K", {lemma_2}, c});
  }
  return out;
}

TEST(Simplify, Derivations) {
  for (const Wanted& each : short_derivations()) {
    SCOPED_TRACE(testing::Message() << each.start << ", armature " << each.conditions.armature << ", couplings "
                                    << each.conditions.couplings);
    const Derivation derivation = derive(parse(each.start), {.conditions = each.conditions});
    EXPECT_EQ(to_ascii(derivation.result), each.result);
    EXPECT_EQ(to_ascii(derivation.start), each.start);
    EXPECT_EQ(simplify(parse(each.start), each.conditions), derivation.result);
    expect_sound(derivation, each.conditions);
    for (const std::string& source : each.sources) {
      EXPECT_THAT(derivation.steps, Contains(testing::Field(&DerivationStep::source, HasSubstr(source))));
    }
  }
}

TEST(Simplify, ForwardDynamics) {
  const Derivation derivation = derive(parse("inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))"));
  const SystemAndDense both = system_for(plain);
  EXPECT_EQ(sweeps(both.system, derivation.result), 3);
  expect_sound(derivation, plain);
  for (const char* const source : {"RJK91 lemma 1", "RJK91 lemma 2", "RJK91 lemma 4"}) {
    EXPECT_THAT(derivation.steps, Contains(testing::Field(&DerivationStep::source, HasSubstr(source))));
  }
  EXPECT_THAT(to_ascii(derivation.result), Not(HasSubstr("inv(H")));
}

TEST(Simplify, ForwardDynamicsWithCouplings) {  // without P and G, three sweeps are the fewest
  const Derivation derivation =
      derive(parse("inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))"), {.conditions = coupled});
  const SystemAndDense both = system_for(coupled);
  EXPECT_LE(sweeps(both.system, derivation.result), 3);
  expect_sound(derivation, coupled);
}

TEST(Simplify, NothingIsFoundWithoutIdentities) {
  for (const Wanted& each : short_derivations()) {
    const Search search{.conditions = each.conditions, .identities = std::span<const Identity>{}};
    EXPECT_THAT(message_of([&] { simplify(parse(each.start), search); }),
                AllOf(HasSubstr("no identity gives the inverse of"), HasSubstr("dense_inv")));
    EXPECT_THROW(derive(parse(each.start), search), OperatorError);
  }
  const Search search{.identities = std::span<const Identity>{}};
  EXPECT_THROW(simplify(parse("inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))"), search), OperatorError);
  // what algebra alone gives is still found
  EXPECT_EQ(to_ascii(simplify(parse("phi*M*inv(M)"), search)), "phi");
  EXPECT_EQ(to_ascii(simplify(parse("phi*M + phi*P"), search)), "phi*(M + P)");
}

TEST(Simplify, EachLemmaIsNeeded) {
  for (const char* const needed : {"RJK91 lemma 1", "RJK91 lemma 2"}) {
    std::vector<Identity> rest;
    for (const Identity& each : identities()) {
      if (!each.source.starts_with(needed)) {
        rest.push_back(each);
      }
    }
    EXPECT_LT(rest.size(), identities().size());
    EXPECT_THROW(simplify(parse("inv(H*phi*M*~phi*~H)"), Search{.identities = std::span<const Identity>(rest)}),
                 OperatorError)
        << needed;
  }
}

TEST(Simplify, OfItsOwnIdentities) {
  const Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  const std::vector<Identity> own{
      {"W is an involution", "made up", W * W, in_space(Operator::identity(), {SpaceKind::body})}};
  const Derivation derivation = derive(parse("phi*W*W*W*M", {W}), {.identities = std::span<const Identity>(own)});
  EXPECT_EQ(to_ascii(derivation.result), "phi*W*M");
  EXPECT_THAT(explain(parse("phi*W*W*W*M", {W}), {.identities = std::span<const Identity>(own)}),
              AllOf(HasSubstr("W is an involution"), HasSubstr("made up")));
}

TEST(Simplify, ConditionsAreRespected) {
  for (const Conditions& each : {geared, both_of_them}) {  // without the armature that there is
    EXPECT_EQ(to_ascii(simplify(parse("inv(H*phi*M*~phi*~H)"), each)),
              "~(I - H*psi_{M, 0*armature}*K_{M, 0*armature})*inv(D_{M, 0*armature})*"
              "(I - H*psi_{M, 0*armature}*K_{M, 0*armature})");
    expect_sound(derive(parse("inv(H*phi*M*~phi*~H)"), {.conditions = each}), each);
  }
  EXPECT_EQ(to_ascii(simplify(parse("H*P*~H"), plain)), "D");
  EXPECT_EQ(to_ascii(simplify(parse("H*psi*M*~psi*~H"), plain)), "D");
  EXPECT_EQ(to_ascii(simplify(parse("H*psi*M*~psi*~H"), coupled)), "D");
  for (const Conditions& each : {geared, both_of_them}) {
    EXPECT_THAT(to_ascii(simplify(parse("H*psi*M*~psi*~H"), each)), HasSubstr("psi"));
  }
  EXPECT_EQ(to_ascii(simplify(parse("tau*tau*G"), plain)), "G");
  EXPECT_THAT(to_ascii(simplify(parse("tau*tau"), plain)), testing::AnyOf("tau", "G*H"));
  EXPECT_THAT(to_ascii(simplify(parse("tau*tau - tau"), geared)), Not(HasSubstr("0*")));
  EXPECT_EQ(to_ascii(simplify(parse("armature*thetadd + T"), plain)), "T");
  EXPECT_THAT(to_ascii(simplify(parse("armature*thetadd + T"), geared)), HasSubstr("armature*thetadd"));
}

TEST(Simplify, DerivationsMarkWhatIsNew) {
  EXPECT_EQ(explain(parse("~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B")),
            "  B∗ φ∗ H∗ (H φ M φ∗ H∗)⁻¹ H φ B\n"
            "= B∗ φ∗ H∗ ⟦(I + H φ K) D (I + H φ K)∗⟧⁻¹ H φ B\n"
            "      by innovations factorization, RJK91 lemma 1 (11), RK92 (43)\n"
            "= B∗ φ∗ H∗ ⟦(I - H ψ K)∗ D⁻¹ (I - H ψ K)⟧ H φ B\n"
            "      by causal inverse, RJK91 lemma 2 (12), RK92 (45): (I + H φ K)⁻¹ → I - H ψ K\n"
            "= B∗ ⟦ψ∗ H∗ D⁻¹ H ψ⟧ B\n"
            "      by closing the loop, RJK91 lemma 4 (16), RK88 (a.14), (a.35): ψ K H φ → φ - ψ\n");
  EXPECT_EQ(explain(parse("M*inv(~phi) + P")),
            "  M φ∗⁻¹ + P\n"
            "= M ⟦I - E_φ∗⟧ + P\n"
            "      by inverse of φ (adjoint), RJK89 (2.4), RJK91 lemma 5\n");
  EXPECT_EQ(explain(parse("E_phi*phi")),
            "  E_φ φ\n"
            "= φ - I\n"
            "      by one step of φ, RJK91 appendix\n")
      << "of what is replaced as a whole nothing need be said twice";
}

TEST(Simplify, DerivationsSayWhatARuleReplaces) {
  const Derivation loops = derive(parse("~phi*~H*~K*~psi*M*psi*K*H*phi"));
  ASSERT_EQ(loops.steps.front().rule, "closing the loop");
  ASSERT_EQ(loops.steps.front().changed.size(), 1U);  // with its adjoint it is one rule
  EXPECT_FALSE(loops.steps.front().adjoint);
  EXPECT_EQ(to_ascii(loops.steps.front().changed[0].before), "psi*K*H*phi");
  EXPECT_EQ(to_ascii(loops.steps.front().changed[0].after), "phi - psi");
  const Derivation adjoint = derive(parse("M*~phi*~E_phi"));
  EXPECT_TRUE(adjoint.steps.front().adjoint);
  EXPECT_EQ(to_ascii(adjoint.steps.front().changed.at(0).before), "~phi*~E_phi");
  const Derivation pairs = derive(parse("H*(phi*R + R*~phi)*~H"));
  EXPECT_EQ(pairs.steps.front().rule, "composite bodies");
  EXPECT_EQ(to_ascii(pairs.steps.front().changed.at(0).before), "R*~phi + phi*R");
  EXPECT_EQ(to_ascii(pairs.steps.front().changed.at(0).after), "R + phi*M*~phi");
}

/// Starts, results and sources that have to be among the steps.
std::vector<Wanted> wanted_results() {
  const std::string P = "RK88 (a.46)";
  return {
      {"inv(H*(I + phit)*M*~(I + phit)*~H)", "~(I - H*psi*K)*inv(D)*(I - H*psi*K)", {"RJK91 lemma 1"}, plain},
      {"H*psi*P*~H", "D", {"RK92 (36)"}, plain},
      {"H*psi*P*~H", "D - (I - H*psi*K)*armature", {"RK92 (36)"}, geared},
      {"psi*G", "G", {"RK88 (a.13)"}, plain},
      {"H*psi*M*~phi*~H", "D*~(I + H*phi*K)", {P}, plain},
      {"H*psi*M*~phi*~H", "D*~(I + H*phi*K)", {P}, coupled},
      {"inv(H*psi*M*~phi*~H)", "~(I - H*psi*K)*inv(D)", {P, "RJK91 lemma 2"}, plain},
      {"inv(H*psi*M*~phi*~H)", "~(I - H*psi*K)*inv(D)", {P, "RJK91 lemma 2"}, coupled},
      {"H*P*~H + armature", "D", {"RK92 (36)"}, plain},
      {"H*P*~H + armature", "D", {"RK92 (36)"}, geared},
      {"inv(2*H*phi*M*~phi*~H + 2*armature)", "0.5*~(I - H*psi*K)*inv(D)*(I - H*psi*K)", {"RJK91 lemma 1"}, geared},
      {"inv(H*(R + phit*R + R*~phit)*~H + armature)",
       "~(I - H*psi*K)*inv(D)*(I - H*psi*K)",
       {"RK92 (28)", "RJK91 lemma 1"},
       geared},
      {"inv(H*phi*M*~phi*~H + 0.1*I)",
       "~(I - H*psi_{M, 0.1*I}*K_{M, 0.1*I})*inv(D_{M, 0.1*I})*(I - H*psi_{M, 0.1*I}*K_{M, 0.1*I})",
       {"RJK91 lemma 1"},
       geared},
      {"inv(H*phi*(M + B*~B)*~phi*~H)",
       "~(I - H*psi_{M + B*~B, 0*armature}*K_{M + B*~B, 0*armature})*inv(D_{M + B*~B, 0*armature})*"
       "(I - H*psi_{M + B*~B, 0*armature}*K_{M + B*~B, 0*armature})",
       {"RJK91 lemma 1"},
       geared},
      {"inv(H*phi*M*~phi*~H)*H*phi*M*~phi*~H", "I", {"RJK91 lemma 1"}, plain},
      {"inv(H*phi*M*~phi*~H)*H*phi*M*~phi*~H", "I", {"RJK91 lemma 1"}, both_of_them},
      {"inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))",
       "inv(D)*(T - H*psi*(b + K*T + P*a)) - ~K*~psi*(a + ~H*inv(D)*(T - H*psi*(b + K*T + P*a)))",
       {"RJK91 lemma 1", "RJK91 lemma 4", P},
       plain},
  };
}

TEST(Simplify, WhatHasToComeOut) {
  for (const Wanted& each : wanted_results()) {
    SCOPED_TRACE(each.start);
    const Derivation derivation = derive(parse(each.start), {.conditions = each.conditions});
    EXPECT_EQ(to_ascii(derivation.result), each.result);
    expect_sound(derivation, each.conditions);
    for (const std::string& source : each.sources) {
      EXPECT_THAT(derivation.steps, Contains(testing::Field(&DerivationStep::source, HasSubstr(source))));
    }
    EXPECT_THAT(derivation.note, IsEmpty());
  }
}

TEST(Simplify, FamiliesOfVariables) {
  const Operator X = Operator::variable("X", SpaceKind::body, SpaceKind::body);
  const Operator A = Operator::variable("A", SpaceKind::hinge, SpaceKind::hinge);
  const Derivation derivation = derive(parse("inv(H*phi*X*~phi*~H + A)", {X, A}));
  EXPECT_EQ(to_ascii(derivation.result), "~(I - H*psi_{X, A}*K_{X, A})*inv(D_{X, A})*(I - H*psi_{X, A}*K_{X, A})");
  EXPECT_THAT(derivation.conditions,
              testing::UnorderedElementsAre("X is symmetric", "A is symmetric", "D_{X, A} is invertible"));
  EXPECT_THAT(to_string(derivation), HasSubstr("where X is symmetric\n"));
  const SystemAndDense both = system_for(plain);
  DenseSystem dense = both.dense();
  dense.bind(X, dense.get(Symbol::R));
  dense.bind(A, 2 * dense.get(Symbol::D));
  EXPECT_LT(relative_difference(dense(derivation.result), dense(derivation.start)), 1e-9);
  EXPECT_THROW(simplify(parse("inv(H*phi*X*~psi*~H + A)", {X, A})), OperatorError);
  EXPECT_THROW(simplify(parse("inv(H*phi*(phi*M + M*~phi)*~phi*~H)")), OperatorError);
  EXPECT_THROW(simplify(parse("inv(H*phi*cross(V)*~phi*~H + armature)"), geared), OperatorError);
}

TEST(Simplify, PushThroughAndInversionLemma) {
  const Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::hinge);
  const Operator y = Operator::variable("y", SpaceKind::hinge, SpaceKind::body);
  const Operator Z = Operator::variable("Z", SpaceKind::node, SpaceKind::node);
  const Variables all{x, y, Z};
  const Derivation pushed = derive(parse("inv(I + x*y)", all));
  EXPECT_EQ(to_ascii(pushed.result), "I - x*inv(I + y*x)*y");
  EXPECT_EQ(pushed.steps.at(0).rule, "push-through");
  EXPECT_THAT(pushed.conditions, testing::ElementsAre("I + y*x is invertible"));
  const Derivation lemma = derive(parse("inv(M + x*~x)", all));
  EXPECT_EQ(to_ascii(lemma.result), "inv(M)*(I - x*inv(I + ~x*inv(M)*x)*~x*inv(M))");
  EXPECT_EQ(lemma.steps.at(0).rule, "inversion lemma");
  EXPECT_THAT(lemma.conditions, IsEmpty());
  EXPECT_EQ(to_ascii(simplify(parse("inv(M + x*~x)", all), Conditions{.massless = true})), "inv(M + x*~x)");
  // over node space, where something between the nodes carries from one to another
  const Operator constrained = parse("inv(H*phi*M*~phi*~H + H*phi*B*Z*~B*phi*B*~B*~phi*~H)", all);
  const Operator through_nodes = simplify(constrained);
  EXPECT_THAT(to_ascii(through_nodes), HasSubstr("dense_inv(I + "));
  const SystemAndDense both = system_for(plain);
  DenseSystem dense = both.dense();
  dense.bind(Z, Eigen::MatrixXd::Identity(dense.dimension({SpaceKind::node}), dense.dimension({SpaceKind::node})));
  EXPECT_LT(relative_difference(dense(through_nodes), dense(constrained)), 1e-8);
  // both are equal for what has an inverse
  EXPECT_TRUE(prove(parse("x*inv(I + y*x)", all), parse("inv(I + x*y)*x", all)));
  EXPECT_TRUE(prove(parse("inv(M + x*~x)*(M + x*~x)", all), in_space(Operator::identity(), {SpaceKind::body})));
  EXPECT_FALSE(prove(parse("x*inv(I + y*x)", all), parse("inv(I + x*y)*x + x", all)));
}

TEST(Simplify, CancelsOnlyWhatHasAnInverse) {
  constexpr Conditions massless{.massless = true};
  constexpr Conditions ungeared{.armature = true, .ungeared = true};
  for (const char* text : {"inv(tau)", "inv(tau)*tau*tau - tau", "inv(E_phi)*E_phi", "inv(S)", "M*inv(phit)",
                           "D + D*inv(armature)*armature", "inv(K*H)"}) {
    EXPECT_THROW(simplify(parse(text)), OperatorError) << text;
  }
  EXPECT_THAT(message_of([] { simplify(parse("inv(E_phi)")); }), HasSubstr("it is singular"));
  EXPECT_THAT(message_of([] { simplify(parse("inv(phi + M)")); }),
              AllOf(HasSubstr("no identity gives"), HasSubstr("dense_inv")));
  EXPECT_EQ(to_ascii(simplify(parse("inv(M)*M"))), "I");
  EXPECT_EQ(to_ascii(simplify(parse("inv(M)*M"), massless)), "inv(M)*M");
  EXPECT_THAT(derive(parse("phi*inv(M)*M"), {.conditions = massless}).conditions,
              testing::ElementsAre("M is invertible"));
  EXPECT_EQ(to_ascii(simplify(parse("armature*inv(armature)"), geared)), "I");
  EXPECT_EQ(to_ascii(simplify(parse("armature*inv(armature)"), ungeared)), "armature*inv(armature)");
  EXPECT_THAT(derive(parse("inv(H*phi*M*~phi*~H)"), {.conditions = massless}).conditions,
              testing::ElementsAre("D is invertible"));
  const Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  EXPECT_EQ(to_ascii(simplify(parse("inv(W)*W", {W}))), "inv(W)*W");
  EXPECT_EQ(to_ascii(simplify(parse("inv(phi*W)*phi", {W}))), "inv(W)");
}

TEST(Simplify, IsBounded) {
  const auto seconds = [](const Operator& x, const Conditions& conditions) {
    const std::clock_t start = std::clock();
    static_cast<void>(simplify(x, conditions));
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(parse("inv(armature)*(armature + D)*(H*Upsilon*~H - armature)"), geared), 1);
  Operator sum = parse("H*phi*M*~phi*~H + D");
  Operator product = parse("I + phi*M");
  Operator nested = parse("phi");
  for (int i = 0; i < 14; ++i) {
    sum = sum + sum;
    product = product * product;
    nested = nested * Operator(Symbol::M) + nested;
  }
  EXPECT_LT(seconds(sum, plain), 1);
  EXPECT_EQ(to_ascii(simplify(sum)), "16384*(D + H*phi*M*~phi*~H)");
  EXPECT_LT(seconds(nested, plain), 1);
  Operator power = parse("inv(H*phi*M*~phi*~H)");
  for (int i = 0; i < 4; ++i) {
    power = power * parse("inv(H*phi*M*~phi*~H)");
  }
  EXPECT_LT(seconds(power, plain), 1);
  EXPECT_LT(seconds(parse("(1e200*phi + M)*(1e200*M + phi)"), plain), 1);
}

TEST(Simplify, SaysWhereALimitWasReached) {
  Operator product = parse("E_psi*M");
  for (int i = 0; i < 14; ++i) {
    product = product * parse("E_psi*M");
  }
  const Derivation best = derive(product);
  EXPECT_EQ(best.result, product);
  EXPECT_THAT(best.note, HasSubstr("best so far"));
  EXPECT_THAT(to_string(best), HasSubstr("note: "));
  const Operator I = in_space(Operator::identity(), {SpaceKind::body});
  EXPECT_THAT(message_of([&] { simplify(inv(I + product * Operator(Symbol::phi))); }), HasSubstr("before a limit"));
}

TEST(Simplify, ManyThreadsAtOnce) {
  const std::vector<const char*> texts{"inv(H*phi*M*~phi*~H)", "H*psi*M*~phi*~H", "psi*G", "H*P*~H",
                                       "phi - psi*K*H*phi"};
  std::vector<std::string> alone;
  for (const char* text : texts) {
    alone.push_back(to_ascii(simplify(parse(text), geared)));
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        for (std::size_t j = 0; j < texts.size(); ++j) {
          wrong += to_ascii(simplify(parse(texts[j]), geared)) == alone[j] ? 0 : 1;
          static_cast<void>(simplify(Operator(round + 1.0) * parse(texts[j])));  // not kept before
        }
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Simplify, NumbersAreClean) {
  for (const auto& [text, result] : std::vector<std::pair<const char*, const char*>>{
           {"0.1*M + 0.2*M - 0.3*M + P", "P"},
           {"M + 0*I", "M"},
           {"-M - P", "-M - P"},
           {"0*M*phi + phi", "phi"},
           {"psi - phi", "psi - phi"},
       }) {
    EXPECT_EQ(to_ascii(simplify(parse(text))), result) << text;
  }
}

/// Sweeps and operations of an expression as it stands, for a use.
std::pair<long, long> price(const Operator& x, Use use) {
  using operators::Counting;
  using operators::Fold;
  Random random(6);
  const Model model = random_chain(6, random);
  auto attached = std::make_shared<operators::Attachments>();
  attached->nodes = {{"n0", 5, random.transform()}, {"n1", 2, random.transform()}};
  const auto plan = std::make_shared<const operators::Plan>(operators::make_plan(x, {}, operators::Inverses::refused));
  operators::Evaluator<Counting> evaluator(
      plan, std::make_shared<const operators::Folded>(model, plan->mergeable ? Fold::links : Fold::bodies), attached);
  const std::vector<Counting> zeros(static_cast<std::size_t>(model.nv()));
  evaluator.set_state(zeros.data(), zeros.data());
  for (const Symbol each : {Symbol::T_p, Symbol::thetadd, Symbol::T}) {
    evaluator.set_given(each, zeros.data());
  }
  const std::vector<Counting> in(static_cast<std::size_t>(evaluator.cols()));
  std::vector<Counting> out(static_cast<std::size_t>(evaluator.rows()));
  const auto operations = [&] {
    const long before = Counting::count();
    evaluator.apply(in.data(), out.data());
    return Counting::count() - before;
  };
  const long all = operations();    // from the state
  const long again = operations();  // another vector
  const std::vector<operators::Loop>& loops = use == Use::new_state ? plan->fused : plan->of_vector;
  const long sweeps = std::count_if(loops.begin(), loops.end(), [](const operators::Loop& loop) {
    return loop.direction == operators::Direction::inward || loop.direction == operators::Direction::outward;
  });
  return {sweeps, use == Use::new_state ? all : again};
}

TEST(Simplify, ForTheUseThatIsAsked) {
  // at a fixed state M takes less than P; at a new one ψ P begins within the recursion for P, and ψ M ψ* after it
  const auto found = [](const char* text, Use use) { return simplify(parse(text), Search{.use = use}); };
  const Operator again = found("psi*M*~psi", Use::fixed_state);
  const Operator anew = found("psi*M*~psi", Use::new_state);
  EXPECT_EQ(to_ascii(again), "psi*M*~psi");
  EXPECT_EQ(to_ascii(anew), "P*~psi - (I - psi)*P");
  EXPECT_LT(price(again, Use::fixed_state), price(anew, Use::fixed_state));
  EXPECT_LT(price(anew, Use::new_state), price(again, Use::new_state));
  EXPECT_EQ(price(again, Use::new_state).first, 3);
  EXPECT_EQ(price(anew, Use::new_state).first, 2);
  int differ = 0;
  for (const char* const text :
       {"psi*M*~psi", "~B*psi*M*~psi*B", "H*psi*M*~psi", "H*psi*M*~phi*~H", "psi*M*~phi", "R + phit*R + R*~phit",
        "psi*P*~psi", "inv(H*phi*M*~phi*~H)", "~psit*Upsilon + Upsilon*psit + Upsilon", "psi*M*V", "H*P", "psi*K*H*phi",
        "(I + H*phi*K)*D*~(I + H*phi*K)", "M + phi*M + psi*P", "~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B",
        "inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))"}) {
    for (const auto& [use, other] : {std::pair(Use::fixed_state, Use::new_state), {Use::new_state, Use::fixed_state}}) {
      EXPECT_LE(price(found(text, use), use), price(found(text, other), use)) << text;
    }
    differ += found(text, Use::fixed_state) == found(text, Use::new_state) ? 0 : 1;
  }
  EXPECT_EQ(differ, 2);
}

TEST(Simplify, RulesWithoutDirection) {
  const Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  const Operator Y = Operator::variable("Y", SpaceKind::body, SpaceKind::body);
  for (const Identity& each : {Identity{"commute", "made up", W + Y, Y}, Identity{"grows", "made up", W, W * Y}}) {
    const std::vector<Identity> own{each};
    EXPECT_THAT(message_of([&] { simplify(W, {.identities = std::span<const Identity>(own)}); }),
                HasSubstr("has no direction"));
  }
}

TEST(Simplify, SmallOnes) {
  for (const auto& [text, result] : std::vector<std::pair<const char*, const char*>>{
           {"inv(phi)*phi", "I"},
           {"phi*inv(phi)*M", "M"},
           {"inv(phi)*psi + K*H*psi", "I"},
           {"psi + psi*K*H*phi", "phi"},
           {"phi - psi*K*H*phi", "psi"},
           {"(I - H*psi*K)*H*phi*B", "H*psi*B"},
           {"~phi*~H*thetad", "V"},
           {"inv(inv(D)*H*P*~H)", "I"},
           {"phi - phi", "0*phi"},
           {"M + M", "2*M"},
           {"2*M + 3*M", "5*M"},
           {"0.5*phi*2", "phi"},
           {"S*Delta_phi", "E_phi"},
           {"D*inv(D)", "I"},
           {"inv(2*phi)", "0.5*(I - E_phi)"},
           {"sqrt(D)", "sqrt(D)"},
           {"V[1]", "V[1]"},
           {"(psi + psi*K*H*phi)[0, 1]", "phi[0, 1]"},
           {"cross(~phi*~H*thetad)*M", "cross(V)*M"},
           {"dense_inv(psi + psi*K*H*phi)", "dense_inv(phi)"},
           {"~V*phi*M*inv(M)*b", "~V*phi*b"},
       }) {
    EXPECT_EQ(to_ascii(simplify(parse(text))), result) << text;
  }
  EXPECT_THROW(simplify(Operator::identity()), OperatorError);
  EXPECT_THROW(simplify(parse("inv(E_phi)")), OperatorError);
  EXPECT_THROW(simplify(parse("M*inv(phi + M)")), OperatorError);
}

TEST(Simplify, SameEveryTime) {
  for (const char* const text : {"inv(H*phi*M*~phi*~H)", "~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B",
                                 "phi*M*~phi*~H + K*H*psi*G", "psi*M*~phi*~H*D - tau*taub*P*~H*D"}) {
    const std::string first = explain(parse(text));
    EXPECT_EQ(explain(parse(text)), first);
    EXPECT_EQ(to_ascii(simplify(parse(text))), to_ascii(derive(parse(text)).result));
    EXPECT_EQ(simplify(simplify(parse(text))), simplify(parse(text))) << "nothing better the second time";
  }
}

TEST(Simplify, LongExpressionsAreBounded) {
  std::string sum = "M";
  std::string product = "M";
  for (int i = 0; i < 100; ++i) {
    sum += " + phi*M*~phi + psi*P";
    product += "*phi*P*~psi";
  }
  for (const std::string& text : {sum, product}) {
    const std::clock_t start = std::clock();
    const Operator result = simplify(parse(text));
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 20) << text.substr(0, 30);
    EXPECT_LE(to_ascii(result).size(), text.size());
  }
}

}  // namespace
}  // namespace bunraku::test
