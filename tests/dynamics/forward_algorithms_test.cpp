/// The papers' forward-dynamics algorithms against a dense solve, and as operator expressions on dense blocks.
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

constexpr std::array printed = {ForwardAlgorithm::fd1, ForwardAlgorithm::fd2, ForwardAlgorithm::fd3,
                                ForwardAlgorithm::fd4};

class ForwardAlgorithms : public testing::TestWithParam<int> {
 protected:
  int sample = 3 * (GetParam() / 2) + 1 + GetParam() % 2;  // without mimics, every other one with armature
  Random random{static_cast<unsigned>(sample) + 500};
  Model model = random_dynamics_model(sample, random);
  Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
  Eigen::VectorXd v = random.vector(model.nv());
  Eigen::VectorXd torque = random.vector(model.nv());
  std::vector<AppliedForce<double>> forces = some_forces();
  DenseReference reference{model, q};
  Eigen::MatrixXd mass = reference.mass();
  double condition = condition_number(mass);

  std::vector<AppliedForce<double>> some_forces() {
    std::vector<AppliedForce<double>> out;
    for (const Frame frame : {Frame::node, Frame::aligned, Frame::world}) {
      const int body = random.integer(-1, static_cast<int>(model.bodies().size()) - 1);
      out.push_back({Node{"n", body, random.transform()}, random.force(), frame});
    }
    return out;
  }
  /// J*f by dense Jacobians.
  Eigen::VectorXd applied_torques() const {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(model.nv());
    for (const AppliedForce<double>& f : forces) {
      if (f.body == world) {
        continue;
      }
      const Eigen::Matrix4d pose = reference.pose(static_cast<std::size_t>(f.body)) * to_eigen(f.X_BN);
      const Eigen::Matrix3d axes = f.frame == Frame::node ? Eigen::Matrix3d(pose.topLeftCorner<3, 3>())
                                                          : Eigen::Matrix3d(Eigen::Matrix3d::Identity());
      const Eigen::Vector3d point = f.frame == Frame::world ? Eigen::Vector3d(Eigen::Vector3d::Zero())
                                                            : Eigen::Vector3d(pose.topRightCorner<3, 1>());
      Eigen::VectorXd in_world(6);
      in_world << axes * to_eigen(f.force.moment), axes * to_eigen(f.force.force);
      out += reference.jacobian_at(f.body, point).transpose() * in_world;
    }
    return out;
  }
  /// Damping, friction and springs, hinge by hinge, as what an actuator must overcome.
  Eigen::VectorXd passive_torques() const {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(model.nv());
    const Eigen::VectorXd stretch = difference(model, neutral(model), q);
    for (const Body& body : model.bodies()) {
      for (int j = 0; j < body.nv; ++j) {
        const HingeDof& dof = body.hinge.dofs[static_cast<std::size_t>(j)];
        const double rate = v[body.v_index + j];
        out[body.v_index + j] =
            dof.damping * rate + std::copysign(dof.friction, rate) + dof.stiffness * stretch[body.v_index + j];
      }
    }
    return out;
  }
};

TEST_P(ForwardAlgorithms, AgreeWithADenseSolve) {  // items D1, D3
  State dynamics(model);
  dynamics.set(q, v);
  const Eigen::VectorXd left = torque - passive_torques() + applied_torques();
  const Eigen::VectorXd newton = solve_symmetric(mass, left - reference.bias(v));
  const Eigen::VectorXd expected = solve_symmetric(mass, left - bias(dynamics));
  EXPECT_TRUE(is_near(expected, newton, 1e-10 * condition)) << "as far as differences allow";
  for (const ForwardAlgorithm algorithm : printed) {
    EXPECT_TRUE(is_near(forward_dynamics_by(algorithm, dynamics, torque, forces), expected, 1e-14 * condition))
        << "FD" << static_cast<int>(algorithm);
  }
  const Eigen::VectorXd articulated = forward_dynamics_by(ForwardAlgorithm::articulated, dynamics, torque, forces);
  EXPECT_TRUE(is_near(articulated, expected, 1e-14 * condition));
  EXPECT_EQ(articulated, forward_dynamics(dynamics, torque, forces));
}

