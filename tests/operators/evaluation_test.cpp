/// What expressions evaluate to, against dense matrices from poses and joint maps alone, and against Dynamics.
#include <limits>

#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/operators/simplify.hpp"
#include "bunraku/operators/soa.hpp"
#include "bunraku/operators/system.hpp"
#include "bunraku/operators/text.hpp"
#include "operators/coupled_models.hpp"
#include "operators/dense_system.hpp"
#include "operators/random_expression.hpp"
#include "support/allocations.hpp"
#include "support/dense_reference.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::AllOf;
using testing::HasSubstr;

std::span<const double> numbers(const VectorXd& x) {
  return detail::as_span(x);
}

/// What an OperatorError says.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const OperatorError& error) {
    return error.what();
  }
  return "no OperatorError";
}

double condition(const MatrixXd& mass) {
  const VectorXd values = Eigen::SelfAdjointEigenSolver<MatrixXd>(mass, Eigen::EigenvaluesOnly).eigenvalues();
  return values.maxCoeff() / values.minCoeff();
}

/// Three bodies on hinges that turn, with a fork if asked for.
Model small_model(bool fork = true) {
  Random random(17);
  ModelBuilder builder("small");
  for (int i = 0; i < 4; ++i) {
    BodySpec body{.name = "b" + std::to_string(i),
                  .parent = i == 0 ? std::string(world_name) : "b" + std::to_string(fork && i == 3 ? 1 : i - 1)};
    body.hinge = random_hinge(i == 2 ? HingeType::spherical : HingeType::revolute, random);
    body.X_PF = random.transform();
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

// ---------------------------------------------------------------------------------------------------------------------
// Symbols

class EvaluationOfTrees : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam()) + 500};
  Model model = random_dynamics_model(GetParam(), random);  // all hinges; armature in even, mimics in every third
  SystemAndDense both{model, static_cast<unsigned>(GetParam())};
  DenseSystem dense = both.dense();
  double worse = 1 + 1e-3 * condition(dense.mass);  // where something was inverted

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
  EXPECT_EQ(seen, static_cast<int>(symbol_table().size()) - (dense.coupled ? 5 : 0));
}

TEST_P(EvaluationOfTrees, VectorsAreThoseOfTheDynamics) {
  Dynamics dynamics(model, PassiveForces::left_out);
  dynamics.set_state(both.q, both.v);
  const auto value = [&](Symbol symbol) -> VectorXd { return both.system.literal(symbol).dense(); };
  EXPECT_TRUE(is_near(value(Symbol::T), dynamics.inverse(both.a), 1e-11));
  EXPECT_EQ(value(Symbol::thetad), both.v);
  EXPECT_EQ(value(Symbol::thetadd), both.a);
  const std::vector<Motion<double>> alpha = dynamics.accelerations(both.a);
  const std::vector<Motion<double>> rest = dynamics.bias_accelerations();
  const std::vector<Force<double>> f = dynamics.reactions(both.a);
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
  both.system.set_torques(numbers(T));
  EXPECT_EQ(value(Symbol::T), T);
  const VectorXd forward = dynamics.forward(T);
  EXPECT_TRUE(is_near(value(Symbol::thetadd), forward, 1e-12));
  EXPECT_TRUE(is_near(both.system.literal(parse("H*f + armature*thetadd")).dense(), T, 1e-12 * worse * worse));
  EXPECT_TRUE(is_near(dynamics.inverse(VectorXd(value(Symbol::thetadd))), T, 1e-12 * worse * worse));
}

