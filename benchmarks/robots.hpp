/// @file
/// The robots of the benchmarks, and random states of theirs.
#pragma once

#include <string>
#include <vector>

#include <bunraku/bunraku.hpp>

namespace bench {

/// A robot as all sides see it.
struct Robot {
  std::string name;
  bunraku::Model model;
  bool uncoupled = false;  ///< Mimic couplings were taken out.
};

/// One state, with what inverse and forward dynamics start from.
struct State {
  std::vector<double> q, v, acceleration, torque;
};

/// What becomes of hinges that mimic others.
enum class Couplings { kept, taken_out };

/// The robots that are measured unless others are named.
std::vector<std::string> robot_names();

/// Where the URDF files are looked for unless another folder is named.
std::string default_models();

/// Reads these robots from DIR/urdf or DIR; says on stderr, as `program`, which are not there. With none named, all of
/// robot_names() that there are, or else the project's own model. Throws std::runtime_error where a named one is
/// missing.
std::vector<Robot> load_robots(const char* program, const std::vector<std::string>& names, const std::string& folder,
                               Couplings couplings);

/// 𝓜⁻¹ as an expression: with armature where the model has some.
bunraku::Operator inverse_mass(const bunraku::Model& model);

/// Random states, the same on every run.
std::vector<State> random_states(const bunraku::Model& model, std::size_t count);

}  // namespace bench
