/// @file
/// To and from Eigen. Everything here is inline and compiled with the user's flags; the library itself never hands
/// an Eigen object across its boundary.
#pragma once

#include <Eigen/Geometry>

#include "bunraku/export.hpp"
#include "bunraku/spatial/articulated_inertia.hpp"

namespace bunraku {

/// A 6-vector in Eigen, angular over linear.
template <class T>
using EigenVector6 = Eigen::Matrix<T, 6, 1>;
/// A 6×6 matrix in Eigen.
template <class T>
using EigenMatrix6 = Eigen::Matrix<T, 6, 6>;

/// Three numbers as an Eigen vector.
template <class T>
BUNRAKU_INLINE Eigen::Matrix<T, 3, 1> to_eigen(const Vec3<T>& v) {
  return {v.x, v.y, v.z};
}
/// A 3×3 matrix as Eigen's.
template <class T>
BUNRAKU_INLINE Eigen::Matrix<T, 3, 3> to_eigen(const Mat3<T>& m) {
  return Eigen::Map<const Eigen::Matrix<T, 3, 3, Eigen::RowMajor>>(&m.m[0][0]);
}
/// A symmetric matrix with all its elements.
template <class T>
BUNRAKU_INLINE Eigen::Matrix<T, 3, 3> to_eigen(const Sym3<T>& m) {
  return to_eigen(m.full());
}
/// A rotation as its matrix.
template <class T>
BUNRAKU_INLINE Eigen::Matrix<T, 3, 3> to_eigen(const Rotation<T>& r) {
  return to_eigen(r.matrix());
}
/// A pose as a homogeneous 4×4 matrix.
template <class T>
BUNRAKU_INLINE Eigen::Matrix<T, 4, 4> to_eigen(const Transform<T>& x) {
  Eigen::Matrix<T, 4, 4> m = Eigen::Matrix<T, 4, 4>::Identity();
  m.template topLeftCorner<3, 3>() = to_eigen(x.rotation);
  m.template topRightCorner<3, 1>() = to_eigen(x.translation);
  return m;
}
/// A pose as Eigen's own type for one.
template <class T>
BUNRAKU_INLINE Eigen::Transform<T, 3, Eigen::Isometry> to_isometry(const Transform<T>& x) {
  Eigen::Transform<T, 3, Eigen::Isometry> out;
  out.matrix() = to_eigen(x);
  return out;
}
/// A quaternion as Eigen's, whose constructor takes w first and whose coefficients are stored with w last.
template <class T>
BUNRAKU_INLINE Eigen::Quaternion<T> to_eigen(const Quaternion<T>& q) {
  return Eigen::Quaternion<T>(q.w, q.x, q.y, q.z);
}
/// (ω, v).
template <class T>
BUNRAKU_INLINE EigenVector6<T> to_eigen(const Motion<T>& v) {
  EigenVector6<T> x;
  x << v.angular.x, v.angular.y, v.angular.z, v.linear.x, v.linear.y, v.linear.z;
  return x;
}
/// (N, F).
template <class T>
BUNRAKU_INLINE EigenVector6<T> to_eigen(const Force<T>& f) {
  EigenVector6<T> x;
  x << f.moment.x, f.moment.y, f.moment.z, f.force.x, f.force.y, f.force.z;
  return x;
}
/// A 6×6 matrix as Eigen's.
template <class T>
BUNRAKU_INLINE EigenMatrix6<T> to_eigen(const Mat6<T>& m) {
  EigenMatrix6<T> x;
  x << to_eigen(m.a), to_eigen(m.b), to_eigen(m.c), to_eigen(m.d);
  return x;
}

/// The first three components of an Eigen vector.
template <class Derived>
BUNRAKU_INLINE Vec3<typename Derived::Scalar> vec3_from_eigen(const Eigen::MatrixBase<Derived>& v) {
  return {v[0], v[1], v[2]};
}
/// An Eigen 3×3 matrix as ours.
template <class Derived>
BUNRAKU_INLINE Mat3<typename Derived::Scalar> mat3_from_eigen(const Eigen::MatrixBase<Derived>& m) {
  return {{{m(0, 0), m(0, 1), m(0, 2)}, {m(1, 0), m(1, 1), m(1, 2)}, {m(2, 0), m(2, 1), m(2, 2)}}};
}
/// A homogeneous 4×4 matrix, whose upper left block is a rotation, as a pose.
template <class Derived>
BUNRAKU_INLINE Transform<typename Derived::Scalar> transform_from_eigen(const Eigen::MatrixBase<Derived>& m) {
  using T = typename Derived::Scalar;
  return {Rotation<T>(mat3_from_eigen(m.template topLeftCorner<3, 3>())),
          vec3_from_eigen(m.template topRightCorner<3, 1>())};
}
/// Eigen's own type for a pose as ours; `Eigen::Isometry3d` is one. Its linear part must be a rotation.
template <class T, int mode, int options>
BUNRAKU_INLINE Transform<T> transform_from_eigen(const Eigen::Transform<T, 3, mode, options>& x) {
  return {Rotation<T>(mat3_from_eigen(x.matrix().template topLeftCorner<3, 3>())),
          vec3_from_eigen(x.matrix().template topRightCorner<3, 1>())};
}
/// Eigen's quaternion as ours.
template <class T, int options>
BUNRAKU_INLINE Quaternion<T> quaternion_from_eigen(const Eigen::Quaternion<T, options>& q) {
  return {q.w(), q.x(), q.y(), q.z()};
}
/// (ω, v) from an Eigen 6-vector.
template <class Derived>
BUNRAKU_INLINE Motion<typename Derived::Scalar> motion_from_eigen(const Eigen::MatrixBase<Derived>& v) {
  return {vec3_from_eigen(v.template head<3>()), vec3_from_eigen(v.template tail<3>())};
}
/// (N, F) from an Eigen 6-vector.
template <class Derived>
BUNRAKU_INLINE Force<typename Derived::Scalar> force_from_eigen(const Eigen::MatrixBase<Derived>& f) {
  return {vec3_from_eigen(f.template head<3>()), vec3_from_eigen(f.template tail<3>())};
}

}  // namespace bunraku
