/// @file
/// Elimination of clusters with loops, from what ξ makes of each link: B = φ_in*H*X, 6 × r, and a with H*θ̈_b in it.
/// Then
///
///   D = Σ H̄*(P B), Ū = Σ φ(c,k) P(k) B(k), ε = X*(T − 𝒜θ̈_b) − …,
///
/// with P(k) of the link and of what hangs on it from outside, as hinges within are locked. a and B stand side by side
/// in registers, a first, so that all of it is one sweep outward and one inward. For single numbers alone.
#pragma once

#include "bunraku/kernels/lane_axes.hpp"
#include "bunraku/kernels/modes.hpp"

namespace bunraku::kernels {

/// Columns of X in the cluster.
template <class S>
std::size_t independent(const Workspace<S>& ws, const CoupledLinks& c) {
  return at(ws.embedded.independent[c.embedded]);
}

/// [θ̈_b X] of the cluster's coordinates; rows are embedded_stride() apart, and what comes after X's columns is any.
template <class S>
NumberOf<S>* free_rows(Workspace<S>& ws, const CoupledLinks& c) {
  return ws.embedded.rows.data() + ws.embedded.first[at(c.embedded)];
}

/// These from X and θ̈_b as they are elsewhere, over the coordinates of all clusters and of all hinges.
template <class S>
void put_free_rows(Workspace<S>& ws, const CoupledLinks& c, const double* basis, const double* bias) {
  using T = NumberOf<S>;
  const std::size_t m = c.coordinates.size();
  const std::size_t stride = embedded_stride(m);
  const std::size_t r = independent(ws, c);
  T* rows = free_rows(ws, c);
  for (std::size_t i = 0; i < m; ++i) {
    T* row = rows + i * stride;
    std::fill_n(row, stride, T(0));
    row[0] = static_cast<T>(bias[c.coordinates[i]]);
    for (std::size_t j = 0; j < r; ++j) {
      row[j + 1] = static_cast<T>(basis[c.basis + i * m + j]);
    }
  }
}
/// X by itself, m×m, of which the first columns count.
template <class S>
void copy_basis(Workspace<S>& ws, const CoupledLinks& c, NumberOf<S>* out) {
  const std::size_t m = c.coordinates.size();
  for (std::size_t i = 0; i < m; ++i) {
    std::copy_n(free_rows(ws, c) + i * embedded_stride(m) + 1, m, out + i * m);
  }
}

/// One cluster, as many columns of [a B] as P has lanes.
template <bool forces, class P, class S>
class EmbeddedElimination {
 public:
  using T = NumberOf<S>;                         ///< The number.
  static constexpr int width = Lanes<P>::count;  ///< Columns.

  EmbeddedElimination(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors)
      : ws_(ws),
        c_(c),
        factors_(factors),
        m_(c.coordinates.size()),
        r_(independent(ws, c)),
        rows_(free_rows(ws, c)),
        stride_(embedded_stride(m_)),
        plain_(ws.embedded.plain[at(c.embedded)] != 0),
        B_(ws.embedded.columns.data()),
        F_(ws.embedded.reactions.data()),
        e_(ws.embedded.moments.data()) {}

  /// The columns from `first` on; with the first ones goes all else.
  [[gnu::noinline]] void run(std::size_t first, const S* torque) {
    spread(first);
    for (std::size_t i = 0; i < m_ && !plain_; ++i) {
      P{}.store(e_[i].x);
    }
    Force<P> base{};
    for (int k = c_.end - 1; k >= c_.begin; --k) {
      gather(k, first, base);
    }
    keep(first, base, torque);
  }

 private:
  using Store = EmbeddedColumns<S>;

  BUNRAKU_INLINE static Vec3<P> load(const T (&from)[6][Store::lanes], int i) {
    return {P::load(from[i]), P::load(from[i + 1]), P::load(from[i + 2])};
  }
  BUNRAKU_INLINE static void store(const Vec3<P>& v, T (&to)[6][Store::lanes], int i) {
    v.x.store(to[i]);
    v.y.store(to[i + 1]);
    v.z.store(to[i + 2]);
  }
  BUNRAKU_INLINE std::size_t place(int k) const { return at(k - c_.begin); }

