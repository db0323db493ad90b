/// @file
/// What holds for a whole MJCF model: the compiler's settings, and how poses are written under them.
#pragma once

#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "bunraku/io/detail/mjcf_defaults.hpp"

namespace bunraku::io {

/// The deepest that bodies, frames and classes may be nested, through included files too.
inline constexpr int max_depth = 500;

/// Throws ModelError at the element when `depth` is beyond max_depth.
void check_depth(const XmlElement& element, int depth);

/// When geoms give a body its inertia.
enum class InertiaFromGeom {
  never,          ///< The body's `<inertial>` alone.
  always,         ///< Whatever `<inertial>` says.
  automatically,  ///< Where there is no `<inertial>`.
};

/// What `<compiler>` and `<option>` say.
struct MjcfSettings {
  bool degrees = true;                 ///< Unit of the angles in the file.
  std::string euler_sequence = "xyz";  ///< Axes; capital letters for fixed axes.
  bool autolimits = true;              ///< A range alone limits a joint.
  InertiaFromGeom inertia_from_geom = InertiaFromGeom::automatically;
  int first_group = 0;  ///< Groups of geoms that count for inertia.
  int last_group = 5;
  bool balance_inertia = false;  ///< Mend inertias that no body can have.
  double least_mass = 0;         ///< Of every body.
  double least_inertia = 0;      ///< Principal moments of every body.
  double total_mass = -1;        ///< All bodies are scaled to it if positive.
  bool strip_path = false;       ///< Mesh files are named without folders.
  std::string mesh_folder = {};  ///< Where mesh files are looked up.
  Vec3<double> gravity = standard_gravity;

  /// An angle of the file in radians.
  double radians(double angle) const { return degrees ? angle * (std::numbers::pi / 180) : angle; }
};

/// Reads all `<compiler>` and `<option>` sections; later ones win.
MjcfSettings read_settings(const std::vector<XmlElement>& sections, MjcfFiles& files);

/// The rotation that an element gives as quat, axisangle, xyaxes, zaxis or euler.
Rotation<double> read_orientation(const Attributes& attributes, const MjcfSettings& settings);
/// The pose that an element gives by `pos` and an orientation.
Transform<double> read_pose(const Attributes& attributes, const MjcfSettings& settings);
/// The pose that an element gives by `fromto`: halfway, z pointing from the second point to the first. `length` is
/// the distance of the points. Nothing when there is no fromto, or when it is wrong, which is reported.
std::optional<Transform<double>> read_fromto(const Attributes& attributes, double& length);

}  // namespace bunraku::io
