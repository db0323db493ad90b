/// @file
/// Flexible bodies: what forward dynamics costs against the number of bodies and of modes. Exudyn's side of the
/// benchmark is in support/flexible_exudyn.py.
#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "flexible_parts.hpp"
#include "meter.hpp"

namespace {

struct Options : bench::CommonOptions {
  std::vector<std::string> parts;
  bool serve = false;

  bool wants(const char* part) const { return parts.empty() || std::ranges::find(parts, part) != parts.end(); }
};

void measure_all(const Options& options) {
  const int core = bench::pin_to_quiet_core();
  if (options.serve) {
    bench::serve_flexible();
    return;
  }
  fmt::print(
      "Bunraku {} {}, {}\n", bunraku::version(), bench::library(),
      bench::counting() ? "under callgrind" : (core < 0 ? "not pinned to a core" : fmt::format("on core {}", core)));
  std::vector<std::string> members;
  if (options.wants("bodies")) {
    fmt::print("\n");
    members.push_back(fmt::format("  \"bodies\": {}", bench::measure_flexible_bodies(options.seconds)));
  }
  if (options.wants("modes")) {
    fmt::print("\n");
    members.push_back(fmt::format("  \"modes\": {}", bench::measure_flexible_modes(options.seconds)));
  }
  if (!options.json.empty()) {
    bench::write_file(options.json, fmt::format("{{\n{}\n}}\n", fmt::join(members, ",\n")));
  }
}

void declare(CLI::App& app, Options& options) {
  app.add_option("--parts", options.parts, "only these: bodies, modes, exudyn, theory")
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(CLI::IsMember({"bodies", "modes", "exudyn", "theory"}));
  app.add_flag("--serve", options.serve, "answer to support/flexible_exudyn.py")->group("");
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const bench::Program program{
      .name = "flexible",
      .description =
          "Forward dynamics of flexible bodies: its growth with bodies and modes, against Exudyn, and against "
          "another theory of beams.",
      .declare = [&](CLI::App& app) { declare(app, options); },
      .measure = [&] { measure_all(options); }};
  return bench::run_program(program, options, {argv, static_cast<std::size_t>(argc)});
}
