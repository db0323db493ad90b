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

#include <algorithm>
#include <vector>

#include "bunraku/kernels/inertia_rate.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"
#include "bunraku/spatial/cross.hpp"

namespace bunraku::kernels {

/// Scratch of the derivatives: numbers of all coordinates in the depth-first order of ColumnLayout, those of a
/// component side by side. What belongs to a link is at its first coordinate.
template <class S>
struct DerivativeScratch {
  /// @name Where components start
  /// @{
  static constexpr int rotation = 0;       ///< Of the link's frame, column by column.
  static constexpr int position = 9;       ///< Of its origin.
  static constexpr int velocity = 12;      ///< V.
  static constexpr int acceleration = 18;  ///< A, the rate of V, gravity included.
  static constexpr int momentum = 0;       ///< RS; these four take the place of those above.
  static constexpr int turning = 6;        ///< 2B*S, a moment alone.
  static constexpr int by_q = 9;           ///< S × f + Rψ̈ + 2Bψ̇.
  static constexpr int by_v = 15;          ///< R(ψ̇ + Ṡ) + 2BS.
  static constexpr int column = 24;        ///< S.
  static constexpr int slope = 30;         ///< ψ̇.
  static constexpr int rate = 36;          ///< ψ̇ + Ṡ.
  static constexpr int curvature = 42;     ///< ψ̈.
  static constexpr int composite = 48;     ///< R: mass, first moment, inertia (xx, yy, zz, xy, xz, yz); 2B; f.
  static constexpr int composite_size = 28;
  static constexpr int own = composite + composite_size;  ///< The link's inertia, as in R: constants.
  static constexpr int components = own + 10;
  /// @}

  /// O(N) memory.
  explicit DerivativeScratch(const Workspace<S>& ws);

  /// Component c of coordinate e.
  BUNRAKU_INLINE S* cell(int c, int e) { return numbers.data() + c * stride + e; }
  /// Likewise.
  BUNRAKU_INLINE const S* cell(int c, int e) const { return numbers.data() + c * stride + e; }
  /// Three components of one coordinate.
  BUNRAKU_INLINE Vec3<S> vector(int c, int e) const { return {*cell(c, e), *cell(c + 1, e), *cell(c + 2, e)}; }
  /// Six.
  BUNRAKU_INLINE Motion<S> motion(int c, int e) const { return {vector(c, e), vector(c + 3, e)}; }
  /// Writes three.
  BUNRAKU_INLINE void put(int c, int e, const Vec3<S>& x) {
    *cell(c, e) = x.x;
    *cell(c + 1, e) = x.y;
    *cell(c + 2, e) = x.z;
  }
  /// Writes six.
  BUNRAKU_INLINE void put(int c, int e, const Motion<S>& x) {
    put(c, e, x.angular);
    put(c + 3, e, x.linear);
  }
  /// Three components of as many coordinates as a register holds.
  BUNRAKU_INLINE Vec3<Column<S>> load(int c, int e) const {
    return {load_column(cell(c, e)), load_column(cell(c + 1, e)), load_column(cell(c + 2, e))};
  }
  /// Six.
  BUNRAKU_INLINE Motion<Column<S>> load_motion(int c, int e) const { return {load(c, e), load(c + 3, e)}; }
  /// Writes three of so many.
  BUNRAKU_INLINE void store(int c, int e, const Vec3<Column<S>>& x) {
    store_column(x.x, cell(c, e));
    store_column(x.y, cell(c + 1, e));
    store_column(x.z, cell(c + 2, e));
  }
  /// Writes six of so many.
  BUNRAKU_INLINE void store(int c, int e, const Force<Column<S>>& x) {
    store(c, e, x.moment);
    store(c + 3, e, x.force);
  }

