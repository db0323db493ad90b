/// The counter of allocations sees all of them: a test that shows that there are none is worth no more than this.
#include "support/allocations.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/io/load.hpp"

namespace bunraku::test {
namespace {

/// How many allocations `call` makes. What it returns is given back afterwards, so that no compiler can leave out both.
template <class Call>
std::size_t allocations_in(Call&& call) {
  const std::size_t before = allocations();
  const auto kept = call();
  const std::size_t after = allocations();
  EXPECT_TRUE(kept);
  return after - before;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

TEST(AllocationCounter, SeesEveryFormOfNew) {
  struct alignas(64) Wide {
    double numbers[8];
  };
  EXPECT_EQ(allocations_in([] { return std::make_unique<int>(); }), 1U);
  EXPECT_EQ(allocations_in([] { return std::make_unique<int[]>(10); }), 1U);
  EXPECT_EQ(allocations_in([] { return std::make_unique<Wide>(); }), 1U);
  EXPECT_EQ(allocations_in([] { return std::unique_ptr<int>(new (std::nothrow) int(1)); }), 1U);
}

TEST(AllocationCounter, SeesTheCLibrarys) {
  EXPECT_EQ(allocations_in([] { return Memory(std::malloc(10)); }), 1U);
  EXPECT_EQ(allocations_in([] { return Memory(std::calloc(10, 2)); }), 1U);
  Memory some(std::malloc(10));
  EXPECT_EQ(allocations_in([&] {
              some.reset(std::realloc(some.release(), 10'000));
              return some != nullptr;
            }),
            1U);
}

TEST(AllocationCounter, SeesTheCLibrarysOfGivenAlignment) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer does not report these";
#endif
  EXPECT_EQ(allocations_in([] { return Memory(std::aligned_alloc(64, 128)); }), 1U);
  EXPECT_EQ(allocations_in([] {
              void* memory = nullptr;
              return posix_memalign(&memory, 64, 100) == 0 ? Memory(memory) : Memory();
            }),
            1U);
}

TEST(AllocationCounter, GivesTheMemoryThatWasAskedFor) {
  void* memory = nullptr;
  EXPECT_EQ(posix_memalign(&memory, 256, 100), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
  std::free(memory);
  const Memory zeros(std::calloc(64, 1));
  const auto* const bytes = static_cast<const unsigned char*>(zeros.get());
  EXPECT_TRUE(std::all_of(bytes, bytes + 64, [](unsigned char byte) { return byte == 0; }));
}

// Eigen takes memory from malloc, not from operator new.
TEST(AllocationCounter, SeesEigens) {
  const Eigen::MatrixXd A = Eigen::MatrixXd::Random(20, 20);
  EXPECT_EQ(allocations_in([] { return std::make_unique<Eigen::VectorXd>(20); }), 2U);
  const auto kept = [](const Eigen::MatrixXd& matrix) { return matrix.size() > 0; };
  EXPECT_EQ(allocations_in([&] { return kept(A + A); }), 1U);
  EXPECT_GE(allocations_in([&] { return kept(A * A * A); }), 2U);
  Eigen::MatrixXd into(20, 20);
  EXPECT_EQ(allocations_in([&] {
              into.noalias() += 2 * A;
              return true;
            }),
            0U);
}

TEST(AllocationCounter, SeesThoseOfTheLibrary) {
  const std::string text =
      R"(<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/>)"
      R"(<child link="b"/></joint></robot>)";
  EXPECT_GT(allocations_in([&] { return load_text(text, "text").bodies().size() == 2; }), 10U);
}

TEST(AllocationCounter, CountsItsOwnThreadAlone) {
  std::size_t in_thread = 0;
  const std::size_t before = allocations();
  std::thread thread([&] {
    const std::size_t mine = allocations();
    const std::vector<std::vector<double>> many(100, std::vector<double>(3));
    in_thread = allocations() - mine;
  });
  thread.join();
  EXPECT_GE(in_thread, 101U);
  EXPECT_LE(allocations() - before, 10U) << "what starting a thread takes";
}

}  // namespace
}  // namespace bunraku::test
