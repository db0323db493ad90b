/// @file
/// What closures add to forward dynamics, so that RJK89's steps A–F are three sweeps: after the factors and ε have gone
/// inward, columns x = ψBA* of unit closure forces follow, on the links of their support alone, with e = Hx (and A_h*
/// of the hinges that a closure names itself); a small solve gives the closure forces f̃; ε − e f̃ goes outward. With
///
///   Λ = e*D⁻¹e,   Λ f̃ = (e*D⁻¹ε + x*a + …) − what the closures ask of accelerations.
///
/// In clusters x is φBA* within and filtered at the end, as their elimination is.
///
/// Rows go side by side in registers. All of it is a template on packs, see pack.hpp.
#pragma once

#include "bunraku/kernels/closure_motion.hpp"
#include "bunraku/kernels/closure_solve.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"

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

/// A force for each row.
template <class P, int C>
struct PackedForces {
  using T = NumberOf<P>;                ///< The number.
  using Numbers = PackedNumbers<P, C>;  ///< One component.
  Numbers f[6];                         ///< Moments before forces.

  PackedForces() = default;
  BUNRAKU_INLINE PackedForces(const PackedForces& other) { *this = other; }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): number by number, which changes none
  BUNRAKU_INLINE PackedForces& operator=(const PackedForces& other) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      f[i] = other.f[i];
    }
    return *this;
  }
  BUNRAKU_INLINE static PackedForces load(const RowForces<T>& from) {
    PackedForces out;
    for (int i = 0; i < 6; ++i) {
      out.f[i] = Numbers::load(from[static_cast<std::size_t>(i)]);
    }
    return out;
  }
  /// Adds other forces.
  BUNRAKU_INLINE void add(const PackedForces& other) {
    for (int i = 0; i < 6; ++i) {
      f[i].add(other.f[i]);
    }
  }
  /// Adds each row's power in one motion to `sum`.
  BUNRAKU_INLINE void add_dot(const Motion<Pack<T, 1>>& V, Numbers& sum) const {
    for (int i = 0; i < 6; ++i) {
      sum.add(P(V[i]), f[i]);
    }
  }
  /// |N|² of each row with `first` 0, |F|² with 3.
  BUNRAKU_INLINE Numbers squares(int first) const {
    Numbers sum;
    for (int i = first; i < first + 3; ++i) {
      sum.add(f[i], f[i]);
    }
    return sum;
  }
  /// Subtracts U times a number of each row.
  BUNRAKU_INLINE void subtract_outer(const Force<Pack<T, 1>>& U, const Numbers& by) {
    for (int i = 0; i < 6; ++i) {
      f[i].subtract(P(U[i]), by);
    }
  }
  /// In other axes, with moments about another point: R and p take them there.
  template <class Rotated, class Moved>
  BUNRAKU_INLINE PackedForces carried(Rotated&& R, Moved&& p) const {
    PackedForces out;
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        const P r = R(row, column);
        out.f[row].add(r, f[column]);
        out.f[row + 3].add(r, f[column + 3]);
      }
    }
    for (int row = 0; row < 3; ++row) {
      const int next = (row + 1) % 3;
      const int last = (row + 2) % 3;
      out.f[row].add(p(next), out.f[last + 3]);
      out.f[row].subtract(p(last), out.f[next + 3]);
    }
    return out;
  }
};

/// The columns of one closure on their way inward, in C registers.
template <class P, int C>
class ClosureSweep {
 public:
  using T = NumberOf<P>;                ///< The number.
  using S = Pack<T, 1>;                 ///< The scalar of a single state.
  using Numbers = PackedNumbers<P, C>;  ///< Of the rows.
  using Forces = PackedForces<P, C>;    ///< Of the rows.

  ClosureSweep(Workspace<S>& ws, const Factors<S>& factors, bool biased, ClosureColumns<T>& columns)
      : ws_(ws), factors_(factors), biased_(biased), c_(columns) {}

