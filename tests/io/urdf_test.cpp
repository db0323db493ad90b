/// URDF read against what the files say.
#include <limits>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/kinematics.hpp"
#include "bunraku/io/load.hpp"
#include "support/files.hpp"
#include "support/near.hpp"
#include "support/problems.hpp"

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double infinity = std::numeric_limits<double>::infinity();

Model robot(const std::string& inside, const LoadOptions& options = {}) {
  return load_text("<robot name=\"r\">\n" + inside + "\n</robot>", "r.urdf", options);
}

std::vector<Problem> problems_of(const std::string& inside, const LoadOptions& options = {}) {
  try {
    const Model model = robot(inside, options);
    return {model.warnings().begin(), model.warnings().end()};
  } catch (const ModelError& e) {
    return e.problems();
  }
}

const char* const two_links =
    "<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/>"
    "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>";

std::string joint(const std::string& type, const std::string& inside) {
  return std::string(two_links) + "<joint name=\"j\" type=\"" + type + "\"><parent link=\"a\"/><child link=\"b\"/>" +
         inside + "</joint>";
}

TEST(Urdf, ReadsEveryJointType) {
  const std::vector<std::pair<std::string, HingeType>> types = {
      {"revolute", HingeType::revolute},  {"continuous", HingeType::continuous}, {"prismatic", HingeType::prismatic},
      {"fixed", HingeType::fixed},        {"floating", HingeType::free},         {"planar", HingeType::planar},
      {"spherical", HingeType::spherical}};
  for (const auto& [name, type] : types) {
    const Model model = robot(joint(name, "<axis xyz=\"0 0 2\"/><limit lower=\"-1\" upper=\"1\"/>"));
    EXPECT_EQ(model.body(1).hinge.type, type) << name;
    if (type != HingeType::fixed && type != HingeType::free && type != HingeType::spherical) {
      EXPECT_EQ(model.body(1).hinge.axis, Vec3<double>::unit_z()) << name;
    }
    EXPECT_EQ(model.nv(), velocity_size(type)) << name;
  }
}

TEST(Urdf, TheAxisIsXUnlessGiven) {
  EXPECT_EQ(robot(joint("continuous", "")).body(1).hinge.axis, Vec3<double>::unit_x());
}

