/// Builds models in code; checks order, indices, couplings, and that validation finds everything at once.
#include "bunraku/model/builder.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/model/configuration.hpp"
#include "support/near.hpp"
#include "support/problems.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

const RigidInertia<double> unit_body =
    RigidInertia<double>::about_center(1, Vec3<double>::zero(), Sym3<double>::diagonal(1, 1, 1));

BodySpec body(const std::string& name, const std::string& parent, HingeType type = HingeType::revolute) {
  BodySpec spec{.name = name, .parent = parent, .inertia = unit_body};
  spec.hinge.type = type;
  return spec;
}

std::vector<std::string> names(const Model& model) {
  std::vector<std::string> out;
  for (const Body& b : model.bodies()) {
    out.push_back(b.name);
  }
  return out;
}

TEST(Builder, KeepsTheOrderOfAddingAsFarAsParentsAllow) {
  ModelBuilder builder;
  builder.add(body("d", "b")).add(body("a", "world")).add(body("c", "a")).add(body("b", "a")).add(body("e", "world"));
  EXPECT_THAT(names(builder.build()), ElementsAre("a", "c", "b", "d", "e"));
}

TEST(Builder, NumbersCoordinatesInThatOrder) {
  const Model model = ModelBuilder()
                          .add(body("base", "world", HingeType::free))
                          .add(body("ball", "base", HingeType::spherical))
                          .add(body("pin", "ball", HingeType::fixed))
                          .add(body("knee", "pin", HingeType::revolute))
                          .build();
  EXPECT_EQ(model.nq(), 7 + 4 + 1);
  EXPECT_EQ(model.nv(), 6 + 3 + 1);
  EXPECT_EQ(model.body(3).q_index, 11);
  EXPECT_EQ(model.body(3).v_index, 9);
  EXPECT_EQ(model.body(2).nv, 0);
  EXPECT_EQ(model.mass(), 4);
}

TEST(Builder, AxesGetUnitLength) {
  BodySpec spec = body("a", "world");
  spec.hinge.axis = {0, 3, 4};
  EXPECT_TRUE(is_near(ModelBuilder().add(spec).build().body(0).hinge.axis, Vec3<double>{0, 0.6, 0.8}, 1e-15));
}

TEST(Builder, FindsThingsByNameAndSuggestsTheNearest) {
  const Model model =
      ModelBuilder("arm")
          .add(body("shoulder", "world"))
          .add(NodeSpec{.name = "tool", .body = "shoulder", .X_BN = Transform<double>::translate({1, 2, 3})})
          .build();
  EXPECT_EQ(model.find_body("shoulder"), 0);
  EXPECT_EQ(model.find_body("world"), world);
  EXPECT_EQ(model.find_hinge("shoulder_hinge"), 0);
  EXPECT_EQ(model.node("tool").X_BN.translation.z, 3);
  EXPECT_EQ(model.node("shoulder").body, 0);
  EXPECT_FALSE(model.find_node("elbow"));
  try {
    static_cast<void>(model.node("sholder"));
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr("did you mean 'shoulder'?"));
  }
  EXPECT_THROW(static_cast<void>(model.body_index("x")), ArgumentError);
  EXPECT_THROW(static_cast<void>(model.hinge_index("x")), ArgumentError);
}

TEST(Builder, CopiesShareAndChangesDoNotLeak) {
  const Model model = ModelBuilder().add(body("a", "world")).build();
  const Model moon = model.with_gravity({0, 0, -1.62});
  EXPECT_EQ(model.gravity(), standard_gravity);
  EXPECT_EQ(moon.gravity().z, -1.62);
  EXPECT_EQ(moon.find_body("a"), 0);
  EXPECT_THROW(static_cast<void>(model.with_gravity({0, nan, 0})), ArgumentError);
}

