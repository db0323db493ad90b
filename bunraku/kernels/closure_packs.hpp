/// @file
/// Numbers and forces of a closure's rows, side by side in registers: templates on packs, see pack.hpp.
#pragma once

#include "bunraku/kernels/closure_support.hpp"
#include "bunraku/kernels/pack.hpp"
#include "bunraku/kernels/turns.hpp"

namespace bunraku::kernels {

/// Numbers of rows in one register.
template <class T>
using RowPack = Pack<T, (Lanes<Full<T>>::count < closure_lanes ? Lanes<Full<T>>::count : closure_lanes)>;

/// A number for each row in C registers.
template <class P, int C>
struct PackedNumbers {
  using T = NumberOf<P>;  ///< The number.
  P x[C] = {};            ///< The rows.

  PackedNumbers() = default;
  // register by register, so that they stay in registers: a copy of the whole would be one of memory
  BUNRAKU_INLINE PackedNumbers(const PackedNumbers& other) { *this = other; }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): number by number, which changes none
  BUNRAKU_INLINE PackedNumbers& operator=(const PackedNumbers& other) {
    for (int c = 0; c < C; ++c) {
      x[c] = other.x[c];
    }
    return *this;
  }
  BUNRAKU_INLINE static PackedNumbers load(const RowNumbers<T>& from) {
    PackedNumbers out;
    for (int c = 0; c < C; ++c) {
      out.x[c] = P::load(from.x + c * Lanes<P>::count);
    }
    return out;
  }
  BUNRAKU_INLINE void store(RowNumbers<T>& to) const {
    for (int c = 0; c < C; ++c) {
      x[c].store(to.x + c * Lanes<P>::count);
    }
  }
  /// Adds y.
  BUNRAKU_INLINE void add(const PackedNumbers& y) {
    for (int c = 0; c < C; ++c) {
      x[c] += y.x[c];
    }
  }
  /// The same below zero.
  BUNRAKU_INLINE void negate() {
    for (int c = 0; c < C; ++c) {
      x[c] = -x[c];
    }
  }
  /// These times a number.
  BUNRAKU_INLINE PackedNumbers times(const P& factor) const {
    PackedNumbers out;
    for (int c = 0; c < C; ++c) {
      out.x[c] = factor * x[c];
    }
    return out;
  }
  /// Adds factor · y.
  BUNRAKU_INLINE void add(const P& factor, const PackedNumbers& y) {
    for (int c = 0; c < C; ++c) {
      x[c] += factor * y.x[c];
    }
  }
  /// Subtracts factor · y.
  BUNRAKU_INLINE void subtract(const P& factor, const PackedNumbers& y) {
    for (int c = 0; c < C; ++c) {
      x[c] -= factor * y.x[c];
    }
  }
  /// Adds y · z.
  BUNRAKU_INLINE void add(const PackedNumbers& y, const PackedNumbers& z) {
    for (int c = 0; c < C; ++c) {
      x[c] += y.x[c] * z.x[c];
    }
  }
};

/// A force for each row. Components are named one by one throughout: behind an index that is not yet known, if only to
/// the compiler's first passes, they would be kept in memory.
template <class P, int C>
struct PackedForces {
  using T = NumberOf<P>;                ///< The number.
  using Numbers = PackedNumbers<P, C>;  ///< One component.
  Numbers f[6];                         ///< Moments before forces.

