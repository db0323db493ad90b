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
#include "bunraku/kernels/closure_packs.hpp"
#include "bunraku/kernels/closure_solve.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"

namespace bunraku::kernels {

/// Forces count as if they had at least so much of all arms of their closure.
template <class T>
inline constexpr T least_arm = std::is_same_v<T, float> ? T(1e-3) : T(1e-6);

/// The columns of one closure on their way inward, in C registers.
template <class P, int C>
class ClosureSweep {
 public:
  using T = NumberOf<P>;                ///< The number.
  using S = Pack<T, 1>;                 ///< The scalar of a single state.
  using Numbers = PackedNumbers<P, C>;  ///< Of the rows.
  using Forces = PackedForces<P, C>;    ///< Of the rows.

  ClosureSweep(Workspace<S>& ws, const Factors<S>& factors, bool biased, ClosureColumns<T>& columns)
      : ws_(ws),
        factors_(factors),
        biased_(biased),
        adds_(!columns.hinges.empty() || !ws.tree->clusters.empty()),
        c_(columns) {}

  /// From the links where the closure acts, as it is set there.
  void run() {
    Forces from_a = start<0>();
    Forces from_b = start<1>();
    T arms2 = 0;
    for (std::size_t side = 0; side < 2 && !c_.general; ++side) {
      const auto& p = c_.acting[side].translation;
      arms2 += c_.acts[side] ? p[0] * p[0] + p[1] * p[1] + p[2] * p[2] : T(0);
    }
    run(from_a, from_b, P(arms2));
  }
  /// From these forces on the links of a and of b, with the squares of their arms there.
  BUNRAKU_INLINE void run(Forces& from_a, Forces& from_b, const P& arms2) {
    // a force through the axes of all hinges leaves rounding of its moments, which nothing in them is large beside
    least_ = from_a.template squares<3>();
    least_.add(from_b.template squares<3>());
    least_ = least_.times(P(least_arm<T> * least_arm<T>) * (P(c_.reach2) + arms2));
    moment_lost_ = least_;
    for (std::size_t i = 0; adds_ && i < c_.e.size(); ++i) {
      Numbers().store(c_.e[i]);
    }
    for (std::size_t i = 0; i < c_.hinges.size(); ++i) {
      put_hinge(i);
    }
    walk(0, c_.ways[0], from_a);
    walk(c_.ways[0], c_.ways[1], from_b);
    const int all = static_cast<int>(c_.links.size());
    if (c_.ways[1] < all) {  // what cancels where the ways meet still counts in the scale
      Numbers moments = from_a.template squares<0>();
      Numbers forces = from_a.template squares<3>();
      moments.add(from_b.template squares<0>());
      forces.add(from_b.template squares<3>());
      from_a.add(from_b);
      moment_lost_ = lost(moments, from_a.template squares<0>());
      moment_lost_.add(least_);
      force_lost_ = lost(forces, from_a.template squares<3>());
      walk(c_.ways[1], all, from_a);
    } else {
      from_a.add(from_b);
    }
    if (biased_) {
      from_a.add_dot(ws_.base_acceleration, acceleration_);
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

  /// N on b's link, or −N on a's.
  template <int side>
  BUNRAKU_INLINE Forces start() const {
    if (c_.general) [[unlikely]] {
      return Forces(c_.given[side]);
    }
    if (!c_.acts[side]) {
      return {};
    }
    const T* R = c_.acting[side].rotation;
    const T* p = c_.acting[side].translation;
    Forces out(c_.N);
    out.turn([&](P& x, P& y, P& z) BUNRAKU_INLINE_LAMBDA {
      turn_by([&](int i, int j) { return side == 0 ? -R[3 * i + j] : R[3 * i + j]; }, x, y, z);
    });
    out.move({p[0], p[1], p[2]});
    return out;
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
        x.clear();  // a free body carries no force on
        continue;
      }
      hand_on(k, l, x, acceleration);
    }
    force = x;
    acceleration_ = acceleration;
    scale_ = scale;
  }

