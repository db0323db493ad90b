/// @file
/// Tries all statements on all systems.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bunraku/model/model.hpp"
#include "papers/table.hpp"

namespace bunraku::cli::papers {

/// How a statement is shown.
enum class Means {
  identity,   ///< Both sides by the operators.
  reference,  ///< One side by the operators, the other a dense matrix built without them.
  procedure,  ///< By a computation of its own.
};

/// What became of a statement.
struct Outcome {
  std::string id;                 ///< The item.
  std::string line;               ///< Which line of it.
  std::string statement;          ///< As an operator expression, or in words.
  std::string source;             ///< Where the papers have it.
  std::string note = {};          ///< What it says, or how it was read.
  Means means = Means::identity;  ///< How it is shown.
  Claim claim = Claim::holds;     ///< What is claimed.
  double tolerance = 0;           ///< The largest residual with which it holds.
  double random_residual = 0;     ///< The largest on random systems.
  double robot_residual = 0;      ///< The largest on robots.
  int samples = 0;                ///< Systems tried.
  std::string worst = {};         ///< The system with the largest.
  std::string error = {};         ///< Why it could not be evaluated: such a statement does not pass.
  bool proved = false;            ///< Whether the identities make both sides equal.

  /// The largest residual.
  double residual() const { return random_residual > robot_residual ? random_residual : robot_residual; }
  /// Whether it is a misprint.
  bool is_false() const { return claim == Claim::fails || claim == Claim::ill_typed; }
  /// Whether it is as it is claimed to be.
  bool pass() const;
};

/// A robot to try the statements on.
struct Robot {
  std::string name;  ///< For messages.
  Model model;       ///< As plain() gives it.
};

/// Says what is being done.
using Announce = std::function<void(const std::string&)>;

/// The outcomes, in the order of the items, each tried on no more than `samples` random systems. Only those of one item
/// where `id` is not empty: throws ArgumentError where there is none of that name.
std::vector<Outcome> run(const std::string& id, int samples, const std::vector<Robot>& robots,
                         const Announce& announce);

}  // namespace bunraku::cli::papers
