/// @file
/// The kinematics of each hinge type as templates on the scalar, and the one place that sorts the types out.
///
/// A law has the constants nq and nv and the static functions pose, joint_map, joint_map_rate, bias, integrate,
/// difference, neutral, normalize and nearest, documented at hinge_pose and its neighbours. To add a type: write its
/// law, add it to `visit_hinge_law`, to HingeType and to the table of names.
#pragma once

#include <numbers>
#include <utility>

#include "bunraku/model/hinge.hpp"
#include "bunraku/model/modal_law.hpp"

namespace bunraku::laws {

/// The turn about an axis that comes nearest to a rotation, in (−π, π].
template <class T>
T turn_about(const Vec3<T>& axis, const Rotation<T>& rotation) {
  using std::atan2;
  const Quaternion<T> x = rotation.quaternion();  // w ≥ 0
  return T(2) * atan2(dot(axis, Vec3<T>{x.x, x.y, x.z}), x.w);
}

/// Hinges whose joint map is the same at every q, seen from the child.
template <int N>
struct ConstantMap {
  static constexpr int nv = N;  ///< Velocity coordinates.

  /// dH*/dt = 0.
  template <class T>
  static void joint_map_rate(const Hinge&, const T*, const T*, Motion<T>* columns) {
    for (int i = 0; i < N; ++i) {
      columns[i] = Motion<T>::zero();
    }
  }
  /// (dH*/dt) v = 0.
  template <class T>
  static Motion<T> bias(const Hinge&, const T*, const T*) {
    return Motion<T>::zero();
  }
};

/// Hinges with plain coordinates: q' = q + v dt.
template <int N>
struct PlainCoordinates : ConstantMap<N> {
  static constexpr int nq = N;  ///< Configuration coordinates.

  /// q + v dt.
  template <class T>
  static void integrate(const Hinge&, const T* q, const T* v, const T& dt, T* out) {
    for (int i = 0; i < N; ++i) {
      out[i] = q[i] + v[i] * dt;
    }
  }
  /// q1 − q0.
  template <class T>
  static void difference(const Hinge&, const T* q0, const T* q1, T* v) {
    for (int i = 0; i < N; ++i) {
      v[i] = q1[i] - q0[i];
    }
  }
  /// Zero.
  template <class T>
  static void neutral(const Hinge&, T* q) {
    for (int i = 0; i < N; ++i) {
      q[i] = T(0);
    }
  }
  /// Nothing to do.
  template <class T>
  static void normalize(T*) {}
};

/// No motion.
struct Fixed : PlainCoordinates<0> {
  /// The identity.
  template <class T>
  static Transform<T> pose(const Hinge&, const T*) {
    return Transform<T>::identity();
  }
  /// No columns.
  template <class T>
  static void joint_map(const Hinge&, const T*, Motion<T>*) {}
  /// Nothing.
  template <class T>
  static void nearest(const Hinge&, const Transform<T>&, T*) {}
};

/// A turn about an axis; continuous hinges obey it too.
struct Revolute : PlainCoordinates<1> {
  /// R(axis, q).
  template <class T>
  static Transform<T> pose(const Hinge& h, const T* q) {
    return Transform<T>::rotate(Rotation<T>::about(cast<T>(h.axis), q[0]));
  }
  /// (axis, 0).
  template <class T>
  static void joint_map(const Hinge& h, const T*, Motion<T>* columns) {
    columns[0] = {cast<T>(h.axis), Vec3<T>::zero()};
  }
  /// The angle.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>& X, T* q) {
    q[0] = turn_about(cast<T>(h.axis), X.rotation);
  }
};

/// A slide along an axis.
struct Prismatic : PlainCoordinates<1> {
  /// axis · q.
  template <class T>
  static Transform<T> pose(const Hinge& h, const T* q) {
    return Transform<T>::translate(cast<T>(h.axis) * q[0]);
  }
  /// (0, axis).
  template <class T>
  static void joint_map(const Hinge& h, const T*, Motion<T>* columns) {
    columns[0] = {Vec3<T>::zero(), cast<T>(h.axis)};
  }
  /// The displacement.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>& X, T* q) {
    q[0] = dot(cast<T>(h.axis), X.translation);
  }
};

