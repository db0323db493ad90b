// MJCF. Where a comment names MuJoCo, the numbers are what MuJoCo 4.0.0 makes of the same file.

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "bunraku/io/load.hpp"
#include "support/problems.hpp"

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;
using testing::StartsWith;

constexpr double tolerance = 1e-12;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;
constexpr double degree = pi / 180;

/// Three rows of a rotation and a translation.
using Rows = std::array<std::array<double, 4>, 3>;

Model read(const std::string& text, const LoadOptions& options = {}) {
  return load_text(text, "m.xml", options);
}

/// A file whose bodies start in line 2.
std::string in_world(const std::string& bodies, const std::string& before = "", const std::string& after = "") {
  return fmt::format("<mujoco>{}<worldbody>\n{}</worldbody>{}</mujoco>", before, bodies, after);
}

const std::string ball = "<geom size='0.1'/>";

const Body& body(const Model& model, std::string_view name) {
  return model.body(model.body_index(name));
}

/// The pose of each body in the world.
std::vector<Transform<double>> poses(const Model& model, const std::vector<double>& q) {
  std::vector<Transform<double>> out;
  for (const Body& b : model.bodies()) {
    const Transform<double> parent =
        b.parent == world ? Transform<double>::identity() : out[static_cast<std::size_t>(b.parent)];
    out.push_back(parent * b.X_PF * hinge_pose(b.hinge, q.data() + b.q_index) * b.X_MB);
  }
  return out;
}

Transform<double> pose(const Model& model, std::string_view name, const std::vector<double>& q = {}) {
  return poses(model, q)[static_cast<std::size_t>(model.body_index(name))];
}

void expect_near(const Vec3<double>& a, const Vec3<double>& b) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance * std::max(1.0, std::abs(b[i])));
  }
}

void expect_near(const Transform<double>& x, const Rows& rows) {
  for (std::size_t i = 0; i < 3; ++i) {
    const int r = static_cast<int>(i);
    expect_near(x.rotation.matrix().row(r), {rows[i][0], rows[i][1], rows[i][2]});
    EXPECT_NEAR(x.translation[r], rows[i][3], tolerance * 10);
  }
}

/// Mass, centre and inertia about the centre (xx, yy, zz, xy, xz, yz).
void expect_inertia(const Model& model, std::string_view name, double mass, const Vec3<double>& center,
                    const std::array<double, 6>& central) {
  SCOPED_TRACE(std::string(name));
  const RigidInertia<double>& inertia = body(model, name).inertia;
  EXPECT_NEAR(inertia.mass, mass, tolerance * mass);
  expect_near(inertia.center(), center);
  // the shift from the body's origin to the centre costs digits in proportion
  const double slack = 1e-12 * std::max(1.0, mass * squared_norm(center));
  const Sym3<double> c = inertia.central();
  EXPECT_NEAR(c.xx, central[0], slack);
  EXPECT_NEAR(c.yy, central[1], slack);
  EXPECT_NEAR(c.zz, central[2], slack);
  EXPECT_NEAR(c.xy, central[3], slack);
  EXPECT_NEAR(c.xz, central[4], slack);
  EXPECT_NEAR(c.yz, central[5], slack);
}

/// `line: text` of every error of a file that cannot be loaded.
std::vector<std::string> errors(const std::string& text, const LoadOptions& options = {}) {
  return errors_of_text(text, "m.xml", options);
}

std::vector<std::string> errors_in_world(const std::string& bodies) {
  return errors(in_world(bodies));
}

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

// ----------------------------------------------------------------------------------------------------------
// Defaults