TEST_P(EvaluationOfTrees, WhatTheDynamicsComputes) {
  using namespace soa;
  Dynamics dynamics(model, PassiveForces::left_out);
  dynamics.set_state(both.q, both.v);
  System& system = both.system;
  const Operator mass = H * phi * M * ~phi * ~H + armature;
  EXPECT_TRUE(is_near(system(mass).dense(), dynamics.mass_matrix(), 1e-12));
  EXPECT_TRUE(is_near(system(mass).dense(), DenseReference(model, both.q).mass(), 1e-12));
  EXPECT_TRUE(is_near(system(inv(mass)).dense(), dynamics.inverse_mass_matrix(), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(inv(mass)).dense() * dense.mass, MatrixXd::Identity(dense.nv, dense.nv), 1e-10 * worse));
  EXPECT_TRUE(is_near(system(H * phi * (M * ~phi * a + b)).dense(), dynamics.bias(), 1e-11));
  EXPECT_TRUE(is_near(system(H * phi * (M * ~phi * (~H * thetadd + a) + b) + armature * thetadd).dense(),
                      dynamics.inverse(both.a), 1e-11));
  EXPECT_TRUE(is_near(system(~B * Omega * B).dense(), dynamics.operational_space_inverse(both.nodes), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(~B * ~phi * ~H * inv(mass) * H * phi * B).dense(),
                      dynamics.operational_space_inverse(both.nodes), 1e-12 * worse));
  EXPECT_NEAR(system(~thetad * mass * thetad).dense()(0, 0), 2 * dynamics.kinetic_energy(),
              1e-12 * std::max(1.0, dynamics.kinetic_energy()));
}

INSTANTIATE_TEST_SUITE_P(Samples, EvaluationOfTrees, testing::Range(0, 12));

// ---------------------------------------------------------------------------------------------------------------------
// Expressions

class EvaluationOfExpressions : public testing::Test {
 protected:
  EvaluationOfExpressions() {
    for (const Operator& each : variables) {
      VectorXd values = both.random.vector(count(each));
      both.system.bind(each, numbers(values));
      dense.bind(each, matrix(each, values));
    }
  }

  /// Numbers that a variable takes on this model without couplings.
  int count(const Operator& of) const {
    if (of.domain().kind == SpaceKind::number) {
      return dense.dimension(of.range());
    }
    int sum = 0;
    for (int k = 0; k < dense.N; ++k) {
      sum += size(of.range(), k) * size(of.domain(), k);
    }
    return sum;
  }
  int size(const Space& space, int k) const { return space.kind == SpaceKind::body ? 6 : dense.blocks.body(k).nv; }
  MatrixXd matrix(const Operator& of, const VectorXd& values) const {
    if (of.domain().kind == SpaceKind::number) {
      return values;
    }
    MatrixXd out = MatrixXd::Zero(dense.dimension(of.range()), dense.dimension(of.domain()));
    const auto first = [&](const Space& space, int k) {
      return space.kind == SpaceKind::body ? 6 * k : dense.blocks.body(k).v_index;
    };
    int used = 0;
    for (int k = 0; k < dense.N; ++k) {
      for (int i = 0; i < size(of.range(), k); ++i) {
        for (int j = 0; j < size(of.domain(), k); ++j) {
          out(first(of.range(), k) + i, first(of.domain(), k) + j) = values[used++];
        }
      }
    }
    return out;
  }
  void expect_dense(const Operator& of, double tolerance = 1e-10) {
    SCOPED_TRACE(to_ascii(of));
    try {
      const MatrixXd expected = dense(of);
      Evaluation evaluation = both.system.literal(of);
      EXPECT_TRUE(is_near(evaluation.dense(), expected, tolerance)) << "as written";
      EXPECT_TRUE(is_near(evaluation.dense(), expected, tolerance)) << "as written, again";
      EXPECT_EQ(evaluation.rows(), expected.rows());
      EXPECT_EQ(evaluation.cols(), expected.cols());
      Evaluation best = both.system(of);
      EXPECT_TRUE(is_near(best.dense(), expected, tolerance)) << "as " << to_ascii(best.expression());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }

  Model model = small_model();
  SystemAndDense both{model, 3};
  DenseSystem dense = both.dense();
  Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::number);
  Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
  Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  Operator L = Operator::variable("L", SpaceKind::hinge, SpaceKind::body);
  Operator g = Operator::variable("g", SpaceKind::node, SpaceKind::number);
  Variables variables{x, u, W, L, g};
};