TEST_P(ForwardAlgorithms, GiveTheAccelerationsOfBodiesAndTips) {  // item D1
  State dynamics(model);
  dynamics.set(q, v);
  const Node tip{"tip", static_cast<int>(model.bodies().size()) - 1, random.transform()};
  const Eigen::VectorXd acceleration = forward_dynamics(dynamics, torque, forces);
  const auto rate_of = [&](auto&& velocity) {
    return central_difference(
        [&](double t) -> Eigen::VectorXd {
          PlainKinematics moved(model);
          moved.set_state(integrate(model, q, v, t), v + t * acceleration);
          return velocity(moved);
        },
        1e-3);
  };
  PlainKinematics now(model);
  now.set_state(q, v);
  for (const ForwardAlgorithm algorithm : {ForwardAlgorithm::fd2, ForwardAlgorithm::fd4}) {
    std::vector<Motion<double>> links(model.bodies().size());
    std::vector<double> out(static_cast<std::size_t>(model.nv()));
    forward_dynamics_by(algorithm, dynamics, detail::as_span(torque), out, forces, links);
    const double scale = std::max(1.0, acceleration.cwiseAbs().maxCoeff());
    for (int k = 0; k < static_cast<int>(links.size()); ++k) {
      const Eigen::VectorXd rate = rate_of([k](const PlainKinematics& x) { return to_eigen(x.velocity_in_world(k)); });
      const auto& alpha = links[static_cast<std::size_t>(k)];
      EXPECT_TRUE(is_near(to_eigen(now.pose(k).rotation * alpha), rate, 1e-7 * scale));
    }
    // α(0) = φ*(1,0)α(1) + a(0) (RK92 59), with a(0) = (0, ω × (ω × l))
    const Motion<double>& last = links.back();
    const Vec3<double>& w = now.velocity(tip.body).angular;
    const Vec3<double>& l = tip.X_BN.translation;
    const Motion<double> alpha0{last.angular, last.linear + cross(last.angular, l) + cross(w, cross(w, l))};
    const Eigen::VectorXd rate =
        rate_of([&](const PlainKinematics& x) { return to_eigen(x.pose(tip).rotation * x.velocity(tip)); });
    EXPECT_TRUE(is_near(to_eigen(now.pose(tip.body).rotation * alpha0), rate, 1e-7 * scale));
  }
}

TEST_P(ForwardAlgorithms, AsOperatorExpressions) {  // item D1
  State dynamics(model, PassiveForces::left_out);
  dynamics.set(q, v);
  const DenseBlocks d(model, q, v);
  const DenseArticulated x(d);
  const Eigen::MatrixXd Psi = x.psi * d.E;  // RK92's Ψ
  const Eigen::MatrixXd Di = inverse_of(x.D);
  const Eigen::VectorXd expected = solve_symmetric(mass, torque - reference.bias(v));
  const auto check = [&](const Eigen::VectorXd& got, const char* what) {
    EXPECT_TRUE(is_near(got, expected, 1e-10 * condition)) << what;
  };
  const Eigen::VectorXd T = torque;
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(d.nv, d.nv);
  const Eigen::MatrixXd H_Psi = d.H * Psi;
  const Eigen::MatrixXd H_psi = d.H * x.psi;
  const Eigen::MatrixXd whiten = one - H_Psi * x.G;
  const Eigen::MatrixXd back = whiten.transpose();
  const Eigen::VectorXd zeta = d.M * (d.phi.transpose() * d.a) + d.b;
  const Eigen::VectorXd free_of_bias = T - d.H * (d.phi * zeta);
  const Eigen::VectorXd nu = Di * (whiten * free_of_bias);
  check(back * nu, "RK92 47, 48");
  const Eigen::VectorXd h_nu = d.H.transpose() * nu;
  const Eigen::VectorXd alpha = x.tau.transpose() * (Psi.transpose() * h_nu) + h_nu + d.phi.transpose() * d.a;
  EXPECT_TRUE(is_near(alpha, d.phi.transpose() * (d.H.transpose() * expected + d.a), 1e-10 * condition)) << "RK92 56";
  check(back * (Di * (T - H_Psi * (x.G * T + x.tau * zeta) - d.H * zeta)), "RK92 60–62");
  const Eigen::VectorXd Pa = x.P * d.a;
  const Eigen::VectorXd nu4 = Di * (whiten * T - H_psi * (Pa + d.b) + d.H * Pa);  // (67) put right
  const Eigen::VectorXd tau_a = x.tau.transpose() * d.a;
  check(back * nu4 - x.G.transpose() * (Psi.transpose() * tau_a + d.a), "RK92 67 corrected, 68");
  const Eigen::VectorXd psi_a = x.psi.transpose() * d.a;
  check(back * (Di * (T - H_psi * (x.K * T + Pa + d.b))) - x.K.transpose() * psi_a, "the same in one expression");
  check(forward_dynamics_by(ForwardAlgorithm::fd4, dynamics, torque), "the sweeps");
}

