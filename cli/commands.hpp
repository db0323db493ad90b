/// @file
/// The commands of the program. Each adds itself to the parser; its callback does the work and sets the exit status.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "bunraku/io/load.hpp"

namespace bunraku::cli {

/// Exit statuses that scripts rely on.
enum ExitStatus : int {
  success = 0,  ///< All went well.
  finding = 1,  ///< `check`: something was ignored or is odd; `verify`: refuted; `papers`: something fails.
  failure = 2,  ///< An error: nothing was written to standard output.
};

/// Which model, and how to read it: shared by all commands.
struct ModelArguments {
  std::string path;     ///< The model file.
  LoadOptions options;  ///< How to read it.
  bool strict = false;  ///< Warnings are errors.

  /// Adds MODEL, which must be given, and its options to a command.
  void add_to(CLI::App& command);
  /// Adds MODEL alone, which may be left out.
  CLI::Option* add_model_to(CLI::App& command);
  /// Adds the options alone.
  void add_options_to(CLI::App& command);
  /// Reads the model.
  Model load() const;
};

void add_info(CLI::App& app, int& status);       ///< `bunraku info`
void add_check(CLI::App& app, int& status);      ///< `bunraku check`
void add_convert(CLI::App& app, int& status);    ///< `bunraku convert`
void add_eval(CLI::App& app, int& status);       ///< `bunraku eval`
void add_op(CLI::App& app, int& status);         ///< `bunraku op`
void add_verify(CLI::App& app, int& status);     ///< `bunraku verify`
void add_papers(CLI::App& app, int& status);     ///< `bunraku papers`
void add_assemble(CLI::App& app, int& status);   ///< `bunraku assemble`
void add_linearize(CLI::App& app, int& status);  ///< `bunraku linearize`
void add_trim(CLI::App& app, int& status);       ///< `bunraku trim`
void add_modes(CLI::App& app, int& status);      ///< `bunraku modes`
void add_demo(CLI::App& app, int& status);       ///< `bunraku demo`

/// The bodies as a tree, drawn with lines, one a row: name, hinge, freedoms, mass.
std::string draw_tree(const Model& model);

}  // namespace bunraku::cli
