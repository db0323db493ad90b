#include "bunraku/batch/executor.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku {

Executor::~Executor() = default;

namespace {

/// Threads that wait for the next task; the caller is worker 0.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads) {
    for (int worker = 1; worker < threads; ++worker) {
      threads_.emplace_back([this, worker] { work(worker); });
    }
  }
  ~ThreadPool() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    begun_.notify_all();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ThreadPool(ThreadPool&&) = delete;
  ThreadPool& operator=(ThreadPool&&) = delete;

  int workers() const override { return static_cast<int>(threads_.size()) + 1; }

  void run(const std::function<void(int)>& task) override {
    if (threads_.empty()) {
      task(0);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      busy_ = static_cast<int>(threads_.size());
      ++round_;
    }
    begun_.notify_all();
    task(0);
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return busy_ == 0; });
    task_ = nullptr;
  }

 private:
  void work(int worker) {
    std::uint64_t seen = 0;
    while (true) {
      const std::function<void(int)>* task = nullptr;
      {
        std::unique_lock lock(mutex_);
        begun_.wait(lock, [&] { return ending_ || round_ != seen; });
        if (ending_) {
          return;
        }
        seen = round_;
        task = task_;
      }
      (*task)(worker);
      {
        const std::lock_guard lock(mutex_);
        --busy_;
      }
      ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  const std::function<void(int)>* task_ = nullptr;
  std::uint64_t round_ = 0;
  int busy_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace

std::shared_ptr<Executor> make_thread_pool(int threads) {
  if (threads < 0) {
    throw ArgumentError(
        fmt::format("a pool of {} threads: give 1 or more, or 0 for as many as there are cores", threads));
  }
  if (threads == 0) {
    const unsigned cores = std::thread::hardware_concurrency();
    threads = cores > 0 ? static_cast<int>(cores) : 1;
  }
  return std::make_shared<ThreadPool>(threads);
}

}  // namespace bunraku
