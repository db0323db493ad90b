/// Derivations: what is found, that every step of it holds, and what is refused.
#include "bunraku/operators/rewriting/simplify.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/operators/verify.hpp"
#include "operators/dense_system.hpp"
#include "operators/messages.hpp"
#include "operators/random_expression.hpp"
#include "support/coupled_models.hpp"

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

/// A model that has what the conditions say, at a state, in dense matrices.
SystemAndDense system_for(const Conditions& conditions) {
  if (conditions.couplings) {
    return {coupled_models(conditions.armature)[8].model, 5};
  }
  return {random_model({.armature = conditions.armature, .bodies = 5}, 12), 5};
}

/// Loops that carry something between bodies, as an expression stands.
std::size_t sweeps(const System& system, const Operator& x) {
  const PlanReport plan = system.literal(x).plan();
  return static_cast<std::size_t>(
      std::count_if(plan.sweeps.begin(), plan.sweeps.end(), [](const Sweep& s) { return s.direction != "local"; }));
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
  for (const DerivationStep& step : derivation.steps) {
    EXPECT_THAT(text, AllOf(HasSubstr(to_unicode(step.expression)), HasSubstr(step.source)));
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
  EXPECT_LE(sweeps(both.system, derivation.result), 2);
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

// ---------------------------------------------------------------------------------------------------------------------
// Random expressions

/// Sums of products, up to eight symbols in all.
class RandomSums {
 public:
  RandomSums(const Conditions& conditions, unsigned seed) : random_(seed) {
    for (const Operator& each : all_symbols()) {
      const Symbol symbol = each.term().symbol;
      const bool refused = symbol == Symbol::P || symbol == Symbol::G || symbol == Symbol::tau ||
                           symbol == Symbol::taub || symbol == Symbol::Upsilon;
      if (!(conditions.couplings && refused)) {
        leaves_.push_back(each);
        leaves_.push_back(~each);
      }
    }
  }

  Operator draw() {
    int left = random_.integer(2, 8);
    const SpaceKind range = random_.integer(0, 1) == 0 ? SpaceKind::hinge : SpaceKind::body;
    const int choice = random_.integer(0, 4);
    const SpaceKind domain = choice == 0 ? SpaceKind::number : choice < 3 ? SpaceKind::hinge : SpaceKind::body;
    std::optional<Operator> sum;
    while (left > 0) {
      const int factors = random_.integer(1, left);
      left -= factors;
      const std::optional<Operator> term = product(range, domain, factors);
      if (term) {
        const double number = random_.integer(0, 2) == 0 ? random_.integer(-2, 2) : 1;
        sum = sum ? *sum + Operator(number) * *term : Operator(number) * *term;
      }
    }
    return sum ? *sum : draw();
  }

 private:
  std::optional<Operator> product(SpaceKind range, SpaceKind domain, int factors) {
    for (int attempt = 0; attempt < 30; ++attempt) {
      std::optional<Operator> out;
      SpaceKind at = range;
      for (int i = 0; i < factors; ++i) {
        std::vector<Operator> fitting;
        for (const Operator& each : leaves_) {
          const bool inner = each.domain().kind == SpaceKind::body || each.domain().kind == SpaceKind::hinge;
          if (each.range().kind == at && (i + 1 < factors ? inner : each.domain().kind == domain)) {
            fitting.push_back(each);
          }
        }
        if (fitting.empty()) {
          out.reset();
          break;
        }
        const Operator& next =
            fitting[static_cast<std::size_t>(random_.integer(0, static_cast<int>(fitting.size()) - 1))];
        out = out ? *out * next : next;
        at = next.domain().kind;
      }
      if (out && out->domain().kind == domain) {
        return out;
      }
    }
    return std::nullopt;
  }

  Random random_;
  std::vector<Operator> leaves_;
};

class SimplifyRandom : public testing::TestWithParam<int> {
 protected:
  Conditions conditions{GetParam() % 2 == 1, GetParam() >= 2};
};

TEST_P(SimplifyRandom, ResultIsEqualAndNotMoreWork) {
  const SystemAndDense both = system_for(conditions);
  const DenseSystem dense = both.dense();
  RandomSums sums(conditions, static_cast<unsigned>(GetParam()) + 20);
  double slowest = 0;
  std::string slow;
  for (int i = 0; i < 40; ++i) {
    const Operator x = sums.draw();
    SCOPED_TRACE(to_ascii(x));
    const std::clock_t start = std::clock();  // of this process alone, so that a busy machine does not count
    const Derivation derivation = derive(x, {.conditions = conditions});
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (seconds > slowest) {
      slowest = seconds;
      slow = to_ascii(x);
    }
    SCOPED_TRACE(to_ascii(derivation.result));
    const Eigen::MatrixXd expected = dense(x);
    // relative to the terms: what cancels leaves rounding
    double scale = 1;
    for (const Operator& part : x.term().type == TermType::sum ? x.term().parts : std::vector{x}) {
      scale = std::max(scale, dense(part).cwiseAbs().maxCoeff());
    }
    EXPECT_LT((dense(derivation.result) - expected).cwiseAbs().maxCoeff(), 1e-9 * scale);
    for (const DerivationStep& step : derivation.steps) {
      EXPECT_LT((dense(step.expression) - expected).cwiseAbs().maxCoeff(), 1e-9 * scale)
          << step.rule << ": " << to_ascii(step.expression);
    }
    EXPECT_LE(sweeps(both.system, derivation.result), sweeps(both.system, x));
    if (HasFailure()) {
      break;
    }
  }
  EXPECT_LT(slowest, 20) << slow << ": the search has lost its bounds";
}

INSTANTIATE_TEST_SUITE_P(Kinds, SimplifyRandom, testing::Range(0, 4));

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