  std::ptrdiff_t stride = 0;           ///< From one component to the next.
  std::vector<S> numbers;              ///< See cell().
  std::vector<int> link_begin;         ///< Of each coordinate: the first of its link …
  std::vector<int> link_end;           ///< … and one beyond the last.
  std::vector<int> changing;           ///< Links whose H* changes in their own axes.
  std::vector<std::size_t> map_begin;  ///< Of each of them: where its columns start in map_rates.
  std::vector<Motion<S>> map_rates;    ///< ∂H*, as map_rates_at has them.
};

/// Writes the inertia of every link, which are constants, where the sweep reads them.
template <class S>
void copy_inertias(const Workspace<S>& ws, DerivativeScratch<S>& d) {
  using D = DerivativeScratch<S>;
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const RigidInertia<S>& M = ws.link(k).inertia;
    const int e = ws.composite_layout.first[at(k)];
    const S each[10] = {M.mass,       M.first_moment.x, M.first_moment.y, M.first_moment.z, M.inertia.xx,
                        M.inertia.yy, M.inertia.zz,     M.inertia.xy,     M.inertia.xz,     M.inertia.yz};
    for (int c = 0; c < 10; ++c) {
      *d.cell(D::own + c, e) = each[c];
    }
  }
}

template <class S>
DerivativeScratch<S>::DerivativeScratch(const Workspace<S>& ws) {
  constexpr int lanes = columns_per_register<S>;
  const int n = ws.tree->coordinates.nv;
  stride = (n + lanes - 1) / lanes * lanes + lanes;  // reads go up to a register beyond the last
  numbers.resize(at(components) * at(static_cast<int>(stride)));
  link_begin.resize(at(n));
  link_end.resize(at(n));
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    const int nv = ws.link(k).nv;
    const int e = ws.composite_layout.first[at(k)];
    for (int j = 0; j < nv; ++j) {
      link_begin[at(e + j)] = e;
      link_end[at(e + j)] = e + nv;
    }
    if (has_changing_map(ws.tree->hinge(k).type)) {
      changing.push_back(k);
      map_begin.push_back(map_rates.size());
      map_rates.resize(map_rates.size() + at(nv * nv));
    }
  }
  copy_inertias(ws, *this);
}

/// Frame, motion and column of revolute links that hang on others.
template <Kind kind, class S>
void slope_revolute(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  const int up = ws.composite_layout.first[at(l.parent)];
  const int e = ws.composite_layout.first[at(k)];
  const Vec3<S> x = d.vector(D::rotation, up);
  const Vec3<S> y = d.vector(D::rotation + 3, up);
  const Vec3<S> z = d.vector(D::rotation + 6, up);
  const Vec3<S> p = d.vector(D::position, up) + x * l.p.x + y * l.p.y + z * l.p.z;
  Vec3<S> own_x = x;
  Vec3<S> own_y = y;
  Vec3<S> axis = z;
  if constexpr (kind == Kind::revolute_quarter) {
    own_y = z;
    axis = -y;
  } else if constexpr (kind == Kind::revolute_x) {
    own_y = y * l.turn_c + z * l.turn_s;
    axis = z * l.turn_c - y * l.turn_s;
  } else if constexpr (kind == Kind::revolute_full) {
    own_x = x * l.turn(0, 0) + y * l.turn(1, 0) + z * l.turn(2, 0);
    own_y = x * l.turn(0, 1) + y * l.turn(1, 1) + z * l.turn(2, 1);
    axis = x * l.turn(0, 2) + y * l.turn(1, 2) + z * l.turn(2, 2);
  }
  const Spin<S>& spin = ws.spin[at(k)];
  d.put(D::rotation, e, own_x * spin.c + own_y * spin.s);
  d.put(D::rotation + 3, e, own_y * spin.c - own_x * spin.s);
  d.put(D::rotation + 6, e, axis);
  d.put(D::position, e, p);
  const Motion<S> V = d.motion(D::velocity, up);
  const Motion<S> A = d.motion(D::acceleration, up);
  const Motion<S> H{axis, cross(p, axis)};
  const Motion<S> slope = cross(V, H);
  d.put(D::column, e, H);
  d.put(D::slope, e, slope);
  d.put(D::rate, e, slope + slope);
  d.put(D::curvature, e, cross(A, H) + cross(V, slope));
  d.put(D::velocity, e, V + H * velocity[l.v]);
  d.put(D::acceleration, e, A + H * acceleration[l.v] + slope * velocity[l.v]);
}

