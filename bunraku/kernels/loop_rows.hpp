/// @file
/// Y and U of a cluster with loops, by what the sweeps know of its hinges: all is seen from the frame of the link c
/// that it hangs on, as if that stood still, in which columns of Y are products of a closure's forces with the axes of
/// hinges. Equations go side by side in registers. Of single states in double precision.
#pragma once

#include <cmath>

#include "bunraku/kernels/embedded_columns.hpp"
#include "bunraku/kernels/loop_plans.hpp"

namespace bunraku::kernels {

/// A link seen from c: its axes and origin, V and dV/dt at θ̈ = 0 at c's origin.
template <class S>
struct SeenLink {
  Vec3<S> x = Vec3<S>::unit_x();       ///< Its first axis.
  Vec3<S> y = Vec3<S>::unit_y();       ///< Its second.
  Vec3<S> z = Vec3<S>::unit_z();       ///< Its third.
  Vec3<S> p = Vec3<S>::zero();         ///< Its origin.
  Motion<S> V = Motion<S>::zero();     ///< Its velocity.
  Motion<S> rate = Motion<S>::zero();  ///< What of that changes without the hinges' accelerations.

  /// A vector in its axes.
  BUNRAKU_INLINE Vec3<S> turn(const Vec3<S>& v) const { return x * v.x + y * v.y + z * v.z; }
  /// The same of plain numbers.
  BUNRAKU_INLINE Vec3<S> turn(const Vec3<double>& v) const { return x * S(v.x) + y * S(v.y) + z * S(v.z); }
};

/// Scratch of a cluster.
template <class S>
struct LoopScratch {
  static constexpr int most = most_loop_numbers;  ///< Links, coordinates, velocities, equations.
  using Row = double[most + closure_lanes];       ///< A number of each equation, and a closure's numbers from any on.

  SeenLink<S> seen[most + 1];  ///< c, and the links.
  Motion<S> H[most];           ///< Axes of the hinges.
  int first[most];             ///< Of each link: its first velocity's place among them.
  alignas(64) Row Y[most];     ///< Of each coordinate.
  alignas(64) Row U;           ///< Right sides, less what has been taken.
  alignas(64) Row scale;       ///< Squares of what the rows could be.
  alignas(64) Row weight;      ///< One over them.
  alignas(64) Row left;        ///< Weights of the rows that are left.
  alignas(64) Row gap;         ///< How far each is open.
  alignas(64) Row size;        ///< As part of what, squared.
  alignas(64) Row squares;     ///< Of what is left of the rows.
  alignas(64) Row sums;        ///< Squares of what is left of the rows.
  double v[most][most];        ///< Reflections.
  double lengths[most];        ///< Minus two over their squares.
  double z[most];              ///< θ̈_b, reflected.
};

/// How far away c's origin is counts where the square of that is so much more than of the cluster's size: below, it
/// makes less than a thousandth.
inline constexpr double far_counts = 100;

/// The equations of one cluster.
template <class S>
class LoopRows {
 public:
  using P = RowPack<double>;                      ///< Of rows.
  static constexpr int most = most_loop_numbers;  ///< See LoopScratch.

  LoopRows(Workspace<S>& ws, const LoopPlan& plan, LoopScratch<S>& scratch)
      : ws_(ws), plan_(plan), c_(*plan.links), s_(scratch), m_(c_.coordinates.size()) {}

  /// Makes them.
  void make() {
    see();
    measure();
    for (const LoopTie& tie : plan_.ties) {
      if (tie.hinges) {
        tie_hinges(tie);
        written_ = tie.first + Lanes<P>::count;
      } else {
        with_registers<P>(tie.rows, [&]<int C> {
          tie_nodes<C>(tie);
          written_ = tie.first + C * Lanes<P>::count;
        });
      }
    }
  }

 protected:
  template <int C>
  using Numbers = PackedNumbers<P, C>;

  BUNRAKU_INLINE static double square_of(double x) { return x * x; }

 private:
  BUNRAKU_INLINE const SeenLink<S>& seen(int place) const { return s_.seen[place + 1]; }
  BUNRAKU_INLINE static S square(const Vec3<S>& v) { return squared_norm(v); }

  // -------------------------------------------------------------------------------------------------------------------
  // Links

