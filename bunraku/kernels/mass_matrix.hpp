/// @file
/// 𝓜 by composite bodies (RK92 28–33): inward, R(k) = Σ φRφ* + M(k); the force R(k)H*(k) of a unit acceleration goes on
/// inward, and its part along each hinge on the way is an element of 𝓜.
#pragma once

#include <algorithm>

#include "bunraku/kernels/carry.hpp"
#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// Writes part of the row of coordinate e to both triangles. `cells` has the coordinates in their cells.
template <class S>
BUNRAKU_INLINE void store_both(const ColumnLayout& layout, int e, int begin, int end, const S* cells, S* out) {
  const auto i = static_cast<std::size_t>(e);
  S* across = out + layout.row[i];
  S* down = out + layout.user[i];
  for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c) {
    const S value = cells[layout.cell[c]];
    across[layout.user[c]] = value;
    down[layout.row[c]] = value;
  }
}

/// R(k): the link's own inertia and what its children have handed over, nothing for a leaf.
template <class S>
BUNRAKU_INLINE RigidInertia<S> composed(Workspace<S>& ws, int k) {
  const RigidInertia<S>& own = ws.link(k).inertia;
  const RigidInertia<S>& more = ws.composite[at(k)];
  return {own.mass + more.mass,
          own.first_moment + more.first_moment,
          {own.inertia.xx + more.inertia.xx, own.inertia.yy + more.inertia.yy, own.inertia.zz + more.inertia.zz,
           own.inertia.xy + more.inertia.xy, own.inertia.xz + more.inertia.xz, own.inertia.yz + more.inertia.yz}};
}

/// Adds φ(p) R φ*(p) to what the parent of a link has gathered: the first to arrive sets it.
template <class S>
BUNRAKU_INLINE void hand_over(Workspace<S>& ws, const Link<S>& l, const Vec3<S>& p, const RigidInertia<S>& R) {
  const RigidInertia<S> moved = shifted(R, p);
  RigidInertia<S>& sum = ws.composite[at(l.parent)];
  if (l.opens_parent) {
    put(moved, sum);
  } else {
    sum += moved;
  }
}

template <Kind kind, class S>
void compose_revolute(Workspace<S>& ws, int begin, int end, S* out) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const RigidInertia<S> R = composed(ws, k);
    const int e = ws.composite_layout.first[at(k)];
    insert(ws, ws.composite_layout, e,
           {{R.inertia.xz, R.inertia.yz, R.inertia.zz}, {-R.first_moment.y, R.first_moment.x, S(0)}});
    out[ws.composite_layout.row[at(e)] + l.v] = R.inertia.zz + l.armature;
    store_both(ws.composite_layout, e, e + 1, ws.composite_layout.coordinate_end[at(e)],
               reinterpret_cast<const S*>(ws.columns.data()) + 2 * columns_per_register<S>, out);
    if (l.parent >= 0) {
      const Spin<S> spin = ws.spin[at(k)];
      hand_over(ws, l, l.p,
                {R.mass, turned<kind>(l, spin.forth(R.first_moment)),
                 turned<kind>(l, about_z(spin, DoubleSpin<S>(spin.c, spin.s), R.inertia))});
      carry<kind>(ws, l, spin, registers(ws.composite_layout, k));
    }
  }
}

/// A free body against the world: H = I, so that the rows are the components.
template <class S>
void compose_floating(Workspace<S>& ws, int k, S* out) {
  const Link<S>& l = ws.link(k);
  const RigidInertia<S> R = composed(ws, k);
  const Vec3<S>& h = R.first_moment;
  const Sym3<S>& i = R.inertia;
  const S& m = R.mass;
  const S own[6][6] = {{i.xx, i.xy, i.xz, S(0), -h.z, h.y}, {i.xy, i.yy, i.yz, h.z, S(0), -h.x},
                       {i.xz, i.yz, i.zz, -h.y, h.x, S(0)}, {S(0), h.z, -h.y, m, S(0), S(0)},
                       {-h.z, S(0), h.x, S(0), m, S(0)},    {h.y, -h.x, S(0), S(0), S(0), m}};
  const auto n = static_cast<std::ptrdiff_t>(ws.composite_layout.user.size());
  const int e = ws.composite_layout.first[at(k)];
  S* rows = out + ws.composite_layout.row[at(e)];
  for (int j = 0; j < 6; ++j) {
    for (int c = 0; c < 6; ++c) {
      rows[j * n + l.v + c] = own[j][c];
    }
  }
  for (int c = e + 6; c < ws.composite_layout.coordinate_end[at(e)]; ++c) {
    const S* cell = reinterpret_cast<const S*>(ws.columns.data()) + ws.composite_layout.cell[at(c)];
    S* across = rows + ws.composite_layout.user[at(c)];
    S* down = out + ws.composite_layout.row[at(c)] + l.v;
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      across[j * n] = down[j] = cell[j * columns_per_register<S>];
    }
  }
}

template <class S>
void compose_other(Workspace<S>& ws, int k, S* out) {
  const Link<S>& l = ws.link(k);
  const RigidInertia<S> R = composed(ws, k);
  const int e = ws.composite_layout.first[at(k)];
  const int end = ws.composite_layout.coordinate_end[at(e)];
  const Span span = registers(ws.composite_layout, k);
  for (int j = 0; j < l.nv; ++j) {
    const Motion<S>& H = column(ws, l.v + j);
    const Force<S> f = R * H;
    insert(ws, ws.composite_layout, e + j, f);
    out[ws.composite_layout.row[at(e + j)] + l.v + j] = dot(H, f) + ws.armature[at(l.v + j)];
  }
  for (int j = 0; j < l.nv; ++j) {
    const Motion<S>& H = column(ws, l.v + j);
    for (int r = span.begin; r < span.end; ++r) {
      ws.rows[at(r)].moment.x = along(H, ws.columns[at(r)]);
    }
    store_both(ws.composite_layout, e + j, e + j + 1, end, reinterpret_cast<const S*>(ws.rows.data()), out);
  }
  if (l.parent >= 0) {
    const Transform<S> X = pose(ws, l);
    hand_over(ws, l, X.translation, X.rotation * R);
    carry(ws, X, span);
  }
}

/// 𝓜 = HφMφ*H* + armature by composite bodies (RK92 28–33) over all hinges, both triangles.
template <class S>
void mass_matrix(Workspace<S>& ws, S* out) {
  need_positions(ws);
  const std::size_t n = ws.composite_layout.user.size();
  if (ws.composite_layout.branches) {  // hinges on different branches do not feel each other
    std::fill_n(out, n * n, S(0));
  }
  for (std::size_t r = ws.tree->runs.size(); r-- > 0;) {
    const Run& run = ws.tree->runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { compose_revolute<kind>(ws, begin, end, out); };
    if (!if_revolute(run, revolute)) {
      for (int k = run.end - 1; k >= run.begin; --k) {
        run.kind == Kind::floating ? compose_floating(ws, k, out) : compose_other(ws, k, out);
      }
    }
  }
}

}  // namespace bunraku::kernels