  PackedForces() = default;
  BUNRAKU_INLINE PackedForces(const PackedForces& other)
      : f{other.f[0], other.f[1], other.f[2], other.f[3], other.f[4], other.f[5]} {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): number by number, which changes none
  BUNRAKU_INLINE PackedForces& operator=(const PackedForces& other) {
    f[0] = other.f[0];
    f[1] = other.f[1];
    f[2] = other.f[2];
    f[3] = other.f[3];
    f[4] = other.f[4];
    f[5] = other.f[5];
    return *this;
  }
  /// Reads all of them.
  BUNRAKU_INLINE explicit PackedForces(const RowForces<T>& from)
      : f{Numbers::load(from[0]), Numbers::load(from[1]), Numbers::load(from[2]),
          Numbers::load(from[3]), Numbers::load(from[4]), Numbers::load(from[5])} {}
  /// No forces.
  BUNRAKU_INLINE void clear() {
    f[0] = Numbers();
    f[1] = Numbers();
    f[2] = Numbers();
    f[3] = Numbers();
    f[4] = Numbers();
    f[5] = Numbers();
  }
  /// Adds other forces.
  BUNRAKU_INLINE void add(const PackedForces& other) {
    f[0].add(other.f[0]);
    f[1].add(other.f[1]);
    f[2].add(other.f[2]);
    f[3].add(other.f[3]);
    f[4].add(other.f[4]);
    f[5].add(other.f[5]);
  }
  /// Turns them to the other side.
  BUNRAKU_INLINE void negate() {
    f[0].negate();
    f[1].negate();
    f[2].negate();
    f[3].negate();
    f[4].negate();
    f[5].negate();
  }
  /// Adds each row's power in one motion to `sum`.
  BUNRAKU_INLINE void add_dot(const Motion<Pack<T, 1>>& V, Numbers& sum) const {
    sum.add(P(V.angular.x), f[0]);
    sum.add(P(V.angular.y), f[1]);
    sum.add(P(V.angular.z), f[2]);
    add_dot(V.linear, sum);
  }
  /// Likewise, in a motion that does not turn.
  BUNRAKU_INLINE void add_dot(const Vec3<Pack<T, 1>>& v, Numbers& sum) const {
    sum.add(P(v.x), f[3]);
    sum.add(P(v.y), f[4]);
    sum.add(P(v.z), f[5]);
  }
  /// |N|² of each row with `first` 0, |F|² with 3.
  template <int first>
  BUNRAKU_INLINE Numbers squares() const {
    Numbers sum;
    sum.add(f[first], f[first]);
    sum.add(f[first + 1], f[first + 1]);
    sum.add(f[first + 2], f[first + 2]);
    return sum;
  }
  /// Subtracts U times a number of each row.
  BUNRAKU_INLINE void subtract_outer(const Force<Pack<T, 1>>& U, const Numbers& by) {
    f[0].subtract(P(U.moment.x), by);
    f[1].subtract(P(U.moment.y), by);
    f[2].subtract(P(U.moment.z), by);
    f[3].subtract(P(U.force.x), by);
    f[4].subtract(P(U.force.y), by);
    f[5].subtract(P(U.force.z), by);
  }
  /// Takes moments about another point, from which the old one is at p.
  BUNRAKU_INLINE void move(const Vec3<Pack<T, 1>>& p) {
    f[0].add(P(p.y), f[5]);
    f[1].add(P(p.z), f[3]);
    f[2].add(P(p.x), f[4]);
    f[0].subtract(P(p.z), f[4]);
    f[1].subtract(P(p.x), f[5]);
    f[2].subtract(P(p.y), f[3]);
  }
  /// To other axes: `turn` takes x, y and z of vectors there, in place.
  template <class Turn>
  BUNRAKU_INLINE void turn(Turn&& turn) {
    for (int c = 0; c < C; ++c) {
      turn(f[0].x[c], f[1].x[c], f[2].x[c]);
      turn(f[3].x[c], f[4].x[c], f[5].x[c]);
    }
  }
};

/// (x, y, z) ← R(x, y, z), R(i, j) a single number.
template <class P, class Matrix>
BUNRAKU_INLINE void turn_by(const Matrix& R, P& x, P& y, P& z) {
  const P first = P(R(0, 0)) * x + P(R(0, 1)) * y + P(R(0, 2)) * z;
  const P second = P(R(1, 0)) * x + P(R(1, 1)) * y + P(R(1, 2)) * z;
  z = P(R(2, 0)) * x + P(R(2, 1)) * y + P(R(2, 2)) * z;
  x = first;
  y = second;
}

/// The same by F Rz of a revolute link, or F of one that slides.
template <Kind kind, class P, class S>
BUNRAKU_INLINE void turn_about(const Link<S>& l, const Spin<S>& spin, P& x, P& y, P& z) {
  if constexpr (kind != Kind::prismatic) {
    turn_pair(P(spin.c), P(spin.s), x, y);
  }
  if constexpr (kind == Kind::revolute_quarter) {
    const P kept = y;
    y = -z;
    z = kept;
  } else if constexpr (kind == Kind::revolute_x) {
    turn_pair(P(l.turn_c), P(l.turn_s), y, z);
  } else if constexpr (kind != Kind::revolute_none) {
    turn_by(l.turn, x, y, z);
  }
}

/// Calls f<C>() with the registers that so many rows take.
template <class P, class F>
BUNRAKU_INLINE void with_registers(int rows, F&& f) {
  constexpr int width = Lanes<P>::count;
  constexpr int most = (max_closure_rows + width - 1) / width;
  if (most == 1 || rows <= width) {
    f.template operator()<1>();
  } else if (most == 2 || rows <= 2 * width) {
    f.template operator()<(most < 2 ? most : 2)>();
  } else {
    f.template operator()<most>();
  }
}

}  // namespace bunraku::kernels
