// Inertia and shapes of MJCF.
// Where a comment names MuJoCo, the numbers are what MuJoCo 4.0.0 makes of the same file.

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/mjcf_text.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// ----------------------------------------------------------------------------------------------------------
// Inertia

TEST(Mjcf, weighs_geoms) {
  const Model model = read(R"(<mujoco>
  <default>
    <geom pos="1 2 3" euler="10 20 30"/>
  </default>
  <worldbody>
    <body name="sphere"><geom size="0.2"/></body>
    <body name="capsule"><geom type="capsule" size="0.2 0.3"/></body>
    <body name="cylinder"><geom type="cylinder" size="0.2 0.3" mass="2"/></body>
    <body name="ellipsoid"><geom type="ellipsoid" size="0.2 0.3 0.4" density="500"/></body>
    <body name="box"><geom type="box" size="0.2 0.3 0.4" mass="2"/></body>
    <body name="two">
      <geom type="box" size="0.2 0.3 0.4" mass="2"/>
      <geom type="capsule" size="0.1 0.3" mass="1" pos="-1 0 0" euler="0 50 0"/>
      <geom size="5" mass="0"/>
    </body>
    <body name="shell_capsule"><geom type="capsule" size="0.2 0.3" mass="2" shellinertia="true"/></body>
    <body name="shell_cylinder"><geom type="cylinder" size="0.2 0.3" mass="2" shellinertia="true"/></body>
    <body name="shell_box"><geom type="box" size="0.2 0.3 0.4" shellinertia="true"/></body>
    <body name="fromto"><geom type="capsule" size="0.1" fromto="0 1 2 3 5 2" pos="0 0 0" mass="2"/></body>
  </worldbody>
</mujoco>)");
  const Vec3<double> at = {1, 2, 3};  // all numbers by MuJoCo
  expect_inertia(model, "sphere", 33.51032163829113, at,
                 {0.5361651462126582, 0.5361651462126582, 0.5361651462126581, 0, 0, 0});
  expect_inertia(model, "capsule", 108.90854532444618, at,
                 {7.3703941784147915, 7.9153809865667775, 2.9103294846105143, 0.3366346626919447, -1.9091500423779661,
                  0.9108448838407142});
  expect_inertia(model, "cylinder", 2, at,
                 {0.07532088886237957, 0.07893494488059884, 0.04574416625702159, 0.002232377940978993,
                  -0.01266044443118978, 0.006040227735550536});
  expect_inertia(model, "ellipsoid", 50.26548245743669, at,
                 {2.261191610620847, 2.1405470233272026, 1.429057331114606, 0.26173611058505525, -0.3065398455875216,
                  0.05026025743483741});
  expect_inertia(model, "box", 2, at,
                 {0.14994992587843003, 0.14194943320131953, 0.09476730758691707, 0.017356914910524376,
                  -0.020328054866616825, 0.0033329868382606567});
  expect_inertia(model, "two", 3, {1. / 3, 4. / 3, 2},
                 {8.839182557820209, 8.856388827140716, 5.458125584736055, -2.649309751756143, -4.041479039561994,
                  -3.9966670131617423});
  expect_inertia(model, "shell_capsule", 2, at,
                 {0.1858922665791859, 0.19781865143930952, 0.08828908198150458, 0.007366847205230675,
                  -0.04177946662292627, 0.019932751527316772});
  expect_inertia(model, "shell_cylinder", 2, at,
                 {0.11856622218577188, 0.1235355492108234, 0.07789822860340469, 0.0030695196688461123,
                  -0.017408111092885946, 0.008305313136381989});
  expect_inertia(model, "shell_box", 2080, at,
                 {239.7276206764998, 227.87231993396242, 164.93339272287116, 24.430502456141408, -27.32661324287007,
                  3.9730241075327006});
  expect_inertia(model, "fromto", 2, {1.5, 3, 2},
                 {2.8182597402597405, 1.5896233766233763, 4.397935064935066, -2.1062337662337662, 0, 0});
}

TEST(Mjcf, weighs_hollow_spheres_in_closed_form) {
  const Model model = read(in_world("<body name='s'><geom size='2' density='3' shellinertia='true'/></body>"));
  const double mass = 3 * 4 * pi * 4;
  const double moment = 2. / 3 * mass * 4;
  expect_inertia(model, "s", mass, {0, 0, 0}, {moment, moment, moment, 0, 0, 0});
}

