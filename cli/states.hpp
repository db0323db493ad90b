/// @file
/// States that a command works on: one from the options, or many from a file of JSON lines.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bunraku/model/model.hpp"

namespace bunraku::cli {

/// One state; a vector that was not given is empty.
struct GivenState {
  std::vector<double> q;    ///< Configuration.
  std::vector<double> v;    ///< Velocity.
  std::vector<double> a;    ///< Acceleration.
  std::vector<double> tau;  ///< Hinge torques.
};

/// Which of a state's vectors are needed.
struct Needs {
  bool q = false;    ///< Configuration.
  bool v = false;    ///< Velocity.
  bool a = false;    ///< Acceleration.
  bool tau = false;  ///< Hinge torques.
};

/// What needs each of a state's vectors, as messages name it; a vector whose list is empty is not needed.
struct Users {
  std::vector<std::string> q;    ///< Of the configuration.
  std::vector<std::string> v;    ///< Of the velocity.
  std::vector<std::string> a;    ///< Of the acceleration.
  std::vector<std::string> tau;  ///< Of the hinge torques.
};

/// The options that give states, and what they give.
struct StateArguments {
  std::string q;       ///< Numbers, separated by spaces or commas.
  std::string v;       ///< Likewise.
  std::string a;       ///< Likewise.
  std::string tau;     ///< Likewise.
  std::string states;  ///< A file of JSON lines, or -.

  /// Adds the options to a command.
  void add_to(CLI::App& command);
  /// Calls f with each state in turn, its vectors checked for presence, size and finiteness. Throws ModelError with
  /// file and line for a bad line of a file, ArgumentError for a bad option.
  void for_each(const Model& model, const Users& users, const std::function<void(const GivenState&)>& f) const;
};

/// The model with the gravity of `--gravity X,Y,Z`, or with its own where the text is empty. Throws ArgumentError.
Model with_gravity(Model model, const std::string& text);

/// Numbers separated by spaces or commas. Throws ArgumentError that names the option and the bad number.
std::vector<double> parse_numbers(const std::string& text, const std::string& option);

}  // namespace bunraku::cli