INSTANTIATE_TEST_SUITE_P(Trees, ForwardAlgorithms, testing::Range(0, 16));

/// FD4 with a and b from bodies' velocities V that need not be those of the state: what is left of RK92 (66)–(73) when
/// the outward sweeps for V and for θ̈ are one, so that V is a step old when it is used. θ̇ itself is not delayed.
Eigen::VectorXd two_sweeps(const DenseBlocks& d, const Eigen::VectorXd& v, const Eigen::VectorXd& torque,
                           const PlainKinematics& old) {
  const DenseArticulated x(d);
  Eigen::VectorXd a(6 * d.N);
  Eigen::VectorXd b(6 * d.N);
  for (int k = 0; k < d.N; ++k) {  // RK88 (2.19), (2.31)–(2.32) for hinges with a joint map constant in the body
    const int p = d.body(k).parent;
    const Transform<double> X = d.kinematics.pose(p).inverse() * d.kinematics.pose(k);
    const Eigen::Matrix3d R = to_eigen(X.rotation).transpose();
    const Eigen::Vector3d w = R * to_eigen(old.velocity(p).angular);
    const Eigen::Vector3d l = R * to_eigen(X.translation);
    const Eigen::VectorXd r = d.hinge_rows(k).transpose() * v.segment(d.at(k), d.size(k));
    const Eigen::Vector3d gravity = R * to_eigen(d.kinematics.pose(p).rotation.inverse_times(d.model.gravity()));
    a.segment<3>(6 * k) = w.cross(r.head<3>());
    a.segment<3>(6 * k + 3) = w.cross(w.cross(l) + 2 * r.tail<3>()) + r.head<3>().cross(r.tail<3>());
    if (p == world) {
      a.segment<3>(6 * k + 3) -= gravity;
    }
    const Eigen::Vector3d own = to_eigen(old.velocity(k).angular);
    b.segment<3>(6 * k) = own.cross(d.M.block<3, 3>(6 * k, 6 * k) * own);
    b.segment<3>(6 * k + 3) = own.cross(own.cross(to_eigen(d.body(k).inertia.first_moment)));
  }
  Eigen::VectorXd z = b;
  Eigen::VectorXd nu(d.nv);
  for (int k = d.N - 1; k >= 0; --k) {  // (70), (71)
    const int at = d.at(k);
    const int n = d.size(k);
    const Eigen::VectorXd T = torque.segment(at, n);
    const Eigen::VectorXd z_k = z.segment<6>(6 * k);
    nu.segment(at, n) = inverse_of(x.D.block(at, at, n, n)) * (T - d.hinge_rows(k) * z_k);
    if (const int p = d.body(k).parent; p != world) {
      const Eigen::VectorXd Pa = DenseBlocks::block(x.P, k, k) * a.segment<6>(6 * k);
      z.segment<6>(6 * p) += DenseBlocks::block(x.psi, p, k) * (z_k + Pa) + x.K.block(6 * p, at, 6, n) * T;
    }
  }
  Eigen::VectorXd lambda(6 * d.N);
  Eigen::VectorXd out(d.nv);
  for (int k = 0; k < d.N; ++k) {  // (72), (73)
    const int at = d.at(k);
    const int n = d.size(k);
    const Eigen::VectorXd a_k = a.segment<6>(6 * k);
    const Eigen::VectorXd nu_k = nu.segment(at, n);
    const Eigen::MatrixXd G = x.G.block(6 * k, at, 6, n);
    Eigen::VectorXd inner = Eigen::VectorXd::Zero(6);
    if (const int p = d.body(k).parent; p != world) {
      inner = DenseBlocks::block(d.E, p, k).transpose() * lambda.segment<6>(6 * p);
    }
    const Eigen::MatrixXd tau = DenseBlocks::block(x.tau, k, k);
    lambda.segment<6>(6 * k) = tau.transpose() * (inner + a_k) + d.hinge_rows(k).transpose() * nu_k;
    out.segment(at, n) = nu_k - G.transpose() * (inner + a_k);
  }
  return out;
}