  /// φ(p,k)x, and its part of the accelerations.
  BUNRAKU_INLINE void hand_on(int k, const Link<S>& l, Forces& x, Numbers& acceleration) {
    if (biased_) {
      if (l.kind <= Kind::prismatic) {  // ω × H*θ̇, of a slide twice
        const Vec3<S>& w = ws_.turning[at(k + 1)].w;
        const P along_x(w.y * ws_.v[l.v]);
        const P along_y(w.x * ws_.v[l.v]);
        if (l.kind == Kind::prismatic) {
          acceleration.add(along_x + along_x, x.f[3]);
          acceleration.subtract(along_y + along_y, x.f[4]);
        } else {
          acceleration.add(along_x, x.f[0]);
          acceleration.subtract(along_y, x.f[1]);
        }
      } else {
        x.add_dot(ws_.special_bias[at(l.special)], acceleration);
      }
    }
    if (l.kind > Kind::prismatic) {
      const Transform<S>& X = placed(ws_, l);
      x.turn([&](P& a, P& b, P& c) BUNRAKU_INLINE_LAMBDA { turn_by(X.rotation.matrix(), a, b, c); });
      x.move(X.translation);
    } else {
      with_kind(l.kind, [&]<Kind kind>() BUNRAKU_INLINE_LAMBDA {
        x.turn([&](P& a, P& b, P& c) BUNRAKU_INLINE_LAMBDA { turn_about<kind>(l, ws_.spin[at(k)], a, b, c); });
      });
      x.move(l.kind == Kind::prismatic ? slid(ws_, l) : l.p);
    }
    if (biased_ && l.parent >= 0) {
      x.add_dot(ws_.arm_acceleration[at(k)], acceleration);
    }
  }

  /// What e*D⁻¹e would be if nothing in it vanished by chance: |N||ω| and |F||v| in place of their products.
  BUNRAKU_INLINE static void add_scale(const Motion<S>& H, const S& D_inverse, const Numbers& moments,
                                       const Numbers& forces, Numbers& scale) {
    scale.add(P(squared_norm(H.angular) * D_inverse), moments);
    scale.add(P(squared_norm(H.linear) * D_inverse), forces);
  }
  BUNRAKU_INLINE Numbers moment_size(const Forces& x) const {
    Numbers out = x.template squares<0>();
    out.add(moment_lost_);
    return out;
  }
  BUNRAKU_INLINE Numbers force_size(const Forces& x) const {
    Numbers out = x.template squares<3>();
    out.add(force_lost_);
    return out;
  }