/// The same of any link. Its pose in its tree's frame is the identity where it hangs on the world.
template <class S>
void slope_other(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  const int e = ws.composite_layout.first[at(k)];
  const Transform<S> X_PL = pose_of(ws, k);
  Transform<S> X = Transform<S>::identity();
  Motion<S> V = Motion<S>::zero();
  Motion<S> A{Vec3<S>::zero(), X_PL.rotation.inverse_times(ws.base_acceleration)};
  if (l.parent >= 0) {
    const int up = ws.composite_layout.first[at(l.parent)];
    const Vec3<S> x = d.vector(D::rotation, up);
    const Vec3<S> y = d.vector(D::rotation + 3, up);
    const Vec3<S> z = d.vector(D::rotation + 6, up);
    X = Transform<S>{Rotation<S>(Mat3<S>{{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}}),
                     d.vector(D::position, up)} *
        X_PL;
    V = d.motion(D::velocity, up);
    A = d.motion(D::acceleration, up);
  }
  for (int i = 0; i < 3; ++i) {
    d.put(D::rotation + 3 * i, e, X.rotation.matrix().column(i));
  }
  d.put(D::position, e, X.translation);
  const Hinge& hinge = ws.tree->hinge(k);
  const bool changes = has_changing_map(hinge.type);
  Motion<S>* map_rates = nullptr;  // here seen from the tree's frame
  Motion<S> bias_rates[max_hinge_velocities] = {};
  if (changes) {
    const auto found = std::lower_bound(d.changing.begin(), d.changing.end(), k);
    map_rates = d.map_rates.data() + d.map_begin[static_cast<std::size_t>(found - d.changing.begin())];
    map_rates_at(hinge, ws.q + l.q, velocity + l.v, map_rates, bias_rates);
    for (int i = 0; i < l.nv * l.nv; ++i) {
      map_rates[i] = X * map_rates[i];
    }
  }
  Motion<S> H[max_hinge_velocities];
  Motion<S> own_V = V;
  for (int j = 0; j < l.nv; ++j) {
    H[j] = X * column(ws, l.v + j);
    own_V += H[j] * velocity[l.v + j];
  }
  Motion<S> own_A = A;
  for (int j = 0; j < l.nv; ++j) {
    Motion<S> slope = cross(V, H[j]);
    Motion<S> rate = cross(own_V, H[j]);
    Motion<S> curvature = cross(A, H[j]);
    if (changes) {
      Motion<S> change = Motion<S>::zero();  // (∂H*)θ̇
      for (int c = 0; c < l.nv; ++c) {
        change += map_rates[j * l.nv + c] * velocity[l.v + c];
        rate += map_rates[c * l.nv + j] * velocity[l.v + c];
        curvature += map_rates[j * l.nv + c] * acceleration[l.v + c];
      }
      slope += change;
      curvature += cross(own_V, change) + X * bias_rates[j];
    }
    own_A += H[j] * acceleration[l.v + j] + rate * velocity[l.v + j];
    d.put(D::column, e + j, H[j]);
    d.put(D::slope, e + j, slope);
    d.put(D::rate, e + j, slope + rate);
    d.put(D::curvature, e + j, curvature + cross(V, slope));
  }
  d.put(D::velocity, e, own_V);
  d.put(D::acceleration, e, own_A);
}

