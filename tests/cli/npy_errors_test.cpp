/// `bunraku eval` with NumPy's files that are wrong, or do not go together: what is said, and that nothing is left.
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "npy_files.hpp"
#include "support/files.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST_F(Npy, FilesThatAreWrongAreNamed) {
  const std::string good = matrix_file(std::vector<double>(14, 0.5), 7);
  const auto with = [&](const std::string& type, const std::string& shape) {
    return file_of(dictionary_of(type, shape), std::string(112, '\0'));
  };
  const auto headed = [&](const std::string& dictionary) { return file_of(dictionary, std::string(112, '\0')); };
  const std::string again = "\n  it is damaged, or was not written to its end: write it again\n";
  for (const auto& [file, message] : std::vector<std::pair<std::string, std::string>>{
           // numbers that are none of ours
           {with(">f8", "(2, 7)"), "its numbers are big-endian, '>f8', and little-endian"},
           {with(">f4", "(2, 7)"), ".astype('<f8'))\n"},
           {with("<i8", "(2, 7)"), "its numbers are '<i8', and little-endian floating-point ones"},
           {with("<f2", "(2, 7)"), "its numbers are '<f2'"},
           {with("<c16", "(2, 7)"), "its numbers are '<c16'"},
           {with("|O", "(2, 7)"), "its numbers are '|O'"},
           {with("|b1", "(2, 7)"), "its numbers are '|b1'"},
           {headed("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 7), }"),
            "records of several fields"},
           // shapes that are none of ours
           {with("<f8", "(14,)"), "it has the shape (14,), and q wants states × 7\n  write it with numpy.save('"},
           {with("<f8", "(2, 1, 7)"), ".reshape(-1, 7))\n"},
           {file_of(dictionary_of("<f8", "()"), std::string(8, '\0')), "it has the shape ()"},
           {with("<f8", "(7, 2)"), "q has 2 numbers a state, the model wants 7\n"},
           // sizes that are wrong
           {good.substr(0, good.size() - 1),
            "it has 239 bytes, and would have 240 with the shape (2, 7) of '<f8'" + again},
           {good + "x", "it has 241 bytes, and should end after 240 with the shape (2, 7) of '<f8'" + again},
           {with("<f8", "(3, 7)"), "it has 240 bytes, and would have 296 with the shape (3, 7)"},
           {with("<f8", "(36028797018963968, 3)"), "its header is wrong: its shape has too many numbers"},
           {with("<f8", "(0, 72057594037927937)"), "its header is wrong: an axis of its shape is too long"},
           {with("<f8", "(99999999999999999999999999, 7)"), "its header is wrong: an axis of its shape is too long"},
           {with("<f8", "(0, 36028797018963968, 36028797018963968)"), "its shape has too many numbers"},
           // headers that are none
           {"", "this is not a .npy file\n  write it with numpy.save('"},
           {"{\"q\": [0]}", "this is not a .npy file"},
           {"PK\x03\x04 and more", "this is an archive, .npz, and not a .npy file"},
           {good.substr(0, 4), "it ends within its header" + again},
           {good.substr(0, 7), "it ends within its header"},
           {good.substr(0, 9), "it ends within its header"},
           {good.substr(0, 100), "it ends within its header"},
           {"\x93NUMPY\x04\x00"s + good.substr(8),
            "version 4.0 of the .npy format is not known, only 1.0, 2.0 and 3.0"},
           {"\x93NUMPY\x01\x01"s + good.substr(8), "version 1.1 of the .npy format is not known"},
           {"\x93NUMPY\x02\x00\xff\xff\xff\xff"s + good,
            "its header of 4294967295 bytes is none of an array of numbers"},
           {headed(""), "its header is wrong: '{' is wanted before ''"},
           {headed("{}"), "it has not all of descr, fortran_order and shape"},
           {headed("{'descr': '<f8', 'fortran_order': False}"), "it has not all of"},
           {headed("{'descr': '<f8', 'descr': '<f8', 'shape': (2, 7)}"), "the key 'descr' is unknown or there twice"},
           {headed("{'descr': '<f8', 'order': False, 'shape': (2, 7)}"), "the key 'order' is unknown"},
           {headed("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 7)}"), "fortran_order is neither True nor False"},
           {headed("{'descr': '<f8', 'fortran_order': True 'shape': (2, 7)}"),
            "'}' is wanted before ''shape': (2, 7)}"},
           {headed("{'descr': <f8, 'fortran_order': True, 'shape': (2, 7)}"), "'\"' is wanted before '<f8"},
           {headed("{'descr': '<f8, 1"), "a text in it is never closed"},
           {with("<f8", "(2, -7)"), "its shape is not one of whole numbers"},
           {with("<f8", "(2, 7"), "its shape is not one of whole numbers"},
           {with("<f8", "(2 7)"), "the axes of its shape are not separated by commas"},
           {with("<f8", "(14)"), "its shape is no tuple"},
           {with("<f8", "[2, 7]"), "'(' is wanted before '[2, 7]"},
           {headed(dictionary_of("<f8", "(2, 7)") + " x"), "something follows its closing brace"}}) {
    const std::string path = folder.write("wrong.npy", file);
    const Result r = eval(puppet, "--want com --npy q=" + path);
    EXPECT_EQ(r.status, 2) << message;
    EXPECT_THAT(r.out, IsEmpty()) << message;
    EXPECT_THAT(r.err, AllOf(StartsWith("error: " + path + ": "), HasSubstr(message)));
  }
  EXPECT_THAT(eval(puppet, "--want com --npy q=/nowhere.npy").err,
              StartsWith("error: /nowhere.npy: there is no readable file '/nowhere.npy'\n  check the path\n"));
  for (const std::string& odd : {"/dev/zero"s, folder.path().string(), "/dev/stdin"s}) {
    EXPECT_THAT(run("eval '" + puppet + "' --want com --npy q=" + odd + " <&-").status, 2) << odd;
  }
  EXPECT_THAT(eval(puppet, "--want com --npy q=/dev/zero").err, HasSubstr("this is not a regular file"));
}

