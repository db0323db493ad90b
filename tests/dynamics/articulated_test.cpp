/// P, D, G, K, ψ and square roots of the mass matrix, against dense operators.
#include <Eigen/Dense>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_blocks.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

/// Samples of random_dynamics_model without mimics, every other one with armature.
int plain_sample(int i) {
  return 3 * (i / 2) + 1 + i % 2;
}

class Articulated : public testing::TestWithParam<int> {
 protected:
  int sample = plain_sample(GetParam());
  Random random{static_cast<unsigned>(sample) + 400};
  Model model = random_dynamics_model(sample, random);
  Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
  Eigen::VectorXd v = random.vector(model.nv());
  State dynamics{model};
  DenseBlocks dense{model, q, v};
  DenseArticulated reference{dense};
  Eigen::MatrixXd one = Eigen::MatrixXd::Identity(dense.nv, dense.nv);
  Eigen::MatrixXd mass = DenseReference(model, q).mass();
  double condition = condition_number(mass);

  void SetUp() override { dynamics.set(q, v); }
};

TEST_P(Articulated, RiccatiRecursion) {  // item F1
  for (int k = 0; k < dense.N; ++k) {
    const Eigen::MatrixXd P = to_eigen(articulated_inertia(dynamics, k).matrix());
    EXPECT_TRUE(is_near(P, DenseBlocks::block(reference.P, k, k), 1e-11));
    EXPECT_TRUE(is_near(P, P.transpose(), 0));
    EXPECT_GT(symmetric_eigenvalues(P)[0], 0) << "P > 0";
    const int n = dense.size(k);
    EXPECT_TRUE(is_near(hinge_inertia(dynamics, k), reference.D.block(dense.at(k), dense.at(k), n, n), 1e-11));
    EXPECT_TRUE(is_near(kalman_gain(dynamics, k), reference.G.block(6 * k, dense.at(k), 6, n), 1e-11));
    if (const int p = dense.body(k).parent; p != world) {
      EXPECT_TRUE(is_near(shifted_gain(dynamics, k), reference.K.block(6 * p, dense.at(k), 6, n), 1e-10));
    } else {
      const Eigen::MatrixXd to_world = DenseBlocks::force_matrix(to_eigen(dense.kinematics.pose(k)));
      EXPECT_TRUE(is_near(shifted_gain(dynamics, k), to_world * kalman_gain(dynamics, k), 1e-12));
    }
  }
}

TEST_P(Articulated, ProjectionIdentityWithoutArmature) {  // item F1
  double worst = 0;
  for (int k = 0; k < dense.N; ++k) {
    const Eigen::MatrixXd P = to_eigen(articulated_inertia(dynamics, k).matrix());
    const Eigen::MatrixXd tau = Eigen::MatrixXd::Identity(6, 6) - kalman_gain(dynamics, k) * dense.hinge_rows(k);
    const Eigen::MatrixXd difference = congruence(tau, P) - tau * P;
    EXPECT_TRUE(difference.allFinite());
    worst = std::max(worst, difference.cwiseAbs().maxCoeff() / P.cwiseAbs().maxCoeff());
  }
  if (sample % 2 == 1) {
    EXPECT_LT(worst, 1e-12) << "[I−GH]P[I−GH]* = [I−GH]P";
  } else {
    EXPECT_GT(worst, 1e-6) << "armature is no part of P: the papers' form ψPψ* + M of the recursion is for none";
  }
}

TEST_P(Articulated, TransitionsFollowThePath) {  // item F1
  for (int j = 0; j < dense.N; ++j) {
    for (int i = 0; i < dense.N; ++i) {
      EXPECT_TRUE(
          is_near(to_eigen(articulated_transition(dynamics, i, j)), DenseBlocks::block(reference.psi, i, j), 1e-10));
    }
    int root = j;
    while (dense.body(root).parent != world) {
      root = dense.body(root).parent;
    }
    const Eigen::MatrixXd to_world = DenseBlocks::force_matrix(to_eigen(dense.kinematics.pose(root))) *
                                     DenseBlocks::block(reference.tau, root, root) *
                                     DenseBlocks::block(reference.psi, root, j);
    EXPECT_TRUE(is_near(to_eigen(articulated_transition(dynamics, world, j)), to_world, 1e-10));
    EXPECT_EQ(articulated_transition(dynamics, j, world), Mat6<double>::zero());
    EXPECT_EQ(articulated_transition(dynamics, j, j), Mat6<double>::identity());
  }
  EXPECT_EQ(articulated_transition(dynamics, world, world), Mat6<double>::identity());
}

