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
#include <cstdint>
#include <vector>

#include "bunraku/kernels/carry.hpp"
#include "bunraku/kernels/coordinate_lanes.hpp"
#include "bunraku/kernels/inertia_rate.hpp"
#include "bunraku/kernels/joint_map_rates.hpp"
#include "bunraku/kernels/room.hpp"
#include "bunraku/spatial/cross.hpp"

namespace bunraku::kernels {

/// Scratch of the derivatives: coordinates in their lanes of ColumnLayout's registers, where a branch begins with a new
/// register. Where registers hold several, that leaves lanes empty; what belongs to links, and to the only coordinate
/// of a link, is first made in lanes one after the other.
template <class S>
struct DerivativeScratch : CoordinateLanes<S, 86> {
  using Lanes = CoordinateLanes<S, 86>;
  static constexpr int lanes = columns_per_register<S>;  ///< Coordinates in a register.
  /// @name Where components start
  /// @{
  static constexpr int frame_z = 6;        ///< Of the link's frame, which starts at 0, the third axis.
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
  static constexpr int own = composite + composite_size;  ///< The link's inertia, as in R, see copy_inertias.
  /// @}

  /// O(N) memory. The layout must outlive it.
  DerivativeScratch(const Workspace<S>& ws, const DerivativeLayout& l);

  /// Lanes of links …
  BUNRAKU_INLINE Lanes& links() {
    if constexpr (lanes == 1) {
      return *this;
    } else {
      return of_links;
    }
  }
  /// Likewise.
  BUNRAKU_INLINE const Lanes& links() const { return const_cast<DerivativeScratch*>(this)->links(); }
  /// … and which is whose.
  BUNRAKU_INLINE int link_lane(int k) const { return lanes == 1 ? layout.lane_of[at(k)] : k; }

  /// Where slopes go: made at the first call.
  Slopes<S> slopes() {
    const int stride = this->registers * lanes;
    const std::size_t size = layout.lane.size() * at(stride);
    for (RegisterArray<S>* each : {&dq, &dv}) {
      if (each->registers.empty()) {
        *each = RegisterArray<S>(size);
      }
    }
    return {dq.data(), dv.data(), stride, layout.lane.data()};
  }

  const DerivativeLayout& layout;    ///< Which coordinate is where.
  std::vector<Motion<S>> map_rates;  ///< ∂H*, as map_rates_at has them.
  RegisterArray<S> dq{0};            ///< Slopes: zero where they always are, but for lanes without coordinates.
  RegisterArray<S> dv{0};            ///< Likewise.
  Lanes of_links;                    ///< Where registers hold several numbers.
};

/// Writes the inertia of every link, which are constants, where the sweep reads them: where registers hold several.
template <class S>
void copy_inertias(const Workspace<S>& ws, DerivativeScratch<S>& d) {
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    d.links().put(DerivativeScratch<S>::own, d.link_lane(k), ws.link(k).inertia);
  }
}

template <class S>
DerivativeScratch<S>::DerivativeScratch(const Workspace<S>& ws, const DerivativeLayout& l)
    : Lanes(ws.composite_layout.registers),
      layout(l),
      map_rates(at(l.map_columns)),
      of_links(lanes == 1 ? 0 : (static_cast<int>(ws.tree->links.size()) + lanes - 1) / lanes) {
  if constexpr (lanes > 1) {
    copy_inertias(ws, *this);
  }
}

/// Where a link is and how it moves, seen from its tree's frame.
template <class S>
struct LinkMotion {
  Transform<S> X = Transform<S>::identity();  ///< Its frame.
  Motion<S> V = Motion<S>::zero();            ///< V.
  Motion<S> A = Motion<S>::zero();            ///< A.
};