TEST(Builder, FollowsChainsOfMimics) {
  BodySpec b = body("b", "a");
  b.hinge.mimic = Mimic{"a_hinge", 2, 0.5};
  BodySpec c = body("c", "b");
  c.hinge.mimic = Mimic{"b_hinge", -3, 0.1};
  const Model model = ModelBuilder().add(c).add(b).add(body("a", "world")).build();
  EXPECT_EQ(model.nv(), 1);
  const Body& last = model.body(*model.find_body("c"));
  EXPECT_EQ(last.nv, 0);
  EXPECT_EQ(last.leader, *model.find_body("a"));
  EXPECT_DOUBLE_EQ(last.leader_ratio, -6);
  EXPECT_DOUBLE_EQ(last.leader_offset, -3 * 0.5 + 0.1);
  EXPECT_EQ(last.hinge.mimic->hinge, "b_hinge") << "as it was written";
}

TEST(Builder, RefusesMimicsThatLeadNowhere) {
  BodySpec a = body("a", "world");
  a.hinge.mimic = Mimic{"b_hinge"};
  BodySpec b = body("b", "a");
  b.hinge.mimic = Mimic{"a_hinge"};
  EXPECT_THAT(ModelBuilder().add(a).add(b).check(), Contains(error("mimics itself")));
  a.hinge.mimic = Mimic{"a_hinge"};
  EXPECT_THAT(ModelBuilder().add(a).check(), Contains(error("mimics itself")));
  a.hinge.mimic = Mimic{"b_hing"};
  EXPECT_THAT(ModelBuilder().add(a).add(body("b", "a")).check(), Contains(error("did you mean 'b_hinge'")));
  a.hinge.mimic = Mimic{"a_hing"};
  EXPECT_THAT(ModelBuilder().add(a).check(), ElementsAre(error("mimics 'a_hing', which does not exist")));
  EXPECT_THAT(ModelBuilder().add(a).check(), Not(Contains(error("did you mean")))) << "not itself";
  EXPECT_THAT(ModelBuilder().add(body("arm", "ar")).check(), Not(Contains(error("did you mean")))) << "not itself";
  a.hinge.mimic = Mimic{"c_hinge"};
  b.hinge.mimic = Mimic{"a_hinge"};
  const auto problems = ModelBuilder().add(b).add(a).check();
  EXPECT_THAT(problems, Contains(error("'c_hinge', which does not exist")));
  EXPECT_THAT(problems, Not(Contains(error("itself"))));
  a.hinge.mimic = Mimic{"ball_hinge"};
  EXPECT_THAT(ModelBuilder().add(body("ball", "world", HingeType::spherical)).add(a).check(),
              Contains(error("which is spherical")));
  BodySpec ball = body("ball", "world", HingeType::spherical);
  ball.hinge.mimic = Mimic{"x_hinge"};
  EXPECT_THAT(ModelBuilder().add(body("x", "world")).add(ball).check(), Contains(error("cannot mimic")));
}

