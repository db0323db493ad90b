/// @file
/// Rotations as matrices and as quaternions, with the exponential and the logarithm of SO(3).
#pragma once

#include <array>
#include <type_traits>

#include "bunraku/spatial/mat3.hpp"

namespace bunraku {

/// A quaternion (w, x, y, z). A rotation's quaternion has unit norm; q and −q are the same rotation.
template <class T>
struct Quaternion {
  T w{1};  ///< Scalar part.
  T x{};   ///< First component of the vector part.
  T y{};   ///< Second component of the vector part.
  T z{};   ///< Third component of the vector part.

  /// The vector part.
  constexpr Vec3<T> vector() const { return {x, y, z}; }
  /// The inverse rotation of a unit quaternion.
  constexpr Quaternion conjugate() const { return {w, -x, -y, -z}; }
  /// The Euclidean norm of the four numbers.
  T norm() const {
    using std::sqrt;
    return sqrt(w * w + x * x + y * y + z * z);
  }
  /// The quaternion over its norm, which must not be zero.
  Quaternion normalized() const {
    using std::abs;
    using std::max;
    const T largest = max(max(abs(w), abs(x)), max(abs(y), abs(z)));
    const Quaternion q{w / largest, x / largest, y / largest, z / largest};
    const T n = q.norm();
    return {q.w / n, q.x / n, q.y / n, q.z / n};
  }
  /// The rotation by |r| about r, in radians.
  static Quaternion exp(const Vec3<T>& r) {
    using std::cos;
    using std::sin;
    using std::sqrt;
    const T squared = squared_norm(r);
    const auto tiny = squared < T(1e-8);
    const auto series = [&] {  // exact in double precision here, where a quotient would divide by zero
      return std::array<T, 2>{T(1) - squared * T(1.0 / 8), T(0.5) - squared * T(1.0 / 48)};
    };
    const auto quotient = [&] {
      const T angle = sqrt(select(tiny, T(1), squared));
      const T half = angle * T(0.5);
      return std::array<T, 2>{cos(half), sin(half) / angle};
    };
    const std::array<T, 2> parts = choose(tiny, series, quotient);  // cos(|r|/2) and sin(|r|/2)/|r|
    return {parts[0], r.x * parts[1], r.y * parts[1], r.z * parts[1]};
  }
  /// The rotation vector r with |r| ≤ π whose exponential is this unit quaternion, up to its sign.
  Vec3<T> log() const {
    using std::abs;
    using std::atan2;
    const T n = bunraku::norm(vector());
    const T twice = select(w < T(0), T(-2), T(2));
    const auto none = n < T(1e-30);  // no direction to speak of; 2 x/w is exact to the last bit here
    const auto quotient = [&] {
      const T safe = select(none, T(1), n);
      return twice * atan2(safe, abs(w)) / safe;
    };
    return vector() * choose(none, [&] { return twice; }, quotient);
  }

  /// Hamilton's product: the rotation b followed by a.
  friend constexpr Quaternion operator*(const Quaternion& a, const Quaternion& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
  }
  /// Componentwise equality.
  friend constexpr bool operator==(const Quaternion&, const Quaternion&) = default;
};

/// In each component `yes` where the condition holds, else `no`: for scalars of many numbers.
template <class C, class T>
  requires(!std::is_same_v<C, bool>)
BUNRAKU_INLINE constexpr Quaternion<T> select(const C& condition, const Quaternion<T>& yes, const Quaternion<T>& no) {
  return {select(condition, yes.w, no.w), select(condition, yes.x, no.x), select(condition, yes.y, no.y),
          select(condition, yes.z, no.z)};
}

/// A rotation R_AB: turns the components of a vector in B into its components in A. Its columns are B's axes seen
/// from A.
template <class T>
class Rotation {
 public:
  /// No rotation.
  constexpr Rotation() = default;
  /// Takes an orthogonal matrix of determinant 1 as it is.
  constexpr explicit Rotation(const Mat3<T>& m) : m_(m) {}
  /// The rotation of a quaternion of unit norm.
  constexpr explicit Rotation(const Quaternion<T>& q) : m_(matrix_of(q)) {}

  /// No rotation.
  static constexpr Rotation identity() { return Rotation(); }
  /// By `angle` radians about the unit vector `axis`.
  static Rotation about(const Vec3<T>& axis, const T& angle) {
    using std::cos;
    using std::sin;
    return about(axis, cos(angle), sin(angle));
  }
  /// About the unit vector `axis` by the angle whose cosine and sine are given.
  static constexpr Rotation about(const Vec3<T>& axis, const T& c, const T& s) {
    // every diagonal element is written so that it is exactly 1 on a coordinate axis
    const T k = T(1) - c;
    const Vec3<T> a = axis * s;
    const T xy = axis.x * axis.y * k;
    const T xz = axis.x * axis.z * k;
    const T yz = axis.y * axis.z * k;
    return Rotation(Mat3<T>{{{c + axis.x * axis.x * k, xy - a.z, xz + a.y},
                             {xy + a.z, c + axis.y * axis.y * k, yz - a.x},
                             {xz - a.y, yz + a.x, c + axis.z * axis.z * k}}});
  }
  /// By `angle` radians about x.
  static Rotation about_x(const T& angle) { return about(Vec3<T>::unit_x(), angle); }
  /// By `angle` radians about y.
  static Rotation about_y(const T& angle) { return about(Vec3<T>::unit_y(), angle); }
  /// By `angle` radians about z.
  static Rotation about_z(const T& angle) { return about(Vec3<T>::unit_z(), angle); }
  /// Roll, pitch, yaw about fixed axes: R_z(yaw) R_y(pitch) R_x(roll), as in URDF and SDF.
  static Rotation from_rpy(const T& roll, const T& pitch, const T& yaw) {
    return about_z(yaw) * about_y(pitch) * about_x(roll);
  }
  /// The smallest rotation that takes the unit vector `from` to the unit vector `to`; between opposite vectors, the
  /// half turn about `perpendicular(from)`.
  static Rotation between(const Vec3<T>& from, const Vec3<T>& to) {
    const T c = dot(from, to);
    const Vec3<T> a = cross(from, to);
    const T s = norm(a);
    if (c >= T(0)) {  // cI + ã + a a*/(1 + c), well conditioned on this side
      return Rotation(Mat3<T>::diagonal(c, c, c) + skew(a) + outer(a, a) * (T(1) / (T(1) + c)));
    }
    // near opposite vectors a is small and only its direction counts, which must be at right angles to `from`
    const Vec3<T> raw = s < T(1e-10) ? perpendicular(from) : a / s;
    const Vec3<T> axis = normalized(raw - from * dot(from, raw));
    const Rotation half_turn = about(axis, T(-1), T(0));  // takes from to −from
    return between(-from, to) * half_turn;
  }

