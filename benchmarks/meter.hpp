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

/// Keeps this process on that one of its cores which has been the least busy for a moment. Returns the core, or −1
/// where the system does not let it.
int pin_to_quiet_core();

/// Whether the program runs under callgrind, so that it can count.
bool counting();

/// Runs the program again, with the same arguments, under callgrind, where counting() holds. Returns its exit status.
int run_again_under_callgrind(std::span<char* const> arguments);

/// Nanoseconds of each batch: the least of many runs, the batches in turn, each warmed up at its turn. Goes on for
/// `seconds`, or for a few rounds where these take longer. Above a millisecond, the time of the processor counts.
std::vector<double> least_nanoseconds(std::span<const Batch> batches, double seconds);

/// Instructions of each batch; only where counting() holds.
std::vector<double> instructions(std::span<const Batch> batches);

/// Instructions where counting() holds, otherwise nanoseconds.
std::vector<double> measure(std::span<const Batch> batches, double seconds);

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
