/// @file
/// What simple shapes weigh.
#pragma once

#include <string_view>

#include "bunraku/spatial/vec3.hpp"

namespace bunraku::io {

/// Volume (of a hollow shape: area) and the principal moments for unit mass.
struct Solid {
  double volume = 0;
  Vec3<double> moments = {};
};

/// A full `sphere`, `cylinder`, `capsule`, `ellipsoid` or `box`, about its centre. `s` is its size as MJCF has it:
/// radii and half lengths.
Solid full_shape(std::string_view type, const Vec3<double>& s);
/// The surface of one alone; that of an ellipsoid is good to a percent.
Solid hollow_shape(std::string_view type, const Vec3<double>& s);

}  // namespace bunraku::io
