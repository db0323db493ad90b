/// @file
/// The parts of the URDF reader.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bunraku/io/detail/readers.hpp"

namespace bunraku::io {

/// The pose that the attributes `xyz` and `rpy` of an element say.
Transform<double> read_urdf_pose(const XmlElement& element);
/// The pose that the `<origin>` of an element says; the identity without one.
Transform<double> read_urdf_origin(const XmlElement& parent);

/// Reads shapes and materials. What is wrong with them is a warning: no inertia depends on them.
class UrdfShapes {
 public:
  explicit UrdfShapes(const ReaderContext& context) : context_(context) {}

  /// Reads the materials that a robot describes for all its links.
  void read_materials(const XmlElement& robot);
  /// The `<visual>`s or `<collision>`s of a link.
  std::vector<Geometry> read(const XmlElement& link, const char* tag);

 private:
  struct Material {
    std::optional<std::array<double, 4>> color;
    std::string texture;
  };

  bool read_shape(const XmlElement& geometry, Geometry& shape) const;
  void read_material(const XmlElement& visual, Geometry& shape);
  static Material read_material_body(const XmlElement& material);

  const ReaderContext& context_;
  std::map<std::string, Material, std::less<>> materials_;
};

}  // namespace bunraku::io
