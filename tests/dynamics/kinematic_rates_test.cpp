/// Rates of Jacobians and accelerations of bodies, against differences along the motion and closed forms.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_reference.hpp"
#include "support/near.hpp"
#include "support/plain_kinematics.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

constexpr double step = 1e-3;
constexpr double difference_accuracy = 1e-9;
constexpr std::array frames = {Frame::node, Frame::aligned, Frame::world};

/// J of a node from first principles.
Eigen::MatrixXd dense_jacobian(const Model& model, const Eigen::VectorXd& q, const Node& node, Frame frame) {
  if (node.body == world) {
    return Eigen::MatrixXd::Zero(6, model.nv());
  }
  const DenseReference reference(model, q);
  const Eigen::Matrix4d pose = reference.pose(static_cast<std::size_t>(node.body)) * to_eigen(node.X_BN);
  if (frame == Frame::world) {
    return reference.jacobian_at(node.body, Eigen::Vector3d::Zero());
  }
  Eigen::MatrixXd out = reference.jacobian_at(node.body, pose.topRightCorner<3, 1>());
  if (frame == Frame::node) {
    out.topRows<3>() = (pose.topLeftCorner<3, 3>().transpose() * out.topRows<3>()).eval();
    out.bottomRows<3>() = (pose.topLeftCorner<3, 3>().transpose() * out.bottomRows<3>()).eval();
  }
  return out;
}

class KinematicRates : public testing::TestWithParam<int>, protected RandomState {
 protected:
  KinematicRates() : RandomState(GetParam()) {
    for (int k = world; k < static_cast<int>(model.bodies().size()); ++k) {
      nodes.push_back({"n" + std::to_string(k), k, random.transform()});
    }
  }
  template <class T>
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> rate_of(BasicState<T>& dynamics, const Node& node, Frame frame) {
    return matrix_of<T>(6, model.nv(), [&](std::span<T> out) { jacobian_rate(dynamics, node, frame, out); });
  }

  std::vector<Node> nodes;  // on every body, and on the world
  State ideal = dynamics<double>();
};

TEST_P(KinematicRates, JacobianRatesAreTheDerivativesOfJacobians) {  // items K3, K4
  for (const Node& node : nodes) {
    for (const Frame frame : frames) {
      const Eigen::MatrixXd j =
          matrix_of<double>(6, model.nv(), [&](std::span<double> out) { jacobian(ideal, node, frame, out); });
      EXPECT_TRUE(is_near(j, dense_jacobian(model, q, node, frame), 1e-12)) << node.name;
      const Eigen::MatrixXd expected = central_difference(
          [&](double t) -> Eigen::MatrixXd { return dense_jacobian(model, later(t), node, frame); }, step);
      ASSERT_TRUE(is_near(rate_of(ideal, node, frame), expected, difference_accuracy)) << node.name;
    }
  }
}

TEST_P(KinematicRates, JacobianBiasIsTheAccelerationWithoutThatOfTheHinges) {  // item K3: J̇θ̇ = B*φ*a + a(0)
  for (const Node& node : nodes) {
    for (const Frame frame : frames) {
      const Eigen::VectorXd bias = to_eigen(jacobian_bias(ideal, node, frame));
      EXPECT_TRUE(is_near(bias, rate_of(ideal, node, frame) * v, 1e-12)) << node.name;
      const Eigen::VectorXd expected = central_difference(
          [&](double t) -> Eigen::VectorXd { return dense_jacobian(model, later(t), node, frame) * v; }, step);
      ASSERT_TRUE(is_near(bias, expected, difference_accuracy)) << node.name;
    }
  }
}

