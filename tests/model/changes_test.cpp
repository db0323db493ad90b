/// Models made from others: changed parameters, locked hinges, two joined. Poses are compared hinge by hinge.
#include "bunraku/model/changes.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/model/configuration.hpp"
#include "bunraku/model/vectors.hpp"
#include "support/near.hpp"
#include "support/problems.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double infinity = std::numeric_limits<double>::infinity();
const RigidInertia<double> unit_body =
    RigidInertia<double>::about_center(1, Vec3<double>::zero(), Sym3<double>::diagonal(1, 1, 1));

BodySpec body(const std::string& name, const std::string& parent, HingeType type = HingeType::revolute) {
  return {.name = name,
          .parent = parent,
          .hinge = {.name = name + "_joint", .type = type},
          .X_PF = Transform<double>::translate({0.1, 0.2, 0.3}),
          .inertia = unit_body};
}

/// The poses of all bodies in the world, from the definition: X_PB = X_PF X_FM(q) X_MB.
std::vector<Transform<double>> poses(const Model& model, const Eigen::VectorXd& q) {
  std::vector<Transform<double>> out;
  for (const Body& b : model.bodies()) {
    const double follows = b.leader == world ? 0 : b.leader_ratio * q[b.q_index] + b.leader_offset;
    const Transform<double> X_FM = hinge_pose(b.hinge, b.leader == world ? q.data() + b.q_index : &follows);
    const Transform<double> X_WP =
        b.parent == world ? Transform<double>::identity() : out[static_cast<std::size_t>(b.parent)];
    out.push_back(X_WP * b.X_PF * X_FM * b.X_MB);
  }
  return out;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Vectors, SayWhatTheHingesSay) {
  BodySpec slide = body("slide", "base", HingeType::cylindrical);
  slide.hinge.dofs = {{.lower = -1, .upper = 2, .velocity = 3, .effort = 4, .armature = 5},
                      {.lower = -6, .damping = 7, .friction = 8, .stiffness = 9}};
  BodySpec follower = body("follower", "slide");
  follower.hinge.mimic = Mimic{"knee_joint"};
  follower.hinge.dofs = {{.lower = -0.1, .upper = 0.1, .armature = 100}};
  BodySpec knee = body("knee", "slide");
  knee.hinge.dofs = {{.upper = 10, .armature = 11}};
  const Model model =
      ModelBuilder().add(body("base", "world", HingeType::free)).add(slide).add(follower).add(knee).build();
  const auto tail = [](const Eigen::VectorXd& x) { return std::vector<double>(x.end() - 3, x.end()); };
  for (const Eigen::VectorXd& x : {lower_limits(model), upper_limits(model)}) {
    ASSERT_EQ(x.size(), 7 + 3);
    EXPECT_TRUE(x.head(7).array().isInf().all());
  }
  EXPECT_THAT(tail(lower_limits(model)), ElementsAre(-1, -6, -infinity));
  EXPECT_THAT(tail(upper_limits(model)), ElementsAre(2, infinity, 10));
  for (const Eigen::VectorXd& x : {velocity_limits(model), effort_limits(model)}) {
    ASSERT_EQ(x.size(), 6 + 3);
    EXPECT_TRUE((x.head(6).array() == infinity).all());
  }
  EXPECT_THAT(tail(velocity_limits(model)), ElementsAre(3, infinity, infinity));
  EXPECT_THAT(tail(effort_limits(model)), ElementsAre(4, infinity, infinity));
  for (const Eigen::VectorXd& x : {armature(model), damping(model), friction(model), stiffness(model)}) {
    ASSERT_EQ(x.size(), 6 + 3);
    EXPECT_TRUE(x.head(6).isZero(0));
  }
  EXPECT_THAT(tail(armature(model)), ElementsAre(5, 0, 11));
  EXPECT_THAT(tail(damping(model)), ElementsAre(0, 7, 0));
  EXPECT_THAT(tail(friction(model)), ElementsAre(0, 8, 0));
  EXPECT_THAT(tail(stiffness(model)), ElementsAre(0, 9, 0));
  std::vector<double> wrong(9);
  EXPECT_THROW(lower_limits(model, wrong), ArgumentError);
  EXPECT_NO_THROW(armature(model, wrong));
}

