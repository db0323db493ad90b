/// The threads of batches: awake and asleep between tasks, begun and ended.
#include "bunraku/batch/executor.hpp"

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace bunraku::test {
namespace {

TEST(ThreadPools, EveryWorkerRunsEveryTaskOnce) {
  for (int threads = 1; threads <= 4; ++threads) {
    const std::shared_ptr<Executor> pool = make_thread_pool(threads);
    ASSERT_EQ(pool->workers(), threads);
    std::vector<int> runs(static_cast<std::size_t>(threads));  // plain numbers: the caller sees them without a lock
    for (int run = 1; run <= 300; ++run) {
      if (run % 10 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // until they have fallen asleep
      }
      pool->run([&](int worker) { ++runs[static_cast<std::size_t>(worker)]; });
      for (const int count : runs) {
        ASSERT_EQ(count, run);
      }
    }
  }
}

TEST(ThreadPools, WaitForTheLastWorker) {
  const std::shared_ptr<Executor> pool = make_thread_pool(2);
  bool ended = false;
  pool->run([&](int worker) {
    if (worker == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the caller has fallen asleep
      ended = true;
    }
  });
  EXPECT_TRUE(ended);
}

TEST(ThreadPools, EndAwakeAndAsleepAndWithoutATask) {
  for (int i = 0; i < 50; ++i) {
    const std::shared_ptr<Executor> pool = make_thread_pool(3);
    if (i % 3 != 0) {
      pool->run([](int) {});
    }
    if (i % 3 == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace
}  // namespace bunraku::test
