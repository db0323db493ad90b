// Joints of SDF, and the loops that they close.

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/sdf_text.hpp"

namespace bunraku::test::sdf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ---------------------------------------------------------------------------------------------------------------
// Joints

/// Two links, the first fixed to the world; line 5 is the joint.
Model read_joint(const std::string& type, const std::string& rest) {
  return read_model(link("a") + joint("w", "fixed", "world", "a", "") + link("b", "<pose>1 0 0 0 0 0</pose>") +
                    joint("j", type, "a", "b", rest));
}

TEST(SdfJoints, HingeFramesAreTheJointsFrame) {
  // J sits 2 m along the child's y, turned by 90° about x; its z is the child's −y
  const Model model = read_joint("revolute", "<pose degrees='true'>0 2 0 90 0 0</pose><axis><xyz>0 0 2</xyz></axis>");
  const Body& b = model.body(1);
  expect_near(b.hinge.axis, {0, 0, 1});
  expect_near(b.X_PF, rpy(1, 2, 0, pi / 2, 0, 0));
  expect_near(b.X_MB, rpy(1, 2, 0, pi / 2, 0, 0).inverse() * rpy(1, 0, 0, 0, 0, 0));
  // half a turn about −y through (1, 2, 0) leaves the origin of b where it is, on the axis
  expect_near(pose(model, 1, {pi}), rpy(1, 0, 0, 0, pi, 0));
}

TEST(SdfJoints, AxisInAnotherFrame) {
  const Model model =
      read_joint("prismatic", "<pose degrees='true'>0 0 0 0 0 90</pose><axis><xyz expressed_in='a'>1 0 0</xyz></axis>");
  expect_near(model.body(1).hinge.axis, {0, -1, 0});
  expect_near(pose(model, 1, {3}).translation, {4, 0, 0});
}

TEST(SdfJoints, LimitsAndDynamics) {
  const Model model = read_joint("revolute",
                                 "<axis><xyz>1 0 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>3</effort>"
                                 "<velocity>4</velocity></limit><dynamics><damping>5</damping><friction>6</friction>"
                                 "<spring_reference>0.7</spring_reference><spring_stiffness>8</spring_stiffness>"
                                 "</dynamics></axis>");
  const Hinge& hinge = model.body(1).hinge;
  ASSERT_THAT(hinge.dofs, SizeIs(1));
  EXPECT_EQ(hinge.dofs[0].lower, -1);
  EXPECT_EQ(hinge.dofs[0].upper, 2);
  EXPECT_EQ(hinge.dofs[0].effort, 3);
  EXPECT_EQ(hinge.dofs[0].velocity, 4);
  EXPECT_EQ(hinge.dofs[0].damping, 5);
  EXPECT_EQ(hinge.dofs[0].friction, 6);
  EXPECT_EQ(hinge.dofs[0].stiffness, 8);
  EXPECT_THAT(hinge.rest, ElementsAre(0.7));
}

TEST(SdfJoints, NoLimitsInTheirForms) {
  const Model model =
      read_joint("revolute",
                 "<axis><xyz>1 0 0</xyz><limit><lower>-1e16</lower><upper>inf</upper><effort>-1</effort>"
                 "<velocity>-1</velocity></limit></axis>");
  const HingeDof& dof = model.body(1).hinge.dofs[0];
  EXPECT_EQ(dof.lower, -infinity);
  EXPECT_EQ(dof.upper, infinity);
  EXPECT_EQ(dof.effort, infinity);
  EXPECT_EQ(dof.velocity, infinity);
  const Model turning = read_joint("continuous", "<axis><xyz>1 0 0</xyz><limit><lower>-1</lower></limit></axis>");
  EXPECT_EQ(turning.body(1).hinge.type, HingeType::continuous);
  EXPECT_EQ(turning.body(1).hinge.dofs[0].lower, -infinity);
  EXPECT_THAT(warnings(turning), ElementsAre("5: <lower> in <limit> is not used"));
}