  BUNRAKU_INLINE static Motion<S> crossed(const Motion<S>& V, const Motion<S>& r) {
    return {cross(V.angular, r.angular), cross(V.angular, r.linear) + cross(V.linear, r.angular)};
  }
  /// The constant rotation of a hinge seen from c.
  template <Kind kind>
  BUNRAKU_INLINE static void turn_fixed(const Link<S>& l, const SeenLink<S>& up, Vec3<S>& x, Vec3<S>& y, Vec3<S>& z) {
    if constexpr (kind == Kind::revolute_none) {
      put(up.x, x);
      put(up.y, y);
      put(up.z, z);
    } else if constexpr (kind == Kind::revolute_quarter) {
      put(up.x, x);
      put(up.z, y);
      put(-up.y, z);
    } else if constexpr (kind == Kind::revolute_x) {
      put(up.x, x);
      put(up.y * l.turn_c + up.z * l.turn_s, y);
      put(up.z * l.turn_c - up.y * l.turn_s, z);
    } else {
      put(up.turn(l.turn.column(0)), x);
      put(up.turn(l.turn.column(1)), y);
      put(up.turn(l.turn.column(2)), z);
    }
  }
  template <Kind kind>
  BUNRAKU_INLINE void see(int k, const Link<S>& l, const SeenLink<S>& up, bool inner, SeenLink<S>& out, Motion<S>& h) {
    Vec3<S> x;
    Vec3<S> y;
    Vec3<S> z;
    const Vec3<S> p = kind == Kind::prismatic ? slid(ws_, l) : l.p;
    if (inner) {
      turn_fixed<kind>(l, up, x, y, z);
      put(up.p + up.turn(p), out.p);
    } else {
      put(l.turn.column(0), x);
      put(l.turn.column(1), y);
      put(l.turn.column(2), z);
      put(p, out.p);
    }
    put(z, out.z);
    if constexpr (kind == Kind::prismatic) {
      put(x, out.x);
      put(y, out.y);
      put(Vec3<S>::zero(), h.angular);
      put(z, h.linear);
    } else {
      const Spin<S>& spin = ws_.spin[at(k)];
      put(x * spin.c + y * spin.s, out.x);
      put(y * spin.c - x * spin.s, out.y);
      put(z, h.angular);
      put(cross(out.p, z), h.linear);
    }
    const S rate = ws_.v[l.v];
    const Motion<S> r{h.angular * rate, h.linear * rate};
    if (inner) {
      const Motion<S> a = crossed(up.V, r);
      put(up.V.angular + r.angular, out.V.angular);
      put(up.V.linear + r.linear, out.V.linear);
      put(up.rate.angular + a.angular, out.rate.angular);
      put(up.rate.linear + a.linear, out.rate.linear);
    } else {
      put(r.angular, out.V.angular);
      put(r.linear, out.V.linear);
      put(Vec3<S>::zero(), out.rate.angular);
      put(Vec3<S>::zero(), out.rate.linear);
    }
  }
  /// A link that is neither revolute nor prismatic.
  [[gnu::noinline]] void see_placed(const Link<S>& l, const SeenLink<S>& up, SeenLink<S>& out, Motion<S>* h) {
    const Transform<S>& X = placed(ws_, l);
    out.x = up.turn(X.rotation.matrix().column(0));
    out.y = up.turn(X.rotation.matrix().column(1));
    out.z = up.turn(X.rotation.matrix().column(2));
    out.p = up.p + up.turn(X.translation);
    const auto there = [&](const Motion<S>& v) {
      const Vec3<S> w = out.turn(v.angular);
      return Motion<S>{w, out.turn(v.linear) + cross(out.p, w)};
    };
    Motion<S> r = Motion<S>::zero();
    for (int j = 0; j < l.nv; ++j) {
      h[j] = there(column(ws_, l.v + j));
      r += h[j] * ws_.v[l.rate + j];
    }
    out.V = up.V + r;
    out.rate = up.rate + crossed(up.V, r);
    out.rate += there(joint_map_rate(ws_, l, ws_.v + l.rate));
  }
  void see() {
    int count = 0;
    for (int k = c_.begin; k < c_.end; ++k) {
      const Link<S>& l = ws_.link(k);
      const bool inner = l.parent >= c_.begin;
      const SeenLink<S>& up = s_.seen[inner ? l.parent - c_.begin + 1 : 0];
      SeenLink<S>& out = s_.seen[k - c_.begin + 1];
      s_.first[k - c_.begin] = count;
      if (l.kind > Kind::prismatic) {
        see_placed(l, up, out, s_.H + count);
      } else {
        with_kind(l.kind, [&]<Kind kind>() BUNRAKU_INLINE_LAMBDA { see<kind>(k, l, up, inner, out, s_.H[count]); });
      }
      count += l.nv;
    }
  }