TEST(Builder, RefusesWhatLeavesTheRangeOfNumbers) {
  BodySpec b = body("b", "a");
  b.hinge.mimic = Mimic{"a_hinge", 1e200};
  BodySpec c = body("c", "b");
  c.hinge.mimic = Mimic{"b_hinge", 1e200};
  EXPECT_THAT(ModelBuilder().add(body("a", "world")).add(b).add(c).check(),
              Contains(error("leads beyond the range of numbers")));
  BodySpec most = body("most", "world");
  most.inertia = RigidInertia<double>::about_center(largest_model_number, {}, Sym3<double>::diagonal(1, 1, 1));
  EXPECT_TRUE(ModelBuilder().add(most).check().empty());
  const auto problems_of = [](auto&& change) {
    BodySpec spec = body("x", "world");
    spec.hinge.dofs = {{}};
    change(spec);
    return ModelBuilder().add(spec).check();
  };
  EXPECT_THAT(problems_of([](BodySpec& x) { x.inertia.mass = 1e308; }),
              ElementsAre(error("mass, first moment or inertia of body 'x' is 1e+308, beyond 1e+50")));
  EXPECT_THAT(problems_of([](BodySpec& x) { x.inertia.first_moment.y = -1e200; }), ElementsAre(error("beyond 1e+50")));
  EXPECT_THAT(problems_of([](BodySpec& x) { x.inertia.inertia.xz = -1e200; }), ElementsAre(error("beyond 1e+50")));
  EXPECT_THAT(problems_of([](BodySpec& x) { x.X_PF.translation.z = 1e200; }),
              ElementsAre(error("a distance of the hinge frame of body 'x' is 1e+200, beyond 1e+50")));
  EXPECT_THAT(problems_of([](BodySpec& x) { x.hinge.dofs[0].armature = 1e300; }),
              ElementsAre(error("the armature of hinge 'x_hinge' is 1e+300, beyond 1e+50")));
  EXPECT_THAT(problems_of([](BodySpec& x) { x.hinge.dofs[0].stiffness = -1e300; }), ElementsAre(error("beyond 1e+50")));
  EXPECT_THAT(problems_of([](BodySpec& x) { x.hinge.dofs[0].effort = 1e300; }), ElementsAre()) << "a limit may be";
  EXPECT_THAT(ModelBuilder().set_gravity({0, 0, 1e300}).check(), ElementsAre(error("gravity is beyond 1e+50")));
  EXPECT_THROW(static_cast<void>(ModelBuilder().build().with_gravity({0, 0, 1e300})), ArgumentError);
}

TEST(Builder, RefusesWhatCannotBeMeant) {
  BodySpec wheel = body("wheel", "world", HingeType::continuous);
  wheel.hinge.dofs = {{.upper = 1}};
  EXPECT_THAT(ModelBuilder().add(wheel).check(),
              ElementsAre(error("hinge 'wheel_hinge' is continuous and has position limits")));
  BodySpec puck = body("puck", "world", HingeType::planar);
  puck.hinge.axis = puck.hinge.axis2 = {1, 0, 0};
  EXPECT_THAT(ModelBuilder().add(puck).check(), ElementsAre(error("the two axes of hinge 'puck_hinge' are parallel")));
  puck.hinge.axis2 = {1, 1, 0};
  EXPECT_TRUE(is_near(ModelBuilder().add(puck).build().body(0).hinge.axis2, Vec3<double>::unit_y(), 1e-15));
}

TEST(Builder, ACustomHingeWithoutItsObjectHidesNothing) {
  BodySpec follower = body("follower", "custom");
  follower.hinge.mimic = Mimic{"nowhere"};
  BodySpec after = body("after", "custom");
  after.hinge.mimic = Mimic{"custom_hinge"};
  const auto problems = ModelBuilder()
                            .add(body("custom", "world", HingeType::custom))
                            .add(follower)
                            .add(after)
                            .add_reference({.name = "home", .positions = {{"custom_hinge", {1}}, {"lost", {1}}}})
                            .add_closure({.name = "tie", .kind = ClosureKind::hinges, .a = "custom_hinge"})
                            .check();
  EXPECT_THAT(problems, Contains(error("'custom_hinge' is custom but has no CustomHinge")));
  EXPECT_THAT(problems, Contains(error("mimics 'nowhere', which does not exist")));
  EXPECT_THAT(problems, Contains(error("places hinge 'lost', which does not exist")));
  EXPECT_EQ(problems.size(), 3U) << "and nothing is said twice";
}

TEST(Builder, NamesMustBePrintable) {
  EXPECT_THAT(ModelBuilder().add(body(" ", "world")).check(), Contains(error("a body has no name")));
  EXPECT_THAT(ModelBuilder().add(body("a\nb", "world")).check(), Contains(error("control characters")));
  EXPECT_THAT(ModelBuilder().add(body("a\xED\xA0\x80", "world")).check(), Contains(error("is not UTF-8")));
  EXPECT_NO_THROW(static_cast<void>(ModelBuilder().add(body("épaule_肩", "world")).build()));
}