/// Of a link that another hangs on, from the scratch.
template <class S>
LinkMotion<S> motion_of(const DerivativeScratch<S>& d, int k) {
  using D = DerivativeScratch<S>;
  const int e = d.link_lane(k);
  return {d.links().frame(e).pose(), d.links().motion(D::velocity, e), d.links().motion(D::acceleration, e)};
}
/// Of the world, for a link whose frame is that of the tree.
template <class S>
LinkMotion<S> motion_of_world(const Workspace<S>& ws, int k) {
  LinkMotion<S> out;
  out.X = pose_of(ws, k).inverse();
  out.A.linear = out.X.rotation * ws.base_acceleration;
  return out;
}

/// Puts a link's own frame and motion in the scratch.
template <class S>
BUNRAKU_INLINE void put_motion(DerivativeScratch<S>& d, int k, const LinkFrame<S>& frame, const Motion<S>& V,
                               const Motion<S>& A) {
  using D = DerivativeScratch<S>;
  const int e = d.link_lane(k);
  d.links().put_frame(e, frame);
  d.links().put(D::velocity, e, V);
  d.links().put(D::acceleration, e, A);
}

/// Frame and motion of revolute links that hang on others.
template <Kind kind, class S>
void move_frame(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  const typename D::Lanes& links = d.links();
  const int up = d.link_lane(l.parent);
  const LinkFrame<S> frame = frame_on<kind>(links.frame(up), l, ws.spin[at(k)]);
  const Motion<S> V = links.motion(D::velocity, up);
  const Motion<S> H{frame.z, cross(frame.p, frame.z)};
  put_motion(d, k, frame, V + H * velocity[l.v],
             links.motion(D::acceleration, up) + H * acceleration[l.v] + cross(V, H) * velocity[l.v]);
}

/// Columns of any link and their derivatives, from what its parent does; see map_rates_at. There is room for `most`.
template <class S, int most>
struct LinkColumns {
  Motion<S> H[most];                ///< S.
  Motion<S> change[most] = {};      ///< (∂H*)θ̇.
  Motion<S> rate[most] = {};        ///< Ḣ*.
  Motion<S> further[most] = {};     ///< (∂H*)θ̈ + ∂(Ḣ*)θ̇.
  Motion<S> V = Motion<S>::zero();  ///< Of the link.
};

template <int most, class S>
LinkColumns<S, most> columns_of(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const Transform<S>& X,
                                const Motion<S>& V, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const Hinge& hinge = ws.tree->hinge(k);
  LinkColumns<S, most> out;
  out.V = V;
  for (int j = 0; j < l.nv; ++j) {
    out.H[j] = X * column(ws, l.v + j);
    out.V += out.H[j] * velocity[l.v + j];
  }
  if (has_changing_map(hinge)) {
    Motion<S>* rates = d.map_rates.data() + d.layout.map_begin[at(k)];
    map_rates_at(hinge, ws.q + l.q, velocity + l.v, rates, out.further);
    for (int i = 0; i < l.nv * l.nv; ++i) {
      rates[i] = X * rates[i];
    }
    for (int j = 0; j < l.nv; ++j) {
      out.further[j] = X * out.further[j];
      for (int c = 0; c < l.nv; ++c) {
        out.change[j] += rates[j * l.nv + c] * velocity[l.v + c];
        out.rate[j] += rates[c * l.nv + j] * velocity[l.v + c];
        out.further[j] += rates[j * l.nv + c] * acceleration[l.v + c];
      }
    }
  }
  return out;
}

/// Frame and motion of any link; the frame of one that hangs on the world is that of its tree.
template <int most, class S>
void move_other(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const LinkMotion<S> up = l.parent < 0 ? motion_of_world(ws, k) : motion_of(d, l.parent);
  const Transform<S> X = l.parent < 0 ? Transform<S>::identity() : up.X * pose_of(ws, k);
  const LinkColumns<S, most> columns = columns_of<most>(ws, d, k, X, up.V, velocity, acceleration);
  Motion<S> A = up.A;
  for (int j = 0; j < l.nv; ++j) {
    A += columns.H[j] * acceleration[l.v + j] + (cross(columns.V, columns.H[j]) + columns.rate[j]) * velocity[l.v + j];
  }
  put_motion(d, k, LinkFrame<S>::of(X), columns.V, A);
}

