/// The fuzzers over the files that they start from: they compile with the rest, and find nothing there. `./run fuzz`
/// goes on from these.
#include <cstdint>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/files.hpp"

// each has libFuzzer's way in, under a name of its own here; that of loop files calls what a shared library hides
#define LLVMFuzzerTestOneInput mjcf_input
#include "fuzz/mjcf_fuzzer.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput modal_input
#include "fuzz/modal_fuzzer.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput npy_input
#include "fuzz/npy_fuzzer.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput operators_input
#include "fuzz/operators_fuzzer.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput sdf_input
#include "fuzz/sdf_fuzzer.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput simplify_input
#include "fuzz/simplify_fuzzer.cpp"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput urdf_input
#include "fuzz/urdf_fuzzer.cpp"
#undef LLVMFuzzerTestOneInput

namespace bunraku::test {
namespace {

/// How many files below a folder of the project were taken.
int feed(const std::string& folder, int (*input)(const std::uint8_t*, std::size_t)) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(BUNRAKU_SOURCE_DIR) / folder)) {
    if (entry.is_regular_file() && entry.file_size() < 65'536) {
      const std::string text = read_text(entry.path());
      SCOPED_TRACE(entry.path().string());
      EXPECT_EQ(input(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), 0);
      ++count;
    }
  }
  return count;
}

TEST(Seeds, OfReadersAreReadOrRefused) {
  for (const auto input : {urdf_input, mjcf_input, sdf_input}) {
    EXPECT_GT(feed("models", input), 2);
    EXPECT_GT(feed("tests/corpus", input), 300);
  }
}

TEST(Seeds, OfOperatorsAreReadOrRefused) {
  EXPECT_GT(feed("fuzz/seeds/operators", operators_input), 3);
}

TEST(Seeds, OfArraysAreReadOrRefused) {
  EXPECT_GT(feed("fuzz/seeds/npy", npy_input), 5);
}

TEST(Seeds, OfModalDataAreReadOrRefused) {
  EXPECT_GT(feed("fuzz/seeds/modal", modal_input), 5);
  EXPECT_GT(feed("tests/corpus/flexible/modal", modal_input), 10);
}

// of these any input will do
TEST(Seeds, OfSimplifyAreSound) {
  for (std::uint8_t i = 0; i < 40; ++i) {
    EXPECT_EQ(simplify_input(&i, 1), 0);
  }
}

}  // namespace
}  // namespace bunraku::test