TEST(Urdf, OriginIsRollPitchYawAboutFixedAxes) {
  const Model model = robot(joint("fixed", "<origin xyz=\"1 2 3\" rpy=\"0.1 0.2 0.3\"/>"));
  // Rz(0.3) Ry(0.2) Rx(0.1), by hand
  const double cr = std::cos(0.1), sr = std::sin(0.1), cp = std::cos(0.2), sp = std::sin(0.2), cy = std::cos(0.3),
               sy = std::sin(0.3);
  const Mat3<double> expected{{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                               {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                               {-sp, cp * sr, cp * cr}}};
  EXPECT_TRUE(is_near(model.body(1).X_PF.rotation.matrix(), expected, 1e-15));
  EXPECT_EQ(model.body(1).X_PF.translation, (Vec3<double>{1, 2, 3}));
  EXPECT_EQ(model.body(1).X_MB, Transform<double>::identity());
}

TEST(Urdf, InertiaInARotatedFrame) {
  const Model model = robot(
      "<link name=\"a\"><inertial><origin xyz=\"0 0 2\" rpy=\"0 0 1.5707963267948966\"/><mass value=\"3\"/>"
      "<inertia ixx=\"1\" iyy=\"2\" izz=\"2.5\" ixy=\"0.1\" ixz=\"0.2\" iyz=\"0.3\"/></inertial></link>");
  const RigidInertia<double>& m = model.body(0).inertia;
  EXPECT_EQ(m.mass, 3);
  EXPECT_TRUE(is_near(m.center(), Vec3<double>{0, 0, 2}, 1e-15));
  // a quarter turn about z: x → y, y → −x
  EXPECT_TRUE(is_near(m.central(), Sym3<double>{2, 1, 2.5, -0.1, -0.3, 0.2}, 1e-14));
  EXPECT_TRUE(is_near(m.inertia, Sym3<double>{2 + 12, 1 + 12, 2.5, -0.1, -0.3, 0.2}, 1e-14));
}

TEST(Urdf, LimitsAndDynamics) {
  const HingeDof dof = robot(joint("revolute",
                                   "<limit lower=\"-0.5\" upper=\"1.5\" velocity=\"2\" effort=\"7\"/>"
                                   "<dynamics damping=\"0.3\" friction=\"0.4\"/>"))
                           .body(1)
                           .hinge.dofs.at(0);
  EXPECT_EQ(dof.lower, -0.5);
  EXPECT_EQ(dof.upper, 1.5);
  EXPECT_EQ(dof.velocity, 2);
  EXPECT_EQ(dof.effort, 7);
  EXPECT_EQ(dof.damping, 0.3);
  EXPECT_EQ(dof.friction, 0.4);
  EXPECT_EQ(dof.armature, 0);
  const HingeDof half = robot(joint("prismatic", "<limit lower=\"-2\" effort=\"inf\"/>")).body(1).hinge.dofs.at(0);
  EXPECT_EQ(half.lower, -2);
  EXPECT_EQ(half.upper, 0) << "the format's default";
  const HingeDof open = robot(joint("revolute", "<limit effort=\"1\"/>")).body(1).hinge.dofs.at(0);
  EXPECT_EQ(open.upper, infinity);
  EXPECT_THAT(problems_of(joint("revolute", "")), Contains(warning("no <limit>")));
  EXPECT_EQ(robot(joint("continuous", "<limit effort=\"1\" velocity=\"3\"/>")).body(1).hinge.dofs.at(0).velocity, 3);
}

TEST(Urdf, MimicJointsHaveNoCoordinates) {
  const Model model =
      robot(std::string(two_links) +
            "<link name=\"c\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"
            "<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint>"
            "<joint name=\"k\" type=\"continuous\"><parent link=\"a\"/><child link=\"c\"/>"
            "<mimic joint=\"j\" multiplier=\"-2\" offset=\"0.1\"/></joint>");
  EXPECT_EQ(model.nv(), 1);
  EXPECT_EQ(model.body(2).leader, 1);
  EXPECT_EQ(model.body(2).leader_ratio, -2);
  EXPECT_EQ(model.body(2).leader_offset, 0.1);
}

TEST(Urdf, AMimicOfNothingCanBeLeftFree) {
  const std::string text = joint("continuous", "<mimic joint=\"k\" multiplier=\"2\"/>");
  const std::vector<Problem> problems = problems_of(text);
  EXPECT_THAT(problems, Contains(error("<joint name=\"j\"> mimics 'k', which does not exist")));
  EXPECT_THAT(problems.at(0).text, testing::Not(HasSubstr("did you mean"))) << "not itself";
  EXPECT_THAT(problems.at(0).cure, HasSubstr("free_mimics"));
  EXPECT_THAT(problems.at(0).cure, HasSubstr("--free-mimics"));
  const Model model = robot(text, {.free_mimics = true});
  EXPECT_EQ(model.nv(), 1);
  EXPECT_FALSE(model.body(1).hinge.mimic);
  EXPECT_THAT(problems_of(text, {.free_mimics = true}),
              Contains(warning("'k', which does not exist: it is left free")));
}

TEST(Urdf, AFixedJointMimicsNobody) {
  const Model model = robot(joint("fixed", "<mimic joint=\"k\" multiplier=\"2\"/>"));
  EXPECT_FALSE(model.body(1).hinge.mimic);
  EXPECT_THAT(model.warnings(), ElementsAre(warning("is fixed: its <mimic> is not used")));
}

TEST(Urdf, ARobotWithoutANameHasItsFiles) {
  EXPECT_EQ(load_text("<robot><link name='a'/></robot>", "some/where/ur3.urdf").name(), "ur3");
  EXPECT_EQ(load_text("<robot name=' '><link name='a'/></robot>", "").name(), "robot");
}

TEST(Urdf, OfTwoWhereOneIsWantedTheFirstIsUsed) {
  const Model model = robot(
      "<link name=\"a\"><inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>"
      "<inertial><mass value=\"3\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>");
  EXPECT_EQ(model.mass(), 2);
  EXPECT_THAT(model.warnings(), ElementsAre(warning("a second <inertial>: the first is used")));
}

TEST(Urdf, ShapesThatAreWrongAreLeftOut) {
  const Model model = robot(
      "<link name=\"a\"><visual><geometry><box size=\"1 2\"/></geometry></visual>"
      "<visual><geometry><box size=\"1 2 3\"/></geometry><material name=\"m\"><color "
      "rgba=\"red\"/><texture/></material>"
      "</visual></link>");
  ASSERT_EQ(model.body(0).visuals.size(), 1U);
  EXPECT_EQ(model.body(0).visuals[0].size, (Vec3<double>{1, 2, 3})) << "a wrong material leaves the shape";
  EXPECT_FALSE(model.body(0).visuals[0].color);
  EXPECT_THAT(model.warnings(),
              Contains(warning("'size' of <box> has 2 numbers where 3 are wanted: the shape is not used")));
  EXPECT_THAT(model.warnings(), Contains(warning("<texture> has no attribute 'filename': it is not used")));
}

TEST(Urdf, LimitsThatCannotBeMeantAreNone) {
  const HingeDof dof = robot(joint("revolute", "<limit lower=\"1\" upper=\"-1\" velocity=\"-1\" effort=\"2\"/>"))
                           .body(1)
                           .hinge.dofs.at(0);
  EXPECT_EQ(dof.lower, -infinity);
  EXPECT_EQ(dof.upper, infinity);
  EXPECT_EQ(dof.velocity, infinity);
  EXPECT_EQ(dof.effort, 2);
}

TEST(Urdf, TheLinkCalledWorldIsTheWorldDeclaredOrNot) {
  const std::string to_world =
      "<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>"
      "</inertial></link><joint name=\"j\" type=\"continuous\"><parent link=\"world\"/>"
      "<child link=\"b\"/></joint>";
  for (const std::string declared : {"", "<link name=\"world\"/>"}) {
    const Model model = robot(declared + to_world);
    ASSERT_EQ(model.bodies().size(), 1U);
    EXPECT_EQ(model.body(0).parent, world);
    EXPECT_EQ(model.body(0).hinge.name, "j");
    EXPECT_THAT(problems_of(declared + to_world, {.free_base = true}), Contains(error("base cannot be made free")));
  }
}

TEST(Urdf, OtherRootsHangOnARootJoint) {
  const Model fixed = robot(joint("continuous", ""));
  EXPECT_EQ(fixed.body(0).hinge.name, "root_joint");
  EXPECT_EQ(fixed.body(0).hinge.type, HingeType::fixed);
  const Model free = robot(joint("continuous", ""), {.free_base = true});
  EXPECT_EQ(free.body(0).hinge.type, HingeType::free);
  EXPECT_EQ(free.nv(), 7);
}

TEST(Urdf, SeveralRootsAreAForestWithAWarning) {
  const std::string forest = "<link name=\"a\"/>\n<link name=\"b\"/>";
  const Model model = robot(forest);
  EXPECT_EQ(model.body(1).hinge.name, "root_joint_b");
  const auto problems = problems_of(forest);
  ASSERT_THAT(problems, ElementsAre(warning("second root")));
  EXPECT_EQ(problems[0].where.line, 3);
}

TEST(Urdf, KeepsTheOrderOfTheJoints) {
  const Model model = robot(
      "<link name=\"z\"/><link name=\"a\"/><link name=\"m\"/><link name=\"k\"/>"
      "<joint name=\"1\" type=\"continuous\"><parent link=\"m\"/><child link=\"k\"/></joint>"
      "<joint name=\"2\" type=\"continuous\"><parent link=\"z\"/><child link=\"m\"/></joint>"
      "<joint name=\"3\" type=\"continuous\"><parent link=\"z\"/><child link=\"a\"/></joint>");
  std::vector<std::string> names;
  for (const Body& body : model.bodies()) {
    names.push_back(body.name);
  }
  EXPECT_THAT(names, ElementsAre("z", "m", "k", "a"));
}

TEST(Urdf, KeepsShapesMaterialsAndMeshes) {
  const Model model = robot(R"(
    <material name="red"><color rgba="1 0 0 1"/></material>
    <link name="a">
      <visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
      <visual><geometry><mesh filename="package://p/m.stl" scale="2 2 2"/></geometry></visual>
      <collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision>
      <collision><geometry><sphere radius="0.2"/></geometry></collision>
      <collision><geometry><capsule radius="0.2" length="0.3"/></geometry></collision>
    </link>)");
  const Body& body = model.body(0);
  ASSERT_EQ(body.visuals.size(), 2U);
  EXPECT_EQ(body.visuals[0].type, ShapeType::box);
  EXPECT_EQ(body.visuals[0].size, (Vec3<double>{1, 2, 3}));
  EXPECT_EQ(body.visuals[0].pose.translation.z, 1);
  ASSERT_TRUE(body.visuals[0].color.has_value());
  EXPECT_THAT(*body.visuals[0].color, ElementsAre(1, 0, 0, 1));
  EXPECT_EQ(body.visuals[1].mesh_uri, "package://p/m.stl");
  EXPECT_EQ(body.visuals[1].mesh_path, "");
  EXPECT_EQ(body.visuals[1].size.y, 2);
  ASSERT_EQ(body.collisions.size(), 3U);
  EXPECT_EQ(body.collisions[0].size, (Vec3<double>{0.1, 0.4, 0}));
  EXPECT_EQ(body.collisions[2].type, ShapeType::capsule);
}

TEST(Urdf, ResolvesPackagesThroughSearchPathsRosAndTheOwnFolder) {
  const TemporaryFolder folder;
  folder.write("ws/arm/meshes/m.stl", "solid");
  const std::string text = R"(<robot name="r"><link name="a"><visual><geometry>
    <mesh filename="package://arm/meshes/m.stl"/></geometry></visual></link></robot>)";
  const std::string inside = folder.write("ws/arm/urdf/r.urdf", text);
  const std::string outside = folder.write("elsewhere/r.urdf", text);
  const auto found = [](const Model& model) { return std::filesystem::exists(model.body(0).visuals[0].mesh_path); };
  EXPECT_TRUE(found(load(inside)));
  EXPECT_FALSE(found(load(outside)));
  EXPECT_TRUE(found(load(outside, {.search_paths = {folder / "ws"}})));
  EXPECT_TRUE(found(load(outside, {.search_paths = {folder / "ws/arm"}})));
  setenv("ROS_PACKAGE_PATH", ("/nowhere:" + (folder / "ws")).c_str(), 1);
  EXPECT_TRUE(found(load(outside)));
  unsetenv("ROS_PACKAGE_PATH");
  const std::string relative = folder.write(
      "ws/arm/urdf/s.urdf",
      R"(<robot name="r"><link name="a"><visual><geometry><mesh filename="../meshes/m.stl"/></geometry></visual></link></robot>)");
  EXPECT_TRUE(found(load(relative)));
}

