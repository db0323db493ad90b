/// @file
/// Many states at once, against Pinocchio's single calls and its pool, in all sizes, in double and float.
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "batch_parts.hpp"
#include "pinocchio_peer.hpp"

namespace {

/// A part of the benchmark. `rollouts` is not among them: benchmarks/support/batch_peers.py measures these.
struct Part {
  const char* name;
  bool pinned;  ///< To one core.
  bool counts;  ///< Whether it makes sense under callgrind.
  void (*measure)(const bench::BatchOptions&, const std::vector<bench::Robot>&, bench::BatchFigures&);
};

constexpr Part all_parts[] = {{"states", true, true, bench::measure_states},
                              {"threads", false, false, bench::measure_threads},
                              {"parameters", true, true, bench::measure_parameters},
                              {"programs", true, true, bench::measure_programs},
                              {"memory", true, false, bench::measure_memory}};

void print_header(const std::vector<bench::Robot>& robots) {
  fmt::print("Bunraku {} {} against {} from its headers, {}.\n", bunraku::version(), bench::library(),
             bench::make_peer_plain({}, {})->name(), bench::compiler_flags());
  for (const bench::Robot& robot : robots) {
    if (robot.uncoupled) {
      fmt::print("{}: the mimic coupling is taken out on both sides; each hinge has its own coordinate.\n", robot.name);
    }
  }
  std::fflush(stdout);
}

void measure_all(bench::BatchOptions& options) {
  const std::vector<bench::Robot> robots =
      bench::load_robots("batch", options.robots, options.models, bench::Couplings::taken_out);
  if (!options.serve.empty()) {
    bench::serve_rollouts(options, robots);
    return;
  }
  const std::vector<int> cores = bench::allowed_cores();
  options.threads = options.threads > 0 ? options.threads : static_cast<int>(std::max<std::size_t>(1, cores.size()));
  std::ranges::sort(options.states);
  print_header(robots);
  bench::BatchFigures figures;
  for (const Part& part : all_parts) {
    if (!options.wants(part.name) || (bench::counting() && !part.counts)) {
      continue;
    }
    fmt::print("\n");
    if (part.pinned) {
      bench::pin_to_quiet_core();
    }
    part.measure(options, robots, figures);
    bench::stay_on(cores);
  }
  if (!options.json.empty()) {
    bench::write_file(options.json, figures.json(options.summary_states()));
  }
}

void declare(CLI::App& app, bench::BatchOptions& options) {
  std::vector<std::string> parts = {"rollouts"};
  for (const Part& part : all_parts) {
    parts.emplace_back(part.name);
  }
  app.add_option("--parts", options.parts, fmt::format("only these: {}", fmt::join(parts, ", ")))
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember(parts));
  app.add_option("--robots", options.robots,
                 fmt::format("only these, such as a,b: {}, or any other NAME.urdf there",
                             fmt::join(bench::robot_names(), ", ")))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--models", options.models, "folder with the URDF files, or with a folder urdf of them")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--states", options.states,
                 "numbers of states; the summary is of 4096, or of the most where that is not among them")
      ->delimiter(',')
      ->type_name("NUMBERS")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "threads beside one; 0: as many as there are cores")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--serve", options.serve, "for the script that measures other libraries: roll out as it says")
      ->type_name("DIR")
      ->group("");
}

}  // namespace

int main(int argc, char** argv) {
  bench::BatchOptions options;
  options.seconds = 0.2;
  const bench::Program program{.name = "batch",
                               .description =
                                   "Time a state of many states at once, against Pinocchio's single calls and its "
                                   "pool, and of rollouts against MuJoCo's.",
                               .declare = [&](CLI::App& app) { declare(app, options); },
                               .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
