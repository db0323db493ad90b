/// How expressions are evaluated: the number of sweeps, their directions, their recursions, what they cost.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/operators/verify.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A tree with two nodes.
System tree() {
  System out(random_model({.bodies = 6}, 3));
  out.set_nodes(std::vector<std::string>{"b5", "b2"});
  return out;
}

/// The directions of the loops that carry something between bodies: those of the application, or from q to the result.
std::vector<std::string> directions(const PlanReport& plan, bool with_state = false) {
  std::vector<std::string> out;
  for (const Sweep& sweep : plan.sweeps) {
    if (sweep.direction != "local" && (with_state || !sweep.once_per_state)) {
      out.push_back(sweep.direction);
    }
  }
  return out;
}
std::vector<std::string> all_directions(const PlanReport& plan) {
  return directions(plan, true);
}

/// The text of all loops.
std::string text_of(const PlanReport& plan) {
  std::string out;
  for (const Sweep& sweep : plan.sweeps) {
    out += sweep.text + "\n";
  }
  return out;
}

PlanReport plan_of(const std::string& text) {
  return tree()(parse(text)).plan();
}
PlanReport literal_plan_of(const std::string& text) {
  return tree().literal(parse(text)).plan();
}

TEST(Plan, SweepsOfTheMassMatrix) {
  EXPECT_THAT(directions(plan_of("H*phi*M*~phi*~H")), ElementsAre("outward", "inward"));
  EXPECT_THAT(directions(plan_of("inv(H*phi*M*~phi*~H)")), ElementsAre("inward", "outward"));
  EXPECT_THAT(directions(plan_of("(I + H*phi*K)*D*~(I + H*phi*K)")), ElementsAre("outward", "inward"));
  EXPECT_THAT(directions(plan_of("~(I - H*psi*K)*inv(D)*(I - H*psi*K)")), ElementsAre("inward", "outward"));
}

TEST(Plan, SweepsOfTheDynamics) {
  EXPECT_THAT(all_directions(plan_of("H*phi*(M*~phi*(~H*thetadd + a) + b)")), ElementsAre("outward", "inward"));
  EXPECT_THAT(directions(plan_of("~psi*~H*inv(D)*H*psi")), ElementsAre("inward", "outward"));
  EXPECT_THAT(directions(plan_of("~B*Omega*B")), ElementsAre("inward", "outward"));
  EXPECT_THAT(directions(plan_of("~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B")), ElementsAre("inward", "outward"));
  EXPECT_THAT(directions(plan_of("~B*~phi*~H")), ElementsAre("outward"));
  EXPECT_THAT(directions(plan_of("H*phi*B")), ElementsAre("inward"));
  EXPECT_THAT(directions(plan_of("H*phi*K")), ElementsAre("inward"));
  EXPECT_THAT(directions(plan_of("E_phi + K*H + S")), ElementsAre("inward"));
  EXPECT_THAT(directions(plan_of("phi + ~psi")), ElementsAre("inward", "outward"));
  EXPECT_EQ(directions(literal_plan_of("phi*~phi*phi*~phi")).size(), 4);
}

TEST(Plan, MemorylessOnesTakeNoSweep) {
  for (const char* const text : {"M", "D*inv(D)*H*P", "sqrt(D)", "inv(M)*P", "cross(V)*M", "B*~B", "tau*taub",
                                 "Upsilon*R", "Delta_phi", "V*~V"}) {
    EXPECT_THAT(directions(plan_of(text)), IsEmpty()) << text;
  }
}

TEST(Plan, WhatTheSymbolsTakeIsThere) {
  EXPECT_THAT(all_directions(plan_of("V")), ElementsAre("outward"));
  EXPECT_THAT(all_directions(plan_of("~V*M*V")), ElementsAre("outward"));
  EXPECT_THAT(all_directions(plan_of("f")), ElementsAre("outward", "inward"));
  EXPECT_THAT(all_directions(plan_of("D")), ElementsAre("inward"));
  EXPECT_THAT(all_directions(plan_of("R")), ElementsAre("inward"));
  EXPECT_THAT(all_directions(plan_of("Upsilon")), ElementsAre("inward", "outward"));
  EXPECT_THAT(all_directions(plan_of("M")), IsEmpty());
}

TEST(Plan, WhatCanRunTogetherDoes) {
  // several recursions of one direction are one loop
  EXPECT_THAT(directions(literal_plan_of("phi*M + psi*P + E_phi*R + K*H")), ElementsAre("inward"));
  EXPECT_THAT(directions(literal_plan_of("phi*psi*phi*E_psi*K*H*phi")), ElementsAre("inward"));
  EXPECT_THAT(directions(literal_plan_of("phi*M*~phi + psi*M*~psi")), ElementsAre("outward", "inward"));
  EXPECT_THAT(directions(literal_plan_of("~phi*~phi + phi*phi")), testing::UnorderedElementsAre("outward", "inward"));
  EXPECT_THAT(directions(literal_plan_of("phi*M*~phi*M + ~phi*M")), ElementsAre("outward", "inward"));
}