TEST_F(EvaluationOfExpressions, ListOfThem) {
  for (const char* const text : {
           // products and sums
           "H*phi*M*~phi*~H",
           "phi - psi",
           "I + H*phi*K",
           "2*phi*M - 3*M*~phi + 0.5*P",
           "phi - phi",
           "0*phi*M",
           "H*phi*(M*~phi*(~H*thetadd + a) + b)",
           "phi*psi*phi*~psi*~phi*phi",
           "E_phi*E_phi + S*S*M - E_psi*~E_psi",
           "K*~K + ~S*~Delta_phi*Delta_phi*S",
           "~K*~psi*M*psi*K",
           "B*~B + W*~W",
           "~B*phi*B",
           "L*W*~L + ~K*W*~L + u*~u",
           "-~phi - ~psi*(M - P)",
           "I - H*psi*K - ~(I - H*psi*K)",
           // vectors, scalar products, dyads
           "V + alpha - x",
           "~V*M*V",
           "~x*phi*x - 2",
           "V*~V",
           "phi*V*~alpha*~phi",
           "H*V*(~V*f)",
           "a*~b*W*b*~a",
           "phi*V*(~V*M*V + ~a*a)",
           "~phi*V*(~V*M*V + ~a*a)",
           "psi*V*(~x*phi*x - ~x*psi*x)*(~a*a - ~b*b)*~u",
           "~u*D*u + ~V*f",
           "V*2",
           "g*~g",
           "B*g",
           "~g*~B*~phi*V",
           // inverses and roots of memoryless ones
           "inv(D)",
           "inv(M)*P",
           "inv(H*P*~H)",
           "inv(M + P)*M",
           "inv(2*D)*D",
           "sqrt(D)",
           "sqrt(D)*sqrt(D)",
           "inv(sqrt(D))*H*psi",
           "sqrt(M)*phi",
           "sqrt(inv(M))",
           "sqrt(W*~W)",
           "inv(W)",
           "~inv(W)*~phi",
           "inv(W*M)*~inv(W)",
           "inv(taub + tau)",
           "inv(I + 0.1*cross(V))",
           "inv(I + 0.1*cross(~phi*~H*thetad))*phi",
           // inverses that the identities or a dense matrix give
           "dense_inv(phi)",
           "dense_inv(H*phi*M*~phi*~H)*H*phi",
           "inv(phi)*psi",
           "inv(I + H*phi*K)",
           "dense_inv(~B*Omega*B + I)*~B",
           "inv(2*phi)",
           // functions of vectors
           "cross(V)",
           "~cross(V)",
           "cross(V)*V",
           "cross(V + alpha)*M*~cross(x)",
           "~cross(~phi*~H*unit(1))*phi",
           "unit(0)",
           "~H*unit(2)",
           "~unit(1)*D*unit(1)",
           "unit(0)*~unit(3)",
           // blocks
           "phi[0, 2]",
           "phi[2, 0]",
           "phi[b1, b2]*2 - psi[b1, b2]",
           "(H*phi*M*~phi*~H)[0, 2]",
           "(H*phi)[2, 2]",
           "V[2]",
           "(~phi*~H*thetad)[2] - V[2]",
           "thetad[2]",
           "~V[1]*M[1, 1]*V[1]",
           "phi[0, 1]*phi[1, 2] - phi[0, 2]",
           "phi[0, 1]*(phi[1, 2] + psi[1, 2])",
           "~phi[0, 1]*(phi[0, 2] - 2*psi[0, 2])*M[2, 2]*V[2]",
           "(phi[0, 1] + psi[0, 1])*(phi[1, 2] + psi[1, 2])*(M[2, 2] + P[2, 2])",
           "M[1, 1]*(phi[1, 2] + psi[1, 2])*(M[2, 2] + P[2, 2])*(~phi[1, 2] - ~psi[1, 2])",
           "V*(~V[1]*M[1, 1]*V[1] + 1)",
           "phi*V*(~V[1]*M[1, 1]*V[1] + ~V[2]*P[2, 2]*V[2])",
           "B[0, 1]",
           "(~B*Omega*B)[n0, n2]",
           "(~B*Omega*B)[0, 1]",
           "g[n1]",
           "(~B*~phi*~H)[n0, 2]*thetad[2]",
       }) {
    expect_dense(parse(text, variables));
  }
}

TEST_F(EvaluationOfExpressions, PartsOfSpacesHaveInversesAndRoots) {
  expect_dense(parse("sqrt(M[1, 1])"));
  expect_dense(parse("M[1, 1]*sqrt(P[1, 1] + M[1, 1])*V[1]"));
  expect_dense(parse("sqrt(D[2, 2])*thetad[2]"));
  expect_dense(parse("inv(M[1, 1])*P[1, 1]"));
  expect_dense(parse("inv(D[2, 2])"));
}