  void run() {
    for (RowNumbers<T>& e : c_.e) {
      Numbers{}.store(e);
    }
    for (std::size_t i = 0; i < c_.hinges.size(); ++i) {
      put_hinge(i);
    }
    need_links(ws_);
    Forces x = start(0, P(T(-1)));
    Forces other = start(1, P(T(1)));
    walk(0, c_.ways[0], x);
    walk(c_.ways[0], c_.ways[1], other);
    const int all = static_cast<int>(c_.links.size());
    if (c_.ways[1] < all) {  // what cancels where the ways meet still counts in the scale
      Numbers moments = x.squares(0);
      Numbers forces = x.squares(3);
      moments.add(other.squares(0));
      forces.add(other.squares(3));
      x.add(other);
      moment_lost_ = lost(moments, x.squares(0));
      force_lost_ = lost(forces, x.squares(3));
      walk(c_.ways[1], all, x);
    } else {
      x.add(other);
    }
    if (biased_) {
      x.add_dot({Vec3<S>::zero(), ws_.base_acceleration}, acceleration_);
    }
    acceleration_.store(c_.acceleration);
    scale_.store(c_.scale);
  }

 private:
  /// The link of velocity j of all hinges among those of the support.
  std::size_t place_of(int j) const {
    std::size_t i = 0;
    while (j < ws_.link(c_.links[i]).v || j >= ws_.link(c_.links[i]).v + ws_.link(c_.links[i]).nv) {
      ++i;
    }
    return i;
  }
  /// A_h* of a hinge that the closure names.
  void put_hinge(std::size_t i) {
    const int j = c_.hinges[i];
    const std::size_t place = place_of(j);
    const int link = c_.links[place];
    const bool clustered = ws_.tree->cluster_of[at(link)] >= 0;
    const int k = c_.first[place] + (clustered ? ws_.tree->within[at(j)].own : j - ws_.link(link).v);
    const P ratio(clustered ? static_cast<T>(ws_.tree->within[at(j)].ratio) : T(1));
    const Numbers own = Numbers::load(c_.of_hinges[i]);
    Numbers e = Numbers::load(c_.e[at(k)]);
    e.add(ratio, own);
    e.store(c_.e[at(k)]);
    Numbers squares;
    squares.add(own, own);
    scale_.add(ratio * ratio * P(factors_.D_inverse[at(c_.coordinates[at(k)])]), squares);
  }

  /// What of a size is not in what is left.
  BUNRAKU_INLINE static Numbers lost(const Numbers& size, const Numbers& left) {
    Numbers out;
    for (int c = 0; c < C; ++c) {
      out.x[c] = select(size.x[c] > left.x[c], size.x[c] - left.x[c], P(T(0)));
    }
    return out;
  }

  /// N, or −N, on the link where it acts.
  Forces start(std::size_t side, const P& sign) const {
    if (c_.general) {
      return Forces::load(c_.given[side]);
    }
    if (!c_.acts[side]) {
      return {};
    }
    const PlainPose<T>& acting = c_.acting[side];
    return Forces::load(c_.N).carried([&](int i, int j) { return sign * P(acting.rotation[3 * i + j]); },
                                      [&](int i) { return P(acting.translation[i]); });
  }

  /// ψ along links of the support, inward.
  void walk(int begin, int end, Forces& force) {
    Forces x = force;
    Numbers acceleration = acceleration_;
    Numbers scale = scale_;
    for (int i = begin; i < end; ++i) {
      const int k = c_.links[at(i)];
      const Link<S>& l = ws_.link(k);
      if (!ws_.tree->clusters.empty() && ws_.tree->cluster_of[at(k)] >= 0) [[unlikely]] {
        Forces joined = x;  // copies, so that those outside stay in registers
        Numbers joined_acceleration = acceleration;
        Numbers joined_scale = scale;
        join(i, joined, joined_acceleration, joined_scale);
        x = joined;
        acceleration = joined_acceleration;
        scale = joined_scale;
        continue;
      }
      filter(i, l, x, acceleration, scale);
      if (l.kind == Kind::floating) {
        x = {};  // a free body carries no force on
        continue;
      }
      x = handed_on(k, l, x, acceleration);
    }
    force = x;
    acceleration_ = acceleration;
    scale_ = scale;
  }

