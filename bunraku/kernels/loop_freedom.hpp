/// @file
/// X and θ̈_b of clusters with loops from a state, by what the sweeps know of their hinges: all is seen from the frame
/// of the link c that a cluster hangs on, as if that stood still, in which columns of Y are products of a closure's
/// forces with the axes of hinges. Equations go side by side in registers. Of single states in double precision.
///
/// What it finds counts only where nothing is in doubt: a state that leaves loops open, say, is refused elsewhere.
#pragma once

#include <limits>
#include <span>

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
  alignas(64) Row size;        ///< As part of what.
  alignas(64) Row sums;        ///< Squares of what is left of the rows.
  double v[most][most];        ///< Reflections.
  double lengths[most];        ///< Minus two over their squares.
  double z[most];              ///< θ̈_b, reflected.
};

/// X and θ̈_b of one cluster.
template <class S>
class LoopFreedom {
 public:
  using P = RowPack<double>;                      ///< Of rows.
  static constexpr int most = most_loop_numbers;  ///< See LoopScratch.

  LoopFreedom(Workspace<S>& ws, const LoopPlan& plan, LoopScratch<S>& scratch)
      : ws_(ws), plan_(plan), c_(*plan.links), s_(scratch), m_(c_.coordinates.size()) {}

  /// To the rows of the workspace; how many columns X has, or −1 where something is in doubt.
  int run(double tolerance) {
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
    constexpr int width = Lanes<P>::count;
    const int registers = (plan_.rows + width - 1) / width;
    constexpr int all = most / width;
    if (registers == 1) {
      return settle<1>(tolerance);
    }
    if (all == 2 || registers == 2) {
      return settle<(all < 2 ? all : 2)>(tolerance);
    }
    if (all == 4 || registers <= 4) {
      return settle<(all < 4 ? all : 4)>(tolerance);
    }
    return settle<all>(tolerance);
  }

 private:
  template <int C>
  using Numbers = PackedNumbers<P, C>;

  BUNRAKU_INLINE const SeenLink<S>& seen(int place) const { return s_.seen[place + 1]; }
  BUNRAKU_INLINE static S square(const Vec3<S>& v) { return squared_norm(v); }

  // -------------------------------------------------------------------------------------------------------------------
  // Links

