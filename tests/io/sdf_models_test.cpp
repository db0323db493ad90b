// Whole models of SDF.

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/sdf_text.hpp"

namespace bunraku::test::sdf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(SdfModels, TheInitialConfigurationIsWhereTheFilePutsThem) {
  const Model model =
      read("<sdf version='1.9'><model name='m'><pose degrees='true'>0 0 0.445 0 0 180</pose>\n" +
           link("a", "<pose>1 0 0 0 0 0</pose>") + link("b") +
           joint("j", "revolute", "a", "b", "<axis><xyz>0 0 1</xyz><initial_position>0.5</initial_position></axis>") +
           "</model></sdf>");
  EXPECT_TRUE(model.warnings().empty());
  ASSERT_EQ(model.references().size(), 1U);
  EXPECT_EQ(model.references()[0].name, initial_name);
  const std::vector<double>& q = model.references()[0].q;
  expect_near(pose(model, 0, q), rpy(-1, 0, 0.445, 0, 0, pi));
  EXPECT_EQ(q.at(7), 0.5);
  EXPECT_TRUE(read_model(link("a")).references().empty()) << "neutral";
  EXPECT_TRUE(read("<sdf version='1.9'><model name='m'><static>true</static><pose>1 0 0 0 0 0</pose>" + link("a") +
                   "</model></sdf>")
                  .references()
                  .empty())
      << "what does not move starts nowhere";
}

}  // namespace
}  // namespace bunraku::test::sdf