TEST(SdfJoints, ScrewPitchInBothUnits) {
  const std::string axis = "<axis><xyz>0 0 1</xyz></axis>";
  const Model turn = read_joint("screw", axis + "<screw_thread_pitch>0.25</screw_thread_pitch>");
  EXPECT_EQ(turn.body(1).hinge.type, HingeType::helical);
  EXPECT_EQ(turn.body(1).hinge.pitch, 0.25);
  expect_near(pose(turn, 1, {2 * pi}).translation, {std::cos(2 * pi), std::sin(2 * pi), 0.25});
  // 4 radians a metre, left-handed: one turn goes π/2 m back
  EXPECT_NEAR(read_joint("screw", axis + "<thread_pitch>4</thread_pitch>").body(1).hinge.pitch, -pi / 2, tolerance);
  const Model none = read_joint("screw", axis);
  EXPECT_EQ(none.body(1).hinge.pitch, 1);
  EXPECT_THAT(warnings(none), ElementsAre(HasSubstr("5: <joint name=\"j\"> has no <screw_thread_pitch>")));
}

TEST(SdfJoints, BallTurnsInTheChildsAxes) {
  const Model model =
      read_joint("ball", "<pose>0 2 0 1 0 0</pose><axis><dynamics><damping>3</damping></dynamics></axis>");
  const Body& b = model.body(1);
  EXPECT_EQ(b.hinge.type, HingeType::spherical);
  EXPECT_EQ(b.X_MB, Transform<double>::translate({-0.0, -2, -0.0}));
  expect_near(b.X_PF, rpy(1, 2, 0, 0, 0, 0));
  EXPECT_EQ(b.hinge.dofs[2].damping, 3);
  EXPECT_THAT(model.warnings(), IsEmpty());
}

TEST(SdfJoints, UniversalAndItsTwin) {
  for (const char* type : {"universal", "revolute2"}) {
    const Model model = read_joint(type,
                                   "<axis><xyz>0 0 1</xyz><dynamics><damping>1</damping></dynamics></axis><axis2>"
                                   "<xyz>0 1 0</xyz><limit><upper>2</upper></limit></axis2>");
    const Body& b = model.body(1);
    EXPECT_EQ(b.hinge.type, HingeType::universal);
    EXPECT_EQ(b.hinge.dofs[0].damping, 1);
    EXPECT_EQ(b.hinge.dofs[1].upper, 2);
    // first about the parent's z, then about the turned y
    const Rotation<double> wanted = Rotation<double>::about_z(0.4) * Rotation<double>::about_y(0.7);
    expect_near(pose(model, 1, {0.4, 0.7}), {wanted, {1, 0, 0}});
  }
}

TEST(SdfJoints, MimicWithReference) {
  const Model model =
      read(in_model(link("a") + link("b") + joint("j", "revolute", "world", "a") +
                        joint("k", "revolute", "a", "b",
                              "<axis><xyz>0 0 1</xyz><mimic joint='j'><multiplier>2</multiplier><offset>0.5</offset>"
                              "<reference>0.1</reference></mimic></axis>"),
                    "1.11"));
  const Body& b = model.body(1);
  ASSERT_TRUE(b.hinge.mimic);
  EXPECT_EQ(b.leader, 0);
  EXPECT_NEAR(b.leader_ratio, 2, tolerance);
  EXPECT_NEAR(b.leader_offset, 0.3, tolerance);  // 2 (q − 0.1) + 0.5
  EXPECT_EQ(model.nv(), 1);
}

TEST(SdfJoints, FramesJointsAndModelsAsParents) {
  const Model model =
      read_model(link("a") + joint("w", "fixed", "world", "a", "") + link("b", "<pose>1 0 0 0 0 0</pose>") +
                 "<frame name='f' attached_to='b'><pose>0 1 0 0 0 0</pose></frame>" + link("c") + link("d") +
                 joint("j", "revolute", "__model__", "f") + joint("k", "revolute", "j", "c") + "<model name='n'>" +
                 link("x") + "</model>" + joint("l", "revolute", "c", "n") + joint("o", "revolute", "n::x", "d"));
  EXPECT_EQ(model.body(model.body_index("b")).parent, model.body_index("a"));
  expect_near(model.body(model.body_index("b")).X_PF, rpy(1, 1, 0, 0, 0, 0));  // the joint sits at the frame
  EXPECT_EQ(model.body(model.body_index("c")).parent, model.body_index("b"));
  EXPECT_EQ(model.body(model.body_index("n::x")).parent, model.body_index("c"));
  EXPECT_EQ(model.body(model.body_index("d")).parent, model.body_index("n::x"));
}

