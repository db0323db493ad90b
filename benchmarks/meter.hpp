/// @file
/// What the benchmarks measure with: time on one pinned core, or instructions under callgrind.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace bench {

/// A number of calls, always the same, to be measured as a whole.
using Batch = std::function<void()>;

/// Ends the program with status 2 where its figures would mean nothing: it or the library is not optimised.
void require_optimized();

/// The flags that the program was compiled with.
std::string compiler_flags();

/// Which library the program runs with, as in "Bunraku 0.1.0 …": "as shipped", or the flags where it is the one of the
/// program's own build.
std::string library();

/// The cores that this thread may run on.
std::vector<int> allowed_cores();

/// Keeps this thread, and those that it starts from now on, on these cores. Returns whether the system lets it.
bool stay_on(std::span<const int> cores);

/// Keeps the threads of a program on cores of their own while it lives: where others are at work, the system may put
/// two of them on one core, and leaves them there.
class Spread {
 public:
  Spread();
  ~Spread();
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;
  Spread(Spread&&) = delete;
  Spread& operator=(Spread&&) = delete;

  /// Threads that `start` starts may run on all cores but the first; this one then stays on the first.
  void operator()(const std::function<void()>& start) const;

 private:
  std::vector<int> cores_;
};

/// Keeps this thread on that one of its cores which has been the least busy for a moment. Returns the core, or −1 where
/// the system does not let it.
int pin_to_quiet_core();

/// Whether the program runs under callgrind, so that it can count.
bool counting();

/// Runs the program again, with the same arguments, under callgrind, where counting() holds. Returns its exit status.
int run_again_under_callgrind(std::span<char* const> arguments);

/// Whose time counts.
enum class Clock {
  thread,  ///< Above a millisecond, that for which this thread had the processor: others do not count.
  wall,    ///< That of the day: for work that is done by several threads.
};

/// How often and by which clock batches are timed.
struct Timing {
  int least_rounds = 5;  ///< However long these take.
  Clock clock = Clock::thread;
};

/// Nanoseconds of one run.
double nanoseconds(const Batch& batch, Clock clock = Clock::thread);

/// Nanoseconds of each batch: the least of many runs, the batches in turn, each warmed up at its turn. Goes on for
/// `seconds`, or for a few rounds where these take longer.
std::vector<double> least_nanoseconds(std::span<const Batch> batches, double seconds, const Timing& timing = {});

/// Instructions of each batch; only where counting() holds.
std::vector<double> instructions(std::span<const Batch> batches);

/// Instructions where counting() holds, otherwise nanoseconds.
std::vector<double> measure(std::span<const Batch> batches, double seconds, const Timing& timing = {});

/// "instructions" or "ns".
const char* unit();

/// Throws std::runtime_error where the file cannot be written: better before the measuring than after. "" is no file.
void require_writable(const std::string& path);

/// Writes text to a file; throws as require_writable.
void write_file(const std::string& path, const std::string& text);

/// What every benchmark can be asked for.
struct CommonOptions {
  std::string json;        ///< File that also gets the figures, or "".
  bool callgrind = false;  ///< Instructions in place of time.
  bool native = false;     ///< `./run bench` has chosen the library by it; here it is only declared.
  double seconds = 1;      ///< Time for each row.
};

/// A benchmark that is a program of its own.
struct Program {
  const char* name;                        ///< As in `./run bench NAME`.
  const char* description;                 ///< What it measures.
  std::function<void(CLI::App&)> declare;  ///< Declares its own options.
  std::function<void()> measure;           ///< Measures and prints, once the options are read.
};

/// The main function of a benchmark: reads the arguments, then measures, under callgrind where that is asked for.
/// Returns the exit status: 2 where an argument is wrong, 1 where something is thrown, which is printed.
int run_program(const Program& program, CommonOptions& options, std::span<char* const> arguments);

}  // namespace bench
