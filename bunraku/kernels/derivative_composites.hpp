/// @file
/// From motions of links what elements of derivatives are made of, inward: composites R, 2B and f, and of each column
/// its slopes and the forces that it meets its path to the base with; see inverse_derivatives.hpp.
#pragma once

#include "bunraku/kernels/derivative_motions.hpp"
#include "bunraku/kernels/inertia_rate.hpp"

namespace bunraku::kernels {

/// From the frame and motion of a link: its inertia, 2B and force, seen from its tree's frame; and S, ψ̇, ψ̇ + Ṡ and ψ̈ as
/// those of revolute links are, for which V and A of the link itself serve as well as its parent's. `alone` is its
/// inertia in its own axes. For register r of links, which is register `body` of composites.
template <class S>
BUNRAKU_INLINE void weigh_links(DerivativeScratch<S>& scratch, int r, int body, const RigidInertia<Column<S>>& alone) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  typename D::Lanes& d = scratch.links();
  typename D::Bodies& bodies = scratch.bodies;
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
  bodies.store(D::composite, body, M);
  for (int i = 0; i < 3; ++i) {
    bodies.store(D::twice_B + 3 * i, body, B.upper.row(i) + B.upper.row(i));
  }
  bodies.store(D::twice_B + 9, body, B.momentum + B.momentum);
  bodies.store(D::force, body, M * A + B * V);
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

/// Adds a link's composite to its parent's.
template <class S>
BUNRAKU_INLINE void hand_composite(DerivativeScratch<S>& d, int k, int parent) {
  using D = DerivativeScratch<S>;
  const S* const x = d.bodies.cell(D::composite, k);
  S* const sum = d.bodies.cell(D::composite, parent);
#pragma GCC unroll 28
  for (int c = 0; c < D::composite_size * D::lanes; c += D::lanes) {
    sum[c] += x[c];
  }
}

/// From composites, in register `body` of `bodies`, and columns: the forces that each column meets its path to the base
/// with.
template <class S>
BUNRAKU_INLINE void load_columns(typename DerivativeScratch<S>::Lanes& d, int r,
                                 const typename DerivativeScratch<S>::Bodies& bodies, int body) {
  using D = DerivativeScratch<S>;
  using C = Column<S>;
  const RigidInertia<C> R = bodies.load_inertia(D::composite, body);
  const Vec3<C> row_x = bodies.load(D::twice_B, body);
  const Vec3<C> row_y = bodies.load(D::twice_B + 3, body);
  const Vec3<C> row_z = bodies.load(D::twice_B + 6, body);
  const InertiaRate<C> B{{{{row_x.x, row_x.y, row_x.z}, {row_y.x, row_y.y, row_y.z}, {row_z.x, row_z.y, row_z.z}}},
                         bodies.load(D::twice_B + 9, body)};
  const Force<C> f{bodies.load(D::force, body), bodies.load(D::force + 3, body)};
  const Motion<C> H = d.load_motion(D::column, r);
  d.store(D::momentum, r, R * H);
  d.store(D::turning, r, adjoint_times(B, H).moment);
  d.store(D::by_q, r, cross(H, f) + R * d.load_motion(D::curvature, r) + B * d.load_motion(D::slope, r));
  d.store(D::by_v, r, R * d.load_motion(D::rate, r) + B * H);
}

/// The same of a free body against the world, whose S are unit vectors, of RS and 2B*S alone: see write_floating and
/// write_base.
template <class S>
void load_floating(DerivativeScratch<S>& d, int k) {
  using D = DerivativeScratch<S>;
  const typename D::Bodies& bodies = d.bodies;
  const int e = d.layout.lane_of[at(k)];
  const S m = *bodies.cell(D::composite, k);
  const Vec3<S> h = bodies.vector(D::composite + 1, k);
  const Vec3<S> diagonal = bodies.vector(D::composite + 4, k);
  const Vec3<S> others = bodies.vector(D::composite + 7, k);
  const Vec3<S> p = bodies.vector(D::twice_B + 9, k);  // 2B's momentum
  const S zero(0);
  const Vec3<S> across[3] = {{zero, h.z, -h.y}, {-h.z, zero, h.x}, {h.y, -h.x, zero}};  // −h̃, row by row
  const Vec3<S> inertia[3] = {
      {diagonal.x, others.x, others.y}, {others.x, diagonal.y, others.z}, {others.y, others.z, diagonal.z}};
  const Vec3<S> turning[3] = {{zero, p.z, -p.y}, {-p.z, zero, p.x}, {p.y, -p.x, zero}};
  for (int j = 0; j < 3; ++j) {
    Vec3<S> linear = Vec3<S>::zero();
    linear[j] = m;
    d.put(D::momentum, e + j, Motion<S>{inertia[j], -across[j]});
    d.put(D::turning, e + j, bodies.vector(D::twice_B + 3 * j, k));
    d.put(D::momentum, e + 3 + j, Motion<S>{across[j], linear});
    d.put(D::turning, e + 3 + j, turning[j]);
  }
}

/// From frames and motions all that elements are made of, where registers hold one coordinate each.
template <class S>
void gather_in_turn(Workspace<S>& ws, DerivativeScratch<S>& d, const S* velocity, const S* acceleration) {
  const int count = static_cast<int>(ws.tree->links.size());
  for (int k = 0; k < count; ++k) {
    weigh_links(d, d.link_lane(k), k, ws.link(k).inertia);
  }
  for (int k = count - 1; k >= 0; --k) {
    const Link<S>& l = ws.link(k);
    if (l.parent >= 0) {
      hand_composite(d, k, l.parent);
    }
    if (l.kind == Kind::floating) {
      load_floating(d, k);
      continue;
    }
    if (l.kind > Kind::revolute_full) {
      slope_link(ws, d, k, velocity, acceleration);
    }
    for (int e = d.layout.lane_of[at(k)] + l.nv - 1; e >= d.layout.lane_of[at(k)]; --e) {
      load_columns<S>(d, e, d.bodies, k);
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
  if (l.nv == 1) {
    const S* const from = d.links().cell(0, k);
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
  const S* const from = d.bodies.cell(D::composite, k);
  for (int j = 0; j < l.nv; ++j) {
    S* const to = d.of_several.cell(D::composite, d.layout.lane_of[at(k)] + j);
    for (int c = 0; c < D::composite_size; ++c) {
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
    weigh_links(d, r, r, d.bodies.load_inertia(D::own, r));
  }
  for (const Run& run : ws.tree->runs) {
    for (int k = run.begin; k < run.end && run.kind > Kind::revolute_full; ++k) {
      slope_link(ws, d, k, velocity, acceleration);
    }
  }
  const int count = static_cast<int>(ws.tree->links.size());
  for (int k = count - 1; k >= 0; --k) {
    if (const int parent = ws.link(k).parent; parent >= 0) {
      hand_composite(d, k, parent);
    }
  }
  for (const int k : d.layout.several) {
    spread_link(ws, d, k);
    const int begin = d.layout.lane_of[at(k)];
    for (int r = begin / D::lanes; r * D::lanes < begin + ws.link(k).nv; ++r) {
      load_columns<S>(d, r, d.of_several, r);
    }
  }
  for (int r = 0; r < links.registers; ++r) {
    load_columns<S>(links, r, d.bodies, r);
  }
  for (int k = 0; k < count; ++k) {
    if (ws.link(k).nv == 1 || ws.link(k).kind == Kind::floating) {
      spread_link(ws, d, k);
    }
  }
}

}  // namespace bunraku::kernels
