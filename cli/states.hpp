/// @file
/// States that a command works on: one from the options, or many from a file of JSON lines.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "bunraku/model/model.hpp"

namespace bunraku::cli {

/// Some of a state's vectors.
struct Needs {
  bool q = false;    ///< Configuration.
  bool v = false;    ///< Velocity.
  bool a = false;    ///< Acceleration.
  bool tau = false;  ///< Hinge torques.
};

/// One state. From a line, a vector that was not given is empty; from the options it is neutral or zero.
struct GivenState {
  std::vector<double> q;    ///< Configuration.
  std::vector<double> v;    ///< Velocity.
  std::vector<double> a;    ///< Acceleration.
  std::vector<double> tau;  ///< Hinge torques.
  Needs given;              ///< Which of them were given.
};

/// What needs each of a state's vectors, as messages name it; a vector whose list is empty is not needed.
struct Users {
  std::vector<std::string> q;         ///< Of the configuration.
  std::vector<std::string> v;         ///< Of the velocity.
  std::vector<std::string> a;         ///< Of the acceleration.
  std::vector<std::string> tau;       ///< Of the hinge torques.
  std::vector<std::string> a_or_tau;  ///< Of either of the last two, from which the other follows.
};

/// The options that give states, and what they give.
struct StateArguments {
  std::optional<std::string> q;    ///< Numbers, separated by spaces or commas.
  std::optional<std::string> v;    ///< Likewise.
  std::optional<std::string> a;    ///< Likewise.
  std::optional<std::string> tau;  ///< Likewise.
  std::string states;              ///< A file of JSON lines, or -.

  /// Adds the options to a command.
  void add_to(CLI::App& command);
  /// Calls f with each state in turn, its vectors checked for presence, size and finiteness. Throws ModelError with
  /// file and line for a bad line of a file, ArgumentError for a bad option.
  void for_each(const Model& model, const Users& users, const std::function<void(const GivenState&)>& f) const;
  /// Throws ArgumentError where states are given in two ways.
  void check() const;
  /// The one state of the options. Throws ArgumentError for a bad one.
  GivenState one(const Model& model) const;
};

/// Names all that is missing of a state, and what for; empty where nothing is.
std::string missing(const Users& users, const Needs& given);
/// What is wrong with a vector of another length.
std::string wrong_length(std::string_view name, std::size_t numbers, int wanted);

/// The model with the gravity of `--gravity X,Y,Z`, or with its own where the text is empty. Throws ArgumentError.
Model with_gravity(Model model, const std::string& text);

/// Numbers separated by spaces or commas, possibly none. Throws ArgumentError that names the option, and the number
/// that is bad or missing between two commas.
std::vector<double> parse_numbers(const std::string& text, const std::string& option);

}  // namespace bunraku::cli
