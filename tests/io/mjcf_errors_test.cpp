// What is wrong with MJCF files, and what of them is not used.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/mjcf_text.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::SizeIs;
using testing::StartsWith;

TEST(Mjcf, reports_all_errors_at_once) {
  EXPECT_THAT(
      errors(R"(<mujoco>
  <compiler angle="degrees" eulerseq="xyw" coordinate="global"/>
  <default class="top">
    <geom density="x"/>
    <default><geom size="1"/></default>
    <default class="a"/>
    <default class="a"/>
  </default>
  <worldbody>
    <joint/>
    <body name="one" childclass="aa">
      <joint name="j1" type="hing"/>
      <joint name="j2" axis="0 0 0"/>
      <geom size="1"/>
      <geom size="1"/>
      <body quat="0 0 0 0"><freejoint/></body>
    </body>
    <body name="one"><joint name="j2"/><geom size="1"/></body>
  </worldbody>
</mujoco>)"),
      testing::UnorderedElementsAre(
          "2: 'angle' of <compiler> is 'degrees'; did you mean 'degree'?",
          "2: eulerseq is not three of the letters x, y, z, X, Y, Z", "2: coordinate=\"global\" is not supported",
          "3: the top default class cannot be called 'top'", "4: 'density' of <geom>: 'x' is not a number",
          "5: <default> has no attribute 'class'", "7: there is a second default class 'a'",
          "10: the world cannot have <joint>",
          "11: childclass of <body name=\"one\"> names the default class 'aa', which there is not; did you mean 'a'?",
          "12: 'type' of <joint name=\"j1\"> is 'hing'; did you mean 'hinge'?",
          "13: the axis of <joint name=\"j2\"> is zero", "16: the quaternion of <body> is zero",
          "16: <freejoint> is free but body 'body_2' is not a child of the world",
          StartsWith("18: there is a body 'one'"), StartsWith("18: there is a hinge 'j2'")));
}

TEST(Mjcf, reports_wrong_orientations) {
  EXPECT_THAT(errors_in_world("<body euler='1 2 3' quat='1 0 0 0'/>"),
              ElementsAre("2: <body> has two orientations, quat and euler"));
  EXPECT_THAT(errors_in_world("<body zaxis='0 0 0'/>"), ElementsAre("2: the axis in zaxis of <body> is zero"));
  EXPECT_THAT(errors_in_world("<body axisangle='0 0 0 1'/>"),
              ElementsAre("2: the axis in axisangle of <body> is zero"));
  EXPECT_THAT(errors_in_world("<body xyaxes='1 0 0 2 0 0'/>"),
              ElementsAre("2: the angle between the axes in xyaxes of <body> is zero"));
  EXPECT_THAT(errors_in_world("<body euler='1 2'/>"),
              ElementsAre("2: 'euler' of <body> has 2 numbers where 3 are wanted"));
}

