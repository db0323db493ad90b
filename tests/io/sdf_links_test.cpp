// Links of SDF: inertia and shapes.

#include <array>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/sdf_text.hpp"

namespace bunraku::test::sdf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(SdfLinks, InertiaInTurnedAxes) {
  // a quarter turn about z exchanges ixx and iyy and turns the sign of ixy; ixz becomes iyz, and iyz −ixz
  const Model model = read_model(
      "<link name='a'><inertial><mass>4</mass><pose degrees='true'>1 0 0 0 0 90</pose><inertia><ixx>2</ixx><iyy>3</iyy>"
      "<izz>4</izz><ixy>0.1</ixy><ixz>0.2</ixz><iyz>0.3</iyz></inertia></inertial></link>");
  const RigidInertia<double>& inertia = model.body(0).inertia;
  expect_near(inertia.center(), {1, 0, 0});
  const Mat3<double> central = inertia.central().full();
  expect_near(central.column(0), {3, -0.1, -0.3});
  expect_near(central.column(1), {-0.1, 2, 0.2});
  expect_near(central.column(2), {-0.3, 0.2, 4});
  EXPECT_THAT(model.warnings(), IsEmpty());
}

TEST(SdfLinks, DefaultsAreTakenWithAWarning) {
  const Model model = read_model(
      "<link name='a'/>\n<link name='b'><inertial><pose>1 0 0 0 0 0</pose></inertial></link>\n"
      "<link name='c'><inertial><mass>3</mass><inertia><ixx>1.5</ixx></inertia></inertial></link>");
  EXPECT_EQ(model.mass(), 5);
  EXPECT_EQ(model.body(0).inertia.inertia, Sym3<double>::diagonal(1, 1, 1));
  EXPECT_EQ(model.body(1).inertia.inertia, Sym3<double>::diagonal(1, 2, 2));
  EXPECT_EQ(model.body(2).inertia.inertia, Sym3<double>::diagonal(1.5, 1, 1));
  EXPECT_THAT(warnings(model),
              ElementsAre("2: <link name=\"a\"> has no <inertial>: the format's default, 1 kg with unit "
                          "inertia, is taken",
                          "3: <inertial> has no <mass>: the format's default, 1 kg, is taken",
                          "3: <inertial> has no <inertia>: the format's default, the unit matrix, is "
                          "taken",
                          "4: <inertia> has no iyy, izz: the format's default, 1 kg m², is taken"));
}

TEST(SdfLinks, WrongInertiasAreListed) {
  EXPECT_THAT(
      errors(in_model("<link name='a'><inertial>\n<mass>-1</mass><inertia/></inertial></link>\n"
                      "<link name='b'><inertial auto='true'/></link>\n"
                      "<link name='c'><inertial><pose relative_to='a'/><mass>x</mass></inertial></link>")),
      ElementsAre(
          HasSubstr("3: the mass -1 is negative"),
          HasSubstr("4: <link name=\"b\"> wants its inertia computed from its <collision>s, which have no mass"),
          HasSubstr("5: the pose of <inertial> is always that in the link"),
          HasSubstr("5: the text of <mass>: 'x' is not a number")));
}