  /// φ(p,k)x, and its part of the accelerations.
  BUNRAKU_INLINE Forces handed_on(int k, const Link<S>& l, const Forces& x, Numbers& acceleration) {
    const Transform<S>& X = ws_.pose_in[at(k)];
    const Forces moved =
        x.carried([&](int i, int j) { return P(X.rotation(i, j)); }, [&](int i) { return P(X.translation[i]); });
    if (biased_) {
      if (l.kind <= Kind::revolute_full) {
        const Vec3<S>& w = ws_.turning[at(k + 1)].w;
        acceleration.add(P(w.y * ws_.v[l.v]), x.f[0]);
        acceleration.subtract(P(w.x * ws_.v[l.v]), x.f[1]);
      } else {
        x.add_dot(hinge_bias_of(ws_, k), acceleration);
      }
      if (l.parent >= 0) {
        const Vec3<S>& arm = ws_.arm_acceleration[at(k)];
        for (int row = 0; row < 3; ++row) {
          acceleration.add(P(arm[row]), moved.f[row + 3]);
        }
      }
    }
    return moved;
  }

  /// What e*D⁻¹e would be if nothing in it vanished by chance: |N||ω| and |F||v| in place of their products.
  BUNRAKU_INLINE static void add_scale(const Motion<S>& H, const S& D_inverse, const Numbers& moments,
                                       const Numbers& forces, Numbers& scale) {
    scale.add(P(squared_norm(H.angular) * D_inverse), moments);
    scale.add(P(squared_norm(H.linear) * D_inverse), forces);
  }
  BUNRAKU_INLINE Numbers moment_size(const Forces& x) const {
    Numbers out = x.squares(0);
    out.add(moment_lost_);
    return out;
  }
  BUNRAKU_INLINE Numbers force_size(const Forces& x) const {
    Numbers out = x.squares(3);
    out.add(force_lost_);
    return out;
  }

  /// e = Hx and x⁺ = x − UD⁻¹e of a link by itself, the last coordinate first.
  BUNRAKU_INLINE void filter(int i, const Link<S>& l, Forces& x, Numbers& acceleration, Numbers& scale) {
    if (l.kind <= Kind::prismatic) {  // about or along z
      const bool slides = l.kind == Kind::prismatic;
      scale.add(P(factors_.D_inverse[at(l.v)]), slides ? force_size(x) : moment_size(x));
      take_out(i, 0, l, slides ? x.f[5] : x.f[2], x, acceleration);
      return;
    }
    const Numbers moments = moment_size(x);
    const Numbers forces = force_size(x);
    for (int j = l.nv - 1; j >= 0; --j) {
      const std::size_t v = at(l.v + j);
      if (l.kind == Kind::floating) {  // H = I
        scale.add(P(factors_.D_inverse[v]), j < 3 ? moments : forces);
        take_out(i, j, l, x.f[j], x, acceleration);
        continue;
      }
      Numbers e;
      x.add_dot(ws_.H[v], e);
      add_scale(ws_.H[v], factors_.D_inverse[v], moments, forces, scale);
      take_out(i, j, l, e, x, acceleration);
    }
  }
  /// One coordinate of it: `along` is its row of Hx.
  BUNRAKU_INLINE void take_out(int i, int j, const Link<S>& l, const Numbers& along, Forces& x, Numbers& acceleration) {
    const std::size_t v = at(l.v + j);
    RowNumbers<T>& there = c_.e[at(c_.first[at(i)] + j)];
    Numbers e = Numbers::load(there);
    e.add(along);
    e.store(there);
    const Numbers weighted = e.times(P(factors_.D_inverse[v]));
    acceleration.add(P(ws_.epsilon[v]), weighted);
    x.subtract_outer(factors_.U[v], weighted);
  }

  /// A link's part of its cluster, and with the last of them the cluster.
  [[gnu::noinline]] void join(int i, Forces& x, Numbers& acceleration, Numbers& scale) {
    const int link = c_.links[at(i)];
    const Link<S>& l = ws_.link(link);
    for (int j = l.v; j < l.v + l.nv; ++j) {
      const Follower<double>& follower = ws_.tree->within[at(j)];
      const Motion<S> H = ws_.H[at(j)] * S(static_cast<T>(follower.ratio));
      const std::size_t k = at(c_.first[at(i)] + follower.own);
      Numbers e = Numbers::load(c_.e[k]);
      x.add_dot(H, e);
      e.store(c_.e[k]);
      add_scale(H, factors_.D_inverse[at(c_.coordinates[k])], moment_size(x), force_size(x), scale);
    }
    x = handed_on(link, l, x, acceleration);
    if (c_.last[at(i)] != 0) {
      filter_cluster(i, ws_.tree->clusters[at(ws_.tree->cluster_of[at(link)])], x, acceleration);
    }
  }

