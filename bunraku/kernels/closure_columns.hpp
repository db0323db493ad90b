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

#include "bunraku/kernels/closure_support.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"
#include "bunraku/kernels/kinematics.hpp"

namespace bunraku::kernels {

/// Numbers of rows in one register.
template <class T>
using RowPack = Pack<T, (Lanes<Full<T>>::count < closure_lanes ? Lanes<Full<T>>::count : closure_lanes)>;

/// A number for each row in C registers.
template <class P, int C>
struct PackedNumbers {
  using T = NumberOf<P>;  ///< The number.
  P x[C] = {};            ///< The rows.

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
  /// Adds these to what is in memory.
  BUNRAKU_INLINE void add_to(RowNumbers<T>& sum) const {
    for (int c = 0; c < C; ++c) {
      (P::load(sum.x + c * Lanes<P>::count) + x[c]).store(sum.x + c * Lanes<P>::count);
    }
  }
  /// Adds factor · y.
  BUNRAKU_INLINE void add(const P& factor, const PackedNumbers& y) {
    for (int c = 0; c < C; ++c) {
      x[c] += factor * y.x[c];
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
  Numbers f[6] = {};                    ///< Moments before forces.

  BUNRAKU_INLINE static PackedForces load(const RowForces<T>& from) {
    PackedForces out;
    for (int i = 0; i < 6; ++i) {
      out.f[i] = Numbers::load(from[static_cast<std::size_t>(i)]);
    }
    return out;
  }
  BUNRAKU_INLINE void store(RowForces<T>& to) const {
    for (int i = 0; i < 6; ++i) {
      f[i].store(to[static_cast<std::size_t>(i)]);
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
  BUNRAKU_INLINE void subtract_outer(const Force<Pack<T, 1>>& U, const Pack<T, 1>& factor, const Numbers& e) {
    for (int i = 0; i < 6; ++i) {
      f[i].add(P(-factor * U[i]), e);
    }
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
    Forces{}.store(c_.world);
    for (std::size_t i = 0; i < c_.hinges.size(); ++i) {
      put_hinge(i);
    }
    need_links(ws_);
    act(0, P(T(-1)));
    act(1, P(T(1)));
    const bool clusters = !ws_.tree->clusters.empty();
    for (std::size_t i = 0; i < c_.links.size(); ++i) {
      const int cluster = clusters ? ws_.tree->cluster_of[at(c_.links[i])] : -1;
      if (cluster < 0) {
        filter(i);
        continue;
      }
      join(i);
      if (i + 1 == c_.links.size() || ws_.tree->cluster_of[at(c_.links[i + 1])] != cluster) {
        filter_cluster(i, ws_.tree->clusters[at(cluster)]);
      }
    }
    if (biased_) {
      const Vec3<S>& up = ws_.base_acceleration;
      Forces::load(c_.world).add_dot({Vec3<S>::zero(), up}, acceleration_);
    }
    acceleration_.store(c_.acceleration);
    scale_.store(c_.scale);
  }

 private:
  /// Where velocity j of all hinges, or what it follows in its cluster, is among the coordinates.
  int coordinate_of(int j) const {
    for (std::size_t i = 0; i < c_.links.size(); ++i) {
      const Link<S>& l = ws_.link(c_.links[i]);
      if (j >= l.v && j < l.v + l.nv) {
        return c_.first[i] + (ws_.tree->cluster_of[at(c_.links[i])] < 0 ? j - l.v : ws_.tree->within[at(j)].own);
      }
    }
    return 0;
  }
  /// A_h* of a hinge that the closure names.
  void put_hinge(std::size_t i) {
    const int j = c_.hinges[i];
    const int k = coordinate_of(j);
    const bool clustered = ws_.tree->cluster_of[at(link_of(j))] >= 0;
    const P ratio(clustered ? static_cast<T>(ws_.tree->within[at(j)].ratio) : T(1));
    const Numbers own = Numbers::load(c_.of_hinges[i]);
    Numbers e = Numbers::load(c_.e[at(k)]);
    e.add(ratio, own);
    e.store(c_.e[at(k)]);
    Numbers squares;
    squares.add(own, own);
    scale_.add(ratio * ratio * P(factors_.D_inverse[at(c_.coordinates[at(k)])]), squares);
  }
  int link_of(int j) const {
    for (const int k : c_.links) {
      if (j >= ws_.link(k).v && j < ws_.link(k).v + ws_.link(k).nv) {
        return k;
      }
    }
    return 0;
  }

  /// Takes a link's x and its size, and leaves zeros. What of the size cancelled in x is kept for the parent.
  Forces take(std::size_t i) {
    const Forces x = Forces::load(c_.x[i]);
    moment_size_ = Numbers::load(c_.size[i].moment);
    force_size_ = Numbers::load(c_.size[i].force);
    moment_lost_ = lost(moment_size_, x.squares(0));
    force_lost_ = lost(force_size_, x.squares(3));
    Forces{}.store(c_.x[i]);
    Numbers{}.store(c_.size[i].moment);
    Numbers{}.store(c_.size[i].force);
    return x;
  }
  BUNRAKU_INLINE static Numbers lost(const Numbers& size, const Numbers& left) {
    Numbers out;
    for (int c = 0; c < C; ++c) {
      out.x[c] = select(size.x[c] > left.x[c], size.x[c] - left.x[c], P(T(0)));
    }
    return out;
  }

  /// Forces in other axes, with moments about another point: R and p take them there.
  BUNRAKU_INLINE static Forces carried(const P (&R)[9], const P (&p)[3], const Forces& x) {
    Forces out;
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column) {
        out.f[row].add(R[3 * row + column], x.f[column]);
        out.f[row + 3].add(R[3 * row + column], x.f[column + 3]);
      }
    }
    for (int row = 0; row < 3; ++row) {
      const int next = (row + 1) % 3;
      const int last = (row + 2) % 3;
      out.f[row].add(p[next], out.f[last + 3]);
      out.f[row].add(-p[last], out.f[next + 3]);
    }
    return out;
  }

  /// N, or −N, on the link where it acts.
  void act(std::size_t side, const P& sign) {
    const ActingForces<T>& acting = c_.acting[side];
    if (acting.place < 0) {
      return;
    }
    P R[9];
    for (int i = 0; i < 9; ++i) {
      R[i] = sign * P(acting.rotation[i]);
    }
    const P p[3] = {P(acting.translation[0]), P(acting.translation[1]), P(acting.translation[2])};
    const Forces f = carried(R, p, Forces::load(c_.N));
    for (int row = 0; row < 6; ++row) {
      f.f[row].add_to(c_.x[at(acting.place)][static_cast<std::size_t>(row)]);
    }
    f.squares(0).add_to(c_.size[at(acting.place)].moment);
    f.squares(3).add_to(c_.size[at(acting.place)].force);
  }

  /// φ(p,k)x, added to what the parent has, and its part of the accelerations. Sizes of what is added, and of what
  /// cancelled before, go along.
  void hand_on(std::size_t i, const Forces& x) {
    const int k = c_.links[i];
    const Transform<S>& X = ws_.pose_in[at(k)];
    P R[9];
    for (int j = 0; j < 9; ++j) {
      R[j] = P(X.rotation(j / 3, j % 3));
    }
    const P p[3] = {P(X.translation.x), P(X.translation.y), P(X.translation.z)};
    Forces moved = carried(R, p, x);
    if (biased_) {
      x.add_dot(bias_of(ws_, k), acceleration_);
      if (ws_.link(k).parent >= 0) {
        const Vec3<S>& arm = ws_.arm_acceleration[at(k)];
        for (int row = 0; row < 3; ++row) {
          acceleration_.add(P(arm[row]), moved.f[row + 3]);
        }
      }
    }
    const P one(T(1));
    RowForces<T>& up = c_.up[i] < 0 ? c_.world : c_.x[at(c_.up[i])];
    for (int row = 0; row < 6; ++row) {
      moved.f[row].add_to(up[static_cast<std::size_t>(row)]);
    }
    if (c_.up[i] >= 0) {
      RowSizes<T>& size = c_.size[at(c_.up[i])];
      moment_lost_.add(one, moved.squares(0));
      moment_lost_.add_to(size.moment);
      force_lost_.add(one, moved.squares(3));
      force_lost_.add_to(size.force);
    }
  }

  /// What e*D⁻¹e would be if nothing in it vanished by chance: |N||ω| and |F||v| in place of their products.
  void add_scale(const Motion<S>& H, const S& D_inverse) {
    scale_.add(P(squared_norm(H.angular) * D_inverse), moment_size_);
    scale_.add(P(squared_norm(H.linear) * D_inverse), force_size_);
  }

  /// e = Hx and x⁺ = x − UD⁻¹e of a link by itself, the last coordinate first.
  void filter(std::size_t i) {
    const Link<S>& l = ws_.link(c_.links[i]);
    Forces x = take(i);
    for (int j = l.nv - 1; j >= 0; --j) {
      const std::size_t v = at(l.v + j);
      const S& D_inverse = factors_.D_inverse[v];
      Numbers e = Numbers::load(c_.e[at(c_.first[i] + j)]);
      if (l.kind <= Kind::prismatic) {  // about or along z
        const bool slides = l.kind == Kind::prismatic;
        e.add(P(T(1)), x.f[slides ? 5 : 2]);
        scale_.add(P(D_inverse), slides ? force_size_ : moment_size_);
      } else {
        x.add_dot(ws_.H[v], e);
        add_scale(ws_.H[v], D_inverse);
      }
      e.store(c_.e[at(c_.first[i] + j)]);
      acceleration_.add(P(D_inverse * ws_.epsilon[v]), e);
      x.subtract_outer(factors_.U[v], D_inverse, e);
    }
    hand_on(i, x);
  }

  /// A link's part of its cluster.
  void join(std::size_t i) {
    const Link<S>& l = ws_.link(c_.links[i]);
    const Forces x = take(i);
    for (int j = l.v; j < l.v + l.nv; ++j) {
      const Follower<double>& follower = ws_.tree->within[at(j)];
      const Motion<S> H = ws_.H[at(j)] * S(static_cast<T>(follower.ratio));
      const std::size_t k = at(c_.first[i] + follower.own);
      Numbers e = Numbers::load(c_.e[k]);
      x.add_dot(H, e);
      e.store(c_.e[k]);
      add_scale(H, factors_.D_inverse[at(c_.coordinates[k])]);
    }
    hand_on(i, x);
  }

  void filter_cluster(std::size_t last, const CoupledLinks& cluster) {
    const std::size_t m = cluster.coordinates.size();
    RowNumbers<T>* e = c_.e.data() + c_.first[last];
    RowForces<T>& carrier = cluster.parent < 0 ? c_.world : c_.x[at(c_.find(cluster.parent))];
    Forces up = Forces::load(carrier);
    for (std::size_t j = m; j-- > 0;) {
      const std::size_t v = at(cluster.coordinates[j]);
      const S& D_inverse = factors_.D_inverse[v];
      const Numbers own = Numbers::load(e[j]);
      for (std::size_t n = 0; n < j; ++n) {
        Numbers other = Numbers::load(e[n]);
        other.add(P(-factors_.L[cluster.factor + n * m + j]), own);
        other.store(e[n]);
      }
      acceleration_.add(P(D_inverse * ws_.epsilon[v]), own);
      up.subtract_outer(factors_.U[v], D_inverse, own);
    }
    up.store(carrier);
  }

  Workspace<S>& ws_;
  const Factors<S>& factors_;
  bool biased_;
  ClosureColumns<T>& c_;
  Numbers acceleration_;
  Numbers scale_;
  Numbers moment_size_;  // of the link at hand
  Numbers force_size_;
  Numbers moment_lost_;
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

/// Adds Σ e1* D⁻¹ e2 over the coordinates that two closures share, R rows of the first, C registers of the second.
template <int R, int C, class P>
void add_closure_product(const Pack<NumberOf<P>, 1>* D_inverse, const ClosureColumns<NumberOf<P>>& one,
                         const ClosureColumns<NumberOf<P>>& two, const int* slot, NumberOf<P>* out,
                         std::size_t stride) {
  using T = NumberOf<P>;
  PackedNumbers<P, C> sum[R] = {};
  for (std::size_t i = 0; i < two.coordinates.size(); ++i) {
    const std::size_t v = at(two.coordinates[i]);
    if (slot[v] < 0) {
      continue;
    }
    const T* e1 = one.e[at(slot[v])].x;
    PackedNumbers<P, C> e2 = PackedNumbers<P, C>::load(two.e[i]);
    for (int c = 0; c < C; ++c) {
      e2.x[c] = e2.x[c] * P(D_inverse[v]);
    }
    for (int r = 0; r < R; ++r) {
      sum[r].add(P(e1[r]), e2);
    }
  }
  RowNumbers<T> row;
  for (int r = 0; r < one.rows; ++r) {
    sum[r].store(row);
    for (int c = 0; c < two.rows; ++c) {
      out[at(r) * stride + at(c)] += row.x[c];
    }
  }
}

/// The same of any closures; `slot` has the place of each velocity among the first one's coordinates, or −1.
template <class T>
void closure_product(const Factors<Pack<T, 1>>& factors, const ClosureColumns<T>& one, const ClosureColumns<T>& two,
                     const int* slot, T* out, std::size_t stride) {
  with_registers<RowPack<T>>(two.rows, [&]<int C> {
    one.rows <= 3
        ? add_closure_product<3, C, RowPack<T>>(factors.D_inverse.data(), one, two, slot, out, stride)
        : add_closure_product<max_closure_rows, C, RowPack<T>>(factors.D_inverse.data(), one, two, slot, out, stride);
  });
}

/// ε ← ε − e f̃.
template <class T>
void correct_innovations(Workspace<Pack<T, 1>>& ws, const ClosureColumns<T>& columns, const T* force) {
  for (std::size_t i = 0; i < columns.coordinates.size(); ++i) {
    Pack<T, 1> sum;
    for (int r = 0; r < columns.rows; ++r) {
      sum += Pack<T, 1>(columns.e[i].x[r]) * Pack<T, 1>(force[r]);
    }
    ws.epsilon[at(columns.coordinates[i])] -= sum;
  }
}

}  // namespace bunraku::kernels
