/// @file
/// The shapes that bodies wear: for viewers, and for inertia where a file gives shapes in place of masses.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "bunraku/export.hpp"
#include "bunraku/spatial/transform.hpp"

namespace bunraku {

/// The kinds of shape, and what their `size` means.
enum class ShapeType {
  sphere,     ///< size.x: radius.
  box,        ///< size: the three full edge lengths.
  cylinder,   ///< size.x: radius, size.y: full length along z.
  capsule,    ///< size.x: radius, size.y: length of the cylinder along z, without the caps.
  ellipsoid,  ///< size: the three half axes.
  plane,      ///< size.x, size.y: full edge lengths, 0 for infinite; normal z.
  mesh,       ///< size: scale factors; see mesh_uri.
};
/// `sphere`, `box` and so on.
BUNRAKU_API std::string_view to_string(ShapeType type);

/// A shape on a body.
struct Geometry {
  std::string name = {};                                   ///< As in the file; may be empty.
  ShapeType type = ShapeType::sphere;                      ///< Which shape.
  Vec3<double> size = Vec3<double>::zero();                ///< Metres; see ShapeType.
  Transform<double> pose = Transform<double>::identity();  ///< Of the shape on the body.
  std::string mesh_uri = {};                               ///< The mesh as the file names it.
  std::string mesh_path = {};                              ///< Where it was found; empty when it was not.
  std::string material = {};                               ///< Name of the material; may be empty.
  std::optional<std::array<double, 4>> color = {};         ///< Red, green, blue, alpha in 0 … 1.
  std::string texture = {};                                ///< Texture file as the file names it.
};

}  // namespace bunraku
