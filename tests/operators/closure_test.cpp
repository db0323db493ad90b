/// Closure space: RJK89's steps A–F as expressions, against dense matrices that know nothing of them.
#include <algorithm>
#include <string>
#include <vector>

#include <Eigen/LU>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/operators/language/definitions.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/verify.hpp"
#include "operators/closed_system.hpp"
#include "operators/dense_system.hpp"

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
  /// A column of zeros where closures ask for nothing, compared with what it is made of.
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
    expect_same(each("U"), each.U, 1e-9, 1);
    expect_same(each(Y) * each.acceleration, each("U"), 1e-9, 1);
    each.system.set_accelerations(each.acceleration);
    expect_same(each("A*(~B*alpha + a_n) + A_h*thetadd - A*(~B*~phi*a + a_n)"), each("U"), 1e-9, 1);
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
    expect_same(each.Y.transpose() * D, each.reaction, 1e-9);
    expect_same(free + E, each.acceleration, 1e-9);  // F
    const std::string whole = "~" + W + "*inv(D)*(" + W + "*" + T_hat + " - " + e + "*inv(~" + e + "*inv(D)*" + e +
                              ")*(~" + e + "*inv(D)*" + W + "*" + T_hat + " - U))";
    expect_same(each(whole), each.acceleration, 1e-9);
    const std::string compact =
        "~" + W + "*inv(sqrt(D))*((I - b_*inv(~b_*b_)*~b_)*inv(sqrt(D))*" + W + "*" + T_hat + " + b_*inv(~b_*b_)*U)";
    std::string text = compact;  // (3.13) with the U that it lacks
    for (std::size_t at = 0; (at = text.find("b_")) != std::string::npos;) {
      text.replace(at, 2, "(inv(sqrt(D))*" + e + ")");
    }
    expect_same(each(text), each.acceleration, 1e-9);
  });
}

TEST(Closures, KktSolutionBecomesTheSteps) {
  const std::string text = M_inverse + "*(" + T_hat + " - ~" + Y + "*inv(" + Y + "*" + M_inverse + "*~" + Y + ")*(" +
                           Y + "*" + M_inverse + "*" + T_hat + " - U))";
  for_each_closed([&](Closed& each) {
    expect_same(each(text), each.acceleration, 1e-9);
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

}  // namespace
}  // namespace bunraku::test
