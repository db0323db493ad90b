/// One step of a trajectory and its derivatives, against differences along the manifold, closed forms and powers of
/// each other.
#include "bunraku/dynamics/steps.hpp"

#include <cmath>

#include <Eigen/Dense>
#include <gmock/gmock.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/allocations.hpp"
#include "support/finite_difference.hpp"
#include "support/near.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

/// The model without Coulomb friction, whose sign might change from one difference to the next.
Model without_friction(const Model& model) {
  ModelBuilder builder("smooth");
  const ModelBuilder all = edit(model);
  for (BodySpec body : all.bodies()) {
    for (HingeDof& dof : body.hinge.dofs) {
      dof.friction = 0;
    }
    builder.add(std::move(body));
  }
  return builder.build();
}

/// A random state with damping, springs, and forces from outside in all three frames.
class StepsOf : public testing::TestWithParam<std::tuple<int, Integrator>> {
 protected:
  StepsOf()
      : drawn(std::get<0>(GetParam())),
        model(without_friction(drawn.model)),
        n(model.nv()),
        q(integrate(model, neutral(model), drawn.random.vector(n))),  // springs pull one way there
        state(model) {
    for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
      const Place place{drawn.random.integer(0, 11), {Rotation<double>::from_rpy(0.4, -0.2, 0.3), {0.3, -0.5, 0.2}}};
      const VectorXd f = drawn.random.vector(6);
      forces.emplace_back(place, Force<double>{{f[0], f[1], f[2]}, {f[3], f[4], f[5]}}, frame);
    }
    state.set(q, drawn.v);
  }
  /// The derivative of the step along x = (δ, y) and u.
  VectorXd along(const VectorXd& x, const VectorXd& u) {
    const NextState<double> now = step<double>(state, drawn.a, h, integrator, forces);
    State other(model);
    return central_difference(
        [&](double s) -> VectorXd {
          other.set(integrate(model, q, VectorXd(x.head(n)), s), VectorXd(drawn.v + s * x.tail(n)));
          const NextState<double> next = step<double>(other, VectorXd(drawn.a + s * u), h, integrator, forces);
          VectorXd out(2 * n);
          out << difference(model, now.q, next.q), next.v;
          return out;
        },
        1e-3);
  }

  RandomState drawn;
  Model model;
  int n;
  VectorXd q;
  State state;
  Integrator integrator = std::get<1>(GetParam());
  double h = 0.02;
  std::vector<AppliedForce<double>> forces;
};

TEST_P(StepsOf, RandomTreesHaveTheDerivativesOfDifferences) {
  const Linearization<double> linear = step_derivatives<double>(state, drawn.a, h, integrator, forces);
  MatrixXd A(2 * n, 2 * n);
  MatrixXd B(2 * n, n);
  for (int j = 0; j < 2 * n; ++j) {
    A.col(j) = along(VectorXd::Unit(2 * n, j), VectorXd::Zero(n));
  }
  for (int j = 0; j < n; ++j) {
    B.col(j) = along(VectorXd::Zero(2 * n), VectorXd::Unit(n, j));
  }
  const double by_x = (linear.A - A).cwiseAbs().maxCoeff() / A.cwiseAbs().maxCoeff();
  const double by_u = (linear.B - B).cwiseAbs().maxCoeff() / B.cwiseAbs().maxCoeff();
  RecordProperty("residuals", testing::PrintToString(std::pair(by_x, by_u)));
  EXPECT_LT(by_x, 2e-9);
  EXPECT_LT(by_u, 2e-9);
}

TEST_P(StepsOf, RandomTreesLeaveTheStateAsItIs) {
  const VectorXd at = state.q();
  const VectorXd a = forward_dynamics(state, drawn.a);
  step<double>(state, drawn.a, h, integrator);
  step_derivatives<double>(state, drawn.a, h, integrator);
  EXPECT_EQ(at, state.q());
  EXPECT_EQ(drawn.v, state.v());
  EXPECT_EQ(a, forward_dynamics(state, drawn.a));
}

TEST_P(StepsOf, RandomTreesInFloatAgree) {
  BasicState<float> single(model);
  single.set(q.cast<float>(), drawn.v.cast<float>());
  const Eigen::VectorXf torque = drawn.a.cast<float>();
  const Linearization<double> linear = step_derivatives<double>(state, drawn.a, h, integrator);
  const Linearization<float> ours = step_derivatives<float>(single, torque, h, integrator);
  EXPECT_LT((ours.A.cast<double>() - linear.A).norm(), 1e-3 * linear.A.norm());
  EXPECT_LT((ours.B.cast<double>() - linear.B).norm(), 1e-3 * linear.B.norm());
}

INSTANTIATE_TEST_SUITE_P(Trees, StepsOf,
                         testing::Combine(testing::Range(0, 24),
                                          testing::Values(Integrator::semi_implicit_euler, Integrator::runge_kutta_4)));

