/// @file
/// The closed systems of the benchmark `closed`: mechanisms built here, and files.
#pragma once

#include <string>
#include <vector>

#include <bunraku/bunraku.hpp>

namespace bench {

/// A tree with its closures, as all sides see it.
struct ClosedRobot {
  std::string name;
  bunraku::Model model;
  /// Whether all of it moves in planes across one axis: then a revolute closure says no more than that two points
  /// coincide, which is how Pinocchio can be told.
  bool planar = false;
};

/// One state that satisfies the closures, with torques.
struct ClosedState {
  std::vector<double> q, v, torque;
};

/// An arm of seven revolute hinges as those of collaborative robots; node `hand` at its end.
bunraku::Model arm_of_seven();
/// A free body.
bunraku::Model free_object();

/// The names of all systems.
std::vector<std::string> closed_names();
/// These systems, all where none are named: those built here, and those of the files in a folder; says on stderr which
/// files are not there. Throws std::runtime_error where a named one is missing.
std::vector<ClosedRobot> load_closed(const std::vector<std::string>& names, const std::string& folder);

/// Random states about the initial configuration, closed, with velocities that fit: the same on every run. Throws
/// std::runtime_error where the loops do not close.
std::vector<ClosedState> closed_states(const bunraku::Model& model, std::size_t count);

}  // namespace bench
