#include "bunraku/io/load.hpp"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "bunraku/io/detail/readers.hpp"

namespace bunraku {

namespace fs = std::filesystem;

namespace {

ModelBuilder read(io::XmlDocument& document, const io::ReaderContext& context) {
  const io::XmlElement root = document.root();
  const std::string_view tag = root.name();
  if (tag == "robot") {
    return io::read_urdf(document, context);
  }
  if (tag == "mujoco") {
    return io::read_mjcf(document, context);
  }
  if (tag == "sdf" || tag == "gazebo") {
    return io::read_sdf(document, context);
  }
  throw ModelError(root.where(), fmt::format("the root element {} is of no known format", root.description()),
                   "give a URDF (<robot>), MJCF (<mujoco>) or SDF (<sdf>) file");
}

/// A file of loop closures and its text.
struct LoopFile {
  std::string name;
  std::string text;
};

Model load_parsed(std::string_view text, const std::string& name, const fs::path& folder,
                  const std::optional<LoopFile>& loops, const LoadOptions& options) {
  std::vector<Problem> problems;
  const io::PathResolver paths(folder, options);
  io::XmlDocument document(text, name, problems);
  ModelBuilder builder = read(document, {options, paths, problems});
  if (loops) {
    io::read_loops(loops->text, loops->name, builder, problems);
  }
  for (Problem& problem : problems) {
    builder.report(std::move(problem));
  }
  if (!options.merge_fixed) {
    return builder.build(options.strictness);
  }
  return merge_fixed(builder.build(options.strictness));
}

}  // namespace

Model load(const std::string& path, const LoadOptions& options) {
  const fs::path file(path);
  const std::string text = io::read_file(file, {});
  std::optional<LoopFile> loops;
  if (fs::path beside = file; file.extension() == ".urdf") {
    beside.replace_extension(".yaml");
    std::error_code error;
    if (fs::is_regular_file(beside, error)) {
      loops = LoopFile{beside.string(), io::read_file(beside, {})};
    }
  }
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return load_parsed(text, path, folder, loops, options);
}

Model load_text(std::string_view text, const std::string& name, const LoadOptions& options) {
  if (text.size() > io::max_file_bytes) {
    throw ModelError({name, 0}, fmt::format("the text has {} bytes, more than the {} that a model may have",
                                            text.size(), io::max_file_bytes));
  }
  return load_parsed(text, name, {}, std::nullopt, options);
}

}  // namespace bunraku