TEST(Urdf, PackagesAreFoundFromWhereverTheFileIsNamed) {
  const TemporaryFolder folder;
  folder.write("arm/meshes/m.stl", "solid");
  folder.write("arm/urdf/r.urdf", R"(<robot name="r"><link name="a"><visual><geometry>
    <mesh filename="package://arm/meshes/m.stl"/></geometry></visual></link></robot>)");
  folder.write("arm/urdf/out.urdf", R"(<robot name="r"><link name="a"><visual><geometry>
    <mesh filename="package://arm/../../../../../../etc/passwd"/></geometry></visual></link></robot>)");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path() / "arm" / "urdf");
  const Model inside = load("r.urdf");
  const Model outside = load("out.urdf");
  std::filesystem::current_path(before);
  EXPECT_TRUE(inside.warnings().empty());
  EXPECT_EQ(outside.body(0).visuals[0].mesh_path, "") << "leads out of the package";
  const std::vector<Problem> warnings(outside.warnings().begin(), outside.warnings().end());
  EXPECT_THAT(warnings, Contains(warning("is not found")));
}

TEST(Urdf, TellsXacroFromUrdf) {
  EXPECT_THAT(problems_of("<xacro:arm/>"), Contains(error("this is a xacro file")));
  EXPECT_THAT(problems_of("<link name=\"${prefix}arm\"/>"), Contains(error("xacro expression")));
}