TEST(Plan, StateAndVectorRunTogetherWhereBothAreNew) {
  const PlanReport inverse = plan_of("inv(H*phi*M*~phi*~H)");  // Riccati and filter in one loop
  EXPECT_THAT(all_directions(inverse), ElementsAre("inward", "inward", "outward"));
  EXPECT_EQ(inverse.fused, 2);
  EXPECT_EQ(plan_of("H*phi*M*~phi*~H").fused, 2);
  EXPECT_EQ(plan_of("M").fused, 0);
}

TEST(Plan, GravityIsInTheAccelerations) {
  EXPECT_THAT(text_of(plan_of("a")), HasSubstr(", ω(p) of V(p), and −g where k hangs on the world\n"));
}

TEST(Plan, ForwardDynamicsIsThePapersAlgorithm) {  // RK92 §VII
  const PlanReport plan = plan_of("inv(H*phi*M*~phi*~H)*(T - H*phi*(M*~phi*a + b))");
  EXPECT_EQ(plan.fused, 3) << to_string(plan);
  EXPECT_THAT(all_directions(plan), ElementsAre("outward", "inward", "outward"));
  const std::string text = text_of(plan);
  for (const char* const line :
       {"φ(p,k), H(k) of q(k)", "V(k) = φ*(p,k) V(p) + H*(k) θ̇(k)",
        "a(k) = ", "b(k) = ", "P(k) = M(k) + Σ φ(k,c) P⁺(c) φ*(k,c)", "D(k) = H(k) P(k) H*(k)",
        "G(k) = P(k) H*(k) D⁻¹(k)", "P⁺(k) = P(k) − G(k) D(k) G*(k)", "z⁺(k) = z(k) + G(k) ε(k)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(Plan, DenseWorkIsNamed) {
  for (const char* const text : {"dense_inv(phi)*M", "H*dense_inv(phi)*~H"}) {
    const PlanReport plan = literal_plan_of(text);
    std::vector<std::string> found;
    for (const Sweep& sweep : plan.sweeps) {
      found.push_back(sweep.direction);
    }
    EXPECT_THAT(found, testing::Contains("whole")) << text;
    EXPECT_THAT(to_string(plan), HasSubstr("by a dense matrix")) << text;
  }
}

TEST(Plan, RecursionOfTheMassMatrix) {  // RK92 (18), (19): outward, then inward
  const PlanReport plan = plan_of("H*phi*M*~phi*~H");
  ASSERT_EQ(plan.sweeps.size(), 3);
  EXPECT_EQ(plan.sweeps[0].text, "φ(p,k), H(k) of q(k)");
  EXPECT_TRUE(plan.sweeps[0].once_per_state);
  EXPECT_THAT(plan.sweeps[1].text, HasSubstr("(k) = φ*(p,k) "));
  EXPECT_THAT(plan.sweeps[1].text, HasSubstr("H*(k) x(k)"));
  EXPECT_THAT(plan.sweeps[1].text, HasSubstr("M(k) "));
  EXPECT_THAT(plan.sweeps[1].text, Not(HasSubstr("Σ")));
  EXPECT_THAT(plan.sweeps[2].text, HasSubstr("(k) = Σ φ(k,c) "));
  EXPECT_THAT(plan.sweeps[2].text, HasSubstr("y(k) = H(k) "));
  EXPECT_TRUE(plan.symmetric);
}

TEST(Plan, RecursionOfTheInverse) {  // RK92 (43)–(46): the innovations, then the smoother
  const PlanReport plan = plan_of("inv(H*phi*M*~phi*~H)");
  EXPECT_EQ(plan.expression, "~(I - H*psi*K)*inv(D)*(I - H*psi*K)");
  ASSERT_EQ(plan.sweeps.size(), 3);
  EXPECT_EQ(plan.sweeps[0].text,
            "φ(p,k), H(k) of q(k)\n"
            "P(k) = M(k) + Σ φ(k,c) P⁺(c) φ*(k,c)\n"
            "D(k) = H(k) P(k) H*(k) + 𝒜(k)\n"
            "G(k) = P(k) H*(k) D⁻¹(k)\n"
            "P⁺(k) = P(k) − G(k) D(k) G*(k)");
  EXPECT_EQ(plan.sweeps[1].text,
            "z(k) = Σ φ(k,c) z⁺(c)\n"
            "ε(k) = x(k) − H(k) z(k)\n"
            "z⁺(k) = z(k) + G(k) ε(k)");
  EXPECT_EQ(plan.sweeps[2].text,
            "λ⁺(k) = φ*(p,k) λ(p)\n"
            "y(k) = D⁻¹(k) ε(k) − G*(k) λ⁺(k)\n"
            "λ(k) = λ⁺(k) + H*(k) y(k)");
  EXPECT_TRUE(plan.symmetric);
}

TEST(Plan, RecursionOfInverseDynamics) {
  const PlanReport plan = plan_of("H*phi*(M*~phi*(~H*thetadd + a) + b)");
  ASSERT_EQ(plan.sweeps.size(), 2);
  EXPECT_THAT(plan.sweeps[0].text, HasSubstr("φ*(p,k)"));
  EXPECT_THAT(plan.sweeps[0].text, HasSubstr("H*(k) θ̈(k)"));
  EXPECT_THAT(plan.sweeps[0].text, HasSubstr("a(k)"));
  EXPECT_THAT(plan.sweeps[0].text, HasSubstr("b(k)"));
  EXPECT_FALSE(plan.symmetric);
  const std::string text = to_string(plan);
  EXPECT_THAT(text, HasSubstr("sweep 1, outward: for every body k from the base to the tips"));
  EXPECT_THAT(text, HasSubstr("sweep 2, inward: for every body k from the tips to the base"));
  EXPECT_THAT(text, HasSubstr("2 sweeps, "));
  EXPECT_THAT(to_string(plan_of("inv(H*phi*M*~phi*~H)")), HasSubstr("2 sweeps from q to the result, 2 for another"));
  EXPECT_THAT(text, HasSubstr(" flops, "));
}

TEST(Plan, NamesOfValuesAreDistinct) {
  for (const char* const text :
       {"phi*M*~phi + psi*M*~psi", "H*psi*(K*T + b) + H*phi*a", "phi*phi*phi", "V*~V*M*V*~a*phi"}) {
    const PlanReport plan = literal_plan_of(text);
    std::vector<std::string> left;
    for (const Sweep& sweep : plan.sweeps) {
      std::size_t start = 0;
      while (start < sweep.text.size()) {
        const std::size_t end = std::min(sweep.text.find('\n', start), sweep.text.size());
        const std::string line = sweep.text.substr(start, end - start);
        start = end + 1;
        if (line == "φ(p,k), H(k) of q(k)") {
          continue;
        }
        ASSERT_THAT(line, HasSubstr(" = ")) << text;
        left.push_back(line.substr(0, line.find(" = ")));
      }
    }
    std::vector<std::string> unique = left;
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    EXPECT_EQ(unique.size(), left.size()) << to_string(plan);
  }
}

TEST(Plan, WhatCancelsIsWrittenAsZero) {
  for (const char* const text : {"M*(phi - phi)", "K*(T - T)", "phi*(a - a)", "phi - phi", "V*(~V*a - ~V*a)",
                                 "(M[1, 1] - M[1, 1])*V[1]", "cross(V - V)*phi", "0*phi"}) {
    EXPECT_THAT(to_string(literal_plan_of(text)), ContainsRegex(" 0(\n| ×)")) << text;
    EXPECT_THAT(to_string(plan_of(text)), ContainsRegex(" = 0(\n| ×)")) << text;
  }
  for (const char* const text : {"phi - phi", "0*phi", "M*(phi - phi)", "H*phi - H*E_phi*phi - H"}) {
    EXPECT_EQ(plan_of(text).expression, "0") << text;
  }
}

TEST(Plan, WorkGrowsLinearly) {
  for (const char* const text : {"H*phi*M*~phi*~H", "inv(H*phi*M*~phi*~H)", "H*phi*(M*~phi*(~H*thetadd + a) + b)",
                                 "psi*P*~psi", "Upsilon", "D*~G"}) {
    std::vector<PlanReport> plans;
    for (const int n : {50, 100, 200}) {
      Random random(4);
      plans.push_back(System(random_chain(n, random))(parse(text)).plan());
    }
    EXPECT_NEAR(plans[2].flops - plans[1].flops, 2 * (plans[1].flops - plans[0].flops), 1e-6) << text;
    EXPECT_NEAR(plans[2].bytes - plans[1].bytes, 2 * (plans[1].bytes - plans[0].bytes), 1e-6) << text;
    EXPECT_GT(plans[0].flops, 0) << text;
  }
}

TEST(Plan, WorkIsPlausible) {
  Random random(4);
  constexpr int n = 100;
  System system(random_chain(n, random));  // hinges of one velocity
  const auto flops = [&](const char* text) { return system(parse(text)).plan().flops / n; };
  // (𝒥ω + h × v, m v − h × ω): 15 for 𝒥ω, 3 for m v, 9 for each cross product, two sums of 3
  EXPECT_EQ(flops("M"), 42);
  // A pose is constant + c · constant + s · constant of 12 numbers, c and s: 50. A slide moves only the arm: 6. A force
  // is turned by 30, shifted by a cross product and a sum, 12, and added to the parent's by 6.
  constexpr int slides = n / 10;
  EXPECT_EQ(flops("E_phi") * n, 50 * (n - slides) + 6 * slides + 48 * (n - 1));
  // a row of H takes up to 11; the mass matrix has two transforms, one inertia, two rows, and in links that turn about
  // z even less
  EXPECT_GT(flops("H*phi*M*~phi*~H"), 100);
  EXPECT_LT(flops("H*phi*M*~phi*~H"), 300);
  // with the Riccati recursion, which takes some 200 to 400
  EXPECT_GT(flops("inv(H*phi*M*~phi*~H)"), 300);
  EXPECT_LT(flops("inv(H*phi*M*~phi*~H)"), 600);
  EXPECT_GT(flops("D"), 200);
  EXPECT_LT(flops("D"), 500);
  EXPECT_GT(flops("V"), 30);
  EXPECT_EQ(flops("thetad"), 0) << "vectors are there";
  EXPECT_EQ(system.literal(parse("armature")).plan().flops, n);
  EXPECT_EQ(flops("S"), 6 * (n - 1) / double{n});
  const PlanReport plan = system(parse("H*phi*M*~phi*~H")).plan();
  EXPECT_GT(plan.bytes, n * 8 * (2 * 12 + 2 * 6)) << "the blocks at least are read";
  EXPECT_LT(plan.bytes, n * 8 * 500);
}

TEST(Plan, NothingCostsNothing) {
  EXPECT_EQ(plan_of("phi - phi").flops, 0);
  EXPECT_EQ(plan_of("0*phi").flops, 0);
}

TEST(Plan, DenseInversesCostTheirCube) {
  for (const int n : {3, 6}) {
    Random random(4);
    const double flops = System(random_chain(n, random))(parse("dense_inv(phi)*M*dense_inv(phi)")).plan().flops;
    EXPECT_GE(flops, 2 * std::pow(6.0 * n, 3));
    EXPECT_LE(flops, 6 * std::pow(6.0 * n, 3) + 400 * n * 6.0 * n);
  }
}

TEST(Plan, CommonPartsAreEvaluatedOnce) {
  const auto flops = [](const char* text) { return literal_plan_of(text).flops; };
  const double bodies = 6.0 * static_cast<double>(tree().model().bodies().size());  // numbers in body space
  const double hinges = tree().model().nv();
  EXPECT_GT(flops("phi*a"), flops("a"));
  // what both terms hold is done once, poses and joint maps and a with it; then there is a sum
  EXPECT_EQ(flops("M*phi*a + P*phi*a"), flops("M*phi*a") + flops("P*phi*a") - flops("phi*a") + bodies);
  EXPECT_EQ(flops("M*~phi + P*~phi"), flops("M*~phi") + flops("P*~phi") - flops("~phi") + bodies);
  EXPECT_EQ(flops("phi*M*~phi + psi*M*~phi"), flops("phi*M*~phi") + flops("psi*M*~phi") - flops("M*~phi") + bodies);
  // three times one vector, and no sum
  EXPECT_EQ(flops("M*phi*a + 2*M*phi*a"), flops("M*phi*a") + bodies);
  // H z = T − ε of the filter: one operation for each velocity, and three for 2 T − 2 ε
  EXPECT_EQ(flops("H*psi*(K*T + b) + H*psi*(K*T + b)"), flops("H*psi*(K*T + b)") + 2 * hinges);
  // ε itself is not computed again
  EXPECT_EQ(flops("(I - H*psi*K)*T"), flops("H*psi*K*T") - hinges);
}

TEST(Plan, SaysWhatIsSymmetric) {
  EXPECT_THAT(to_string(plan_of("H*phi*M*~phi*~H")),
              EndsWith("; symmetric: the second half is the adjoint of the first\n"));
  EXPECT_THAT(to_string(plan_of("M")), EndsWith(" bytes; symmetric\n"));  // of one loop there are no halves
  EXPECT_THAT(to_string(plan_of("D")), EndsWith(" bytes; symmetric\n"));
  EXPECT_THAT(to_string(plan_of("phi")), EndsWith(" bytes\n"));
  for (const char* const text : {"H*phi*M*~phi*~H", "inv(D)", "~B*Omega*B", "M", "psi*P*~psi"}) {
    EXPECT_TRUE(literal_plan_of(text).symmetric) << text;
  }
  for (const char* const text : {"phi", "H*phi*K", "M*P", "~phi*M", "V"}) {
    EXPECT_FALSE(literal_plan_of(text).symmetric) << text;
  }
}

}  // namespace
}  // namespace bunraku::test
