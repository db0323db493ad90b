/// Well-known robots that are not part of the project, where they are at hand: every file loads, and what was read is
/// what the file says. The numbers here were copied from the files by hand.
#include <algorithm>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"
#include "bunraku/io/urdf_writer.hpp"
#include "support/files.hpp"
#include "support/near.hpp"
#include "support/plain_kinematics.hpp"

namespace bunraku::test {
namespace {

class SharedModels : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(shared_models())) {
      GTEST_SKIP() << "there is no folder " << shared_models() << " with robots: set BUNRAKU_SHARED_MODELS to one";
    }
  }
  static Model read(const std::string& name, const LoadOptions& options = {}) {
    return load((shared_models() / name).string(), options);
  }
  static const Body& body(const Model& model, const std::string& name) { return model.body(model.body_index(name)); }
  static const HingeDof& dof(const Model& model, const std::string& hinge) {
    return model.body(model.hinge_index(hinge)).hinge.dofs.at(0);
  }
};

TEST_F(SharedModels, EveryFileLoads) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shared_models())) {
    const auto extension = entry.path().extension();
    if (extension == ".urdf" || extension == ".xml" || extension == ".sdf") {
      EXPECT_NO_THROW(static_cast<void>(load(entry.path().string()))) << entry.path();
      ++files;
    }
  }
  EXPECT_GT(files, 0);
}

TEST_F(SharedModels, IiwaUrdf) {
  const Model model = read("urdf/iiwa14.urdf");
  EXPECT_EQ(model.nv(), 7);
  const Body& link = body(model, "iiwa_link_1");
  EXPECT_NEAR(link.inertia.mass, 5.76, 1e-15);
  EXPECT_TRUE(is_near(link.inertia.center(), Vec3<double>{0, -0.03, 0.12}, 1e-15));
  EXPECT_TRUE(is_near(link.inertia.central(), Sym3<double>{0.033, 0.0333, 0.0123, 0, 0, 0}, 1e-15));
  const HingeDof& first = dof(model, "iiwa_joint_1");
  EXPECT_EQ(first.lower, -2.96705972839);
  EXPECT_EQ(first.upper, 2.96705972839);
  EXPECT_EQ(first.velocity, 1.4835298641951802);
  EXPECT_EQ(first.effort, 320);
  EXPECT_EQ(first.damping, 0.5);
}

TEST_F(SharedModels, PandaFingersFollowOneAnother) {
  const Model model = read("urdf/panda.urdf");
  const Body& finger = body(model, "panda_rightfinger");
  ASSERT_TRUE(finger.hinge.mimic.has_value());
  EXPECT_EQ(finger.hinge.mimic->hinge, "panda_finger_joint1");
  EXPECT_EQ(finger.leader_ratio, 1);
  EXPECT_EQ(model.nv(), 8);
  EXPECT_EQ(model.nq(), 8);
}

TEST_F(SharedModels, CassieMjcf) {
  const Model model = read("mjcf/cassie.xml");
  EXPECT_EQ(model.nv(), 32);
  EXPECT_EQ(model.nq(), 35);
  EXPECT_EQ(model.body(0).hinge.type, HingeType::free);
  const double degree = std::numbers::pi / 180;
  const HingeDof& knee = dof(model, "left-knee");
  EXPECT_NEAR(knee.lower, -164 * degree, 1e-15);
  EXPECT_NEAR(knee.upper, -37 * degree, 1e-15);
  EXPECT_EQ(knee.armature, 0.09344);
  EXPECT_EQ(knee.damping, 1);
  EXPECT_EQ(dof(model, "left-shin").stiffness, 1500);
  EXPECT_EQ(dof(model, "left-heel-spring").stiffness, 1250);
  ASSERT_EQ(model.closures().size(), 4U);
  for (const Closure& closure : model.closures()) {
    EXPECT_EQ(closure.hinge.type, HingeType::spherical);
  }
  const Closure& rod = model.closures()[0];
  EXPECT_EQ(model.body(rod.a.body).name, "left-plantar-rod");
  EXPECT_EQ(model.body(rod.b.body).name, "left-foot");
  EXPECT_TRUE(is_near(rod.a.X_BN.translation, Vec3<double>{0.35012, 0, 0}, 1e-15));
  // at the configuration of the file the two ends are one point, by MuJoCo's rule
  Eigen::VectorXd q = neutral(model);
  for (const Body& b : model.bodies()) {
    if (b.hinge.name.ends_with("-knee")) {
      q[b.q_index] = -45 * degree;
    } else if (b.hinge.name.ends_with("-tarsus")) {
      q[b.q_index] = 58 * degree;
    }
  }
  PlainKinematics kinematics(model);
  kinematics.set_configuration(q);
  for (const Closure& closure : model.closures()) {
    EXPECT_TRUE(is_near(kinematics.pose(closure.a).translation, kinematics.pose(closure.b).translation, 1e-12));
  }
}

