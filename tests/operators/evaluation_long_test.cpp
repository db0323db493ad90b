/// Trees of more links than are taken at a time: what one step hands to another goes from range to range of them.
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"
#include "bunraku/operators/system.hpp"
#include "operators/dense_system.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Long branches that begin all over the tree, most hinges of one velocity, all other types and rotors among them.
Model long_tree(int n) {
  Random random(31);
  ModelBuilder builder("long");
  for (int i = 0; i < n; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    const int parent = i % 7 == 3 ? random.integer(-1, i - 1) : i % 3 == 1 ? i - 2 : i - 1;
    body.parent = parent < 0 ? std::string(world_name) : "b" + std::to_string(parent);
    const auto type = static_cast<std::size_t>(random.integer(0, static_cast<int>(all_hinge_types.size()) - 1));
    body.hinge = random_hinge(i % 4 == 0 ? all_hinge_types[type] : HingeType::revolute, random);
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = i % 5 == 0 ? random.uniform(0.1, 0.5) : 0;
    }
    body.X_PF = {random.rotation(), random.vec3(0.3)};
    body.X_MB = {random.rotation(), random.vec3(0.1)};
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

constexpr int bodies = 160;

/// Nodes on all ranges of links, on the world and two on one body, in no order.
SystemAndDense with_nodes() {
  SystemAndDense out(long_tree(bodies), 3);
  out.nodes.clear();
  for (const int body : {70, bodies - 1, world, 0, 130, 63, bodies - 2, 64, 70}) {
    out.nodes.push_back({"n" + std::to_string(out.nodes.size()), body, out.random.transform()});
  }
  out.system.set_nodes(out.nodes);
  return out;
}

class LongTree : public testing::Test {
 protected:
  LongTree() {
    for (const Operator& each : variables) {
      bind(each);
    }
  }

  /// Random values of the blocks of all bodies or nodes, for both.
  void bind(const Operator& variable) {
    const bool of_nodes = variable.range().kind == SpaceKind::node || variable.domain().kind == SpaceKind::node;
    const int owners = of_nodes ? static_cast<int>(both.nodes.size()) : dense.N;
    MatrixXd matrix = MatrixXd::Zero(dense.dimension(variable.range()), dense.dimension(variable.domain()));
    std::vector<double> values;
    for (int k = 0; k < owners; ++k) {
      const auto place = [&](SpaceKind kind) {
        return kind == SpaceKind::number ? std::pair{0, 1} : dense.place({kind, std::to_string(k)});
      };
      const auto [row, rows] = place(variable.range().kind);
      const auto [column, columns] = place(variable.domain().kind);
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) {
          values.push_back(both.random.uniform());
          matrix(row + i, column + j) = values.back();
        }
      }
    }
    both.system.bind(variable, values);
    dense.bind(variable, matrix);
  }

  /// Of two vectors the first is taken from a new state, the second at the same.
  void expect_dense(const char* text, double tolerance) {
    SCOPED_TRACE(text);
    const Operator of = parse(text, variables);
    const MatrixXd in = MatrixXd::NullaryExpr(dense.dimension(of.domain()), 2, [&] { return both.random.uniform(); });
    const MatrixXd expected = dense.times(of, in);
    const double scale = expected.cwiseAbs().maxCoeff();
    ASSERT_GT(scale, 1e-3);
    EXPECT_TRUE(is_near(both.system.literal(of) * in / scale, expected / scale, tolerance)) << "as written";
    Evaluation best = both.system(of);
    EXPECT_TRUE(is_near(best * in / scale, expected / scale, tolerance)) << "as " << to_ascii(best.expression());
  }

  SystemAndDense both = with_nodes();
  DenseSystem dense = both.dense();
  Operator x = Operator::variable("x", SpaceKind::body, SpaceKind::number);
  Operator u = Operator::variable("u", SpaceKind::hinge, SpaceKind::number);
  Operator g = Operator::variable("g", SpaceKind::node, SpaceKind::number);
  Operator W = Operator::variable("W", SpaceKind::body, SpaceKind::body);
  Operator L = Operator::variable("L", SpaceKind::hinge, SpaceKind::body);
  Operator C = Operator::variable("C", SpaceKind::node, SpaceKind::node);
  Variables variables{x, u, g, W, L, C};
};