/// A free body against the world: H = I, and its frame is that of its tree.
template <class S>
void move_floating(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const S* v = velocity + l.v;
  const S* a = acceleration + l.v;
  const Vec3<S> up = placed(ws, l).rotation.inverse_times(ws.base_acceleration);
  put_motion(d, k, LinkFrame<S>{}, Motion<S>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}},
             Motion<S>{{a[0], a[1], a[2]}, {up.x + a[3], up.y + a[4], up.z + a[5]}});
}

/// A revolute link against the world, likewise.
template <class S>
void move_first(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  const S zero(0);
  put_motion(
      d, k, LinkFrame<S>{}, Motion<S>{{zero, zero, velocity[l.v]}, Vec3<S>::zero()},
      Motion<S>{{zero, zero, acceleration[l.v]}, ws.spin[at(k)].back(transpose_times(l.turn, ws.base_acceleration))});
}

/// A prismatic link, likewise, or on another.
template <class S>
void move_prismatic(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  if (l.parent < 0) {
    const Vec3<S> z = Vec3<S>::unit_z();
    put_motion(d, k, LinkFrame<S>{}, Motion<S>{Vec3<S>::zero(), z * velocity[l.v]},
               Motion<S>{Vec3<S>::zero(), transpose_times(l.turn, ws.base_acceleration) + z * acceleration[l.v]});
    return;
  }
  const int up = d.link_lane(l.parent);
  const LinkFrame<S> there = d.links().frame(up);
  const auto turned = [&](int j) { return there.x * l.turn(0, j) + there.y * l.turn(1, j) + there.z * l.turn(2, j); };
  const Vec3<S> axis = turned(2);
  const Motion<S> V = d.links().motion(D::velocity, up);
  const Motion<S> A = d.links().motion(D::acceleration, up);
  const Vec3<S> p = there.p + there.x * l.p.x + there.y * l.p.y + there.z * l.p.z + axis * ws.q[l.q];
  put_motion(d, k, LinkFrame<S>{turned(0), turned(1), axis, p}, Motion<S>{V.angular, V.linear + axis * velocity[l.v]},
             Motion<S>{A.angular, A.linear + axis * acceleration[l.v] + cross(V.angular, axis) * velocity[l.v]});
}

/// Frames and motions of the links of a run.
template <class S>
void move_frames(Workspace<S>& ws, DerivativeScratch<S>& d, const Run& run, const S* velocity, const S* acceleration) {
  const auto revolute = [&]<Kind kind>(int begin, int end) {
    for (int k = begin; k < end; ++k) {
      ws.link(k).parent < 0 ? move_first(ws, d, k, velocity, acceleration)
                            : move_frame<kind>(ws, d, k, velocity, acceleration);
    }
  };
  if (!if_revolute(run, revolute)) {
    for (int k = run.begin; k < run.end; ++k) {
      if (run.kind == Kind::floating) {
        move_floating(ws, d, k, velocity, acceleration);
      } else if (run.kind == Kind::prismatic) {
        move_prismatic(ws, d, k, velocity, acceleration);
      } else {
        with_room(ws.link(k).nv, [&]<int most>() { move_other<most>(ws, d, k, velocity, acceleration); });
      }
    }
  }
}

