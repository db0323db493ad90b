/// What the program takes in and gives out, at its edges: lines without end, numbers that are missing, states that two
/// commands share, matrices that fill the memory, readers that go away.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "program.hpp"
#include "support/files.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Input : public Cli {
 protected:
  /// Runs a line of bash, `bunraku` being the program, with too little memory for what has no end.
  Result bash(const std::string& line) const {
    const std::string script =
        folder.write("line.sh", fmt::format("set -o pipefail; {}\nbunraku() {{ '{}' \"$@\"; }}\n{}\n",
                                            limits_memory ? "ulimit -v 2000000" : "", BUNRAKU_PROGRAM, line));
    const std::string command = fmt::format("cd '{}' && timeout 100 bash '{}' >'{}' 2>'{}'", BUNRAKU_SOURCE_DIR, script,
                                            folder / "out", folder / "err");
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a test's own command
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder / "out"), read_text(folder / "err")};
  }
  /// Fails with exit status 2 and nothing on standard output.
  static void expect_refused(const Result& r, const std::string& message) {
    EXPECT_EQ(r.status, 2) << r.err;
    EXPECT_THAT(r.out, IsEmpty());
    EXPECT_THAT(r.err, AllOf(StartsWith("error: "), HasSubstr(message)));
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr bool limits_memory = false;  // sanitizers take terabytes of addresses
#else
  static constexpr bool limits_memory = true;
#endif
};

TEST_F(Input, LinesWithoutEndAreRefused) {
  expect_refused(bash("bunraku eval models/puppet.urdf --want com --states /dev/zero"),
                 "/dev/zero:1: the line has more than 64 MiB\n  write one object a line: {\"q\": [7 numbers]}\n");
  expect_refused(bash("bunraku op models/puppet.urdf V --dense --states /dev/zero"),
                 "/dev/zero:1: the line has more than 64 MiB\n  write one object a line: ");
  expect_refused(bash("bunraku op models/puppet.urdf 'H*~H' --apply /dev/zero"),
                 "/dev/zero:1: the line has more than 64 MiB\n  write one array a line: [7 numbers]\n");
  expect_refused(bash("bunraku op models/puppet.urdf < /dev/zero"),
                 "<standard input>:1: the line has more than 64 MiB\n  write one expression a line\n");
  expect_refused(bash("bunraku eval models/puppet.urdf --want com --states - < /dev/zero"),
                 "<standard input>:1: the line has more than 64 MiB");
}

TEST_F(Input, FilesWithoutEndAreRefused) {
  // blank lines of a megabyte: nothing is wrong with any of them
  expect_refused(bash("(blank=$(printf '%*s' 1000000 ''); while printf '%s\\n' \"$blank\"; do :; done) 2>/dev/null |"
                      " bunraku op models/puppet.urdf 'H*~H' --apply -"),
                 ": more than 1 GiB came before the end\n  split it into several files; write one array a line");
}

TEST_F(Input, WhatIsNoFileSaysWhy) {
  EXPECT_THAT(run("eval '" + puppet + "' --want com --states /nowhere").err,
              StartsWith("error: /nowhere: there is no readable file '/nowhere'\n  check the path\n"));
  EXPECT_THAT(run("eval '" + puppet + "' --want com --states /tmp").err, HasSubstr("Is a directory"));
  EXPECT_THAT(bash("ln -sf loop '" + (folder / "loop") + "'; bunraku eval models/puppet.urdf --want com --states '" +
                   (folder / "loop") + "'")
                  .err,
              HasSubstr("Too many levels of symbolic links"));
}

