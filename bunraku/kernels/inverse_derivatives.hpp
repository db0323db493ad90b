/// @file
/// Derivatives of inverse dynamics in tangent coordinates: ∂T/∂q, ∂T/∂θ̇ and ∂T/∂θ̈ = 𝓜 over all hinges. O(N d).
///
/// All is seen from a frame that stands still where the first link of the tree is at this instant, so that a link's
/// motion by a column S of H* moves what hangs on it as one: x becomes x + S × x. With p the parent of the column's
/// link k, its derivatives ∂H*, and per column
///
///     ψ̇ = V(p) × S + (∂H*)θ̇,     ψ̈ = A(p) × S + V(p) × ψ̇ + (∂H*)θ̈ + V(k) × (∂H*)θ̇ + ∂(Ḣ*)θ̇,     Ṡ = V(k) × S + Ḣ*,
///
/// every link outside has ∂V = S × V + ψ̇ and ∂A = S × A + ψ̇ × V + ψ̈ by q, ∂V = S and ∂A = S × V + ψ̇ + Ṡ by θ̇, and its
/// force f = MA + V × MV has ∂f = S × f + Mψ̈ + 2Bψ̇ by q and M(ψ̇ + Ṡ) + 2BS by θ̇, with the B of inertia_rate.hpp. Summed
/// over the links outside, M, B and f are those of composite bodies, and for a column i and a column j of its link or
/// farther in
///
///     ∂T(i)/∂q(j) = S(i)·[Rψ̈(j) + 2Bψ̇(j)],              ∂T(i)/∂θ̇(j) = S(i)·[R(ψ̇ + Ṡ)(j) + 2BS(j)],
///     ∂T(j)/∂q(i) = S(j)·[S(i) × f + Rψ̈(i) + 2Bψ̇(i)],   ∂T(j)/∂θ̇(i) = S(j)·[R(ψ̇ + Ṡ)(i) + 2BS(i)],
///
/// with R, B, f of i's link, where the lower line is for j on another link than i. In one frame composites add up
/// without being moved, and the pairs are products of numbers side by side.
#pragma once

#include "bunraku/kernels/derivative_composites.hpp"
#include "bunraku/kernels/derivative_paths.hpp"

namespace bunraku::kernels {

/// Elements of a column of the three matrices, in the rows of a register's coordinates.
template <class S>
struct ColumnElements {
  Column<S> q, v, a;
};

/// Three components of a coordinate, whose lane starts at x, times three of the coordinates of a register, added.
template <class S>
BUNRAKU_INLINE Column<S> three_more(Column<S> sum, const S* x, int own, const S* y, int other) {
  constexpr int lanes = columns_per_register<S>;
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    sum += x[(own + i) * lanes] * load_column(y + (other + i) * lanes);
  }
  return sum;
}

/// Those in the rows of coordinates farther in than the one whose lane starts at x, of the register that starts at y.
template <bool mass, class S>
BUNRAKU_INLINE ColumnElements<S> elements_inside(const S* x, const S* y) {
  using D = DerivativeScratch<S>;
  return {six(x, D::by_q, y, D::column), six(x, D::by_v, y, D::column),
          mass ? six(x, D::momentum, y, D::column) : Column<S>{}};
}

/// Those in the rows of coordinates of the same link, or farther out.
template <bool mass, class S>
BUNRAKU_INLINE ColumnElements<S> elements_outside(const S* x, const S* y) {
  using D = DerivativeScratch<S>;
  return {three_more(six(x, D::curvature, y, D::momentum), x, D::slope, y, D::turning),
          three_more(six(x, D::rate, y, D::momentum), x, D::column, y, D::turning),
          mass ? six(x, D::column, y, D::momentum) : Column<S>{}};
}

/// `inside` in the first `count` lanes, `outside` in the others.
template <class S>
BUNRAKU_INLINE ColumnElements<S> joined(int count, const ColumnElements<S>& inside, const ColumnElements<S>& outside) {
  return {joined<S>(count, inside.q, outside.q), joined<S>(count, inside.v, outside.v),
          joined<S>(count, inside.a, outside.a)};
}

/// Where elements come from and go to: in one object of its own, for the compiler to know that no store changes it.
template <Wanted wanted, class S>
struct ColumnWriter {
  static constexpr int lanes = columns_per_register<S>;
  /// Whether 𝓜 is wanted, and coordinates in their order.
  static constexpr bool mass = wanted == Wanted::matrices;

