// Joints of MJCF, and the equalities between them.
// Where a comment names MuJoCo, the numbers are what MuJoCo 4.0.0 makes of the same file.

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/mjcf_text.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ----------------------------------------------------------------------------------------------------------
// Joints

TEST(Mjcf, makes_a_chain_of_several_joints) {
  const Model model = read(R"(<mujoco>
  <worldbody>
    <body name="b" pos="1 2 3" euler="10 20 30">
      <joint name="x" type="slide" axis="1 0 0" ref="0.3"/>
      <joint name="y" axis="0 1 1" pos="0.1 0.2 0.3" ref="20"/>
      <joint type="slide" axis="0 0 1"/>
      <geom size="0.1"/>
      <body name="c" pos="0.5 0 0" euler="0 40 0">
        <joint axis="1 2 3" pos="0 0.5 0" ref="-30"/>
        <geom size="0.1"/>
      </body>
    </body>
  </worldbody>
</mujoco>)");
  ASSERT_THAT(model.bodies(), SizeIs(4));
  EXPECT_EQ(model.body(0).name, "b/x");
  EXPECT_EQ(model.body(1).name, "b/y");
  EXPECT_EQ(model.body(2).name, "b");
  EXPECT_EQ(model.body(2).hinge.name, "b_joint");
  EXPECT_EQ(model.body(3).hinge.name, "c_joint");
  EXPECT_EQ(model.body(0).inertia.mass, 0);
  EXPECT_EQ(model.body(1).inertia.mass, 0);
  const std::vector<double> q = {0.5, 1, -0.25, 0.75};
  expect_near(pose(model, "b", q),
              Rows{{{0.2995408747120351, -0.7355176918722068, 0.6076915248049213, 1.0356951975844533},
                    {0.855241238171752, 0.4893164103201019, 0.1706806231588643, 2.001571509705266},
                    {-0.422892053492611, 0.46859702894323946, 0.7756153270522517, 2.8019032601099467}}});
  expect_near(pose(model, "c", q),
              Rows{{{-0.9301191417673629, 0.11086901143624506, 0.3501234702517023, 0.762272283286245},
                    {0.36716466431243017, 0.259232980992949, 0.893301948305191, 2.5442338434547187},
                    {0.00827595301372333, 0.9594302079196065, -0.28182474116559675, 2.345040643875458}}});
}

TEST(Mjcf, is_as_written_at_the_reference) {
  const Model model = read(in_world("<body name='b' pos='1 2 3'><joint pos='1 0 0' ref='30'/>" + ball + "</body>" +
                                    "<body name='c' pos='1 2 3'><joint type='slide' ref='4'/>" + ball + "</body>"));
  const std::vector<double> q = {30 * degree, 4};
  for (const char* name : {"b", "c"}) {
    expect_near(pose(model, name, q), Rows{{{1, 0, 0, 1}, {0, 1, 0, 2}, {0, 0, 1, 3}}});
  }
}

TEST(Mjcf, leaves_the_pose_to_a_free_joint) {
  const Model model =
      read(in_world("<frame pos='5 5 5'><body name='b' pos='1 2 3' euler='10 20 30'><freejoint name='root'/>" + ball +
                        "</body></frame><body name='c'><joint type='free' damping='2'/>" + ball + "</body>",
                    "<default><joint armature='0.5'/></default>"));
  const Body& b = body(model, "b");
  EXPECT_EQ(b.hinge.type, HingeType::free);
  EXPECT_EQ(b.hinge.name, "root");
  EXPECT_EQ(b.X_PF, Transform<double>::identity());
  EXPECT_EQ(b.X_MB, Transform<double>::identity());
  ASSERT_THAT(b.hinge.dofs, SizeIs(6));
  EXPECT_EQ(b.hinge.dofs[3].armature, 0);  // a freejoint has no defaults
  EXPECT_EQ(body(model, "c").hinge.dofs[5].armature, 0.5);
  EXPECT_EQ(body(model, "c").hinge.dofs[5].damping, 2);
}

TEST(Mjcf, turns_a_ball_about_its_point) {
  const Model model = read(in_world(
      "<body name='b' pos='1 2 3'><joint type='ball' pos='0.5 0 0' damping='1' stiffness='2'/>" + ball + "</body>"));
  const double h = std::sqrt(0.5);
  expect_near(pose(model, "b", {h, 0, 0, h}), Rows{{{0, -1, 0, 1.5}, {1, 0, 0, 1.5}, {0, 0, 1, 3}}});
  EXPECT_EQ(body(model, "b").hinge.dofs[2].stiffness, 2);
  EXPECT_EQ(body(model, "b").hinge.dofs[2].damping, 1);
  EXPECT_THAT(body(model, "b").hinge.rest, ElementsAre(1, 0, 0, 0));
}

TEST(Mjcf, fixes_bodies_without_joints) {
  const Model model = read(in_world("<body name='a' pos='1 0 0'><body name='b' pos='0 1 0'/></body>"));
  EXPECT_EQ(model.nq(), 0);
  EXPECT_EQ(body(model, "b").hinge.type, HingeType::fixed);
  EXPECT_EQ(body(model, "b").hinge.name, "b_fixed");
  expect_near(pose(model, "b"), Rows{{{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 0}}});
}

