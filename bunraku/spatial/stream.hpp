/// @file
/// Spatial types as text for people: `std::cout << pose`. A header of its own, so that nobody else pays for streams.
/// Numbers are written with the stream's own precision and flags.
#pragma once

#include <ostream>

#include "bunraku/spatial/articulated_inertia.hpp"

namespace bunraku {

/// (x, y, z).
template <class T>
std::ostream& operator<<(std::ostream& out, const Vec3<T>& v) {
  return out << '(' << v.x << ", " << v.y << ", " << v.z << ')';
}
/// Row by row: [a, b, c; d, e, f; g, h, i].
template <class T>
std::ostream& operator<<(std::ostream& out, const Mat3<T>& m) {
  for (int i = 0; i < 3; ++i) {
    out << (i == 0 ? "[" : "; ") << m(i, 0) << ", " << m(i, 1) << ", " << m(i, 2);
  }
  return out << ']';
}
/// As the full matrix.
template <class T>
std::ostream& operator<<(std::ostream& out, const Sym3<T>& m) {
  return out << m.full();
}
/// Six rows, each on a line of its own.
template <class T>
std::ostream& operator<<(std::ostream& out, const Mat6<T>& m) {
  for (int i = 0; i < 6; ++i) {
    out << (i == 0 ? "[" : ";\n ");
    for (int j = 0; j < 6; ++j) {
      out << (j == 0 ? "" : ", ") << m(i, j);
    }
  }
  return out << ']';
}
/// (w; x, y, z).
template <class T>
std::ostream& operator<<(std::ostream& out, const Quaternion<T>& q) {
  return out << '(' << q.w << "; " << q.x << ", " << q.y << ", " << q.z << ')';
}
/// Its matrix.
template <class T>
std::ostream& operator<<(std::ostream& out, const Rotation<T>& r) {
  return out << r.matrix();
}
/// {rotation [...], translation (...)}.
template <class T>
std::ostream& operator<<(std::ostream& out, const Transform<T>& x) {
  return out << "{rotation " << x.rotation << ", translation " << x.translation << '}';
}
/// {angular (...), linear (...)}.
template <class T>
std::ostream& operator<<(std::ostream& out, const Motion<T>& v) {
  return out << "{angular " << v.angular << ", linear " << v.linear << '}';
}
/// {moment (...), force (...)}.
template <class T>
std::ostream& operator<<(std::ostream& out, const Force<T>& f) {
  return out << "{moment " << f.moment << ", force " << f.force << '}';
}
/// {mass ..., first moment (...), inertia [...]}, about the origin.
template <class T>
std::ostream& operator<<(std::ostream& out, const RigidInertia<T>& m) {
  return out << "{mass " << m.mass << ", first moment " << m.first_moment << ", inertia " << m.inertia << '}';
}
/// {rotational [...], coupling [...], linear [...]}.
template <class T>
std::ostream& operator<<(std::ostream& out, const ArticulatedInertia<T>& p) {
  return out << "{rotational " << p.rotational << ", coupling " << p.coupling << ", linear " << p.linear << '}';
}

}  // namespace bunraku
