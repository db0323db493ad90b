/// Closure space: RJK89's steps A–F as expressions, against dense matrices that know nothing of them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <Eigen/LU>
#include <Eigen/QR>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/operators/language/definitions.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/verify.hpp"
#include "operators/closed_system.hpp"

namespace bunraku::test {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using testing::HasSubstr;

const std::string Y = "(A*~B*~phi*~H + A_h)";
const std::string W = "(I - H*psi*K)";
const std::string M_inverse = "inv(H*phi*M*~phi*~H + armature)";
const std::string e = "(H*psi*B*~A + (I - H*psi*K)*~A_h)";
const std::string T_hat = "(T - H*phi*(M*~phi*a + b))";

/// A closed system with the operators' beside it.
struct Closed : ClosedSystem {
  Closed(const ClosedKind& kind, unsigned seed)
      : ClosedSystem(kind, seed), system(model, q, v, PassiveForces::left_out) {
    system.set_torques(T);
  }
  Matrix operator()(const std::string& text, const Variables& variables = {}) const {
    return system(parse(text, variables)).dense();
  }
  System system;
};

std::vector<ClosedKind> all_kinds() {
  return {{},
          {.bodies = 8, .branching = 0},
          {.branching = 0.8, .closures = 3},
          {.armature = true},
          {.mimics = true},
          {.armature = true, .mimics = true, .coupling = true},
          {.to_world = true},
          {.coupling = true},
          {.to_world = true, .coupling = true, .closures = 1},
          {.general = true},
          {.armature = true, .to_world = true, .general = true, .closures = 1},
          {.doubled = true},
          {.mimics = true, .coupling = true, .doubled = true}};
}

/// Every kind several times; near singularities, where numbers are lost whatever the formula, none.
void for_each_closed(const std::function<void(Closed&)>& f) {
  unsigned seed = 1;
  int done = 0;
  for (const ClosedKind& kind : all_kinds()) {
    for (int sample = 0; sample < 4; ++sample) {
      Closed each(kind, seed++);
      if (each.weakest > 0.01 && each.rank < each.model.nv()) {
        SCOPED_TRACE(testing::Message() << "seed " << seed - 1);
        f(each);
        ++done;
      }
    }
  }
  EXPECT_GE(done, 25);
}

double size_of(const Matrix& x) {
  return x.size() == 0 ? 0 : x.cwiseAbs().maxCoeff();
}
void expect_same(const Matrix& left, const Matrix& right, double tolerance = 1e-10, double size = 0) {
  ASSERT_EQ(left.rows(), right.rows());
  ASSERT_EQ(left.cols(), right.cols());
  const double largest = std::max({size, size_of(left), size_of(right), 1e-300});
  EXPECT_LT(size_of(left - right) / largest, tolerance);
}

TEST(Closures, RowsAreThoseOfTheirNodes) {
  for_each_closed([](Closed& each) {
    expect_same(each(Y), each.Y, 1e-12);
    expect_same(each("~" + Y), each.Y.transpose(), 1e-12);
    EXPECT_LT(size_of(each(Y + "*thetad")), 1e-12 * size_of(each.Y)) << "on the manifold";
    EXPECT_LT(size_of(each("A*~B*V + A_h*thetad")), 1e-12 * size_of(each.Y));
  });
}

TEST(Closures, AskForAccelerations) {
  for_each_closed([](Closed& each) {
    expect_same(each("U"), each.U, 1e-10, 1);
    expect_same(each(Y) * each.acceleration, each("U"), 1e-10, 1);
    each.system.set_accelerations(each.acceleration);
    expect_same(each("A*(~B*alpha + a_n) + A_h*thetadd - A*(~B*~phi*a + a_n)"), each("U"), 1e-10, 1);
  });
}

TEST(Closures, StepsAToF) {
  for_each_closed([](Closed& each) {
    System& system = each.system;
    const Vector free = each("~" + W + "*inv(D)*" + W + "*" + T_hat);  // A
    expect_same(free, each.mass.ldlt().solve(each.T - each.bias));
    const Vector B = each("~" + e + "*inv(D)*" + W + "*" + T_hat);
    expect_same(B, each.Y * free, 1e-10, size_of(free) * size_of(each.Y));
    const Matrix C = each("~" + e + "*inv(D)*" + e);
    expect_same(C, each.Y * each.mass.ldlt().solve(each.Y.transpose()));
    const Operator f = Operator::variable("ft", SpaceKind::closure, SpaceKind::number);
    const Vector D = system(parse("inv(~" + e + "*inv(D)*" + e + ")")) * Matrix(B - Vector(each("U")));
    system.bind(f, D);
    const Vector E = each("-~" + W + "*inv(D)*" + e + "*ft", {f});
    expect_same(each.Y.transpose() * D, each.reaction);
    expect_same(free + E, each.acceleration);  // F
    const std::string whole = "~" + W + "*inv(D)*(" + W + "*" + T_hat + " - " + e + "*inv(~" + e + "*inv(D)*" + e +
                              ")*(~" + e + "*inv(D)*" + W + "*" + T_hat + " - U))";
    expect_same(each(whole), each.acceleration);
    const std::string compact =
        "~" + W + "*inv(sqrt(D))*((I - b_*inv(~b_*b_)*~b_)*inv(sqrt(D))*" + W + "*" + T_hat + " + b_*inv(~b_*b_)*U)";
    std::string text = compact;  // (3.13) with the U that it lacks
    for (std::size_t at = 0; (at = text.find("b_")) != std::string::npos;) {
      text.replace(at, 2, "(inv(sqrt(D))*" + e + ")");
    }
    expect_same(each(text), each.acceleration);
  });
}

TEST(Closures, KktSolutionBecomesTheSteps) {
  const std::string text = M_inverse + "*(" + T_hat + " - ~" + Y + "*inv(" + Y + "*" + M_inverse + "*~" + Y + ")*(" +
                           Y + "*" + M_inverse + "*" + T_hat + " - U))";
  for_each_closed([&](Closed& each) {
    expect_same(each(text), each.acceleration);
    expect_same(each.system.literal(parse(text)).dense(), each.acceleration, 1e-8);
    expect_same(each("M_C*" + T_hat), each("M_C") * (each.T - each.bias));
  });
}

TEST(Closures, ClosedInverse) {
  for_each_closed([](Closed& each) {
    const Matrix found = each("M_C");
    const Matrix inverse = each.mass.inverse();
    const Matrix square = each.Y * inverse * each.Y.transpose();
    const Matrix reference = inverse - inverse * each.Y.transpose() *
                                           square.completeOrthogonalDecomposition().pseudoInverse() * each.Y * inverse;
    expect_same(found, found.transpose(), 1e-11, size_of(inverse));
    EXPECT_LT(size_of(each.Y * found), 1e-10 * size_of(each.Y) * size_of(inverse));
    EXPECT_LT(size_of(each(Y + "*M_C")), 1e-10 * size_of(each.Y) * size_of(inverse));
    expect_same(found, reference, 1e-8, size_of(inverse));
    expect_same(each.system.literal(parse("M_C")).dense(), found, 1e-9, size_of(inverse));
  });
}

TEST(Closures, ProgramsAndBatches) {
  const Closed each({.to_world = true, .coupling = true}, 26);
  const Program program(each.model, parse("M_C"));
  const Matrix expected = each("M_C");
  State state(each.model);
  state.set(each.q, each.v);
  expect_same(program(state, Matrix::Identity(each.model.nv(), each.model.nv())), expected, 1e-13);
  BasicState<float> single(each.model);
  single.set(Eigen::VectorXf(each.q.cast<float>()), Eigen::VectorXf(each.v.cast<float>()));
  expect_same(
      program(single, Eigen::MatrixXf(Eigen::MatrixXf::Identity(each.model.nv(), each.model.nv()))).cast<double>(),
      expected, 2e-3, size_of(each.mass.inverse()));
  EXPECT_THAT(to_string(program.plan()), HasSubstr("a solve of closure size m"));
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMatrix q = each.q.transpose().replicate(3, 1);
  const RowMatrix v = each.v.transpose().replicate(3, 1);
  const RowMatrix x = each.T.transpose().replicate(3, 1);
  RowMatrix out(3, each.model.nv());
  Batch batch(each.model);
  batch.apply(program, q, v, x, out).or_throw();
  expect_same(out.row(2).transpose(), expected * each.T, 1e-12);
}

TEST(Closures, NodesAreTheirOwnAndThenTheGivenOnes) {
  Closed each({}, 2);
  const Matrix own = each("~B*~phi*~H");
  EXPECT_EQ(own.rows(), 24) << "two closures of two nodes";
  State state(each.model);
  state.set(each.q, each.v);
  expect_same(own.topRows(6), jacobian(state, each.model.closures()[0].a, Frame::node), 1e-13);
  const std::string inertia = "~B*~phi*~H*M_C*H*phi*B";
  const Matrix before = each(inertia);
  each.system.set_nodes(std::vector<std::string>{"b3"});
  EXPECT_EQ(each("~B*~phi*~H").rows(), 6) << "without closures in it";
  Evaluation both = each.system(parse(inertia));
  EXPECT_EQ(both.rows(), 30);
  EXPECT_EQ(both.nodes().back().name, "b3");
  const Matrix after = both.dense();
  expect_same(after.topLeftCorner(24, 24), before, 1e-12);
  const Matrix J = jacobian(state, "b3", Frame::node);
  expect_same(after.bottomRightCorner(6, 6), J * each("M_C") * J.transpose(), 1e-12);
  expect_same(each(Y), each.Y, 1e-12);
  const Operator g = Operator::variable("g", SpaceKind::node, SpaceKind::number);
  const Vector force = Vector::LinSpaced(6, -1, 2);
  each.system.bind(g, force);
  expect_same(each("M_C*H*phi*B*g", {g}), each("M_C") * J.transpose() * force, 1e-11);
  const Closure& first = each.model.closures()[0];
  EXPECT_EQ(each(Y + "[" + first.name + ", 1]").rows(), closure_rows(first));
  EXPECT_EQ(each.system(parse("A")).block(1, 2).size(),
            6U * static_cast<unsigned>(closure_rows(each.model.closures()[1])));
}

TEST(Closures, ExplainedAsTheSteps) {
  const Operator given = Operator::variable("Th", SpaceKind::hinge, SpaceKind::number);
  const std::string mass = "inv(H*phi*M*~phi*~H)";
  const std::string J = "A*~B*~phi*~H";
  const Operator x = parse(
      mass + "*(Th - ~(" + J + ")*inv(" + J + "*" + mass + "*H*phi*B*~A)*(" + J + "*" + mass + "*Th - U))", {given});
  const Derivation found = derive(x);
  const std::string text = to_string(found);
  for (const char* const each : {"innovations factorization", "causal inverse", "closing the loop", "definition of Ω",
                                 "where A*~B*Omega*B*~A is invertible; where it is not, least squares"}) {
    EXPECT_THAT(text, HasSubstr(each));
  }
  const std::string result = to_ascii(found.result);
  EXPECT_THAT(result, HasSubstr("inv(A*~B*Omega*B*~A)"));
  EXPECT_THAT(result, HasSubstr("psi"));
  EXPECT_THAT(result, testing::Not(HasSubstr("phi")));
  EXPECT_EQ(simplify(parse("(I - H*psi*K)*H*phi")), parse("H*psi"));
  // what is equal by algebra and the rules, and what needs full rank
  EXPECT_TRUE(prove(x, parse("M_C*Th + ~(I - H*psi*K)*inv(D)*H*psi*B*~A*inv(A*~B*Omega*B*~A)*U", {given})));
  EXPECT_TRUE(prove(parse("inv(A*~A)*A*~A*U"), parse("U"))) << "taken to be invertible";
  EXPECT_FALSE(simplify(parse("inv(A*~A)*A*~A*U")) == parse("U"));
  EXPECT_EQ(simplify(parse("A_h*thetad"), Conditions{.tied = true}), parse("A_h*thetad"));
}

TEST(Closures, AreVerified) {
  const auto holds = [](const std::string& left, const std::string& right, const VerifyOptions& options = {}) {
    const Verdict verdict = verify(parse(left), parse(right), options);
    EXPECT_TRUE(verdict.holds) << left << ": " << verdict.counterexample;
    return verdict;
  };
  EXPECT_TRUE(holds(Y + "*M_C", "0*A_h").proof);
  EXPECT_TRUE(holds("M_C", "~M_C").proof);
  holds("M_C*(H*phi*M*~phi*~H)*M_C", "M_C");
  holds("M_C*(H*phi*M*~phi*~H + armature)*M_C", "M_C", {.couplings = true});
  holds(Y + "*thetad", "0*U");
  holds(Y + "*thetadd", "U");
  holds("A*~B*V + A_h*thetad", "0*U");
  EXPECT_FALSE(verify(parse("A_h*M_C*H*phi*B*~A"), parse("A_h*~(I - H*psi*K)*inv(D)*H*psi*B*~A")).holds);
  EXPECT_FALSE(verify(parse("M_C"), parse("inv(H*phi*M*~phi*~H)")).holds);
}

TEST(Closures, IdentitiesOfTheTable) {
  int seen = 0;
  for (const Identity& each : identities()) {
    const auto names = [](const Operator& x) {
      return x.term().type == TermType::symbol && is_of_closures(x.term().symbol);
    };
    if (!operators::any_in(each.left, names)) {
      continue;
    }
    ++seen;
    for (const bool tied : {false, true}) {
      const Closed closed({.armature = true, .coupling = tied}, 14);
      const double difference =
          size_of(closed.system.literal(each.left).dense() - closed.system.literal(each.right).dense());
      if (each.without_ties && tied) {
        EXPECT_GT(difference, 0.1) << each.name;
      } else {
        EXPECT_LT(difference, 1e-11) << each.name;
      }
    }
  }
  EXPECT_EQ(seen, 2);
}

TEST(Closures, VectorsOfYourOwn) {
  const Closed each({.coupling = true}, 14);
  const Operator push = define("push", SpaceKind::closure, SpaceKind::number,
                               [](const BlockPlace& at, std::span<double> block) { block[0] = 1 + at.owner; });
  const Vector found = each.system(parse("~" + Y + "*push", {push})).dense();
  Vector expected = Vector::Zero(each.Y.rows());
  int row = 0;
  for (std::size_t i = 0; i < each.model.closures().size(); ++i) {
    expected[row] = 1 + static_cast<double>(i);
    row += closure_rows(each.model.closures()[i]);
  }
  expect_same(found, each.Y.transpose() * expected, 1e-12);
  EXPECT_THROW(Operator::variable("x", SpaceKind::closure, SpaceKind::body), OperatorError);
  EXPECT_THROW(Operator::variable("x", SpaceKind::hinge, SpaceKind::closure), OperatorError);
  const Operator soft =
      define("soft", SpaceKind::closure, SpaceKind::closure, [](const BlockPlace&, std::span<double> block) {
        const auto n = static_cast<std::size_t>(std::sqrt(static_cast<double>(block.size())));
        for (std::size_t i = 0; i < n; ++i) block[i * n + i] = 0.01;
      });
  const Matrix square = each("~" + e + "*inv(D)*" + e);
  expect_same(each("inv(~" + e + "*inv(D)*" + e + " + soft)", {soft}),
              (square + 0.01 * Matrix::Identity(square.rows(), square.cols())).inverse(), 1e-10);
}

TEST(Closures, TextAndErrors) {
  for (const char* const text :
       {"A*~B*~phi*~H + A_h", "inv(A*~B*Omega*B*~A)", "M_C*H*phi*B*~A*U", "A*(~B*alpha + a_n)"}) {
    const Operator x = parse(text);
    EXPECT_EQ(parse(to_ascii(x)), x);
    EXPECT_EQ(parse(to_unicode(x)), x);
    EXPECT_EQ(parse(to_latex(x)), x);
  }
  EXPECT_EQ(to_string(parse("A").range()), "closure space");
  EXPECT_EQ(parse("A").kind(), Kind::general) << "it couples two nodes";
  EXPECT_EQ(~parse("M_C"), parse("M_C"));
  const Operator own = Operator::variable("A", SpaceKind::body, SpaceKind::body);
  EXPECT_EQ(parse("A*phi", {own}), own * Operator(Symbol::phi)) << "a variable hides the symbol";
  EXPECT_FALSE(is_free_name("A"));
  EXPECT_TRUE(may_name_variable("A"));
  EXPECT_FALSE(may_name_variable("phi"));
  EXPECT_THROW(parse("A*phi"), OperatorError);
  EXPECT_THROW(inv(parse("A")), OperatorError);
  const System open(random_model({}, 1));
  for (const char* const text : {"A", "A_h", "U", "M_C"}) {
    try {
      static_cast<void>(open(parse(text)));
      ADD_FAILURE() << text;
    } catch (const OperatorError& error) {
      EXPECT_THAT(error.what(), HasSubstr("has no closures"));
    }
  }
}

}  // namespace
}  // namespace bunraku::test