TEST(Mjcf, reads_limits) {
  const auto hinge = [](const std::string& joint, const std::string& before = "") {
    return body(read(in_world("<body name='b'><joint " + joint + "/>" + ball + "</body>", before)), "b").hinge;
  };
  EXPECT_EQ(hinge("").type, HingeType::continuous);
  EXPECT_EQ(hinge("range='-90 180'").type, HingeType::revolute);
  EXPECT_NEAR(hinge("range='-90 180'").dofs[0].lower, -pi / 2, tolerance);
  EXPECT_NEAR(hinge("range='-90 180'").dofs[0].upper, pi, tolerance);
  EXPECT_EQ(hinge("range='-90 180' limited='false'").dofs[0].lower, -infinity);
  EXPECT_EQ(hinge("type='slide' range='-1 2'").dofs[0].upper, 2);
  EXPECT_EQ(hinge("type='slide' range='-1 2' limited='true'", "<compiler autolimits='false'/>").dofs[0].upper, 2);
  EXPECT_EQ(hinge("actuatorfrcrange='-3 3'").dofs[0].effort, 3);
  EXPECT_EQ(hinge("actuatorfrcrange='-3 5'").dofs[0].effort, 5);
  EXPECT_EQ(hinge("actuatorfrcrange='-3 3' actuatorfrclimited='false'").dofs[0].effort, infinity);
}

TEST(Mjcf, reads_springs_and_friction) {
  const Model model =
      read(in_world("<body name='b'><joint armature='1' damping='2' frictionloss='3' stiffness='4' "
                    "springref='90' axis='0 3 4'/>" +
                    ball + "</body>"));
  const Hinge& hinge = body(model, "b").hinge;
  EXPECT_EQ(hinge.dofs[0].armature, 1);
  EXPECT_EQ(hinge.dofs[0].damping, 2);
  EXPECT_EQ(hinge.dofs[0].friction, 3);
  EXPECT_EQ(hinge.dofs[0].stiffness, 4);
  EXPECT_NEAR(hinge.rest[0], pi / 2, tolerance);
  expect_near(hinge.axis, {0, 0.6, 0.8});
  EXPECT_THAT(warnings(model), IsEmpty());
}

TEST(Mjcf, warns_of_what_joints_cannot_have) {
  const Model model = read(in_world("<body name='a'><joint name='j' damping='1 2'/>" + ball + "</body>\n" +
                                    "<body name='b'><joint name='k' type='ball' range='0 20'/>" + ball + "</body>\n" +
                                    "<body name='c'><joint name='l' type='free' stiffness='3'/>" + ball + "</body>\n" +
                                    "<body name='d'><joint name='m' actuatorfrcrange='-1 2'/>" + ball + "</body>\n"));
  EXPECT_THAT(warnings(model),
              ElementsAre("2: of damping of <joint name=\"j\"> the first number alone is used",
                          "3: the range of <joint name=\"k\">, a ball joint, is not used",
                          "4: the stiffness of <joint name=\"l\">, a free joint, is not used",
                          "5: actuatorfrcrange of <joint name=\"m\"> is not symmetric: 2 is used for both directions"));
}

// ----------------------------------------------------------------------------------------------------------
// Equality

const std::string linkage = R"(
    <body name="a" pos="1 2 3" euler="10 20 30">
      <joint name="ja" ref="20"/>
      <geom size="0.1"/>
      <site name="sa" pos="1 0 0"/>
      <body name="b" pos="1 0 0" euler="0 90 0">
        <joint name="jb" type="slide" ref="0.3"/>
        <geom size="0.1"/>
      </body>
    </body>
    <body name="f" pos="3 2 1" euler="40 0 0"><freejoint name="jf"/><geom size="0.1"/></body>
    <site name="sw" pos="0 1 0"/>
)";

Model linked(const std::string& equality) {
  return read(in_world(linkage, "", "<equality>" + equality + "</equality>"));
}

TEST(Mjcf, connects_bodies_where_they_are_written) {
  const Model model = linked(
      "<connect name='tie' body1='a' body2='f' anchor='0.1 0.2 0.3'/><connect body1='b' anchor='1 2 3'/>"
      "<connect site1='sa' site2='sw'/>");
  ASSERT_THAT(model.closures(), SizeIs(3));
  const Closure& tie = model.closures()[0];
  EXPECT_EQ(tie.name, "tie");
  EXPECT_EQ(tie.hinge.type, HingeType::spherical);
  EXPECT_EQ(tie.a.name, "tie/a");
  EXPECT_EQ(tie.a.body, model.body_index("a"));
  EXPECT_EQ(tie.b.body, model.body_index("f"));
  expect_near(tie.a.X_BN.translation, {0.1, 0.2, 0.3});
  expect_near(tie.b.X_BN.translation, {-1.9099834509459528, 1.622121483210169, 1.6685939527875018});  // MuJoCo
  EXPECT_EQ(model.closures()[1].name, "connect_1");
  EXPECT_EQ(model.closures()[1].b.body, world);
  expect_near(model.closures()[1].b.X_BN.translation, {2.9734779612859183, 5.984874370386839, 1.8926784619845647});
  EXPECT_EQ(model.closures()[2].a.name, "sa");
  EXPECT_EQ(model.closures()[2].b.name, "sw");
}