TEST(Mjcf, reports_wrong_geoms) {
  EXPECT_THAT(errors_in_world("<geom/>"), ElementsAre("2: the size of <geom>, a sphere, is missing"));
  EXPECT_THAT(errors_in_world("<geom type='box' size='1 2'/>"),
              ElementsAre("2: the size of <geom>, a box, is not positive or not complete"));
  EXPECT_THAT(errors_in_world("<geom type='capsule' size='-1 2'/>"), ElementsAre(HasSubstr("is not positive")));
  EXPECT_THAT(errors_in_world("<geom type='bocks' size='1'/>"),
              ElementsAre(HasSubstr("2: 'type' of <geom> is 'bocks'")));
  EXPECT_THAT(errors_in_world("<geom size='1' fromto='0 0 0 1 0 0'/>"),
              ElementsAre("2: <geom> has a fromto but is a sphere"));
  EXPECT_THAT(errors_in_world("<geom type='box' size='1' pos='1 0 0' fromto='0 0 0 1 0 0'/>"),
              ElementsAre("2: <geom> has both pos and fromto"));
  EXPECT_THAT(errors_in_world("<geom type='box' size='1' fromto='1 0 0 1 0 0'/>"),
              ElementsAre("2: the two points of fromto of <geom> are one"));
  EXPECT_THAT(errors_in_world("<geom type='plane' size='1 -1 1'/>"),
              ElementsAre("2: the size of <geom>, a plane, is negative"));
  EXPECT_THAT(errors_in_world("<geom type='plane' size='0 0 1'/>"), ElementsAre());
  EXPECT_THAT(errors_in_world("<geom name='g' size='1'/>\n<body><geom name='g' size='1'/></body>"),
              ElementsAre("3: there is a geom 'g': line 2 has it too"));
  EXPECT_THAT(errors_in_world("<geom type='mesh'/>"), ElementsAre("2: <geom> is a mesh but names no mesh"));
  EXPECT_THAT(errors_in_world("<geom type='mesh' mesh='m'/>"),
              ElementsAre("2: <geom> names the mesh 'm', which there is not"));
  EXPECT_THAT(errors_in_world("<body><geom size='1' mass='-1'/></body>"),
              ElementsAre("2: the mass or density of <geom> is negative"));
}

TEST(Mjcf, reports_wrong_joints_and_inertias) {
  const auto wrong = [](const std::string& inside) {
    return errors_in_world("<body name='b'>" + ball + inside + "</body>");
  };
  EXPECT_THAT(wrong("<joint range='2 1'/>"),
              ElementsAre("2: the first number of range of <joint> is not below the second"));
  EXPECT_THAT(wrong("<joint limited='true'/>"), SizeIs(1));
  EXPECT_THAT(wrong("<freejoint/><joint/>"), ElementsAre("2: body 'b' has a free joint and another"));
  EXPECT_THAT(wrong("<inertial mass='1'/>"), ElementsAre("2: <inertial> has no attribute 'pos'"));
  EXPECT_THAT(wrong("<inertial pos='0 0 0'/>"), ElementsAre("2: <inertial> has no attribute 'mass'"));
  EXPECT_THAT(wrong("<inertial pos='0 0 0' mass='-1'/>"), ElementsAre("2: the mass -1 is negative"));
  EXPECT_THAT(wrong("<inertial pos='0 0 0' mass='1'/><inertial pos='0 0 0' mass='1'/>"),
              ElementsAre("2: body 'b' has a second <inertial>"));
  EXPECT_THAT(wrong("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 0 0 0' diaginertia='1 1 1'/>"),
              ElementsAre("2: <inertial> has both fullinertia and diaginertia"));
  EXPECT_THAT(errors(in_world("<body>" + ball + "<joint range='1 2'/></body>", "<compiler autolimits='false'/>")),
              ElementsAre("2: <joint> has range but does not say limited, and autolimits is off"));
}

TEST(Mjcf, says_what_is_wrong_with_a_class_once) {
  std::string bodies;
  for (int i = 0; i < 300; ++i) {
    bodies += "<body>" + ball + "<joint/></body>\n";
  }
  EXPECT_THAT(errors(in_world(bodies, "<default><joint damping='much' limited='maybe'/></default>")),
              testing::UnorderedElementsAre("1: 'damping' of <joint>: 'much' is not a number",
                                            HasSubstr("1: 'limited' of <joint> is 'maybe'")));
}

