// Classes of defaults in MJCF.
// Where a comment names MuJoCo, the numbers are what MuJoCo 4.0.0 makes of the same file.

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/mjcf_text.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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
      "<motor ctrlrange='0 1' kv='2'/></default></default></mujoco>");
  EXPECT_THAT(warnings(model),
              ElementsAre("1: the model has no bodies", "2: attribute 'friction' of <geom> is not used",
                          "3: attribute 'kv' of <motor> is not used"));
}

}  // namespace
}  // namespace bunraku::test::mjcf