  ColumnWriter(const DerivativeScratch<S>& d, int n, const Derivatives<S>& out)
      : numbers(d.numbers.data()),
        of_links(d.links().numbers.data()),
        place(d.layout.place.data()),
        used(d.layout.used.data()),
        in_row(d.layout.in_row.data()),
        stride(mass ? n : d.registers * lanes),
        to(out) {}

  /// The lane of a coordinate.
  BUNRAKU_INLINE const S* lane(int e) const { return numbers + DerivativeScratch<S>::start(e); }
  /// A register.
  BUNRAKU_INLINE const S* at_register(int r) const { return lane(r * lanes); }
  /// Where all components of coordinate e of link k are.
  BUNRAKU_INLINE const S* all_of(const Link<S>& l, int k, int e) const {
    return l.nv == 1 ? of_links + DerivativeScratch<S>::start(k) : lane(e);
  }

  /// The row of a lane in the matrices.
  BUNRAKU_INLINE std::ptrdiff_t row(int e) const { return mass ? place[e] : e; }
  /// Where its column starts in each of them.
  BUNRAKU_INLINE std::ptrdiff_t start(int e) const { return place[e] * stride; }

  /// Writes elements of a column that starts at `start` in each matrix, in the rows of register r.
  BUNRAKU_INLINE void put(int r, const ColumnElements<S>& x, std::ptrdiff_t start) const {
    if constexpr (mass) {
      put(x.q, r, to.dq + start);
      put(x.v, r, to.dv + start);
      put(x.a, r, to.da + start);
    } else {
      store_column(x.q, to.dq + start + r * lanes);
      store_column(x.v, to.dv + start + r * lanes);
    }
  }
  /// Likewise of one matrix.
  BUNRAKU_INLINE void put(const Column<S>& x, int r, S* column) const {
    const int* rows = place + r * lanes;
    const int count = used[r];
    if (in_row[r] != 0) [[likely]] {
      store_some(x, count, column + rows[0]);
      return;
    }
#pragma GCC unroll 16
    for (int i = 0; i < lanes && i < count; ++i) {  // from the register: not through memory
      column[rows[i]] = S(x[i]);
    }
  }

  const S* numbers;       ///< Of the scratch.
  const S* of_links;      ///< Of its links.
  const int* place;       ///< Likewise.
  const int* used;        ///< Likewise.
  const int* in_row;      ///< Likewise.
  std::ptrdiff_t stride;  ///< From column to column.
  Derivatives<S> to;      ///< The matrices.
};

/// The columns of a link's coordinates.
template <Wanted wanted, class S>
void write_columns(const Workspace<S>& ws, const DerivativeScratch<S>& d, int k, const Derivatives<S>& out) {
  using D = DerivativeScratch<S>;
  constexpr int lanes = columns_per_register<S>;
  constexpr bool mass = ColumnWriter<wanted, S>::mass;
  const ColumnWriter<wanted, S> writer(d, ws.tree->coordinates.nv, out);
  const int begin = d.layout.lane_of[at(k)];
  const int last = begin + ws.link(k).nv;
  const int own = begin / lanes;
  const int end = ws.composite_layout.register_end[at(k)];
  const int inside = d.layout.inside[at(k)];
  const int floating = d.layout.floating[at(k)];
  const PathRegister* const path = d.layout.path.data() + d.layout.path_begin[at(k)];
  const int count = d.layout.path_begin[at(k) + 1] - d.layout.path_begin[at(k)];
  for (int e = begin; e < last; ++e) {
    const std::ptrdiff_t start = writer.start(e);
    const S* const x = writer.all_of(ws.link(k), k, e);
    for (int i = 0; i < count; ++i) {
      const ColumnElements<S> there = elements_inside<mass>(x, writer.at_register(path[i].index));
      writer.put(path[i].index, joined<S>(path[i].lanes, there, ColumnElements<S>{}), start);
    }
    const S* const y = writer.at_register(own);
    const ColumnElements<S> beside = elements_outside<mass>(x, y);
    writer.put(own, inside == 0 ? beside : joined<S>(inside, elements_inside<mass>(x, y), beside), start);
    for (int r = own + 1; r < end; ++r) {
      writer.put(r, elements_outside<mass>(x, writer.at_register(r)), start);
    }
    if (floating >= 0) {  // S are unit vectors there
      const std::ptrdiff_t there = start + writer.row(floating);
      S* const q = writer.to.dq + there;
      S* const v = writer.to.dv + there;
      S* const a = mass ? writer.to.da + there : nullptr;
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        q[j] = x[(D::by_q + j) * lanes];
        v[j] = x[(D::by_v + j) * lanes];
        if constexpr (mass) {
          a[j] = x[(D::momentum + j) * lanes];
        }
      }
    }
  }
}