TEST_F(LongTree, Expressions) {
  for (const operators::Fold fold : {operators::Fold::bodies, operators::Fold::links}) {
    ASSERT_GT(operators::Folded(both.model, fold).links.size(), 2 * operators::links_at_a_time);
  }
  for (const char* const text : {
           // inward and outward, one within the other
           "H*phi*M*~phi*~H + armature",
           "phi*M*~phi + psi*P - ~psi*M",
           "phi*psi*E_phi*phi*K*H",
           "~phi*~psi*~E_phi*~phi*~H*~K",
           "~S*~Delta_phi*~phi + S*Delta_phi*phi*W",
           "H*psi*K - ~K*~psi*~H",
           "(I - H*psi*K)*(L*~phi*~H + 0.5*D)",
           "G*~G + tau*W*taub",
           // nodes
           "~B*~phi*~H",
           "H*phi*B*C*~B*~phi*~H",
           "C*~B*~phi*(M*phi*B - 2*W*B*C) + 3*C",
           "~B*psi*M*~psi*B + ~C - I",
           // sums, multiples, dyads and scalar products
           "2*phi*M - 3*M*~phi + 0.5*P*W + W",
           "phi*x*~x*~phi + V*~b",
           "~u*(H*phi*x) + ~g*~B*~phi*V - 2*~x*W*x",
           "V*(~g*~B*V + ~u*u) + phi*x*(~thetad*D*u)",
           "B*g*~u*L",
           "~(phi*x + W*V)",
           "g + ~B*~phi*(x - 2*B*g)",
           "u - H*phi*x + ~K*~phi*V",
           // blocks
           "gather(E_phi, W)*phi + phi*spread(E_phi, W)",
           "~spread(S, W)*V + gather(S, M + B*~B)*x",
           "gather(E_psi, M)*~phi*~H",
           "R*~phi - phi*R",
           "cross(~phi*x)*phi + phi*~cross(V)",
           "sqrt(M)*~phi*~H*u + phi*x",
           "phi*inv(I + 0.1*cross(V))*W",
           "H*phi*B*~B*~psi_{M + B*~B, 2*armature}",
           // bodies of other ranges
           "phi[5, 150]*M[150, 150]*V[150]",
           "~psi[125, 131]*(V[125] - x[125])",
           "V*(~V[70]*M[70, 70]*V[70] + ~g[n4]*g[n4])",
           "(H*phi*M*~phi*~H)[151, 61]",
           "(~B*~phi*~H)[n1, 97]",
       }) {
    expect_dense(text, 1e-11);
  }
}

TEST_F(LongTree, Dynamics) {
  for (const char* const text : {"inv(H*phi*M*~phi*~H + armature)", "inv(H*phi*(M + B*~B)*~phi*~H + armature)"}) {
    SCOPED_TRACE(text);
    const Operator inverse = parse(text);
    const MatrixXd in = both.random.vector(2 * dense.nv).reshaped(dense.nv, 2);
    const MatrixXd out = both.system(inverse) * in;
    const MatrixXd back = dense.times(inverse.term().parts[0], out);
    const double scale = out.cwiseAbs().maxCoeff() * dense.mass.cwiseAbs().maxCoeff();
    EXPECT_TRUE(is_near(back / scale, in / scale, 1e-13));
  }
  for (const Symbol symbol : {Symbol::a, Symbol::alpha, Symbol::f, Symbol::T}) {
    const MatrixXd& expected = dense.get(symbol);
    const double scale = expected.cwiseAbs().maxCoeff();
    EXPECT_TRUE(is_near(both.system(symbol).dense() / scale, expected / scale, 1e-8)) << info(symbol).ascii;
  }
}

}  // namespace
}  // namespace bunraku::test