  /// a and B of all links, outward.
  BUNRAKU_INLINE void spread(std::size_t first) {
    for (int k = c_.begin; k < c_.end; ++k) {
      const Link<S>& l = ws_.link(k);
      Motion<P> b{};
      const bool inner = l.parent >= c_.begin;
      const bool biased = forces && first == 0;
      if (inner) {
        const T(&up)[6][Store::lanes] = B_[place(l.parent)].x;
        b.angular = load(up, 0);
        b.linear = load(up, 3);
      }
      if (inner || (biased && c_.parent >= 0)) {
        with_lane_axes(ws_, k, [&](const auto& axes, const Vec3<S>& p) BUNRAKU_INLINE_LAMBDA {
          if (inner) {
            b.linear -= arm_cross(p, b.angular);
            axes.back(b.angular);
          }
          if (biased) {
            add_first(ws_.arm_acceleration[at(k)], b.linear);
          }
          axes.back(b.linear);
        });
      }
      if (biased) {
        add_bias(k, b);
      }
      move(l, ws_.embedded.links[at(k)].place, first, b);
      store(b.angular, B_[place(k)].x, 0);
      store(b.linear, B_[place(k)].x, 3);
    }
  }

  /// a of a link but for the arm's part, to the first column.
  BUNRAKU_INLINE void add_bias(int k, Motion<P>& b) {
    const Link<S>& l = ws_.link(k);
    if (l.kind <= Kind::prismatic) {  // ω × H*θ̇, of a slide twice
      const Vec3<S>& w = ws_.turning[at(k + 1)].w;
      const S rate = ws_.v[l.v];
      if (l.kind == Kind::prismatic) {
        b.linear.x += first_of(w.y * (rate + rate));
        b.linear.y -= first_of(w.x * (rate + rate));
      } else {
        b.angular.x += first_of(w.y * rate);
        b.angular.y -= first_of(w.x * rate);
      }
      return;
    }
    const Motion<S>& a = ws_.special_bias[at(l.special)];
    add_first(a.angular, b.angular);
    add_first(a.linear, b.linear);
  }
  /// A number in the first column.
  BUNRAKU_INLINE static P first_of(const S& x) {
    P out{};
    out.set(0, x[0]);
    return out;
  }
  BUNRAKU_INLINE static void add_first(const Vec3<S>& a, Vec3<P>& b) {
    b.x += first_of(a.x);
    b.y += first_of(a.y);
    b.z += first_of(a.z);
  }

  /// Numbers of [θ̈_b X] of velocity e, which is at that place among those of the cluster.
  BUNRAKU_INLINE P free_row(int e, int place, std::size_t first) const {
    if (plain_) {
      return P::load(rows_ + at(place) * stride_ + first);
    }
    const Follower<double>& follower = ws_.tree->within[at(e)];
    return P(static_cast<T>(follower.ratio)) * P::load(rows_ + at(follower.own) * stride_ + first);
  }
  /// H*[θ̈_b X].
  BUNRAKU_INLINE void move(const Link<S>& l, int place, std::size_t first, Motion<P>& b) {
    if (l.kind < Kind::prismatic) {
      b.angular.z += free_row(l.v, place, first);
      return;
    }
    if (l.kind == Kind::prismatic) {
      b.linear.z += free_row(l.v, place, first);
      return;
    }
    for (int j = 0; j < l.nv; ++j) {
      const P row = free_row(l.v + j, place + j, first);
      const Motion<S>& H = column(ws_, l.v + j);
      b.angular += Vec3<P>{P(H.angular.x) * row, P(H.angular.y) * row, P(H.angular.z) * row};
      b.linear += Vec3<P>{P(H.linear.x) * row, P(H.linear.y) * row, P(H.linear.z) * row};
    }
  }

