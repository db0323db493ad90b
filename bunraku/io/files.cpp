#include "bunraku/io/detail/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <istream>
#include <system_error>

#include <fmt/format.h>

namespace bunraku::io {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path, const SourceLocation& where, std::size_t most) {
  const SourceLocation at = where.file.empty() ? SourceLocation{path.string(), 0} : where;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw ModelError(at, fmt::format("there is no file '{}'", path.string()), "check the path");
  }
  if (!fs::exists(status)) {  // a circle of links, a folder that may not be entered, a name that is too long
    throw ModelError(at, fmt::format("'{}' cannot be read: {}", path.string(), error.message()), "check the path");
  }
  if (fs::is_directory(status)) {
    throw ModelError(at, fmt::format("'{}' is a folder", path.string()), "give the path of a model file");
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw ModelError(at, fmt::format("'{}' cannot be read: {}", path.string(), std::generic_category().message(errno)),
                     "check its permissions");
  }
  return read_stream(in, at, most);
}

std::string read_stream(std::istream& in, const SourceLocation& where, std::size_t most) {
  // by blocks, since a pipe has no size and a file may grow
  std::string text;
  constexpr std::size_t block = std::size_t{1} << 16;
  while (in && text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + block);
    in.read(text.data() + before, static_cast<std::streamsize>(block));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) {
    throw ModelError(where, "the file cannot be read to its end", "check that it is a file and its permissions");
  }
  if (text.size() > most) {
    throw ModelError(where, fmt::format("the file has more than the {} bytes that a model file may have", most),
                     "keep meshes and other data in files of their own");
  }
  return text;
}

PathResolver::PathResolver(const fs::path& folder, const LoadOptions& options) {
  if (!folder.empty()) {
    std::error_code error;  // absolute, so that the package around the file is found from wherever it is named
    const fs::path whole = fs::absolute(folder, error);
    folder_ = (error ? folder : whole).lexically_normal();
    if (!folder_.has_filename()) {
      folder_ = folder_.parent_path();
    }
  }
  search_paths_.assign(options.search_paths.begin(), options.search_paths.end());
  if (const char* ros = std::getenv("ROS_PACKAGE_PATH"); ros != nullptr) {
    std::string_view rest(ros);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) {
        search_paths_.emplace_back(rest.substr(0, end));
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

namespace {

/// `path` where it exists. Odd names (too long, with a NUL) count as missing.
fs::path if_exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !error ? path : fs::path();
}

/// Splits "package://name/rest" and the like; false for a URI of another kind.
bool split_scheme(std::string_view uri, std::string_view scheme, std::string_view& rest) {
  if (!uri.starts_with(scheme)) {
    return false;
  }
  rest = uri.substr(scheme.size());
  return true;
}

}  // namespace

fs::path PathResolver::find(std::string_view uri, const fs::path& base) const {
  std::string_view rest = uri;
  if (split_scheme(uri, "package://", rest) || split_scheme(uri, "model://", rest)) {
    // a search path either holds the package's folder or is that folder
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view package = rest.substr(0, slash);
    const std::string_view inside = rest.substr(std::min(slash + 1, rest.size()));
    if (const fs::path normal = fs::path(inside).lexically_normal();
        !normal.empty() && (normal.is_absolute() || *normal.begin() == "..")) {
      return {};  // leads out of the package
    }
    for (const fs::path& folder : search_paths_) {
      if (fs::path found = if_exists(folder / rest); !found.empty()) {
        return found;
      }
      if (folder.filename() == package) {
        if (fs::path found = if_exists(folder / inside); !found.empty()) {
          return found;
        }
      }
    }
    // the usual layout: the model file lies somewhere inside the package
    for (fs::path folder = folder_; !folder.empty() && folder != folder.parent_path(); folder = folder.parent_path()) {
      if (folder.filename() == package) {
        return if_exists(folder / inside);
      }
    }
    return {};
  }
  split_scheme(uri, "file://", rest);
  if (rest.empty() || rest.find("://") != std::string_view::npos) {
    return {};
  }
  const fs::path path(rest);
  if (path.is_absolute()) {
    return if_exists(path);
  }
  const fs::path& start = base.empty() ? folder_ : base;
  if (!start.empty()) {
    if (fs::path found = if_exists(start / path); !found.empty()) {
      return found;
    }
  }
  for (const fs::path& folder : search_paths_) {
    if (fs::path found = if_exists(folder / path); !found.empty()) {
      return found;
    }
  }
  return {};
}

bool PathResolver::allowed(const fs::path& path) const {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error) {
    return false;
  }
  const auto inside = [&](const fs::path& folder) {
    const fs::path root = fs::weakly_canonical(folder, error);
    return !error && !root.empty() &&
           std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
  };
  // the folder around the file's own, unless that is all there is, has what models share: ../common/scene.xml
  const fs::path around = folder_.parent_path();
  return (!folder_.empty() && inside(around.has_relative_path() ? around : folder_)) ||
         std::any_of(search_paths_.begin(), search_paths_.end(), inside);
}

fs::path PathResolver::find_to_read(std::string_view uri, const SourceLocation& where, const fs::path& base) const {
  const fs::path found = find(uri, base);
  if (found.empty()) {
    throw ModelError(where, fmt::format("'{}' is not found", uri),
                     "put it beside the model file, or name its folder with a search path");
  }
  if (!allowed(found)) {
    throw ModelError(
        where, fmt::format("'{}' lies outside of the model's folder, the one around it and the search paths", uri),
        "name its folder with a search path if it is meant to be read");
  }
  return found;
}

}  // namespace bunraku::io
