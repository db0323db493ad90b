/// What is written is read back as the same model; what URDF cannot say is refused by name.
#include "bunraku/io/urdf_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"
#include "support/files.hpp"
#include "support/near.hpp"
#include "support/plain_kinematics.hpp"
#include "support/problems.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array writable = {HingeType::fixed,     HingeType::revolute, HingeType::continuous,
                                 HingeType::prismatic, HingeType::free,     HingeType::planar};

Model random_writable_model(Random& random) {
  ModelBuilder builder("robot");
  for (int i = 0; i < 12; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    body.parent = i == 0 ? std::string(world_name) : "b" + std::to_string(random.integer(0, i - 1));
    body.hinge = random_hinge(writable[static_cast<std::size_t>(random.integer(0, 5))], random);
    if (body.hinge.type == HingeType::revolute || body.hinge.type == HingeType::prismatic) {
      body.hinge.dofs = {{.lower = -1.5, .upper = 0.7, .velocity = 3, .effort = 11, .damping = 0.1, .friction = 0.2}};
    }
    body.X_PF = random.transform();
    body.X_MB = i % 3 == 0 ? Transform<double>::identity() : random.transform();
    body.inertia = random.inertia();
    body.visuals.push_back({.name = "look", .type = ShapeType::box, .size = {1, 2, 3}, .pose = random.transform()});
    builder.add(std::move(body));
  }
  return builder.build();
}

TEST(UrdfWriter, RoundTripsBodiesHingesAndCoordinates) {
  Random random(60);
  for (int sample = 0; sample < 20; ++sample) {
    const Model model = random_writable_model(random);
    const Model again = load_text(to_urdf(model), "again.urdf");
    ASSERT_EQ(again.nq(), model.nq());
    PlainKinematics a(model);
    PlainKinematics b(again);
    const Eigen::VectorXd v = random.vector(model.nv());
    const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
    a.set_state(q, v);
    b.set_state(q, v);
    EXPECT_TRUE(is_near(a.center_of_mass(), b.center_of_mass(), 1e-13));
    for (const Body& body : model.bodies()) {
      const Body& twin = again.body(again.body_index(body.name));
      EXPECT_TRUE(is_near(a.pose(body.name), b.pose(body.name), 1e-12)) << body.name;
      EXPECT_TRUE(is_near(a.velocity(model.node(body.name)), b.velocity(again.node(body.name)), 1e-12)) << body.name;
      EXPECT_TRUE(is_near(to_eigen(body.inertia.matrix()), to_eigen(twin.inertia.matrix()), 1e-13)) << body.name;
      ASSERT_EQ(twin.visuals.size(), 1U);
      const Body& hinged = again.body(again.hinge_index(body.hinge.name));
      EXPECT_EQ(hinged.v_index, body.v_index);
      if (body.nv == 1 && body.hinge.type != HingeType::continuous) {
        EXPECT_EQ(hinged.hinge.dofs[0].lower, body.hinge.dofs[0].lower);
        EXPECT_EQ(hinged.hinge.dofs[0].effort, body.hinge.dofs[0].effort);
        EXPECT_EQ(hinged.hinge.dofs[0].damping, body.hinge.dofs[0].damping);
        EXPECT_EQ(hinged.hinge.dofs[0].friction, body.hinge.dofs[0].friction);
      }
    }
  }
}

TEST(UrdfWriter, TheProjectsOwnModelComesBackTheSame) {
  const Model model = load(std::string(BUNRAKU_SOURCE_DIR) + "/models/puppet.urdf");
  EXPECT_THAT(urdf_losses(model), IsEmpty());
  const Model again = load_text(to_urdf(model), "again.urdf");
  ASSERT_EQ(again.bodies().size(), model.bodies().size());
  ASSERT_EQ(again.nv(), model.nv());
  PlainKinematics a(model);
  PlainKinematics b(again);
  const Eigen::VectorXd q = random_configuration(model, 5);
  a.set_configuration(q);
  b.set_configuration(q);
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    EXPECT_EQ(again.bodies()[i].name, model.bodies()[i].name);
    EXPECT_EQ(again.bodies()[i].hinge.mimic.has_value(), model.bodies()[i].hinge.mimic.has_value());
    EXPECT_EQ(again.bodies()[i].visuals.at(0).color, model.bodies()[i].visuals.at(0).color);
    EXPECT_TRUE(is_near(a.pose(static_cast<int>(i)), b.pose(static_cast<int>(i)), 1e-14));
  }
}

