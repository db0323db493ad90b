/// @file
/// Writes models as URDF.
#pragma once

#include <string>
#include <vector>

#include "bunraku/model/model.hpp"

namespace bunraku {

/// All that URDF cannot say of a model, item by item: hinge types, springs, armature, closures, gravity, nodes and so
/// on. Empty when the model can be written without loss. O(N).
BUNRAKU_API std::vector<std::string> urdf_losses(const Model& model);

/// What to do about what URDF cannot say.
enum class UrdfLoss {
  refuse,  ///< Throw ModelError listing all of it.
  accept,  ///< Leave it out. Hinge types that URDF lacks are refused all the same.
};

/// How to write.
struct UrdfOptions {
  UrdfLoss loss = UrdfLoss::refuse;  ///< What to do about what URDF cannot say.
  /// The folder in which the text will be kept: names of meshes that were found are written relative to it. Empty: as
  /// they were read.
  std::string folder = {};
};

/// The model as URDF text. Reading it back gives the same bodies, hinges and coordinates, and two kinds of massless
/// links more: one at the hinge of each body whose frame is not there (named after the body, with `_hinge_frame`), and
/// one for each node. Throws ModelError by `options.loss`. O(N log N).
BUNRAKU_API std::string to_urdf(const Model& model, const UrdfOptions& options = {});

}  // namespace bunraku
