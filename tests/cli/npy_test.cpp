/// `bunraku eval` with NumPy's files: what it reads, what it writes, what it refuses. Files are made and taken apart
/// here byte by byte, by the description of the format.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"
#include "bunraku/model/configuration.hpp"
#include "npy_files.hpp"
#include "support/files.hpp"

namespace bunraku::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What an array that the program wrote holds, as text: its shape, and its numbers.
struct Written {
  std::string type;
  std::string shape;
  std::vector<double> numbers;
};

Written read_array(const std::string& path) {
  const std::string file = read_text(path);
  static const std::regex header("\\{'descr': '(<f[48])', 'fortran_order': False, 'shape': \\(([0-9, ]+)\\), \\} *\\n");
  EXPECT_TRUE(file.starts_with("\x93NUMPY\x01\x00"s)) << path;
  const std::size_t length = static_cast<unsigned char>(file[8]) + 256U * static_cast<unsigned char>(file[9]);
  EXPECT_EQ((10 + length) % 64, 0U);  // as the format wants it
  std::smatch found;
  const std::string text = file.substr(10, length);
  EXPECT_TRUE(std::regex_match(text, found, header)) << path << ": " << text;
  Written out{found[1], found[2], {}};
  for (std::size_t at = 10 + length; at < file.size(); at += out.type == "<f8" ? 8 : 4) {
    double wide = 0;
    float narrow = 0;
    if (out.type == "<f8") {
      std::memcpy(&wide, file.data() + at, 8);
    } else {
      std::memcpy(&narrow, file.data() + at, 4);
      wide = narrow;
    }
    out.numbers.push_back(wide);
  }
  return out;
}

/// All numbers of a text in the order in which they stand there, names aside.
std::vector<double> numbers_in(const std::string& json, bool narrow) {
  std::vector<double> out;
  bool in_name = false;
  for (const char* at = json.c_str(); *at != '\0';) {
    in_name = *at == '"' ? !in_name : in_name;
    if (in_name || std::strchr("-0123456789", *at) == nullptr) {
      ++at;
      continue;
    }
    char* end = nullptr;
    out.push_back(narrow ? std::strtof(at, &end) : std::strtod(at, &end));
    at = end;
  }
  return out;
}

TEST_F(Npy, ReadsAFileOfNumPy) {
  // numpy.save(…, numpy.array([[0.5], [-2.0]])) of NumPy 1 and 2
  const std::string file =
      "\x93NUMPY\x01\x00\x76\x00"
      "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }                                                 "
      "         \n"
      "\x00\x00\x00\x00\x00\x00\xe0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0"s;
  ASSERT_EQ(file.size(), 128U + 16U);
  const std::string model = pendulum();
  const Result r = eval(model, "--want com,pose:arm --npy q=" + folder.write("q.npy", file));
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, eval(model, "--want com,pose:arm --q 0.5").out + eval(model, "--want com,pose:arm --q -2").out);
}

TEST_F(Npy, WritesAFileOfNumPy) {
  const Result r = eval(pendulum(), fmt::format("--want log_det,com --states - --npy-out '{}'", folder / "results"));
  ASSERT_EQ(r.status, 0) << r.err;  // no states
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_THAT(results(), ElementsAre("com.npy", "log_det.npy"));
  EXPECT_EQ(read_array(folder / "results/log_det.npy").shape, "0,");
  EXPECT_EQ(read_array(folder / "results/com.npy").shape, "0, 3");
  // a quarter of a turn at most: cos and sin of nothing but 0 are known to the last bit
  ASSERT_EQ(eval(pendulum(), fmt::format("--want mass --q 0 --npy-out '{}'", folder / "results")).status, 0);
  EXPECT_EQ(read_text(folder / "results/mass.npy"),
            "\x93NUMPY\x01\x00\x76\x00"
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }                                          "
            "             \n"
            "\x00\x00\x00\x00\x00\x00\xf4\x3f"s);  // 1 + 1·0.5²
}