TEST(UrdfWriter, RefusesByNameWhatUrdfCannotSay) {
  BodySpec a{.name = "a", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  a.hinge = {.name = "hip", .type = HingeType::universal};
  BodySpec b = a;
  b.name = "b";
  b.hinge = {.name = "knee", .type = HingeType::revolute, .dofs = {{.armature = 0.1, .stiffness = 3}}};
  ModelBuilder builder;
  builder.add(a).add(b).set_gravity({0, 0, 0}).add(ClosureSpec{.name = "loop", .a = "a", .b = "b"});
  const Model model = builder.build();
  try {
    static_cast<void>(to_urdf(model));
    FAIL();
  } catch (const ModelError& e) {
    for (const char* text : {"hinge 'hip' is universal", "hinge 'knee' has armature", "hinge 'knee' has a spring",
                             "closure 'loop'", "gravity"}) {
      EXPECT_THAT(e.problems(), Contains(error(text)));
    }
  }
  EXPECT_THROW(static_cast<void>(to_urdf(model, {.loss = UrdfLoss::accept})), ModelError)
      << "a universal hinge cannot go";
  const Model simpler = ModelBuilder().add(b).build();
  EXPECT_NO_THROW(static_cast<void>(load_text(to_urdf(simpler, {.loss = UrdfLoss::accept}), "x.urdf")));
}

TEST(UrdfWriter, EvenAnEmptyModelReadsBack) {
  EXPECT_EQ(load_text(to_urdf(ModelBuilder("").build()), "again.urdf").bodies().size(), 0U);
}

TEST(UrdfWriter, NamesMeshesFromItsOwnFolder) {
  const TemporaryFolder folder;
  folder.write("arm/meshes/m.stl", "solid");
  const std::string file = folder.write("arm/urdf/r.urdf", R"(<robot name="r"><link name="a"><visual><geometry>
    <mesh filename="../meshes/m.stl"/></geometry></visual></link></robot>)");
  const Model model = load(file);
  const std::string there = folder.write("elsewhere/r.urdf", to_urdf(model, {.folder = folder / "elsewhere"}));
  EXPECT_TRUE(load(there).warnings().empty());
  EXPECT_EQ(load(there).body(0).visuals[0].mesh_uri, "../arm/meshes/m.stl");
  EXPECT_EQ(load_text(to_urdf(model), "x.urdf").body(0).visuals[0].mesh_uri, "../meshes/m.stl");
}

TEST(UrdfWriter, RefusesNamesThatLookLikeXacro) {
  const Model model = ModelBuilder().add(BodySpec{.name = "${arm}"}).build();
  EXPECT_THROW(static_cast<void>(to_urdf(model, {.loss = UrdfLoss::accept})), ModelError);
}

TEST(UrdfWriter, RefusesCoordinatesThatDifferInOneHinge) {
  BodySpec a{.name = "a", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  a.hinge = {.name = "slide", .type = HingeType::planar, .dofs = {{.damping = 1}, {.damping = 2}, {.damping = 3}}};
  EXPECT_THAT(urdf_losses(ModelBuilder().add(a).build()), Contains(HasSubstr("of hinge 'slide' have friction")));
}

TEST(UrdfWriter, NodesBecomeMasslessLinks) {
  BodySpec a{.name = "a", .inertia = RigidInertia<double>{1, {}, Sym3<double>::diagonal(1, 1, 1)}};
  a.hinge = {.name = "j", .type = HingeType::continuous};
  const Model model = ModelBuilder()
                          .add(a)
                          .add(NodeSpec{.name = "tool", .body = "a", .X_BN = Transform<double>::translate({1, 2, 3})})
                          .build();
  const Model again = load_text(to_urdf(model), "again.urdf");
  EXPECT_EQ(again.body(again.body_index("tool")).inertia.mass, 0);
  PlainKinematics kinematics(again);
  EXPECT_TRUE(is_near(kinematics.pose("tool"), to_eigen(Transform<double>::translate({1, 2, 3})), 1e-15));
}

}  // namespace
}  // namespace bunraku::test
