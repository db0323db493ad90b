/// @file
/// The robots of the benchmarks, and random states of theirs.
#pragma once

#include <string>
#include <vector>

#include <bunraku/bunraku.hpp>

#include "pinocchio_peer.hpp"

namespace bench {

/// A robot as both sides see it.
struct Robot {
  std::string name;
  bunraku::Model model;
  bool uncoupled = false;  ///< Mimic couplings were taken out.
};

/// One state, with what inverse and forward dynamics start from.
struct State {
  std::vector<double> q, v, acceleration, torque;
};

/// The robots that are measured unless others are named.
std::vector<std::string> robot_names();

/// Reads these robots from DIR/urdf or DIR; says on stderr which are not there. With none named, all of robot_names()
/// that there are, or else the project's own model. Throws std::runtime_error where a named one is missing.
std::vector<Robot> load_robots(const std::vector<std::string>& names, const std::string& folder);

/// Random states, the same on every run.
std::vector<State> random_states(const bunraku::Model& model, std::size_t count);

/// The same model in Pinocchio. Throws std::runtime_error for hinges that PinocchioPeer has not.
PinocchioPeer peer_of(const bunraku::Model& model);

}  // namespace bench