TEST(Mjcf, warns_of_hollow_ellipsoids) {
  const Model model =
      read(in_world("<body name='s'><geom type='ellipsoid' size='1 1 1' mass='3' shellinertia='true'/></body>"));
  expect_inertia(model, "s", 3, {0, 0, 0}, {2, 2, 2, 0, 0, 0});  // of a sphere, where it is exact
  EXPECT_THAT(warnings(model),
              Contains(HasSubstr("2: the inertia of <geom>, a hollow ellipsoid, is good to a percent")));
}

TEST(Mjcf, takes_inertia_from_where_the_compiler_says) {
  const std::string bodies =
      "<body name='both'><inertial pos='1 0 0' mass='3' diaginertia='1 1 1'/><geom size='1' mass='5'/></body>"
      "<body name='stated'><inertial pos='1 0 0' mass='3' diaginertia='1 1 1'/><geom size='1' mass='0'/></body>"
      "<body name='geoms'><geom size='1' mass='5'/></body>"
      "<body name='visual'><geom size='1' mass='5' contype='0' conaffinity='0' group='4'/></body>";
  const auto masses = [&](const std::string& compiler) {
    const Model model = read(in_world(bodies, compiler));
    std::vector<double> out;
    for (const Body& b : model.bodies()) {
      out.push_back(b.inertia.mass);
    }
    return out;
  };
  EXPECT_THAT(masses(""), ElementsAre(3, 3, 5, 5));
  EXPECT_THAT(masses("<compiler inertiafromgeom='true'/>"), ElementsAre(5, 3, 5, 5));
  EXPECT_THAT(masses("<compiler inertiafromgeom='false'/>"), ElementsAre(3, 3, 0, 0));
  EXPECT_THAT(masses("<compiler inertiagrouprange='0 3'/>"), ElementsAre(3, 3, 5, 0));
  EXPECT_THAT(masses("<compiler settotalmass='8'/>"), ElementsAre(1.5, 1.5, 2.5, 2.5));
}

TEST(Mjcf, bounds_and_balances_inertia) {
  const Model model = read(R"(<mujoco>
  <compiler boundmass="0.5" boundinertia="0.7" balanceinertia="true"/>
  <worldbody>
    <body name="low"><joint/><inertial pos="1 2 3" mass="0.1" fullinertia="1 1.5 0.5 0.2 0.1 0.05"/></body>
    <body name="flat"><joint/><inertial pos="1 2 3" mass="1" diaginertia="0.01 0.9 0.9" euler="10 20 30"/></body>
    <body name="balanced"><joint/><inertial pos="1 2 3" mass="1" fullinertia="1 1 5 0.1 0.2 0.1"/></body>
    <body name="empty" pos="1 2 3"><joint/></body>
  </worldbody>
</mujoco>)");
  const Vec3<double> at = {1, 2, 3};  // all numbers by MuJoCo, the centre of the empty body too
  expect_inertia(model, "low", 0.5, at,
                 {1.0074758349293764, 1.5000315179261419, 0.711886054287324, 0.2004854099434048, 0.060200186361128664,
                  0.047415776904055636});
  expect_inertia(model, "flat", 1, at,
                 {0.7675466667660765, 0.8408480149562746, 0.8916053182776484, -0.08851484387629341, 0.03334521818137239,
                  0.022283673119289936});
  expect_inertia(model, "balanced", 1, at, {7. / 3, 7. / 3, 7. / 3, 0, 0, 0});
  expect_inertia(model, "empty", 0.5, at, {0.7, 0.7, 0.7, 0, 0, 0});
}

TEST(Mjcf, keeps_full_inertia_as_written) {
  const Model model =
      read(in_world("<body name='b'><inertial pos='0 0 0' mass='2' fullinertia='1 2 2.5 0.1 0.2 -0.3'/></body>"
                    "<body name='c'><inertial pos='1 0 0' mass='2'/></body>"));
  expect_inertia(model, "b", 2, {0, 0, 0}, {1, 2, 2.5, 0.1, 0.2, -0.3});
  expect_inertia(model, "c", 2, {1, 0, 0}, {0, 0, 0, 0, 0, 0});
}

