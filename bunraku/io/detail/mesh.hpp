/// @file
/// Meshes of triangles: read from files, and what they weigh.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bunraku/spatial/mat3.hpp"
#include "bunraku/spatial/vec3.hpp"

namespace bunraku::io {

/// The largest mesh file that is read.
inline constexpr std::size_t max_mesh_bytes = std::size_t{64} << 20;
/// The most triangles, and the most vertices, that a mesh may have.
inline constexpr std::size_t max_mesh_parts = 2'000'000;

/// Triangles between vertices, counterclockwise as seen from outside.
struct Mesh {
  std::vector<Vec3<double>> vertices;
  std::vector<std::array<int, 3>> faces;
};

/// What is inside of a mesh.
enum class MeshInside {
  exact,   ///< What its surface encloses: the surface must be closed, and its triangles turned outward.
  legacy,  ///< MuJoCo's default: the pyramids over all triangles, each counted as positive. Exact for convex meshes.
  convex,  ///< Its convex hull.
  shell,   ///< The surface alone.
};

/// Volume (of a shell: area), centre, and moments about it for unit density.
struct MeshProperties {
  double volume = 0;
  Vec3<double> center = {};
  Sym3<double> central = {};
};

/// What a mesh weighs. The volume of a mesh that is turned inside out is negative (exact alone). Nothing where there is
/// no volume, or no hull. O(n) in the number of triangles; a hull O(n log n) for all but hostile meshes.
std::optional<MeshProperties> mesh_properties(const Mesh& mesh, MeshInside inside);

/// The smallest convex mesh around points; nothing where they lie in a plane to rounding, or are beyond max_mesh_parts.
std::optional<Mesh> convex_hull(const std::vector<Vec3<double>>& points);

/// Reads a file in STL, OBJ, PLY, Collada, glTF or MuJoCo's own format. Nothing where that is not possible, with the
/// reason in `problem`. `bytes_left` bounds what may be read in all, and is counted down.
std::optional<Mesh> read_mesh(const std::filesystem::path& path, std::size_t& bytes_left, std::string& problem);

}  // namespace bunraku::io