TEST(SdfJoints, ErrorsAreListedAtTheirLines) {
  EXPECT_THAT(
      errors(
          in_model(link("a") + link("b") + link("c") + link("d") + link("e") + link("f") + link("g") +
                   "<joint name='j1'><parent>a</parent><child>b</child></joint>\n"       // line 9
                   "<joint name='j2' type='revolute'><child>b</child></joint>\n"         // line 10
                   "<joint name='j3' type='fixed'><parent>a</parent></joint>\n" +        // line 11
                   joint("j4", "revolute", "a", "world") +                               // line 12
                   joint("j5", "gearbox", "a", "c") +                                    // line 13
                   joint("j6", "revolut", "a", "c") +                                    // line 14
                   joint("j7", "revolute", "c", "c") +                                   // line 15
                   joint("j8", "revolute", "a", "d", "<axis><xyz>0 0 0</xyz></axis>") +  // line 16
                   joint("j9", "revolute", "a", "e", "") +                               // line 17
                   joint("j10", "universal", "a", "f", "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 2</xyz></axis2>") +
                   joint("j11", "revolute", "a", "g", "<axis><limit><lower>1</lower><upper>0</upper></limit></axis>"))),
      ElementsAre("9: <joint name=\"j1\"> has no attribute 'type'", "10: <joint name=\"j2\"> has no <parent>",
                  "10: <joint name=\"j2\"> has no <axis>", "11: <joint name=\"j3\"> has no <child>",
                  "12: the child of <joint name=\"j4\"> is the world", "13: <joint name=\"j5\"> has no <axis2>",
                  "13: <joint name=\"j5\"> has no <gearbox_reference_body>",
                  "14: <joint name=\"j6\"> is of type 'revolut', which is not known here; did you mean 'revolute'?",
                  "15: <joint name=\"j7\"> joins 'c' to itself", "16: <axis> of <joint name=\"j8\"> is zero",
                  "17: <joint name=\"j9\"> has no <axis>", "18: the two axes of <joint name=\"j10\"> are parallel",
                  "19: the lower limit 1 is above the upper limit 0"));
}

TEST(SdfJoints, NamesItsLinksInTheText) {
  const std::string text =
      in_model(link("a") + link("b") + "<joint name='j' type='fixed'>\n<parent link='a'/>\n<child link='b'/></joint>");
  EXPECT_THAT(errors(text),
              ElementsAre("5: <parent> of <joint name=\"j\"> is empty", "6: <child> of <joint name=\"j\"> is empty"));
  try {
    read(text);
  } catch (const ModelError& error) {
    EXPECT_THAT(listed(error.problems(), Severity::warning), IsEmpty());
    EXPECT_EQ(error.problems()[0].cure, "write <parent>a</parent>");
    EXPECT_EQ(error.problems()[1].cure, "write <child>b</child>");
  }
}

TEST(SdfJoints, AreBlamedAtTheirOwnLine) {
  EXPECT_THAT(errors(in_model(link("a") + link("b") +
                              joint("j", "revolute", "a", "b", "<axis><xyz>0 0 1</xyz><mimic joint='j'/></axis>"))),
              ElementsAre(HasSubstr("4: ")));
}