TEST(Parameters, AreInTheRegressorsOrder) {
  const RigidInertia<double> inertia{1, {2, 3, 4}, {5, 8, 10, 6, 7, 9}};  // Sym3: xx, yy, zz, xy, xz, yz
  EXPECT_THAT(inertia.parameters(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_EQ(RigidInertia<double>::from_parameters(inertia.parameters()), inertia);
}

TEST(Parameters, ChangeAModelAndComeBack) {
  Random random(60);
  const Model model = random_tree(8, 0.3, random).build();
  const Eigen::VectorXd pi = inertial_parameters(model);
  ASSERT_EQ(pi.size(), 80);
  const Model heavier = with_parameters(model, 2 * pi);
  EXPECT_TRUE(is_near(inertial_parameters(heavier), 2 * pi, 0));
  EXPECT_NEAR(heavier.mass(), 2 * model.mass(), 1e-12);
  EXPECT_EQ(inertial_parameters(model), pi) << "the model itself is as it was";
  EXPECT_EQ(heavier.nv(), model.nv());
  EXPECT_THROW(static_cast<void>(with_parameters(model, pi.head(79))), ArgumentError);
  EXPECT_THROW(static_cast<void>(with_parameters(model, -pi)), ModelError);
  EXPECT_THROW(static_cast<void>(with_parameters(model, pi * infinity)), ArgumentError);
}

TEST(Changes, OneInertiaAndOneHinge) {
  const Model model = ModelBuilder().add(body("a", "world")).add(body("b", "a")).build();
  const Model heavy =
      with_inertia(model, "b", RigidInertia<double>::about_center(5, {}, Sym3<double>::diagonal(1, 1, 1)));
  EXPECT_EQ(heavy.mass(), 6);
  EXPECT_EQ(model.mass(), 2);
  const Model odd = with_inertia(model, "b", {1, {}, Sym3<double>::diagonal(1, 1, -1)});
  EXPECT_THAT(std::vector<Problem>(odd.warnings().begin(), odd.warnings().end()),
              ElementsAre(warning("'b' is not positive definite")));
  EXPECT_TRUE(with_inertia(odd, "b", unit_body).warnings().empty());
  EXPECT_THROW(static_cast<void>(with_inertia(model, "b", {infinity, {}, {}})), ModelError);
  EXPECT_THAT(message_of([&] { static_cast<void>(with_inertia(model, "bb", unit_body)); }), HasSubstr("did you mean"));
  const Model geared = with_dofs(model, "b_joint", {{.armature = 0.5}});
  EXPECT_EQ(armature(geared), Eigen::Vector2d(0, 0.5));
  EXPECT_THROW(static_cast<void>(with_dofs(model, "b_joint", {{.armature = -1}})), ModelError);
  EXPECT_THROW(static_cast<void>(with_dofs(model, "b_joint", {{}, {}})), ModelError);
  EXPECT_THROW(static_cast<void>(with_dofs(model, "c_joint", {})), ArgumentError);
}

TEST(Lock, KeepsEveryPose) {
  Random random(61);
  for (int round = 0; round < 10; ++round) {
    const Model model = random_tree(15, 0.4, random).build();
    const Eigen::VectorXd q = random_configuration(model, static_cast<std::uint64_t>(round));
    HingeSet some(model);
    int nq = 0;
    Eigen::VectorXd rest(model.nq());
    for (int i = 0; i < 15; ++i) {
      const Body& b = model.body(i);
      if (b.nv > 0 && i % 3 == round % 3) {
        some.insert(i);
      } else {
        rest.segment(nq, b.nq) = q.segment(b.q_index, b.nq);
        nq += b.nq;
      }
    }
    const Model reduced = lock(model, some, q);
    ASSERT_EQ(reduced.nq(), nq);
    const auto before = poses(model, q);
    const auto after = poses(reduced, rest.head(nq));
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(is_near(after[i], before[i], 1e-13));
    }
    EXPECT_EQ(lock(model, HingeSet::all(model), q).nv(), 0);
  }
}

TEST(Lock, TakesFollowersAlong) {
  BodySpec b = body("b", "a");
  b.hinge.mimic = Mimic{"a_joint", 2, 0.5};
  BodySpec c = body("c", "b");
  c.hinge.mimic = Mimic{"b_joint", -1, 0};
  const Model model = ModelBuilder().add(body("a", "world")).add(b).add(c).add(body("d", "c")).build();
  const Eigen::Vector2d q(0.3, 0.7);
  const Model reduced = lock(model, HingeSet(model, {"a_joint", "b_joint"}), q);
  EXPECT_EQ(reduced.nv(), 1);
  EXPECT_TRUE(is_near(poses(reduced, q.tail(1)).back(), poses(model, q).back(), 1e-14));
  EXPECT_THAT(message_of([&] { static_cast<void>(lock(model, HingeSet(model, {"c_joint"}), q)); }),
              HasSubstr("hinge 'c_joint' follows 'a_joint' and cannot be locked alone: lock 'a_joint'"));
  EXPECT_THROW(static_cast<void>(lock(model, HingeSet(model), q.head(1))), ArgumentError);
  EXPECT_THROW(static_cast<void>(lock(model, HingeSet(reduced.with_gravity({})).insert(0), Eigen::VectorXd())),
               ArgumentError);
  EXPECT_THROW(static_cast<void>(lock(model, HingeSet(ModelBuilder().build()), q)), ArgumentError);
}

TEST(Lock, KeepsWhatIsLeftOfReferences) {
  const Model model = ModelBuilder()
                          .add(body("a", "world"))
                          .add(body("b", "a"))
                          .add_reference({.name = "home", .positions = {{"a_joint", {0.1}}, {"b_joint", {0.2}}}})
                          .build();
  EXPECT_THAT(lock(model, HingeSet(model, {"a_joint"}), neutral(model)).reference("home").q, ElementsAre(0.2));
}

/// a tied to b: q_a − 0.1 = polynomial(q_b − 0.2).
Model tied(std::array<double, 5> polynomial) {
  return ModelBuilder()
      .add(body("a", "world"))
      .add(body("b", "a"))
      .add_closure({.name = "tie",
                    .kind = ClosureKind::hinges,
                    .a = "a_joint",
                    .b = "b_joint",
                    .polynomial = polynomial,
                    .reference_a = 0.1,
                    .reference_b = 0.2})
      .build();
}

TEST(Lock, TiesHoldTheHingeThatIsLeft) {
  const Model cubic = tied({1, 2, 0, 3, 0});
  const Model b_locked = lock(cubic, HingeSet(cubic, {"b_joint"}), Eigen::Vector2d(9, 0.7));
  ASSERT_EQ(b_locked.closures().size(), 1U);
  const Closure& held = b_locked.closures()[0];
  EXPECT_EQ(held.hinge_a, 0);
  EXPECT_EQ(held.hinge_b, world);
  EXPECT_NEAR(held.reference_a + held.polynomial[0], 0.1 + 1 + 2 * 0.5 + 3 * 0.125, 1e-15);

  const Model linear = tied({1, 2, 0, 0, 0});
  const Model a_locked = lock(linear, HingeSet(linear, {"a_joint"}), Eigen::Vector2d(2.1, 9));
  ASSERT_EQ(a_locked.closures().size(), 1U);
  EXPECT_EQ(a_locked.closures()[0].hinge_a, 1);
  EXPECT_EQ(a_locked.closures()[0].hinge_b, world);
  EXPECT_NEAR(a_locked.closures()[0].reference_a + a_locked.closures()[0].polynomial[0], 0.2 + 0.5, 1e-15);

  EXPECT_THAT(
      message_of([&] { static_cast<void>(lock(cubic, HingeSet(cubic, {"a_joint"}), Eigen::Vector2d(2.1, 9))); }),
      HasSubstr("lock 'b_joint' too"));
  const Model holds = lock(linear, HingeSet::all(linear), Eigen::Vector2d(2.1, 0.7));
  EXPECT_TRUE(holds.closures().empty());
  EXPECT_TRUE(holds.warnings().empty());
  const Model fails = lock(linear, HingeSet::all(linear), Eigen::Vector2d(2.2, 0.7));
  EXPECT_THAT(std::vector<Problem>(fails.warnings().begin(), fails.warnings().end()),
              ElementsAre(warning("closure 'tie' is left out: its hinges are locked 0.1 apart from it")));
}

/// Two links, the second with a tool frame, a follower and a reference.
Model gripper(const std::string& first = "palm") {
  BodySpec finger = body("finger", first, HingeType::prismatic);
  BodySpec thumb = body("thumb", first, HingeType::prismatic);
  thumb.hinge.mimic = Mimic{"finger_joint", -1};
  return ModelBuilder("gripper")
      .add(body(first, "world", HingeType::fixed))
      .add(finger)
      .add(thumb)
      .add_node({.name = "mark", .body = "world", .X_BN = Transform<double>::translate({1, 0, 0})})
      .add_closure({.name = "weld", .a = "mark", .b = "world"})
      .add_reference({.name = "open", .positions = {{"finger_joint", {0.04}}}})
      .add_reference({.name = std::string(initial_name), .positions = {{"finger_joint", {0.01}}}})
      .build();
}

Model arm() {
  return ModelBuilder("arm")
      .add(body("upper", "world"))
      .add(body("palm", "upper"))
      .add_node({.name = "flange", .body = "palm", .X_BN = {Rotation<double>::from_rpy(0.1, 0.2, 0.3), {0, 0, 0.5}}})
      .add_reference({.name = "home", .positions = {{"upper_joint", {0.7}}}})
      .build();
}

TEST(Join, PutsTheSecondAtANodeOfTheFirst) {
  const Model a = arm();
  const Model b = gripper();
  const Model both = join(a, "flange", b, "left_");
  EXPECT_EQ(both.name(), "arm");
  EXPECT_EQ(both.nv(), 3);
  const Eigen::Vector3d q(0.3, -0.4, 0.02);
  const Transform<double> X_WN = poses(a, q.head(2))[1] * a.node("flange").X_BN;
  const auto alone = poses(b, q.tail(1));
  const auto joined = poses(both, q);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(both.bodies()[2 + i].name, "left_" + b.bodies()[i].name);
    EXPECT_TRUE(is_near(joined[2 + i], X_WN * alone[i], 1e-14));
  }
  const Node mark = both.node("left_mark");
  EXPECT_EQ(mark.body, 1);
  EXPECT_TRUE(is_near(mark.X_BN, a.node("flange").X_BN * b.node("mark").X_BN, 1e-15));
  EXPECT_EQ(both.closures()[0].b.name, "flange") << "what was tied to its world is tied to the node";
  EXPECT_THAT(both.reference("home").q, ElementsAre(0.7, 0, 0.01)) << "beside the second's initial one";
  EXPECT_THAT(both.reference("open").q, ElementsAre(0, 0, 0.04));
}

