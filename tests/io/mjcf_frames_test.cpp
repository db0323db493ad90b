// Orientations, frames, names and sections of MJCF.
// Where a comment names MuJoCo, the numbers are what MuJoCo 4.0.0 makes of the same file.

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/mjcf_text.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// ----------------------------------------------------------------------------------------------------------
// Orientations

struct OrientationCase {
  const char* attribute;
  Rows expected;
};

class Orientation : public testing::TestWithParam<OrientationCase> {};

TEST_P(Orientation, turns_bodies_sites_and_geoms) {
  const auto& [attribute, expected] = GetParam();
  const Model model = read(in_world(fmt::format(
      "<body name='b' pos='1 2 3' {0}>{1}</body>"
      "<body name='c'><site name='s' pos='1 2 3' {0}/><geom type='box' size='1 1 1' pos='1 2 3' {0}/></body>",
      attribute, ball)));
  expect_near(pose(model, "b"), expected);
  expect_near(model.node("s").X_BN, expected);
  expect_near(body(model, "c").visuals[0].pose, expected);
}

INSTANTIATE_TEST_SUITE_P(  // MuJoCo
    Mjcf, Orientation,
    testing::Values(OrientationCase{"quat='1 2 3 4'",
                                    {{{-2. / 3, 2. / 15, 11. / 15, 1},
                                      {2. / 3, -1. / 3, 2. / 3, 2},
                                      {1. / 3, 14. / 15, 2. / 15, 3}}}},
                    OrientationCase{"axisangle='1 1 0 40'",
                                    {{{0.8830222215594892, 0.11697777844051094, 0.4545194776720436, 1},
                                      {0.11697777844051094, 0.883022221559489, -0.4545194776720436, 2},
                                      {-0.4545194776720436, 0.4545194776720436, 0.7660444431189781, 3}}}},
                    OrientationCase{"xyaxes='1 1 0 -1 2 3'",
                                    {{{0.7071067811865476, -0.408248290463863, 0.5773502691896257, 1},
                                      {0.7071067811865476, 0.40824829046386296, -0.5773502691896257, 2},
                                      {0, 0.816496580927726, 0.5773502691896258, 3}}}},
                    OrientationCase{"zaxis='1 2 -3'",
                                    {{{0.6396432548525453, -0.7207134902949092, 0.2672612419124244, 1},
                                      {-0.7207134902949092, -0.44142698058981844, 0.5345224838248488, 2},
                                      {-0.2672612419124244, -0.5345224838248488, -0.8017837257372731, 3}}}},
                    OrientationCase{"zaxis='0 0 -2'", {{{1, 0, 0, 1}, {0, -1, 0, 2}, {0, 0, -1, 3}}}},
                    OrientationCase{"euler='10 20 30'",
                                    {{{0.8137976813493737, -0.46984631039295416, 0.3420201433256686, 1},
                                      {0.5438381424823255, 0.8231729446455008, -0.1631759111665348, 2},
                                      {-0.2048741287028621, 0.3187957775971678, 0.9254165783983233, 3}}}}));

TEST(Mjcf, turns_about_moving_and_fixed_axes) {
  const auto turned = [](const char* sequence) {
    return pose(read(in_world("<body name='b' euler='10 20 30'/>", fmt::format("<compiler eulerseq='{}'/>", sequence))),
                "b")
        .rotation.matrix();
  };
  const auto x = Rotation<double>::about_x(10 * degree);
  const auto fixed = Rotation<double>::from_rpy(10 * degree, 20 * degree, 30 * degree).matrix();
  const auto moving = (Rotation<double>::about_z(10 * degree) * Rotation<double>::about_y(20 * degree) *
                       Rotation<double>::about_x(30 * degree))
                          .matrix();
  const auto mixed = (x * x).matrix();  // X then x: the second about an axis that the first leaves as it is
  for (int i = 0; i < 3; ++i) {
    expect_near(turned("XYZ").row(i), fixed.row(i));
    expect_near(turned("zyx").row(i), moving.row(i));
  }
  const Model twice = read(in_world("<body name='b' euler='10 10 0'/>", "<compiler eulerseq='XxZ'/>"));
  for (int i = 0; i < 3; ++i) {
    expect_near(pose(twice, "b").rotation.matrix().row(i), mixed.row(i));
  }
  expect_near(pose(read(in_world("<body name='b' euler='10 20 30'/>", "<compiler eulerseq='ZyX'/>")), "b"),  // MuJoCo
              Rows{{{0.9254165783983233, -0.1736481776669303, 0.33682408883346504, 0},
                    {0.3123245560187263, 0.852868531952443, -0.4184120444167325, 0},
                    {-0.21461017714275632, 0.49240387650610395, 0.8434932686563159, 0}}});
}

TEST(Mjcf, reads_angles_in_the_unit_of_the_last_compiler_section) {
  const Model model =
      read(in_world("<body name='b' euler='0 0 1'><joint range='-1 2' ref='0.5' springref='0.25'/>" + ball + "</body>",
                    "<compiler angle='degree'/>", "<compiler angle='radian'/>"));
  const Hinge& hinge = body(model, "b").hinge;
  EXPECT_EQ(hinge.dofs[0].lower, -1);
  EXPECT_EQ(hinge.dofs[0].upper, 2);
  EXPECT_THAT(hinge.rest, ElementsAre(0.25));
  EXPECT_NEAR(pose(model, "b", {0.5}).rotation(0, 0), std::cos(1), tolerance);
}