  /// e = Hx and x⁺ = x − UD⁻¹e of a link by itself, the last coordinate first.
  BUNRAKU_INLINE void filter(int i, const Link<S>& l, Forces& x, Numbers& acceleration, Numbers& scale) {
    if (l.kind <= Kind::revolute_full) {  // about z
      scale.add(P(factors_.D_inverse[at(l.v)]), moment_size(x));
      x.subtract_outer(factors_.U[at(l.v)], keep(i, 0, at(l.v), x.f[2], acceleration));
      return;
    }
    if (l.kind == Kind::prismatic) {  // along z
      scale.add(P(factors_.D_inverse[at(l.v)]), force_size(x));
      x.subtract_outer(factors_.U[at(l.v)], keep(i, 0, at(l.v), x.f[5], acceleration));
      return;
    }
    const Numbers moments = moment_size(x);
    const Numbers forces = force_size(x);
    if (l.kind == Kind::floating) {  // H = I, and U has nothing beyond its own coordinate
      filter_floating<5>(i, l, moments, forces, x, acceleration, scale);
      return;
    }
    for (int j = l.nv - 1; j >= 0; --j) {
      const std::size_t v = at(l.v + j);
      Numbers e;
      x.add_dot(ws_.H[v], e);
      add_scale(ws_.H[v], factors_.D_inverse[v], moments, forces, scale);
      x.subtract_outer(factors_.U[v], keep(i, j, v, e, acceleration));
    }
  }
  /// The coordinates of a free body from j on.
  template <int j>
  BUNRAKU_INLINE void filter_floating(int i, const Link<S>& l, const Numbers& moments, const Numbers& forces, Forces& x,
                                      Numbers& acceleration, Numbers& scale) {
    const std::size_t v = at(l.v + j);
    const Force<S>& U = factors_.U[v];
    scale.add(P(factors_.D_inverse[v]), j < 3 ? moments : forces);
    const Numbers weighted = keep(i, j, v, x.f[j], acceleration);
    if constexpr (j > 0) {
      x.f[0].subtract(P(U.moment.x), weighted);
    }
    if constexpr (j > 1) {
      x.f[1].subtract(P(U.moment.y), weighted);
    }
    if constexpr (j > 2) {
      x.f[2].subtract(P(U.moment.z), weighted);
    }
    if constexpr (j > 3) {
      x.f[3].subtract(P(U.force.x), weighted);
    }
    if constexpr (j > 4) {
      x.f[4].subtract(P(U.force.y), weighted);
    }
    if constexpr (j > 0) {
      filter_floating<j - 1>(i, l, moments, forces, x, acceleration, scale);
    }
  }
  /// Keeps e of one coordinate, of which `along` is its row of Hx. Returns D⁻¹e.
  BUNRAKU_INLINE Numbers keep(int i, int j, std::size_t v, const Numbers& along, Numbers& acceleration) {
    RowNumbers<T>& there = c_.e[at(c_.first[at(i)] + j)];
    Numbers e = along;
    if (adds_) [[unlikely]] {
      e.add(Numbers::load(there));
    }
    e.store(there);
    const Numbers weighted = e.times(P(factors_.D_inverse[v]));
    acceleration.add(P(ws_.epsilon[v]), weighted);
    return weighted;
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
    hand_on(link, l, x, acceleration);
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
  bool adds_;  // whether more than one link may have a part in some e
  ClosureColumns<T>& c_;
  Numbers acceleration_;
  Numbers scale_;
  Numbers least_;        // squares of moments that are counted at least
  Numbers moment_lost_;  // and of those lost where the ways met
  Numbers force_lost_;
};

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
template <class P, int C, class T = NumberOf<P>>
BUNRAKU_INLINE void find_terms(const PackedNumbers<P, C>& asked, const PackedNumbers<P, C>& bias,
                               ClosureColumns<T>& one, ClosureColumns<T>* two, ClosureTerms<T>& out) {
  using Numbers = PackedNumbers<P, C>;
  Numbers squares = Numbers::load(one.scale);
  const Numbers first = Numbers::load(one.acceleration);
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
    sum.x[c] = ((bias.x[c] - asked.x[c]) + (first.x[c] + second.x[c])) * inverse.x[c];
    terms.x[c] = (abs(bias.x[c]) + abs(asked.x[c]) + abs(first.x[c]) + abs(second.x[c])) * inverse.x[c];
  }
  root.store(out.scale);
  sum.store(out.right);
  terms.store(out.size);
  inverse.store(one.inverse);
  if (two != nullptr) {
    inverse.store(two->inverse);
  }
}

/// The same of plain numbers.
template <class P, class T = NumberOf<P>>
void closure_right(ClosureColumns<T>& one, ClosureColumns<T>* two, const RowNumbers<T>& asked,
                   const RowNumbers<T>& bias, ClosureTerms<T>& out) {
  with_registers<P>(one.rows, [&]<int C> {
    using Numbers = PackedNumbers<P, C>;
    find_terms<P, C>(Numbers::load(asked), Numbers::load(bias), one, two, out);
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

/// ε ← ε − e f̃. Number by number: f̃ has just been written so, and the few sums do not wait for each other.
template <class T>
void correct_innovations(Workspace<Pack<T, 1>>& ws, const ClosureColumns<T>& columns, const RowNumbers<T>& force) {
  for (std::size_t i = 0; i < columns.coordinates.size(); ++i) {
    const T* e = columns.e[i].x;
    T sum = e[0] * force.x[0];
    for (int r = 1; r < columns.rows; ++r) {
      sum += e[r] * force.x[r];
    }
    ws.epsilon[at(columns.coordinates[i])] -= Pack<T, 1>(sum);
  }
}

}  // namespace bunraku::kernels