  BUNRAKU_INLINE static Motion<S> crossed(const Motion<S>& V, const Motion<S>& r) {
    return {cross(V.angular, r.angular), cross(V.angular, r.linear) + cross(V.linear, r.angular)};
  }
  template <Kind kind>
  BUNRAKU_INLINE void see(int k, const Link<S>& l, const SeenLink<S>& up, bool inner, SeenLink<S>& out, Motion<S>& h) {
    Vec3<S> x = up.x;
    Vec3<S> y = up.y;
    Vec3<S> z = up.z;
    if constexpr (kind == Kind::revolute_quarter) {
      y = up.z;
      z = -up.y;
    } else if constexpr (kind == Kind::revolute_x) {
      y = up.y * l.turn_c + up.z * l.turn_s;
      z = up.z * l.turn_c - up.y * l.turn_s;
    } else if constexpr (kind != Kind::revolute_none) {
      x = up.turn(l.turn.column(0));
      y = up.turn(l.turn.column(1));
      z = up.turn(l.turn.column(2));
    }
    put(up.p + up.turn(kind == Kind::prismatic ? slid(ws_, l) : l.p), out.p);
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
    S far(0);
    S reach(0);
    Vec3<S> start = Vec3<S>::zero();
    for (std::size_t i = 0; i < plan_.points.size(); ++i) {
      const Vec3<S> p = where(plan_.points[i]);
      start = i == 0 ? p : start;
      far = max(far, square(p));
      reach = max(reach, square(p - start));
    }
    reach_ = std::sqrt(reach[0]) + part_of_way * std::sqrt(far[0]);
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Equations

  /// Adds the columns of a way to Y; the sums of |ω|² and |v|² at a point over its hinges.
  template <int C>
  BUNRAKU_INLINE void add_way(const std::vector<int>& way, const PackedForces<P, C>& F, double sign, int first,
                              const Vec3<S>& p, S& turning, S& moving) {
    for (const int place : way) {
      const Link<S>& l = ws_.link(c_.begin + place);
      for (int j = 0; j < l.nv; ++j) {
        const Motion<S>& h = s_.H[s_.first[place] + j];
        const Follower<double>& follower = ws_.tree->within[at(l.v + j)];
        Numbers<C> power;
        F.add_dot(h, power);
        double* column = s_.Y[follower.own] + first;
        for (int c = 0; c < C; ++c) {
          double* there = column + c * Lanes<P>::count;
          (P::load(there) + P(sign * follower.ratio) * power.x[c]).store(there);
        }
        const S squared(follower.ratio * follower.ratio);
        turning += squared * square(h.angular);
        moving += squared * square(h.linear + cross(h.angular, p));
      }
    }
  }

  template <int C>
  void tie_nodes(const LoopTie& tie) {
    for (std::size_t j = 0; j < m_; ++j) {
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
    add_way(tie.way_a, F, -1, tie.first, p_a, turning_a, moving_a);
    add_way(tie.way_b, F, 1, tie.first, p_b, turning_b, moving_b);
    const S reached(reach_ * reach_);
    const auto forces = Numbers<C>::load(tie.squared_forces);
    const auto moments = Numbers<C>::load(tie.squared_moments);
    Numbers<C> scale = moments.times(P(turning_b));
    scale.add(P(moving_a + moving_b + reached * (turning_a + turning_b)), forces);
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
    Numbers<C> size = Numbers<C>::load(tie.moments);
    size.add(P(S(reach_)), Numbers<C>::load(tie.forces));
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
    s_.size[row] = 1 + std::abs(q_a);
  }

  // -------------------------------------------------------------------------------------------------------------------
  // What they leave free

  /// Whether all of the equations in C registers are fulfilled as they should be; `tolerance` that of the rank.
  template <int C>
  BUNRAKU_INLINE bool fits(double allowed, double& tolerance) {
    constexpr int width = Lanes<P>::count;
    double speed = 0;
    for (const int j : c_.coordinates) {
      speed += ws_.v[j][0] * ws_.v[j][0];
    }
    speed_ = speed;
    const double slips = allowed * (1 + std::sqrt(speed));
    const P most_slip(slips * slips);
    const P open(allowed);
    const P nearly(free_below / gap_tells);
    const P finite(std::numeric_limits<double>::max());
    bool well = !far_off_;
    bool closed = true;
    for (int c = 0; c < C; ++c) {
      const int i = c * width;
      const P scale = P::load(s_.scale + i);
      const P weight = select(scale > P(0.0), P(1.0) / scale, P(1.0));
      weight.store(s_.weight + i);
      weight.store(s_.left + i);
      P slip{};
      for (std::size_t j = 0; j < m_; ++j) {
        slip += P(ws_.v[c_.coordinates[j]]) * P::load(s_.Y[j] + i);
      }
      const P gap = abs(P::load(s_.gap + i));
      const P size = P::load(s_.size + i);
      well = well && all(slip * slip * weight <= most_slip) && all(gap <= open * size) &&
             all(abs(P::load(s_.U + i)) <= finite);
      closed = closed && all(gap <= nearly * size);
    }
    tolerance = free_below;
    for (int i = 0; !closed && i < plan_.rows; ++i) {
      const double gap = gap_tells * std::abs(s_.gap[i]) / s_.size[i];
      tolerance = gap > tolerance ? gap : tolerance;
    }
    return well;
  }

  /// X and θ̈_b by reflections, the longest row that is left first; see row_space.hpp.
  template <int C>
  int settle(double allowed) {
    constexpr int width = Lanes<P>::count;
    for (int i = written_; i < C * width; ++i) {  // no equations
      s_.scale[i] = s_.U[i] = s_.gap[i] = 0;
      s_.size[i] = 1;
      for (std::size_t j = 0; j < m_; ++j) {
        s_.Y[j][i] = 0;
      }
    }
    double tolerance = 0;
    if (!fits<C>(allowed, tolerance)) {
      return -1;
    }
    const double least = tolerance * tolerance;
    std::size_t rank = 0;
    double largest = 0;
    for (; rank < m_ && rank < at(plan_.rows); ++rank) {
      const std::size_t k = rank;
      Numbers<C> squares;
      for (std::size_t j = k; j < m_; ++j) {
        for (int c = 0; c < C; ++c) {
          const P y = P::load(s_.Y[j] + c * width);
          squares.x[c] += y * y;
        }
      }
      for (int c = 0; c < C; ++c) {
        (squares.x[c] * P::load(s_.left + c * width)).store(s_.sums + c * width);
      }
      int best = 0;
      double longest = s_.sums[0];
      for (int i = 1; i < plan_.rows; ++i) {
        best = s_.sums[i] > longest ? i : best;
        longest = s_.sums[i] > longest ? s_.sums[i] : longest;
      }
      if (!(longest > least)) {
        break;
      }
      reflect<C>(k, best);
      const double z = std::abs(s_.z[k]);
      largest = z > largest ? z : largest;
    }
    if (!(lack<C>() <= square_of(looser_in_rates * allowed * (1 + speed_ + largest)))) {
      return -1;
    }
    spread(rank);
    return static_cast<int>(m_ - rank);
  }
  BUNRAKU_INLINE static double square_of(double x) { return x * x; }

  /// Takes what row `best` has of the coordinates from k on to coordinate k, and out of the other rows.
  template <int C>
  BUNRAKU_INLINE void reflect(std::size_t k, int best) {
    constexpr int width = Lanes<P>::count;
    double* v = s_.v[k];
    double sum = 0;
    for (std::size_t j = k; j < m_; ++j) {
      v[j] = s_.Y[j][best];
      sum += v[j] * v[j];
    }
    const double length = std::sqrt(sum);
    const double diagonal = v[k] > 0 ? -length : length;
    v[k] -= diagonal;
    const double over = 1 / (diagonal * v[k]);
    const double z = s_.U[best] / diagonal;
    s_.lengths[k] = over;
    s_.z[k] = z;
    s_.left[best] = 0;
    for (int c = 0; c < C; ++c) {
      const int i = c * width;
      P along{};
      for (std::size_t j = k; j < m_; ++j) {
        along += P(v[j]) * P::load(s_.Y[j] + i);
      }
      along = along * P(over);
      P first{};
      for (std::size_t j = k; j < m_; ++j) {
        const P y = P::load(s_.Y[j] + i) + P(v[j]) * along;
        y.store(s_.Y[j] + i);
        first = j == k ? y : first;
      }
      (P::load(s_.U + i) - P(z) * first).store(s_.U + i);
    }
  }
  /// The largest square of what is left of U, in the rows' scale.
  template <int C>
  BUNRAKU_INLINE double lack() const {
    constexpr int width = Lanes<P>::count;
    P largest{};
    for (int c = 0; c < C; ++c) {
      const P u = P::load(s_.U + c * width);
      largest = max(largest, u * u * P::load(s_.weight + c * width));
    }
    double out = 0;
    for (int i = 0; i < width; ++i) {
      out = largest[i] > out ? largest[i] : out;
    }
    return out;
  }

  /// [θ̈_b X] from the reflections.
  BUNRAKU_INLINE void spread(std::size_t rank) {
    double* rows = free_rows(ws_, c_);
    const std::size_t stride = embedded_stride(m_);
    const std::size_t columns = m_ - rank + 1;
    with_lanes<S>(columns, [&]<class L> {
      constexpr std::size_t width = Lanes<L>::count;
      L x[most];
      for (std::size_t first = 0; first < columns; first += width) {
        for (std::size_t i = 0; i < m_; ++i) {
          x[i] = L{};
          if (first == 0 && i < rank) {
            x[i].set(0, s_.z[i]);
          } else if (i >= rank && i - rank + 1 >= first && i - rank + 1 < first + width) {
            x[i].set(static_cast<int>(i - rank + 1 - first), 1.0);
          }
        }
        for (std::size_t k = rank; k-- > 0;) {
          const double* v = s_.v[k];
          L along{};
          for (std::size_t i = k; i < m_; ++i) {
            along += L(v[i]) * x[i];
          }
          along = along * L(s_.lengths[k]);
          for (std::size_t i = k; i < m_; ++i) {
            x[i] += L(v[i]) * along;
          }
        }
        for (std::size_t i = 0; i < m_; ++i) {
          x[i].store(rows + i * stride + first);
        }
      }
    });
  }

  Workspace<S>& ws_;
  const LoopPlan& plan_;
  const CoupledLinks& c_;
  LoopScratch<S>& s_;
  std::size_t m_;
  double reach_ = 0;
  double speed_ = 0;
  mutable bool far_off_ = false;  // whether axes are turned against each other by more than can be a small gap
  int written_ = 0;               // numbers of equations that are there, with zeros
};

/// X and θ̈_b of all clusters, and how many columns X has; false where something is in doubt.
template <class S>
bool free_loops(Workspace<S>& ws, std::span<const LoopPlan> plans, LoopScratch<S>& scratch, double tolerance,
                int* independent) {
  need_positions(ws);
  for (const LoopPlan& plan : plans) {
    const int count = LoopFreedom<S>(ws, plan, scratch).run(tolerance);
    if (count < 0) {
      return false;
    }
    independent[plan.links->embedded] = count;
  }
  ws.embedded.independent = independent;
  return true;
}

}  // namespace bunraku::kernels
