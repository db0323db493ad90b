/// @file
/// Files that a model is read from: bounded, and only from where the user allows.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/io/load.hpp"

namespace bunraku::io {

/// The largest file that is read: real robot descriptions are a hundred times smaller, and a hostile one of this size
/// is still refused within a second.
inline constexpr std::size_t max_file_bytes = std::size_t{8} << 20;
/// The most files that one model may be made of.
inline constexpr int max_files = 1000;
/// The deepest chain of files that include one another.
inline constexpr int max_include_depth = 32;

/// The whole file, or what a pipe gives. Throws ModelError at `where` when it is missing, a folder, larger than `most`
/// bytes or unreadable.
std::string read_file(const std::filesystem::path& path, const SourceLocation& where,
                      std::size_t most = max_file_bytes);

/// The whole of a stream, `most` bytes of it. Throws as read_file.
BUNRAKU_API std::string read_stream(std::istream& in, const SourceLocation& where, std::size_t most = max_file_bytes);

/// Looks up what a model file names: in the file's own folder, the search paths and ROS_PACKAGE_PATH.
class PathResolver {
 public:
  /// `folder` is the model file's own; empty for text that is in no file.
  PathResolver(const std::filesystem::path& folder, const LoadOptions& options);

  /// The existing file or folder that `uri` means (`package://`, `model://`, `file://`, relative or absolute), or an
  /// empty path. `base` is where relative names start, the model file's folder if empty. Nothing is read.
  std::filesystem::path find(std::string_view uri, const std::filesystem::path& base = {}) const;
  /// As find, for a file that is to be read: throws ModelError at `where` when there is none, or when it lies outside
  /// of the folder around the model's own and the search paths.
  std::filesystem::path find_to_read(std::string_view uri, const SourceLocation& where,
                                     const std::filesystem::path& base = {}) const;

 private:
  bool allowed(const std::filesystem::path& path) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> search_paths_;
};

}  // namespace bunraku::io