TEST(SdfLinks, Shapes) {
  const auto shape = [](const std::string& kind, const std::string& name, const std::string& geometry) {
    return fmt::format("<{0} name='{1}'><pose>1 2 3 0 0 0</pose><geometry>{2}</geometry></{0}>\n", kind, name,
                       geometry);
  };
  const Model model = read_model(
      "<link name='a'>" + inertial +
      "<visual name='v'><pose relative_to='b'>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>"
      "<material><diffuse>0.1 0.2 0.3 0.4</diffuse></material></visual>" +
      "<visual name='u'><geometry><sphere><radius>2</radius></sphere></geometry><material><ambient>1 0 0</ambient>"
      "</material></visual>" +
      shape("collision", "cylinder", "<cylinder><radius>1</radius><length>4</length></cylinder>") +
      shape("collision", "capsule", "<capsule><radius>1</radius><length>5</length></capsule>") +
      shape("collision", "ellipsoid", "<ellipsoid><radii>1 2 3</radii></ellipsoid>") +
      shape("collision", "plane", "<plane><normal>0 2 0</normal><size>8 9</size></plane>") +
      shape("collision", "mesh", "<mesh><uri>model://x/y.stl</uri><scale>1 1 2</scale></mesh>") +
      shape("collision", "heightmap", "<heightmap/>") + shape("collision", "empty", "<empty/>") + "</link>" +
      link("b", "<pose>7 0 0 0 0 0</pose>"));
  const Body& a = model.body(0);
  ASSERT_THAT(a.visuals, SizeIs(2));
  EXPECT_EQ(a.visuals[0].type, ShapeType::box);
  EXPECT_EQ(a.visuals[0].size, (Vec3<double>{1, 2, 3}));
  expect_near(a.visuals[0].pose, rpy(7, 0, 1, 0, 0, 0));
  EXPECT_EQ(a.visuals[0].color, (std::array<double, 4>{0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(a.visuals[1].color, (std::array<double, 4>{1, 0, 0, 1}));
  ASSERT_THAT(a.collisions, SizeIs(5));
  EXPECT_EQ(a.collisions[0].type, ShapeType::cylinder);
  EXPECT_EQ(a.collisions[0].size, (Vec3<double>{1, 4, 0}));
  EXPECT_EQ(a.collisions[1].type, ShapeType::capsule);
  EXPECT_EQ(a.collisions[1].size, (Vec3<double>{1, 5, 0}));
  EXPECT_EQ(a.collisions[2].type, ShapeType::ellipsoid);
  EXPECT_EQ(a.collisions[3].type, ShapeType::plane);
  EXPECT_EQ(a.collisions[3].size, (Vec3<double>{8, 9, 0}));
  expect_near(a.collisions[3].pose.rotation * Vec3<double>::unit_z(), {0, 1, 0});
  expect_near(a.collisions[3].pose.translation, {1, 2, 3});
  EXPECT_EQ(a.collisions[4].mesh_uri, "model://x/y.stl");
  EXPECT_EQ(a.collisions[4].size, (Vec3<double>{1, 1, 2}));
  EXPECT_THAT(warnings(model), ElementsAre("7: <heightmap> in <geometry> is not used",
                                           "2: the mesh 'model://x/y.stl' of body 'a' is not found"));
}

TEST(SdfLinks, WrongShapesAreListedAndLeftOut) {
  const auto wrong = [](const std::string& geometry) {
    const Model model = read_model(link("a", "<visual name='v'><geometry>\n" + geometry + "</geometry></visual>"));
    EXPECT_TRUE(model.body(0).visuals.empty());
    return warnings(model);
  };
  EXPECT_THAT(wrong("<box/>"), ElementsAre("3: <box> has no <size>: the shape is not used"));
  EXPECT_THAT(wrong("<box>\n<size>1 -1 1</size></box>"),
              ElementsAre("4: <size> of <box> has a negative number: the shape is not used"));
  EXPECT_THAT(wrong("<box><size>1 1</size></box>"), ElementsAre(HasSubstr("3: the text of <size> has 2 numbers")));
  EXPECT_THAT(wrong("<ellipsoid/>"), ElementsAre("3: <ellipsoid> has no <radii>: the shape is not used"));
  EXPECT_THAT(wrong("<ellipsoid>\n<radii>1 1 -1</radii></ellipsoid>"),
              ElementsAre("4: <radii> of <ellipsoid> has a negative number: the shape is not used"));
  EXPECT_THAT(wrong("<plane>\n<size>1 -1</size></plane>"),
              ElementsAre("4: <size> of <plane> has a negative number: the shape is not used"));
  EXPECT_THAT(wrong(""), ElementsAre("2: <geometry> has no shape: the shape is not used"));
}

}  // namespace
}  // namespace bunraku::test::sdf