TEST_F(SharedModels, ArmaturesAndDefaultsOfMjcf) {
  const Model ur5e = read("mjcf/ur5e.xml");
  EXPECT_EQ(dof(ur5e, "shoulder_pan_joint").armature, 0.1);
  EXPECT_NEAR(dof(ur5e, "elbow_joint").upper, 3.1415, 1e-12);
  EXPECT_NEAR(body(ur5e, "upper_arm_link").inertia.mass, 8.393, 1e-12);
  const Model go2 = read("mjcf/go2.xml");
  EXPECT_EQ(go2.nv(), 18);
  const HingeDof& hip = dof(go2, "FL_hip_joint");
  EXPECT_EQ(hip.armature, 0.01);
  EXPECT_EQ(hip.damping, 2);
  EXPECT_EQ(hip.friction, 0.2);
}

TEST_F(SharedModels, LoopsOfYamlFiles) {
  EXPECT_EQ(read("loops/5bar_linkage/robot.urdf").closures().size(), 1U);
  EXPECT_EQ(read("loops/digit_like/robot.urdf").closures().size(), 3U);
  const Model delta = read("loops/robot_delta/robot.urdf");
  ASSERT_EQ(delta.closures().size(), 3U);
  for (const Closure& closure : delta.closures()) {
    EXPECT_EQ(closure.hinge.type, HingeType::fixed);
  }
  EXPECT_EQ(delta.body(delta.hinge_index("closedloop1_A")).name, delta.closures()[0].a.name);
}

TEST_F(SharedModels, FourBarSdf) {
  const Model model = read("sdf/four_bar.sdf");
  EXPECT_EQ(model.nv(), 3);
  EXPECT_EQ(model.mass(), 60);
  const Node bushing = model.node("Bc_bushing");
  EXPECT_EQ(model.body(bushing.body).name, "B");
  EXPECT_TRUE(is_near(bushing.X_BN.translation, Vec3<double>{4, 0, 0}, 1e-15));
  EXPECT_TRUE(is_near(model.body(1).X_PF.translation, Vec3<double>{4, 0.1, 0}, 1e-15));
}

/// The three files do not say quite the same: they differ in where the links sit along the hinge axis, which no
/// motion sees, and the MJCF file has thicker rods (its shapes give I = m(3r² + l²)/12). Its hinges, lengths, masses
/// and centres of mass are the others'.
TEST_F(SharedModels, TheAcrobotIsOneSystemInThreeFormats) {
  const Model urdf = read("acrobot.urdf");
  const Model sdf = read("acrobot.sdf");
  const Model mjcf = read("acrobot.xml");
  const auto in_plane = [](const Vec3<double>& p) { return Vec3<double>{p.x, 0, p.z}; };
  PlainKinematics a(urdf);
  PlainKinematics b(sdf);
  PlainKinematics c(mjcf);
  for (unsigned seed = 0; seed < 100; ++seed) {
    const Eigen::VectorXd q = random_configuration(urdf, seed);
    const Eigen::Vector2d v(1.3, -0.4);
    a.set_state(q, v);
    b.set_state(q, v);
    c.set_state(q, v);
    for (int i = 0; i < 2; ++i) {
      for (const PlainKinematics* other : {&b, &c}) {
        EXPECT_TRUE(is_near(a.pose(i).rotation, other->pose(i).rotation, 1e-12));
        EXPECT_TRUE(is_near(in_plane(a.pose(i).translation), in_plane(other->pose(i).translation), 1e-12));
        EXPECT_TRUE(is_near(a.velocity(i), other->velocity(i), 1e-12));
      }
    }
    EXPECT_TRUE(is_near(in_plane(a.center_of_mass()), in_plane(b.center_of_mass()), 1e-12));
    EXPECT_TRUE(is_near(in_plane(a.center_of_mass()), in_plane(c.center_of_mass()), 1e-12));
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_near(to_eigen(urdf.body(i).inertia.matrix()), to_eigen(sdf.body(i).inertia.matrix()), 1e-12));
    EXPECT_NEAR(urdf.body(i).inertia.mass, mjcf.body(i).inertia.mass, 1e-12);
    EXPECT_TRUE(is_near(urdf.body(i).inertia.center(), mjcf.body(i).inertia.center(), 1e-12));
    const double length = i == 0 ? 1.1 : 2.1;
    EXPECT_NEAR(mjcf.body(i).inertia.central().yy, (3 * 0.05 * 0.05 + length * length) / 12, 1e-12);
  }
}

TEST_F(SharedModels, UrdfFilesSurviveWritingAndReading) {
  for (const char* name : {"urdf/panda.urdf", "urdf/atlas.urdf", "urdf/cassie_v2.urdf", "urdf/solo12.urdf"}) {
    const Model model = read(name);
    const Model again = load_text(to_urdf(model), "again.urdf");
    PlainKinematics a(model);
    PlainKinematics b(again);
    const Eigen::VectorXd q = random_configuration(model, 3);
    a.set_configuration(q);
    b.set_configuration(q);
    EXPECT_TRUE(is_near(a.center_of_mass(), b.center_of_mass(), 1e-12)) << name;
  }
}

}  // namespace
}  // namespace bunraku::test
