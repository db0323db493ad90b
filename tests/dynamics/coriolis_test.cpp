/// The Coriolis matrix, against differences of a dense mass matrix, Christoffel's symbols and a closed form.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_reference.hpp"
#include "support/near.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

constexpr double step = 1e-3;
constexpr double difference_accuracy = 1e-9;

Eigen::MatrixXd mass_rate(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  return central_difference(
      [&](double t) -> Eigen::MatrixXd { return DenseReference(model, integrate(model, q, v, t)).mass(); }, step);
}

class Coriolis : public testing::TestWithParam<int>, protected RandomState {
 protected:
  Coriolis() : RandomState(GetParam()) {}
  State ideal = dynamics<double>();
  Eigen::MatrixXd C = coriolis_matrix(ideal);
};

TEST_P(Coriolis, TimesTheVelocityIsTheVelocityPartOfTheBias) {  // item I1
  EXPECT_TRUE(is_near(C * v, bias(ideal) - gravity_torques(ideal), 1e-11)) << "custom hinges: by differences";
  const Model light = model.with_gravity({0, 0, 0});
  EXPECT_TRUE(is_near(C * v, DenseReference(light, q).bias(v), difference_accuracy));
}

TEST_P(Coriolis, WithItsTransposeIsTheRateOfTheMassMatrix) {
  const Eigen::MatrixXd expected = mass_rate(model, q, v);
  EXPECT_TRUE(is_near(C + C.transpose(), expected, difference_accuracy));
  const Eigen::MatrixXd skew = expected - 2 * C;
  EXPECT_TRUE(is_near(skew, -skew.transpose(), difference_accuracy));
}

TEST_P(Coriolis, IsLinearInTheVelocity) {
  State other(model);
  other.set(q, -3 * v);
  EXPECT_TRUE(is_near(coriolis_matrix(other), -3 * C, 1e-11));
  other.set(q, 0 * v);
  EXPECT_EQ(coriolis_matrix(other).norm(), 0);
}

TEST_P(Coriolis, FloatsAgree) {
  BasicState<float> single = dynamics<float>();
  EXPECT_TRUE(is_near(coriolis_matrix(single).cast<double>(), C, 3e-4));
}

INSTANTIATE_TEST_SUITE_P(Trees, Coriolis, testing::Range(0, 24));

TEST(CoriolisMatrix, IsThatOfChristoffelWhereVelocitiesAreRatesOfCoordinates) {
  for (int sample = 0; sample < 6; ++sample) {
    RandomState s(100 + sample);
    const ModelBuilder as_is = edit(s.model);
    ModelBuilder builder("coordinates");
    for (BodySpec body : as_is.bodies()) {
      const HingeType type = body.hinge.type;
      if (type == HingeType::planar || type == HingeType::spherical || type == HingeType::free) {
        body.hinge = random_hinge(HingeType::universal, s.random);
      }
      builder.add(std::move(body));
    }
    const Model model = builder.build();
    const int n = model.nv();
    const Eigen::VectorXd q = random_configuration(model, 6);
    const Eigen::VectorXd v = s.random.vector(n);
    std::vector<Eigen::MatrixXd> slope;  // ∂𝓜/∂q_i
    for (int i = 0; i < n; ++i) {
      slope.push_back(mass_rate(model, q, Eigen::VectorXd::Unit(n, i)));
    }
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < n; ++k) {
          expected(i, j) += 0.5 * v[k] *
                            (slope[static_cast<std::size_t>(k)](i, j) + slope[static_cast<std::size_t>(j)](i, k) -
                             slope[static_cast<std::size_t>(i)](j, k));
        }
      }
    }
    State dynamics(model);
    dynamics.set(q, v);
    EXPECT_TRUE(is_near(coriolis_matrix(dynamics), expected, difference_accuracy)) << "sample " << sample;
  }
}

TEST(CoriolisMatrix, TwoLinksInClosedForm) {
  BodySpec upper{.name = "upper"};
  upper.hinge = {.name = "shoulder", .type = HingeType::revolute, .axis = {0, 0, 1}};
  upper.inertia = RigidInertia<double>::about_center(3, {0.4, 0, 0}, Sym3<double>::diagonal(0.1, 0.2, 0.2));
  BodySpec lower = upper;
  lower.name = "lower";
  lower.parent = "upper";
  lower.hinge.name = "elbow";
  lower.X_PF = Transform<double>::translate({0.8, 0, 0});
  lower.inertia = RigidInertia<double>::about_center(2, {0.3, 0, 0}, Sym3<double>::diagonal(0.1, 0.2, 0.2));
  State dynamics(ModelBuilder().add(upper).add(lower).build());
  dynamics.set(Eigen::Vector2d(0.3, 1.1), Eigen::Vector2d(2, -5));
  const double h = 2 * 0.8 * 0.3 * std::sin(1.1);
  Eigen::Matrix2d expected;
  expected << h * 5, h * 3, h * 2, 0;  // −h θ̇2, −h(θ̇1 + θ̇2); h θ̇1, 0
  EXPECT_TRUE(is_near(coriolis_matrix(dynamics), expected, 1e-14));
}

TEST(CoriolisMatrix, WrongSizesAreRefused) {
  RandomState state(1);
  State dynamics = state.dynamics<double>();
  std::vector<double> out(static_cast<std::size_t>(state.model.nv()));
  EXPECT_THROW(coriolis_matrix(dynamics, out), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
