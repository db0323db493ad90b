/// Reference configurations: built, checked, found by name, and kept by what makes a model from another.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/model/builder.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/near.hpp"
#include "support/problems.hpp"

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const RigidInertia<double> unit_body =
    RigidInertia<double>::about_center(1, Vec3<double>::zero(), Sym3<double>::diagonal(1, 1, 1));

BodySpec body(const std::string& name, const std::string& parent, HingeType type) {
  return {.name = name, .parent = parent, .hinge = {.name = name + "_joint", .type = type}, .inertia = unit_body};
}

/// A free base, a fixed part, an arm on it, and a finger that follows the arm.
ModelBuilder walker() {
  BodySpec finger = body("finger", "arm", HingeType::revolute);
  finger.hinge.mimic = Mimic{"arm_joint", 2, 0.5};
  ModelBuilder builder("walker");
  builder.add(finger)
      .add(body("base", "world", HingeType::free))
      .add(body("mount", "base", HingeType::fixed))
      .add(body("arm", "mount", HingeType::revolute));
  return builder;
}

TEST(Reference, IsGivenHingeByHinge) {
  const Model model = walker()
                          .add_reference({.name = "home", .positions = {{"arm_joint", {0.25}}}})
                          .add(ReferenceSpec{.name = std::string(initial_name),
                                             .positions = {{"base_joint", {0, 1, 0, 0, 4, 5, 6}}},
                                             .where = {"walker.xml", 7}})
                          .build();
  ASSERT_EQ(model.references().size(), 2U);
  EXPECT_EQ(model.references()[0].name, "home");
  EXPECT_THAT(model.reference("home").q, ElementsAre(1, 0, 0, 0, 0, 0, 0, 0.25));
  EXPECT_THAT(model.reference("initial").q, ElementsAre(0, 1, 0, 0, 4, 5, 6, 0));
  EXPECT_EQ(model.reference("initial").where.line, 7);
  EXPECT_EQ(reference_configuration(model, "home")[7], 0.25);
  EXPECT_EQ(initial_configuration(model)[6], 6);
  std::vector<double> small(7);
  EXPECT_THROW(reference_configuration(model, "home", small), ArgumentError);
}

TEST(Reference, AModelWithoutOneStartsFromNeutral) {
  const Model model = walker().build();
  EXPECT_TRUE(model.references().empty());
  EXPECT_EQ(model.find_reference("initial"), nullptr);
  EXPECT_EQ(initial_configuration(model), neutral(model));
}

TEST(Reference, AnUnknownNameIsToldTheNearest) {
  const Model model = walker().add_reference({.name = "home"}).build();
  try {
    static_cast<void>(model.reference("hom"));
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr("model 'walker' has no reference configuration 'hom'; did you mean 'home'?"));
  }
}

TEST(Reference, QuaternionsAreMadeExact) {
  const double about = 0.7071068;  // 3e-8 off
  const Model model =
      walker().add_reference({.name = "turned", .positions = {{"base_joint", {about, about, 0, 0, 0, 0, 0}}}}).build();
  const std::vector<double>& q = model.reference("turned").q;
  EXPECT_NEAR(q[0] * q[0] + q[1] * q[1], 1, 1e-15);
}

TEST(Reference, WhatIsWrongIsReported) {
  const auto problems_of = [](ReferenceSpec spec) { return walker().add(std::move(spec)).check(); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(problems_of({.name = " "}), Contains(error("a reference configuration has no name")));
  EXPECT_THAT(walker().add_reference({.name = "a"}).add_reference({.name = "a"}).check(),
              Contains(error("a reference configuration 'a' twice")));
  EXPECT_THAT(problems_of({.name = "a", .positions = {{"arm_jont", {1}}}}),
              Contains(error("places hinge 'arm_jont', which does not exist; did you mean 'arm_joint'?")));
  EXPECT_THAT(problems_of({.name = "a", .positions = {{"base_joint", {1, 0, 0, 0}}}}),
              Contains(error("gives hinge 'base_joint' 4 numbers, but it is free and has 7")));
  EXPECT_THAT(problems_of({.name = "a", .positions = {{"mount_joint", {1}}}}),
              Contains(error("'mount_joint' 1 numbers, but it is fixed and has 0")));
  EXPECT_THAT(problems_of({.name = "a", .positions = {{"arm_joint", {nan}}}}), Contains(error("is not finite")));
  EXPECT_THAT(problems_of({.name = "a", .positions = {{"base_joint", {0.9, 0, 0, 0, 0, 0, 0}}}}),
              Contains(error("the quaternion of hinge 'base_joint' in reference configuration 'a' has norm 0.9")));
}

TEST(Reference, AFollowerMayBePlacedWhereItIs) {
  const auto problems_of = [](double finger) {
    return walker()
        .add_reference({.name = "a", .positions = {{"arm_joint", {0.25}}, {"finger_joint", {finger}}}})
        .check();
  };
  EXPECT_THAT(problems_of(1.0), IsEmpty());
  EXPECT_THAT(problems_of(0.9),
              ElementsAre(warning("places hinge 'finger_joint' at 0.9, but it follows 'arm_joint' to 1")));
}

TEST(Reference, StaysWithAModelMadeFromAnother) {
  const Model model = walker()
                          .add_reference({.name = "home",
                                          .positions = {{"arm_joint", {0.25}}, {"base_joint", {0, 0, 1, 0, 4, 5, 6}}},
                                          .where = {"walker.xml", 7}})
                          .build();
  for (const Model& other : {edit(model).build(), model.with_gravity({0, 0, -1.6}), merge_fixed(model)}) {
    ASSERT_EQ(other.references().size(), 1U);
    EXPECT_EQ(other.reference("home").q, model.reference("home").q);
    EXPECT_EQ(other.reference("home").where.line, 7);
  }
}

}  // namespace
}  // namespace bunraku::test