/// From the frame and motion of a link: its inertia, 2B and force, seen from its tree's frame, with what others have
/// handed over to it where it is `inner`; and S, ψ̇, ψ̇ + Ṡ and ψ̈ as those of revolute links are, for which V and A of
/// the link itself serve as well as its parent's. `alone` is its inertia in its own axes. For a register of links.
template <bool inner, class S>
BUNRAKU_INLINE void weigh_link(typename DerivativeScratch<S>::Lanes& d, int r, const RigidInertia<Column<S>>& alone) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  const LinkFrame<C> frame = d.load_frame(r);
  const Motion<C> V = d.load_motion(D::velocity, r);
  const Motion<C> A = d.load_motion(D::acceleration, r);
  const Motion<C> H{frame.z, cross(frame.p, frame.z)};
  const Motion<C> slope = cross(V, H);
  d.store(D::column, r, H);
  d.store(D::slope, r, slope);
  d.store(D::rate, r, slope + slope);
  d.store(D::curvature, r, cross(A, H) + cross(V, slope));
  const Mat3<C> R = frame.pose().rotation.matrix();
  const RigidInertia<C> M =
      shifted(RigidInertia<C>{alone.mass, R * alone.first_moment, congruence(R, alone.inertia)}, frame.p);
  const InertiaRate<C> B = InertiaRate<C>::of(M, V);
  const auto put = [&](int c, const C& x) BUNRAKU_INLINE_LAMBDA {
    d.store(D::composite + c, r, inner ? d.load_one(D::composite + c, r) + x : x);
  };
  const auto put_vector = [&](int c, const Vec3<C>& x) BUNRAKU_INLINE_LAMBDA {
    put(c, x.x);
    put(c + 1, x.y);
    put(c + 2, x.z);
  };
  put(0, M.mass);
  put_vector(1, M.first_moment);
  put_vector(4, {M.inertia.xx, M.inertia.yy, M.inertia.zz});
  put_vector(7, {M.inertia.xy, M.inertia.xz, M.inertia.yz});
  for (int i = 0; i < 3; ++i) {
    put_vector(10 + 3 * i, B.upper.row(i) + B.upper.row(i));
  }
  put_vector(19, B.momentum + B.momentum);
  const Force<C> f = M * A + B * V;
  put_vector(22, f.moment);
  put_vector(25, f.force);
}

/// S, ψ̇, ψ̇ + Ṡ and ψ̈ of a link that is not revolute.
template <int most, class S>
void slope_other(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  const LinkMotion<S> up = l.parent < 0 ? motion_of_world(ws, k) : motion_of(d, l.parent);
  const LinkColumns<S, most> columns = columns_of<most>(ws, d, k, motion_of(d, k).X, up.V, velocity, acceleration);
  typename D::Lanes& to = l.nv == 1 ? d.links() : d;
  const int e = l.nv == 1 ? d.link_lane(k) : d.layout.lane_of[at(k)];
  for (int j = 0; j < l.nv; ++j) {
    const Motion<S>& H = columns.H[j];
    const Motion<S> slope = cross(up.V, H) + columns.change[j];
    to.put(D::column, e + j, H);
    to.put(D::slope, e + j, slope);
    to.put(D::rate, e + j, slope + cross(columns.V, H) + columns.rate[j]);
    to.put(D::curvature, e + j,
           cross(up.A, H) + cross(up.V, slope) + cross(columns.V, columns.change[j]) + columns.further[j]);
  }
}

/// The same of a prismatic link.
template <class S>
void slope_prismatic(DerivativeScratch<S>& d, int k) {
  using D = DerivativeScratch<S>;
  typename D::Lanes& links = d.links();
  const int e = d.link_lane(k);
  const Vec3<S> none = Vec3<S>::zero();
  const Vec3<S> axis = links.vector(D::frame_z, e);
  const Vec3<S> w = links.vector(D::velocity, e);
  const Vec3<S> slope = cross(w, axis);
  links.put(D::column, e, Motion<S>{none, axis});
  links.put(D::slope, e, Motion<S>{none, slope});
  links.put(D::rate, e, Motion<S>{none, slope + slope});
  links.put(D::curvature, e, Motion<S>{none, cross(links.vector(D::acceleration, e), axis) + cross(w, slope)});
}

/// What weigh_link has not got of a link that is neither revolute nor a free body, which needs nothing of it.
template <class S>
void slope_link(Workspace<S>& ws, DerivativeScratch<S>& d, int k, const S* velocity, const S* acceleration) {
  const Link<S>& l = ws.link(k);
  if (l.kind == Kind::prismatic) {
    slope_prismatic(d, k);
  } else if (l.kind != Kind::floating) {
    with_room(l.nv, [&]<int most>() { slope_other<most>(ws, d, k, velocity, acceleration); });
  }
}

