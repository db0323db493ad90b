/// What symbols and expressions evaluate to where hinges are coupled: bodies are eliminated in clusters.
#include <algorithm>
#include <tuple>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "operators/dense_system.hpp"
#include "operators/messages.hpp"
#include "operators/random_expression.hpp"
#include "support/coupled_models.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using testing::AllOf;
using testing::HasSubstr;

class EvaluationWithCouplings : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  CoupledModel coupled = coupled_models(std::get<1>(GetParam()))[static_cast<std::size_t>(std::get<0>(GetParam()))];
  SystemAndDense both{coupled.model, 7};
  DenseSystem dense = both.dense();
  double worse = 1 + 1e-3 * eigenvalue_ratio(dense.mass);
};

TEST_P(EvaluationWithCouplings, FactorsOfTheMassMatrix) {
  SCOPED_TRACE(coupled.name);
  using namespace soa;
  ASSERT_TRUE(dense.coupled);
  ASSERT_EQ(dense.clusters, coupled.clusters);
  System& system = both.system;
  // D is the block diagonal of the one factorization 𝓜 = U D U* with U unit upper block triangular by clusters
  MatrixXd rest = dense.mass;
  MatrixXd D_expected = MatrixXd::Zero(dense.nv, dense.nv);
  MatrixXd U = MatrixXd::Identity(dense.nv, dense.nv);
  for (auto cluster = coupled.clusters.rbegin(); cluster != coupled.clusters.rend(); ++cluster) {
    std::vector<int> own;
    for (const int k : *cluster) {
      for (int j = 0; j < dense.blocks.body(k).nv; ++j) {
        own.push_back(dense.blocks.body(k).v_index + j);
      }
    }
    const MatrixXd d = rest(own, own);
    const MatrixXd columns = rest(Eigen::all, own) * inverse_of(d);
    D_expected(own, own) = d;
    U(Eigen::all, own) = columns;
    rest -= columns * d * columns.transpose();
  }
  EXPECT_LT(rest.norm(), 1e-9 * dense.mass.norm());
  EXPECT_TRUE(is_near(system.literal(D).dense(), D_expected, 1e-11 * worse));
  EXPECT_TRUE(is_near(system.literal(I + H * phi * K).dense(), U, 1e-11 * worse));
  EXPECT_TRUE(is_near(system.literal(I - H * psi * K).dense(), inverse_of(U), 1e-11 * worse));
  EXPECT_TRUE(is_near(system.literal(H * psi).dense(), inverse_of(U) * dense(H * phi), 1e-11 * worse));
  for (const Symbol symbol : {Symbol::D, Symbol::K, Symbol::psi, Symbol::psit, Symbol::E_psi, Symbol::Omega, Symbol::R,
                              Symbol::H, Symbol::armature, Symbol::S, Symbol::Delta_phi, Symbol::B}) {
    const Operator x(symbol);
    EXPECT_TRUE(is_near(system.literal(x).dense(), dense(x), 1e-11 * worse)) << to_ascii(x);
    EXPECT_TRUE(is_near(system.literal(~x).dense(), dense(~x), 1e-11 * worse)) << to_ascii(~x);
  }
}

TEST_P(EvaluationWithCouplings, SameAsTheDynamics) {
  SCOPED_TRACE(coupled.name);
  using namespace soa;
  State dynamics(coupled.model, PassiveForces::left_out);
  dynamics.set(both.q, both.v);
  System& system = both.system;
  const Operator mass = H * phi * M * ~phi * ~H + armature;
  EXPECT_TRUE(is_near(system(mass).dense(), DenseReference(coupled.model, both.q).mass(), 1e-12));
  EXPECT_TRUE(is_near(system(inv(mass)).dense(), inverse_mass_matrix(dynamics), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(~B * Omega * B).dense(), lambda_inverse(dynamics, both.nodes), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(T).dense(), inverse_dynamics(dynamics, both.a), 1e-11));
  EXPECT_TRUE(is_near(system(inv(mass)).dense(Order::file) * system(mass).dense(),
                      MatrixXd::Identity(dense.nv, dense.nv), 1e-11 * worse));
}

