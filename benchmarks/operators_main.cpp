/// @file
/// Operator expressions: what they cost beside the tuned algorithms, how that grows, and how long they take to find.
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meter.hpp"
#include "operators_parts.hpp"
#include "robots.hpp"

namespace {

struct Options : bench::CommonOptions {
  std::vector<std::string> robots;
  std::string models = bench::default_models();
  bench::GrowthOptions growth;
  std::vector<std::string> parts;

  bool wants(const char* part) const { return parts.empty() || std::ranges::find(parts, part) != parts.end(); }
};

void measure_all(const Options& options) {
  const int core = bench::pin_to_quiet_core();
  fmt::print(
      "Bunraku {}, {}, {}\n", bunraku::version(), bench::library(),
      bench::counting() ? "under callgrind" : (core < 0 ? "not pinned to a core" : fmt::format("on core {}", core)));
  std::vector<std::string> members;
  if (options.wants("robots")) {
    fmt::print("\n");
    members.push_back(bench::measure_robots(options.robots, options.models, options.seconds));
  }
  if (options.wants("scaling")) {
    fmt::print("\n");
    members.push_back(fmt::format("  \"scaling\": {}", bench::measure_growth(options.growth, options.seconds)));
  }
  if (options.wants("search")) {
    fmt::print("\n");
    members.push_back(fmt::format("  \"search\": {}", bench::measure_search(options.seconds)));
  }
  if (!options.json.empty()) {
    bench::write_file(options.json, fmt::format("{{\n{}\n}}\n", fmt::join(members, ",\n")));
  }
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--parts", options.parts, "only these: robots, scaling, search")
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember({"robots", "scaling", "search"}));
  app.add_option("--robots", options.robots,
                 fmt::format("only these, such as a,b: {}, {}, or any other NAME.urdf there",
                             fmt::join(bench::robot_names(), ", "), bench::long_chain))
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--models", options.models, "folder with the URDF files, or with a folder urdf of them")
      ->type_name("DIR")
      ->capture_default_str();
  options.growth.declare(app);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bench::Program program{.name = "operators",
                               .description =
                                   "Operator expressions against the tuned algorithms, their growth with "
                                   "the number of bodies, and the time to find them.",
                               .declare = [&](CLI::App& app) { declare(app, options); },
                               .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