/// Adds a link's composite to its parent's; `opens` sets it.
template <bool opens, class S>
BUNRAKU_INLINE void hand_composite(DerivativeScratch<S>& d, int k, int parent) {
  using D = DerivativeScratch<S>;
  const S* const x = d.links().cell(D::composite, d.link_lane(k));
  S* const sum = d.links().cell(D::composite, d.link_lane(parent));
#pragma GCC unroll 28
  for (int c = 0; c < D::composite_size * D::lanes; c += D::lanes) {
    sum[c] = opens ? x[c] : sum[c] + x[c];
  }
}

/// From composites, in register `from`, and columns: the forces that each column meets its path to the base with.
template <class S>
BUNRAKU_INLINE void load_column(typename DerivativeScratch<S>::Lanes& d, int r, int from) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  const RigidInertia<C> R = d.load_inertia(D::composite, from);
  const Vec3<C> row_x = d.load(D::composite + 10, from);
  const Vec3<C> row_y = d.load(D::composite + 13, from);
  const Vec3<C> row_z = d.load(D::composite + 16, from);
  const InertiaRate<C> B{{{{row_x.x, row_x.y, row_x.z}, {row_y.x, row_y.y, row_y.z}, {row_z.x, row_z.y, row_z.z}}},
                         d.load(D::composite + 19, from)};
  const Force<C> f{d.load(D::composite + 22, from), d.load(D::composite + 25, from)};
  const Motion<C> H = d.load_motion(D::column, r);
  d.store(D::momentum, r, R * H);
  d.store(D::turning, r, adjoint_times(B, H).moment);
  d.store(D::by_q, r, cross(H, f) + R * d.load_motion(D::curvature, r) + B * d.load_motion(D::slope, r));
  d.store(D::by_v, r, R * d.load_motion(D::rate, r) + B * H);
}

/// The same of a free body against the world, whose S are unit vectors, of RS and 2B*S alone: see write_floating.
template <class S>
void load_floating(DerivativeScratch<S>& d, int k) {
  using D = DerivativeScratch<S>;
  const typename D::Lanes& links = d.links();
  const int own = d.link_lane(k);
  const int e = d.layout.lane_of[at(k)];
  const S m = *links.cell(D::composite, own);
  const Vec3<S> h = links.vector(D::composite + 1, own);
  const Vec3<S> diagonal = links.vector(D::composite + 4, own);
  const Vec3<S> others = links.vector(D::composite + 7, own);
  const Vec3<S> p = links.vector(D::composite + 19, own);  // 2B's momentum
  const S zero(0);
  const Vec3<S> across[3] = {{zero, h.z, -h.y}, {-h.z, zero, h.x}, {h.y, -h.x, zero}};  // −h̃, row by row
  const Vec3<S> inertia[3] = {
      {diagonal.x, others.x, others.y}, {others.x, diagonal.y, others.z}, {others.y, others.z, diagonal.z}};
  const Vec3<S> turning[3] = {{zero, p.z, -p.y}, {-p.z, zero, p.x}, {p.y, -p.x, zero}};
  for (int j = 0; j < 3; ++j) {
    Vec3<S> linear = Vec3<S>::zero();
    linear[j] = m;
    d.put(D::momentum, e + j, Motion<S>{inertia[j], -across[j]});
    d.put(D::turning, e + j, links.vector(D::composite + 10 + 3 * j, own));
    d.put(D::momentum, e + 3 + j, Motion<S>{across[j], linear});
    d.put(D::turning, e + 3 + j, turning[j]);
  }
}

