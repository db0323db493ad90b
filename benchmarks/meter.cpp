/// @file
/// Pinning, timing, callgrind's counters, and what the main functions share.
#include "meter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <CLI/CLI.hpp>
#include <bunraku/version.hpp>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<valgrind/callgrind.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include <valgrind/callgrind.h>
#pragma GCC diagnostic pop
#define BENCH_HAS_CALLGRIND 1
#else
#define BENCH_HAS_CALLGRIND 0
#endif

namespace bench {

namespace {

namespace fs = std::filesystem;

constexpr const char* out_variable = "BUNRAKU_CALLGRIND_OUT";  // where callgrind writes, for the program itself to read

/// Ticks that each core has spent on work since the start of the machine.
std::map<int, long long> busy_ticks() {
  std::map<int, long long> busy;
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    int core = 0;
    long long user = 0;
    long long nice = 0;
    long long system = 0;
    if (std::sscanf(line.c_str(), "cpu%d %lld %lld %lld", &core, &user, &nice, &system) == 4) {
      busy[core] = user + nice + system;
    }
  }
  return busy;
}

/// The sum that a dump of callgrind's ends with.
double total_in(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view key = "totals: ";
    if (line.starts_with(key)) {
      return std::stod(line.substr(key.size()));
    }
  }
  throw std::runtime_error(fmt::format("callgrind wrote no total into {}: is its version older than 3.15?", path));
}

/// Time that this thread has had a core for. Reading it takes a fraction of a microsecond.
double processor_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

void require_optimized() {
#ifdef __OPTIMIZE__
  constexpr bool optimized = true;
#else
  constexpr bool optimized = false;
#endif
  const std::string_view type = BUNRAKU_BUILD_TYPE;
  if (optimized && type == "Release" && bunraku::is_optimized()) {
    return;
  }
  fmt::print(stderr,
             "bench: this is a build of type {}, {} optimisation; its figures would mean nothing.\n"
             "bench: `./run bench NAME` makes a build of type Release and runs that\n",
             type.empty() ? "none" : type, optimized && bunraku::is_optimized() ? "with" : "without");
  std::exit(2);
}

std::string compiler_flags() {
  std::istringstream words(BUNRAKU_BENCH_FLAGS);
  std::string out;
  for (std::string word; words >> word;) {
    out += (out.empty() ? "" : " ") + word;
  }
  return out;
}

std::string library() {
  Dl_info info{};
  if (dladdr(bunraku::version().data(), &info) == 0 || info.dli_fname == nullptr) {
    return compiler_flags();
  }
  // BUILD/benchmarks/NAME_bench has BUILD/libbunraku.so; a static library is part of the program itself
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path file = fs::canonical(info.dli_fname);
  const bool own = file == program || file.parent_path() == program.parent_path().parent_path();
  return own ? compiler_flags() : "as shipped";
}

