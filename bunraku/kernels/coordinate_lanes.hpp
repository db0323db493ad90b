/// @file
/// Numbers of each coordinate in a lane of its own, component after component, so that a component is a register and
/// all of a coordinate is at fixed distances. Seen from a frame that stands still where the first link of the tree is,
/// composites add up without being moved, and elements of matrices are products of numbers side by side.
#pragma once

#include <algorithm>
#include <utility>

#include "bunraku/kernels/columns.hpp"
#include "bunraku/kernels/index.hpp"
#include "bunraku/kernels/workspace.hpp"
#include "bunraku/spatial/inertia.hpp"

namespace bunraku::kernels {

/// A link's axes, and where it is.
template <class S>
struct LinkFrame {
  Vec3<S> x = Vec3<S>::unit_x();  ///< First axis.
  Vec3<S> y = Vec3<S>::unit_y();  ///< Second.
  Vec3<S> z = Vec3<S>::unit_z();  ///< Third, that of a hinge.
  Vec3<S> p = Vec3<S>::zero();    ///< Origin.

  /// Of a pose.
  BUNRAKU_INLINE static LinkFrame of(const Transform<S>& X) {
    const Mat3<S>& R = X.rotation.matrix();
    return {R.column(0), R.column(1), R.column(2), X.translation};
  }
  /// As a pose.
  BUNRAKU_INLINE Transform<S> pose() const {
    return {Rotation<S>(Mat3<S>{{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}}), p};
  }
};

/// Scratch of so many components.
template <class S, int components>
struct CoordinateLanes {
  static constexpr int lanes = columns_per_register<S>;  ///< Coordinates in a register.

  /// So many registers; zeros.
  explicit CoordinateLanes(int count) : numbers(at(count * components * lanes)), registers(count) {}

  /// Where lane e starts, counted through all registers.
  BUNRAKU_INLINE static constexpr std::size_t start(int e) {
    const auto lane = static_cast<std::size_t>(e);
    return lane / lanes * (components * lanes) + lane % lanes;
  }
  /// Component c in lane e.
  BUNRAKU_INLINE S* cell(int c, int e) { return numbers.data() + start(e) + c * lanes; }
  /// Likewise.
  BUNRAKU_INLINE const S* cell(int c, int e) const { return numbers.data() + start(e) + c * lanes; }
  /// Three components of one coordinate.
  BUNRAKU_INLINE Vec3<S> vector(int c, int e) const {
    const S* x = cell(c, e);
    return {x[0], x[lanes], x[2 * lanes]};
  }
  /// Six.
  BUNRAKU_INLINE Motion<S> motion(int c, int e) const { return {vector(c, e), vector(c + 3, e)}; }
  /// Writes three.
  BUNRAKU_INLINE void put(int c, int e, const Vec3<S>& x) {
    S* to = cell(c, e);
    to[0] = x.x;
    to[lanes] = x.y;
    to[2 * lanes] = x.z;
  }
  /// Writes six.
  BUNRAKU_INLINE void put(int c, int e, const Motion<S>& x) {
    put(c, e, x.angular);
    put(c + 3, e, x.linear);
  }
  /// A component of register r.
  BUNRAKU_INLINE Column<S> load_one(int c, int r) const {
    return load_column(numbers.data() + at(r) * (components * lanes) + c * lanes);
  }
  /// Three.
  BUNRAKU_INLINE Vec3<Column<S>> load(int c, int r) const {
    return {load_one(c, r), load_one(c + 1, r), load_one(c + 2, r)};
  }
  /// Six.
  BUNRAKU_INLINE Motion<Column<S>> load_motion(int c, int r) const { return {load(c, r), load(c + 3, r)}; }
  /// Writes one.
  BUNRAKU_INLINE void store(int c, int r, const Column<S>& x) {
    store_column(x, numbers.data() + at(r) * (components * lanes) + c * lanes);
  }
  /// Writes three.
  BUNRAKU_INLINE void store(int c, int r, const Vec3<Column<S>>& x) {
    store(c, r, x.x);
    store(c + 1, r, x.y);
    store(c + 2, r, x.z);
  }
  /// Writes six.
  BUNRAKU_INLINE void store(int c, int r, const Motion<Column<S>>& x) {
    store(c, r, x.angular);
    store(c + 3, r, x.linear);
  }
  /// Writes six.
  BUNRAKU_INLINE void store(int c, int r, const Force<Column<S>>& x) {
    store(c, r, x.moment);
    store(c + 3, r, x.force);
  }
  /// Ten: mass, first moment, inertia (xx, yy, zz, xy, xz, yz).
  BUNRAKU_INLINE RigidInertia<Column<S>> load_inertia(int c, int r) const {
    const Vec3<Column<S>> diagonal = load(c + 4, r);
    const Vec3<Column<S>> others = load(c + 7, r);
    return {load_one(c, r), load(c + 1, r), {diagonal.x, diagonal.y, diagonal.z, others.x, others.y, others.z}};
  }
  /// Likewise.
  BUNRAKU_INLINE void store(int c, int r, const RigidInertia<Column<S>>& x) {
    store(c, r, x.mass);
    store(c + 1, r, x.first_moment);
    store(c + 4, r, Vec3<Column<S>>{x.inertia.xx, x.inertia.yy, x.inertia.zz});
    store(c + 7, r, Vec3<Column<S>>{x.inertia.xy, x.inertia.xz, x.inertia.yz});
  }
  /// Writes ten.
  BUNRAKU_INLINE void put(int c, int e, const RigidInertia<S>& x) {
    put(c + 4, e, Vec3<S>{x.inertia.xx, x.inertia.yy, x.inertia.zz});
    put(c + 7, e, Vec3<S>{x.inertia.xy, x.inertia.xz, x.inertia.yz});
    put(c + 1, e, x.first_moment);
    *cell(c, e) = x.mass;
  }