TEST_F(EvaluationOfExpressions, NumbersHaveInversesAndRoots) {
  expect_dense(parse("sqrt(2)"));
  expect_dense(parse("V*sqrt(2)"));
  expect_dense(parse("V*sqrt(2)*~thetad"));
  for (const char* const text : {"V*inv(~V*M*V)*~V", "inv(~V*M*V + 1)"}) {
    EXPECT_TRUE(is_near(both.system.literal(parse(text)).dense(), dense(parse(text)), 1e-12)) << text;
    EXPECT_THROW(both.system(parse(text)), OperatorError) << "no identity gives it";
  }
}

TEST_F(EvaluationOfExpressions, RandomOnes) {
  ExpressionParts parts{.leaves = all_symbols()};
  parts.leaves.insert(parts.leaves.end(), variables.begin(), variables.end());
  RandomExpression draw(parts, 11);
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    const Operator each = i % 4 == 3 ? draw.block(1 + i % 3) : draw.any(1 + i % 4);
    SCOPED_TRACE(to_ascii(each));
    const MatrixXd expected = dense(each);
    EXPECT_TRUE(is_near(both.system.literal(each).dense(), expected, 1e-9));
  }
}

TEST_F(EvaluationOfExpressions, PapersOrderIsReversed) {
  const auto reversed = [&](const Space& space) {
    std::vector<int> rows;
    for (int k = dense.N - 1; k >= 0; --k) {
      for (int i = 0; i < size(space, k); ++i) {
        rows.push_back((space.kind == SpaceKind::body ? 6 * k : dense.blocks.body(k).v_index) + i);
      }
    }
    return rows;
  };
  for (const char* const text : {"phi", "H", "H*phi*M*~phi*~H", "~H", "K"}) {
    const Operator each = parse(text);
    const MatrixXd expected = dense(each)(reversed(each.range()), reversed(each.domain()));
    EXPECT_TRUE(is_near(both.system(each).dense(Order::paper), expected, 1e-10)) << text;
  }
  EXPECT_TRUE(
      is_near(both.system(parse("V")).dense(Order::paper), dense(parse("V"))(reversed({SpaceKind::body}), 0), 1e-12));
  EXPECT_TRUE(is_near(both.system(parse("B")).dense(Order::paper),
                      dense(parse("B"))(reversed({SpaceKind::body}), Eigen::all), 1e-12))
      << "nodes stay in their order";
  // φ is lower triangular there, as the papers have it
  const MatrixXd phi = both.system(parse("phi")).dense(Order::paper);
  EXPECT_EQ(MatrixXd(phi.triangularView<Eigen::StrictlyUpper>()).block(0, 6, 6, 18).norm(), 0);
}

TEST_F(EvaluationOfExpressions, ManyRightHandSides) {
  const Operator each = parse("H*phi*M*~phi*~H");
  Evaluation evaluation = both.system(each);
  const MatrixXd right = MatrixXd::Random(dense.nv, 7);
  EXPECT_TRUE(is_near(evaluation * right, dense(each) * right, 1e-11));
  EXPECT_EQ((evaluation * MatrixXd(dense.nv, 0)).cols(), 0);
  EXPECT_TRUE(is_near(both.system(parse("V")) * MatrixXd::Constant(1, 2, 3.0),
                      3 * dense(parse("V")) * MatrixXd::Constant(1, 2, 1.0), 1e-12));
}

TEST_F(EvaluationOfExpressions, BlocksOfAnEvaluation) {
  for (const char* const text : {"phi", "H*phi*M*~phi*~H", "~B*Omega*B", "~B*~phi*~H", "V", "~V"}) {
    SCOPED_TRACE(text);
    const Operator each = parse(text);
    Evaluation evaluation = both.system(each);
    const bool rows = each.range().kind != SpaceKind::number;
    const bool columns = each.domain().kind != SpaceKind::number;
    for (int i = 0; i < (rows ? 3 : 1); ++i) {
      for (int j = 0; j < (columns ? 3 : 1); ++j) {
        const Operator block = !columns ? each.block(std::to_string(i))
                               : !rows  ? ~(~each).block(std::to_string(j))
                                        : each.block(std::to_string(i), std::to_string(j));
        const MatrixXd expected = dense(block);
        const std::vector<double> got = evaluation.block(i, j);
        ASSERT_EQ(got.size(), static_cast<std::size_t>(expected.size()));
        EXPECT_TRUE(is_near(Eigen::Map<const MatrixXd>(got.data(), expected.rows(), expected.cols()), expected, 1e-10));
      }
    }
  }
  EXPECT_THROW(both.system(parse("phi")).block(4, 0), ArgumentError);
  EXPECT_THROW(both.system(parse("phi")).block(0, -1), ArgumentError);
  EXPECT_THROW(both.system(parse("B")).block(0, 3), ArgumentError);
}