/// A screw.
struct Helical : PlainCoordinates<1> {
  /// Metres of travel a radian.
  template <class T>
  static T lead(const Hinge& h) {
    return T(h.pitch / (2 * std::numbers::pi));
  }
  /// R(axis, q) and axis · lead · q.
  template <class T>
  static Transform<T> pose(const Hinge& h, const T* q) {
    return {Rotation<T>::about(cast<T>(h.axis), q[0]), cast<T>(h.axis) * (lead<T>(h) * q[0])};
  }
  /// (axis, axis · lead).
  template <class T>
  static void joint_map(const Hinge& h, const T*, Motion<T>* columns) {
    columns[0] = {cast<T>(h.axis), cast<T>(h.axis) * lead<T>(h)};
  }
  /// The angle, with as many turns as the travel tells.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>& X, T* q) {
    using std::round;
    constexpr T turn = T(2 * std::numbers::pi);
    q[0] = turn_about(cast<T>(h.axis), X.rotation);
    if (h.pitch != 0) {
      q[0] += turn * round((dot(cast<T>(h.axis), X.translation) / lead<T>(h) - q[0]) / turn);
    }
  }
};

/// A turn about and a slide along one axis.
struct Cylindrical : PlainCoordinates<2> {
  /// R(axis, q0) and axis · q1.
  template <class T>
  static Transform<T> pose(const Hinge& h, const T* q) {
    return {Rotation<T>::about(cast<T>(h.axis), q[0]), cast<T>(h.axis) * q[1]};
  }
  /// (axis, 0), (0, axis).
  template <class T>
  static void joint_map(const Hinge& h, const T*, Motion<T>* columns) {
    columns[0] = {cast<T>(h.axis), Vec3<T>::zero()};
    columns[1] = {Vec3<T>::zero(), cast<T>(h.axis)};
  }
  /// Angle and displacement.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>& X, T* q) {
    q[0] = turn_about(cast<T>(h.axis), X.rotation);
    q[1] = dot(cast<T>(h.axis), X.translation);
  }
};

/// A cross joint: a turn about an axis on the parent, then one about an axis on the child.
struct Universal : PlainCoordinates<2> {
  /// R(axis, q0) R(axis2, q1).
  template <class T>
  static Transform<T> pose(const Hinge& h, const T* q) {
    return Transform<T>::rotate(Rotation<T>::about(cast<T>(h.axis), q[0]) * Rotation<T>::about(cast<T>(h.axis2), q[1]));
  }
  /// (R*(axis2, q1) axis, 0), (axis2, 0).
  template <class T>
  static void joint_map(const Hinge& h, const T* q, Motion<T>* columns) {
    columns[0] = {Rotation<T>::about(cast<T>(h.axis2), q[1]).inverse_times(cast<T>(h.axis)), Vec3<T>::zero()};
    columns[1] = {cast<T>(h.axis2), Vec3<T>::zero()};
  }
  /// The first axis, seen from the child, turns with −v1 about the second.
  template <class T>
  static void joint_map_rate(const Hinge& h, const T* q, const T* v, Motion<T>* columns) {
    joint_map(h, q, columns);
    columns[0].angular = cross(columns[0].angular, columns[1].angular) * v[1];
    columns[1] = Motion<T>::zero();
  }
  /// (dH*/dt) v.
  template <class T>
  static Motion<T> bias(const Hinge& h, const T* q, const T* v) {
    Motion<T> columns[2];
    joint_map_rate(h, q, v, columns);
    return columns[0] * v[0];
  }
  /// The first angle from where the second axis points, the second from what is left.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>& X, T* q) {
    using std::atan2;
    const Vec3<T> first = cast<T>(h.axis);
    const Vec3<T> second = cast<T>(h.axis2);
    const Vec3<T> there = X.rotation * second;
    q[0] = atan2(dot(first, cross(second, there)), dot(second, there) - dot(first, second) * dot(first, there));
    q[1] = turn_about(second, Rotation<T>::about(first, q[0]).inverse() * X.rotation);
  }
};

/// Motion in a plane: positions in the parent's axes, velocities in the child's.
struct Planar : ConstantMap<3> {
  static constexpr int nq = 3;  ///< x, y, angle.