  void filter_cluster(int last, const CoupledLinks& cluster, Forces& x, Numbers& acceleration) {
    const std::size_t m = cluster.coordinates.size();
    RowNumbers<T>* e = c_.e.data() + c_.first[at(last)];
    for (std::size_t j = m; j-- > 0;) {
      const std::size_t v = at(cluster.coordinates[j]);
      const Numbers own = Numbers::load(e[j]);
      for (std::size_t n = 0; n < j; ++n) {
        Numbers other = Numbers::load(e[n]);
        other.add(P(-factors_.L[cluster.factor + n * m + j]), own);
        other.store(e[n]);
      }
      const Numbers weighted = own.times(P(factors_.D_inverse[v]));
      acceleration.add(P(ws_.epsilon[v]), weighted);
      x.subtract_outer(factors_.U[v], weighted);
    }
  }

  Workspace<S>& ws_;
  const Factors<S>& factors_;
  bool biased_;
  ClosureColumns<T>& c_;
  Numbers acceleration_;
  Numbers scale_;
  Numbers moment_lost_;  // of squares, where the ways met
  Numbers force_lost_;
};

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

/// e, the acceleration and the scale of a closure whose forces are set in x. `biased`: of a state with velocities
/// and gravity, as forward dynamics; else as 𝓜⁻¹x. O(support).
template <class T>
void closure_columns(Workspace<Pack<T, 1>>& ws, const Factors<Pack<T, 1>>& factors, bool biased,
                     ClosureColumns<T>& columns) {
  with_registers<RowPack<T>>(columns.rows,
                             [&]<int C> { ClosureSweep<RowPack<T>, C>(ws, factors, biased, columns).run(); });
}

/// What a closure whose directions are constant asks of accelerations, and what those of its nodes have beside the
/// columns'.
template <class P, class T = NumberOf<P>>
void closure_terms(const RowForces<T>& N, const ClosureRelation<T>& relation, int rows, RowNumbers<T>& rate,
                   RowNumbers<T>& bias) {
  with_registers<P>(rows, [&]<int C> {
    PackedNumbers<P, C> asked;
    PackedNumbers<P, C> apart;
    for (std::size_t i = 0; i < 6; ++i) {
      const auto n = PackedNumbers<P, C>::load(N[i]);
      asked.add(P(relation.asked[i]), n);
      if (i >= 3) {
        apart.add(P(relation.apart[i - 3]), n);
      }
    }
    asked.store(rate);
    apart.store(bias);
  });
}

/// What step D has of a closure: its scale, with one over it in the columns; Λ's right side, scaled; and the size of
/// the terms of that. `asked` and `bias` may cancel. The closure acts on one tree or on two.
template <class P, class T = NumberOf<P>>
void closure_right(ClosureColumns<T>& one, ClosureColumns<T>* two, const RowNumbers<T>& asked,
                   const RowNumbers<T>& bias, RowNumbers<T>& scale, RowNumbers<T>& right, RowNumbers<T>& size) {
  with_registers<P>(one.rows, [&]<int C> {
    using Numbers = PackedNumbers<P, C>;
    const Numbers wanted = Numbers::load(asked);
    const Numbers beside = Numbers::load(bias);
    Numbers squares = Numbers::load(one.scale);
    Numbers first = Numbers::load(one.acceleration);
    Numbers second;
    if (two != nullptr) {
      squares.add(Numbers::load(two->scale));
      second = Numbers::load(two->acceleration);
    }
    Numbers root;
    Numbers inverse;
    Numbers sum;
    Numbers terms;
    for (int c = 0; c < C; ++c) {
      const P safe = select(squares.x[c] > P(T(0)), squares.x[c], P(T(1)));
      root.x[c] = sqrt(safe);
      inverse.x[c] = P(T(1)) / root.x[c];
      sum.x[c] = ((beside.x[c] - wanted.x[c]) + (first.x[c] + second.x[c])) * inverse.x[c];
      terms.x[c] = (abs(beside.x[c]) + abs(wanted.x[c]) + abs(first.x[c]) + abs(second.x[c])) * inverse.x[c];
    }
    root.store(scale);
    sum.store(right);
    terms.store(size);
    inverse.store(one.inverse);
    if (two != nullptr) {
      inverse.store(two->inverse);
    }
  });
}

