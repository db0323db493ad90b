#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "bunraku/io/load.hpp"
#include "support/problems.hpp"

namespace bunraku::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double tolerance = 1e-13;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;

const std::string inertial =
    "<inertial><mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>";

/// A link of 2 kg with unit inertia.
std::string link(const std::string& name, const std::string& rest = "") {
  return fmt::format("<link name='{}'>{}{}</link>\n", name, rest, inertial);
}

std::string joint(const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
                  const std::string& rest = "<axis><xyz>0 0 1</xyz></axis>") {
  return fmt::format("<joint name='{}' type='{}'><parent>{}</parent><child>{}</child>{}</joint>\n", name, type, parent,
                     child, rest);
}

/// The text of a file with one model `m`, whose contents start in line 2.
std::string in_model(const std::string& contents, const std::string& version = "1.9") {
  return fmt::format("<sdf version='{}'><model name='m'>\n{}</model></sdf>", version, contents);
}

Model read(const std::string& text, const LoadOptions& options = {}) {
  return load_text(text, "m.sdf", options);
}
Model read_model(const std::string& contents) {
  return read(in_model(contents));
}

/// `line: text` of every error of a file that cannot be loaded.
std::vector<std::string> errors(const std::string& text, const LoadOptions& options = {}) {
  return errors_of_text(text, "m.sdf", options);
}

/// X_WB with the hinge coordinates q.
Transform<double> pose(const Model& model, int body, const std::vector<double>& q) {
  Transform<double> out = Transform<double>::identity();
  for (; body != world; body = model.body(body).parent) {
    const Body& b = model.body(body);
    out = b.X_PF * hinge_pose(b.hinge, q.data() + b.q_index) * b.X_MB * out;
  }
  return out;
}

/// X_WB at the zero configuration of a model without free bodies.
Transform<double> pose(const Model& model, const std::string& name) {
  std::vector<double> q(static_cast<std::size_t>(model.nq()));
  for (const Body& body : model.bodies()) {
    hinge_neutral(body.hinge, q.data() + body.q_index);
  }
  const Node node = model.node(name);
  return pose(model, node.body, q) * node.X_BN;
}

void expect_near(const Vec3<double>& a, const Vec3<double>& b) {
  EXPECT_LT(norm(a - b), tolerance) << fmt::format("{} {} {} where {} {} {} is wanted", a.x, a.y, a.z, b.x, b.y, b.z);
}

void expect_near(const Transform<double>& a, const Transform<double>& b) {
  expect_near(a.translation, b.translation);
  for (int j = 0; j < 3; ++j) {
    expect_near(a.rotation.matrix().column(j), b.rotation.matrix().column(j));
  }
}

Transform<double> rpy(double x, double y, double z, double roll, double pitch, double yaw) {
  return {Rotation<double>::from_rpy(roll, pitch, yaw), {x, y, z}};
}

/// From the rows of a 3×4 matrix.
Transform<double> rows(const std::array<double, 12>& m) {
  return {Rotation<double>(Mat3<double>{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}),
          {m[3], m[7], m[11]}};
}

/// A folder of its own for each test, removed at its end.
class SdfFiles : public testing::Test {
 protected:
  SdfFiles() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() / fmt::format("bunraku_sdf_{}_{}", test->name(), getpid());
    std::filesystem::create_directories(folder_);
  }
  ~SdfFiles() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  Model load(const std::string& name) const { return bunraku::load((folder_ / name).string()); }
  std::vector<std::string> load_errors(const std::string& name) const {
    try {
      load(name);
    } catch (const ModelError& error) {
      std::vector<std::string> out;
      for (const Problem& p : error.problems()) {
        out.push_back(
            fmt::format("{}:{}: {}", std::filesystem::path(p.where.file).filename().string(), p.where.line, p.text));
      }
      return out;
    }
    return {};
  }

  std::filesystem::path folder_;
};

// ---------------------------------------------------------------------------------------------------------------
// Whole models