  BUNRAKU_INLINE Vec3<S> where(const LoopPoint& point) const {
    const SeenLink<S>& link = seen(point.place);
    return point.at_origin ? link.p : link.p + link.turn(point.at);
  }
  /// How far the cluster reaches.
  void measure() {
    if (plan_.points.empty()) {
      return;
    }
    const Vec3<S> start = where(plan_.points.front());
    S far = square(start);
    S reach(0);
    for (std::size_t i = 1; i < plan_.points.size(); ++i) {
      const Vec3<S> p = where(plan_.points[i]);
      far = max(far, square(p));
      reach = max(reach, square(p - start));
    }
    reached_ = reach[0];
    if (far[0] > far_counts * reach[0]) [[unlikely]] {
      reached_ = square_of(std::sqrt(reach[0]) + part_of_way * std::sqrt(far[0]));
    }
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Equations

  /// Adds the columns of a way to Y; the sums of |ω|² and |v|² at a point over its hinges.
  template <int C>
  BUNRAKU_INLINE void add_way(const LoopTie& tie, const std::vector<int>& way, const PackedForces<P, C>& F, bool forth,
                              const Vec3<S>& p, S& turning, S& moving) {
    for (const int place : way) {
      const Link<S>& l = ws_.link(c_.begin + place);
      for (int j = 0; j < l.nv; ++j) {
        const Motion<S>& h = s_.H[s_.first[place] + j];
        const Follower<double>& follower = ws_.tree->within[at(l.v + j)];
        Numbers<C> power;
        F.add_dot(h, power);
        double* column = s_.Y[follower.own] + tie.first;
        S squared(1);
        for (int c = 0; c < C; ++c) {
          double* there = column + c * Lanes<P>::count;
          if (tie.once) {
            (forth ? power.x[c] : -power.x[c]).store(there);
          } else {
            (P::load(there) + P(forth ? follower.ratio : -follower.ratio) * power.x[c]).store(there);
            squared = S(follower.ratio * follower.ratio);
          }
        }
        turning += squared * square(h.angular);
        moving += squared * square(h.linear + cross(h.angular, p));
      }
    }
  }

  template <int C>
  void tie_nodes(const LoopTie& tie) {
    for (std::size_t j = 0; j < m_ && !tie.once; ++j) {
      for (int c = 0; c < C; ++c) {
        P{}.store(s_.Y[j] + tie.first + c * Lanes<P>::count);
      }
    }
    const SeenLink<S>& on_a = seen(tie.a.place);
    const SeenLink<S>& on_b = seen(tie.b.place);
    const Vec3<S> p_a = where(tie.a);
    const Vec3<S> p_b = where(tie.b);
    const Vec3<S> l = p_b - p_a;
    PackedForces<P, C> N(tie.N);
    if (tie.a.place >= 0) {
      N.turn([&](P& x, P& y, P& z) BUNRAKU_INLINE_LAMBDA {
        turn_by([&](int i, int j) BUNRAKU_INLINE_LAMBDA { return (j == 0   ? on_a.x
                                                                  : j == 1 ? on_a.y
                                                                           : on_a.z)[i]; }, x,
                y, z);
      });
    }
    PackedForces<P, C> F(N);
    F.move(p_b);
    S turning_a(0);
    S moving_a(0);
    S turning_b(0);
    S moving_b(0);
    add_way(tie, tie.way_a, F, false, p_a, turning_a, moving_a);
    add_way(tie, tie.way_b, F, true, p_b, turning_b, moving_b);
    const auto forces = Numbers<C>::load(tie.squared_forces);
    const auto moments = Numbers<C>::load(tie.squared_moments);
    Numbers<C> scale = moments.times(P(turning_b));
    scale.add(P(moving_a + moving_b + S(reached_) * (turning_a + turning_b)), forces);
    if (tie.apart) {  // at a the forces have a lever
      PackedForces<P, C> lever(N);
      lever.move(l);
      scale.add(P(turning_a), lever.template squares<0>());
    } else {
      scale.add(P(turning_a), moments);
    }
    // N's axes turn with a, its point moves with b
    const Vec3<S> w = on_b.V.angular - on_a.V.angular;
    const Vec3<S> v_b = on_b.V.linear + cross(on_b.V.angular, p_b);
    const Vec3<S> v = v_b - on_a.V.linear - cross(on_a.V.angular, p_b);
    const Vec3<S> bends = on_b.rate.angular - on_a.rate.angular;
    const Motion<S> asked{
        cross(on_a.V.angular, w) - bends,
        cross(on_a.V.angular, v) - cross(w, v_b) - (on_b.rate.linear - on_a.rate.linear) - cross(bends, p_b)};
    Numbers<C> U;
    N.add_dot(asked, U);
    Numbers<C> gap;
    N.add_dot(Motion<S>{opened_angle(tie, on_a, on_b), l}, gap);
    Numbers<C> size = Numbers<C>::load(tie.sizes);
    size.add(P(S(reached_)), forces);
    for (int c = 0; c < C; ++c) {
      const int to = tie.first + c * Lanes<P>::count;
      U.x[c].store(s_.U + to);
      scale.x[c].store(s_.scale + to);
      gap.x[c].store(s_.gap + to);
      size.x[c].store(s_.size + to);
    }
  }

  /// The turn by which axes miss each other, where it is small; else anything that is large.
  BUNRAKU_INLINE Vec3<S> opened_angle(const LoopTie& tie, const SeenLink<S>& on_a, const SeenLink<S>& on_b) const {
    if (tie.axes == 0) {
      return Vec3<S>::zero();
    }
    Vec3<S> sine = Vec3<S>::zero();
    S along(0);
    for (int i = 0; i < tie.axes; ++i) {
      const Vec3<S> x_a = on_a.turn(tie.axes_a[at(i)]);
      const Vec3<S> x_b = on_b.turn(tie.axes_b[at(i)]);
      sine += cross(x_a, x_b);
      along += dot(x_a, x_b);
    }
    if (tie.axes == 3) {
      sine = sine * S(0.5);
      along -= S(1);
    }
    far_off_ = far_off_ || !(along > S(0)) || !(square(sine) < S(1e-6));
    return sine;
  }

  void tie_hinges(const LoopTie& tie) {
    const Tree& tree = *ws_.tree;
    const Closure& closure = tree.model.closures()[at(tie.closure)];
    const HingeSlot& a = tree.coordinates.slots[at(closure.hinge_a)];
    const HingeSlot& b = closure.hinge_b == world ? a : tree.coordinates.slots[at(closure.hinge_b)];
    const double q_a = ws_.q[a.q][0];
    const CouplingEquation<double> equation = coupling_equation(closure, q_a, ws_.q[b.q][0], ws_.v[b.v][0]);
    const int row = tie.first;
    for (std::size_t j = 0; j < m_; ++j) {
      P{}.store(s_.Y[j] + row);
    }
    const Follower<double>& of_a = tree.within[at(a.v)];
    const Follower<double>& of_b = tree.within[at(b.v)];
    const double slope = equation.slope * of_b.ratio;  // zero without hinge b
    s_.Y[of_a.own][row] += of_a.ratio;
    s_.Y[of_b.own][row] -= slope;
    P{}.store(s_.scale + row);
    P{}.store(s_.U + row);
    P{}.store(s_.gap + row);
    P(1.0).store(s_.size + row);
    s_.scale[row] = of_a.ratio * of_a.ratio + slope * slope;
    s_.U[row] = equation.rate;
    s_.gap[row] = equation.gap;
    s_.size[row] = square_of(1 + std::abs(q_a));
  }

 protected:
  Workspace<S>& ws_;
  const LoopPlan& plan_;
  const CoupledLinks& c_;
  LoopScratch<S>& s_;
  std::size_t m_;
  double reached_ = 0;            // the square of how far the cluster reaches
  mutable bool far_off_ = false;  // whether axes are turned against each other by more than can be a small gap
  int written_ = 0;               // numbers of equations that are there, with zeros
};

}  // namespace bunraku::kernels
