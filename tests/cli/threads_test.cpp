/// `bunraku eval` at many states: on threads, in chunks, in either precision, and with mistakes among them.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"
#include "bunraku/model/configuration.hpp"
#include "program.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string everything =
    "--want poses,pose:head,velocities,com,id,fd,bias,gravity,mass,inverse_mass,coriolis,energy,momentum,log_det,"
    "regressor,jacobian:head:aligned,lambda_inverse:right_hand,head";

class Threads : public Cli {
 protected:
  /// Lines of states of the puppet on a free base.
  static std::vector<std::string> draw(int states) {
    const Model model = load(puppet, {.free_base = true});
    std::vector<std::string> out;
    for (int i = 0; i < states; ++i) {
      const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(i));
      const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), -0.5 - 0.01 * i, 0.7);
      const auto list = [](const Eigen::VectorXd& x) {
        return fmt::format("[{}]", fmt::join(x.begin(), x.end(), ", "));
      };
      out.push_back(fmt::format("{{\"q\": {0}, \"v\": {1}, \"a\": {1}, \"tau\": {1}}}\n", list(q), list(v)));
    }
    return out;
  }
  Result eval(const std::string& options, const std::vector<std::string>& lines) const {
    return run(fmt::format("eval '{}' --free-base --states - {}", puppet, options),
               fmt::format("{}", fmt::join(lines, "")));
  }
};

TEST_F(Threads, AnswersDoNotDependOnThem) {
  const std::vector<std::string> lines = draw(600);
  for (const char* precision : {"double", "float"}) {
    const std::string options = fmt::format("{} --precision {}", everything, precision);
    const Result one = eval(options, lines);
    ASSERT_EQ(one.status, 0) << one.err;
    EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 600);
    for (const int threads : {1, 2, 3, 8, 0}) {
      const Result r = eval(fmt::format("{} --threads {}", options, threads), lines);
      EXPECT_EQ(r.status, 0) << r.err;
      EXPECT_THAT(r.err, IsEmpty());
      EXPECT_TRUE(r.out == one.out) << threads << " threads";
    }
    // nor on the states around a state
    std::string parts;
    for (const auto& [begin, end] : {std::pair(0, 1), {1, 8}, {8, 300}, {300, 600}}) {
      parts += eval(options + " --threads 2", {lines.begin() + begin, lines.begin() + end}).out;
    }
    EXPECT_TRUE(parts == one.out);
  }
}

TEST_F(Threads, ManyStatesKeepTheirOrder) {
  // more than a chunk
  std::vector<std::string> lines;
  for (int i = 0; i < 50'000; ++i) {
    lines.push_back(fmt::format("{{\"q\": [1,0,0,0,{},0,0,0,0,0,0,0,0,0]}}\n", i));
  }
  const Result r = eval("--want pose:torso --threads 3", lines);
  ASSERT_EQ(r.status, 0) << r.err;
  std::size_t at = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::string line = fmt::format("{{\"pose:torso\":[[1,0,0,{}],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}}\n", i);
    ASSERT_EQ(r.out.compare(at, line.size(), line), 0) << i;
    at += line.size();
  }
  EXPECT_EQ(at, r.out.size());
}

TEST_F(Threads, FloatIsShortAndNearDouble) {
  const std::vector<std::string> lines = draw(20);
  for (const char* want : {"id", "fd", "mass", "inverse_mass", "poses", "velocities", "energy", "momentum", "com",
                           "jacobian:head:world", "coriolis", "regressor", "log_det"}) {
    const auto numbers = [&](const std::string& precision) {
      const Result r = eval(fmt::format("--want {} --precision {}", want, precision), lines);
      EXPECT_EQ(r.status, 0) << r.err;
      std::vector<double> out;
      for (const char* next = r.out.c_str(); *next != '\0';) {
        char* end = nullptr;
        const double x = std::strtod(next, &end);
        if (end != next) {
          out.push_back(x);
          EXPECT_TRUE(precision == "double" || end - next <= 16) << std::string(next, 16);
        }
        next = end == next ? next + 1 : end;
      }
      return out;
    };
    const std::vector<double> wide = numbers("double");
    const std::vector<double> narrow = numbers("float");
    ASSERT_EQ(wide.size(), narrow.size());
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < wide.size(); ++i) {
      largest = std::max(largest, std::abs(wide[i]));
      difference = std::max(difference, std::abs(wide[i] - narrow[i]));
      if (!std::isfinite(narrow[i])) {
        difference = narrow[i];
      }
    }
    EXPECT_LT(difference, 2e-5 * largest) << want;
    EXPECT_GT(difference, 0) << want;
  }
}

