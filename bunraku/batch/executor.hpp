/// @file
/// Who runs the parts of a batch: threads of the library's own, or of the user's.
#pragma once

#include <functional>
#include <memory>

#include "bunraku/export.hpp"

namespace bunraku {

/// Runs tasks side by side. Users with threads of their own implement it over them and give it to BatchOptions.
class BUNRAKU_API Executor {
 public:
  Executor() = default;
  virtual ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  Executor(Executor&&) = delete;
  Executor& operator=(Executor&&) = delete;

  /// How many workers run() may use at once, at least 1.
  virtual int workers() const = 0;
  /// Calls task(w) once for each w of 0 … workers() − 1, in any order or at the same time, and returns when all have
  /// returned. `task` does not throw. May be called by one thread at a time.
  virtual void run(const std::function<void(int worker)>& task) = 0;
};

/// Threads of its own, started once; the caller is one of the workers. Between calls they sleep, but for the first 50
/// microseconds, in which the next call finds them awake: so long they, and a caller who waits for the last of them,
/// keep their cores busy. `threads` of 0: as many as the machine has cores. Throws ArgumentError for less than 0.
BUNRAKU_API std::shared_ptr<Executor> make_thread_pool(int threads = 0);

}  // namespace bunraku
