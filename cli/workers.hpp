/// @file
/// Threads that share work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

#include "bunraku/batch/executor.hpp"

namespace bunraku::cli {

/// Some threads, started once.
class Workers {
 public:
  /// So many, this one among them; 0 for as many as there are cores.
  explicit Workers(int threads) : executor_(make_thread_pool(threads)) {}

  /// How many there are.
  int count() const { return executor_->workers(); }
  /// What a batch runs on them by.
  const std::shared_ptr<Executor>& executor() const { return executor_; }

  /// Into how many parts n things are cut: some for each worker, so that none is left with a slow one in the end.
  std::ptrdiff_t parts_of(std::ptrdiff_t n) const {
    return count() == 1 ? std::min<std::ptrdiff_t>(n, 1) : std::min<std::ptrdiff_t>(n, 4 * count());
  }

  /// Calls f(begin, end, part, worker) for each of so many parts of 0 … n − 1, side by side, the first ones first.
  /// Throws what one of them threw.
  template <class F>
  void run(std::ptrdiff_t n, std::ptrdiff_t parts, const F& f) {
    std::atomic<std::ptrdiff_t> next = 0;
    std::atomic_flag failed;
    std::exception_ptr error;
    const auto work = [&](int worker) {
      try {
        for (std::ptrdiff_t part = next++; part < parts; part = next++) {
          f(n * part / parts, n * (part + 1) / parts, part, worker);
        }
      } catch (...) {
        if (!failed.test_and_set()) {
          error = std::current_exception();
        }
        next = parts;
      }
    };
    if (parts == 1) {
      work(0);
    } else if (parts > 1) {
      executor_->run(work);
    }
    if (error) {
      std::rethrow_exception(error);
    }
  }

 private:
  std::shared_ptr<Executor> executor_;
};

/// Which of many states is the first that fails, as workers find out side by side.
class FirstFailure {
 public:
  /// None of n so far.
  explicit FirstFailure(std::ptrdiff_t n) : first_(n) {}

  /// State i fails.
  void add(std::ptrdiff_t i) {
    std::ptrdiff_t known = first_;
    while (i < known && !first_.compare_exchange_weak(known, i)) {
    }
  }
  /// The first one, or n: what comes after it does not matter.
  std::ptrdiff_t first() const { return first_; }

 private:
  std::atomic<std::ptrdiff_t> first_;
};

}  // namespace bunraku::cli