/// Adds Σ e1*D⁻¹e2 over the coordinates that two closures share, scaled, R rows of the first, C registers of the
/// second. Rows of `out` are `stride` apart; whole registers are added to, with zeros beyond the second's rows.
template <int R, int C, class P>
void add_closure_product(const Pack<NumberOf<P>, 1>* D_inverse, const ClosureColumns<NumberOf<P>>& one,
                         const ClosureColumns<NumberOf<P>>& two, std::span<const SharedCoordinate> shared,
                         NumberOf<P>* out, std::size_t stride) {
  using T = NumberOf<P>;
  PackedNumbers<P, C> sum[R] = {};
  for (const SharedCoordinate& each : shared) {
    const T* e1 = one.e[at(each.one)].x;
    const auto e2 = PackedNumbers<P, C>::load(two.e[at(each.two)]).times(P(D_inverse[at(each.v)]));
    for (int r = 0; r < R; ++r) {
      sum[r].add(P(e1[r]), e2);
    }
  }
  const auto inverse = PackedNumbers<P, C>::load(two.inverse);
#pragma GCC unroll 6
  for (int r = 0; r < R; ++r) {  // not to the first's rows alone, so that the sums are in registers
    const P own(one.inverse.x[r]);
    for (int c = 0; c < C && r < one.rows; ++c) {
      T* there = out + at(r) * stride + static_cast<std::size_t>(c * Lanes<P>::count);
      (P::load(there) + sum[r].x[c] * (own * inverse.x[c])).store(there);
    }
  }
}

/// The same of pairs of closures on one tree, each to its block of Λ.
template <class T>
void closure_products(const Factors<Pack<T, 1>>& factors, std::span<const ClosurePair<T>> pairs,
                      const SharedCoordinate* shared, T* lambda, std::size_t stride) {
  const Pack<T, 1>* D_inverse = factors.D_inverse.data();
  for (const ClosurePair<T>& pair : pairs) {
    with_registers<RowPack<T>>(pair.two->rows, [&]<int C> {
      const std::span<const SharedCoordinate> common(shared + pair.first, pair.count);
      T* out = lambda + pair.block;
      pair.one->rows <= 3
          ? add_closure_product<3, C, RowPack<T>>(D_inverse, *pair.one, *pair.two, common, out, stride)
          : add_closure_product<max_closure_rows, C, RowPack<T>>(D_inverse, *pair.one, *pair.two, common, out, stride);
    });
  }
}

/// Writes e, scaled, to where each coordinate's rows of all closures stand side by side, `stride` apart. Whole
/// registers are written, with zeros beyond the closure's rows: those of the closures that come after it go later.
template <class P, class T = NumberOf<P>>
void gather_columns(const ClosureColumns<T>& columns, T* out, std::size_t stride) {
  with_registers<P>(columns.rows, [&]<int C> {
    const auto inverse = PackedNumbers<P, C>::load(columns.inverse);
    for (std::size_t i = 0; i < columns.coordinates.size(); ++i) {
      const auto e = PackedNumbers<P, C>::load(columns.e[i]);
      for (int c = 0; c < C; ++c) {
        (e.x[c] * inverse.x[c])
            .store(out + at(columns.coordinates[i]) * stride + static_cast<std::size_t>(c * Lanes<P>::count));
      }
    }
  });
}

/// ε ← ε − e f̃; f̃ has zeros beyond the rows.
template <class T>
void correct_innovations(Workspace<Pack<T, 1>>& ws, const ClosureColumns<T>& columns, const RowNumbers<T>& force) {
  with_registers<RowPack<T>>(columns.rows, [&]<int C> {
    using P = RowPack<T>;
    const auto f = PackedNumbers<P, C>::load(force);
    for (std::size_t i = 0; i < columns.coordinates.size(); ++i) {
      const auto e = PackedNumbers<P, C>::load(columns.e[i]);
      P sum = e.x[0] * f.x[0];
      for (int c = 1; c < C; ++c) {
        sum += e.x[c] * f.x[c];
      }
      ws.epsilon[at(columns.coordinates[i])] -= Pack<T, 1>(sum_of(sum));
    }
  });
}

}  // namespace bunraku::kernels