TEST_F(EvaluationOfExpressions, StackedVectorsAreBoundInTheOrderOfTheirSpace) {
  for (const Operator& each : {x, u, g}) {
    const VectorXd values = both.random.vector(dense.dimension(each.range()));
    both.system.bind(each, numbers(values));
    EXPECT_EQ(both.system.literal(each).dense(), values) << to_ascii(each);
  }
  SystemAndDense coupled(coupled_models(false)[6].model, 2);  // whose clusters are not in order
  for (const Operator& each : {x, u, g}) {
    const VectorXd values = coupled.random.vector(coupled.dense().dimension(each.range()));
    coupled.system.bind(each, numbers(values));
    EXPECT_EQ(coupled.system.literal(each).dense(), values) << to_ascii(each);
  }
}

TEST_F(EvaluationOfExpressions, OperatorsOnNodesAreBoundNodeByNode) {
  const Operator C = Operator::variable("C", SpaceKind::node, SpaceKind::node);
  std::vector<Node> twice = both.nodes;
  twice[2].body = twice[0].body;  // two on one body
  both.system.set_nodes(twice);
  const VectorXd values = both.random.vector(36 * 3);
  both.system.bind(C, numbers(values));
  MatrixXd expected = MatrixXd::Zero(18, 18);
  for (int i = 0; i < 3; ++i) {
    expected.block<6, 6>(6 * i, 6 * i) =
        Eigen::Map<const Eigen::Matrix<double, 6, 6, Eigen::RowMajor>>(values.data() + 36 * i);
  }
  EXPECT_EQ(both.system.literal(C).dense(), expected);
}

TEST_F(EvaluationOfExpressions, NodesOnTheWorld) {
  std::vector<Node> nodes = both.nodes;
  nodes.push_back({"fixed", world, both.random.transform()});
  both.system.set_nodes(nodes);
  const DenseSystem with(model, both.q, both.v, both.a, nodes);
  for (const char* const text : {"B", "~B", "~B*Omega*B", "2*~B*V", "~B*Omega*B + I", "~B*B - 3*I", "~V*B*~B*V"}) {
    EXPECT_TRUE(is_near(both.system.literal(parse(text)).dense(), with(parse(text)), 1e-10)) << text;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Coupled hinges

class EvaluationWithCouplings : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  CoupledModel coupled = coupled_models(std::get<1>(GetParam()))[static_cast<std::size_t>(std::get<0>(GetParam()))];
  SystemAndDense both{coupled.model, 7};
  DenseSystem dense = both.dense();
  double worse = 1 + 1e-3 * condition(dense.mass);
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
    const MatrixXd columns = rest(Eigen::all, own) * d.inverse();
    D_expected(own, own) = d;
    U(Eigen::all, own) = columns;
    rest -= columns * d * columns.transpose();
  }
  EXPECT_LT(rest.norm(), 1e-9 * dense.mass.norm());
  EXPECT_TRUE(is_near(system.literal(D).dense(), D_expected, 1e-11 * worse));
  EXPECT_TRUE(is_near(system.literal(I + H * phi * K).dense(), U, 1e-11 * worse));
  EXPECT_TRUE(is_near(system.literal(I - H * psi * K).dense(), U.inverse(), 1e-11 * worse));
  EXPECT_TRUE(is_near(system.literal(H * psi).dense(), U.inverse() * dense(H * phi), 1e-11 * worse));
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
  Dynamics dynamics(coupled.model, PassiveForces::left_out);
  dynamics.set_state(both.q, both.v);
  System& system = both.system;
  const Operator mass = H * phi * M * ~phi * ~H + armature;
  EXPECT_TRUE(is_near(system(mass).dense(), DenseReference(coupled.model, both.q).mass(), 1e-12));
  EXPECT_TRUE(is_near(system(inv(mass)).dense(), dynamics.inverse_mass_matrix(), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(~B * Omega * B).dense(), dynamics.operational_space_inverse(both.nodes), 1e-12 * worse));
  EXPECT_TRUE(is_near(system(T).dense(), dynamics.inverse(both.a), 1e-11));
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

TEST_P(EvaluationWithCouplings, WhatIsNotBlockDiagonalIsRefused) {
  for (const char* const name : {"P", "G", "tau", "taub", "Upsilon"}) {
    const std::string said = message_of([&] { static_cast<void>(both.system.literal(parse(name))); });
    const auto bodies = coupled.model.bodies();
    const auto follower = std::find_if(bodies.begin(), bodies.end(), [](const Body& b) { return b.leader != world; });
    EXPECT_THAT(said, AllOf(HasSubstr(name), HasSubstr("'" + follower->hinge.name + "'"),
                            HasSubstr("'" + bodies[static_cast<std::size_t>(follower->leader)].hinge.name + "'")));
    EXPECT_THAT(message_of([&] { static_cast<void>(both.system(parse(name))); }), HasSubstr(name));
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, EvaluationWithCouplings,
                         testing::Combine(testing::Range(0, static_cast<int>(coupled_models(false).size())),
                                          testing::Bool()));

TEST(Evaluation, ForwardDynamics) {  // one search for each kind of model
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
      found.emplace_back(conditions, both.system(forward).expression());
      best = found.end() - 1;
    }
    Dynamics dynamics(models[i], PassiveForces::left_out);
    dynamics.set_state(both.q, both.v);
    const VectorXd torque = both.random.vector(models[i].nv());
    both.system.set_torques(numbers(torque));
    const double worse = 1 + 1e-3 * condition(dynamics.mass_matrix());
    EXPECT_TRUE(is_near(both.system.literal(best->second).dense(), dynamics.forward(torque), 1e-11 * worse))
        << to_ascii(best->second);
  }
  EXPECT_EQ(found.size(), 4);
}

