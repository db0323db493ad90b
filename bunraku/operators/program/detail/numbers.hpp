/// @file
/// Spatial vectors in arrays of numbers.
#pragma once

#include "bunraku/export.hpp"
#include "bunraku/spatial/vec6.hpp"

namespace bunraku::operators {

/// The force at x.
BUNRAKU_INLINE Force<double> force_at(const double* x) {
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}
/// The motion at x.
BUNRAKU_INLINE Motion<double> motion_at(const double* x) {
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

/// Writes six numbers.
BUNRAKU_INLINE void put(double* out, const Vec3<double>& upper, const Vec3<double>& lower) {
  out[0] = upper.x;
  out[1] = upper.y;
  out[2] = upper.z;
  out[3] = lower.x;
  out[4] = lower.y;
  out[5] = lower.z;
}
/// Writes a force.
BUNRAKU_INLINE void put(double* out, const Force<double>& f) {
  put(out, f.moment, f.force);
}
/// Writes a motion.
BUNRAKU_INLINE void put(double* out, const Motion<double>& m) {
  put(out, m.angular, m.linear);
}
/// Adds six numbers.
BUNRAKU_INLINE void add(double* out, const Vec3<double>& upper, const Vec3<double>& lower) {
  out[0] += upper.x;
  out[1] += upper.y;
  out[2] += upper.z;
  out[3] += lower.x;
  out[4] += lower.y;
  out[5] += lower.z;
}
/// Adds a force.
BUNRAKU_INLINE void add(double* out, const Force<double>& f) {
  add(out, f.moment, f.force);
}

}  // namespace bunraku::operators
