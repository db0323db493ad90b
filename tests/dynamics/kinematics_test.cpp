/// Poses, velocities and the centre of mass, against closed forms, finite differences and invariants.
#include "bunraku/dynamics/kinematics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/momentum.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/finite_difference.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

BodySpec link(const std::string& name, const std::string& parent, const Vec3<double>& at) {
  BodySpec spec{.name = name, .parent = parent};
  spec.hinge.type = HingeType::revolute;
  spec.hinge.axis = Vec3<double>::unit_y();
  spec.X_PF = Transform<double>::translate(at);
  spec.inertia = RigidInertia<double>::about_center(2, {0, 0, -0.5}, Sym3<double>::diagonal(0.1, 0.1, 0.01));
  return spec;
}

TEST(Kinematics, DoublePendulumInClosedForm) {
  const Model model =
      ModelBuilder().add(link("upper", "world", {0, 0, 0})).add(link("lower", "upper", {0, 0, -1})).build();
  State kinematics(model);
  const double a = 0.4;
  const double b = -1.1;
  const double da = 2.0;
  const double db = 0.7;
  kinematics.set(Eigen::Vector2d(a, b), Eigen::Vector2d(da, db));
  // a turn by a about y takes −z to (−sin a, 0, −cos a)
  EXPECT_TRUE(is_near(pose(kinematics, 1).translation, Vec3<double>{-std::sin(a), 0, -std::cos(a)}, 1e-15));
  const Vec3<double> center =
      (Vec3<double>{-std::sin(a), 0, -std::cos(a)} * 1.5 + Vec3<double>{-std::sin(a + b), 0, -std::cos(a + b)} * 0.5) /
      2.0;
  EXPECT_TRUE(is_near(center_of_mass(kinematics), center, 1e-15));
  const Motion<double> v = velocity(kinematics, 1, Frame::aligned);
  EXPECT_TRUE(is_near(v, Motion<double>{{0, da + db, 0}, Vec3<double>{-std::cos(a), 0, std::sin(a)} * da}, 1e-15));
}

TEST(Kinematics, VelocitiesAreTheRatesOfPosesOnTreesOfAllHinges) {  // item K3: V = φ*H*θ̇
  Random random(50);
  for (int sample = 0; sample < 20; ++sample) {
    const Model model = random_tree(15, 0.1 * (sample % 10), random).build();
    const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
    const Eigen::VectorXd v = random.vector(model.nv());
    State now(model);
    now.set(q, v);
    for (int i = 0; i < static_cast<int>(model.bodies().size()); ++i) {
      State moving(model);
      const Motion<double> expected = body_velocity(
          [&](double t) {
            moving.set(integrate(model, q, v, t));
            return pose(moving, i);
          },
          2e-3);
      ASSERT_TRUE(is_near(velocity(now, i, Frame::node), expected, 1e-9)) << "sample " << sample << ", body " << i;
    }
  }
}

TEST(Kinematics, NodesMoveWithTheirBodies) {
  Random random(51);
  ModelBuilder builder = random_tree(5, 0, random);
  const Transform<double> x = random.transform();
  builder.add(NodeSpec{.name = "tool", .body = "b4", .X_BN = x});
  builder.add(NodeSpec{.name = "anchor", .X_BN = x});
  const Model model = builder.build();
  State kinematics(model);
  kinematics.set(random_configuration(model, 3), random.vector(model.nv()));
  EXPECT_TRUE(is_near(to_eigen(pose(kinematics, "tool")), to_eigen(pose(kinematics, 4) * x), 1e-14));
  EXPECT_TRUE(is_near(velocity(kinematics, "tool", Frame::node), inverse_times(x, velocity(kinematics, 4, Frame::node)),
                      1e-14));
  EXPECT_TRUE(is_near(to_eigen(pose(kinematics, "anchor")), to_eigen(x), 1e-15));
  EXPECT_EQ(velocity(kinematics, "anchor", Frame::node), Motion<double>::zero());
  EXPECT_THROW(static_cast<void>(pose(kinematics, "nothing")), ArgumentError);
}

TEST(Kinematics, MimicHingesFollowExactly) {
  BodySpec follower = link("b", "a", {0, 0, -1});
  follower.hinge.mimic = Mimic{"a_hinge", -0.5, 0.2};
  const Model coupled = ModelBuilder().add(link("a", "world", {0, 0, 0})).add(follower).build();
  const Model open = ModelBuilder().add(link("a", "world", {0, 0, 0})).add(link("b", "a", {0, 0, -1})).build();
  State x(coupled);
  State y(open);
  x.set(Eigen::VectorXd::Constant(1, 0.8), Eigen::VectorXd::Constant(1, 3.0));
  y.set(Eigen::Vector2d(0.8, -0.5 * 0.8 + 0.2), Eigen::Vector2d(3, -1.5));
  EXPECT_EQ(pose(x, 1), pose(y, 1));
  EXPECT_EQ(velocity(x, 1, Frame::node), velocity(y, 1, Frame::node));
}

TEST(Kinematics, MergingFixedBodiesChangesNothingThatMoves) {
  Random random(52);
  for (int sample = 0; sample < 10; ++sample) {
    ModelBuilder builder = random_tree(25, 0.4, random);
    builder.add(BodySpec{.name = "mount", .X_PF = random.transform(), .inertia = random.inertia()});
    builder.add(BodySpec{.name = "plate", .parent = "b9", .X_PF = random.transform(), .inertia = random.inertia()});
    const Model model = builder.build();
    const Model merged = merge_fixed(model);
    EXPECT_LT(merged.bodies().size(), model.bodies().size());
    ASSERT_EQ(merged.nv(), model.nv());
    EXPECT_NEAR(merged.mass(), model.mass(), 1e-12);
    for (const Body& body : model.bodies()) {
      if (body.nv > 0) {
        EXPECT_EQ(merged.body(merged.hinge_index(body.hinge.name)).q_index, body.q_index);
      }
    }
    State a(model);
    State b(merged);
    const Eigen::VectorXd q = random_configuration(model, 1);
    a.set(q);
    b.set(q);
    EXPECT_TRUE(is_near(center_of_mass(a), center_of_mass(b), 1e-13));
    for (const Body& body : model.bodies()) {
      EXPECT_TRUE(is_near(to_eigen(pose(a, body.name)), to_eigen(pose(b, body.name)), 1e-13)) << body.name;
    }
  }
}

TEST(Kinematics, BadStatesAreRefusedAndLeaveTheOldOne) {
  BodySpec base{.name = "base", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  base.hinge.type = HingeType::free;
  const Model model = ModelBuilder().add(base).build();
  State kinematics(model);
  Eigen::VectorXd q = neutral(model);
  q[4] = 5;
  kinematics.set(q);
  const Transform<double> before = pose(kinematics, "base");
  Eigen::VectorXd bad = q;
  bad[0] = 2;
  try {
    kinematics.set(bad);
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr("the quaternion of hinge 'base_hinge', q[0] to q[3], has norm 2"));
  }
  bad[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(kinematics.set(bad), ArgumentError);
  EXPECT_THROW(kinematics.set(q, q), ArgumentError);
  EXPECT_EQ(pose(kinematics, "base"), before);
}

}  // namespace
}  // namespace bunraku::test