  /// The nine numbers.
  constexpr const Mat3<T>& matrix() const { return m_; }
  /// Element in row i and column j.
  constexpr const T& operator()(int i, int j) const { return m_(i, j); }
  /// R_BA, which is the transpose.
  constexpr Rotation inverse() const { return Rotation(m_.transpose()); }
  /// Rᵀ v without forming the transpose.
  constexpr Vec3<T> inverse_times(const Vec3<T>& v) const { return transpose_times(m_, v); }
  /// The quaternion with w ≥ 0, from the largest of its four components (Shepperd's method).
  Quaternion<T> quaternion() const {
    using std::max;
    using Q = Quaternion<T>;
    const T xx = m_(0, 0);
    const T yy = m_(1, 1);
    const T zz = m_(2, 2);
    const auto from_w = [&] {
      return Q{T(1) + xx + yy + zz, m_(2, 1) - m_(1, 2), m_(0, 2) - m_(2, 0), m_(1, 0) - m_(0, 1)};
    };
    const auto from_x = [&] {
      return Q{m_(2, 1) - m_(1, 2), T(1) + xx - yy - zz, m_(1, 0) + m_(0, 1), m_(0, 2) + m_(2, 0)};
    };
    const auto from_y = [&] {
      return Q{m_(0, 2) - m_(2, 0), m_(1, 0) + m_(0, 1), T(1) + yy - xx - zz, m_(2, 1) + m_(1, 2)};
    };
    const auto from_z = [&] {
      return Q{m_(1, 0) - m_(0, 1), m_(0, 2) + m_(2, 0), m_(2, 1) + m_(1, 2), T(1) + zz - xx - yy};
    };
    const auto w_leads = xx + yy + zz > T(0);
    const auto x_leads = xx >= max(yy, zz);
    const auto y_leads = yy >= zz;
    Q q;
    if constexpr (is_single<decltype(w_leads)>) {
      q = (w_leads ? from_w() : x_leads ? from_x() : y_leads ? from_y() : from_z()).normalized();
    } else {
      q = select(w_leads, from_w(), select(x_leads, from_x(), select(y_leads, from_y(), from_z()))).normalized();
    }
    return choose(q.w < T(0), [&] { return Q{-q.w, -q.x, -q.y, -q.z}; }, [&] { return q; });
  }
  /// Roll, pitch, yaw of `from_rpy`. Near a pitch of ±90° roll and yaw are each ill-determined, but not together: roll
  /// is taken from what is left once the yaw is undone, so that from_rpy gives this rotation back to the last digits.
  Vec3<T> rpy() const {
    using std::atan2;
    using std::cos;
    using std::sin;
    using std::sqrt;
    const T pitch = atan2(-m_(2, 0), sqrt(m_(0, 0) * m_(0, 0) + m_(1, 0) * m_(1, 0)));
    const T yaw = atan2(m_(1, 0), m_(0, 0));
    const T c = cos(yaw);
    const T s = sin(yaw);
    return {atan2(s * m_(0, 2) - c * m_(1, 2), c * m_(1, 1) - s * m_(0, 1)), pitch, yaw};
  }

  /// R_AB R_BC = R_AC.
  friend constexpr Rotation operator*(const Rotation& a, const Rotation& b) { return Rotation(a.m_ * b.m_); }
  /// Components in A of a vector given in B.
  friend constexpr Vec3<T> operator*(const Rotation& a, const Vec3<T>& v) { return a.m_ * v; }
  /// Elementwise equality.
  friend constexpr bool operator==(const Rotation&, const Rotation&) = default;

 private:
  static constexpr Mat3<T> matrix_of(const Quaternion<T>& q) {
    const T two(2);
    return {{{T(1) - two * (q.y * q.y + q.z * q.z), two * (q.x * q.y - q.w * q.z), two * (q.x * q.z + q.w * q.y)},
             {two * (q.x * q.y + q.w * q.z), T(1) - two * (q.x * q.x + q.z * q.z), two * (q.y * q.z - q.w * q.x)},
             {two * (q.x * q.z - q.w * q.y), two * (q.y * q.z + q.w * q.x), T(1) - two * (q.x * q.x + q.y * q.y)}}};
  }

  Mat3<T> m_ = Mat3<T>::identity();
};

}  // namespace bunraku