TEST_P(Articulated, FactorsOfTheMassMatrix) {  // items F1, F2
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(dense.nv, dense.nv);
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(6 * dense.N, dense.nv);
  Eigen::MatrixXd psi = Eigen::MatrixXd::Zero(6 * dense.N, 6 * dense.N);
  for (int k = 0; k < dense.N; ++k) {
    D.block(dense.at(k), dense.at(k), dense.size(k), dense.size(k)) = hinge_inertia(dynamics, k);
    if (const int p = dense.body(k).parent; p != world) {
      K.block(6 * p, dense.at(k), 6, dense.size(k)) = shifted_gain(dynamics, k);
    }
    for (int i = 0; i < dense.N; ++i) {
      psi.block<6, 6>(6 * i, 6 * k) = to_eigen(articulated_transition(dynamics, i, k));
    }
  }
  const Eigen::MatrixXd factor = one + dense.H * dense.phi * K;
  const Eigen::MatrixXd inverse = one - dense.H * psi * K;
  const Eigen::MatrixXd operators = congruence(dense.H * dense.phi, dense.M);
  EXPECT_TRUE(is_near(operators + dense.armature, mass, 1e-11)) << "𝓜 = HφMφ*H* + armature";
  EXPECT_TRUE(is_near(congruence(factor, D), mass, 1e-11)) << "𝓜 = (I+HφK)D(I+HφK)*";
  EXPECT_TRUE(is_near(inverse * factor, one, 1e-11 * factor.norm() * inverse.norm())) << "(I−HψK)(I+HφK) = I";
  EXPECT_TRUE(is_near(congruence(inverse.transpose(), inverse_of(D)) * mass, one, 1e-13 * condition));
}

TEST_P(Articulated, SquareRootsAreThoseOfTheFactors) {  // item F4
  const Eigen::MatrixXd factor = one + dense.H * dense.phi * reference.K;
  const Eigen::MatrixXd root = factor * symmetric_root(reference.D);  // principal, block by block
  const Eigen::VectorXd x = random.vector(model.nv());
  EXPECT_TRUE(is_near(mass_root_times(dynamics, x), root * x, 1e-10));
  EXPECT_TRUE(is_near(root * inverse_mass_root_times(dynamics, x), x, 1e-12 * condition));
}

INSTANTIATE_TEST_SUITE_P(Trees, Articulated, testing::Range(0, 16));

class SquareRoots : public testing::TestWithParam<int> {};

template <class T>
void check_square_roots(int sample, double tolerance) {
  Random random{static_cast<unsigned>(sample) + 430};
  const Model model = random_dynamics_model(sample, random);
  const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
  using Vector = VectorX<T>;
  BasicState<T> dynamics(model);
  dynamics.set(q.cast<T>(), Vector::Zero(model.nv()));
  const int n = model.nv();
  Eigen::MatrixXd root(n, n);
  Eigen::MatrixXd inverse(n, n);
  for (int i = 0; i < n; ++i) {
    root.col(i) = mass_root_times(dynamics, Vector::Unit(n, i)).template cast<double>();
    inverse.col(i) = inverse_mass_root_times(dynamics, Vector::Unit(n, i)).template cast<double>();
  }
  const Eigen::MatrixXd mass = DenseReference(model, q).mass();
  EXPECT_TRUE(is_near(root * root.transpose(), mass, tolerance)) << "𝓜^½(𝓜^½)* = 𝓜";
  EXPECT_TRUE(is_near(inverse * root, Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n)),
                      tolerance * root.norm() * inverse.norm()));
  EXPECT_TRUE(is_near(inverse.transpose() * inverse * mass, Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n)),
                      tolerance * condition_number(mass)))
      << "the inverse mass matrix";
  std::vector<T> in_place(static_cast<std::size_t>(n), T(1));
  const std::span<T> x(in_place);
  mass_root_times(dynamics, x, x);
  inverse_mass_root_times(dynamics, x, x);
  for (const T& each : in_place) {
    EXPECT_NEAR(each, 1, 10 * tolerance * root.norm() * inverse.norm());
  }
}