TEST_F(Npy, ArraysThatDoNotGoTogetherAreNamed) {
  const std::string two = folder.write("two.npy", matrix_file(std::vector<double>(14, 0.5), 7));
  const std::string three = folder.write("three.npy", matrix_file(std::vector<double>(21, 0.5), 7));
  const std::string with_comma = folder.write("a,b=c.npy", matrix_file(std::vector<double>(14, 0.5), 7));
  const auto fails = [&](const std::string& options, const std::string& message) {
    const Result r = eval(puppet, options);
    EXPECT_EQ(r.status, 2) << options;
    EXPECT_THAT(r.out, IsEmpty());
    EXPECT_EQ(r.err, "error: " + message + "\n");
  };
  fails("--want fd --npy q=" + two, "--npy: there is no \"v\", needed for fd; there is no \"tau\", needed for fd");
  fails(fmt::format("--want com --npy q={},v={}", two, three),
        fmt::format("{}: it has 3 states, and '{}' has 2", three, two));
  fails(fmt::format("--want com --npy q={0} --npy q={0}", two), "--npy: q is there twice");
  fails("--want com --npy x=" + two, fmt::format("--npy: 'x={}' is not NAME=FILE, with q, v, a or tau for NAME", two));
  fails("--want com --npy q=", "--npy: 'q=' is not NAME=FILE, with q, v, a or tau for NAME");
  fails("--want com --npy q", "--npy: 'q' is not NAME=FILE, with q, v, a or tau for NAME");
  fails(fmt::format("--want com --npy q={} --q 1", two), "give either --npy, or --states, or --q, --v, --a, --tau");
  fails(fmt::format("--want com --npy q={} --states -", two),
        "give either --npy, or --states, or --q, --v, --a, --tau");
  fails("--want com --states " + two, "--states takes lines of JSON; for arrays write --npy q=FILE.npy,v=FILE.npy");
  fails("--want com --npy-out ''", "--npy-out names no folder");
  EXPECT_EQ(eval(puppet, fmt::format("--want bias --npy 'q={},v={}'", with_comma, two)).status, 0);
}