TEST_F(Npy, ArraysAndTextHaveTheSameNumbers) {
  // of a state, n = 13, 9 bodies
  const std::vector<std::pair<std::string, std::string>> shapes = {{"poses", ", 9, 4, 4"},
                                                                   {"pose:head", ", 4, 4"},
                                                                   {"velocities", ", 9, 6"},
                                                                   {"com", ", 3"},
                                                                   {"id", ", 13"},
                                                                   {"fd", ", 13"},
                                                                   {"bias", ", 13"},
                                                                   {"gravity", ", 13"},
                                                                   {"mass", ", 13, 13"},
                                                                   {"inverse_mass", ", 13, 13"},
                                                                   {"coriolis", ", 13, 13"},
                                                                   {"energy", ", 2"},
                                                                   {"momentum", ", 6"},
                                                                   {"log_det", ","},
                                                                   {"regressor", ", 13, 90"},
                                                                   {"jacobian:head:aligned", ", 6, 13"},
                                                                   {"lambda_inverse:head,torso", ", 12, 12"}};
  const Model model = load(puppet, {.free_base = true});
  constexpr std::size_t states = 5;
  std::vector<double> q;
  std::vector<double> v;
  for (std::size_t i = 0; i < states; ++i) {
    const Eigen::VectorXd x = random_configuration(model, i);
    q.insert(q.end(), x.begin(), x.end());
    for (int j = 0; j < model.nv(); ++j) {
      v.push_back(0.1 * static_cast<double>(i) - 0.03 * j);
    }
  }
  std::string options =
      fmt::format("--free-base --npy q={0},v={1} --npy 'a={1},tau={1}'", folder.write("q.npy", matrix_file(q, 14)),
                  folder.write("v.npy", matrix_file(v, 13)));
  for (const auto& [key, shape] : shapes) {
    options += fmt::format(" --want '{}'", key);
  }
  for (const bool narrow : {false, true}) {
    options += narrow ? " --precision float" : " --precision double --threads 2";
    const Result text = eval(puppet, options);
    ASSERT_EQ(text.status, 0) << text.err;
    ASSERT_EQ(eval(puppet, fmt::format("{} --npy-out '{}'", options, folder / "results")).status, 0);
    EXPECT_EQ(results().size(), shapes.size());
    std::vector<Written> arrays;
    for (const auto& [key, shape] : shapes) {
      arrays.push_back(read_array(folder / ("results/" + std::regex_replace(key, std::regex("[:,_]"), "_") + ".npy")));
      EXPECT_EQ(arrays.back().type, narrow ? "<f4" : "<f8");
      EXPECT_EQ(arrays.back().shape, fmt::format("{}{}", states, shape)) << key;
    }
    std::vector<double> all;  // as the text has them, state by state
    for (std::size_t i = 0; i < states; ++i) {
      for (const Written& array : arrays) {
        const auto size = static_cast<std::ptrdiff_t>(array.numbers.size() / states);
        const auto begin = array.numbers.begin() + static_cast<std::ptrdiff_t>(i) * size;
        all.insert(all.end(), begin, begin + size);
      }
    }
    EXPECT_EQ(all, numbers_in(text.out, narrow));
    options.resize(options.rfind(" --precision"));
  }
}

TEST_F(Npy, ReadsEveryOrderTypeAndVersion) {
  const std::vector<double> rows = {0.5, 1, 1.5, 2, 2.5, 3, 3.5, -0.5, -1, -1.5, -2, -2.5, -3, -3.5};
  std::vector<double> columns;
  for (std::size_t i = 0; i < 7; ++i) {
    columns.push_back(rows[i]);
    columns.push_back(rows[i + 7]);
  }
  const std::vector<float> narrow(rows.begin(), rows.end());  // without loss
  const std::vector<float> narrow_columns(columns.begin(), columns.end());
  const std::string wanted = eval(puppet, "--want com --npy q=" + folder.write("q.npy", matrix_file(rows, 7))).out;
  EXPECT_EQ(std::count(wanted.begin(), wanted.end(), '\n'), 2);
  for (const std::string& file :
       {file_of(dictionary_of("<f8", "(2, 7)", true), bytes_of(columns)),
        file_of(dictionary_of("<f4", "(2, 7)"), bytes_of(narrow)),
        file_of(dictionary_of("<f4", "(2, 7)", true), bytes_of(narrow_columns)),
        file_of(dictionary_of("<f8", "(2, 7)"), bytes_of(rows), 2),
        file_of(dictionary_of("<f8", "(2, 7)"), bytes_of(rows), 3),
        file_of("{\"shape\":(2L,7L,),\"fortran_order\" : False,\n'descr':'<f8'}", bytes_of(rows))}) {
    const Result r = eval(puppet, "--want com --npy q=" + folder.write("other.npy", file));
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_EQ(r.out, wanted) << file.substr(0, 80);
  }
}

TEST_F(Npy, ReadsMoreThanAChunk) {
  constexpr std::size_t states = 40'000;
  std::vector<double> q;
  std::string lines;
  for (std::size_t i = 0; i < states; ++i) {
    q.push_back(1e-4 * static_cast<double>(i));
    lines += fmt::format("{{\"q\": [{}]}}\n", q.back());
  }
  const std::string command = fmt::format("eval '{}' --want com", pendulum());
  const Result text = run(command + " --threads 2 --states -", lines);
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.err, IsEmpty());
  EXPECT_EQ(run(command + " --npy q=" + folder.write("q.npy", matrix_file(q, 1))).out, text.out);
  const std::string turned =
      folder.write("f.npy", file_of(dictionary_of("<f8", fmt::format("({}, 1)", states), true), bytes_of(q)));
  ASSERT_EQ(run(fmt::format("{} --npy q={} --npy-out '{}'", command, turned, folder / "results")).status, 0);
  EXPECT_EQ(read_array(folder / "results/com.npy").numbers, numbers_in(text.out, false));
  q[30'000] = std::numeric_limits<double>::quiet_NaN();
  for (const int threads : {1, 2}) {
    const Result bad = run(fmt::format("{} --npy q={} --threads {} --npy-out '{}'", command,
                                       folder.write("bad.npy", matrix_file(q, 1)), threads, folder / "none"));
    EXPECT_EQ(bad.status, 2);
    EXPECT_EQ(bad.err, "error: --npy: state 30000, counted from 0: q[0] is nan, not a finite number\n");
    EXPECT_FALSE(std::filesystem::exists(folder / "none"));
  }
}

}  // namespace
}  // namespace bunraku::test