std::vector<int> allowed_cores() {
  cpu_set_t allowed;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

bool stay_on(std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    CPU_SET(static_cast<std::size_t>(core), &set);
  }
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

Spread::Spread() : cores_(allowed_cores()) {}

Spread::~Spread() {
  stay_on(cores_);
}

void Spread::operator()(const std::function<void()>& start) const {
  if (cores_.size() < 2) {
    start();
    return;
  }
  stay_on(std::span(cores_).subspan(1));
  start();
  stay_on(std::span(cores_).first(1));
}

int pin_to_quiet_core() {
  const std::vector<int> allowed = allowed_cores();
  const std::map<int, long long> before = busy_ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  int best = -1;
  long long least = std::numeric_limits<long long>::max();
  for (const auto& [core, ticks] : busy_ticks()) {
    const auto earlier = before.find(core);
    if (std::ranges::find(allowed, core) != allowed.end() && earlier != before.end() &&
        ticks - earlier->second < least) {
      least = ticks - earlier->second;
      best = core;
    }
  }
  return best >= 0 && stay_on({&best, 1}) ? best : -1;
}

bool counting() {
#if BENCH_HAS_CALLGRIND
  return RUNNING_ON_VALGRIND != 0 && std::getenv(out_variable) != nullptr;
#else
  return false;
#endif
}

int run_again_under_callgrind(std::span<char* const> arguments) {
  if (!BENCH_HAS_CALLGRIND) {
    fmt::print(stderr,
               "bench: compiled without <valgrind/callgrind.h>: install valgrind, remove the folder {} and\n"
               "bench: run ./run bench again\n",
               fs::read_symlink("/proc/self/exe").parent_path().string());
    return 2;
  }
  std::string folder = (fs::temp_directory_path() / "bunraku-bench-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    fmt::print(stderr, "bench: no folder can be made in {}: set TMPDIR\n", fs::temp_directory_path().string());
    return 1;
  }
  const std::string out = folder + "/out";
  setenv(out_variable, out.c_str(), 1);
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  std::vector<std::string> words = {
      "valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no", "--callgrind-out-file=" + out, self};
  words.insert(words.end(), arguments.begin() + 1, arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  int status = 1;
  pid_t child = 0;
  if (posix_spawnp(&child, "valgrind", nullptr, nullptr, argv.data(), environ) != 0) {
    fmt::print(stderr, "bench: valgrind is not installed, or not in PATH\n");
  } else if (waitpid(child, &status, 0) == child) {
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  fs::remove_all(folder);
  return status;
}

double nanoseconds(const Batch& batch, Clock clock) {
  constexpr double long_batch = 1e6;
  const double processor_start = processor_nanoseconds();
  const auto start = std::chrono::steady_clock::now();
  batch();
  const double time = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  // On a busy machine others get the core every few milliseconds: no run of a long batch is without them.
  return time < long_batch || clock == Clock::wall ? time : std::min(time, processor_nanoseconds() - processor_start);
}

std::vector<double> least_nanoseconds(std::span<const Batch> batches, double seconds, const Timing& timing) {
  std::vector<double> least(batches.size(), std::numeric_limits<double>::infinity());
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (int round = 0; round < timing.least_rounds || std::chrono::steady_clock::now() < end; ++round) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      batches[i]();  // the others have filled the caches
      least[i] = std::min({least[i], nanoseconds(batches[i], timing.clock), nanoseconds(batches[i], timing.clock)});
    }
  }
  return least;
}

std::vector<double> instructions([[maybe_unused]] std::span<const Batch> batches) {
  std::vector<double> counts;
#if BENCH_HAS_CALLGRIND
  static int dumps = 0;
  for (const Batch& batch : batches) {
    batch();  // binds what the dynamic linker binds at the first call
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    batch();
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    const std::string path = fmt::format("{}.{}", std::getenv(out_variable), ++dumps);
    counts.push_back(total_in(path));
    fs::remove(path);
  }
#endif
  return counts;
}

std::vector<double> measure(std::span<const Batch> batches, double seconds, const Timing& timing) {
  return counting() ? instructions(batches) : least_nanoseconds(batches, seconds, timing);
}

const char* unit() {
  return counting() ? "instructions" : "ns";
}

void require_writable(const std::string& path) {
  if (!path.empty() && !std::ofstream(path, std::ios::app)) {
    throw std::runtime_error(fmt::format("{} cannot be written: does its folder exist?", path));
  }
}

void write_file(const std::string& path, const std::string& text) {
  require_writable(path);
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) {
    throw std::runtime_error(fmt::format("{} cannot be written: is the disk full?", path));
  }
}

int run_program(const Program& program, CommonOptions& options, std::span<char* const> arguments) {
  CLI::App app(program.description, fmt::format("run bench {}", program.name));
  try {
    app.add_option("--json", options.json, "also write the figures to FILE")->type_name("FILE");
    app.add_flag("--callgrind", options.callgrind, "count instructions under valgrind in place of time");
    app.add_flag("--native", options.native,
                 "measure the library compiled for this machine's processor in place of the one that is shipped");
    app.add_option("--seconds", options.seconds, "time for each row")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    program.declare(app);
    app.parse(static_cast<int>(arguments.size()), arguments.data());
    require_optimized();
    if (options.callgrind && !counting()) {
      return run_again_under_callgrind(arguments);
    }
    require_writable(options.json);
    program.measure();
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program.name, error.what());
    return 1;
  }
}

}  // namespace bench