/// The columns of a free body against the world, whose S are unit vectors: with N and F of each momentum RS, g what
/// gravity is to the base, and V = (ω, v), ∂T/∂q is (F × g, 0) and ∂T/∂θ̇ is (N × ω + F × v + 2B*S, F × ω).
template <Wanted wanted, class S>
void write_floating(const Workspace<S>& ws, const DerivativeScratch<S>& d, int k, const S* velocity,
                    const Derivatives<S>& out) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  const Link<S>& l = ws.link(k);
  const int begin = d.layout.lane_of[at(k)];
  const ColumnWriter<wanted, S> writer(d, ws.tree->coordinates.nv, out);
  const Vec3<S> gravity = placed(ws, l).rotation.inverse_times(ws.base_acceleration);
  const Vec3<C> g{gravity.x, gravity.y, gravity.z};
  const S* rate = velocity + l.v;
  const Vec3<C> w{rate[0], rate[1], rate[2]};
  const Vec3<C> v{rate[3], rate[4], rate[5]};
  for (int r = begin / D::lanes; r < ws.composite_layout.register_end[at(k)]; ++r) {
    const Vec3<C> N = d.load(D::momentum, r);
    const Vec3<C> F = d.load(D::momentum + 3, r);
    const Vec3<C> by_w = cross(N, w) + cross(F, v) + d.load(D::turning, r);
    if constexpr (wanted == Wanted::unbound) {
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) {
        store_column(by_w[j], writer.to.dv + writer.start(begin + j) + r * D::lanes);
      }
    } else {
      const Vec3<C> by_q = cross(F, g);
      const Vec3<C> by_v = cross(F, w);
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) {
        writer.put(r, {by_q[j], by_w[j], N[j]}, writer.start(begin + j));
        writer.put(r, {C{}, by_v[j], F[j]}, writer.start(begin + 3 + j));
      }
    }
  }
}

/// Derivatives of T over all hinges at velocities and accelerations of all hinges. Where hinges on different branches
/// do not feel each other nothing is written but zeros.
template <Wanted wanted, class S>
void inverse_derivatives(Workspace<S>& ws, DerivativeScratch<S>& d, const S* velocity, const S* acceleration,
                         const Derivatives<S>& out) {
  using D = DerivativeScratch<S>;
  need_positions(ws);
  const int n = ws.tree->coordinates.nv;
  for (const Run& run : ws.tree->runs) {
    move_frames(ws, d, run, velocity, acceleration);
  }
  if constexpr (D::lanes == 1) {
    gather_in_turn(ws, d, velocity, acceleration);
    write_paths<wanted>(ws, d, velocity, out);
  } else {
    gather_registers(ws, d, velocity, acceleration);
    for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
      ws.link(k).kind == Kind::floating
          ? write_floating<wanted>(ws, d, k, velocity, out)
          : write_columns<wanted == Wanted::unbound ? Wanted::slopes : wanted>(ws, d, k, out);
    }
  }
  if (out.da != nullptr) {
    for (int j = 0; j < n; ++j) {
      const std::ptrdiff_t diagonal = std::ptrdiff_t{j} * (n + 1);
      out.da[out.places != nullptr ? out.places[diagonal] : diagonal] += ws.armature[at(j)];
    }
  }
  const ColumnWriter<wanted, S> writer(d, n, out);
  for (const int k : d.layout.changing) {  // (∂H)f
    const Link<S>& l = ws.link(k);
    const int e = d.layout.lane_of[at(k)];
    const Force<S> f{d.bodies.vector(D::force, k), d.bodies.vector(D::force + 3, k)};
    for (int j = 0; j < l.nv; ++j) {
      for (int i = 0; i < l.nv; ++i) {
        const std::ptrdiff_t to =
            out.places != nullptr ? out.places[(l.v + i) * n + l.v + j] : writer.start(e + j) + writer.row(e + i);
        out.dq[to] += dot(d.map_rates[at(d.layout.map_begin[at(k)] + j * l.nv + i)], f);
      }
    }
  }
}

}  // namespace bunraku::kernels