TEST(Mjcf, inherits_from_classes) {
  const Model model = read(R"(<mujoco>
  <default>
    <joint damping="1" armature="0.25"/>
    <default class="x">
      <default class="y">
        <joint damping="3"/>
      </default>
      <joint stiffness="4"/>
    </default>
  </default>
  <worldbody>
    <body name="main"><joint/><geom size="1"/></body>
    <body name="x" childclass="x">
      <joint/><geom size="1"/>
      <body name="y"><joint class="y"/><geom size="1"/></body>
      <frame childclass="y">
        <body name="z"><joint/><geom size="1"/></body>
        <body name="own"><joint class="main" damping="7"/><geom size="1"/></body>
      </frame>
    </body>
  </worldbody>
</mujoco>)");
  const auto numbers = [&](const char* name) {
    const HingeDof& dof = body(model, name).hinge.dofs[0];
    return std::vector{dof.damping, dof.armature, dof.stiffness};
  };
  EXPECT_THAT(numbers("main"), ElementsAre(1, 0.25, 0));
  EXPECT_THAT(numbers("x"), ElementsAre(1, 0.25, 4));
  EXPECT_THAT(numbers("y"), ElementsAre(3, 0.25, 4));
  EXPECT_THAT(numbers("z"), ElementsAre(3, 0.25, 4));
  EXPECT_THAT(numbers("own"), ElementsAre(7, 0.25, 0));
  EXPECT_THAT(warnings(model), IsEmpty());
}

TEST(Mjcf, gives_a_class_what_its_parent_had_when_it_was_made) {
  const Model model = read(
      in_world("<body name='b'><geom type='box' class='x'/><geom type='box'/></body>",
               "<default><geom size='1 2 3'/><default class='x'/></default><default><geom size='4 5 6'/></default>"));
  expect_near(body(model, "b").visuals[0].size, {2, 4, 6});  // MuJoCo agrees
  expect_near(body(model, "b").visuals[1].size, {8, 10, 12});
}

TEST(Mjcf, completes_sizes_from_classes) {
  const Model model =
      read(in_world("<body name='b'><geom type='box' size='0.5'/><geom type='box' class='x'/><geom type='box' "
                    "class='x' size='7 8'/></body>",
                    "<default><geom size='1 2 3'/><default class='x'><geom size='0.25'/></default></default>"));
  expect_near(body(model, "b").visuals[0].size, {1, 4, 6});  // MuJoCo agrees
  expect_near(body(model, "b").visuals[1].size, {0.5, 4, 6});
  expect_near(body(model, "b").visuals[2].size, {14, 16, 6});
}

TEST(Mjcf, lets_the_nearest_orientation_win) {
  const Model model =
      read(in_world("<body name='b'><geom size='1' quat='1 1 0 0'/><geom size='1' class='x'/><geom size='1' class='x' "
                    "zaxis='1 0 0'/></body>",
                    "<default><geom euler='0 0 30'/><default class='x'><geom quat='1 0 1 0'/></default></default>"));
  const auto z = [&](std::size_t i) { return body(model, "b").visuals[i].pose.rotation.matrix().column(2); };
  expect_near(z(0), {0, -1, 0});
  expect_near(z(1), {1, 0, 0});
  expect_near(z(2), {1, 0, 0});
}

TEST(Mjcf, counts_unused_classes_as_used) {
  const Model model = read(
      "<mujoco><default><default class='x'><joint damping='1'/>\n<geom friction='1 2 3'/>\n"
      "<motor ctrlrange='0 1'/></default></default></mujoco>");
  EXPECT_THAT(warnings(model),
              ElementsAre("1: the model has no bodies", "2: attribute 'friction' of <geom> is not used",
                          "3: <motor> in <default> is not used"));
}

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
  EXPECT_THAT(warnings(model),
              ElementsAre("3: the inertia of <geom name=\"g\"> in body 'c' is not known: it has the shape of a mesh",
                          "5: the inertia of <geom name=\"h\"> in body 'e' is not known: it has the shape of a mesh",
                          "6: the shape of <geom name=\"i\">, of type hfield, is not used",
                          "2: the mesh 'assets/parts/wheel.stl' of body 'b' is not found, nor are 7 others"));
  EXPECT_EQ(model.warnings()[0].cure, "state <inertial> in the body");
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
  EXPECT_EQ(tie.type, HingeType::spherical);
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
  EXPECT_EQ(first.type, HingeType::fixed);
  expect_near(first.b.X_BN.translation, {0.4, 0.5, 0.6});
  expect_near(first.a.X_BN.translation, {0.30678304880894114, -1.5184183635392416, 1.2014104459122739});  // MuJoCo
  const Mat3<double> turn =
      Rotation<double>(Quaternion<double>{0.49673176489215426, 0.286788218175523, -0.8191520442889918, 0.0}).matrix();
  for (int i = 0; i < 3; ++i) {
    expect_near(first.a.X_BN.rotation.matrix().row(i), turn.row(i));
  }
  expect_near(model.closures()[1].a.X_BN, Rows{{{1, 0, 0, 1}, {0, 0, -1, 2}, {0, 1, 0, 3}}});
  expect_near(model.closures()[1].b.X_BN, Rows{{{1, 0, 0, 0.1}, {0, 1, 0, 0.2}, {0, 0, 1, 0.3}}});
  EXPECT_EQ(model.closures()[2].type, HingeType::fixed);
  EXPECT_EQ(model.closures()[3].type, HingeType::spherical);  // without torque it holds a point
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