TEST_F(Npy, NumbersThatAreWrongAreNamed) {
  std::vector<double> q(21, 0.5);
  q[15] = 1e300;
  const std::string huge = folder.write("huge.npy", matrix_file(q, 7));
  const Result r = eval(puppet, "--want com --precision float --npy q=" + huge);
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(
      r.err,
      "error: --npy: state 2, counted from 0: q[1] is 1e+300, beyond the range of --precision float: use double\n");
  q[8] = std::numeric_limits<double>::infinity();  // before it
  for (const char* precision : {"float", "double"}) {
    EXPECT_EQ(eval(puppet, fmt::format("--want com --precision {} --npy q={}", precision,
                                       folder.write("inf.npy", matrix_file(q, 7))))
                  .err,
              "error: --npy: state 1, counted from 0: q[1] is inf, not a finite number\n");
  }
  // the free base's quaternion of a state
  std::vector<double> free(28, 0.0);
  free[0] = 1;
  free[14] = 1.1;
  EXPECT_THAT(eval(puppet, "--free-base --want com --npy q=" + folder.write("free.npy", matrix_file(free, 14))).err,
              AllOf(StartsWith("error: --npy: state 1, counted from 0: "), HasSubstr("norm")));
}

TEST_F(Npy, NothingIsLeftOfWhatFails) {
  const std::string good = folder.write("good.npy", matrix_file(std::vector<double>(14, 0.5), 7));
  std::vector<double> q(14, 0.5);
  q[10] = std::numeric_limits<double>::quiet_NaN();
  const std::string bad = folder.write("bad.npy", matrix_file(q, 7));
  const auto into = [&](const std::string& file, const std::string& to) {
    return eval(puppet, fmt::format("--want com,mass --npy q={} --npy-out '{}'", file, folder / to));
  };
  EXPECT_EQ(into(bad, "results/of/reach").status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "results"));
  ASSERT_EQ(into(good, "results").status, 0);
  const std::string before = read_text(folder / "results/com.npy");
  EXPECT_EQ(into(bad, "results").status, 2);
  EXPECT_THAT(results(), ElementsAre("com.npy", "mass.npy"));
  EXPECT_EQ(read_text(folder / "results/com.npy"), before);
  // a folder that is in the way of one of them
  std::filesystem::remove(folder / "results/com.npy");
  std::filesystem::remove(folder / "results/mass.npy");
  std::filesystem::create_directory(folder / "results/mass.npy");
  const Result r = into(good, "results");
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err, fmt::format("error: '{}' cannot be written: Is a directory\n", folder / "results/mass.npy"));
  EXPECT_THAT(results(), ElementsAre("mass.npy"));
  EXPECT_THAT(into(good, "good.npy").err, HasSubstr("good.npy' is no folder to write to: Not a directory"));
  EXPECT_EQ(into(good, "new/and/deep").status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "new/and/deep/mass.npy"));
}

TEST_F(Npy, NamesOfFilesHaveNothingOddInThem) {
  const std::string file = folder.write(
      "odd.urdf",
      "<robot name=\"r\"><link name=\"world\"/><link name=\"../a b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
      "iyy=\"1\" izz=\"1\"/></inertial></link><link name=\".._a_b\"/><joint name=\"pin\" type=\"continuous\"><parent "
      "link=\"world\"/><child link=\"../a b\"/><axis xyz=\"0 0 1\"/></joint><joint name=\"tip\" type=\"fixed\"><parent "
      "link=\"../a b\"/><child link=\".._a_b\"/></joint></robot>");
  const std::string out = fmt::format("--npy-out '{}'", folder / "results");
  const Result r = eval(file, "--want 'pose:../a b,jacobian:../a b:node' " + out);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(results(), ElementsAre("jacobian_.._a_b_node.npy", "pose_.._a_b.npy"));
  const Result same = eval(file, "--want 'pose:../a b,pose:.._a_b' " + out);
  EXPECT_EQ(same.status, 2);
  EXPECT_EQ(
      same.err,
      "error: --npy-out: 'pose:../a b' and 'pose:.._a_b' would both be the file 'pose_.._a_b.npy': ask for one at "
      "a time\n");
}

}  // namespace
}  // namespace bunraku::test