TEST(Builder, ErrorsAreNotCrowdedOutByWarnings) {
  ModelBuilder builder;
  for (int i = 0; i < 500; ++i) {
    BodySpec massless = body("b" + std::to_string(i), "world");
    massless.inertia = RigidInertia<double>::zero();
    builder.add(massless);
  }
  builder.add(body("lost", "nowhere"));
  EXPECT_THAT(builder.check(), Contains(error("'nowhere', which does not exist")));
}

TEST(Builder, ALeaderMovesWhatItsFollowersCarry) {
  BodySpec leader = body("leader", "world");
  leader.inertia = RigidInertia<double>::zero();
  BodySpec follower = body("follower", "world");
  follower.hinge.mimic = Mimic{"leader_hinge"};
  EXPECT_TRUE(ModelBuilder().add(leader).add(follower).check().empty());
}

TEST(Builder, IndicesOutOfRangeAreRefused) {
  const Model model = ModelBuilder().add(body("a", "world")).build();
  EXPECT_THROW(static_cast<void>(model.body(world)), ArgumentError);
  EXPECT_THROW(static_cast<void>(model.body(1)), ArgumentError);
}

TEST(Builder, LongMimicChainsAreResolved) {  // in any order of writing
  constexpr int n = 64'000;
  ModelBuilder builder;
  for (int i = n - 1; i >= 0; --i) {  // from its end, so that each names one not yet resolved
    BodySpec spec = body("b" + std::to_string(i), "world");
    if (i > 0) {
      spec.hinge.mimic = Mimic{"b" + std::to_string(i - 1) + "_hinge", i % 2 == 0 ? 2.0 : 0.5};
    }
    builder.add(spec);
  }
  const Model model = builder.build();
  EXPECT_EQ(model.nv(), 1);
  for (const int i : {1, 2, n - 1}) {
    const Body& follower = model.body(model.body_index("b" + std::to_string(i)));
    EXPECT_EQ(follower.leader, model.body_index("b0"));
    EXPECT_EQ(follower.leader_ratio, i % 2 == 0 ? 1.0 : 0.5);
  }
}

TEST(Builder, ReportsAllProblemsAtOnce) {
  BodySpec nameless = body("", "world");
  BodySpec heavy = body("heavy", "worl");
  heavy.inertia.mass = -1;
  BodySpec odd = body("odd", "world");
  odd.hinge.axis = Vec3<double>::zero();
  odd.hinge.dofs = {{.lower = 1, .upper = -1, .armature = -1}};
  BodySpec lost = body("lost", "world");
  lost.X_PF.translation.x = nan;
  BodySpec twisted = body("twisted", "world");
  twisted.X_MB.rotation = Rotation<double>(Mat3<double>::diagonal(1, 1, 2));
  ModelBuilder builder;
  builder.add(nameless).add(heavy).add(odd).add(lost).add(twisted).add(odd);
  builder.add(NodeSpec{.name = "odd", .body = "od"});
  builder.add(ClosureSpec{.name = "loop", .a = "odd", .b = "nowhere"});
  builder.set_gravity({0, 0, infinity});
  const std::vector<Problem> problems = builder.check();
  for (const char* text :
       {"a body has no name", "'worl', which does not exist; did you mean", "mass -1 of body 'heavy'",
        "axis of hinge 'odd_hinge' is zero", "lower limit 1 of hinge 'odd_hinge'", "armature of hinge 'odd_hinge'",
        "hinge frame of body 'lost' is not finite", "body 'twisted' in its hinge frame is not a rotation",
        "a body 'odd' twice", "a hinge 'odd_hinge' twice", "node 'odd' is on 'od'", "node 'odd' has the name of a body",
        "'nowhere', which does not exist", "gravity is not finite"}) {
    EXPECT_THAT(problems, Contains(error(text))) << text;
  }
  try {
    static_cast<void>(builder.build());
    FAIL();
  } catch (const ModelError& e) {
    EXPECT_EQ(e.problems().size(), problems.size());
    EXPECT_THAT(e.what(), HasSubstr("'twisted'"));
  }
}

