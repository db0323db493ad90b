/// @file
/// The elements of derivatives of inverse dynamics where several states go at once, see inverse_derivatives.hpp: of
/// each coordinate those with others on its path to the base, while what is of the coordinate stays in registers.
#pragma once

#include "bunraku/kernels/derivative_composites.hpp"

namespace bunraku::kernels {

/// Some components of a coordinate, in registers.
template <class S, int count>
struct Components {
  S x[count];  ///< They.

  BUNRAKU_INLINE explicit Components(const S* from) {
#pragma GCC unroll 6
    for (int i = 0; i < count; ++i) {
      x[i] = from[i];
    }
  }
  /// Times those of another.
  BUNRAKU_INLINE S times(const S* y) const {
    S sum = x[0] * y[0];
#pragma GCC unroll 6
    for (int i = 1; i < count; ++i) {
      sum += x[i] * y[i];
    }
    return sum;
  }
  /// Likewise.
  template <int more>
  BUNRAKU_INLINE S times(const Components<S, more>& y) const {
    return times(y.x);
  }
  /// Has them in registers from here on, where there are enough of these.
  BUNRAKU_INLINE void hold_all() {
    if constexpr (register_bytes == 64) {
#pragma GCC unroll 6
      for (int i = 0; i < count; ++i) {
        hold(x[i]);
      }
    }
  }
};

/// Writes elements in order, see DerivativeLayout; those of 𝓜 in rows alone, where by q and θ̇ they are.
template <Wanted wanted, class S>
class ElementsInOrder {
 public:
  static constexpr bool mass = wanted == Wanted::in_order;  ///< Whether 𝓜 is wanted …
  static constexpr bool inner_mass = false;                 ///< … and in columns.

  ElementsInOrder(const DerivativeScratch<S>&, int, const Derivatives<S>& to) : to_(to) {}

  /// Goes on with coordinate e.
  void begin(int) {}
  /// In its row, the column of coordinate c.
  BUNRAKU_INLINE void in_row(int, const S& q, const S& v, const S& a) {
    if constexpr (mass) {
      to_.da[next_] = a;
    }
    in_column(0, q, v, a);
  }
  /// The same of a free body's coordinates by the angular velocity alone.
  BUNRAKU_INLINE void in_row(int, const Vec3<S>& by_w) {
    put(by_w, to_.dv + next_);
    next_ += 6;
  }
  /// In its column, the row of coordinate c.
  BUNRAKU_INLINE void in_column(int, const S& q, const S& v, const S&) {
    to_.dq[next_] = q;
    to_.dv[next_++] = v;
  }

 private:
  BUNRAKU_INLINE static void put(const Vec3<S>& x, S* to) {
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
  }

  Derivatives<S> to_;
  std::ptrdiff_t next_ = 1;
};

/// Writes them into matrices, column by column.
template <class S>
class ElementsInPlace {
 public:
  static constexpr bool mass = true;        ///< 𝓜 is wanted …
  static constexpr bool inner_mass = true;  ///< … in columns, too.

  ElementsInPlace(const DerivativeScratch<S>& d, int n, const Derivatives<S>& to)
      : place_(d.layout.place.data()), n_(n), to_(to) {}

  /// Goes on with coordinate e.
  BUNRAKU_INLINE void begin(int e) { own_ = place_[e]; }
  /// In its row, the column of coordinate c.
  BUNRAKU_INLINE void in_row(int c, const S& q, const S& v, const S& a) { put(place_[c] * n_ + own_, q, v, a); }
  /// In its column, the row of coordinate c.
  BUNRAKU_INLINE void in_column(int c, const S& q, const S& v, const S& a) { put(own_ * n_ + place_[c], q, v, a); }

 private:
  BUNRAKU_INLINE void put(std::ptrdiff_t to, const S& q, const S& v, const S& a) const {
    to_.dq[to] = q;
    to_.dv[to] = v;
    to_.da[to] = a;
  }