TEST_P(EvaluationWithCouplings, Expressions) {
  SCOPED_TRACE(coupled.name);
  for (const char* const text :
       {"inv(D)", "sqrt(D)", "sqrt(D)*D*inv(sqrt(D))", "inv(M)*~phi", "cross(V)*M", "psi*M*~psi",
        "~psi*~H*inv(D)*H*psi", "phi[0, 2]*(phi[2, 2] + M[2, 2])", "phi*V*(~V*f + ~a*b)", "thetad[0]", "~H*unit(1)",
        "K*~K", "(H*phi)[0, 2]*V[2]", "inv(I + 0.1*cross(V))*phi"}) {
    SCOPED_TRACE(text);
    const Operator x = parse(text);
    Evaluation evaluation = both.system.literal(x);
    EXPECT_TRUE(is_near(evaluation.dense(), dense(x), 1e-10 * worse));
    EXPECT_TRUE(is_near(both.system(x).dense(), dense(x), 1e-10 * worse));
  }
}

TEST_P(EvaluationWithCouplings, RandomExpressions) {
  SCOPED_TRACE(coupled.name);
  ExpressionParts parts;
  for (const Operator& each : all_symbols()) {
    if (dense.has(each.term().symbol)) {
      parts.leaves.push_back(each);
    }
  }
  RandomExpression draw(parts, static_cast<unsigned>(std::get<0>(GetParam())));
  for (int i = 0; i < 40 && !HasFailure(); ++i) {
    const Operator each = i % 4 == 3 ? draw.block(1 + i % 3) : draw.any(1 + i % 4);
    SCOPED_TRACE(to_ascii(each));
    EXPECT_TRUE(is_near(both.system.literal(each).dense(), dense(each), 1e-9 * worse));
  }
}

/// A body and one inside it are coupled.
bool is_nested(const CoupledModel& coupled) {
  const auto bodies = coupled.model.bodies();
  return std::any_of(coupled.clusters.begin(), coupled.clusters.end(), [&](const std::vector<int>& cluster) {
    return std::any_of(cluster.begin(), cluster.end(), [&](int k) {
      const int parent = bodies[static_cast<std::size_t>(k)].parent;
      return std::find(cluster.begin(), cluster.end(), parent) != cluster.end();
    });
  });
}

// What defines P, D, G and K, a cluster being one body: with E_φ = E_in + E_out, what stays within clusters and what
// leaves them, φ_b = (I − E_in)⁻¹, H̄ = H φ_b and Ē = E_out φ_b. Together the equations settle all four.
TEST_P(EvaluationWithCouplings, ArticulatedInertias) {
  SCOPED_TRACE(coupled.name);
  const auto value = [&](const Operator& x) -> MatrixXd { return both.system.literal(x).dense(); };
  const MatrixXd one = MatrixXd::Identity(6 * dense.N, 6 * dense.N);
  const MatrixXd& E = dense.get(Symbol::E_phi);
  MatrixXd E_in = 0 * E;
  for (const std::vector<int>& cluster : coupled.clusters) {
    for (const int i : cluster) {
      for (const int k : cluster) {
        E_in.block<6, 6>(6 * i, 6 * k) = E.block<6, 6>(6 * i, 6 * k);
      }
    }
  }
  const MatrixXd phi_b = inverse_of(one - E_in);
  const MatrixXd H_bar = dense.get(Symbol::H) * phi_b;
  const MatrixXd E_bar = (E - E_in) * phi_b;
  const MatrixXd P = value(Symbol::P);
  const MatrixXd D = value(Symbol::D);
  const MatrixXd G = P * H_bar.transpose() * inverse_of(D);
  const double tolerance = 1e-12 * worse;
  EXPECT_TRUE(is_near(P, dense.get(Symbol::M) + congruence(E_bar, P - G * H_bar * P), tolerance));
  EXPECT_TRUE(is_near(D, congruence(H_bar, P) + dense.get(Symbol::armature), tolerance));
  EXPECT_TRUE(is_near(value(Symbol::G), G, tolerance));
  EXPECT_TRUE(is_near(value(~Operator(Symbol::G)), G.transpose(), tolerance));
  EXPECT_TRUE(is_near(value(Symbol::K), E_bar * G, tolerance));
  EXPECT_TRUE(is_near(value(~Operator(Symbol::K)), (E_bar * G).transpose(), tolerance));
  EXPECT_TRUE(is_near(value(Symbol::tau), G * dense.get(Symbol::H), tolerance));
  EXPECT_TRUE(is_near(value(Symbol::taub), one - G * dense.get(Symbol::H), tolerance));
  if (!is_nested(coupled)) {  // then Υ is the block diagonal of Ω
    EXPECT_TRUE(is_near(H_bar, dense.get(Symbol::H), 0));
    MatrixXd upsilon = 0 * E;
    for (int k = 0; k < 6 * dense.N; k += 6) {
      upsilon.block<6, 6>(k, k) = dense.get(Symbol::Omega).block<6, 6>(k, k);
    }
    EXPECT_TRUE(is_near(value(Symbol::Upsilon), upsilon, tolerance));
  }
}