TEST(SdfJoints, AMimicOfNothingCanBeLeftFree) {
  const std::string text = in_model(
      link("a") + link("b") + joint("j", "revolute", "a", "b", "<axis><xyz>0 0 1</xyz><mimic joint='leader'/></axis>"));
  try {
    read(text);
    ADD_FAILURE() << "was accepted";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.problems().at(0).cure, HasSubstr("--free-mimics"));
  }
  const Model model = read(text, {.free_mimics = true});
  EXPECT_EQ(model.nv(), 7);
  EXPECT_THAT(warnings(model),
              ElementsAre("4: <mimic>: there is no link, joint, frame or model 'leader' in model 'm': the "
                          "joint is left free"));
}

// ---------------------------------------------------------------------------------------------------------------
// Gearboxes: θ₂ = −ratio θ₁, angles of the child and the parent against the reference body

/// What a gearbox of ratio 4 between `parent` and `child` makes of the coupling q_a = c q_b.
Closure gearbox(const std::string& joints, const std::string& parent, const std::string& child,
                const std::string& axis2 = "0 0 1") {
  const Model model =
      read_model(link("a") + link("b", "<pose>1 0 0 0 0 0</pose>") + link("c", "<pose>0 1 0 0 0 1</pose>") + joints +
                 joint("g", "gearbox", parent, child,
                       fmt::format("<gearbox_ratio>4</gearbox_ratio><gearbox_reference_body>a</gearbox_reference_body>"
                                   "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>{}</xyz></axis2>",
                                   axis2)));
  EXPECT_THAT(warnings(model), IsEmpty());
  EXPECT_EQ(model.closures().size(), 1U);
  return model.closures().front();
}

TEST(SdfGearbox, CouplesTheHingesOfParentAndChild) {
  const std::string joints = joint("ab", "revolute", "a", "b") + joint("ac", "continuous", "a", "c");
  const Closure closure = gearbox(joints, "b", "c");
  EXPECT_EQ(closure.name, "g");
  EXPECT_EQ(closure.kind, ClosureKind::hinges);
  EXPECT_EQ(closure.hinge_a, 2) << "the child's";
  EXPECT_EQ(closure.hinge_b, 1) << "the parent's";
  EXPECT_EQ(closure.polynomial, (std::array<double, 5>{0, -4, 0, 0, 0}));
  // both bodies seen the other way round: the same sum of angles
  EXPECT_EQ(gearbox(joints, "c", "b").hinge_a, 1);
  // an axis the other way round counts the angle the other way round
  EXPECT_EQ(gearbox(joints, "b", "c", "0 0 -1").polynomial[1], 4);
  EXPECT_EQ(
      gearbox(joint("ab", "revolute", "a", "b", "<axis><xyz>0 0 -1</xyz></axis>") + joint("ac", "continuous", "a", "c"),
              "b", "c")
          .polynomial[1],
      4);
}

TEST(SdfGearbox, TheReferenceBodyMayHangOnTheOthers) {
  // a hangs on b: the angle from a to b is minus the coordinate
  const Closure closure = gearbox(joint("ba", "revolute", "b", "a") + joint("ac", "revolute", "a", "c"), "b", "c");
  EXPECT_EQ(closure.polynomial[1], 4);
}

TEST(SdfGearbox, FixedJointsMayStandBetween) {
  const Model model = read_model(link("a") + link("b") + link("c") + link("d") + joint("ab", "revolute", "a", "b") +
                                 joint("ac", "revolute", "a", "c") + joint("cd", "fixed", "c", "d", "") +
                                 joint("g", "gearbox", "b", "d",
                                       "<gearbox_reference_body>a</gearbox_reference_body><axis><xyz>0 0 "
                                       "1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>"));
  ASSERT_EQ(model.closures().size(), 1U);
  EXPECT_EQ(model.closures()[0].hinge_a, model.hinge_index("ac"));
  EXPECT_EQ(model.closures()[0].polynomial[1], -1) << "the format's default ratio is 1";
}