  const int* place_;
  std::ptrdiff_t n_;
  Derivatives<S> to_;
  std::ptrdiff_t own_ = 0;
};

/// In a row that starts at x, the columns of a free body against the world, whose S are unit vectors: with N and F of
/// the row's momentum RS, g what gravity is to the base, and V = (ω, v), ∂T/∂q is (F × g, 0) and ∂T/∂θ̇ is
/// (N × ω + F × v + 2B*S, F × ω).
template <Wanted wanted, class S, class Elements>
BUNRAKU_INLINE void write_base(const DerivativeScratch<S>& d, int base, const S* x, Elements& out) {
  using D = DerivativeScratch<S>;
  const auto vector = [x](int c) BUNRAKU_INLINE_LAMBDA { return Vec3<S>{x[c], x[c + 1], x[c + 2]}; };
  const Vec3<S> N = vector(D::momentum);
  const Vec3<S> F = vector(D::momentum + 3);
  const Vec3<S> w = d.vector(D::base_velocity, base);
  const Vec3<S> by_w = cross(N, w) + cross(F, d.vector(D::base_velocity + 3, base)) + vector(D::turning);
  if constexpr (wanted == Wanted::unbound) {
    out.in_row(base, by_w);
  } else {
    const Vec3<S> by_q = cross(F, d.vector(D::base_gravity, base));
    const Vec3<S> by_v = cross(F, w);
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      out.in_row(base + j, by_q[j], by_w[j], N[j]);
    }
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      out.in_row(base + 3 + j, S(0), by_v[j], F[j]);
    }
  }
}

/// The elements of the coordinates of a free body with each other.
template <Wanted wanted, class S, class Elements>
void write_own_base(const Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, Elements& out) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  const int begin = d.layout.lane_of[at(k)];
  const S* v = velocity + l.v;
  d.put(D::base_gravity, begin, placed(ws, l).rotation.inverse_times(ws.base_acceleration));
  d.put(D::base_velocity, begin, Motion<S>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}});
  for (int e = begin; e < begin + l.nv; ++e) {
    out.begin(e);
    write_base<wanted>(d, begin, d.cell(0, e), out);
  }
}

/// The elements of a link's coordinates with each other, and with those farther in.
template <Wanted wanted, class S, class Elements>
void write_path(const Workspace<S>& ws, const DerivativeScratch<S>& d, int k, Elements& out) {
  using D = DerivativeScratch<S>;
  const int begin = d.layout.lane_of[at(k)];
  const int end = begin + ws.link(k).nv;
  const int base = d.layout.floating[at(k)];
  const PathRegister* const path = d.layout.path.data() + d.layout.path_begin[at(k)];
  const int count = d.layout.path_begin[at(k) + 1] - d.layout.path_begin[at(k)];
  for (int e = begin; e < end; ++e) {
    out.begin(e);
    const S* const x = d.cell(0, e);
    const Components<S, 6> momentum(x + D::momentum);
    const Components<S, 3> turning(x + D::turning);
    const Components<S, 6> by_q(x + D::by_q);
    const Components<S, 6> by_v(x + D::by_v);
    const auto in_row = [&](int c, const S* y, const Components<S, 6>& column) BUNRAKU_INLINE_LAMBDA {
      out.in_row(c, momentum.times(y + D::curvature) + turning.times(y + D::slope),
                 momentum.times(y + D::rate) + turning.times(column), Elements::mass ? momentum.times(column) : S());
    };
    for (int c = begin; c < end; ++c) {
      const S* const y = d.cell(0, c);
      in_row(c, y, Components<S, 6>(y + D::column));
    }
    for (int i = 0; i < count; ++i) {
      const int c = path[i].index;
      const S* const y = d.cell(0, c);
      Components<S, 6> column(y + D::column);
      column.hold_all();
      in_row(c, y, column);
      out.in_column(c, by_q.times(column), by_v.times(column), Elements::inner_mass ? momentum.times(column) : S());
    }
    if (base >= 0) {
      write_base<wanted>(d, base, x, out);
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        out.in_column(base + j, by_q.x[j], by_v.x[j], momentum.x[j]);
      }
    }
  }
}

/// All elements that may be other than zero.
template <Wanted wanted, class S>
void write_paths(const Workspace<S>& ws, DerivativeScratch<S>& d, const S* velocity, const Derivatives<S>& to) {
  using Elements = std::conditional_t<wanted == Wanted::matrices, ElementsInPlace<S>, ElementsInOrder<wanted, S>>;
  Elements out(d, ws.tree->coordinates.nv, to);
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    ws.link(k).kind == Kind::floating ? write_own_base<wanted>(ws, d, k, velocity, out)
                                      : write_path<wanted>(ws, d, k, out);
  }
}

}  // namespace bunraku::kernels
