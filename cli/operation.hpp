/// @file
/// What `op` does, once its command line is read.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bunraku/operators/language/text.hpp"
#include "commands.hpp"
#include "states.hpp"

namespace bunraku::cli {

/// What `op` does with an expression.
enum class Mode { summary, dense, plan, explain, levels, latex, unicode, apply };

/// What its command line says.
struct OpArguments {
  ModelArguments model;                      ///< Which model.
  StateArguments states;                     ///< At which states.
  CLI::Option* expression_option = nullptr;  ///< Whether there is an expression.
  std::string expression;                    ///< The expression.
  bool dense = false;                        ///< The modes, of which one may be chosen.
  bool plan = false;                         ///< See dense.
  bool explain = false;                      ///< See dense.
  bool levels = false;                       ///< See dense.
  bool latex = false;                        ///< See dense.
  bool unicode = false;                      ///< See dense.
  std::string apply;                         ///< A file of vectors, or -.
  bool symbols = false;                      ///< List the symbols.
  std::string nodes;                         ///< The nodes of B.
  std::string gravity;                       ///< In place of the model's.
  bool ideal = false;                        ///< Leave passive forces out.
  std::string order = "file";                ///< Or `paper`.
  std::vector<std::string> variables;        ///< Declared by `--let`.
  bool json = false;                         ///< For programs.
};

/// Reads the model and does with an expression what the mode says. Throws Error.
void operate(const OpArguments& arguments, const Operator& x, Mode mode);

/// Reads the model, and one expression after another until they end; see converse.
bool interact(const OpArguments& arguments, Variables variables);

}  // namespace bunraku::cli