TEST_P(SquareRoots, MultiplyToTheMassMatrix) {  // item F4
  check_square_roots<double>(GetParam(), 1e-12);
  check_square_roots<float>(GetParam(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Trees, SquareRoots, testing::Range(0, 12));  // mimics too

TEST(ArticulatedCalls, InFloat) {
  Random random(450);
  const Model model = random_dynamics_model(2, random);
  const Eigen::VectorXd q = random_configuration(model, 2);
  State exact(model);
  BasicState<float> dynamics(model);
  exact.set(q, Eigen::VectorXd::Zero(model.nv()));
  dynamics.set(q.cast<float>(), Eigen::VectorXf::Zero(model.nv()));
  for (int k = 0; k < static_cast<int>(model.bodies().size()); ++k) {
    const auto in_double = [](const auto& x) { return Eigen::MatrixXd(x.template cast<double>()); };
    EXPECT_TRUE(is_near(in_double(to_eigen(articulated_inertia(dynamics, k).matrix())),
                        to_eigen(articulated_inertia(exact, k).matrix()), 2e-4));
    EXPECT_TRUE(is_near(in_double(hinge_inertia(dynamics, k)), hinge_inertia(exact, k), 2e-4));
    EXPECT_TRUE(is_near(in_double(kalman_gain(dynamics, k)), kalman_gain(exact, k), 2e-4));
    EXPECT_TRUE(is_near(in_double(shifted_gain(dynamics, k)), shifted_gain(exact, k), 2e-4));
    EXPECT_TRUE(is_near(in_double(to_eigen(articulated_transition(dynamics, world, k))),
                        to_eigen(articulated_transition(exact, world, k)), 2e-4));
  }
}

TEST(ArticulatedCalls, NamesTheMimicHinge) {
  Random random(451);
  ModelBuilder builder;
  add_mimic_pair(builder, random);
  State dynamics(builder.build());
  const auto says = [](auto&& call) {
    try {
      call();
    } catch (const ArgumentError&) {
      return std::string("an argument is wrong");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  const auto mimic = testing::AllOf(HasSubstr("'follower_hinge'"), HasSubstr("block diagonal"));
  EXPECT_THAT(says([&] { static_cast<void>(articulated_inertia(dynamics, 0)); }), mimic);
  EXPECT_THAT(says([&] { static_cast<void>(hinge_inertia(dynamics, 0)); }), mimic);
  EXPECT_THAT(says([&] { static_cast<void>(kalman_gain(dynamics, 1)); }), mimic);
  EXPECT_THAT(says([&] { static_cast<void>(shifted_gain(dynamics, 1)); }), mimic);
  EXPECT_THAT(says([&] { static_cast<void>(articulated_transition(dynamics, world, 1)); }), mimic);
  EXPECT_EQ(says([&] { static_cast<void>(articulated_transition(dynamics, 2, 1)); }), "an argument is wrong");
}

TEST(ArticulatedCalls, RefusesWhatIsNotThere) {
  Random random(452);
  const Model model = random_tree(4, 0, random).build();
  State dynamics(model);
  EXPECT_THROW(static_cast<void>(articulated_inertia(dynamics, 4)), ArgumentError);
  EXPECT_THROW(static_cast<void>(articulated_inertia(dynamics, world)), ArgumentError);
  EXPECT_THROW(static_cast<void>(hinge_inertia(dynamics, -2)), ArgumentError);
  EXPECT_THROW(static_cast<void>(kalman_gain(dynamics, 4)), ArgumentError);
  EXPECT_THROW(static_cast<void>(shifted_gain(dynamics, 4)), ArgumentError);
  EXPECT_THROW(static_cast<void>(articulated_transition(dynamics, 0, 4)), ArgumentError);
  std::vector<double> wrong(37);
  EXPECT_THROW(hinge_inertia(dynamics, 0, wrong), ArgumentError);
  EXPECT_THROW(kalman_gain(dynamics, 0, wrong), ArgumentError);
  EXPECT_THROW(shifted_gain(dynamics, 0, wrong), ArgumentError);
  EXPECT_THROW(static_cast<void>(mass_root_times(dynamics, Eigen::VectorXd::Zero(99))), ArgumentError);
}

TEST(ArticulatedCalls, NamesTheHingeThatMovesNothing) {
  BodySpec ghost{.name = "ghost"};
  ghost.hinge = {.name = "loose", .type = HingeType::revolute};
  State dynamics(ModelBuilder().add(ghost).build());
  try {
    static_cast<void>(mass_root_times(dynamics, Eigen::VectorXd::Zero(1)));
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'loose'"));
  }
}

}  // namespace
}  // namespace bunraku::test
