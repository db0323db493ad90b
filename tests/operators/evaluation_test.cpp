/// What symbols and the expressions of dynamics evaluate to, against dense matrices from poses and joint maps alone,
/// and against Dynamics.
#include <algorithm>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/system.hpp"
#include "operators/dense_system.hpp"
#include "support/coupled_models.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using detail::as_span;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class EvaluationOfTrees : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam()) + 500};
  Model model = random_dynamics_model(GetParam(), random);  // all hinges; armature in even, mimics in every third
  SystemAndDense both{model, static_cast<unsigned>(GetParam())};
  DenseSystem dense = both.dense();
  double worse = 1 + 1e-3 * eigenvalue_ratio(dense.mass);  // where something was inverted

  double tolerance(Symbol symbol) const {
    switch (symbol) {
      case Symbol::a:
      case Symbol::alpha:
      case Symbol::f:
      case Symbol::T:
        return 1e-8;  // differences
      case Symbol::D:
      case Symbol::G:
      case Symbol::K:
      case Symbol::P:
      case Symbol::tau:
      case Symbol::taub:
      case Symbol::E_psi:
      case Symbol::psi:
      case Symbol::psit:
      case Symbol::Upsilon:
      case Symbol::Omega:
        return 1e-11 * worse;
      default:
        return 1e-13;
    }
  }
};

TEST_P(EvaluationOfTrees, EverySymbolIsItsDenseMatrix) {
  int seen = 0;
  for (const SymbolInfo& each : symbol_table()) {
    if (!dense.has(each.symbol)) {
      continue;
    }
    SCOPED_TRACE(each.ascii);
    const Operator x(each.symbol);
    const MatrixXd expected = dense.get(each.symbol);
    EXPECT_TRUE(is_near(both.system.literal(x).dense(), expected, tolerance(each.symbol)));
    EXPECT_TRUE(is_near(both.system.literal(~x).dense(), expected.transpose(), tolerance(each.symbol)));
    EXPECT_TRUE(is_near(both.system(x).dense(), expected, tolerance(each.symbol)));
    EXPECT_TRUE(is_near(both.system(~x).dense(), expected.transpose(), tolerance(each.symbol)));
    ++seen;
  }
  const auto of_closures = std::count_if(symbol_table().begin(), symbol_table().end(),
                                         [](const SymbolInfo& each) { return is_of_closures(each.symbol); });
  EXPECT_EQ(seen, static_cast<int>(symbol_table().size() - of_closures) - (dense.coupled ? 3 : 0) -
                      (dense.has(Symbol::stiffness) ? 0 : 1));
}

TEST_P(EvaluationOfTrees, VectorsAreThoseOfTheDynamics) {
  State dynamics(model);  // with damping, friction and springs, which all models have here
  dynamics.set(both.q, both.v);
  const auto value = [&](Symbol symbol) -> VectorXd { return both.system.literal(symbol).dense(); };
  EXPECT_TRUE(is_near(value(Symbol::T), inverse_dynamics(dynamics, both.a), 1e-11));
  EXPECT_TRUE(is_near(value(Symbol::T_p), passive_torques(dynamics), 1e-13));
  EXPECT_GT(value(Symbol::T_p).norm(), 0.1);
  EXPECT_EQ(value(Symbol::thetad), both.v);
  EXPECT_EQ(value(Symbol::thetadd), both.a);
  const std::vector<Motion<double>> alpha = accelerations(dynamics, both.a);
  const std::vector<Motion<double>> rest = bias_accelerations(dynamics);
  const std::vector<Force<double>> f = reactions(dynamics, both.a);
  const VectorXd bias = dense.blocks.phi.transpose() * value(Symbol::a);
  for (int k = 0; k < dense.N; ++k) {
    SCOPED_TRACE(k);
    const Motion<double> gravity{Vec3<double>::zero(),
                                 dense.blocks.kinematics.pose(k).rotation.inverse_times(-model.gravity())};
    const auto i = static_cast<std::size_t>(k);
    EXPECT_TRUE(is_near(value(Symbol::alpha).segment<6>(6 * k), to_eigen(alpha[i] + gravity), 1e-11));
    EXPECT_TRUE(is_near(bias.segment<6>(6 * k), to_eigen(rest[i] + gravity), 1e-11));
    EXPECT_TRUE(is_near(value(Symbol::f).segment<6>(6 * k), to_eigen(f[i]), 1e-11));
  }
  // the other way round: given T, θ̈ follows, and α, f from that
  const VectorXd T = both.random.vector(model.nv());
  both.system.set_torques(as_span(T));
  EXPECT_EQ(value(Symbol::T), T);
  const VectorXd forward = forward_dynamics(dynamics, T);
  EXPECT_TRUE(is_near(value(Symbol::thetadd), forward, 1e-12));
  EXPECT_TRUE(is_near(both.system.literal(parse("H*f + armature*thetadd - T_p")).dense(), T, 1e-12 * worse * worse));
  EXPECT_TRUE(is_near(inverse_dynamics(dynamics, VectorXd(value(Symbol::thetadd))), T, 1e-12 * worse * worse));
}

