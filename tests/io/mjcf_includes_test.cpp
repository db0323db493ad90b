// MJCF in several files.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/mjcf_text.hpp"

namespace bunraku::test::mjcf {
namespace {

using testing::SizeIs;
using testing::StartsWith;

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

}  // namespace
}  // namespace bunraku::test::mjcf