// ----------------------------------------------------------------------------------------------------------
// Includes

class MjcfIncludes : public testing::Test {
 protected:
  MjcfIncludes() { std::filesystem::create_directories(folder_ / "parts"); }
  ~MjcfIncludes() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  Model load_main(const std::string& text) {
    write("main.xml", text);
    return load((folder_ / "main.xml").string());
  }
  std::string failure(const std::string& text) {
    try {
      load_main(text);
    } catch (const ModelError& error) {
      const Problem& first = error.problems().front();
      return fmt::format("{}:{}: {}", std::filesystem::path(first.where.file).filename().string(), first.where.line,
                         first.text);
    }
    return "";
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("bunraku_mjcf_{}", static_cast<int>(getpid()));
};

TEST_F(MjcfIncludes, puts_the_contents_in_place) {
  write("parts/settings.xml",
        "<mujoco model='other'><compiler angle='radian'/><default><joint damping='2'/></default></mujoco>");
  write("parts/tree.xml",
        "<x><worldbody>\n<body name='b' euler='0 0 1'><joint/>\n<include file='geoms.xml'/></body></worldbody></x>");
  write("parts/geoms.xml", "<x>\n<geom size='1' mass='3' friction='1'/><body name='c' pos='1 0 0'/></x>");
  const Model model = load_main(
      "<mujoco model='whole'><include file='parts/settings.xml'/>\n<include file='parts/tree.xml'/></mujoco>");
  EXPECT_EQ(model.name(), "whole");
  EXPECT_EQ(body(model, "b").inertia.mass, 3);
  EXPECT_EQ(body(model, "b").hinge.dofs[0].damping, 2);
  EXPECT_NEAR(pose(model, "b", {0}).rotation(0, 0), std::cos(1), tolerance);
  EXPECT_EQ(body(model, "c").parent, model.body_index("b"));
  ASSERT_THAT(model.warnings(), SizeIs(1));
  EXPECT_EQ(model.warnings()[0].text, "attribute 'friction' of <geom> is not used");
  EXPECT_THAT(model.warnings()[0].where.file, testing::EndsWith("geoms.xml"));
  EXPECT_EQ(model.warnings()[0].where.line, 2);
}

TEST_F(MjcfIncludes, refuses_what_goes_in_circles) {
  write("a.xml", "<x>\n<include file='b.xml'/></x>");
  write("b.xml", "<x>\n\n<include file='a.xml'/></x>");
  EXPECT_EQ(failure("<mujoco><include file='a.xml'/></mujoco>"), "b.xml:3: 'a.xml' is included a second time");
  EXPECT_EQ(failure("<mujoco>\n<include file='main.xml'/></mujoco>"),
            "main.xml:2: 'main.xml' is included a second time");
  EXPECT_EQ(failure("<mujoco>\n<include file='none.xml'/></mujoco>"), "main.xml:2: 'none.xml' is not found");
  EXPECT_EQ(failure("<mujoco>\n<include/></mujoco>"), "main.xml:2: <include> has no attribute 'file'");
  write("empty.xml", "<x/>");
  EXPECT_EQ(failure("<mujoco>\n<include file='empty.xml'/></mujoco>"),
            "main.xml:2: 'empty.xml' has no elements to include");
}

TEST_F(MjcfIncludes, bounds_the_depth) {
  for (int i = 0; i < 40; ++i) {
    write(fmt::format("{}.xml", i), fmt::format("<x>\n<include file='{}.xml'/></x>", i + 1));
  }
  EXPECT_THAT(failure("<mujoco><include file='0.xml'/></mujoco>"),
              StartsWith("31.xml:2: '32.xml' is one included file too many"));
}

TEST_F(MjcfIncludes, finds_meshes) {
  write("parts/wheel.stl", "");
  const Model model = load_main(
      "<mujoco><compiler assetdir='parts' strippath='true'/><asset><mesh file='there/wheel.stl'/></asset>"
      "<worldbody><geom type='mesh' mesh='wheel'/></worldbody></mujoco>");
  EXPECT_EQ(model.world_geometry()[0].mesh_path, (folder_ / "parts/wheel.stl").string());
}

// ----------------------------------------------------------------------------------------------------------
// What is wrong

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
  EXPECT_THAT(errors_in_world("<geom size='1' material='m'/>"),
              ElementsAre("2: <geom> names the material 'm', which there is not"));
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
             "<geom size='1 2 3 4' type='cube' shellinertia='yes'/>\n<site rgba='red'/>\n<mesh scale='1'/>\n"
             "<material rgba='1 2 3'/>\n<equality active='1'/>\n<geom quat='1 0 0 0' euler='1 2 3'/>\n"
             "</default></default></mujoco>"),
      ElementsAre(HasSubstr("2: 'type' of <joint> is 'rotate'"), "2: 'damping' of <joint>: 'much' is not a number",
                  HasSubstr("3: 'type' of <geom> is 'cube'"),
                  "3: 'size' of <geom> has more than the 1 to 3 numbers wanted",
                  HasSubstr("3: 'shellinertia' of <geom> is 'yes'"), "4: 'rgba' of <site>: 'red' is not a number",
                  "5: 'scale' of <mesh> has 1 numbers where 3 are wanted",
                  "6: 'rgba' of <material> has 3 numbers where 4 are wanted",
                  HasSubstr("7: 'active' of <equality> is '1'"), "8: <geom> has two orientations, quat and euler"));
}