TEST(Builder, NamesTheCircle) {
  const auto problems =
      ModelBuilder().add(body("ok", "world")).add(body("a", "c")).add(body("b", "a")).add(body("c", "b")).check();
  EXPECT_THAT(problems, Contains(error("in a circle")));
  EXPECT_THAT(problems, Contains(error("'a' on 'c' on 'b' on 'a'")));
  EXPECT_EQ(std::count_if(problems.begin(), problems.end(),
                          [](const Problem& p) { return p.text.find("circle") != std::string::npos; }),
            1);
}

TEST(Builder, WarnsOfWhatNoBodyCanBe) {
  BodySpec indefinite = body("indefinite", "world");
  indefinite.inertia = RigidInertia<double>::about_center(1, {1, 2, 3}, Sym3<double>::diagonal(1, 1, -0.1));
  BodySpec flat = body("flat", "world");
  flat.inertia = RigidInertia<double>::about_center(1, {1, 2, 3}, Sym3<double>::diagonal(1, 1, 3));
  BodySpec thin = body("thin", "world");
  thin.inertia = RigidInertia<double>::about_center(1, {1, 2, 3}, Sym3<double>::diagonal(1, 1, 2));
  BodySpec ghost = body("ghost", "world");
  ghost.inertia = {0, Vec3<double>::zero(), Sym3<double>::diagonal(1, 1, 1)};
  BodySpec leaf = body("leaf", "thin");
  leaf.inertia = RigidInertia<double>::zero();
  BodySpec geared = body("geared", "thin");
  geared.inertia = RigidInertia<double>::zero();
  geared.hinge.dofs = {{.armature = 0.1}};
  ModelBuilder builder;
  builder.add(indefinite).add(flat).add(thin).add(ghost).add(leaf).add(geared);
  const Model model = builder.build();
  const std::vector<Problem> warnings(model.warnings().begin(), model.warnings().end());
  EXPECT_THAT(warnings, Contains(warning("'indefinite' is not positive definite")));
  EXPECT_THAT(warnings, Contains(warning("'flat' breaks the triangle inequality")));
  EXPECT_THAT(warnings, Contains(warning("'ghost' has an inertia but no mass")));
  EXPECT_THAT(warnings, Contains(warning("'leaf' moves on hinge 'leaf_hinge'")));
  EXPECT_EQ(warnings.size(), 4U) << "a thin plate is fine, and so is a rotor";
  EXPECT_THROW(static_cast<void>(builder.build(Strictness::strict)), ModelError);
}

TEST(Builder, AChainWithoutMassIsReportedOnce) {
  BodySpec a = body("a", "world");
  BodySpec b = body("b", "a");
  BodySpec c = body("c", "b");
  a.inertia = b.inertia = c.inertia = RigidInertia<double>::zero();
  EXPECT_THAT(ModelBuilder().add(a).add(b).add(c).check(), ElementsAre(warning("'c' moves")));
}