constexpr const char* nested_robot = R"(<sdf version="1.9">
  <model name="robot">
    <pose>5 -4 3 0.7 0.8 0.9</pose>
    <link name="base">
      <pose>1 2 3 0.1 0.2 0.3</pose>
      <inertial>
        <pose>0.1 -0.2 0.3 0.1 0.5 -0.7</pose><mass>1.3</mass>
        <inertia><ixx>0.6</ixx><iyy>0.6</iyy><izz>0.7</izz><ixy>0.05</ixy><ixz>-0.03</ixz><iyz>0.02</iyz></inertia>
      </inertial>
    </link>
    <joint name="shoulder" type="revolute">
      <parent>world</parent><child>base</child>
      <pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>
      <axis><xyz expressed_in="__model__">1 2 3</xyz></axis>
    </joint>
    <joint name="wrist" type="continuous">
      <parent>hand::tip</parent><child>finger</child>
      <pose relative_to="hand::palm">0.3 0.2 0.1 1 0.5 -0.2</pose>
      <axis><xyz expressed_in="hand::tip">0 1 1</xyz></axis>
    </joint>
    <joint name="slide" type="prismatic">
      <parent>base</parent><child>hand::palm</child>
      <axis><xyz>3 0 4</xyz></axis>
    </joint>
    <model name="hand" placement_frame="tip">
      <pose relative_to="base">0.5 0 0.25 0 0 1.5</pose>
      <link name="palm">
        <pose>0.1 0.2 0.3 0.4 0.5 0.6</pose>
        <inertial>
          <pose>0.4 -0.2 0.3 0.4 0.5 -0.7</pose><mass>2.2</mass>
          <inertia><ixx>0.9</ixx><iyy>0.6</iyy><izz>0.7</izz><ixy>0.05</ixy><ixz>-0.03</ixz><iyz>0.02</iyz></inertia>
        </inertial>
      </link>
      <frame name="tip" attached_to="palm"><pose>0 0 1 0 0.5 0</pose></frame>
    </model>
    <link name="finger">
      <pose relative_to="hand::tip">-1 0.5 2 0.3 -0.2 1.3</pose>
      <inertial>
        <mass>0.5</mass><inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia>
      </inertial>
    </link>
    <frame name="grip" attached_to="finger"><pose relative_to="hand">0 1 0 0 0 0</pose></frame>
  </model>
</sdf>)";

// The numbers are those of Drake 1.51.1 (MultibodyPlant::EvalBodyPoseInWorld, Frame::CalcPoseInWorld,
// CalcSpatialInertiaInBodyFrame) for the same text.
TEST(SdfModels, NestedModelAgreesWithDrake) {
  const Model model = read(nested_robot);
  EXPECT_EQ(model.name(), "robot");
  EXPECT_EQ(model.format(), Format::sdf);
  EXPECT_THAT(model.warnings(), IsEmpty());
  ASSERT_EQ(model.nv(), 3);
  std::vector<double> q(3);
  for (const auto& [name, value] : {std::pair("shoulder", 0.3), std::pair("slide", 0.25), std::pair("wrist", -0.7)}) {
    q[static_cast<std::size_t>(model.body(model.hinge_index(name)).q_index)] = value;
  }
  const auto at = [&](const char* name) {
    const Node node = model.node(name);
    return pose(model, node.body, q) * node.X_BN;
  };
  expect_near(at("base"), rows({-0.07565419981532749, -0.27333610434059463, 0.9589389011371946, 7.348003239567865,
                                0.861755107726728, 0.46589982149369225, 0.20078717747665367, -1.6904267085772473,
                                -0.5016518477561885, 0.8415608892980074, 0.2003015058524239, 4.775603098942442}));
  expect_near(at("hand::palm"),
              rows({0.21576924920488763, 0.05612965389552564, 0.9748297764487542, 6.802412431166229, 0.5575996508547911,
                    -0.8266399500079021, -0.07582230817871746, -1.0650545661735271, 0.801577357754181,
                    0.559924865499383, -0.20966135679071632, 4.862818240623153}));
  expect_near(at("finger"), rows({0.2803145384340808, 0.10480100068192189, 0.9541700633527324, 9.241475944150334,
                                  -0.24398985373528914, -0.953596359623808, 0.176416932822374, -3.1071923076341936,
                                  0.9283817699722035, -0.28226004529208426, -0.24173654257267377, 4.36781873069804}));
  expect_near(at("hand::tip"), rows({-0.2780029601269714, 0.05612965389552564, 0.9589389011371948, 7.777242207614983,
                                     0.5256908810431205, -0.8266399500079021, 0.20078717747665364, -1.1408768743522446,
                                     0.8039673200751071, 0.559924865499383, 0.20030150585242398, 4.653156883832437}));
  expect_near(at("grip"), rows({0.8999209612313721, 0.29482525294161116, 0.32127921464719644, 6.748615453769148,
                                0.3428264016657173, -0.02305874742092687, -0.93911572901763, -0.8988312964308499,
                                -0.26946673608692534, 0.9552729266525317, -0.12182493072998914, 5.7767490659896845}));
  const Body& palm = model.body(model.body_index("hand::palm"));
  EXPECT_NEAR(palm.inertia.mass, 2.2, tolerance);
  expect_near(palm.inertia.center(), {0.4, -0.2, 0.3});
  const Mat3<double> about_origin = palm.inertia.inertia.full();
  expect_near(about_origin.column(0), {1.0703836665884197, 0.06153658082293885, -0.3622269851532622});
  expect_near(about_origin.column(1), {0.06153658082293885, 1.2134090242121396, 0.15337831010785252});
  expect_near(about_origin.column(2), {-0.3622269851532622, 0.15337831010785252, 1.1922073091994412});
}