TEST(Join, ByAHingeThatMoves) {
  const Model a = arm();
  const Model b = gripper();
  const Hinge wrist{.name = "wrist", .type = HingeType::revolute, .axis = {1, 0, 0}};
  const Model both = join(a, "palm", b, "left_", wrist);
  EXPECT_EQ(both.nv(), 4);
  const Eigen::Vector4d q(0.3, -0.4, 0.9, 0.02);
  const Transform<double> X_WN = poses(a, q.head(2))[1] * Transform<double>::rotate(Rotation<double>::about_x(0.9));
  EXPECT_TRUE(is_near(poses(both, q).back(), X_WN * poses(b, q.tail(1)).back(), 1e-14));
  EXPECT_TRUE(both.find_hinge("wrist"));
  EXPECT_THAT(message_of([&] { static_cast<void>(join(a, "palm", gripper("p"), "", wrist)); }),
              HasSubstr("join them with a prefix"));
}

TEST(Join, NamesThatBothHaveAreRefusedWithTheCure) {
  const std::string message = message_of([] { static_cast<void>(join(arm(), "flange", gripper())); });
  EXPECT_THAT(message, HasSubstr("models 'arm' and 'gripper' both have a hinge called 'palm_joint', and share 1 names "
                                 "more: join them with a prefix"));
  EXPECT_EQ(join(arm(), "flange", gripper("hand")).nv(), 3) << "no prefix is needed where names differ";
  EXPECT_THAT(message_of([] { static_cast<void>(join(arm(), "flang", gripper(), "x_")); }),
              HasSubstr("did you mean 'flange'?"));
  const Model moon = join(arm(), "world", gripper().with_gravity({0, 0, -1.62}), "x_");
  EXPECT_EQ(moon.gravity(), standard_gravity);
  EXPECT_THAT(std::vector<Problem>(moon.warnings().begin(), moon.warnings().end()),
              Contains(warning("the gravity of 'gripper' is not that of 'arm'")));
}

}  // namespace
}  // namespace bunraku::test