TEST(Builder, ClosuresJoinNodesBodiesAndHinges) {
  ModelBuilder builder;
  builder.add(body("a", "world")).add(body("b", "world")).add(body("ball", "b", HingeType::spherical));
  builder.add(NodeSpec{.name = "tip", .body = "a"});
  builder.add(ClosureSpec{.name = "weld", .a = "tip", .b = "b"});
  builder.add(
      ClosureSpec{.name = "hang", .hinge = {.type = HingeType::revolute, .axis = {0, 2, 0}}, .a = "tip", .b = "world"});
  builder.add(ClosureSpec{.name = "gear", .kind = ClosureKind::hinges, .a = "a_hinge", .b = "b_hinge"});
  builder.add(ClosureSpec{.name = "hold", .kind = ClosureKind::hinges, .a = "a_hinge"});
  const Model model = builder.build();
  EXPECT_EQ(model.closures()[0].a.body, 0);
  EXPECT_EQ(model.closures()[0].b.body, 1);
  EXPECT_EQ(model.closures()[1].hinge.axis, Vec3<double>::unit_y());
  EXPECT_EQ(model.closures()[2].hinge_b, 1);
  EXPECT_EQ(model.closures()[3].hinge_b, world);
  builder.add(ClosureSpec{.name = "gear", .kind = ClosureKind::hinges, .a = "ball_hinge", .b = "c_hinge"});
  builder.add(ClosureSpec{.name = "drift", .hinge = {.type = HingeType::free}, .a = "a", .b = "b"});
  const auto problems = builder.check();
  EXPECT_THAT(problems, Contains(error("a closure 'gear' twice")));
  EXPECT_THAT(problems, Contains(error("'ball_hinge', which is spherical")));
  EXPECT_THAT(problems, Contains(error("'c_hinge', which does not exist")));
  EXPECT_THAT(problems, Contains(error("'drift' cannot be free")));
}

TEST(Builder, EditGivesTheSameModelBack) {
  Random random(30);
  ModelBuilder builder = random_tree(20, 0.5, random);
  builder.add(NodeSpec{.name = "n", .body = "b3", .X_BN = random.transform()});
  builder.add(ClosureSpec{.name = "c", .a = "n", .b = "b7"});
  const Model model = builder.build();
  const Model again = edit(model).build();
  ASSERT_EQ(again.bodies().size(), model.bodies().size());
  for (std::size_t i = 0; i < model.bodies().size(); ++i) {
    EXPECT_EQ(again.bodies()[i].name, model.bodies()[i].name);
    EXPECT_EQ(again.bodies()[i].X_PF, model.bodies()[i].X_PF);
    EXPECT_EQ(again.bodies()[i].inertia, model.bodies()[i].inertia);
  }
  EXPECT_EQ(again.closures()[0].a.X_BN, model.closures()[0].a.X_BN);
}

TEST(Builder, EditChangesWhatIsThere) {
  BodySpec ghost = body("ghost", "world");
  ghost.inertia = {0, Vec3<double>::zero(), Sym3<double>::diagonal(1, 1, 1)};
  const Model model = ModelBuilder().add(ghost).report({Severity::warning, {"a.xml", 3}, "not used", ""}).build();
  ASSERT_EQ(model.warnings().size(), 2U);
  ModelBuilder builder = edit(model);
  builder.body("ghost").inertia = unit_body;
  const Model mended = builder.build();
  EXPECT_EQ(mended.mass(), 1);
  ASSERT_EQ(mended.warnings().size(), 1U) << "a warning goes with its cause";
  EXPECT_EQ(mended.warnings()[0].text, "not used");
  EXPECT_EQ(edit(model).build().warnings().size(), 2U);
  try {
    builder.body("gost");
    FAIL();
  } catch (const ArgumentError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no body 'gost'; did you mean 'ghost'?"));
  }
}

TEST(Builder, WhatHasNoTypeYetIsABody) {
  ModelBuilder builder;
  builder.add({.name = "x", .inertia = unit_body});
  builder.add_node({.name = "n", .body = "x"}).add_closure({.name = "c", .a = "n", .b = "world"});
  const Model model = builder.build();
  EXPECT_EQ(model.find_body("x"), 0);
  EXPECT_EQ(model.nodes().size(), 1U);
  EXPECT_EQ(model.closures().size(), 1U);
}

TEST(Builder, AnyNumberOfBodies) {
  EXPECT_EQ(ModelBuilder().build().nv(), 0);
  ModelBuilder builder;
  constexpr int n = 200'000;
  for (int i = 0; i < n; ++i) {
    builder.add(body("b" + std::to_string(i), i == 0 ? "world" : "b" + std::to_string(i - 1)));
  }
  EXPECT_EQ(builder.build().nv(), n);
}

}  // namespace
}  // namespace bunraku::test
