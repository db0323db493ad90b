/// @file
/// Reads models from files: URDF, MJCF, SDF, told apart by their content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bunraku/model/builder.hpp"

namespace bunraku {

/// How to read a file.
struct LoadOptions {
  /// URDF: the root link hangs on the world by a free hinge in place of a fixed one. (The other formats say it
  /// themselves and refuse the option.)
  bool free_base = false;
  /// A hinge that is to mimic one that does not exist is left free, with a warning, in place of an error.
  bool free_mimics = false;
  /// Bodies on fixed hinges become part of their parents: see merge_fixed.
  bool merge_fixed = false;
  /// Warnings are errors.
  Strictness strictness = Strictness::tolerant;
  /// Folders in which `package://`, `model://` and relative names are looked up after the file's own folder; those
  /// in ROS_PACKAGE_PATH follow. Included files must lie in one of these, or in the folder around the file's own.
  std::vector<std::string> search_paths = {};
  /// The file that closes a URDF's loops and says which of its links are flexible. Empty: `robot.yaml` beside
  /// `robot.urdf`, where there is one; "none": none.
  std::string loops = {};
};

/// Reads a model file of any format; see LoadOptions::loops for what closes a URDF's loops and makes its links
/// flexible. Throws ModelError with file, line and cure for everything that is wrong; what is understood but not used
/// is listed in Model::warnings(). Cost: linear in the size of the file.
BUNRAKU_API Model load(const std::string& path, const LoadOptions& options = {});

/// Reads a model from text, as `load` does from a file; `name` stands for the file in messages. Relative paths in
/// the text are looked up in the search paths alone.
BUNRAKU_API Model load_text(std::string_view text, const std::string& name, const LoadOptions& options = {});

}  // namespace bunraku
