/// @file
/// Models whose hinges are coupled in all the ways that trees allow.
#pragma once

#include <string>
#include <vector>

#include "bunraku/model/model.hpp"

namespace bunraku::test {

/// A model with couplings, and the bodies that these tie together.
struct CoupledModel {
  std::string name;
  Model model;
  std::vector<std::vector<int>> clusters;
};

/// All the ways.
std::vector<CoupledModel> coupled_models(bool armature);

}  // namespace bunraku::test