TEST(Mjcf, checks_classes_that_nothing_has) {
  EXPECT_THAT(
      errors("<mujoco><default><default class='x'>\n<joint damping='much' type='rotate'/>\n"
             "<geom size='1 2 3 4' type='cube' shellinertia='yes'/>\n<site pos='up'/>\n<mesh scale='1'/>\n"
             "<geom density='low'/>\n<equality active='1'/>\n<geom quat='1 0 0 0' euler='1 2 3'/>\n"
             "</default></default></mujoco>"),
      ElementsAre(
          HasSubstr("2: 'type' of <joint> is 'rotate'"), "2: 'damping' of <joint>: 'much' is not a number",
          HasSubstr("3: 'type' of <geom> is 'cube'"), "3: 'size' of <geom> has more than the 1 to 3 numbers wanted",
          HasSubstr("3: 'shellinertia' of <geom> is 'yes'"), "4: 'pos' of <site>: 'up' is not a number",
          "5: 'scale' of <mesh> has 1 numbers where 3 are wanted", "6: 'density' of <geom>: 'low' is not a number",
          HasSubstr("7: 'active' of <equality> is '1'"), "8: <geom> has two orientations, quat and euler"));
}

TEST(Mjcf, checks_attributes_that_mean_nothing_where_they_stand) {
  const auto wrong = [](const std::string& inside) {
    return errors(
        in_world("<body name='b'>" + ball + inside + "</body>", "<asset><mesh name='m' file='m.stl'/></asset>"));
  };
  EXPECT_THAT(wrong("<geom type='mesh' mesh='m' mass='0' size='big'/>"),
              ElementsAre("2: 'size' of <geom>: 'big' is not a number"));
  EXPECT_THAT(wrong("<geom size='1' conaffinity='none'/>"),
              ElementsAre("2: 'conaffinity' of <geom>: 'none' is not a number"));
  EXPECT_THAT(wrong("<geom type='box' size='1' fromto='0 0 0 0 0 1' quat='1 0 0'/>"),
              ElementsAre("2: 'quat' of <geom> has 3 numbers where 4 are wanted"));
  EXPECT_THAT(wrong("<joint type='ball' range='0 x'/>"), ElementsAre("2: 'range' of <joint>: 'x' is not a number"));
  EXPECT_THAT(wrong("<joint type='free' limited='no'/>"), ElementsAre(HasSubstr("2: 'limited' of <joint> is 'no'")));
  EXPECT_THAT(wrong("<joint type='ball' axis='z'/>"), ElementsAre("2: 'axis' of <joint>: 'z' is not a number"));
}

TEST(Mjcf, wants_bodies_in_the_world) {
  EXPECT_THAT(errors("<mujoco>\n<body name='b'><joint name='j'/></body>\n<geom size='1'/>\n<joint/></mujoco>"),
              ElementsAre("2: <body> must stand in <worldbody>, or in a <body> in it",
                          "3: <geom> must stand in <worldbody>, or in a <body> in it",
                          "4: <joint> must stand in <worldbody>, or in a <body> in it"));
  EXPECT_THAT(warnings(read("<mujoco/>")), ElementsAre("1: the model has no bodies"));
  EXPECT_THAT(warnings(read("<mujoco>\n<worldbody><geom size='1'/></worldbody></mujoco>")),
              ElementsAre("1: the model has no bodies"));
}

TEST(Mjcf, says_where_a_joint_is_wrong) {
  EXPECT_THAT(
      errors_in_world("<body>" + ball + "\n<joint name='j'/></body>\n<body>" + ball + "\n<joint name='j'/></body>"),
      ElementsAre(StartsWith("5: there is a hinge 'j'")));
}

TEST(Mjcf, reports_wrong_assets_and_bounds) {
  EXPECT_THAT(
      errors("<mujoco>\n<compiler boundmass='-1' boundinertia='-1'/>\n<asset>\n"
             "<material name='red' texture='clothe'/>\n<texture name='cloth' builtin='flat'/></asset></mujoco>"),
      ElementsAre("2: boundmass is negative", "2: boundinertia is negative"));
}