TEST_F(Threads, TheFirstMistakeIsTold) {
  std::vector<std::string> lines = draw(200);
  lines[3] = "\n";  // blank lines count
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      // the reader's, and what is said of it
      {"{\"q\": [1]}\n", "q has 1 numbers, the model wants 14\n  write one object a line: {\"q\": [14 numbers]"},
      {"nothing\n", "this is not a JSON object of number lists"},
      // a state's
      {"{\"q\": [2,0,0,0,0,0,0,0,0,0,0,0,0,0],\"v\": [0,0,0,0,0,0,0,0,0,0,0,0,0]}\n", "norm"},
      // a quantity's
      {"{\"q\": [1,0,0,0,0,0,0,0,0,0,0,0,0,0],\"v\": [1e200,0,0,0,0,0,0,0,0,0,0,0,0]}\n", "a result is not finite\n"}};
  for (std::size_t first = 0; first < mistakes.size(); ++first) {
    std::vector<std::string> with = lines;
    with[120] = mistakes[first].first;
    for (std::size_t i = 1; i < mistakes.size(); ++i) {  // others come later
      with[120 + 20 * i] = mistakes[(first + i) % mistakes.size()].first;
    }
    for (const int threads : {1, 2, 5}) {
      const Result r = eval(fmt::format("--want com,energy,coriolis --threads {}", threads), with);
      EXPECT_EQ(r.status, 2);
      EXPECT_THAT(r.out, IsEmpty());
      EXPECT_THAT(r.err, AllOf(StartsWith("error: <standard input>:121: "), HasSubstr(mistakes[first].second)));
      // as of the state alone
      const Result alone = eval("--want com,energy,coriolis", {mistakes[first].first});
      EXPECT_EQ(r.err.substr(r.err.find(":121: ") + 6), alone.err.substr(alone.err.find(":1: ") + 4));
    }
  }
}

TEST_F(Threads, WhatHasNoInverseIsToldAsOfOneState) {
  const std::string file = folder.write(
      "light.urdf",
      "<robot name=\"r\"><link name=\"world\"/><link name=\"heavy\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
      "iyy=\"1\" izz=\"1\"/></inertial></link><link name=\"light\"/><joint name=\"pin\" type=\"continuous\"><parent "
      "link=\"world\"/><child link=\"heavy\"/><axis xyz=\"0 0 1\"/></joint><joint name=\"idle\" "
      "type=\"continuous\"><parent link=\"heavy\"/><child link=\"light\"/><axis xyz=\"0 0 1\"/></joint></robot>");
  const std::string line = "{\"q\": [0, 0], \"v\": [0, 0], \"tau\": [1, 1]}\n";
  for (const char* want : {"fd", "inverse_mass", "log_det", "mass,fd,com"}) {
    const Result one = run(fmt::format("eval '{}' --want {} --q '0 0'", file, want));
    EXPECT_EQ(one.status, 2);
    EXPECT_THAT(one.err, AllOf(StartsWith("error: "), HasSubstr("'idle'"))) << want;
    const Result many = run(fmt::format("eval '{}' --want {} --threads 2 --states -", file, want), "\n" + line + line);
    EXPECT_EQ(many.status, 2);
    EXPECT_THAT(many.out, IsEmpty());
    EXPECT_EQ(many.err, "error: <standard input>:2: " + one.err.substr(7)) << want;
  }
}

TEST_F(Threads, NumbersBeyondFloatAreNamed) {
  std::vector<std::string> lines = draw(3);
  lines[1] = "{\"q\": [1,0,0,0,0,-1e39,0,0,0,0,0,0,0,0]}\n";
  EXPECT_EQ(eval("--want com --threads 2", lines).status, 0);
  EXPECT_EQ(eval("--want com --precision float --threads 2", lines).err,
            "error: <standard input>:2: q[5] is -1e+39, beyond the range of --precision float: use double\n");
  const Result option = run("eval '" + puppet + "' --want com --precision float --q 1e39,0,0,0,0,0,0");
  EXPECT_EQ(option.status, 2);
  EXPECT_EQ(option.err, "error: q[0] is 1e+39, beyond the range of --precision float: use double\n");
}

TEST_F(Threads, OptionsThatAreWrongAreNamed) {
  const auto fails = [&](const std::string& options, const std::string& message) {
    const Result r = run("eval '" + puppet + "' --want com " + options);
    EXPECT_EQ(r.status, 2) << options;
    EXPECT_THAT(r.err, StartsWith("error: " + message)) << options;
  };
  fails("--threads -1", "--threads is -1, and from 0, for all cores, to 1024 is wanted\n");
  fails("--threads 5000", "--threads is 5000, and from 0, for all cores, to 1024 is wanted\n");
  fails("--threads many", "Could not convert: --threads = many\n");
  fails("--precision half", "--precision: half not in {double,float}\n");
}

}  // namespace
}  // namespace bunraku::test
