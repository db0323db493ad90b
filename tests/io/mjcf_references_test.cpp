/// Reference configurations and effort limits of MJCF, against MuJoCo's rules worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mjcf_text.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pointwise;

constexpr double half = 0.5;  // a quarter turn about (1, 1, 1) has the quaternion (1, 1, 1, 1)/2

TEST(MjcfReferences, the_initial_one_is_where_the_file_puts_things) {
  const Model model =
      read(in_world("<frame pos='0 0 1'><body name='b' pos='1 2 3' quat='1 1 1 1'><freejoint name='f'/>" + ball +
                    "<body name='c'><joint name='h' ref='90'/>" + ball +
                    "<body name='d'><joint name='s' type='slide' ref='0.25'/><joint name='p' type='ball'/>" + ball +
                    "</body></body></body></frame>"));
  EXPECT_THAT(warnings(model), IsEmpty());
  ASSERT_EQ(model.references().size(), 1U);
  EXPECT_EQ(model.references()[0].name, initial_name);
  EXPECT_THAT(model.references()[0].q,
              Pointwise(testing::DoubleNear(1e-15),
                        std::vector<double>{half, half, half, half, 1, 2, 4, pi / 2, 0.25, 1, 0, 0, 0}));
  // there, everything is as written
  const std::vector<double>& q = model.references()[0].q;
  expect_near(pose(model, "d", q).translation, {1, 2, 4});
}

TEST(MjcfReferences, neutral_needs_no_name) {
  EXPECT_TRUE(read(in_world("<body><freejoint/>" + ball + "</body>")).references().empty());
  EXPECT_TRUE(read(in_world("<body pos='1 0 0'><joint/>" + ball + "</body>")).references().empty());
}

const std::string walker =
    "<body name='b' pos='0 0 0.445'><freejoint name='f'/>" + ball + "<body><joint name='h'/>" + ball + "</body></body>";

TEST(MjcfReferences, keyframes_have_the_position_before_the_quaternion) {
  const Model model = read(in_world(walker, "",
                                    "<keyframe><key name='stand' qpos='1 2 3 2 0 0 0 0.5'/><key ctrl='1'/>"
                                    "<key name='zero' qpos='0 0 0 0 0 0 0 0'/></keyframe>"));
  ASSERT_EQ(model.references().size(), 4U);
  EXPECT_THAT(model.reference("stand").q, ElementsAre(1, 0, 0, 0, 1, 2, 3, 0.5)) << "normalized";
  EXPECT_EQ(model.reference("stand").where.line, 2);
  EXPECT_EQ(model.reference("key_1").q, model.reference(initial_name).q) << "what it does not say is as in the file";
  EXPECT_THAT(model.reference("zero").q, ElementsAre(1, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(warnings(model), ElementsAre("2: attribute 'ctrl' of <key> is not used"));
}

TEST(MjcfReferences, wrong_keyframes_are_left_out) {
  const Model model = read(in_world(walker, "",
                                    "<keyframe><key name='a' qpos='1 2 3'/><key name='b' qpos='0 0 0 1 0 0 0 much'/>"
                                    "<key name='initial'/></keyframe>"));
  ASSERT_EQ(model.references().size(), 2U);
  EXPECT_EQ(model.references()[1].name, "initial_key");
  EXPECT_THAT(warnings(model),
              Contains("2: 'qpos' of <key name=\"a\"> has 3 numbers where 8 are wanted: the keyframe is not used"));
  EXPECT_THAT(warnings(model), Contains(HasSubstr("'much' is not a number: the keyframe is not used")));
}

TEST(MjcfReferences, many_keyframes_do_not_fill_the_memory) {
  std::string bodies;
  for (int i = 0; i < 1000; ++i) {
    bodies += "<body><joint ref='1'/>" + ball + "</body>";
  }
  std::string keys;
  for (int i = 0; i < 20'000; ++i) {
    keys += "<key/>";
  }
  const Model model = read(in_world(bodies, "", "<keyframe>" + keys + "</keyframe>"));
  EXPECT_EQ(model.references().size(), 1001U);
  EXPECT_THAT(warnings(model), Contains(HasSubstr("more than 1000000 numbers: the keyframe is not used")));
}

/// The effort of joint j with the actuators.
double effort(const std::string& actuators, const std::string& joint = "", const std::string& before = "") {
  return body(read(in_world("<body name='b'><joint name='j' " + joint + "/>" + ball + "</body>", before,
                            "<actuator>" + actuators + "</actuator>")),
              "b")
      .hinge.dofs.at(0)
      .effort;
}

TEST(MjcfActuators, bound_the_effort) {
  EXPECT_EQ(effort("<motor joint='j'/>"), infinity);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-2 2' gear='-3'/>"), 6);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-2 2' ctrllimited='false'/>"), infinity);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-2 2' forcerange='-1 1' gear='3 0 0'/>"), 3);
  EXPECT_EQ(effort("<motor joint='j' ctrlrange='-2 2' forcerange='-5 5'/>"), 2);
  EXPECT_EQ(effort("<position joint='j' kp='10' ctrlrange='-2 2'/>"), infinity) << "a position bounds no force";
  EXPECT_EQ(effort("<position joint='j' kp='10' ctrlrange='-2 2' forcerange='-7 7'/>"), 7);
  EXPECT_EQ(effort("<general joint='j' ctrlrange='-2 2' gainprm='-4'/>"), 8);
  EXPECT_EQ(effort("<general joint='j' ctrlrange='-2 2' gainprm='4' biastype='affine' biasprm='0 -4 0'/>"), infinity);
  EXPECT_EQ(effort("<motor jointinparent='j' ctrlrange='-2 2'/>"), 2);
}

TEST(MjcfActuators, add_up_within_what_the_joint_allows) {
  const std::string two = "<motor joint='j' ctrlrange='-2 2'/><motor joint='j' ctrlrange='-3 3'/>";
  EXPECT_EQ(effort(two), 5);
  EXPECT_EQ(effort(two, "actuatorfrcrange='-4 4'"), 4);
  EXPECT_EQ(effort(two, "actuatorfrcrange='-9 9'"), 5);
  EXPECT_EQ(effort(two + "<motor joint='j'/>"), infinity);
}

TEST(MjcfActuators, share_their_defaults) {
  EXPECT_EQ(effort("<motor joint='j'/>", "", "<default><position forcerange='-7 7'/><motor gear='2'/></default>"), 14);
}

TEST(MjcfActuators, warn_where_the_bound_is_not_symmetric) {
  const Model model = read(in_world("<body name='b'><joint name='j'/>" + ball + "</body>", "",
                                    "<actuator><motor name='m' joint='j' ctrlrange='-1 4'/></actuator>"));
  EXPECT_EQ(body(model, "b").hinge.dofs[0].effort, 4);
  EXPECT_THAT(warnings(model),
              ElementsAre("2: the force of <motor name=\"m\"> is not bounded alike in both directions: "
                          "4 is used for both"));
}

TEST(MjcfActuators, of_anything_but_joints_are_listed) {
  const Model model = read(in_world("<body name='b'><joint name='j'/>" + ball + "<site name='s'/></body>", "",
                                    "<actuator><motor site='s'/>\n<motor tendon='t'/><adhesion body='b'/></actuator>"));
  EXPECT_THAT(warnings(model), ElementsAre("2: <motor> in <actuator> is not used (2 places, this is the first)",
                                           "3: <adhesion> in <actuator> is not used"));
}

}  // namespace
}  // namespace bunraku::test::mjcf