TEST_F(Input, LongLinesAndLastLinesAreLines) {
  const std::string zeros = "{\"q\": [0,0,0,0,0,0,0]}";
  const std::string one = run("eval '" + puppet + "' --want com", "").out;
  // longer than a block of the reader, a byte order mark, Windows' line ends, no end of the last line
  const std::string text = "\xEF\xBB\xBF" + zeros + std::string(200'000, ' ') + "\r\n\r\n" + zeros + "\n" + zeros;
  const Result r = run("eval '" + puppet + "' --want com --states -", text);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, one + one + one);
  EXPECT_THAT(run("eval '" + puppet + "' --want com --states -", "\n" + std::string(200'000, ' ') + "\nx").err,
              StartsWith("error: <standard input>:3: this is not a JSON object"));
}

TEST_F(Input, EvalAndOpReadTheSameStates) {
  const std::string zeros = "[0,0,0,0,0,0,0]";
  const std::string full = fmt::format("{{\"q\": {0}, \"v\": {0}, \"a\": {0}, \"tau\": {0}}}", zeros);
  for (const auto& [line, message] : std::vector<std::pair<std::string, std::string>>{
           {full, ""},
           {"{\"q\": " + zeros + "}", ""},
           {"{\"tau\": " + zeros + ", \"q\": " + zeros + "}", ""},
           {"{\"q\": " + zeros + ", \"torque\": []}", "\"torque\" is none of q, v, a, tau"},
           {"{\"q\": " + zeros + ", \"q\": " + zeros + "}", "\"q\" is there twice"},
           {"{\"q\": " + zeros + ", \"a\": [1]}", "a has 1 numbers, the model wants 7"},
           {"{\"v\": " + zeros + "}", "there is no \"q\", needed for "},
           {"[1]", "this is not a JSON object of number lists"},
           {"{\"q\": 1}", "this is not a JSON object of number lists"}}) {
    const Result eval = run("eval '" + puppet + "' --want mass --states -", line);
    const Result op = run("op '" + puppet + "' 'H*phi*M*~phi*~H' --dense --json --states -", line);
    EXPECT_EQ(eval.status, message.empty() ? 0 : 2) << line << eval.err;
    EXPECT_EQ(op.status, eval.status) << line << op.err;
    EXPECT_THAT(eval.err, HasSubstr(message)) << line;
    EXPECT_THAT(op.err, HasSubstr(message)) << line;
  }
}

TEST_F(Input, MissingNumbersAreNamed) {
  const auto fails = [&](const std::string& options, const std::string& message) {
    const Result r = run("eval '" + puppet + "' --want com " + options);
    EXPECT_EQ(r.status, 2) << options;
    EXPECT_THAT(r.err, StartsWith("error: " + message)) << options;
  };
  fails("--q '1,,2'", "--q: a number is missing before a comma in '1,,2'\n");
  fails("--q ',1,2'", "--q: a number is missing before a comma in ',1,2'\n");
  fails("--q '1,2, '", "--q: a number is missing after the last comma in '1,2, '\n");
  fails("--gravity 0,0,,1", "--gravity: a number is missing before a comma");
  fails("--q ''", "--q has 0 numbers, the model wants 7\n");
  fails("--q=", "");
  fails("--v '' --q '0 0 0 0 0 0 0'", "--v has 0 numbers, the model wants 7\n");
  EXPECT_EQ(run("eval '" + puppet + "' --want com --q ' 1 , 2,3 4\t5  6 7 '").status, 0);
}

TEST_F(Input, NoFreedomsTakeNoNumbers) {
  const std::string rock = folder.write(
      "rock.urdf",
      "<robot name=\"rock\"><link name=\"r\"><inertial><mass value=\"2\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>"
      "</inertial></link></robot>");
  for (const char* options : {"", "--q ''", "--q '' --v '' --a '' --tau ''", "--q ' '"}) {
    const Result r = run("eval '" + rock + "' --want com,mass,fd " + options);
    EXPECT_EQ(r.status, 0) << options << r.err;
    EXPECT_EQ(r.out, "{\"com\":[0,0,0],\"mass\":[],\"fd\":[]}\n") << options;
  }
  EXPECT_THAT(run("eval '" + rock + "' --want com --q 1").err, HasSubstr("--q has 1 numbers, the model wants 0"));
}

TEST_F(Input, AReaderThatGoesAwayIsNoError) {
  std::string lines;
  for (int i = 0; i < 3000; ++i) {
    lines += "{\"q\": [0,0,0,0,0,0,0]}\n";
  }
  const std::string states = folder.write("states.jsonl", lines);
  const Result eval = bash("bunraku eval models/puppet.urdf --want poses,mass --states '" + states + "' | head -1");
  EXPECT_THAT(eval.err, IsEmpty());
  EXPECT_THAT(eval.out, StartsWith("{\"poses\":"));
  EXPECT_EQ(eval.status, 141);  // as of `yes | head -1`, since pipefail is set
  const Result op = bash("yes 'symbols' | bunraku op models/puppet.urdf | head -1");
  EXPECT_THAT(op.err, IsEmpty());
  EXPECT_THAT(op.out, StartsWith("name "));
  // what fits into the pipe is written before its reader goes
  const Result small = bash("bunraku eval models/puppet.urdf --want com | head -1");
  EXPECT_EQ(small.status, 0);
  EXPECT_THAT(small.err, IsEmpty());
}

TEST_F(Input, MatricesThatFillTheMemoryAreRefused) {
  std::string chain = "<robot name=\"chain\"><link name=\"b0\"/>";
  for (int i = 1; i <= 5100; ++i) {
    chain += fmt::format(
        "<link name=\"b{0}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"
        "<joint name=\"j{0}\" type=\"continuous\"><parent link=\"b{1}\"/><child link=\"b{0}\"/></joint>",
        i, i - 1);
  }
  const std::string model = folder.write("chain.urdf", chain + "</robot>");
  for (const char* want : {"mass", "inverse_mass", "coriolis"}) {
    expect_refused(bash(fmt::format("bunraku eval '{}' --want com,{}", model, want)),
                   fmt::format("--want: '{}' would have 5100 × 5100 numbers, more than 25000000: ", want));
  }
  expect_refused(bash(fmt::format("bunraku eval '{}' --want regressor", model)),
                 "--want: 'regressor' would have 5100 × 51010 numbers, more than 25000000: ");
  const Result small = bash(fmt::format("bunraku eval '{}' --want jacobian:b5100:node,log_det", model));
  EXPECT_EQ(small.status, 0) << small.err;
  EXPECT_THAT(small.out, AllOf(StartsWith("{\"jacobian:b5100:node\":[["), EndsWith("}\n")));
}

TEST_F(Input, StandardInputIsReadOnce) {
  EXPECT_EQ(run("eval - --want com --states -").err,
            "error: the model and --states cannot both come from standard input\n");
}

}  // namespace
}  // namespace bunraku::test