  /// The direction of y.
  template <class T>
  static Vec3<T> second(const Hinge& h) {
    return cross(cast<T>(h.axis), cast<T>(h.axis2));
  }
  /// R(normal, q2) at x, y.
  template <class T>
  static Transform<T> pose(const Hinge& h, const T* q) {
    return {Rotation<T>::about(cast<T>(h.axis), q[2]), cast<T>(h.axis2) * q[0] + second<T>(h) * q[1]};
  }
  /// (0, x), (0, y), (normal, 0).
  template <class T>
  static void joint_map(const Hinge& h, const T*, Motion<T>* columns) {
    columns[0] = {Vec3<T>::zero(), cast<T>(h.axis2)};
    columns[1] = {Vec3<T>::zero(), second<T>(h)};
    columns[2] = {cast<T>(h.axis), Vec3<T>::zero()};
  }
  /// Place in the plane and angle.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>& X, T* q) {
    q[0] = dot(cast<T>(h.axis2), X.translation);
    q[1] = dot(second<T>(h), X.translation);
    q[2] = turn_about(cast<T>(h.axis), X.rotation);
  }
  /// exp of SE(2).
  template <class T>
  static void integrate(const Hinge&, const T* q, const T* v, const T& dt, T* out) {
    using std::cos;
    using std::sin;
    const Vec3<T> moved = exponential_translation(Motion<T>{{T(0), T(0), v[2] * dt}, {v[0] * dt, v[1] * dt, T(0)}});
    const T c = cos(q[2]);
    const T s = sin(q[2]);
    const T x = q[0];
    const T y = q[1];
    out[0] = x + c * moved.x - s * moved.y;
    out[1] = y + s * moved.x + c * moved.y;
    out[2] = q[2] + v[2] * dt;
  }
  /// log of SE(2), turning by at most half a turn: whole turns between the two angles do not count, since no constant
  /// velocity makes a whole turn and ends elsewhere.
  template <class T>
  static void difference(const Hinge&, const T* q0, const T* q1, T* v) {
    using std::cos;
    using std::remainder;
    using std::sin;
    const T turn = remainder(q1[2] - q0[2], T(2 * std::numbers::pi));
    const T c = cos(q0[2]);
    const T s = sin(q0[2]);
    const T dx = q1[0] - q0[0];
    const T dy = q1[1] - q0[1];
    const Vec3<T> p{c * dx + s * dy, c * dy - s * dx, T(0)};
    const Vec3<T> linear = logarithm_linear(Vec3<T>{T(0), T(0), turn}, p);
    v[0] = linear.x;
    v[1] = linear.y;
    v[2] = turn;
  }
  /// Zero.
  template <class T>
  static void neutral(const Hinge&, T* q) {
    q[0] = q[1] = q[2] = T(0);
  }
  /// Nothing to do.
  template <class T>
  static void normalize(T*) {}
};

/// Motion along three axes without turning.
struct Translational : PlainCoordinates<3> {
  /// (x, y, z).
  template <class T>
  static Transform<T> pose(const Hinge&, const T* q) {
    return Transform<T>::translate({q[0], q[1], q[2]});
  }
  /// (0, x), (0, y), (0, z).
  template <class T>
  static void joint_map(const Hinge&, const T*, Motion<T>* columns) {
    columns[0] = {Vec3<T>::zero(), Vec3<T>::unit_x()};
    columns[1] = {Vec3<T>::zero(), Vec3<T>::unit_y()};
    columns[2] = {Vec3<T>::zero(), Vec3<T>::unit_z()};
  }
  /// The place.
  template <class T>
  static void nearest(const Hinge&, const Transform<T>& X, T* q) {
    q[0] = X.translation.x;
    q[1] = X.translation.y;
    q[2] = X.translation.z;
  }
};

/// A ball joint, by a unit quaternion.
struct Spherical : ConstantMap<3> {
  static constexpr int nq = 4;  ///< w, x, y, z.

  /// The quaternion in q.
  template <class T>
  static Quaternion<T> quaternion(const T* q) {
    return {q[0], q[1], q[2], q[3]};
  }
  /// Writes a quaternion to q.
  template <class T>
  static void store(const Quaternion<T>& x, T* q) {
    q[0] = x.w;
    q[1] = x.x;
    q[2] = x.y;
    q[3] = x.z;
  }
  /// R(q).
  template <class T>
  static Transform<T> pose(const Hinge&, const T* q) {
    return Transform<T>::rotate(Rotation<T>(quaternion(q)));
  }
  /// (unit, 0) for each axis.
  template <class T>
  static void joint_map(const Hinge&, const T*, Motion<T>* columns) {
    columns[0] = {Vec3<T>::unit_x(), Vec3<T>::zero()};
    columns[1] = {Vec3<T>::unit_y(), Vec3<T>::zero()};
    columns[2] = {Vec3<T>::unit_z(), Vec3<T>::zero()};
  }
  /// The rotation.
  template <class T>
  static void nearest(const Hinge&, const Transform<T>& X, T* q) {
    store(X.rotation.quaternion(), q);
  }
  /// q exp(ω dt).
  template <class T>
  static void integrate(const Hinge&, const T* q, const T* v, const T& dt, T* out) {
    store((quaternion(q) * Quaternion<T>::exp(Vec3<T>{v[0], v[1], v[2]} * dt)).normalized(), out);
  }
  /// log(q0⁻¹ q1).
  template <class T>
  static void difference(const Hinge&, const T* q0, const T* q1, T* v) {
    const Vec3<T> r = (quaternion(q0).conjugate() * quaternion(q1)).log();
    v[0] = r.x;
    v[1] = r.y;
    v[2] = r.z;
  }
  /// (1, 0, 0, 0).
  template <class T>
  static void neutral(const Hinge&, T* q) {
    store(Quaternion<T>{}, q);
  }
  /// Unit norm.
  template <class T>
  static void normalize(T* q) {
    const Quaternion<T> x = quaternion(q);
    const auto zero = x.w == T(0) && x.x == T(0) && x.y == T(0) && x.z == T(0);
    const auto unit = [&] { return select(zero, Quaternion<T>{}, x).normalized(); };
    store(choose(zero, [] { return Quaternion<T>{}; }, unit), q);
  }
};