/// From frames and motions: inertia, 2B and force of each link alone, seen from its tree's frame.
template <class S>
void weigh_links(DerivativeScratch<S>& d, int n) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  for (int e = 0; e < n; e += columns_per_register<S>) {
    const Vec3<C> x = d.load(D::rotation, e);
    const Vec3<C> y = d.load(D::rotation + 3, e);
    const Vec3<C> z = d.load(D::rotation + 6, e);
    const Mat3<C> R{{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
    const Vec3<C> diagonal = d.load(D::own + 4, e);
    const Vec3<C> others = d.load(D::own + 7, e);
    const RigidInertia<C> M = shifted(
        RigidInertia<C>{load_column(d.cell(D::own, e)), R * d.load(D::own + 1, e),
                        congruence(R, Sym3<C>{diagonal.x, diagonal.y, diagonal.z, others.x, others.y, others.z})},
        d.load(D::position, e));
    const Motion<C> V = d.load_motion(D::velocity, e);
    const InertiaRate<C> B = InertiaRate<C>::of(M, V);
    const Force<C> f = M * d.load_motion(D::acceleration, e) + cross(V, M * V);
    store_column(M.mass, d.cell(D::composite, e));
    d.store(D::composite + 1, e, M.first_moment);
    d.store(D::composite + 4, e, Vec3<C>{M.inertia.xx, M.inertia.yy, M.inertia.zz});
    d.store(D::composite + 7, e, Vec3<C>{M.inertia.xy, M.inertia.xz, M.inertia.yz});
    for (int i = 0; i < 3; ++i) {
      d.store(D::composite + 10 + 3 * i, e, B.upper.row(i) + B.upper.row(i));
    }
    d.store(D::composite + 19, e, B.momentum + B.momentum);
    d.store(D::composite + 22, e, f);
  }
}

/// Adds up composites inward, and gives those of a link to all of its coordinates.
template <class S>
void gather_composites(const Workspace<S>& ws, DerivativeScratch<S>& d) {
  using D = DerivativeScratch<S>;
  for (int k = static_cast<int>(ws.tree->links.size()) - 1; k >= 0; --k) {
    const Link<S>& l = ws.link(k);
    const int e = ws.composite_layout.first[at(k)];
    const S* from = d.cell(D::composite, e);
    if (l.parent >= 0) {
      S* to = d.cell(D::composite, ws.composite_layout.first[at(l.parent)]);
      for (std::ptrdiff_t c = 0; c < D::composite_size; ++c) {
        to[c * d.stride] += from[c * d.stride];
      }
    }
    for (int j = 1; j < l.nv; ++j) {
      S* to = d.cell(D::composite, e + j);
      for (std::ptrdiff_t c = 0; c < D::composite_size; ++c) {
        to[c * d.stride] = from[c * d.stride];
      }
    }
  }
}

/// From composites and columns: the forces that each column meets its path to the base with.
template <class S>
void load_columns(DerivativeScratch<S>& d, int n) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  for (int e = 0; e < n; e += columns_per_register<S>) {
    const Vec3<C> diagonal = d.load(D::composite + 4, e);
    const Vec3<C> others = d.load(D::composite + 7, e);
    const RigidInertia<C> R{load_column(d.cell(D::composite, e)),
                            d.load(D::composite + 1, e),
                            {diagonal.x, diagonal.y, diagonal.z, others.x, others.y, others.z}};
    const Vec3<C> row_x = d.load(D::composite + 10, e);
    const Vec3<C> row_y = d.load(D::composite + 13, e);
    const Vec3<C> row_z = d.load(D::composite + 16, e);
    const InertiaRate<C> B{{{{row_x.x, row_x.y, row_x.z}, {row_y.x, row_y.y, row_y.z}, {row_z.x, row_z.y, row_z.z}}},
                           d.load(D::composite + 19, e)};
    const Force<C> f{d.load(D::composite + 22, e), d.load(D::composite + 25, e)};
    const Motion<C> H = d.load_motion(D::column, e);
    d.store(D::momentum, e, R * H);
    d.store(D::turning, e, adjoint_times(B, H).moment);
    d.store(D::by_q, e, cross(H, f) + R * d.load_motion(D::curvature, e) + B * d.load_motion(D::slope, e));
    d.store(D::by_v, e, R * d.load_motion(D::rate, e) + B * H);
  }
}

/// Where the three matrices go, column by column, n numbers each.
template <class S>
struct Derivatives {
  S* dq = nullptr;  ///< ∂T/∂q.
  S* dv = nullptr;  ///< ∂T/∂θ̇.
  S* da = nullptr;  ///< ∂T/∂θ̈ = 𝓜.
};