TEST(Mjcf, checks_attributes_that_mean_nothing_where_they_stand) {
  const auto wrong = [](const std::string& inside) {
    return errors(
        in_world("<body name='b'>" + ball + inside + "</body>", "<asset><mesh name='m' file='m.stl'/></asset>"));
  };
  EXPECT_THAT(wrong("<site size='small'/>"), ElementsAre("2: 'size' of <site>: 'small' is not a number"));
  EXPECT_THAT(wrong("<site type='cube'/>"), ElementsAre(HasSubstr("2: 'type' of <site> is 'cube'")));
  EXPECT_THAT(wrong("<site rgba='red'/>"), ElementsAre("2: 'rgba' of <site>: 'red' is not a number"));
  EXPECT_THAT(wrong("<site material='steel'/>"),
              ElementsAre("2: <site> names the material 'steel', which there is not"));
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
      ElementsAre("2: boundmass is negative", "2: boundinertia is negative",
                  "4: <material name=\"red\"> names the texture 'clothe', which there is not; did you mean "
                  "'cloth'?"));
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
  <actuator><motor joint="j"/></actuator>
</mujoco>)");
  EXPECT_THAT(warnings(model),
              IsSupersetOf({"2: attribute 'timestep' of <option> is not used", "4: <light> in <worldbody> is not used",
                            "5: attribute 'gravcomp' of <body> is not used", "6: <camera> in <body> is not used",
                            "7: attribute 'solreflimit' of <joint> is not used",
                            "8: attribute 'axix' of <joint> is not used; did you mean 'axis'?",
                            "9: attribute 'friction' of <geom> is not used",
                            "11: <replicate> is not used: what it would add is missing",
                            "14: <actuator> in <mujoco> is not used"}));
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
}  // namespace bunraku::test