/// Free flight: unit quaternion and position; velocity in the child's axes.
struct Free : ConstantMap<6> {
  static constexpr int nq = 7;  ///< w, x, y, z, px, py, pz.

  /// R(q) at p.
  template <class T>
  static Transform<T> pose(const Hinge&, const T* q) {
    return {Rotation<T>(Spherical::quaternion(q)), {q[4], q[5], q[6]}};
  }
  /// The six unit motions.
  template <class T>
  static void joint_map(const Hinge& h, const T* q, Motion<T>* columns) {
    Spherical::joint_map(h, q, columns);
    Translational::joint_map(h, q, columns + 3);
  }
  /// All of it.
  template <class T>
  static void nearest(const Hinge& h, const Transform<T>& X, T* q) {
    Spherical::nearest(h, X, q);
    Translational::nearest(h, X, q + 4);
  }
  /// exp of SE(3).
  template <class T>
  static void integrate(const Hinge& h, const T* q, const T* v, const T& dt, T* out) {
    const Vec3<T> moved = exponential_translation(Motion<T>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}} * dt);
    const Vec3<T> p = Vec3<T>{q[4], q[5], q[6]} + Rotation<T>(Spherical::quaternion(q)) * moved;
    Spherical::integrate(h, q, v, dt, out);
    out[4] = p.x;
    out[5] = p.y;
    out[6] = p.z;
  }
  /// log of SE(3).
  template <class T>
  static void difference(const Hinge& h, const T* q0, const T* q1, T* v) {
    const Rotation<T> r(Spherical::quaternion(q0));
    const Vec3<T> p = r.inverse_times(Vec3<T>{q1[4] - q0[4], q1[5] - q0[5], q1[6] - q0[6]});
    Spherical::difference(h, q0, q1, v);
    const Vec3<T> linear = logarithm_linear(Vec3<T>{v[0], v[1], v[2]}, p);
    v[3] = linear.x;
    v[4] = linear.y;
    v[5] = linear.z;
  }
  /// No turn, at the origin.
  template <class T>
  static void neutral(const Hinge& h, T* q) {
    Spherical::neutral(h, q);
    q[4] = q[5] = q[6] = T(0);
  }
  /// Unit norm.
  template <class T>
  static void normalize(T* q) {
    Spherical::normalize(q);
  }
};

/// Calls `f(Law{})` with the law of a type; `custom` has none and calls `otherwise()`.
template <class F, class G>
decltype(auto) visit_hinge_law(HingeType type, F&& f, G&& otherwise) {
  switch (type) {
    case HingeType::fixed:
      return std::forward<F>(f)(Fixed{});
    case HingeType::revolute:
    case HingeType::continuous:
      return std::forward<F>(f)(Revolute{});
    case HingeType::prismatic:
      return std::forward<F>(f)(Prismatic{});
    case HingeType::helical:
      return std::forward<F>(f)(Helical{});
    case HingeType::cylindrical:
      return std::forward<F>(f)(Cylindrical{});
    case HingeType::universal:
      return std::forward<F>(f)(Universal{});
    case HingeType::planar:
      return std::forward<F>(f)(Planar{});
    case HingeType::spherical:
      return std::forward<F>(f)(Spherical{});
    case HingeType::translational:
      return std::forward<F>(f)(Translational{});
    case HingeType::free:
      return std::forward<F>(f)(Free{});
    case HingeType::modal:
      return std::forward<F>(f)(Modal{});
    case HingeType::custom:
      break;
  }
  return std::forward<G>(otherwise)();
}

}  // namespace bunraku::laws