TEST_P(EvaluationWithCouplings, WhatIsNotBlockDiagonalIsRefused) {
  if (!is_nested(coupled)) {
    // y = x + E_ψ y E_ψ* then has no blocks but those of bodies
    EXPECT_TRUE(is_near(both.system.literal(parse("gather(E_psi, M) - E_psi*gather(E_psi, M)*~E_psi")).dense(),
                        both.system.literal(parse("M")).dense(), 1e-11 * worse));
    return;
  }
  const auto bodies = coupled.model.bodies();
  const auto follower = std::find_if(bodies.begin(), bodies.end(), [](const Body& b) { return b.leader != world; });
  for (const std::string text : {"Upsilon", "gather(E_psi, M)", "spread(E_psi, M)", "gather(E_psi_{R, armature}, M)"}) {
    for (const std::string& said : {message_of([&] { static_cast<void>(both.system.literal(parse(text))); }),
                                    message_of([&] { static_cast<void>(Program(coupled.model, parse(text))); })}) {
      EXPECT_THAT(said, AllOf(HasSubstr(text), HasSubstr("'" + follower->hinge.name + "'"),
                              HasSubstr("'" + bodies[static_cast<std::size_t>(follower->leader)].hinge.name + "'")));
    }
  }
}

TEST_P(EvaluationWithCouplings, PlansSayWhatIsOneBody) {
  SCOPED_TRACE(coupled.name);
  const std::string text = to_string(both.system(parse("inv(H*phi*M*~phi*~H + armature)*T + ~K*~psi*V")).plan());
  EXPECT_THAT(text, HasSubstr("coupled hinges: "));
  const bool nested = is_nested(coupled);
  for (const char* const line : {"D(k) = H̄(k) P(k) H̄*(k) + 𝒜(k)\n", "G(k) = P(k) H̄*(k) D⁻¹(k)\n",
                                 "P⁺(k) = φ_b(k) [P(k) − G(k) D(k) G*(k)] φ_b*(k)\n", "z(k) = φ_b(k) Σ φ(k,c) z⁺(c)\n",
                                 "z⁺(k) = z(k) + φ_b(k) G(k) ε(k)\n", "(k) = φ_b*(k) φ*(p,k) ", " + φ_b*(k) V(k)\n",
                                 "\nφ_b(k) is φ among the bodies that are one body k; H̄(k) = H(k) φ_b(k)\n"}) {
    EXPECT_EQ(text.find(line) != std::string::npos, nested) << line << "\n" << text;
  }
  EXPECT_EQ(text.find("D(k) = H(k) P(k) H*(k) + 𝒜(k)\n") == std::string::npos, nested);
  const std::string gains = to_string(both.system(parse("K")).plan());
  EXPECT_EQ(gains.find(" = Σ φ(k,c) φ_b(c) G(c) x(c)\n") != std::string::npos, nested) << gains;
}

INSTANTIATE_TEST_SUITE_P(Ways, EvaluationWithCouplings,
                         testing::Combine(testing::Range(0, static_cast<int>(coupled_models(false).size())),
                                          testing::Bool()));

}  // namespace
}  // namespace bunraku::test
