#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bunraku/io/detail/files.hpp"
#include "bunraku/version.hpp"
#include "commands.hpp"
#include "complete.hpp"
#include "errors.hpp"
#include "output.hpp"

namespace bunraku::cli {

void ModelArguments::add_to(CLI::App& command) {
  add_model_to(command)->required();
  add_options_to(command);
}

CLI::Option* ModelArguments::add_model_to(CLI::App& command) {
  return command.add_option("model", path, "URDF, MJCF or SDF file, or - for standard input")->option_text("MODEL");
}

void ModelArguments::add_options_to(CLI::App& command) {
  command.add_flag("--free-base", options.free_base, "URDF: the root link floats in place of being fixed to the world");
  command.add_flag("--free-mimics", options.free_mimics,
                   "leave a hinge free that is to mimic one that does not exist, with a warning");
  command.add_flag("--merge-fixed", options.merge_fixed, "make bodies on fixed hinges part of their parents");
  command.add_flag("--strict", strict, "treat warnings as errors");
  command
      .add_option("--search-path", options.search_paths,
                  "folder in which package:// and included files are looked up (repeatable)")
      ->option_text("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option(
          "--loops", options.loops,
          "URDF: file that closes loops and makes links flexible; default: MODEL with .yaml in place of .urdf, if it "
          "exists; none: none")
      ->option_text("FILE");
}

Model ModelArguments::load() const {
  LoadOptions chosen = options;
  chosen.strictness = strict ? Strictness::strict : Strictness::tolerant;
  if (path == "-") {
    const std::string name = "<standard input>";
    return load_text(io::read_stream(std::cin, {name, 0}), name, chosen);
  }
  return bunraku::load(path, chosen);
}

namespace {

/// Options whose value may start with a minus sign, which the parser would take for another option.
constexpr std::array<std::string_view, 5> number_options = {"--q", "--v", "--a", "--tau", "--gravity"};

/// Whether it is an expression such as -2*phi, where the parser would see short options.
bool is_negative_expression(const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-' && argument[1] != '-' && argument != "-h";
}

/// `--q VALUE` becomes `--q=VALUE`, and an expression that starts with a minus sign one that starts with a space. The
/// parser wants its arguments last first.
std::vector<std::string> reversed_arguments(int argc, char** argv) {
  const bool has_expressions = argc > 1 && (argv[1] == std::string_view("op") || argv[1] == std::string_view("verify"));
  std::vector<std::string> out;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (has_expressions && is_negative_expression(argument)) {
      argument.insert(0, " ");
    }
    if (i + 1 < argc && std::find(number_options.begin(), number_options.end(), argument) != number_options.end()) {
      const std::string value = argv[++i];
      argument += "=" + (value.empty() ? " " : value);  // after a bare = the parser would take what follows
    }
    out.insert(out.begin(), std::move(argument));
  }
  return out;
}

/// The parser would only say that a command is missing.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    return;
  }
  const std::string given = argv[1];
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    known.push_back(command->get_name());
  }
  if (std::find(known.begin(), known.end(), given) == known.end()) {
    throw ArgumentError(fmt::format("there is no command '{}'{}; the commands are: {}", given,
                                    bunraku::detail::did_you_mean(given, known), fmt::join(known, ", ")));
  }
}

int run(int argc, char** argv) {
  CLI::App app("Bunraku: dynamics of joint-connected bodies by spatial operators", "bunraku");
  app.set_version_flag("--version", fmt::format("bunraku {} ({}, {}, kernels for {})", version(), build_type(),
                                                is_optimized() ? "optimised" : "NOT OPTIMISED: slow", cpu_variant()));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  int status = success;
  add_info(app, status);
  add_check(app, status);
  add_convert(app, status);
  add_eval(app, status);
  add_op(app, status);
  add_verify(app, status);
  add_papers(app, status);
  add_assemble(app, status);
  add_linearize(app, status);
  add_trim(app, status);
  add_modes(app, status);
  add_demo(app, status);
  if (argc > 1 && argv[1] == std::string_view("__complete")) {  // the shells' completion asks
    print(completions(app, {argv + 2, argv + argc}));
    return success;
  }
  check_command(app, argc, argv);
  try {
    app.parse(reversed_arguments(argc, argv));
  } catch (const CLI::Success& asked_for_help) {
    std::ostringstream text;
    app.exit(asked_for_help, text, text);
    print(text.str());
    return success;
  } catch (const CLI::ParseError& error) {
    std::string who = "bunraku";
    for (const CLI::App* chosen : app.get_subcommands()) {
      who += " " + chosen->get_name();
    }
    print_to_stderr(error_text(error.what(), fmt::format("run `{} --help` for what it takes", who)));
    return failure;
  }
  return status;
}

}  // namespace

}  // namespace bunraku::cli

int main(int argc, char** argv) {
  using namespace bunraku::cli;
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));  // temporary files are removed and histories kept even then
  try {
    return run(argc, argv);
  } catch (const ReaderGone&) {
    return ReaderGone::status;
  } catch (const std::exception& error) {
    print_to_stderr(error_text(error));
  }
  return failure;
}