TEST(SdfGearbox, IsRefusedWhereItCannotBeACoupling) {
  const auto wrong = [](const std::string& joints, const std::string& axis) {
    return errors(in_model(link("a") + link("b") + link("c") + joints +
                           joint("g", "gearbox", "b", "c",
                                 "<gearbox_reference_body>a</gearbox_reference_body><axis><xyz>" + axis +
                                     "</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>")));
  };
  const std::string both = joint("ab", "revolute", "a", "b") + joint("ac", "revolute", "a", "c");
  EXPECT_THAT(wrong(both, "0 0 1"), IsEmpty());
  EXPECT_THAT(wrong(both, "0 1 0"), ElementsAre(HasSubstr("about an axis that is not that of joint 'ab'")));
  EXPECT_THAT(wrong(joint("ab", "prismatic", "a", "b") + joint("ac", "revolute", "a", "c"), "0 0 1"),
              ElementsAre(HasSubstr("'a' and 'b', which are not joined by one revolute joint")));
  EXPECT_THAT(wrong(joint("ab", "revolute", "a", "b") + joint("bc", "revolute", "b", "c"), "0 0 1"),
              ElementsAre(HasSubstr("'a' and 'c', which are not joined by one revolute joint")));
  EXPECT_THAT(wrong(joint("ac", "revolute", "a", "c"), "0 0 1"), ElementsAre(HasSubstr("'a' and 'b', which are not")));
  EXPECT_THAT(wrong(joint("ab", "revolute", "a", "b") + joint("bc", "fixed", "b", "c", ""), "0 0 1"),
              ElementsAre(HasSubstr("couples joint 'ab' with itself")));
}

// ---------------------------------------------------------------------------------------------------------------
// Loops

TEST(SdfLoops, ASecondJointToALinkClosesALoop) {
  const Model model = read_model(link("a") + joint("w", "fixed", "world", "a", "") +
                                 link("b", "<pose>1 0 0 0 0 0</pose>") + joint("j", "revolute", "a", "b") +
                                 joint("k", "revolute", "world", "b",
                                       "<pose degrees='true'>0 2 0 0 90 0</pose><axis><xyz>1 0 "
                                       "0</xyz><dynamics><damping>1</damping></dynamics></axis>"));
  EXPECT_EQ(model.body(1).hinge.name, "j");
  ASSERT_EQ(model.closures().size(), 1U);
  const Closure& closure = model.closures()[0];
  EXPECT_EQ(closure.name, "k");
  EXPECT_EQ(closure.hinge.type, HingeType::revolute);
  expect_near(closure.hinge.axis, {1, 0, 0});
  EXPECT_EQ(closure.a.name, "k/parent");
  EXPECT_EQ(closure.a.body, world);
  expect_near(closure.a.X_BN, rpy(1, 2, 0, 0, pi / 2, 0));
  EXPECT_EQ(closure.b.name, "k/child");
  EXPECT_EQ(closure.b.body, 1);
  expect_near(closure.b.X_BN, rpy(0, 2, 0, 0, pi / 2, 0));
  EXPECT_THAT(warnings(model), ElementsAre(HasSubstr("6: <joint name=\"k\"> closes a loop: its limits")));
}

TEST(SdfLoops, ACircleOfLinksIsCutAtItsLastJoint) {
  const Model model = read_model(link("a") + link("b") + link("c") + joint("ab", "revolute", "a", "b") +
                                 joint("bc", "revolute", "b", "c") + joint("ca", "ball", "c", "a", ""));
  EXPECT_EQ(model.nv(), 8);
  ASSERT_EQ(model.closures().size(), 1U);
  EXPECT_EQ(model.closures()[0].name, "ca");
  EXPECT_EQ(model.closures()[0].hinge.type, HingeType::spherical);
  EXPECT_EQ(model.closures()[0].a.body, model.body_index("c"));
  EXPECT_EQ(model.closures()[0].b.body, model.body_index("a"));
}

TEST(SdfLoops, DirectionsStayAsWritten) {
  const Model model =
      read_model(link("a") + link("b") + joint("w", "revolute", "world", "b") + joint("j", "revolute", "a", "b"));
  EXPECT_EQ(model.body(model.body_index("a")).hinge.type, HingeType::free);
  ASSERT_EQ(model.closures().size(), 1U);
  EXPECT_EQ(model.closures()[0].name, "j");
}

}  // namespace
}  // namespace bunraku::test::sdf
