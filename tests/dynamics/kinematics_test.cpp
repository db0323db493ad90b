/// Poses, velocities and the centre of mass, against closed forms, finite differences and invariants.
#include "bunraku/dynamics/kinematics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  Kinematics kinematics(model);
  const double a = 0.4;
  const double b = -1.1;
  const double da = 2.0;
  const double db = 0.7;
  kinematics.set_state(Eigen::Vector2d(a, b), Eigen::Vector2d(da, db));
  // a turn by a about y takes −z to (−sin a, 0, −cos a)
  EXPECT_TRUE(is_near(kinematics.pose(1).translation, Vec3<double>{-std::sin(a), 0, -std::cos(a)}, 1e-15));
  const Vec3<double> center =
      (Vec3<double>{-std::sin(a), 0, -std::cos(a)} * 1.5 + Vec3<double>{-std::sin(a + b), 0, -std::cos(a + b)} * 0.5) /
      2.0;
  EXPECT_TRUE(is_near(kinematics.center_of_mass(), center, 1e-15));
  const Motion<double> v = kinematics.velocity_in_world(1);
  EXPECT_TRUE(is_near(v, Motion<double>{{0, da + db, 0}, Vec3<double>{-std::cos(a), 0, std::sin(a)} * da}, 1e-15));
}

TEST(Kinematics, VelocitiesAreTheRatesOfPosesOnTreesOfAllHinges) {  // item K3: V = φ*H*θ̇
  Random random(50);
  for (int sample = 0; sample < 20; ++sample) {
    const Model model = random_tree(15, 0.1 * (sample % 10), random).build();
    const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
    const Eigen::VectorXd v = random.vector(model.nv());
    Kinematics now(model);
    now.set_state(q, v);
    for (int i = 0; i < static_cast<int>(model.bodies().size()); ++i) {
      Kinematics moving(model);
      const Motion<double> expected = body_velocity(
          [&](double t) {
            moving.set_configuration(integrate(model, q, v, t));
            return moving.pose(i);
          },
          2e-3);
      ASSERT_TRUE(is_near(now.velocity(i), expected, 1e-9)) << "sample " << sample << ", body " << i;
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
  Kinematics kinematics(model);
  kinematics.set_state(random_configuration(model, 3), random.vector(model.nv()));
  EXPECT_TRUE(is_near(kinematics.pose("tool"), to_eigen(kinematics.pose(4) * x), 1e-14));
  EXPECT_TRUE(is_near(kinematics.velocity("tool"), to_eigen(inverse_times(x, kinematics.velocity(4))), 1e-14));
  EXPECT_TRUE(is_near(kinematics.pose("anchor"), to_eigen(x), 1e-15));
  EXPECT_EQ(kinematics.velocity("anchor").norm(), 0);
  EXPECT_THROW(static_cast<void>(kinematics.pose("nothing")), ArgumentError);
}

TEST(Kinematics, MimicHingesFollowExactly) {
  BodySpec follower = link("b", "a", {0, 0, -1});
  follower.hinge.mimic = Mimic{"a_hinge", -0.5, 0.2};
  const Model coupled = ModelBuilder().add(link("a", "world", {0, 0, 0})).add(follower).build();
  const Model open = ModelBuilder().add(link("a", "world", {0, 0, 0})).add(link("b", "a", {0, 0, -1})).build();
  Kinematics x(coupled);
  Kinematics y(open);
  x.set_state(Eigen::VectorXd::Constant(1, 0.8), Eigen::VectorXd::Constant(1, 3.0));
  y.set_state(Eigen::Vector2d(0.8, -0.5 * 0.8 + 0.2), Eigen::Vector2d(3, -1.5));
  EXPECT_EQ(x.pose(1), y.pose(1));
  EXPECT_EQ(x.velocity(1), y.velocity(1));
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
    Kinematics a(model);
    Kinematics b(merged);
    const Eigen::VectorXd q = random_configuration(model, 1);
    a.set_configuration(q);
    b.set_configuration(q);
    EXPECT_TRUE(is_near(a.center_of_mass(), b.center_of_mass(), 1e-13));
    for (const Body& body : model.bodies()) {
      EXPECT_TRUE(is_near(a.pose(body.name), b.pose(body.name), 1e-13)) << body.name;
    }
  }
}

TEST(Kinematics, BadStatesAreRefusedAndLeaveTheOldOne) {
  BodySpec base{.name = "base", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  base.hinge.type = HingeType::free;
  const Model model = ModelBuilder().add(base).build();
  Kinematics kinematics(model);
  Eigen::VectorXd q = neutral(model);
  q[4] = 5;
  kinematics.set_configuration(q);
  const Eigen::Matrix4d before = kinematics.pose("base");
  Eigen::VectorXd bad = q;
  bad[0] = 2;
  try {
    kinematics.set_configuration(bad);
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr("the quaternion of hinge 'base_hinge', q[0] to q[3], has norm 2"));
  }
  bad[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(kinematics.set_configuration(bad), ArgumentError);
  EXPECT_THROW(kinematics.set_state(q, q), ArgumentError);
  EXPECT_EQ(kinematics.pose("base"), before);
}

}  // namespace
}  // namespace bunraku::test