  /// What [a B] takes of a link, with all that hangs on it: along its hinge, and at its parent.
  BUNRAKU_INLINE void gather(int k, std::size_t first, Force<P>& base) {
    const Link<S>& l = ws_.link(k);
    const EmbeddedLink& known = ws_.embedded.links[at(k)];
    const T(&b)[6][Store::lanes] = B_[place(k)].x;
    const Motion<P> moved{load(b, 0), load(b, 3)};
    Force<P> f = known.carries_outer ? force_of_many(gathered(ws_, k), moved) : force_of_many(l.inertia, moved);
    if (forces && first == 0) {
      add_first(ws_.force[at(k)].moment, f.moment);
      add_first(ws_.force[at(k)].force, f.force);
    }
    if (known.carries_inner) {
      const T(&below)[6][Store::lanes] = F_[place(k)].x;
      f.moment += load(below, 0);
      f.force += load(below, 3);
    }
    for (int i = 0; i < l.nv; ++i) {
      const int e = l.v + i;
      P part = along(l, e, f);
      if (l.geared || l.kind > Kind::prismatic) {
        part += P(ws_.armature[at(e)]) * free_row(e, known.place + i, first);
      }
      if (plain_) {
        part.store(e_[known.place + i].x);
      } else {
        const Follower<double>& follower = ws_.tree->within[at(e)];
        T* sum = e_[at(follower.own)].x;
        (P::load(sum) + P(static_cast<T>(follower.ratio)) * part).store(sum);
      }
    }
    const bool inner = l.parent >= c_.begin;
    with_lane_axes(ws_, k, [&](const auto& axes, const Vec3<S>& p) BUNRAKU_INLINE_LAMBDA {
      axes.forth(f.force);
      axes.forth(f.moment);
      f.moment += arm_cross(p, f.force);
    });
    if (inner) {
      T(&up)[6][Store::lanes] = F_[place(l.parent)].x;
      if (!known.opens_inner) {
        f.moment += load(up, 0);
        f.force += load(up, 3);
      }
      store(f.moment, up, 0);
      store(f.force, up, 3);
    } else {
      base.moment += f.moment;
      base.force += f.force;
    }
    if (first == 0 && c_.parent >= 0) {
      hand_over_locked(k, l, known);
    }
  }
  BUNRAKU_INLINE P along(const Link<S>& l, int e, const Force<P>& f) const {
    if (l.kind <= Kind::prismatic) {
      return l.kind == Kind::prismatic ? f.force.z : f.moment.z;
    }
    const Motion<S>& H = column(ws_, e);
    return P(H.angular.x) * f.moment.x + P(H.angular.y) * f.moment.y + P(H.angular.z) * f.moment.z +
           P(H.linear.x) * f.force.x + P(H.linear.y) * f.force.y + P(H.linear.z) * f.force.z;
  }
  /// The inertia of a link and of all that hangs on it, to its parent, as if its hinge were locked.
  BUNRAKU_INLINE void hand_over_locked(int k, const Link<S>& l, const EmbeddedLink& known) {
    if (l.leaf) {
      const bool inner = l.parent >= c_.begin;
      add_rigid(in_parent(ws_, k), inner ? known.opens_inner : l.opens_parent,
                inner ? ws_.embedded.locked[place(l.parent)] : ws_.P[at(l.parent)]);
      return;
    }
    ArticulatedInertia<S> own = gathered(ws_, k);
    if (known.carries_inner) {
      own += ws_.embedded.locked[place(k)];
    }
    with_axes(ws_, k, [&](const auto& axes, const Vec3<S>& p) BUNRAKU_INLINE_LAMBDA {
      const ArticulatedInertia<S> there = axes.forth(own);
      if (l.parent < c_.begin) {
        hand_over(ws_, l, p, there);
        return;
      }
      const ArticulatedInertia<S> moved = shifted(there, p);
      ArticulatedInertia<S>& up = ws_.embedded.locked[place(l.parent)];
      if (known.opens_inner) {
        put(moved, up);
      } else {
        up += moved;
      }
    });
  }