TEST(SdfModels, WorldWithGravityAndScopedNames) {
  const Model model =
      read("<sdf version='1.9'><world name='w'><gravity>0 1 -3</gravity><model name='g'><static>1</static>" +
           link("l", "<pose>0 0 7 0 0 0</pose>") + "</model><model name='r'>" + link("l") + link("k") +
           joint("j", "revolute", "l", "k") +
           "</model><frame name='f' attached_to='r::k'><pose>1 0 0 0 0 0</pose></frame>"
           "<frame name='fixed'><pose>3 0 0 0 0 0</pose></frame></world></sdf>");
  EXPECT_EQ(model.name(), "w");
  EXPECT_EQ(model.gravity(), (Vec3<double>{0, 1, -3}));
  ASSERT_EQ(model.bodies().size(), 3U);
  EXPECT_EQ(model.body(0).name, "g::l");
  EXPECT_EQ(model.body(0).hinge.name, "g::l_root_joint");
  EXPECT_EQ(model.body(0).hinge.type, HingeType::fixed);
  expect_near(pose(model, "g::l"), rpy(0, 0, 7, 0, 0, 0));
  EXPECT_EQ(model.body(1).name, "r::l");
  EXPECT_EQ(model.body(1).hinge.name, "r::l_root_joint");
  EXPECT_EQ(model.body(1).hinge.type, HingeType::free);
  EXPECT_EQ(model.body(2).hinge.name, "r::j");
  EXPECT_EQ(model.node("f").body, 2);
  EXPECT_EQ(model.node("fixed").body, world);
  expect_near(model.node("fixed").X_BN, rpy(3, 0, 0, 0, 0, 0));
}

TEST(SdfModels, OneModelInAWorldKeepsPlainNames) {
  const Model model =
      read("<sdf version='1.9'><world name='w'><model name='r'>" + link("l") + "</model></world></sdf>");
  EXPECT_EQ(model.name(), "r");
  EXPECT_EQ(model.gravity(), standard_gravity);
  EXPECT_TRUE(model.find_body("l"));
}

TEST(SdfModels, SeveralModelsAtTheRoot) {
  const Model model = read("<sdf version='1.9'><model name='a'>" + link("l") + "</model><model name='b'>" + link("l") +
                           "</model></sdf>");
  EXPECT_TRUE(model.find_body("a::l"));
  EXPECT_TRUE(model.find_body("b::l"));
  EXPECT_EQ(model.nv(), 12);
}

TEST(SdfModels, FreeRootsHaveNoOffset) {
  const Model one = read_model(link("a", "<pose>1 2 3 0.1 0.2 0.3</pose>"));
  EXPECT_EQ(one.body(0).hinge.name, "root_joint");
  EXPECT_EQ(one.body(0).hinge.type, HingeType::free);
  EXPECT_EQ(one.body(0).X_PF, Transform<double>::identity());
  EXPECT_EQ(one.body(0).X_MB, Transform<double>::identity());
  const Model two = read_model(link("a") + link("b") + link("c") + joint("b_root_joint", "fixed", "a", "c", ""));
  EXPECT_TRUE(two.find_hinge("a_root_joint"));
  EXPECT_TRUE(two.find_hinge("b_root_joint_2"));
}

