#include <filesystem>

#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_geometry.hpp"

namespace bunraku::io {

namespace fs = std::filesystem;

namespace {

std::string without_folder(std::string_view file) {
  const std::size_t slash = file.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1));
}

/// The name, or else the file's name without folder and extension.
std::string asset_name(const XmlElement& element, std::string_view file) {
  const std::string name(element.attribute("name").value_or(""));
  return name.empty() ? fs::path(without_folder(file)).stem().string() : name;
}

template <class Table, class Value>
void add_asset(const XmlElement& element, const std::string& name, Table& table, Value value) {
  if (name.empty()) {
    element.error(fmt::format("{} has neither a name nor a file", element.description()), "give it a name");
  } else if (!table.emplace(name, std::move(value)).second) {
    element.error(fmt::format("there is a second {} '{}'", element.name(), name), "give each a name of its own");
  }
}

}  // namespace

void MjcfAssets::read(const XmlElement& section) {
  section.mark_used();
  for (const XmlElement& child : shared_.files.children(section)) {
    if (child.name() == "mesh") {
      read_mesh(child);
    } else if (child.name() == "material") {
      read_material(child);
    } else if (child.name() == "texture") {
      read_texture(child);
    }
  }
}

void MjcfAssets::read_mesh(const XmlElement& element) {
  element.mark_used();
  const Attributes attributes(element, shared_.defaults,
                              shared_.defaults.named(element, "class", shared_.defaults.main()));
  Mesh mesh;
  mesh.uri = element.attribute("file").value_or("");
  mesh.scale = attributes.vector("scale", {1, 1, 1});
  const std::string name = asset_name(element, mesh.uri);
  if (!mesh.uri.empty()) {
    const fs::path file = shared_.settings.strip_path ? fs::path(without_folder(mesh.uri)) : fs::path(mesh.uri);
    mesh.uri = (shared_.settings.mesh_folder / file).string();
    mesh.path = shared_.context.paths.find(mesh.uri).string();
  }
  add_asset(element, name, meshes_, std::move(mesh));
}

void MjcfAssets::read_material(const XmlElement& element) {
  element.mark_used();
  const Lenient looks(element.document(), "it is not used");
  const Attributes attributes(element, shared_.defaults,
                              shared_.defaults.named(element, "class", shared_.defaults.main()));
  Material material;
  material.color = attributes.look("rgba").value_or(material.color);
  material.texture = attributes.text("texture");
  material.element = element;
  add_asset(element, std::string(element.required("name")), materials_, std::move(material));
}

void MjcfAssets::read_texture(const XmlElement& element) {
  element.mark_used();
  std::string file(element.attribute("file").value_or(""));
  const std::string name = asset_name(element, file);
  if (!name.empty()) {  // a texture without a name is a sky
    textures_.emplace(name, std::move(file));
  }
}

void MjcfAssets::check_textures() const {
  for (const auto& [name, material] : materials_) {
    if (!material.texture.empty() && !textures_.contains(material.texture)) {
      material.element.warning(
          fmt::format("{} names the texture '{}', which there is not{}", material.element.description(),
                      material.texture, shared_.suggestions(material.texture, textures_)),
          "add it to <asset>, or correct the name");
    }
  }
}

bool MjcfAssets::set_mesh(const XmlElement& geom, std::string_view name, Geometry& shape) const {
  const auto at = meshes_.find(name);
  if (at == meshes_.end()) {
    geom.error(fmt::format("{} names the mesh '{}', which there is not{}", geom.description(), name,
                           shared_.suggestions(name, meshes_)),
               "add it to <asset>, or correct the name");
    return false;
  }
  shape.type = ShapeType::mesh;
  shape.size = at->second.scale;
  shape.mesh_uri = at->second.uri;
  shape.mesh_path = at->second.path;
  return !shape.mesh_uri.empty();
}

void MjcfAssets::set_material(const XmlElement& geom, std::string_view name, Geometry& shape) const {
  const auto at = materials_.find(name);
  if (at == materials_.end()) {
    geom.warning(fmt::format("{} names the material '{}', which there is not{}", geom.description(), name,
                             shared_.suggestions(name, materials_)),
                 "add it to <asset>, or correct the name");
    return;
  }
  shape.material = at->first;
  shape.color = at->second.color;
  if (const auto texture = textures_.find(at->second.texture); texture != textures_.end()) {
    shape.texture = texture->second;
  }
}

}  // namespace bunraku::io