  BUNRAKU_INLINE static Force<S> lane_of(const Force<P>& f, int i) {
    return {{S(f.moment.x[i]), S(f.moment.y[i]), S(f.moment.z[i])},
            {S(f.force.x[i]), S(f.force.y[i]), S(f.force.z[i])}};
  }
  /// D, Ū and ε, at the cluster's first coordinates; and what the parent gets at θ̈_b.
  BUNRAKU_INLINE void keep(std::size_t first, const Force<P>& base, const S* torque) {
    S* D = factors_.L.data() + c_.factor;
    const std::size_t skipped = first == 0 ? 1 : 0;  // a comes before B
    const std::size_t count = std::min<std::size_t>(width, r_ + 1 - first);
    for (std::size_t i = 0; i < r_; ++i) {
      P sum{};
      for (std::size_t j = 0; j < m_; ++j) {
        sum += P(rows_[j * stride_ + i + 1]) * P::load(e_[j].x);
      }
      if (forces && first == 0) {
        T epsilon = -sum[0];
        for (std::size_t j = 0; j < m_; ++j) {
          epsilon += rows_[j * stride_ + i + 1] * torque[c_.coordinates[j]][0];
        }
        ws_.epsilon[at(c_.coordinates[i])] = S(epsilon);
      }
      if (width == 2 && skipped == 1) {
        D[i * m_] = S(sum[1]);
        continue;
      }
      T numbers[width];
      sum.store(numbers);
      for (std::size_t lane = skipped; lane < count; ++lane) {
        D[i * m_ + first + lane - 1] = S(numbers[lane]);
      }
    }
    if (width == 2 && skipped == 1 && count == 2) {
      const Force<S> moved = lane_of(base, 1);
      Force<S>& U = factors_.U[at(c_.coordinates[0])];
      put(moved.moment, U.moment);
      put(moved.force, U.force);
      if (forces && c_.parent >= 0) {
        ws_.force[at(c_.parent)] += lane_of(base, 0);
      }
      return;
    }
    T U[6][width];
    base.moment.x.store(U[0]);
    base.moment.y.store(U[1]);
    base.moment.z.store(U[2]);
    base.force.x.store(U[3]);
    base.force.y.store(U[4]);
    base.force.z.store(U[5]);
    const auto stored = [&](std::size_t lane) BUNRAKU_INLINE_LAMBDA {
      return Force<S>{{S(U[0][lane]), S(U[1][lane]), S(U[2][lane])}, {S(U[3][lane]), S(U[4][lane]), S(U[5][lane])}};
    };
    for (std::size_t lane = skipped; lane < count; ++lane) {
      factors_.U[at(c_.coordinates[first + lane - 1])] = stored(lane);
    }
    if (forces && first == 0 && c_.parent >= 0) {
      ws_.force[at(c_.parent)] += stored(0);
    }
  }

  Workspace<S>& ws_;
  const CoupledLinks& c_;
  Factors<S>& factors_;
  std::size_t m_;
  std::size_t r_;
  const T* rows_;
  std::size_t stride_;
  bool plain_;
  Store* B_;
  Store* F_;
  EmbeddedNumbers<S>* e_;
};

/// Calls f.operator()<P>() with the registers in which so many columns go.
template <class S, class F>
BUNRAKU_INLINE void with_lanes(std::size_t columns, F&& f) {
  using T = NumberOf<S>;
  constexpr int most = EmbeddedColumns<S>::lanes;
  if (most == 2 || columns <= 2) {
    f.template operator()<Pack<T, 2>>();
  } else if (most == 4 || columns <= 4) {
    f.template operator()<Pack<T, (most < 4 ? most : 4)>>();
  } else {
    f.template operator()<Pack<T, (most < 8 ? most : 8)>>();
  }
}

/// D, Ū and ε of ξ; the parent gets what all of the cluster has with the hinges locked.
template <bool forces, class S>
void gather_embedded(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  const std::size_t r = independent(ws, c);
  with_lanes<S>(r + 1, [&]<class P> {
    EmbeddedElimination<forces, P, S> elimination(ws, c, factors);
    for (std::size_t first = 0; first <= r; first += at(Lanes<P>::count)) {
      elimination.run(first, torque);
    }
  });
  for (std::size_t j = r; j < c.coordinates.size(); ++j) {
    const std::size_t v = at(c.coordinates[j]);
    factors.U[v] = Force<S>::zero();
    factors.D_inverse[v] = S(1);
    if constexpr (forces) {
      ws.epsilon[v] = S(0);
    }
  }
}

}  // namespace bunraku::kernels
