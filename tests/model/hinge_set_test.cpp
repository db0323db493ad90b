/// Sets of hinges by name.
#include "bunraku/model/hinge_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/model/builder.hpp"

namespace bunraku::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// shoulder, elbow, a fixed tool, wrist, and a finger that follows the wrist.
Model arm() {
  ModelBuilder builder("arm");
  const auto add = [&](const std::string& name, const std::string& parent, HingeType type) {
    builder.add({.name = name + "_link",
                 .parent = parent,
                 .hinge = {.name = name, .type = type},
                 .inertia = RigidInertia<double>::about_center(1, {}, Sym3<double>::diagonal(1, 1, 1))});
  };
  add("shoulder", "world", HingeType::spherical);
  add("elbow", "shoulder_link", HingeType::revolute);
  add("mount", "elbow_link", HingeType::fixed);
  add("wrist", "elbow_link", HingeType::continuous);
  add("finger", "wrist_link", HingeType::prismatic);
  builder.bodies().back().hinge.mimic = Mimic{"wrist"};
  return builder.build();
}

TEST(HingeSet, HoldsWhatItIsGiven) {
  const Model model = arm();
  HingeSet set(model, {"wrist", "elbow", "wrist"});
  EXPECT_EQ(set.size(), 2);
  EXPECT_TRUE(set.contains("elbow"));
  EXPECT_TRUE(set.contains(3));
  EXPECT_FALSE(set.contains("shoulder"));
  EXPECT_FALSE(set.contains(world));
  EXPECT_FALSE(set.contains(5));
  EXPECT_THAT(set.bodies(), ElementsAre(1, 3)) << "the order of the model, not of the names";
  const HingeSet copy = set;
  set.erase("elbow").erase("elbow").insert(0);
  EXPECT_THAT(set.bodies(), ElementsAre(0, 3));
  EXPECT_EQ(set.size(), 2);
  EXPECT_THAT(copy.bodies(), ElementsAre(1, 3));
  EXPECT_NE(set, copy);
  EXPECT_EQ(copy, HingeSet(model, std::vector<std::string>{"elbow", "wrist"}));
  EXPECT_EQ(copy, HingeSet(model, std::vector<std::string_view>{"elbow", "wrist"}));
  EXPECT_TRUE(HingeSet(model, {}).empty());
}

TEST(HingeSet, TheRestIsWhatCanMoveOnItsOwn) {
  const Model model = arm();
  EXPECT_THAT(HingeSet::all(model).bodies(), ElementsAre(0, 1, 3));
  EXPECT_THAT(HingeSet(model, {"elbow", "mount"}).complement().bodies(), ElementsAre(0, 3));
  EXPECT_THAT(HingeSet::all(model).complement().bodies(), IsEmpty());
}

TEST(HingeSet, UnknownNamesAndIndicesAreRefused) {
  const Model model = arm();
  try {
    HingeSet(model, {"elbo"});
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr("has no hinge 'elbo'; did you mean 'elbow'?"));
  }
  HingeSet set(model);
  EXPECT_THROW(set.insert("x"), ArgumentError);
  EXPECT_THROW(set.erase("x"), ArgumentError);
  EXPECT_THROW(static_cast<void>(set.contains("x")), ArgumentError);
  EXPECT_THROW(set.insert(world), ArgumentError);
  EXPECT_THROW(set.erase(5), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