// ----------------------------------------------------------------------------------------------------------
// Frames, names, sections

TEST(Mjcf, moves_what_stands_in_frames) {
  const Model model = read(R"(<mujoco>
  <worldbody>
    <frame pos="1 2 3" euler="10 0 0">
      <body name="a" pos="1 0 0" euler="0 20 0">
        <frame pos="0.1 0.2 0.3" axisangle="1 1 1 40">
          <joint pos="0.1 0.1 0.2" axis="0 1 1"/>
          <inertial pos="1 2 3" mass="3" diaginertia="1 2 2.5" euler="3 4 5"/>
          <frame pos="0 0 1">
            <site name="s" pos="1 1 1" euler="1 2 3"/>
            <body name="b" pos="1 2 3" zaxis="1 0 1">
              <joint type="slide"/>
              <geom size="0.1"/>
            </body>
          </frame>
        </frame>
      </body>
    </frame>
  </worldbody>
</mujoco>)");
  const std::vector<double> q = {0.5, 0.25};  // all numbers by MuJoCo
  expect_near(pose(model, "a", q),
              Rows{{{0.7664042671356186, -0.37399979712057785, 0.5222534356709218, 2.0563714312240853},
                    {0.517565656437099, 0.8410778427309802, -0.15720640490716375, 1.9238027378227494},
                    {-0.38046062949160697, 0.39078410180145107, 0.8381750981662979, 2.9941711450441324}}});
  expect_near(pose(model, "b", q),
              Rows{{{-0.4022029259445224, -0.3057783936336576, 0.8629787832551186, 5.723367835105651},
                    {0.7123690842394339, 0.48758021395277856, 0.5047730408625573, 3.471445808911981},
                    {-0.5751200693607685, 0.8177805995183443, 0.021720885568550063, 6.223534682852902}}});
  expect_near(pose(model, "a", q) * model.node("s").X_BN,
              Rows{{{0.2786291820114075, -0.3051190550213009, 0.9106416096327699, 4.024164400909023},
                    {0.8897381611045511, 0.4389803794167652, -0.12514883603695404, 3.1512574747821356},
                    {-0.36156850472067603, 0.8451027089946055, 0.3937888109685612, 4.556263288901669}}});
  expect_inertia(model, "a", 3, {1.705069156365302, 1.4577728010314408, 3.437158042603258},
                 {1.522813795221803, 1.7528508690272342, 2.224335335750967, -0.5037720788700276, 0.4469010708910037,
                  0.04399170908920423});
  EXPECT_THAT(warnings(model), IsEmpty());
}

TEST(Mjcf, keeps_the_order_of_the_file) {
  const Model model = read(in_world(
      "<body name='a'><body name='b'/><frame><body name='c'><body name='d'/></body></frame><body name='e'/></body>"
      "<body name='f'/>"));
  std::string order;
  for (const Body& b : model.bodies()) {
    order += b.name;
  }
  EXPECT_EQ(order, "abcdef");
}

TEST(Mjcf, makes_up_names_that_differ_from_all_others) {
  const Model model = read(in_world("<body><joint/><joint type='slide'/>" + ball +
                                    "<body name='body_1'><joint name='body_1_2_joint'/>" + ball +
                                    "</body></body><body name='x/y'><joint/>" + ball + "</body>" +
                                    "<body name='x'><joint name='y'/><joint axis='1 0 0'/>" + ball + "</body>"));
  ASSERT_THAT(model.bodies(), SizeIs(6));
  EXPECT_EQ(model.body(0).hinge.name, "body_1_2_joint_2");
  EXPECT_EQ(model.body(0).name, "body_1_2/body_1_2_joint_2");
  EXPECT_EQ(model.body(1).name, "body_1_2");
  EXPECT_EQ(model.body(1).hinge.name, "body_1_2_joint_3");
  EXPECT_EQ(model.body(2).name, "body_1");
  EXPECT_EQ(model.body(4).name, "x/y_2");
}

TEST(Mjcf, renames_a_site_that_has_a_bodys_name) {
  const Model model = read(in_world("<body name='b'>" + ball + "\n<site name='b' pos='1 2 3'/></body>"));
  ASSERT_THAT(model.nodes(), SizeIs(1));
  EXPECT_EQ(model.nodes()[0].name, "b/site");
  expect_near(model.nodes()[0].X_BN.translation, {1, 2, 3});
  EXPECT_THAT(warnings(model), ElementsAre("3: site 'b' has a body's name: it is called 'b/site' here"));
}

TEST(Mjcf, reads_the_model_itself) {
  const Model model = read("<mujoco model='arm'><option gravity='1 2 3'/><worldbody/></mujoco>");
  EXPECT_EQ(model.name(), "arm");
  EXPECT_EQ(model.format(), Format::mjcf);
  expect_near(model.gravity(), {1, 2, 3});
  expect_near(read("<mujoco/>").gravity(), {0, 0, -9.81});
  expect_near(read("<mujoco><option><flag gravity='disable'/></option></mujoco>").gravity(), {0, 0, 0});
}

TEST(Mjcf, refuses_the_option_of_a_free_base) {
  LoadOptions options;
  options.free_base = true;
  EXPECT_THAT(errors("<mujoco/>", options), ElementsAre("0: MJCF says itself whether the base is free"));
}

}  // namespace
}  // namespace bunraku::test::mjcf
