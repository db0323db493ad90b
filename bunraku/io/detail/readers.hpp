/// @file
/// The readers of the formats. Each turns one parsed file into a builder; problems are reported to `problems`, and
/// what cannot be gone on from is thrown as ModelError.
#pragma once

#include <string>
#include <vector>

#include "bunraku/io/detail/files.hpp"
#include "bunraku/io/detail/xml.hpp"
#include "bunraku/model/builder.hpp"

namespace bunraku::io {

struct YamlValue;

/// The cure where a joint mimics one that does not exist.
inline constexpr const char* missing_leader_cure =
    "correct the name, or leave the joint free: free_mimics in LoadOptions, --free-mimics at the command line";

/// What every reader needs to know.
struct ReaderContext {
  const LoadOptions& options;      ///< The user's wishes.
  const PathResolver& paths;       ///< For meshes and included files.
  std::vector<Problem>& problems;  ///< Where problems go.
};

/// Reads a `<robot>`.
ModelBuilder read_urdf(XmlDocument& document, const ReaderContext& context);
/// Reads a `<mujoco>`.
ModelBuilder read_mjcf(XmlDocument& document, const ReaderContext& context);
/// Reads an `<sdf>`.
ModelBuilder read_sdf(XmlDocument& document, const ReaderContext& context);
/// Adds what the YAML file beside a URDF says to its builder: loop closures, and which links are flexible.
void read_loops(std::string_view text, const std::string& file, ModelBuilder& builder, const ReaderContext& context);
/// Makes the links that a list names flexible: beams, or modal data from files. What is wrong is reported to the
/// context.
void read_flexible(const YamlValue& list, const std::string& file, ModelBuilder& builder, const ReaderContext& context);

}  // namespace bunraku::io