TEST(SdfModels, StaticModelsDoNotMove) {
  const Model model = read_model("<static>true</static>" + link("a", "<pose>1 2 3 0 0 0</pose>") + link("b") +
                                 joint("j", "revolute", "a", "b"));
  EXPECT_EQ(model.nv(), 0);
  expect_near(pose(model, "a"), rpy(1, 2, 3, 0, 0, 0));
  EXPECT_THAT(warnings(model), ElementsAre(HasSubstr("<joint name=\"j\"> is between things that do not move")));
}

// ---------------------------------------------------------------------------------------------------------------
// Frames

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

// ---------------------------------------------------------------------------------------------------------------
// Links

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
  EXPECT_THAT(errors(in_model("<link name='a'><inertial>\n<mass>-1</mass><inertia/></inertial></link>\n"
                              "<link name='b'><inertial auto='true'/></link>\n"
                              "<link name='c'><inertial><pose relative_to='a'/><mass>x</mass></inertial></link>")),
              ElementsAre(HasSubstr("3: the mass -1 is negative"),
                          HasSubstr("4: <link name=\"b\"> wants its inertia computed from its shapes"),
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

TEST(SdfLinks, WrongShapesAreListed) {
  const auto wrong = [](const std::string& geometry) {
    return errors(in_model(link("a", "<visual name='v'><geometry>\n" + geometry + "</geometry></visual>")));
  };
  EXPECT_THAT(wrong("<box/>"), ElementsAre("3: <box> has no <size>"));
  EXPECT_THAT(wrong("<box>\n<size>1 -1 1</size></box>"), ElementsAre("4: <size> of <box> has a negative number"));
  EXPECT_THAT(wrong("<box><size>1 1</size></box>"), ElementsAre(HasSubstr("3: the text of <size> has 2 numbers")));
  EXPECT_THAT(wrong("<ellipsoid/>"), ElementsAre("3: <ellipsoid> has no <radii>"));
  EXPECT_THAT(wrong("<ellipsoid>\n<radii>1 1 -1</radii></ellipsoid>"),
              ElementsAre("4: <radii> of <ellipsoid> has a negative number"));
  EXPECT_THAT(wrong("<plane>\n<size>1 -1</size></plane>"), ElementsAre("4: <size> of <plane> has a negative number"));
  EXPECT_THAT(wrong(""), ElementsAre("2: <geometry> has no shape"));
}

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
                  "12: the child of <joint name=\"j4\"> is the world",
                  "13: <joint name=\"j5\"> is of type 'gearbox', which is not known here",
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
  EXPECT_EQ(closure.type, HingeType::revolute);
  expect_near(closure.axis, {1, 0, 0});
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
  EXPECT_EQ(model.closures()[0].type, HingeType::spherical);
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

// ---------------------------------------------------------------------------------------------------------------
// Files

const std::string arm =
    in_model("<pose>0 0 5 0 0 0</pose>" + link("a", "<pose>1 0 0 0 0 0</pose>") +
             link("b", "<pose relative_to='a'>0 1 0 0 0 0</pose>") + joint("j", "revolute", "a", "b") +
             "<frame name='tip' attached_to='b'><pose>0 0 1 0 0 0</pose></frame><plugin name='p'/>");

TEST_F(SdfFiles, IncludesByFolderAndFile) {
  write("arm/model.config",
        "<model><name>arm</name><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>");
  write("arm/new.sdf", arm);
  write("leg/model.sdf", arm);
  write("robot.sdf",
        in_model(link("base") + joint("w", "fixed", "world", "base", "") +
                 "<include><uri>arm</uri><name>left</name><pose relative_to='base'>0 0 1 0 0 0</pose></include>"
                 "<include><uri>arm/new.sdf</uri></include>"
                 "<include><uri>leg</uri><name>right</name><placement_frame>tip</placement_frame>"
                 "<pose relative_to='left::tip'>0 0 0 0 0 0</pose></include>" +
                 joint("l", "fixed", "base", "left::a", "") + joint("r", "fixed", "base", "right::a", "") +
                 joint("third", "fixed", "base", "m::a", "")));
  const Model model = load("robot.sdf");
  EXPECT_EQ(model.bodies().size(), 7U);
  expect_near(pose(model, "left::a"), rpy(1, 0, 1, 0, 0, 0));
  expect_near(pose(model, "left::tip"), rpy(1, 1, 2, 0, 0, 0));
  expect_near(pose(model, "m::a"), rpy(1, 0, 5, 0, 0, 0));
  expect_near(pose(model, "right::tip"), rpy(1, 1, 2, 0, 0, 0));
  expect_near(pose(model, "right::a"), rpy(1, 0, 1, 0, 0, 0));
  // each file says once what is not used in it
  EXPECT_THAT(warnings(model),
              ElementsAre(HasSubstr("<plugin> in <model> is not used"), HasSubstr("<plugin> in <model> is not used")));
}

TEST_F(SdfFiles, MergedAndStaticIncludes) {
  write("arm.sdf", arm);
  write("robot.sdf", in_model(link("base") + joint("w", "fixed", "world", "base", "") +
                              "<include merge='true'><uri>arm.sdf</uri><pose>0 0 1 0 0 0</pose></include>" +
                              joint("l", "fixed", "base", "a", "")));
  const Model merged = load("robot.sdf");
  expect_near(pose(merged, "b"), rpy(1, 1, 1, 0, 0, 0));
  EXPECT_TRUE(merged.find_hinge("j"));
  write("world.sdf",
        "<sdf version='1.9'><world name='w'><include><uri>arm.sdf</uri><static>true</static></include></world></sdf>");
  const Model still = load("world.sdf");
  EXPECT_EQ(still.nv(), 0);
  expect_near(pose(still, "tip"), rpy(1, 1, 6, 0, 0, 0));
}

TEST_F(SdfFiles, WhatCannotBeIncluded) {
  write("self.sdf", in_model(link("a") + "<include><uri>self.sdf</uri></include>"));
  EXPECT_THAT(load_errors("self.sdf"), ElementsAre(HasSubstr("self.sdf:3: ")));
  write("self_world.sdf",
        "<sdf version='1.9'><world name='w'>\n<include><uri>self_world.sdf</uri></include></world></sdf>");
  EXPECT_THAT(load_errors("self_world.sdf"),
              ElementsAre(testing::AllOf(HasSubstr("self_world.sdf:2: "), HasSubstr("includes itself"))));
  write("missing.sdf", in_model(link("a") + "<include>\n<uri>nothing</uri></include>"));
  EXPECT_THAT(load_errors("missing.sdf"), ElementsAre(HasSubstr("missing.sdf:4: 'nothing' is not found")));
  write("outside.sdf", in_model(link("a") + "<include><uri>/etc/hostname</uri></include>"));
  EXPECT_THAT(load_errors("outside.sdf"), SizeIs(1));
  write("broken.sdf", "<sdf version='1.9'>\n<model name='x'></sdf>");
  write("includes_broken.sdf", in_model(link("a") + "<include><uri>broken.sdf</uri></include>"));
  EXPECT_THAT(load_errors("includes_broken.sdf"), ElementsAre(HasSubstr("broken.sdf:2: ")));
  write("robot.urdf", "<robot name='x'/>");
  write("includes_urdf.sdf", in_model(link("a") + "<include><uri>robot.urdf</uri></include>"));
  EXPECT_THAT(load_errors("includes_urdf.sdf"), ElementsAre(HasSubstr("includes_urdf.sdf:3: ")));
  write("two.sdf", "<sdf version='1.9'><model name='x'/><model name='y'/></sdf>");
  write("includes_two.sdf", in_model(link("a") + "<include><uri>two.sdf</uri></include>"));
  EXPECT_THAT(load_errors("includes_two.sdf"), ElementsAre(HasSubstr("has 2 models where one is wanted")));
}

TEST_F(SdfFiles, BombsAreRefused) {
  for (int i = 0; i < 31; ++i) {
    const std::string next = fmt::format("<uri>{}.sdf</uri>", i + 1);
    write(fmt::format("{}.sdf", i), in_model(link("a") + "<include>" + next + "<name>x</name></include><include>" +
                                             next + "<name>y</name></include>"));
  }
  write("31.sdf", in_model(link("a")));
  EXPECT_THAT(load_errors("0.sdf"), ElementsAre(HasSubstr("the model includes more than 1000 files")));
}

// ---------------------------------------------------------------------------------------------------------------
// The file as a whole

TEST(SdfFile, Versions) {
  EXPECT_THAT(warnings(read(in_model(link("a"), "1.12"))), IsEmpty());
  EXPECT_THAT(warnings(read(in_model(link("a"), "1.6"))), ElementsAre(HasSubstr("1: this is SDF 1.6: ")));
  EXPECT_THAT(errors(in_model(link("a"), "new")), ElementsAre("1: 'version' of <sdf> is 'new'"));
  EXPECT_THAT(errors("<sdf><model name='m'>" + link("a") + "</model></sdf>"),
              ElementsAre("1: <sdf> has no attribute 'version'"));
}

TEST(SdfFile, OldAxesInTheModelsFrame) {
  const std::string contents = link("a", "<pose>0 0 0 0 0 1.5707963267948966</pose>") +
                               joint("j", "revolute", "world", "a",
                                     "<axis><xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame></axis>");
  expect_near(read(in_model(contents, "1.6")).body(0).hinge.axis, {0, -1, 0});
  expect_near(read(in_model(contents, "1.7")).body(0).hinge.axis, {1, 0, 0});
}

TEST(SdfFile, NothingIsDroppedInSilence) {
  const Model model = read_model("<enable_wind>1</enable_wind>\n<link name='a'><gravity>0</gravity>" + inertial +
                                 "<sensor name='s' type='imu'/></link>\n<plugin name='p' filename='x'/>");
  EXPECT_THAT(warnings(model),
              ElementsAre("2: <enable_wind> in <model> is not used", "3: <gravity> in <link> is not used",
                          "3: <sensor> in <link> is not used", "4: <plugin> in <model> is not used"));
  LoadOptions strict;
  strict.strictness = Strictness::strict;
  EXPECT_THROW(read(in_model(link("a") + "<plugin/>"), strict), ModelError);
}

TEST(SdfFile, RefusesWhatItSaysItself) {
  LoadOptions options;
  options.free_base = true;
  EXPECT_THAT(errors(in_model(link("a")), options), ElementsAre(HasSubstr("SDF says itself whether the base is free")));
}

TEST(SdfFile, NeedsAModel) {
  EXPECT_THAT(errors("<sdf version='1.9'/>"), ElementsAre("1: <sdf> has neither a <model> nor a <world>"));
  EXPECT_THAT(errors("<sdf version='1.9'><model name='m'/></sdf>"), ElementsAre("1: <model name=\"m\"> has no link"));
  EXPECT_THAT(errors("<sdf version='1.9'><world name='w'><model name='m'>" + link("a") +
                     "</model></world><world name='v'/></sdf>"),
              ElementsAre("2: <sdf> has a second <world>"));
  EXPECT_THAT(errors("<sdf version='1.9'><world name='w'>\n<link name='a'/></world></sdf>"),
              ElementsAre("2: <link name=\"a\"> stands in a <world>: it must stand in a <model>"));
  EXPECT_THAT(warnings(read("<sdf version='1.9'>\n<world name='w'/></sdf>")),
              ElementsAre("2: the model has no bodies"));
}

TEST(SdfFile, DeepAndLongFilesAreRead) {
  std::string deep = link("a");
  for (int i = 0; i < 70; ++i) {
    deep = fmt::format("<model name='n{}'>{}</model>", i, deep);
  }
  EXPECT_THAT(errors("<sdf version='1.9'>" + deep + "</sdf>"),
              ElementsAre(HasSubstr("models are nested deeper than 64")));
  std::string chain = link("l0");  // each placed relative to the next, which the file gives later
  constexpr int length = 20000;
  for (int i = 0; i < length; ++i) {
    chain += fmt::format("<frame name='f{}'><pose relative_to='f{}'>1 0 0 0 0 0</pose></frame>", i, i + 1);
  }
  chain += fmt::format("<frame name='f{}'/>", length);
  const Model model = read_model("<static>1</static>" + chain);
  expect_near(model.node("f0").X_BN.translation, {length, 0, 0});
}

}  // namespace
}  // namespace bunraku::test
