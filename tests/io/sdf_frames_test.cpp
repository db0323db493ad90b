// Frames and poses of SDF.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/sdf_text.hpp"

namespace bunraku::test::sdf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SdfFrames, PosesInTheirForms) {
  const Model model = read_model("<static>1</static>" + link("euler", "<pose>1 2 3 0.1 0.2 0.3</pose>") +
                                 link("degrees", "<pose degrees='true'>0 0 0 0 0 90</pose>") +
                                 // a third of a turn about the diagonal takes x to y, y to z and z to x; the length of
                                 // a quaternion is of no meaning
                                 link("quaternion", "<pose rotation_format='quat_xyzw'>1 0 0  2 2 2 2</pose>") +
                                 link("empty", "<pose relative_to='euler'/>"));
  expect_near(pose(model, "euler"), rpy(1, 2, 3, 0.1, 0.2, 0.3));
  expect_near(pose(model, "degrees").rotation * Vec3<double>{1, 0, 0}, {0, 1, 0});
  expect_near(pose(model, "quaternion").rotation * Vec3<double>{1, 0, 0}, {0, 1, 0});
  expect_near(pose(model, "quaternion").rotation * Vec3<double>{0, 1, 0}, {0, 0, 1});
  expect_near(pose(model, "quaternion").translation, {1, 0, 0});
  expect_near(pose(model, "empty"), rpy(1, 2, 3, 0.1, 0.2, 0.3));
}

TEST(SdfFrames, ForwardReferencesAndChains) {
  // quarter turns about z, so that all can be added up by hand: f1 at (1, 0), turned by 90°; f2 another metre along
  // f1's x, which is the model's y; the link a metre along f2's y, which is the model's −x
  const Model model =
      read_model(link("a", "<pose relative_to='f2'>0 1 0 0 0 0</pose>") + joint("j", "fixed", "world", "a", "") +
                 "<frame name='f2' attached_to='a'><pose relative_to='f1'>1 0 0 0 0 0</pose></frame>"
                 "<frame name='f1'><pose degrees='true'>1 0 0 0 0 90</pose></frame>");
  expect_near(pose(model, "a"), rpy(0, 1, 0, 0, 0, pi / 2));
  EXPECT_EQ(model.node("f2").body, 0);
  expect_near(model.node("f2").X_BN, rpy(0, -1, 0, 0, 0, 0));
  EXPECT_EQ(model.node("f1").body, 0);  // by way of the model's canonical link
  expect_near(pose(model, "f1"), rpy(1, 0, 0, 0, 0, pi / 2));
}

TEST(SdfFrames, AFrameStartsWhereItIsAttached) {
  const Model model =
      read_model(link("a", "<pose>1 0 0 0 0 0</pose>") + joint("w", "fixed", "world", "a", "") +
                 link("b", "<pose>5 0 0 0 0 0</pose>") +
                 joint("j", "revolute", "a", "b", "<pose>0 1 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>") +
                 "<frame name='f' attached_to='j'><pose>0 0 1 0 0 0</pose></frame>"
                 "<frame name='g' attached_to='f'/>");
  EXPECT_EQ(model.node("g").body, model.body_index("b"));
  expect_near(pose(model, "g"), rpy(5, 1, 1, 0, 0, 0));
}

TEST(SdfFrames, CanonicalLinkAndPlacementFrame) {
  const Model model =
      read("<sdf version='1.9'><model name='m' canonical_link='b' placement_frame='b'><pose>0 0 9 0 0 0</pose>" +
           link("a", "<pose>1 0 0 0 0 0</pose>") + link("b", "<pose>0 2 0 0 0 0</pose>") +
           joint("j", "fixed", "world", "a", "") + joint("k", "fixed", "world", "b", "") +
           "<frame name='f'/></model></sdf>");
  EXPECT_EQ(model.node("f").body, model.body_index("b"));
  expect_near(pose(model, "b"), rpy(0, 0, 9, 0, 0, 0));
  expect_near(pose(model, "a"), rpy(1, -2, 9, 0, 0, 0));
  expect_near(pose(model, "f"), rpy(0, -2, 9, 0, 0, 0));
}

TEST(SdfFrames, UnknownNamesAreListed) {
  EXPECT_THAT(errors(in_model(link("left", "<pose relative_to='nowhere'/>") +           // line 2
                              "<frame name='f' attached_to='lift'/>\n" +                // line 3
                              joint("j", "revolute", "left", "n::x") +                  // line 4
                              "<frame name='g'><pose relative_to='world'/></frame>")),  // line 5
              ElementsAre(HasSubstr("2: <pose>: there is no link, joint, frame or model 'nowhere' in model 'm'"),
                          HasSubstr("3: <frame name=\"f\">: there is no link, joint, frame or model 'lift' in model "
                                    "'m'; did you mean 'left'?"),
                          HasSubstr("4: <child>: there is no link, joint, frame or model 'n::x'"),
                          HasSubstr("5: <pose>: inside of a model, 'world' can only be the parent of a joint")));
}

TEST(SdfFrames, CirclesAreErrors) {
  EXPECT_THAT(
      errors(in_model(link("a", "<pose relative_to='b'/>") + link("b", "<pose relative_to='f'/>") +
                      "<frame name='f' attached_to='a'/>")),
      ElementsAre(HasSubstr("2: frames are placed relative to one another in a circle: 'a' → 'b' → 'f' → 'a'")));
  EXPECT_THAT(errors(in_model(link("a") + "<frame name='f' attached_to='g'><pose relative_to='a'/></frame>\n"
                                          "<frame name='g' attached_to='f'><pose relative_to='a'/></frame>")),
              ElementsAre(HasSubstr("3: frames are attached to one another in a circle: 'f' → 'g' → 'f'")));
  EXPECT_THAT(errors(in_model(link("a", "<pose relative_to='a'/>"))), ElementsAre(HasSubstr("'a' → 'a'")));
}

TEST(SdfFrames, NamesAreUniqueAndNotReserved) {
  EXPECT_THAT(errors(in_model(link("a") + link("a") + "<frame name='a'/>\n" + link("__b__") + link("world") +
                              link("x::y") + "<link/>")),
              ElementsAre(HasSubstr("3: <link name=\"a\">: the name is already used in line 2"),
                          HasSubstr("4: <frame name=\"a\">: the name is already used in line 2"),
                          HasSubstr("5: <link name=\"__b__\">: the name is reserved"),
                          HasSubstr("6: <link name=\"world\">: the name is reserved"),
                          HasSubstr("7: <link name=\"x::y\">: '::' cannot be part of a name"),
                          HasSubstr("8: <link> has no attribute 'name'")));
}

TEST(SdfFrames, WrongPosesAreListed) {
  EXPECT_THAT(errors(in_model(link("a", "<pose>1 2 3</pose>") + link("b", "<pose>0 0 0 0 0 x</pose>") +
                              link("c", "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0</pose>") +
                              link("d", "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose>") +
                              link("e", "<pose rotation_format='xyz'>0 0 0 0 0 0</pose>"))),
              ElementsAre(HasSubstr("2: the text of <pose> has 3 numbers where 6 are wanted"),
                          HasSubstr("3: the text of <pose>: 'x' is not a number"),
                          HasSubstr("4: the text of <pose> has 6 numbers where 7 are wanted"),
                          HasSubstr("5: the quaternion of <pose> is zero"),
                          HasSubstr("6: 'rotation_format' of <pose> is 'xyz'")));
}

}  // namespace
}  // namespace bunraku::test::sdf
