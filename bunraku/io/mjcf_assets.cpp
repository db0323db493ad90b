#include <filesystem>
#include <utility>

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
  MeshAsset mesh;
  mesh.element = element;
  mesh.uri = element.attribute("file").value_or("");
  mesh.scale = attributes.vector("scale", {1, 1, 1});
  const std::string_view inside = attributes.word("inertia", "legacy", mesh_insides);
  mesh.inside = inside == "convex"  ? MeshInside::convex
                : inside == "exact" ? MeshInside::exact
                : inside == "shell" ? MeshInside::shell
                                    : MeshInside::legacy;
  mesh.reference.translation = element.vector("refpos", Vec3<double>::zero());
  if (const auto q = element.numbers("refquat", 4, 4)) {
    const Quaternion<double> turn{(*q)[0], (*q)[1], (*q)[2], (*q)[3]};
    mesh.reference.rotation = turn.norm() > 0 ? Rotation<double>(turn.normalized()) : Rotation<double>::identity();
  }
  read_vertices(element, mesh.own);
  const std::string name = asset_name(element, mesh.uri);
  if (!mesh.uri.empty()) {
    const fs::path file = shared_.settings.strip_path ? fs::path(without_folder(mesh.uri)) : fs::path(mesh.uri);
    mesh.uri = (shared_.settings.mesh_folder / file).string();
    mesh.path = shared_.context.paths.find(mesh.uri).string();
  }
  add_asset(element, name, meshes_, std::move(mesh));
}

/// Vertices and faces that stand in the model file; without faces those of the convex hull are meant.
void MjcfAssets::read_vertices(const XmlElement& element, io::Mesh& mesh) {
  const auto vertices = element.numbers("vertex", 12, 3 * max_mesh_parts);
  const auto faces = element.numbers("face", 3, 3 * max_mesh_parts);
  if (!vertices) {
    return;
  }
  for (std::size_t i = 0; i + 2 < vertices->size(); i += 3) {
    mesh.vertices.push_back({(*vertices)[i], (*vertices)[i + 1], (*vertices)[i + 2]});
  }
  if (!faces) {
    return;
  }
  const auto count = static_cast<double>(mesh.vertices.size());
  for (std::size_t i = 0; i + 2 < faces->size(); i += 3) {
    std::array<int, 3> corners{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double index = (*faces)[i + k];
      if (index < 0 || index >= count) {
        element.error(fmt::format("a face of {} names the vertex {}, but there are {}", element.description(), index,
                                  mesh.vertices.size()),
                      "number the vertices from 0");
        return;
      }
      corners[k] = static_cast<int>(index);
    }
    mesh.faces.push_back(corners);
  }
}

MjcfAssets::Weighed MjcfAssets::weigh(const MeshAsset& asset, MeshInside inside) const {
  Weighed out;
  std::optional<io::Mesh> mesh;
  if (!asset.own.vertices.empty()) {
    mesh = asset.own;
  } else if (asset.uri.empty()) {
    out.problem = "it is made by MuJoCo itself";
  } else if (asset.path.empty()) {
    out.problem = "its file is not found";
  } else {
    mesh = io::read_mesh(asset.path, bytes_left_, out.problem);
  }
  if (!mesh) {
    return out;
  }
  const Rotation<double> turn = asset.reference.rotation.inverse();
  for (Vec3<double>& v : mesh->vertices) {
    v = turn * (v - asset.reference.translation);
    v = {v.x * asset.scale.x, v.y * asset.scale.y, v.z * asset.scale.z};
  }
  if (asset.scale.x * asset.scale.y * asset.scale.z < 0) {  // a mirror turns it inside out
    for (std::array<int, 3>& face : mesh->faces) {
      std::swap(face[0], face[1]);
    }
  }
  if (mesh->faces.empty() && inside != MeshInside::convex) {
    mesh = convex_hull(mesh->vertices).value_or(io::Mesh());
  }
  out.properties = mesh_properties(*mesh, inside);
  if (!out.properties) {
    out.problem = inside == MeshInside::convex ? "it has no convex hull" : "it has no volume";
  } else if (out.properties->volume < 0) {
    asset.element.warning(
        fmt::format("{} is turned inside out: its volume is taken as positive", asset.element.description()),
        "turn its triangles, or write inertia=\"legacy\"");
    out.properties->volume *= -1;
    out.properties->central = out.properties->central * -1.0;
  }
  return out;
}

std::optional<MeshProperties> MjcfAssets::weigh(std::string_view name, bool shell, std::string& problem) const {
  const auto at = meshes_.find(name);
  if (at == meshes_.end()) {
    problem = "there is none of that name";  // reported
    return std::nullopt;
  }
  const auto [known, fresh] = weighed_.try_emplace({std::string(name), shell});
  if (fresh) {
    known->second = weigh(at->second, shell ? MeshInside::shell : at->second.inside);
  }
  problem = known->second.problem;
  return known->second.properties;
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
