/// Reactions: Newton's and Euler's laws for each body, each subtree and the whole.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/finite_difference.hpp"
#include "support/near.hpp"
#include "support/plain_kinematics.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

class Reactions : public testing::TestWithParam<int> {
 protected:
  Random random{static_cast<unsigned>(GetParam()) + 600};
  Model model = random_dynamics_model(GetParam(), random);
  int N = static_cast<int>(model.bodies().size());
  Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(GetParam()));
  Eigen::VectorXd v = random.vector(model.nv());
  Eigen::VectorXd a = random.vector(model.nv());
  PlainKinematics kinematics{model};
  State dynamics{model};

  void SetUp() override {
    kinematics.set_state(q, v);
    dynamics.set(q, v);
  }
  /// The wrench that a body needs in the world, about its origin: the rate of its momentum, by differences, less
  /// gravity.
  Eigen::VectorXd needed(int k) const {
    const RigidInertia<double>& inertia = model.bodies()[static_cast<std::size_t>(k)].inertia;
    const Eigen::VectorXd rate = central_difference(
        [&](double t) -> Eigen::VectorXd {
          PlainKinematics moved(model);
          moved.set_state(integrate(model, q, v, t), v + t * a);
          const Eigen::Matrix3d R = to_eigen(moved.pose(k).rotation);
          const Eigen::Vector3d center = to_eigen(moved.pose(k) * inertia.center());
          const Motion<double> V = moved.velocity(k);
          const Eigen::Vector3d w = to_eigen(V.angular);
          const Eigen::Vector3d linear = inertia.mass * (to_eigen(V.linear) + w.cross(to_eigen(inertia.center())));
          Eigen::VectorXd momentum(6);
          momentum << R * (to_eigen(inertia.central()) * w) + center.cross(R * linear), R * linear;
          return momentum;
        },
        2e-3);
    const Eigen::Vector3d weight = inertia.mass * to_eigen(model.gravity());
    Eigen::VectorXd out = rate;
    out.head<3>() -= to_eigen(kinematics.pose(k) * inertia.center()).cross(weight);
    out.tail<3>() -= weight;
    return out;
  }
  /// A wrench at a body's origin in its axes, in the world's about its origin.
  Eigen::VectorXd in_world(int k, const Force<double>& f) const {
    const Eigen::Matrix3d R = to_eigen(kinematics.pose(k).rotation);
    Eigen::VectorXd out(6);
    out.tail<3>() = R * to_eigen(f.force);
    out.head<3>() = R * to_eigen(f.moment) + to_eigen(kinematics.pose(k).translation).cross(out.tail<3>());
    return out;
  }
};

TEST_P(Reactions, ObeyNewtonForEachBodyAndSubtree) {  // item I1
  std::vector<AppliedForce<double>> forces;
  std::vector<Eigen::VectorXd> applied(static_cast<std::size_t>(N), Eigen::VectorXd::Zero(6));
  for (int i = 0; i < 4; ++i) {
    const Node node{"n", random.integer(-1, N - 1), random.transform()};
    const Force<double> f = random.force();
    forces.emplace_back(node, f, i % 2 == 0 ? Frame::node : Frame::world);
    if (node.body != world) {
      applied[static_cast<std::size_t>(node.body)] +=
          i % 2 == 0 ? in_world(node.body, node.X_BN * f) : Eigen::VectorXd(to_eigen(f));
    }
  }
  const std::vector<Force<double>> f = reactions(dynamics, a, forces);
  std::vector<Eigen::VectorXd> through_hinge(static_cast<std::size_t>(N));
  std::vector<Eigen::VectorXd> subtree(static_cast<std::size_t>(N), Eigen::VectorXd::Zero(6));
  Eigen::VectorXd whole = Eigen::VectorXd::Zero(6);
  std::vector<Eigen::VectorXd> left(static_cast<std::size_t>(N), Eigen::VectorXd::Zero(6));
  for (int k = N - 1; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    through_hinge[at] = in_world(k, f[at]);
    const Eigen::VectorXd own = needed(k) - applied[at];
    left[at] += through_hinge[at] - own;  // less what the children take
    subtree[at] += own;
    EXPECT_TRUE(is_near(left[at], Eigen::VectorXd(Eigen::VectorXd::Zero(6)), 1e-8 * own.cwiseAbs().maxCoeff() + 1e-7))
        << "body " << k;
    EXPECT_TRUE(is_near(through_hinge[at], subtree[at], 1e-8)) << "the subtree of body " << k;
    if (const int p = model.bodies()[at].parent; p != world) {
      left[static_cast<std::size_t>(p)] -= through_hinge[at];
      subtree[static_cast<std::size_t>(p)] += subtree[at];
    } else {
      whole += through_hinge[at];
    }
  }
  // the world's reaction: the rate of the momentum of all, about the centre of mass, less gravity and what is applied
  const Eigen::VectorXd rate = central_difference(
      [&](double t) -> Eigen::VectorXd {
        State moved(model);
        moved.set(integrate(model, q, v, t), v + t * a);
        return to_eigen(momentum(moved));
      },
      2e-3);
  for (const Eigen::VectorXd& each : applied) {
    whole += each;
  }
  const Eigen::Vector3d center = to_eigen(kinematics.center_of_mass());
  Eigen::VectorXd about_center = whole;
  about_center.head<3>() -= center.cross(whole.tail<3>());
  about_center.tail<3>() += model.mass() * to_eigen(model.gravity());
  EXPECT_TRUE(is_near(about_center, rate, 1e-8));
}