TEST_P(EvaluationOfTrees, IdealHingesAsTheDynamicsHasThem) {
  State ideal(model, PassiveForces::left_out);
  ideal.set(both.q, both.v);
  System system(model, both.q, both.v, PassiveForces::left_out);
  system.set_accelerations(both.a);
  EXPECT_EQ(system(soa::T_p).dense(), VectorXd::Zero(model.nv()));
  EXPECT_TRUE(is_near(system(soa::T).dense(), inverse_dynamics(ideal, both.a), 1e-11));
  const VectorXd T = both.random.vector(model.nv());
  system.set_torques(T);
  EXPECT_TRUE(is_near(system(soa::thetadd).dense(), forward_dynamics(ideal, T), 1e-12));
}

TEST_P(EvaluationOfTrees, WhatTheDynamicsComputes) {
  using namespace soa;
  State dynamics(model, PassiveForces::left_out);
  dynamics.set(both.q, both.v);
  System& system = both.system;
  const Operator mass = H * phi * M * ~phi * ~H + armature;
  EXPECT_TRUE(is_near(system(mass).dense(), mass_matrix(dynamics), 1e-12));
  EXPECT_TRUE(is_near(system(mass).dense(), DenseReference(model, both.q).mass(), 1e-12));
  EXPECT_TRUE(is_near(system(inv(mass)).dense(), inverse_mass_matrix(dynamics), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(inv(mass)).dense() * dense.mass, MatrixXd::Identity(dense.nv, dense.nv), 1e-10 * worse));
  EXPECT_TRUE(is_near(system(H * phi * (M * ~phi * a + b)).dense(), bias(dynamics), 1e-11));
  EXPECT_TRUE(is_near(system(H * phi * (M * ~phi * (~H * thetadd + a) + b) + armature * thetadd).dense(),
                      inverse_dynamics(dynamics, both.a), 1e-11));
  EXPECT_TRUE(is_near(system(~B * Omega * B).dense(), lambda_inverse(dynamics, both.nodes), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(~B * ~phi * ~H * inv(mass) * H * phi * B).dense(), lambda_inverse(dynamics, both.nodes),
                      1e-12 * worse));
  EXPECT_NEAR(system(~thetad * mass * thetad).dense()(0, 0), 2 * kinetic_energy(dynamics),
              1e-12 * std::max(1.0, kinetic_energy(dynamics)));
}

INSTANTIATE_TEST_SUITE_P(Samples, EvaluationOfTrees, testing::Range(0, 12));

TEST(Evaluation, ForwardDynamics) {  // one search for each kind of model, and a small one: more nodes find the same
  using namespace soa;
  const Operator mass = H * phi * M * ~phi * ~H + armature;
  const Operator forward = inv(mass) * (T - H * phi * (M * ~phi * a + b));
  std::vector<Model> models;
  for (int sample = 0; sample < 12; ++sample) {
    Random random(static_cast<unsigned>(sample) + 600);
    models.push_back(random_dynamics_model(sample, random));
  }
  for (const bool geared : {false, true}) {
    for (const CoupledModel& each : coupled_models(geared)) {
      models.push_back(each.model);
    }
  }
  std::vector<std::pair<Conditions, Operator>> found;
  for (std::size_t i = 0; i < models.size(); ++i) {
    SCOPED_TRACE(i);
    SystemAndDense both(models[i], static_cast<unsigned>(i));
    const Conditions conditions = conditions_of(both.system);
    auto best = std::find_if(found.begin(), found.end(), [&](const auto& each) { return each.first == conditions; });
    if (best == found.end()) {
      found.emplace_back(conditions, simplify(forward, Search{.conditions = conditions}));
      best = found.end() - 1;
    }
    State dynamics(models[i], PassiveForces::left_out);
    dynamics.set(both.q, both.v);
    const VectorXd torque = both.random.vector(models[i].nv());
    both.system.set_torques(as_span(torque));
    const double worse = 1 + 1e-3 * eigenvalue_ratio(mass_matrix(dynamics));
    EXPECT_TRUE(is_near(both.system.literal(best->second).dense(), forward_dynamics(dynamics, torque), 1e-11 * worse))
        << to_ascii(best->second);
  }
  EXPECT_EQ(found.size(), 7);  // with and without armature and couplings, and by kinds of hinges
}

}  // namespace
}  // namespace bunraku::test