TEST_P(KinematicRates, AccelerationsAreTheRatesOfVelocities) {  // item K3: α = φ*(H*θ̈ + a)
  const std::vector<Motion<double>> alpha = accelerations(ideal, a);
  const std::vector<Motion<double>> bias = bias_accelerations(ideal);
  PlainKinematics now(model);
  now.set_state(q, v);
  PlainKinematics moving(model);
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    const int body = static_cast<int>(k);
    const auto rate = [&](const Eigen::VectorXd& acceleration) {
      return central_difference(
          [&](double t) {
            moving.set_state(later(t), v + t * acceleration);
            return moving.velocity_in_world(body);
          },
          step);
    };
    const Rotation<double>& R_WB = now.pose(body).rotation;
    ASSERT_TRUE(is_near(R_WB * alpha[k], rate(a), difference_accuracy)) << "body " << k;
    ASSERT_TRUE(is_near(R_WB * bias[k], rate(Eigen::VectorXd::Zero(model.nv())), difference_accuracy)) << "body " << k;
  }
}

TEST_P(KinematicRates, NodesAccelerateByTheirJacobians) {  // items K3, K4: α(0) = Jθ̈ + J̇θ̇
  const std::vector<Motion<double>> alpha = accelerations(ideal, a);
  PlainKinematics now(model);
  now.set_state(q, v);
  for (const Node& node : nodes) {
    if (node.body == world) {
      continue;
    }
    const Eigen::MatrixXd j = dense_jacobian(model, q, node, Frame::aligned);
    const Eigen::VectorXd bias = to_eigen(jacobian_bias(ideal, node, Frame::aligned));
    const Vec3<double>& l = node.X_BN.translation;
    const Vec3<double>& w = now.velocity(node.body).angular;
    Motion<double> moved = PhiAdjoint<double>(l) * alpha[static_cast<std::size_t>(node.body)];
    moved.linear += cross(w, cross(w, l));
    ASSERT_TRUE(is_near(to_eigen(now.pose(node.body).rotation * moved), j * a + bias, 1e-12)) << node.name;
  }
}

TEST_P(KinematicRates, ForcesAtManyNodesActByTheTransposedJacobians) {  // item K4: J* = HφB (RJK89 2.13–2.14)
  std::vector<AppliedForce<double>> forces;
  Eigen::VectorXd expected = inverse_dynamics(ideal, a);
  for (std::size_t i = 0; i < 3 * nodes.size(); ++i) {
    const Node& node = nodes[i / 3];
    const Frame frame = frames[i % 3];
    forces.emplace_back(node, random.force(), frame);
    expected -= dense_jacobian(model, q, node, frame).transpose() * to_eigen(forces.back().force);
  }
  EXPECT_TRUE(is_near(inverse_dynamics(ideal, a, forces), expected, 1e-12));
}