TEST(Mjcf, warns_of_wrong_looks) {
  const auto warned = [](const std::string& inside, const std::string& before = "") {
    return warnings(read(in_world("<body name='b'>" + ball + inside + "</body>", before)));
  };
  EXPECT_THAT(warned("<site size='small'/>"),
              ElementsAre("2: 'size' of <site>: 'small' is not a number: it is not used"));
  EXPECT_THAT(warned("<site type='cube'/>"), ElementsAre("2: 'type' of <site> is 'cube': it is not used"));
  EXPECT_THAT(warned("<site rgba='red'/>"), ElementsAre("2: 'rgba' of <site>: 'red' is not a number: it is not used"));
  EXPECT_THAT(warned("<site material='steel'/>"),
              ElementsAre("2: <site> names the material 'steel', which there is not"));
  EXPECT_THAT(warned("<geom size='1' material='m'/>"),
              ElementsAre("2: <geom> names the material 'm', which there is not"));
  EXPECT_THAT(warned("<geom size='1' rgba='1 2 3'/>"),
              ElementsAre("2: 'rgba' of <geom> has 3 numbers where 4 are wanted: it is not used"));
  EXPECT_THAT(warned("", "<default><site rgba='red'/></default>"),
              ElementsAre("1: 'rgba' of <site>: 'red' is not a number: it is not used"));
  EXPECT_THAT(warned("", "<asset><material name='red' texture='clothe'/><texture name='cloth'/></asset>"),
              ElementsAre("1: <material name=\"red\"> names the texture 'clothe', which there is not; did you mean "
                          "'cloth'?"));
}

TEST(Mjcf, takes_empty_numbers_for_absent) {
  const Model model =
      read(in_world("<body name='b' pos='' quat=''><joint damping='' range=''/>"
                    "<geom size='1' mass='' rgba=''/></body>",
                    "<default><joint damping='2'/><geom mass='3'/></default>"));
  EXPECT_EQ(body(model, "b").hinge.type, HingeType::continuous);
  EXPECT_EQ(body(model, "b").hinge.dofs[0].damping, 2) << "the class's";
  EXPECT_EQ(body(model, "b").inertia.mass, 3);
  EXPECT_THAT(warnings(model), testing::Contains("2: attribute 'mass' of <geom>, which is empty, is not used"));
  EXPECT_THAT(warnings(model), SizeIs(6));
  EXPECT_THAT(errors_in_world("<body><inertial pos='0 0 0' mass='' diaginertia='1 1 1'/></body>"),
              ElementsAre("2: <inertial> has no attribute 'mass'"));
}

TEST(Mjcf, lists_what_is_not_used) {
  const Model model = read(R"(<mujoco>
  <option timestep="0.1"/>
  <worldbody>
    <light pos="0 0 1"/>
    <body name="b" gravcomp="1">
      <camera name="c"/>
      <joint solreflimit="1 1"/>
      <joint axix="1 0 0"/>
      <geom size="1" friction="1"/>
      <site name="s" size="0.1" rgba="1 0 0 1"/>
      <replicate count="3"><geom size="1"/></replicate>
    </body>
  </worldbody>
  <actuator><motor joint="nobody"/></actuator>
</mujoco>)");
  EXPECT_THAT(warnings(model),
              IsSupersetOf({"2: attribute 'timestep' of <option> is not used", "4: <light> in <worldbody> is not used",
                            "5: attribute 'gravcomp' of <body> is not used", "6: <camera> in <body> is not used",
                            "7: attribute 'solreflimit' of <joint> is not used",
                            "8: attribute 'axix' of <joint> is not used; did you mean 'axis'?",
                            "9: attribute 'friction' of <geom> is not used",
                            "11: <replicate> is not used: what it would add is missing",
                            "14: <motor> in <actuator> is not used"}));
  EXPECT_THAT(warnings(model), SizeIs(9));
}

TEST(Mjcf, reads_long_chains) {
  std::string text = "<mujoco><worldbody>";
  for (int i = 0; i < 90; ++i) {
    text += "<body>" + ball + "<joint/>";
  }
  for (int i = 0; i < 90; ++i) {
    text += "</body>";
  }
  text += "</worldbody></mujoco>";
  EXPECT_THAT(read(text).bodies(), SizeIs(90));
}

}  // namespace
}  // namespace bunraku::test::mjcf