TEST(Urdf, TextWhereAttributesBelongIsListed) {
  EXPECT_THAT(problems_of("<link name=\"a\"><inertial><origin>1 2 3</origin><mass value=\"1\"/>"
                          "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"),
              Contains(warning("the text in <origin> is not used")));
}

TEST(Urdf, LimitsThatDoNotApplyAreListed) {
  EXPECT_THAT(problems_of(joint("continuous", "<limit lower=\"-1\" upper=\"1\"/>")),
              Contains(warning("attribute 'lower' of <limit> is not used")));
}

TEST(Urdf, ListsWhatIsNotUsedOnceWithItsFirstLine) {
  const auto problems = problems_of(
      "<link name=\"a\" colour=\"x\"/>\n<transmission name=\"t\"><type>x</type></transmission>\n<transmission "
      "name=\"u\"/>\n<lnik name=\"b\"/>");
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_THAT(problems, Contains(warning("attribute 'colour' of <link> is not used")));
  EXPECT_THAT(problems, Contains(warning("<transmission> in <robot> is not used (2 places")));
  EXPECT_THAT(problems, Contains(warning("<lnik> in <robot> is not used; did you mean 'link'?")));
  EXPECT_EQ(problems[0].where.line, 2);
  EXPECT_EQ(problems[1].where.line, 3);
  EXPECT_EQ(problems[2].where.line, 5);
  EXPECT_THROW(robot("<gazebo/><link name=\"a\"/>", {.strictness = Strictness::strict}), ModelError);
}