TEST_P(KinematicRates, FloatsAgree) {
  BasicState<float> single = dynamics<float>();
  const std::vector<Motion<float>> narrow = accelerations(single, a.cast<float>());
  const std::vector<Motion<double>> wide = accelerations(ideal, a);
  for (std::size_t k = 0; k < wide.size(); ++k) {
    EXPECT_TRUE(is_near(to_eigen(narrow[k]).cast<double>(), to_eigen(wide[k]), 3e-4)) << "body " << k;
  }
  for (const Node& node : nodes) {
    for (const Frame frame : frames) {
      EXPECT_TRUE(is_near(rate_of(single, node, frame).cast<double>(), rate_of(ideal, node, frame), 3e-4));
      EXPECT_TRUE(is_near(to_eigen(jacobian_bias(single, node, frame)).cast<double>(),
                          to_eigen(jacobian_bias(ideal, node, frame)), 3e-4));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, KinematicRates, testing::Range(0, 24));

/// A body one metre out on the x axis of a turntable about z, by this hinge.
Model on_turntable(Hinge hinge) {
  BodySpec table{.name = "table"};
  table.hinge = {.name = "turn", .type = HingeType::revolute, .axis = {0, 0, 1}};
  BodySpec rider{.name = "rider", .parent = "table", .hinge = std::move(hinge)};
  rider.X_PF = Transform<double>::translate({1, 0, 0});
  rider.inertia = RigidInertia<double>::about_center(2, {0, 0, 0}, Sym3<double>::diagonal(0.3, 0.2, 0.1));
  return ModelBuilder().add(table).add(rider).build();
}

TEST(KinematicRatesInClosedForm, TurningHinges) {  // item K5: RK88 2.19
  const Model model = on_turntable({.type = HingeType::revolute, .axis = {0, 1, 0}});
  State dynamics(model);
  const double w = 3;
  const double u = 0.7;
  dynamics.set(Eigen::Vector2d(0.4, 0), Eigen::Vector2d(w, u));
  // the hinge's axis turns with the table: ω × Hθ̇; its point goes round: ω × (ω × l)
  EXPECT_TRUE(is_near(bias_accelerations(dynamics)[1], Motion<double>{{-w * u, 0, 0}, {-w * w, 0, 0}}, 1e-14));
}

TEST(KinematicRatesInClosedForm, SlidingHinges) {  // item K5: RK88 2.31–2.32
  const Model model = on_turntable({.type = HingeType::prismatic, .axis = {1, 0, 0}});
  State dynamics(model);
  const double w = 3;
  const double u = 0.7;
  const double x = 0.5;
  dynamics.set(Eigen::Vector2d(0.4, x), Eigen::Vector2d(w, u));
  const Motion<double> alpha = accelerations(dynamics, Eigen::Vector2d(5, 7))[1];
  // outward: θ̈ less the centripetal part; sideways: Euler's and Coriolis' accelerations
  EXPECT_TRUE(is_near(alpha, Motion<double>{{0, 0, 5}, {7 - w * w * (1 + x), 5 * (1 + x) + 2 * w * u, 0}}, 1e-13));
}

TEST(KinematicRatesInClosedForm, HingesWithSeveralVelocities) {  // items K5, K6: ball joints
  const Vec3<double> rate{0.7, -0.2, 1.1};
  const double w = 3;
  State ball(on_turntable({.type = HingeType::spherical}).with_gravity({0, 0, 0}));
  Eigen::VectorXd q = neutral(ball.model());
  Eigen::Vector4d v(w, rate.x, rate.y, rate.z);
  ball.set(q, v);
  const Vec3<double> turning{0, 0, w};
  const Vec3<double> all = turning + rate;
  EXPECT_TRUE(is_near(bias_accelerations(ball)[1], Motion<double>{cross(turning, rate), {-w * w, 0, 0}}, 1e-14));
  // b = ω × 𝒥ω and the moment of ω's rate are all that the ball joint has to hold
  const Sym3<double> inertia = Sym3<double>::diagonal(0.3, 0.2, 0.1);
  const Vec3<double> moment = inertia * cross(turning, rate) + cross(all, inertia * all);
  EXPECT_TRUE(is_near(Eigen::VectorXd(bias(ball).tail<3>()), to_eigen(moment), 1e-14));

  State cross_joint(on_turntable({.type = HingeType::universal, .axis = {0, 0, 1}, .axis2 = {1, 0, 0}}));
  const double angle = 0.6;
  const double tilt = -0.9;
  cross_joint.set(Eigen::Vector3d(0.3, angle, tilt), Eigen::Vector3d(w, 0.5, 0.8));
  // in the table's axes ω = z(w + v0) + e v1 with e = R(z, angle)x, which turns with w + v0: ω' = z × e (w + v0) v1
  const Rotation<double> R_TB = Rotation<double>::about_z(angle) * Rotation<double>::about_x(tilt);
  const Vec3<double> e = Rotation<double>::about_z(angle) * Vec3<double>::unit_x();
  const Motion<double> expected{cross(Vec3<double>::unit_z(), e) * ((w + 0.5) * 0.8), {-w * w, 0, 0}};
  EXPECT_TRUE(is_near(R_TB * bias_accelerations(cross_joint)[1], expected, 1e-14));
}

TEST(KinematicRatesInClosedForm, GravityIsAnAccelerationOfTheBase) {  // item K5: RK88 3.21
  Random random(310);
  for (int sample = 0; sample < 10; ++sample) {
    const ModelBuilder tree = random_tree(10, 0.1 * sample, random);
    ModelBuilder lifted;  // the same on a platform that can go anywhere
    lifted.set_gravity({0, 0, 0});
    BodySpec platform{.name = "platform"};
    platform.hinge.type = HingeType::translational;
    lifted.add(platform);
    for (BodySpec body : tree.bodies()) {
      body.parent = body.parent == world_name ? "platform" : body.parent;
      lifted.add(std::move(body));
    }
    const Vec3<double> g = random.vec3(10);
    const Model model = tree.build().with_gravity(g);
    const int n = model.nv();
    const Eigen::VectorXd q = random_configuration(model, 1);
    const Eigen::VectorXd v = random.vector(n);
    const Eigen::VectorXd a = random.vector(n);
    const auto with = [](const Eigen::Vector3d& first, const Eigen::VectorXd& rest) {
      Eigen::VectorXd out(3 + rest.size());
      out << first, rest;
      return out;
    };
    State heavy(model, PassiveForces::left_out);
    State accelerated(lifted.build(), PassiveForces::left_out);
    heavy.set(q, v);
    accelerated.set(with({0, 0, 0}, q), with({0, 0, 0}, v));
    const Eigen::VectorXd torque = inverse_dynamics(accelerated, with(-to_eigen(g), a));
    EXPECT_TRUE(is_near(inverse_dynamics(heavy, a), Eigen::VectorXd(torque.tail(n)), 1e-12));
  }
}

TEST(KinematicRatesInClosedForm, FreeBases) {  // item K6: H(n+1) = I, quaternion kinematics (RK88 App. B, RK92 74–79)
  Random random(311);
  BodySpec base{.name = "base", .inertia = random.inertia()};
  base.hinge.type = HingeType::free;
  BodySpec arm{.name = "arm", .parent = "base", .hinge = random_hinge(HingeType::revolute, random)};
  arm.X_PF = random.transform();
  arm.inertia = random.inertia();
  const Model model = ModelBuilder().add(base).add(arm).build();
  const Eigen::VectorXd q = random_configuration(model, 4);
  const Eigen::VectorXd v = random.vector(7);
  const Eigen::VectorXd a = random.vector(7);
  State dynamics(model);
  dynamics.set(q, v);
  EXPECT_TRUE(is_near(jacobian(dynamics, "base", Frame::node).leftCols<6>(),
                      Eigen::MatrixXd(Eigen::MatrixXd::Identity(6, 6)), 1e-14));
  const Vec3<double> w{v[0], v[1], v[2]};
  const Vec3<double> u{v[3], v[4], v[5]};
  const Motion<double> expected{{a[0], a[1], a[2]}, Vec3<double>{a[3], a[4], a[5]} + cross(w, u)};
  EXPECT_TRUE(is_near(accelerations(dynamics, a)[0], expected, 1e-14)) << "v's rate in axes that turn, and ω × v";
  const Eigen::VectorXd rate =
      central_difference([&](double t) -> Eigen::VectorXd { return integrate(model, q, v, t); }, step);
  const Quaternion<double> turn{q[0], q[1], q[2], q[3]};
  const Quaternion<double> half = turn * Quaternion<double>{0, w.x / 2, w.y / 2, w.z / 2};
  EXPECT_TRUE(is_near(Eigen::VectorXd(rate.head<4>()), Eigen::Vector4d(half.w, half.x, half.y, half.z), 1e-11));
  EXPECT_TRUE(is_near(Eigen::VectorXd(rate.segment<3>(4)), to_eigen(Rotation<double>(turn) * u), 1e-11));
}

TEST(KinematicRatesInClosedForm, BasesOnAnySubmanifoldOfFreeMotion) {  // item K6
  Random random(312);
  for (const HingeType type : all_hinge_types) {
    const Hinge hinge = random_hinge(type, random);
    const int n = hinge.velocity_size();
    const ModelBuilder tree = random_tree(6, 0.3, random);
    const auto on_base = [&](const Hinge& by) {
      BodySpec base{.name = "base", .hinge = by, .inertia = tree.bodies()[0].inertia};
      base.X_PF = tree.bodies()[0].X_PF;
      ModelBuilder out;
      out.add(base);
      for (BodySpec body : tree.bodies()) {
        body.parent = body.parent == world_name ? "base" : body.parent;
        out.add(std::move(body));
      }
      return out.build();
    };
    const Model bound = on_base(hinge);
    const Model loose = on_base({.type = HingeType::free});
    const Eigen::VectorXd q = random_configuration(bound, 5);
    const Eigen::VectorXd v = random.vector(bound.nv());
    const Eigen::VectorXd a = random.vector(bound.nv());
    // the same motion in the free base's coordinates: X_FM(q), H*θ̇ and H*θ̈ + (dH*/dt)θ̇
    std::array<Motion<double>, max_hinge_velocities> columns{};
    hinge_joint_map(hinge, q.data(), columns.data());
    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(6, n);
    for (int j = 0; j < n; ++j) {
      H.col(j) = to_eigen(columns[static_cast<std::size_t>(j)]);
    }
    const Transform<double> pose = hinge_pose(hinge, q.data());
    const Eigen::Quaterniond turn(Eigen::Matrix3d(to_eigen(pose.rotation)));
    const int rest = bound.nv() - n;
    Eigen::VectorXd loose_q(loose.nq());
    Eigen::VectorXd loose_v(loose.nv());
    Eigen::VectorXd loose_a(loose.nv());
    loose_q << turn.w(), turn.vec(), to_eigen(pose.translation), q.tail(bound.nq() - hinge.configuration_size());
    loose_v << H * v.head(n), v.tail(rest);
    loose_a << H * a.head(n) + to_eigen(hinge_bias(hinge, q.data(), v.data())), a.tail(rest);
    State x(bound, PassiveForces::left_out);
    State y(loose, PassiveForces::left_out);
    x.set(q, v);
    y.set(loose_q, loose_v);
    for (std::size_t k = 0; k < bound.bodies().size(); ++k) {
      EXPECT_TRUE(is_near(accelerations(x, a)[k], accelerations(y, loose_a)[k], 1e-11)) << to_string(type);
    }
    const Eigen::VectorXd torque = inverse_dynamics(y, loose_a);
    Eigen::VectorXd projected(bound.nv());
    projected << H.transpose() * torque.head<6>(), torque.tail(rest);
    EXPECT_TRUE(is_near(inverse_dynamics(x, a), projected, 1e-11)) << to_string(type);
  }
}

TEST(KinematicRatesArguments, BadOnesAreRefusedAndLeaveTheState) {
  RandomState state(0);
  State dynamics = state.dynamics<double>();
  const std::vector<Motion<double>> before = bias_accelerations(dynamics);
  const auto n = static_cast<std::size_t>(state.model.nv());
  std::vector<double> out(6 * n);
  for (const int body : {-2, static_cast<int>(state.model.bodies().size())}) {
    const Node node{"nowhere", body, Transform<double>::identity()};
    EXPECT_THROW(jacobian(dynamics, node, Frame::node, out), ArgumentError);
    EXPECT_THROW(jacobian_rate(dynamics, node, Frame::node, out), ArgumentError);
    EXPECT_THROW(static_cast<void>(jacobian_bias(dynamics, node, Frame::node)), ArgumentError);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Node lost{"lost", 0, Transform<double>::translate({0, nan, 0})};
  EXPECT_THROW(jacobian_rate(dynamics, lost, Frame::node, out), ArgumentError);
  EXPECT_THROW(jacobian_rate(dynamics, state.model.node("b1"), Frame::node, std::span(out).first(6 * n - 1)),
               ArgumentError);
  state.a[1] = nan;
  EXPECT_THROW(static_cast<void>(accelerations(dynamics, state.a)), ArgumentError);
  std::vector<Motion<double>> few(3);
  EXPECT_THROW(bias_accelerations(dynamics, few), ArgumentError);
  EXPECT_EQ(bias_accelerations(dynamics), before);
}

}  // namespace
}  // namespace bunraku::test
