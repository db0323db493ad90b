// SDF in several files, and files as a whole.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "io/sdf_text.hpp"

namespace bunraku::test::sdf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// ---------------------------------------------------------------------------------------------------------------
// Files

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
}  // namespace bunraku::test::sdf