/// From frames and motions all that elements are made of, where registers hold one coordinate each: link by link, while
/// its numbers are near.
template <class S>
void gather_in_turn(Workspace<S>& ws, DerivativeScratch<S>& d, const S* velocity, const S* acceleration) {
  for (int k = static_cast<int>(ws.tree->links.size()) - 1; k >= 0; --k) {
    const Link<S>& l = ws.link(k);
    const int e = d.layout.lane_of[at(k)];
    l.leaf ? weigh_link<false, S>(d, e, l.inertia) : weigh_link<true, S>(d, e, l.inertia);
    if (l.kind == Kind::floating) {
      load_floating(d, k);
      continue;
    }
    if (l.kind > Kind::revolute_full) {
      slope_link(ws, d, k, velocity, acceleration);
    }
    for (int j = l.nv - 1; j >= 0; --j) {
      load_column<S>(d, e + j, e);
    }
    if (l.parent >= 0) {
      l.opens_parent ? hand_composite<true>(d, k, l.parent) : hand_composite<false>(d, k, l.parent);
    }
  }
}

/// From the lanes of links what elements need of the coordinates of link k.
template <class S>
void spread_link(const Workspace<S>& ws, DerivativeScratch<S>& d, int k) {
  using D = DerivativeScratch<S>;
  const Link<S>& l = ws.link(k);
  if (l.kind == Kind::floating) {
    return load_floating(d, k);
  }
  const S* const from = d.links().cell(0, k);
  if (l.nv == 1) {
    S* const to = d.cell(0, d.layout.lane_of[at(k)]);
#pragma GCC unroll 9
    for (int c = D::momentum; c < D::turning + 3; ++c) {
      to[c * D::lanes] = from[c * D::lanes];
    }
#pragma GCC unroll 6
    for (int c = D::column; c < D::column + 6; ++c) {
      to[c * D::lanes] = from[c * D::lanes];
    }
    return;
  }
  for (int j = 0; j < l.nv; ++j) {
    S* const to = d.cell(0, d.layout.lane_of[at(k)] + j);
    for (int c = D::composite; c < D::composite + D::composite_size; ++c) {
      to[c * D::lanes] = from[c * D::lanes];
    }
  }
}

/// The same where registers hold several: a register of links at a time.
template <class S>
void gather_registers(Workspace<S>& ws, DerivativeScratch<S>& d, const S* velocity, const S* acceleration) {
  using D = DerivativeScratch<S>;
  typename D::Lanes& links = d.links();
  for (int r = 0; r < links.registers; ++r) {
    weigh_link<false, S>(links, r, links.load_inertia(D::own, r));
  }
  for (const Run& run : ws.tree->runs) {
    for (int k = run.begin; k < run.end && run.kind > Kind::revolute_full; ++k) {
      slope_link(ws, d, k, velocity, acceleration);
    }
  }
  const int count = static_cast<int>(ws.tree->links.size());
  for (int k = count - 1; k >= 0; --k) {
    if (const int parent = ws.link(k).parent; parent >= 0) {
      hand_composite<false>(d, k, parent);
    }
  }
  for (const int k : d.layout.several) {
    spread_link(ws, d, k);
    const int begin = d.layout.lane_of[at(k)];
    for (int r = begin / D::lanes; r * D::lanes < begin + ws.link(k).nv; ++r) {
      load_column<S>(d, r, r);
    }
  }
  for (int r = 0; r < links.registers; ++r) {
    load_column<S>(links, r, r);
  }
  for (int k = 0; k < count; ++k) {
    if (ws.link(k).nv == 1 || ws.link(k).kind == Kind::floating) {
      spread_link(ws, d, k);
    }
  }
}

/// What is wanted.
enum class Wanted : std::uint8_t {
  matrices,  ///< ∂T/∂q, ∂T/∂θ̇ and ∂T/∂θ̈ = 𝓜 over all hinges, n×n each.
  halves,    ///< The same, of a column of 𝓜 the rows of its own link and of those farther out alone.
  slopes,    ///< The first two, coordinates in their lanes.
  unbound,   ///< The same without columns that products with 𝓜⁻¹ need not: see derivative_products.hpp.
};

