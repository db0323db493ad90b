/// @file
/// A closure between two links of one tree whose directions are constant, which most are: all that comes before step D
/// in one go, so that what it takes from the state stays in registers.
///
/// Everything is in the axes of a's link. N is kept in these, too, so that neither node's own axes take part.
#pragma once

#include "bunraku/kernels/closure_columns.hpp"

namespace bunraku::kernels {

/// A frame seen from another, vector by vector. They are written number by number: see put().
template <class S>
struct SeenFrame {
  Vec3<S> x = Vec3<S>::unit_x();  ///< Its first axis.
  Vec3<S> y = Vec3<S>::unit_y();  ///< Its second.
  Vec3<S> z = Vec3<S>::unit_z();  ///< Its third.
  Vec3<S> p = Vec3<S>::zero();    ///< Its origin.

  /// From further away: `turn` takes vectors there, `to` is where the old origin is.
  template <class Turn>
  BUNRAKU_INLINE void move(Turn&& turn, const Vec3<S>& to) {
    put(turn(x), x);
    put(turn(y), y);
    put(turn(z), z);
    put(turn(p) + to, p);
  }
  /// The rotation of another frame, which is seen from the same, against this one.
  BUNRAKU_INLINE Mat3<S> turned(const SeenFrame& other) const {
    return {{{dot(x, other.x), dot(x, other.y), dot(x, other.z)},
             {dot(y, other.x), dot(y, other.y), dot(y, other.z)},
             {dot(z, other.x), dot(z, other.y), dot(z, other.z)}}};
  }
};

/// The first link of a way, seen from where the way ends; of no link the world, or where the way would begin.
template <class S>
BUNRAKU_INLINE void see_along(const Workspace<S>& ws, const int* begin, const int* end, bool of_world,
                              SeenFrame<S>& out) {
  if (begin == end && of_world) {
    const Mat3<S> R = cast<S>(ws.tree->world_turn.matrix());
    out.x = R.row(0);
    out.y = R.row(1);
    out.z = R.row(2);
  }
  for (; begin != end; ++begin) {
    const Link<S>& l = ws.link(*begin);
    if (l.kind > Kind::prismatic) {
      const Transform<S>& X = placed(ws, l);
      out.move([&](const Vec3<S>& v) BUNRAKU_INLINE_LAMBDA { return X.rotation * v; }, X.translation);
    } else {
      with_kind(l.kind, [&]<Kind kind>() BUNRAKU_INLINE_LAMBDA {
        const Axes<kind, S> axes{l, ws.spin[at(*begin)]};
        out.move([&](const Vec3<S>& v) BUNRAKU_INLINE_LAMBDA { return axes.forth(v); },
                 kind == Kind::prismatic ? slid(ws, l) : l.p);
      });
    }
  }
}

/// How a point at l on a link moves, in the link's axes.
template <class S>
struct MovingPoint {
  Vec3<S> w = Vec3<S>::zero();       ///< ω of the link.
  Vec3<S> v = Vec3<S>::zero();       ///< Of the point.
  Vec3<S> beside = Vec3<S>::zero();  ///< Its acceleration beside the link's; on the world gravity upward.
};
template <class S>
BUNRAKU_INLINE MovingPoint<S> moving_point(const Workspace<S>& ws, int link, const Vec3<S>& l) {
  if (link < 0) {
    return {Vec3<S>::zero(), Vec3<S>::zero(), cast<S>(ws.tree->world_turn.matrix()) * ws.base_acceleration};
  }
  const Motion<S>& V = ws.velocity[at(link + 1)];
  const Vec3<S> turning = cross(V.angular, l);
  return {V.angular, V.linear + turning, cross(V.angular, turning)};
}

/// The columns of such a closure, and what step D has of it; see closure_right. With velocities and gravity.
template <class P, int C>
[[gnu::noinline]] void close_loop(Workspace<Pack<NumberOf<P>, 1>>& ws, const ClosureNode<NumberOf<P>>& a,
                                  const ClosureNode<NumberOf<P>>& b, ClosureColumns<NumberOf<P>>& columns,
                                  ClosureTerms<NumberOf<P>>& terms) {
  using T = NumberOf<P>;
  using S = Pack<T, 1>;
  using Numbers = PackedNumbers<P, C>;
  const int* links = columns.links.data();
  SeenFrame<S> X_A;
  SeenFrame<S> X_B;
  see_along(ws, links, links + columns.ways[0], a.link < 0, X_A);
  see_along(ws, links + columns.ways[0], links + columns.ways[1], b.link < 0, X_B);
  const Vec3<S> l_a = read<S>(a.X_LN.translation);
  const Vec3<S> l_b = read<S>(b.X_LN.translation);
  const Mat3<S> R = X_A.turned(X_B);
  const Vec3<S> between = X_B.p - X_A.p;
  const Vec3<S> at_b = Vec3<S>{dot(X_A.x, between), dot(X_A.y, between), dot(X_A.z, between)} + R * l_b;
  const MovingPoint<S> on_a = moving_point(ws, a.link, l_a);
  const MovingPoint<S> on_b = moving_point(ws, b.link, l_b);
  const Vec3<S>& w = on_a.w;
  const Vec3<S> apart = R * on_b.v - on_a.v;
  const Motion<S> asked{cross(w, R * on_b.w - w), cross(w, apart + apart - cross(w, at_b - l_a))};
  const PackedForces<P, C> N(columns.N_of_link);
  Numbers wanted;
  Numbers beside;
  N.add_dot(asked, wanted);
  N.add_dot(R * on_b.beside - on_a.beside, beside);

  PackedForces<P, C> from_a(N);
  from_a.negate();
  from_a.move(at_b);
  PackedForces<P, C> from_b(N);
  from_b.turn([&](P& x, P& y, P& z) BUNRAKU_INLINE_LAMBDA { turn_by(R.transpose(), x, y, z); });
  from_b.move(l_b);
  if (a.link < 0) {
    from_a.clear();
  }
  if (b.link < 0) {
    from_b.clear();
  }
  ClosureSweep<P, C> sweep(ws, ws.of_forward, true, columns);
  sweep.run(from_a, from_b, P(squared_norm(at_b) + squared_norm(l_b)));
  find_terms<P, C, T>(wanted, beside, columns, nullptr, terms);
}

template <class T>
void close_loop(Workspace<Pack<T, 1>>& ws, const ClosureNode<T>& a, const ClosureNode<T>& b, ClosureColumns<T>& columns,
                ClosureTerms<T>& terms) {
  need_positions(ws);
  need_velocities(ws);
  with_registers<RowPack<T>>(columns.rows, [&]<int C> { close_loop<RowPack<T>, C>(ws, a, b, columns, terms); });
}

}  // namespace bunraku::kernels