TEST(TwoSweepForward, ADelayedVelocityCostsOneOrder) {  // item D2
  for (int sample = 0; sample < 6; ++sample) {
    Random random(static_cast<unsigned>(sample) + 540);
    ModelBuilder builder;
    for (int i = 0; i < 8; ++i) {
      const int parent = sample % 2 == 0 ? i - 1 : random.integer(-1, i - 1);
      BodySpec body{.name = "b" + std::to_string(i),
                    .parent = parent < 0 ? std::string(world_name) : "b" + std::to_string(parent),
                    .hinge = random_hinge(i % 3 == 2 ? HingeType::prismatic : HingeType::revolute, random)};
      body.X_PF = random.transform();
      body.inertia = random.inertia();
      builder.add(body);
    }
    const Model model = builder.build();
    const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
    const Eigen::VectorXd v = random.vector(model.nv(), 3);
    const Eigen::VectorXd torque = random.vector(model.nv());
    State dynamics(model);
    dynamics.set(q, v);
    const Eigen::VectorXd exact = forward_dynamics(dynamics, torque);
    const DenseBlocks dense(model, q, v);
    const auto error = [&](double delay) {
      PlainKinematics old(model);  // where the motion that comes to this state was, a step earlier
      old.set_state(integrate(model, q, v - 0.5 * delay * exact, -delay), v - delay * exact);
      return Eigen::VectorXd(two_sweeps(dense, v, torque, old) - exact);
    };
    EXPECT_LT(error(0).norm(), 1e-10 * exact.norm()) << "without a delay it is the exact algorithm";
    const double h = 1e-4;
    const double coarse = error(h).norm();
    EXPECT_NEAR(error(h / 2).norm() / coarse, 0.5, 0.01) << "the error shrinks linearly with the step";
    EXPECT_NEAR(error(h / 4).norm() / coarse, 0.25, 0.01);
    EXPECT_GT(coarse, 1e-7 * exact.norm()) << "and is there";
    testing::Test::RecordProperty("relative_error_per_second_" + std::to_string(sample),
                                  std::to_string(coarse / h / exact.norm()));
  }
}

TEST(ForwardAlgorithmCalls, InFloat) {
  Random random(550);
  const Model model = random_dynamics_model(2, random);
  const Eigen::VectorXd q = random_configuration(model, 2);
  const Eigen::VectorXd v = random.vector(model.nv());
  const Eigen::VectorXd torque = random.vector(model.nv());
  State exact(model);
  BasicState<float> dynamics(model);
  exact.set(q, v);
  dynamics.set(q.cast<float>(), v.cast<float>());
  for (const ForwardAlgorithm algorithm : printed) {
    EXPECT_TRUE(is_near(forward_dynamics_by(algorithm, dynamics, torque.cast<float>()).cast<double>(),
                        forward_dynamics(exact, torque), 5e-4));
  }
}

TEST(ForwardAlgorithmCalls, TakeAModelWithoutBodies) {
  const Model model = ModelBuilder("nothing").build();
  State state(model);
  for (const ForwardAlgorithm algorithm : printed) {
    EXPECT_EQ(forward_dynamics_by(algorithm, state, Eigen::VectorXd(0)).size(), 0);
  }
  EXPECT_TRUE(reactions(state, Eigen::VectorXd(0)).empty());
  EXPECT_EQ(mass_root_times(state, Eigen::VectorXd(0)).size(), 0);
  EXPECT_EQ(inverse_mass_root_times(state, Eigen::VectorXd(0)).size(), 0);
}

TEST(ForwardAlgorithmCalls, RefuseWrongArguments) {
  Random random(552);
  const Model model = random_tree(4, 0.5, random).build();
  State dynamics(model);
  const Eigen::VectorXd torque = random.vector(model.nv());
  std::vector<double> out(static_cast<std::size_t>(model.nv()));
  std::vector<Motion<double>> links(4);
  const auto given = detail::as_span(torque);
  EXPECT_THROW(forward_dynamics_by(ForwardAlgorithm::fd1, dynamics, given, out, {}, links), ArgumentError);
  EXPECT_THROW(forward_dynamics_by(ForwardAlgorithm::articulated, dynamics, given, out, {}, links), ArgumentError);
  EXPECT_NO_THROW(forward_dynamics_by(ForwardAlgorithm::fd2, dynamics, given, out, {}, links));
  EXPECT_THROW(forward_dynamics_by(ForwardAlgorithm::fd2, dynamics, given, out, {}, std::span(links).first(3)),
               ArgumentError);
  EXPECT_THROW(forward_dynamics_by(ForwardAlgorithm::fd3, dynamics, given.first(1), out), ArgumentError);
  AppliedForce<double> nowhere;
  nowhere.body = 4;
  EXPECT_THROW(forward_dynamics_by(ForwardAlgorithm::fd4, dynamics, given, out, {&nowhere, 1}), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