/// Where matrices go, column by column.
template <class S>
struct Derivatives {
  S* dq = nullptr;  ///< ∂T/∂q.
  S* dv = nullptr;  ///< ∂T/∂θ̇.
  S* da = nullptr;  ///< ∂T/∂θ̈ = 𝓜, or null: not wanted.
};

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
  static constexpr bool mass = wanted == Wanted::matrices || wanted == Wanted::halves;

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
    return lanes > 1 && l.nv == 1 ? of_links + DerivativeScratch<S>::start(k) : lane(e);
  }

  /// The row of a lane in the matrices.
  BUNRAKU_INLINE std::ptrdiff_t row(int e) const { return mass ? place[e] : e; }
  /// Where its column starts in each of them.
  BUNRAKU_INLINE std::ptrdiff_t start(int e) const { return place[e] * stride; }

  /// Writes elements of a column that starts at `start` in each matrix, in the rows of register r.
  template <bool with_mass = mass>
  BUNRAKU_INLINE void put(int r, const ColumnElements<S>& x, std::ptrdiff_t start) const {
    if constexpr (mass) {
      put(x.q, r, to.dq + start);
      put(x.v, r, to.dv + start);
      if constexpr (with_mass) {
        put(x.a, r, to.da + start);
      }
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
  constexpr bool inner_mass = wanted == Wanted::matrices;
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
      const ColumnElements<S> there = elements_inside<inner_mass>(x, writer.at_register(path[i].index));
      if constexpr (lanes == 1) {
        writer.template put<inner_mass>(path[i].index, there, start);
      } else {
        writer.put(path[i].index, joined<S>(path[i].lanes, there, ColumnElements<S>{}), start);
      }
    }
    const S* const y = writer.at_register(own);
    const ColumnElements<S> beside = elements_outside<mass>(x, y);
    if constexpr (lanes == 1) {
      writer.put(own, beside, start);
    } else {
      writer.put(own, inside == 0 ? beside : joined<S>(inside, elements_inside<mass>(x, y), beside), start);
    }
    for (int r = own + 1; r < end; ++r) {
      writer.put(r, elements_outside<mass>(x, writer.at_register(r)), start);
    }
    if (floating >= 0) {  // S are unit vectors there
      const std::ptrdiff_t there = start + writer.row(floating);
      S* const q = writer.to.dq + there;
      S* const v = writer.to.dv + there;
      S* const a = inner_mass ? writer.to.da + there : nullptr;
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        q[j] = x[(D::by_q + j) * lanes];
        v[j] = x[(D::by_v + j) * lanes];
        if constexpr (inner_mass) {
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
  } else {
    gather_registers(ws, d, velocity, acceleration);
  }
  for (int k = 0; k < static_cast<int>(ws.tree->links.size()); ++k) {
    ws.link(k).kind == Kind::floating
        ? write_floating<wanted>(ws, d, k, velocity, out)
        : write_columns<wanted == Wanted::unbound ? Wanted::slopes : wanted>(ws, d, k, out);
  }
  if constexpr (ColumnWriter<wanted, S>::mass) {
    for (int j = 0; j < n; ++j) {
      out.da[at(j) * at(n + 1)] += ws.armature[at(j)];
    }
  }
  const ColumnWriter<wanted, S> writer(d, n, out);
  for (const int k : d.layout.changing) {  // (∂H)f
    const Link<S>& l = ws.link(k);
    const int e = d.layout.lane_of[at(k)];
    const Force<S> f{d.links().vector(D::composite + 22, d.link_lane(k)),
                     d.links().vector(D::composite + 25, d.link_lane(k))};
    for (int j = 0; j < l.nv; ++j) {
      for (int i = 0; i < l.nv; ++i) {
        out.dq[writer.start(e + j) + writer.row(e + i)] +=
            dot(d.map_rates[at(d.layout.map_begin[at(k)] + j * l.nv + i)], f);
      }
    }
  }
}

}  // namespace bunraku::kernels
