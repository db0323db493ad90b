/// @file
/// Spatial quantities in another scalar.
#pragma once

#include "bunraku/spatial/inertia.hpp"

namespace bunraku::kernels {

/// A vector in another scalar.
template <class T, class S>
Vec3<T> cast(const Vec3<S>& v) {
  return {static_cast<T>(v.x), static_cast<T>(v.y), static_cast<T>(v.z)};
}
/// A motion in another scalar.
template <class T, class S>
Motion<T> cast(const Motion<S>& v) {
  return {cast<T>(v.angular), cast<T>(v.linear)};
}
/// A matrix in another scalar.
template <class T, class S>
Mat3<T> cast(const Mat3<S>& m) {
  return Mat3<T>::from_columns(cast<T>(m.column(0)), cast<T>(m.column(1)), cast<T>(m.column(2)));
}
/// A pose in another scalar.
template <class T, class S>
Transform<T> cast(const Transform<S>& x) {
  return {Rotation<T>(cast<T>(x.rotation.matrix())), cast<T>(x.translation)};
}
/// An inertia in another scalar.
template <class T, class S>
RigidInertia<T> cast(const RigidInertia<S>& m) {
  const Sym3<S>& i = m.inertia;
  return {static_cast<T>(m.mass),
          cast<T>(m.first_moment),
          {static_cast<T>(i.xx), static_cast<T>(i.yy), static_cast<T>(i.zz), static_cast<T>(i.xy), static_cast<T>(i.xz),
           static_cast<T>(i.yz)}};
}

}  // namespace bunraku::kernels