// ----------------------------------------------------------------------------------------------------------
// Shapes

TEST(Mjcf, keeps_shapes_in_full_lengths) {
  const Model model = read(in_world(R"(
    <body name="b">
      <geom name="s" size="1" rgba="1 0 0 0.5"/>
      <geom type="capsule" size="1 2"/>
      <geom type="cylinder" size="1 2" contype="0" conaffinity="0"/>
      <geom type="ellipsoid" size="1 2 3" contype="0"/>
      <geom type="box" size="1 2 3" material="red"/>
      <geom type="cylinder" size="1" fromto="0 0 0 0 0 8"/>
      <geom type="box" size="1" fromto="0 0 0 0 0 8"/>
    </body>
    <geom type="plane" size="1 2 0.1"/>)",
                                    "<asset><material name='red' rgba='1 0 0 1' texture='t'/>"
                                    "<texture name='t' file='red.png' type='2d'/></asset>"));
  const std::vector<Geometry>& shapes = body(model, "b").visuals;
  ASSERT_THAT(shapes, SizeIs(7));
  EXPECT_THAT(body(model, "b").collisions, SizeIs(6));
  EXPECT_EQ(shapes[0].name, "s");
  EXPECT_EQ(shapes[0].color, (std::array<double, 4>{1, 0, 0, 0.5}));
  expect_near(shapes[1].size, {1, 4, 0});
  EXPECT_EQ(shapes[2].type, ShapeType::cylinder);
  expect_near(shapes[3].size, {1, 2, 3});
  expect_near(shapes[4].size, {2, 4, 6});
  EXPECT_EQ(shapes[4].material, "red");
  EXPECT_EQ(shapes[4].color, (std::array<double, 4>{1, 0, 0, 1}));
  EXPECT_EQ(shapes[4].texture, "red.png");
  expect_near(shapes[5].size, {1, 8, 0});
  expect_near(shapes[5].pose.translation, {0, 0, 4});
  expect_near(shapes[5].pose.rotation.matrix().column(2), {0, 0, -1});  // as MuJoCo has it
  expect_near(shapes[6].size, {2, 2, 8});
  ASSERT_THAT(model.world_geometry(), SizeIs(1));
  expect_near(model.world_geometry()[0].size, {2, 4, 0});
}

TEST(Mjcf, keeps_meshes_and_warns_of_their_inertia) {
  const Model model =
      read(in_world("<body name='b'><inertial pos='0 0 0' mass='1'/><geom type='mesh' mesh='wheel'/></body>\n"
                    "<body name='c'><geom name='g' type='mesh' mesh='hub'/></body>\n"
                    "<body name='d'><geom type='mesh' mesh='hub' mass='0'/></body>\n"
                    "<body name='e'><geom name='h' type='box' mesh='hub'/></body>\n"
                    "<body name='f'><geom name='i' type='hfield' mass='0'/></body>\n",
                    "<compiler meshdir='assets'/><asset><mesh file='parts/wheel.stl' scale='1 2 3'/><mesh name='hub' "
                    "file='x.obj'/></asset>"));
  const Geometry& wheel = body(model, "b").visuals[0];
  EXPECT_EQ(wheel.type, ShapeType::mesh);
  EXPECT_EQ(wheel.mesh_uri, "assets/parts/wheel.stl");
  EXPECT_EQ(wheel.mesh_path, "");
  expect_near(wheel.size, {1, 2, 3});
  EXPECT_THAT(
      warnings(model),
      ElementsAre("3: the inertia of <geom name=\"g\"> in body 'c' is not known, whose mesh is 'hub': its file is "
                  "not found",
                  "5: the inertia of <geom name=\"h\"> in body 'e' is not known, whose mesh is 'hub': it is the "
                  "box that fits its mesh",
                  "6: the shape of <geom name=\"i\">, of type hfield, is not used",
                  "2: the mesh 'assets/parts/wheel.stl' of body 'b' is not found, nor are 7 others"));
  EXPECT_EQ(model.warnings()[0].cure, "state <inertial> in the body");
}

}  // namespace
}  // namespace bunraku::test::mjcf