  /// A frame: x, y, z and p, from the first component on.
  BUNRAKU_INLINE LinkFrame<S> frame(int e) const { return {vector(0, e), vector(3, e), vector(6, e), vector(9, e)}; }
  /// Those of a register.
  BUNRAKU_INLINE LinkFrame<Column<S>> load_frame(int r) const {
    return {load(0, r), load(3, r), load(6, r), load(9, r)};
  }
  /// Writes one.
  BUNRAKU_INLINE void put_frame(int e, const LinkFrame<S>& f) {
    put(0, e, f.x);
    put(3, e, f.y);
    put(6, e, f.z);
    put(9, e, f.p);
  }

  RegisterArray<S> numbers;  ///< See cell().
  int registers = 0;         ///< How many there are.
};

/// From a link's frame to that of a revolute link on it.
template <Kind kind, class Frame, class S>
BUNRAKU_INLINE Frame frame_on(const Frame& up, const Link<S>& l, const Spin<S>& spin) {
  const auto& x = up.x;
  const auto& y = up.y;
  const auto& z = up.z;
  auto own_x = x;
  auto own_y = y;
  auto axis = z;
  if constexpr (kind == Kind::revolute_quarter) {
    own_y = z;
    axis = -y;
  } else if constexpr (kind == Kind::revolute_x) {
    own_y = y * l.turn_c + z * l.turn_s;
    axis = z * l.turn_c - y * l.turn_s;
  } else if constexpr (kind == Kind::revolute_full) {
    own_x = x * l.turn(0, 0) + y * l.turn(1, 0) + z * l.turn(2, 0);
    own_y = x * l.turn(0, 1) + y * l.turn(1, 1) + z * l.turn(2, 1);
    axis = x * l.turn(0, 2) + y * l.turn(1, 2) + z * l.turn(2, 2);
  }
  return {own_x * spin.c + own_y * spin.s, own_y * spin.c - own_x * spin.s, axis,
          up.p + x * l.p.x + y * l.p.y + z * l.p.z};
}

/// Six components of a coordinate, whose lane starts at x, times six of the coordinates of a register.
template <class S>
BUNRAKU_INLINE Column<S> six(const S* x, int own, const S* y, int other) {
  constexpr int lanes = columns_per_register<S>;
  Column<S> sum = x[own * lanes] * load_column(y + other * lanes);
#pragma GCC unroll 6
  for (int i = 1; i < 6; ++i) {
    sum += x[(own + i) * lanes] * load_column(y + (other + i) * lanes);
  }
  return sum;
}

/// Masks of the first lanes of a register.
template <class S>
struct FirstLanes {
  static constexpr int lanes = columns_per_register<S>;  ///< Lanes.
  BitsOf<NumberOf<S>> bits[lanes + 1][lanes] = {};       ///< A row for each number of them.

  /// The table.
  constexpr FirstLanes() {
    for (int count = 0; count <= lanes; ++count) {
      for (int i = 0; i < count; ++i) {
        bits[count][i] = -1;
      }
    }
  }
};
template <class S>
alignas(64) inline constexpr FirstLanes<S> first_lanes{};

/// `inside` in the first `count` lanes, `outside` in the others.
template <class S>
BUNRAKU_INLINE Column<S> joined(int count, const Column<S>& inside, const Column<S>& outside) {
  if constexpr (columns_per_register<S> == 1) {
    return count > 0 ? inside : outside;
  } else {
    using Bits = typename LooseOf<BitsOf<NumberOf<S>>, columns_per_register<S>>::type;
    const Mask<NumberOf<S>, columns_per_register<S>> mask{*reinterpret_cast<const Bits*>(first_lanes<S>.bits[count])};
    return select(mask, inside, outside);
  }
}

}  // namespace bunraku::kernels