TEST(Mjcf, welds_bodies) {
  const Model model = linked(
      "<weld body1='b' body2='f' anchor='0.4 0.5 0.6'/><weld body1='a' relpose='1 2 3 1 1 0 0' anchor='0.1 0.2 0.3'/>"
      "<weld site1='sa' site2='sw'/><weld body1='a' torquescale='0'/>");
  ASSERT_THAT(model.closures(), SizeIs(4));
  const Closure& first = model.closures()[0];
  EXPECT_EQ(first.hinge.type, HingeType::fixed);
  expect_near(first.b.X_BN.translation, {0.4, 0.5, 0.6});
  expect_near(first.a.X_BN.translation, {0.30678304880894114, -1.5184183635392416, 1.2014104459122739});  // MuJoCo
  const Mat3<double> turn =
      Rotation<double>(Quaternion<double>{0.49673176489215426, 0.286788218175523, -0.8191520442889918, 0.0}).matrix();
  for (int i = 0; i < 3; ++i) {
    expect_near(first.a.X_BN.rotation.matrix().row(i), turn.row(i));
  }
  expect_near(model.closures()[1].a.X_BN, Rows{{{1, 0, 0, 1}, {0, 0, -1, 2}, {0, 1, 0, 3}}});
  expect_near(model.closures()[1].b.X_BN, Rows{{{1, 0, 0, 0.1}, {0, 1, 0, 0.2}, {0, 0, 1, 0.3}}});
  EXPECT_EQ(model.closures()[2].hinge.type, HingeType::fixed);
  EXPECT_EQ(model.closures()[3].hinge.type, HingeType::spherical);  // without torque it holds a point
}

TEST(Mjcf, ties_joints) {
  const Model model =
      linked("<joint joint1='ja' joint2='jb' polycoef='0.1 2'/><joint name='stop' joint1='jb' polycoef='0.5'/>");
  ASSERT_THAT(model.closures(), SizeIs(2));
  const Closure& first = model.closures()[0];
  EXPECT_EQ(first.kind, ClosureKind::hinges);
  EXPECT_EQ(first.hinge_a, model.hinge_index("ja"));
  EXPECT_EQ(first.hinge_b, model.hinge_index("jb"));
  EXPECT_THAT(first.polynomial, ElementsAre(0.1, 2, 0, 0, 0));
  EXPECT_NEAR(first.reference_a, 20 * degree, tolerance);
  EXPECT_EQ(first.reference_b, 0.3);
  EXPECT_EQ(model.closures()[1].hinge_b, world);
  EXPECT_EQ(model.closures()[1].polynomial[0], 0.5);
}

TEST(Mjcf, skips_what_is_not_active) {
  const Model model = linked("\n<joint name='e' joint1='ja' active='false'/>\n<tendon tendon1='t'/>");
  EXPECT_THAT(model.closures(), IsEmpty());
  EXPECT_THAT(warnings(model), ElementsAre("15: <joint name=\"e\"> is not active and not used",
                                           "16: <tendon> in <equality> is not used"));
}

TEST(Mjcf, reports_wrong_equalities) {
  const auto wrong = [](const std::string& equality) {
    return errors(in_world(linkage, "", "<equality>" + equality + "</equality>"));
  };
  EXPECT_THAT(
      wrong("<connect body1='aa' anchor='0 0 0'/>"),
      ElementsAre(HasSubstr("14: body1 of <connect> names the body 'aa', which there is not; did you mean 'a'?")));
  EXPECT_THAT(wrong("<connect body1='a'/>"), ElementsAre("14: <connect> has no attribute 'anchor'"));
  EXPECT_THAT(wrong("<weld body1='a' body2='a'/>"), ElementsAre("14: <weld> ties body 'a' to itself"));
  EXPECT_THAT(wrong("<weld site1='sa' site2='sa'/>"), ElementsAre("14: both sites of <weld> are on body 'a'"));
  EXPECT_THAT(wrong("<weld site1='sa' site2='so'/>"), ElementsAre(HasSubstr("names the site 'so'")));
  EXPECT_THAT(wrong("<joint joint1='jf'/>"), ElementsAre("14: <joint> ties a joint that is no hinge and no slide"));
  EXPECT_THAT(wrong("<joint joint1='ja' joint2='ja'/>"), ElementsAre("14: <joint> ties joint 'ja' to itself"));
  EXPECT_THAT(wrong("<joint/>"), ElementsAre("14: <joint> has no attribute 'joint1'"));
}

}  // namespace
}  // namespace bunraku::test::mjcf
