/// The equations of motion in operators, on dense blocks: inverse dynamics, composite bodies, the bias-free form.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_blocks.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

class EquationsOfMotion : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam()) + 900};
  Model model = random_dynamics_model(GetParam(), random);
  Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(GetParam()));
  Eigen::VectorXd v = random.vector(model.nv());
  Eigen::VectorXd acceleration = random.vector(model.nv());
  Node tip{"tip", static_cast<int>(model.bodies().size()) - 1, random.transform()};
  Force<double> f0 = random.force();  ///< On the environment, as the papers have it.
  AppliedForce<double> on_robot{tip, -f0, Frame::node};
  DenseBlocks d{model, q, v};
  State dynamics{model, PassiveForces::left_out};
  Eigen::MatrixXd H_phi = d.H * d.phi;
  Eigen::MatrixXd mass = congruence(d.S.transpose(), congruence(H_phi, d.M) + d.armature);

  void SetUp() override { dynamics.set(q, v); }
  /// Bf(0) over all bodies.
  Eigen::VectorXd tip_force() const {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(6 * d.N);
    out.tail<6>() = DenseBlocks::force_matrix(to_eigen(tip.X_BN)) * to_eigen(f0);
    return out;
  }
  /// Hφ of forces on all bodies.
  Eigen::VectorXd torques_of(const Eigen::VectorXd& forces) const { return d.S.transpose() * (H_phi * forces); }
  /// Mφ*a + b.
  Eigen::VectorXd bias_forces() const { return d.M * (d.phi.transpose() * d.a) + d.b; }
  /// T̂ = Hφ[Mφ*a + b + Bf(0)] (RK92 27).
  Eigen::VectorXd bias_torques() const { return torques_of(bias_forces() + tip_force()); }
};

TEST_P(EquationsOfMotion, TorquesInOperators) {  // item I1
  const Eigen::VectorXd alpha = d.phi.transpose() * (d.H.transpose() * (d.S * acceleration) + d.a);
  const Eigen::VectorXd newton = torques_of(d.M * alpha + d.b + tip_force());  // RK92 (25)
  const Eigen::VectorXd torque = newton + congruence(d.S.transpose(), d.armature) * acceleration;
  EXPECT_TRUE(is_near(inverse_dynamics(dynamics, acceleration, {&on_robot, 1}), torque, 1e-9))
      << "as far as differences allow";
  const Eigen::VectorXd C = torques_of(bias_forces());
  EXPECT_TRUE(is_near(bias(dynamics), C, 1e-9)) << "𝓒 = Hφ(Mφ*a + b)";
  const Eigen::VectorXd J_f = torques_of(tip_force());
  EXPECT_TRUE(is_near(torque, mass * acceleration + C + J_f, 1e-12)) << "T = 𝓜θ̈ + 𝓒 + J*f(0)";
  Eigen::MatrixXd J(6, model.nv());
  jacobian(dynamics, tip, Frame::node, J);
  EXPECT_TRUE(is_near(J_f, J.transpose() * to_eigen(f0), 1e-12)) << "J* = HφB";
}

TEST_P(EquationsOfMotion, BiasTorquesLeaveALinearSystem) {  // item I3
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
  const Eigen::VectorXd bias = inverse_dynamics(dynamics, zero, {&on_robot, 1});
  EXPECT_TRUE(is_near(bias, bias_torques(), 1e-9)) << "T̂ is inverse dynamics at θ̈ = 0 (RK92 27)";
  const Eigen::VectorXd torque = random.vector(model.nv());
  const double condition = condition_number(mass);
  const Eigen::VectorXd free_of_bias = torque - bias_torques();  // T'
  EXPECT_TRUE(is_near(forward_dynamics(dynamics, torque, {&on_robot, 1}), solve_symmetric(mass, free_of_bias),
                      1e-10 * condition))
      << "𝓜θ̈ = T' (RK92 26)";
  EXPECT_TRUE(is_near(inverse_mass_times(dynamics, torque - bias), forward_dynamics(dynamics, torque, {&on_robot, 1}),
                      1e-14 * condition));
}

TEST_P(EquationsOfMotion, CompositeBodies) {  // item I2
  // r(k) = Σ φ(k,j)r(j)φ*(k,j) + M(k), inward (RK92 30–31), on trees
  Eigen::MatrixXd r = d.M;
  for (int k = d.N - 1; k >= 0; --k) {
    if (const int p = d.body(k).parent; p != world) {
      const Eigen::MatrixXd moved = DenseBlocks::block(d.E, p, k);
      r.block<6, 6>(6 * p, 6 * p) += congruence(moved, DenseBlocks::block(r, k, k));
    }
  }
  const Eigen::MatrixXd above = d.phi - Eigen::MatrixXd::Identity(6 * d.N, 6 * d.N);
  const Eigen::MatrixXd whole = congruence(d.phi, d.M);
  EXPECT_TRUE(is_near(whole, r + above * r + r * above.transpose(), 1e-12)) << "φMφ* = R + φ̃R + Rφ̃* (RK92 28)";
  EXPECT_TRUE(is_near(mass_matrix(dynamics), mass, 1e-12)) << "𝓜 = HφMφ*H* + armature (RK92 22)";
  // the elements of 𝓜: m(i,k) = H(i)φ(i,k)r(k)H*(k) for i at or inside of k, none across branches (RK92 32–33)
  Eigen::MatrixXd elements = d.armature;
  for (int k = 0; k < d.N; ++k) {
    for (int i = k; i != world; i = d.body(i).parent) {
      const Eigen::MatrixXd m =
          d.hinge_rows(i) * DenseBlocks::block(d.phi, i, k) * DenseBlocks::block(r, k, k) * d.hinge_rows(k).transpose();
      elements.block(d.at(i), d.at(k), d.size(i), d.size(k)) += m;
      if (i != k) {
        elements.block(d.at(k), d.at(i), d.size(k), d.size(i)) += m.transpose();
      }
    }
  }
  EXPECT_TRUE(is_near(mass_matrix(dynamics), congruence(d.S.transpose(), elements), 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Trees, EquationsOfMotion, testing::Range(0, 18));  // mimics too

}  // namespace
}  // namespace bunraku::test
