#include "bunraku/batch/executor.hpp"

#include <atomic>
#include <chrono>
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

/// How long a thread that waits for another stays awake. Waking it would take about as long, and so do a thousand
/// states of a small robot.
constexpr std::chrono::microseconds awake{50};

/// Waits awake until `done` says yes. False where that takes too long.
template <class F>
bool spin_until(F&& done) {
  const auto end = std::chrono::steady_clock::now() + awake;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) {
        return true;
      }
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

/// Threads that wait for the next task, awake at first; the caller is worker 0.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads) {
    for (int worker = 1; worker < threads; ++worker) {
      threads_.emplace_back([this, worker] { work(worker); });
    }
  }
  ~ThreadPool() override {
    begin(nullptr);
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
    busy_ = static_cast<int>(threads_.size());
    begin(&task);
    task(0);
    const auto ended = [this] { return busy_ == 0; };
    if (!spin_until(ended)) {
      std::unique_lock lock(mutex_);
      ended_.wait(lock, ended);
    }
  }

 private:
  /// Gives all threads a task, or none: then they end.
  void begin(const std::function<void(int)>* task) {
    {
      const std::lock_guard lock(mutex_);
      task_ = task;
      ++round_;
    }
    begun_.notify_all();
  }

  void work(int worker) {
    for (std::uint64_t seen = 1;; ++seen) {
      const auto begun = [&] { return round_ >= seen; };
      if (!spin_until(begun)) {
        std::unique_lock lock(mutex_);
        begun_.wait(lock, begun);
      }
      if (task_ == nullptr) {
        return;
      }
      (*task_)(worker);
      if (--busy_ == 0) {
        const std::lock_guard lock(mutex_);  // the caller is not between asking and falling asleep
        ended_.notify_one();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  const std::function<void(int)>* task_ = nullptr;  // written before the round begins
  std::atomic<std::uint64_t> round_ = 0;
  std::atomic<int> busy_ = 0;
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