/// A mass on a spring: v' = v − ω²q h and q' = q + v'h.
TEST(Steps, OfAnOscillatorAreItsClosedForm) {
  BodySpec mass{.name = "mass"};
  mass.hinge = {.name = "slide", .type = HingeType::prismatic, .axis = Vec3<double>::unit_x()};
  mass.hinge.dofs = {HingeDof{.stiffness = 8}};
  mass.inertia = RigidInertia<double>::about_center(2, {0, 0, 0}, Sym3<double>::diagonal(0.1, 0.1, 0.1));
  State state(ModelBuilder("oscillator").add(mass).build());
  const double h = 0.1;
  const VectorXd none = VectorXd::Zero(1);
  const Linearization<double> euler = step_derivatives<double>(state, none, h, Integrator::semi_implicit_euler);
  Eigen::Matrix2d A;
  A << 1 - 4 * h * h, h, -4 * h, 1;
  EXPECT_TRUE(is_near(euler.A, A, 1e-15));
  EXPECT_TRUE(is_near(euler.B, Eigen::Vector2d(h * h / 2, h / 2), 1e-15));
  const Linearization<double> better = step_derivatives<double>(state, none, h, Integrator::runge_kutta_4);
  Eigen::Matrix2d rate;
  rate << 0, h, -4 * h, 0;
  const Eigen::Matrix2d one = Eigen::Matrix2d::Identity();
  const Eigen::Matrix2d series = one + rate * (one + rate / 2 * (one + rate / 3 * (one + rate / 4)));
  EXPECT_TRUE(is_near(better.A, series, 1e-15));
}

/// About rest a short step is I + h [0 I; …] of the continuous system.
TEST(Steps, ShortOnesAreThoseOfTheContinuousSystem) {
  for (const Integrator integrator : {Integrator::semi_implicit_euler, Integrator::runge_kutta_4}) {
    RandomState drawn(3);
    State state(drawn.model);
    state.set(drawn.q, drawn.v);
    const Linearization<double> all = linearize<double>(state, drawn.a);
    const double h = 1e-8;
    const Linearization<double> one = step_derivatives<double>(state, drawn.a, h, integrator);
    const MatrixXd rate = (one.A - MatrixXd::Identity(one.A.rows(), one.A.cols())) / h;
    EXPECT_LT((rate - all.A).norm(), 1e-4 * all.A.norm());
    EXPECT_LT((one.B / h - all.B).norm(), 1e-4 * all.B.norm());
  }
}

TEST(Steps, NothingIsAllocatedAfterTheFirstCall) {
  for (const int sample : {0, 1}) {  // with mimics and without
    RandomState drawn(sample);
    State state(drawn.model);
    const auto n = static_cast<std::size_t>(drawn.model.nv());
    std::vector<double> A(4 * n * n);
    std::vector<double> B(2 * n * n);
    std::vector<double> q(static_cast<std::size_t>(drawn.model.nq()));
    std::vector<double> v(n);
    const auto all = [&] {
      for (const Integrator integrator : {Integrator::semi_implicit_euler, Integrator::runge_kutta_4}) {
        state.set(drawn.q, drawn.v);
        step<double>(state, detail::as_span(drawn.a), 1e-3, integrator, q, v);
        step_derivatives<double>(state, detail::as_span(drawn.a), 1e-3, integrator, A, B);
      }
    };
    all();
    const std::size_t before = allocations();
    all();
    EXPECT_EQ(allocations(), before);
  }
}

TEST(Steps, BadInputIsRefused) {
  RandomState drawn(1);
  State state = drawn.dynamics<double>();
  const int n = drawn.model.nv();
  const auto euler = Integrator::semi_implicit_euler;
  VectorXd q(drawn.model.nq());
  VectorXd v(n);
  VectorXd wrong = drawn.a;
  wrong[3] = std::numeric_limits<double>::quiet_NaN();
  MatrixXd A(2 * n, 2 * n);
  MatrixXd B(2 * n, n);
  for (const double h : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_THROW(step<double>(state, drawn.a, h, euler, q, v), ArgumentError);
    EXPECT_THROW(step_derivatives<double>(state, drawn.a, h, euler, A, B), ArgumentError);
  }
  EXPECT_THROW(step<double>(state, wrong, 0.1, euler, q, v), ArgumentError);
  EXPECT_THROW(step<double>(state, drawn.a, 0.1, euler, v.head(n - 1), v), ArgumentError);
  EXPECT_THROW(step<double>(state, drawn.a, 0.1, euler, q, q), ArgumentError);
  EXPECT_THROW(step_derivatives<double>(state, wrong, 0.1, euler, A, B), ArgumentError);
  EXPECT_THROW(step_derivatives<double>(state, drawn.a, 0.1, euler, B, B), ArgumentError);
  EXPECT_THROW(step_derivatives<double>(state, drawn.a, 0.1, euler, A, A), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
