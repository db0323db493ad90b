/// What expressions evaluate to, as written and as simplified, against dense matrices.
#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "operators/dense_system.hpp"
#include "operators/random_expression.hpp"
#include "operators/small_model.hpp"
#include "support/coupled_models.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using detail::as_span;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class EvaluationOfExpressions : public testing::Test {
 protected:
  EvaluationOfExpressions() {
    for (const Operator& each : variables) {
      VectorXd values = both.random.vector(count(each));
      both.system.bind(each, as_span(values));
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
    both.system.bind(each, as_span(values));
    EXPECT_EQ(both.system.literal(each).dense(), values) << to_ascii(each);
  }
  SystemAndDense coupled(coupled_models(false)[6].model, 2);  // whose clusters are not in order
  for (const Operator& each : {x, u, g}) {
    const VectorXd values = coupled.random.vector(coupled.dense().dimension(each.range()));
    coupled.system.bind(each, as_span(values));
    EXPECT_EQ(coupled.system.literal(each).dense(), values) << to_ascii(each);
  }
}

TEST_F(EvaluationOfExpressions, OperatorsOnNodesAreBoundNodeByNode) {
  const Operator C = Operator::variable("C", SpaceKind::node, SpaceKind::node);
  std::vector<Node> twice = both.nodes;
  twice[2].body = twice[0].body;  // two on one body
  both.system.set_nodes(twice);
  const VectorXd values = both.random.vector(36 * 3);
  both.system.bind(C, as_span(values));
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

}  // namespace
}  // namespace bunraku::test