// ---------------------------------------------------------------------------------------------------------------------
// States, values, sizes

TEST(Evaluation, FollowsTheState) {
  SystemAndDense first(small_model(), 5);
  SystemAndDense second(small_model(), 6);
  const Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::number);
  for (const char* const text : {"phi", "H*phi*M*~phi*~H", "inv(H*phi*M*~phi*~H)", "psi*P", "Upsilon", "R", "V", "T",
                                 "inv(D)*H*psi", "~B*Omega*B", "dense_inv(phi)", "sqrt(D)", "cross(V)", "x + V"}) {
    SCOPED_TRACE(text);
    first.system.bind_random(x, 1);
    second.system.bind_random(x, 2);
    Evaluation evaluation = first.system(parse(text, {x}));
    const MatrixXd before = evaluation.dense();
    first.system.set_state(numbers(second.q), numbers(second.v));
    first.system.set_accelerations(numbers(second.a));
    first.system.set_nodes(second.nodes);
    first.system.bind_random(x, 2);
    const MatrixXd after = evaluation.dense();
    EXPECT_TRUE(is_near(after, second.system(parse(text, {x})).dense(), 1e-14));
    EXPECT_GT((after - before).norm(), 1e-3);
    first.system.set_state(numbers(first.q), numbers(first.v));
    first.system.set_accelerations(numbers(first.a));
    first.system.set_nodes(first.nodes);
    first.system.bind_random(x, 1);
    EXPECT_EQ(evaluation.dense(), before);
  }
}

TEST(Evaluation, OtherNodesThanWhenItWasMade) {
  SystemAndDense both(small_model(), 5);
  Evaluation evaluation = both.system(parse("~B*Omega*B"));
  Evaluation gathers = both.system(parse("B"));
  EXPECT_EQ(evaluation.rows(), 18);
  both.nodes.push_back({"n3", 1, both.random.transform()});
  both.system.set_nodes(both.nodes);
  // either it has the size of the new nodes, or it says that it cannot go on
  const DenseSystem dense = both.dense();
  for (auto& [each, text] : {std::pair{&evaluation, "~B*Omega*B"}, std::pair{&gathers, "B"}}) {
    try {
      EXPECT_TRUE(is_near(each->dense(), dense(parse(text)), 1e-10));
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("node"));
    }
  }
}

TEST(Evaluation, CopiesOfASystemShareItsState) {
  SystemAndDense both(small_model(), 5);
  System copy = both.system;
  const VectorXd v = VectorXd::Zero(both.model.nv());
  copy.set_state(numbers(both.q), numbers(v));
  EXPECT_EQ(both.system(parse("thetad")).dense().norm(), 0);
}

