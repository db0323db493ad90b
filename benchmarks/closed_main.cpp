/// @file
/// Closed systems: forward dynamics against Pinocchio in the same process, and how it grows.
#include <algorithm>

#include <CLI/CLI.hpp>
#include <bunraku/version.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "closed_parts.hpp"
#include "closed_systems.hpp"
#include "meter.hpp"
#include "robots.hpp"

namespace {

struct Options : bench::CommonOptions {
  std::vector<std::string> systems;
  std::vector<std::string> parts;
  std::string models = bench::default_models();
  std::size_t states = 16;

  bool wants(const char* part) const { return parts.empty() || std::ranges::find(parts, part) != parts.end(); }
};

void measure_all(const Options& options) {
  const int core = bench::pin_to_quiet_core();
  fmt::print(
      "Bunraku {} {}, {}\n", bunraku::version(), bench::library(),
      bench::counting() ? "under callgrind" : (core < 0 ? "not pinned to a core" : fmt::format("on core {}", core)));
  std::vector<std::string> members;
  if (options.wants("peers")) {
    members.push_back(bench::measure_closed_peers(options.systems, options.models, options.states, options.seconds));
  }
  if (options.wants("embedding")) {
    fmt::print("\n");
    members.push_back(
        fmt::format("  \"embedding\": {}",
                    bench::measure_closed_embedding(options.systems, options.models, options.states, options.seconds)));
  }
  if (options.wants("scaling")) {
    fmt::print("\n");
    members.push_back(fmt::format("  \"scaling\": {}", bench::measure_closed_growth(options.seconds)));
  }
  if (!options.json.empty()) {
    bench::write_file(options.json, fmt::format("{{\n{}\n}}\n", fmt::join(members, ",\n")));
  }
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--parts", options.parts, "only these: peers, embedding, scaling, mujoco")
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember({"peers", "embedding", "scaling", "mujoco"}));
  app.add_option("--systems", options.systems,
                 fmt::format("only these, such as a,b: {}", fmt::join(bench::closed_names(), ", ")))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--models", options.models, "folder with the folders mjcf, sdf and loops of files")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--states", options.states, "states of each system")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bench::Program program{.name = "closed",
                               .description = "Forward dynamics of closed systems against Pinocchio, and its growth.",
                               .declare = [&](CLI::App& app) { declare(app, options); },
                               .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
