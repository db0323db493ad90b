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

/// A file of loop closures and flexible links, and its text.
struct LoopFile {
  std::string name;
  std::string text;
};

std::optional<LoopFile> find_loops(const fs::path& model, const LoadOptions& options) {
  if (options.loops == "none") {
    return std::nullopt;
  }
  fs::path file = options.loops;
  if (file.empty()) {
    file = model;
    file.replace_extension(".yaml");
    std::error_code error;
    if (model.extension() != ".urdf" || !fs::is_regular_file(file, error)) {
      return std::nullopt;
    }
  }
  return LoopFile{file.string(), io::read_file(file, {})};
}

/// Meshes are only looked up, so that a missing one is no error, but somebody will look for it.
void report_missing_meshes(const ModelBuilder& builder, std::vector<Problem>& problems) {
  int count = 0;
  Problem problem{Severity::warning, {}, {}, "name the folder that holds them with a search path"};
  for (const BodySpec& body : builder.bodies()) {
    for (const auto* shapes : {&body.visuals, &body.collisions}) {
      for (const Geometry& shape : *shapes) {
        if (shape.type == ShapeType::mesh && shape.mesh_path.empty() && count++ == 0) {
          problem.where = body.where;
          problem.text = fmt::format("the mesh '{}' of body '{}' is not found", shape.mesh_uri, body.name);
        }
      }
    }
  }
  if (count > 1) {
    problem.text += fmt::format(", nor are {} others", count - 1);
  }
  if (count > 0) {
    bunraku::detail::add_problem(problems, std::move(problem));
  }
}

Model load_parsed(std::string_view text, const std::string& name, const fs::path& folder,
                  const std::optional<LoopFile>& loops, const LoadOptions& options) {
  std::vector<Problem> problems;
  const io::PathResolver paths(folder, options);
  io::XmlDocument document(text, name, problems);
  const io::ReaderContext context{options, paths, problems};
  ModelBuilder builder = read(document, context);
  if (loops && document.root().name() == "robot") {
    io::read_loops(loops->text, loops->name, builder, context);
  } else if (loops) {
    throw ModelError({loops->name, 0}, "a loop file closes the loops of a URDF alone",
                     "MJCF and SDF say it themselves");
  }
  report_missing_meshes(builder, problems);
  for (Problem& problem : problems) {
    builder.report(std::move(problem));
  }
  const Model model = builder.build(options.strictness);
  return options.merge_fixed ? merge_fixed(model) : model;
}

}  // namespace

Model load(const std::string& path, const LoadOptions& options) {
  const fs::path file(path);
  const std::string text = io::read_file(file, {});
  const std::optional<LoopFile> loops = find_loops(file, options);
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