TEST(Evaluation, ValuesThatAreMissing) {
  const Model model = small_model();
  System system(model);
  EXPECT_THAT(message_of([&] { system(parse("B*~B")).dense(); }), AllOf(HasSubstr("B"), HasSubstr("set_nodes")));
  for (const char* const text : {"thetadd", "alpha", "f", "T"}) {
    EXPECT_THAT(message_of([&] { system(parse(text)).dense(); }), HasSubstr("set_accelerations")) << text;
  }
  EXPECT_NO_THROW(system(parse("V")).dense());
  EXPECT_NO_THROW(system(parse("a")).dense());
  const Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::number);
  EXPECT_THAT(message_of([&] { system(parse("phi*x", {x})).dense(); }),
              AllOf(HasSubstr("'x' has no values"), HasSubstr("bind")));
  EXPECT_THAT(message_of([&] { system(parse("unit(6)")).dense(); }), HasSubstr("the model has 6 velocities"));
  EXPECT_THAT(message_of([&] { system(parse("phi[b7, 1]")).dense(); }), HasSubstr("there is no body 'b7'"));
  EXPECT_THAT(message_of([&] { system(parse("phi[1, 4]")).dense(); }), HasSubstr("a number from 0 to 3"));
  EXPECT_THAT(message_of([&] { system(parse("V[world]")).dense(); }), HasSubstr("there is no body 'world'"));
  EXPECT_THAT(message_of([&] { system(Operator::identity()).dense(); }), HasSubstr("space"));
  EXPECT_THAT(message_of([&] { system.literal(Operator::identity()).dense(); }), HasSubstr("space"));
  EXPECT_THAT(message_of([&] { system(parse("inv(S - S + M - M)")).dense(); }), HasSubstr("inverse"));
  EXPECT_THAT(message_of([&] { system.literal(parse("dense_inv(E_phi)")).dense(); }), HasSubstr("singular"));
  EXPECT_THAT(message_of([&] { system.literal(parse("inv(~H*H)")).dense(); }),
              AllOf(HasSubstr("~H*H"), HasSubstr("'b0'"), HasSubstr("singular")));
  EXPECT_THAT(message_of([&] { system.literal(parse("sqrt(M - 2*R)")).dense(); }), HasSubstr("negative eigenvalue"));
  EXPECT_THAT(message_of([&] { system.literal(parse("sqrt(Delta_phi)")).dense(); }), HasSubstr("not symmetric"));
}