TEST(Urdf, FramesOfOtherReadersBecomeNodes) {
  const Model model = robot("<link name=\"a\"/><frame name=\"f\" link=\"a\" xyz=\"1 2 3\" rpy=\"0 0 0\"/>");
  EXPECT_EQ(model.node("f").X_BN.translation, (Vec3<double>{1, 2, 3}));
}

TEST(Urdf, ReportsSeveralErrorsOfAFileAtOnce) {
  const auto problems = problems_of(
      "<link name=\"a\"><inertial><mass value=\"x\"/></inertial></link>\n"
      "<joint name=\"j\" type=\"rotary\"><parent link=\"a\"/><child link=\"b\"/></joint>\n"
      "<joint name=\"k\" type=\"fixed\"><child link=\"a\"/></joint>");
  EXPECT_THAT(problems, Contains(error("'x' is not a number")));
  EXPECT_THAT(problems, Contains(error("has no <inertia>")));
  EXPECT_THAT(problems, Contains(error("link 'b', which does not exist")));
  EXPECT_THAT(problems, Contains(error("has no <parent>")));
}

TEST(Urdf, MergesFixedJointsOnRequest) {
  const std::string text =
      "<link name=\"a\"/><link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>"
      "</inertial></link><link name=\"c\"><inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>"
      "</inertial></link>"
      "<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint>"
      "<joint name=\"k\" type=\"fixed\"><parent link=\"b\"/><child link=\"c\"/><origin xyz=\"0 0 3\"/></joint>";
  EXPECT_EQ(robot(text).bodies().size(), 3U);
  const Model merged = robot(text, {.merge_fixed = true});
  ASSERT_EQ(merged.bodies().size(), 2U);
  EXPECT_EQ(merged.body(1).inertia.mass, 3);
  EXPECT_TRUE(is_near(merged.body(1).inertia.center(), Vec3<double>{0, 0, 2}, 1e-15));
  EXPECT_EQ(merged.node("c").body, 1);
}

TEST(Loops, CloseTheLoopsOfATree) {
  const TemporaryFolder folder;
  const std::string robot_text = R"(<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
    <joint name="jb" type="fixed"><parent link="a"/><child link="b"/></joint>
    <joint name="jc" type="fixed"><parent link="a"/><child link="c"/></joint></robot>)";
  const std::string file = folder.write("r.urdf", robot_text);
  folder.write("r.yaml", "closed_loop: [['b', 'jc'], ['a', 'c']]\ntype: ['6d', '3d']\nname_mot: ['x']\n");
  const Model model = load(file);
  ASSERT_EQ(model.closures().size(), 2U);
  EXPECT_EQ(model.closures()[0].hinge.type, HingeType::fixed);
  EXPECT_EQ(model.closures()[0].a.name, "b");
  EXPECT_EQ(model.closures()[0].b.name, "c") << "the child of the joint of that name";
  EXPECT_EQ(model.closures()[1].hinge.type, HingeType::spherical);
  EXPECT_EQ(model.closures()[0].where.line, 1);
  const std::vector<Problem> warnings(model.warnings().begin(), model.warnings().end());
  EXPECT_THAT(warnings, Contains(warning("'name_mot' is not used")));

  EXPECT_TRUE(load(file, {.loops = "none"}).closures().empty());
  const std::string other = folder.write("other.yaml", "closed_loop: [['a', 'b']]\n");
  EXPECT_EQ(load(file, {.loops = other}).closures().size(), 1U);

  folder.write("r.yaml", "controller:\n  gains: {p: 1}\n");
  const Model open = load(file);
  EXPECT_TRUE(open.closures().empty());
  const std::vector<Problem> unrelated(open.warnings().begin(), open.warnings().end());
  EXPECT_THAT(unrelated, Contains(warning("closes no loops")));

  folder.write("r.yaml", "closed_loop:\n- ['b', 'nobody']\n");
  try {
    static_cast<void>(load(file));
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_THAT(e.problems(), Contains(error("'nobody', which does not exist")));
    EXPECT_THAT(e.problems().front().where.file, HasSubstr("r.yaml"));
    EXPECT_EQ(e.problems().front().where.line, 2);
  }
}

}  // namespace
}  // namespace bunraku::test