TEST_P(Reactions, GiveTheTorquesOfTheHinges) {  // item I1: T = Hf
  State ideal(model, PassiveForces::left_out);
  ideal.set(q, v);
  const std::vector<Force<double>> f = reactions(ideal, a);
  const Eigen::VectorXd torque = inverse_dynamics(ideal, a);
  Eigen::VectorXd projected = Eigen::VectorXd::Zero(model.nv());
  std::vector<Motion<double>> columns(max_hinge_velocities);
  for (int k = 0; k < N; ++k) {
    const Body& body = model.bodies()[static_cast<std::size_t>(k)];
    std::vector<double> own(max_hinge_positions);
    for (int i = 0; i < body.hinge.configuration_size(); ++i) {
      own[static_cast<std::size_t>(i)] =
          body.leader == world ? q[body.q_index + i] : body.leader_ratio * q[body.q_index] + body.leader_offset;
    }
    hinge_joint_map(body.hinge, own.data(), columns.data());
    const Force<double> at_hinge = body.X_MB * f[static_cast<std::size_t>(k)];
    for (int j = 0; j < body.hinge.velocity_size(); ++j) {
      const double ratio = body.leader == world ? 1 : body.leader_ratio;
      const int at = body.v_index + (body.leader == world ? j : 0);
      const double armature = body.hinge.dofs[static_cast<std::size_t>(j)].armature;
      projected[at] += ratio * (dot(columns[static_cast<std::size_t>(j)], at_hinge) + armature * ratio * a[at]);
    }
  }
  EXPECT_TRUE(is_near(projected, torque, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Trees, Reactions, testing::Range(0, 16));  // mimics too

TEST(ReactionCalls, ABoxOnAShelf) {
  BodySpec box{.name = "box"};
  box.inertia = RigidInertia<double>::about_center(2, {0.5, 0, 0.25}, Sym3<double>::diagonal(1, 1, 1));
  State dynamics(ModelBuilder().add(box).build());
  const Force<double> f = reactions(dynamics, Eigen::VectorXd(0))[0];
  EXPECT_TRUE(is_near(f, Force<double>{{0, -0.5 * 2 * 9.81, 0}, {0, 0, 2 * 9.81}}, 1e-14));
}

TEST(ReactionCalls, InFloat) {
  Random random(650);
  const Model model = random_dynamics_model(3, random);
  const Eigen::VectorXd q = random_configuration(model, 3);
  const Eigen::VectorXd v = random.vector(model.nv());
  const Eigen::VectorXd a = random.vector(model.nv());
  State exact(model);
  BasicState<float> dynamics(model);
  exact.set(q, v);
  dynamics.set(q.cast<float>(), v.cast<float>());
  const auto f = reactions(exact, a);
  const auto rough = reactions(dynamics, a.cast<float>());
  for (std::size_t k = 0; k < f.size(); ++k) {
    EXPECT_TRUE(is_near(to_eigen(rough[k]).cast<double>(), to_eigen(f[k]), 2e-4));
  }
}

TEST(ReactionCalls, RefuseWrongArguments) {
  Random random(651);
  const Model model = random_tree(4, 0, random).build();
  State dynamics(model);
  const Eigen::VectorXd a = random.vector(model.nv());
  std::vector<Force<double>> out(3);
  EXPECT_THROW(reactions(dynamics, detail::as_span(a), out), ArgumentError);
  EXPECT_THROW(static_cast<void>(reactions(dynamics, a.head(1))), ArgumentError);
  AppliedForce<double> nowhere;
  nowhere.body = 7;
  EXPECT_THROW(static_cast<void>(reactions(dynamics, a, {&nowhere, 1})), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