TEST(Evaluation, WrongArguments) {
  const Model model = small_model();
  System system(model);
  std::vector<double> x(24);
  std::vector<double> y(24);
  Evaluation phi = system(parse("phi"));
  EXPECT_NO_THROW(phi.apply(x, y));
  EXPECT_THROW(phi.apply(std::span(x).first(23), y), ArgumentError);
  EXPECT_THROW(phi.apply(x, std::span(y).first(23)), ArgumentError);
  x[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(phi.apply(x, y), ArgumentError);
  EXPECT_THROW(phi.dense(std::span(y)), ArgumentError);
  const std::vector<double> six(6);
  const std::vector<double> five(5);
  std::vector<double> q(static_cast<std::size_t>(model.nq()));
  EXPECT_THROW(system.set_state(five, six), ArgumentError);
  EXPECT_THROW(system.set_state(q, six), ArgumentError) << "not a quaternion";
  EXPECT_THROW(system.set_accelerations(five), ArgumentError);
  EXPECT_THROW(system.set_torques(five), ArgumentError);
  EXPECT_THROW(system.set_nodes(std::vector<Node>{{"n", 4, {}}}), ArgumentError);
  EXPECT_THROW(system.set_nodes(std::vector<std::string>{"b0", "nobody"}), ArgumentError);
  EXPECT_THROW(system.bind(parse("phi"), six), ArgumentError);
  EXPECT_THROW(system.bind_random(parse("phi"), 1), ArgumentError);
  const Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
  EXPECT_THROW(system.bind(u, five), ArgumentError);
  const std::vector<double> bad(6, std::numeric_limits<double>::infinity());
  EXPECT_THROW(system.bind(u, bad), ArgumentError);
  // the state stays as it was
  const VectorXd before = system(parse("phi")).dense().reshaped();
  EXPECT_THROW(system.set_state(q, six), ArgumentError);
  EXPECT_EQ(VectorXd(phi.dense().reshaped()), before);
}

TEST(Evaluation, NodesByName) {
  ModelBuilder builder = edit(small_model());
  builder.add(NodeSpec{.name = "tool", .body = "b3", .X_BN = Transform<double>::translate({1, 2, 3})});
  const Model model = builder.build();
  System system(model);
  system.set_nodes(std::vector<std::string>{"tool", "b1"});
  const MatrixXd B = system(parse("B")).dense();
  MatrixXd expected = MatrixXd::Zero(24, 12);
  expected.block<6, 6>(18, 0) = DenseBlocks::force_matrix(to_eigen(Transform<double>::translate({1, 2, 3})));
  expected.block<6, 6>(6, 6).setIdentity();
  EXPECT_TRUE(is_near(B, expected, 1e-15));
  EXPECT_TRUE(is_near(system(parse("B[b3, tool]")).dense(), expected.block(18, 0, 6, 6), 1e-15));
}

TEST(Evaluation, AllocatesNothing) {
  for (const bool coupled : {false, true}) {
    SystemAndDense both(coupled ? coupled_models(true)[9].model : small_model(), 4);
    const Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
    both.system.bind_random(u, 1);
    for (const char* const text : {"H*phi*M*~phi*~H + armature", "inv(H*phi*M*~phi*~H + armature)",
                                   "H*phi*(M*~phi*(~H*thetadd + a) + b)", "~B*Omega*B", "sqrt(D)*u", "cross(V)*phi",
                                   "dense_inv(phi)", "phi[0, 1]*(phi[1, 1] + M[1, 1])", "V*~V*phi*V*~u"}) {
      Evaluation evaluation = both.system(parse(text, {u}));
      const VectorXd x = both.random.vector(evaluation.cols());
      VectorXd y(evaluation.rows());
      const std::span<double> out(y.data(), static_cast<std::size_t>(y.size()));
      evaluation.apply(numbers(x), out);
      const VectorXd once = y;
      const std::size_t before = allocations();
      evaluation.apply(numbers(x), out);
      EXPECT_EQ(allocations(), before) << text;
      EXPECT_EQ(y, once) << text;
    }
  }
}

TEST(Evaluation, LongChains) {
  using namespace soa;
  Random random(8);
  constexpr int n = 100'000;
  const Model model = random_chain(n, random);
  System system(model);
  const VectorXd q = random_configuration(model, 1);
  const VectorXd v = 1e-3 * random.vector(n);
  system.set_state(numbers(q), numbers(v));
  Dynamics dynamics(model, PassiveForces::left_out);
  dynamics.set_state(q, v);
  const VectorXd x = random.vector(n);
  const Operator mass = H * phi * M * ~phi * ~H;
  const VectorXd y = system(inv(mass)) * x;
  EXPECT_TRUE(is_near(y, dynamics.solve(x), 1e-9));
  const VectorXd torque = random.vector(n);
  system.set_torques(numbers(torque));
  const VectorXd moved = system(mass) * x;
  Dynamics still(edit(model).set_gravity({}).build(), PassiveForces::left_out);
  still.set_state(q, VectorXd::Zero(n));
  EXPECT_TRUE(is_near(moved, still.inverse(x), 1e-9));
  EXPECT_TRUE(is_near(VectorXd(system(mass * thetad).dense()), still.inverse(v), 1e-9));
}

TEST(Evaluation, WithoutHinges) {
  ModelBuilder builder("fixed");
  Random random(2);
  BodySpec body{.name = "b0", .inertia = random.inertia()};
  body.hinge.type = HingeType::fixed;
  builder.add(body);
  System system(builder.build());
  EXPECT_EQ(system(parse("H*phi*M*~phi*~H")).dense().size(), 0);
  EXPECT_EQ(system(parse("inv(H*phi*M*~phi*~H)")).dense().size(), 0);
  EXPECT_EQ(system(parse("phi")).dense(), MatrixXd::Identity(6, 6));
  EXPECT_EQ(system(parse("~thetad*thetad + 2")).dense()(0, 0), 2);
  EXPECT_EQ(system(parse("3")).dense()(0, 0), 3);
}

}  // namespace
}  // namespace bunraku::test
