/// @file
/// Geoms of MJCF: shapes, what they weigh, and the assets that they use.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "bunraku/io/detail/mesh.hpp"
#include "bunraku/io/detail/mjcf_settings.hpp"
#include "bunraku/model/geometry.hpp"

namespace bunraku::io {

/// What all parts of the reader share.
struct MjcfShared {
  const ReaderContext& context;
  MjcfFiles& files;
  Suggestions& suggestions;
  Defaults& defaults;
  const MjcfSettings& settings;
};

/// Meshes and materials, by name.
class MjcfAssets {
 public:
  explicit MjcfAssets(const MjcfShared& shared) : shared_(shared) {}

  /// Reads an `<asset>` section.
  void read(const XmlElement& section);
  /// Reports materials whose texture is in no section.
  void check_textures() const;
  /// Makes a shape the mesh that `name` names. False when there is none (reported) or when it has no file.
  bool set_mesh(const XmlElement& geom, std::string_view name, Geometry& shape) const;
  /// What the mesh that `name` names weighs, and where; nothing where that cannot be known, with the reason in
  /// `problem`. `shell`: its surface alone, whatever the mesh itself says. Each file is read once.
  std::optional<MeshProperties> weigh(std::string_view name, bool shell, std::string& problem) const;
  /// Colours a shape by the material that `name` names; an unknown one is reported.
  void set_material(const XmlElement& geom, std::string_view name, Geometry& shape) const;

 private:
  struct MeshAsset {
    std::string uri;
    std::string path;
    Vec3<double> scale;
    MeshInside inside = MeshInside::legacy;
    Transform<double> reference = Transform<double>::identity();  // the frame that the mesh is seen in
    io::Mesh own = {};                                            // where the vertices stand in the file itself
    XmlElement element;
  };
  struct Weighed {
    std::optional<MeshProperties> properties;
    std::string problem;
  };
  struct Material {
    std::array<double, 4> color = {1, 1, 1, 1};
    std::string texture;
    XmlElement element;
  };

  void read_mesh(const XmlElement& element);
  static void read_vertices(const XmlElement& element, io::Mesh& mesh);
  Weighed weigh(const MeshAsset& asset, MeshInside inside) const;
  void read_material(const XmlElement& element);
  void read_texture(const XmlElement& element);

  MjcfShared shared_;
  std::map<std::string, MeshAsset, std::less<>> meshes_;
  mutable std::map<std::pair<std::string, bool>, Weighed> weighed_;
  mutable std::size_t bytes_left_ = 8 * max_mesh_bytes;
  std::map<std::string, Material, std::less<>> materials_;
  std::map<std::string, std::string, std::less<>> textures_;  // file by name
};

/// A geom on a body.
struct MjcfGeom {
  std::optional<Geometry> shape;  ///< Nothing for a kind of shape that is not kept.
  bool collides = true;           ///< Takes part in contacts.
  double mass = 0;                ///< As far as it counts for the body's inertia.
  /// The frame on the body in which its inertia is written: its own, at its centre of mass.
  Transform<double> pose = Transform<double>::identity();
  Sym3<double> central = {};  ///< About its centre of mass; diagonal for all but meshes.
};

/// Reads a `<geom>`. `X_BF` is the pose of the frame that it stands in. `weighs` says whether the body has its
/// inertia from geoms; `body` is for messages.
MjcfGeom read_geom(const XmlElement& element, const DefaultClass* inherited, const Transform<double>& X_BF, bool weighs,
                   const std::string& body, const MjcfAssets& assets, const MjcfShared& shared);

}  // namespace bunraku::io