/// The elements of coordinate e with all of its subtree.
template <class S>
BUNRAKU_INLINE void pair_up(const Workspace<S>& ws, const DerivativeScratch<S>& d, int e, const Derivatives<S>& out) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  constexpr int lanes = columns_per_register<S>;
  const int* user = ws.composite_layout.user.data();
  const std::ptrdiff_t n = ws.tree->coordinates.nv;
  const std::ptrdiff_t own = user[e];
  const int beyond = d.link_end[at(e)];
  const int end = ws.composite_layout.coordinate_end[at(e)];
  const Motion<S> H = d.motion(D::column, e);
  const Vec3<S> slope = d.vector(D::slope, e);
  const Motion<S> rate = d.motion(D::rate, e);
  const Motion<S> curvature = d.motion(D::curvature, e);
  const auto columns = [&](int c, int i) BUNRAKU_INLINE_LAMBDA { return Columns<S>{d.load(c, i), d.load(c + 3, i)}; };
  const auto turn = [](const Vec3<S>& a, const Vec3<C>& b)
                        BUNRAKU_INLINE_LAMBDA { return a.x * b.x + a.y * b.y + a.z * b.z; };
  for (int i = d.link_begin[at(e)]; i < end; i += lanes) {
    const Columns<S> momentum = columns(D::momentum, i);
    const Vec3<C> turning = d.load(D::turning, i);
    S down_q[lanes];
    S down_v[lanes];
    S across_q[lanes];
    S across_v[lanes];
    S mass[lanes];
    store_column(along(curvature, momentum) + turn(slope, turning), down_q);
    store_column(along(rate, momentum) + turn(H.angular, turning), down_v);
    store_column(along(H, momentum), mass);
    store_column(along(H, columns(D::by_q, i)), across_q);
    store_column(along(H, columns(D::by_v, i)), across_v);
    for (int lane = 0; lane < lanes && i + lane < end; ++lane) {
      const std::ptrdiff_t other = user[i + lane];
      out.dq[own * n + other] = down_q[lane];
      out.dv[own * n + other] = down_v[lane];
      out.da[own * n + other] = mass[lane];
      if (i + lane >= beyond) {
        out.dq[other * n + own] = across_q[lane];
        out.dv[other * n + own] = across_v[lane];
        out.da[other * n + own] = mass[lane];
      }
    }
  }
}

/// ∂T/∂q, ∂T/∂θ̇ and ∂T/∂θ̈ over all hinges at velocities and accelerations of all hinges, each n×n, column by column.
template <class S>
void inverse_derivatives(Workspace<S>& ws, DerivativeScratch<S>& d, const S* velocity, const S* acceleration,
                         const Derivatives<S>& out) {
  using D = DerivativeScratch<S>;
  need_positions(ws);
  const int n = ws.tree->coordinates.nv;
  for (const Run& run : ws.tree->runs) {
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      for (int k = begin; k < end; ++k) {
        ws.link(k).parent < 0 ? slope_other(ws, d, k, velocity, acceleration)
                              : slope_revolute<kind>(ws, d, k, velocity, acceleration);
      }
    };
    if (!if_revolute(run, revolute)) {
      for (int k = run.begin; k < run.end; ++k) {
        slope_other(ws, d, k, velocity, acceleration);
      }
    }
  }
  weigh_links(d, n);
  gather_composites(ws, d);
  load_columns(d, n);
  if (ws.composite_layout.branches) {  // hinges on different branches do not feel each other
    for (S* each : {out.dq, out.dv, out.da}) {
      std::fill_n(each, at(n) * at(n), S(0));
    }
  }
  for (int e = 0; e < n; ++e) {
    pair_up(ws, d, e, out);
  }
  for (int j = 0; j < n; ++j) {
    out.da[at(j) * at(n + 1)] += ws.armature[at(j)];
  }
  for (std::size_t c = 0; c < d.changing.size(); ++c) {  // (∂H)f
    const Link<S>& l = ws.link(d.changing[c]);
    const int e = ws.composite_layout.first[at(d.changing[c])];
    const Force<S> f{d.vector(D::composite + 22, e), d.vector(D::composite + 25, e)};
    for (int j = 0; j < l.nv; ++j) {
      for (int i = 0; i < l.nv; ++i) {
        out.dq[at(l.v + j) * at(n) + at(l.v + i)] += dot(d.map_rates[d.map_begin[c] + at(j * l.nv + i)], f);
      }
    }
  }
}

}  // namespace bunraku::kernels
