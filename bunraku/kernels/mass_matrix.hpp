/// @file
/// 𝓜 by composite bodies (RK92 28–33): inward, R(k) = Σ φRφ* + M(k); the force R(k)H*(k) of a unit acceleration goes on
/// inward, and its part along each hinge on the way is an element of 𝓜.
#pragma once

#include <algorithm>

#include "bunraku/kernels/carry.hpp"
#include "bunraku/kernels/eliminate_lanes.hpp"
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

/// A force's numbers, each a variable of its own: gathered in vectors, packs of several states would go through memory.
template <class S>
struct Numbers {
  S nx, ny, nz, fx, fy, fz;
};

/// A force from a revolute link's frame to its parent's.
template <Kind kind, class S>
BUNRAKU_INLINE void climb(const Link<S>& l, const Spin<S>& spin, Numbers<S>& f) {
  turn_vector<kind>(l, spin, f.fx, f.fy, f.fz);
  turn_vector<kind>(l, spin, f.nx, f.ny, f.nz);
  f.nx += l.p.y * f.fz - l.p.z * f.fy;
  f.ny += l.p.z * f.fx - l.p.x * f.fz;
  f.nz += l.p.x * f.fy - l.p.y * f.fx;
}

/// The same from any other link. Not inline: the revolute ones' numbers shall stay in registers.
template <class S>
[[gnu::noinline]] Force<S> climbed(const Workspace<S>& ws, const Link<S>& l, const Force<S>& f) {
  return pose(ws, l) * f;
}

/// Writes the parts of a force along the coordinates of a link that is neither revolute nor floating.
template <class S>
[[gnu::noinline]] void write_along(const Workspace<S>& ws, const Link<S>& l, const Force<S>& f, int n, S* across,
                                   S* down) {
  for (int i = 0; i < l.nv; ++i) {
    across[i] = down[i * n] = dot(column(ws, l.v + i), f);
  }
}

/// From link k on, a force of a unit acceleration at coordinate j goes to the base; its parts along the hinges on the
/// way go to row and column j of 𝓜.
template <class S>
[[gnu::noinline]] void climb_all(const Workspace<S>& ws, int k, const Numbers<S>& from, int j, int n, S* out) {
  Numbers<S> f{from.nx, from.ny, from.nz, from.fx, from.fy, from.fz};
  for (int here = k; ws.link(here).parent >= 0;) {
    const Link<S>& l = ws.link(here);
    const Spin<S>& spin = ws.spin[at(here)];
    switch (l.kind) {
      case Kind::revolute_none:
        climb<Kind::revolute_none>(l, spin, f);
        break;
      case Kind::revolute_quarter:
        climb<Kind::revolute_quarter>(l, spin, f);
        break;
      case Kind::revolute_x:
        climb<Kind::revolute_x>(l, spin, f);
        break;
      case Kind::revolute_full:
        climb<Kind::revolute_full>(l, spin, f);
        break;
      default: {
        const Force<S> moved = climbed(ws, l, {{f.nx, f.ny, f.nz}, {f.fx, f.fy, f.fz}});
        f = {moved.moment.x, moved.moment.y, moved.moment.z, moved.force.x, moved.force.y, moved.force.z};
      }
    }
    here = l.parent;
    const Link<S>& up = ws.link(here);
    S* across = out + j * n + up.v;
    S* down = out + up.v * n + j;
    if (up.kind <= Kind::revolute_full) [[likely]] {
      *across = *down = f.nz;
    } else if (up.kind == Kind::floating) {
      across[0] = down[0] = f.nx;
      across[1] = down[n] = f.ny;
      across[2] = down[2 * n] = f.nz;
      across[3] = down[3 * n] = f.fx;
      across[4] = down[4 * n] = f.fy;
      across[5] = down[5 * n] = f.fz;
    } else {
      write_along(ws, up, {{f.nx, f.ny, f.nz}, {f.fx, f.fy, f.fz}}, n, across, down);
    }
  }
}

/// The own part of 𝓜 of a link that is not revolute, and its coordinates' columns.
template <class S>
void write_columns(const Workspace<S>& ws, int k, const RigidInertia<S>& R, int n, S* out) {
  const Link<S>& own = ws.link(k);
  const Vec3<S>& h = R.first_moment;
  const Sym3<S>& i = R.inertia;
  if (own.kind == Kind::floating) {
    const S& m = R.mass;
    const S zero(0);
    const S rows[6][6] = {{i.xx, i.xy, i.xz, zero, -h.z, h.y}, {i.xy, i.yy, i.yz, h.z, zero, -h.x},
                          {i.xz, i.yz, i.zz, -h.y, h.x, zero}, {zero, h.z, -h.y, m, zero, zero},
                          {-h.z, zero, h.x, zero, m, zero},    {h.y, -h.x, zero, zero, zero, m}};
    for (int a = 0; a < 6; ++a) {
      for (int b = 0; b < 6; ++b) {
        out[(own.v + a) * n + own.v + b] = rows[a][b];
      }
    }
  } else {
    for (int j = own.v; j < own.v + own.nv; ++j) {
      const Force<S> f = R * column(ws, j);
      write_along(ws, own, f, n, out + j * n + own.v, out + own.v * n + j);
      climb_all(ws, k, Numbers<S>{f.moment.x, f.moment.y, f.moment.z, f.force.x, f.force.y, f.force.z}, j, n, out);
    }
    for (int j = own.v; j < own.v + own.nv; ++j) {
      out[j * n + j] += ws.armature[j];
    }
  }
}

/// φ(p) R φ*(p) of a revolute link goes to its parent: the arithmetic of hand_over, number by number.
template <Kind kind, class S>
BUNRAKU_INLINE void give_composite(Workspace<S>& ws, const Link<S>& l, const Spin<S>& spin, const RigidInertia<S>& R) {
  const Vec3<S>& p = l.p;
  const S& m = R.mass;
  S hx = R.first_moment.x;
  S hy = R.first_moment.y;
  S hz = R.first_moment.z;
  turn_vector<kind>(l, spin, hx, hy, hz);
  S xx = R.inertia.xx;
  S yy = R.inertia.yy;
  S zz = R.inertia.zz;
  S xy = R.inertia.xy;
  S xz = R.inertia.xz;
  S yz = R.inertia.yz;
  DoubleSpin<S>(spin.c, spin.s).turn(xx, yy, xy);
  turn_pair(spin.c, spin.s, xz, yz);
  turn_tensor<kind>(l, xx, yy, zz, xy, xz, yz);
  const S mx = hx + p.x * m;
  const S my = hy + p.y * m;
  const S mz = hz + p.z * m;
  const S x = p.x * (hx + mx);
  const S y = p.y * (hy + my);
  const S z = p.z * (hz + mz);
  RigidInertia<S>& sum = ws.composite[at(l.parent)];
  const auto give = [&]<bool first>() BUNRAKU_INLINE_LAMBDA {
    const auto put = [](const S& number, S& to) BUNRAKU_INLINE_LAMBDA { to = first ? number : to + number; };
    put(m, sum.mass);
    put(mx, sum.first_moment.x);
    put(my, sum.first_moment.y);
    put(mz, sum.first_moment.z);
    put(xx + (y + z), sum.inertia.xx);
    put(yy + (x + z), sum.inertia.yy);
    put(zz + (x + y), sum.inertia.zz);
    put(xy - (hx * p.y + p.x * my), sum.inertia.xy);
    put(xz - (hx * p.z + p.x * mz), sum.inertia.xz);
    put(yz - (hy * p.z + p.y * mz), sum.inertia.yz);
  };
  l.opens_parent ? give.template operator()<true>() : give.template operator()<false>();
}

/// R of a link, and what of it goes to the parent and to 𝓜.
template <Kind kind, class S>
void compose_lanes(Workspace<S>& ws, int begin, int end, S* out) {
  const int n = ws.tree->coordinates.nv;
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const RigidInertia<S>& own = l.inertia;
    const RigidInertia<S>& more = ws.composite[at(k)];
    RigidInertia<S> R;
    R.mass = own.mass + more.mass;
    R.first_moment.x = own.first_moment.x + more.first_moment.x;
    R.first_moment.y = own.first_moment.y + more.first_moment.y;
    R.first_moment.z = own.first_moment.z + more.first_moment.z;
    R.inertia.xx = own.inertia.xx + more.inertia.xx;
    R.inertia.yy = own.inertia.yy + more.inertia.yy;
    R.inertia.zz = own.inertia.zz + more.inertia.zz;
    R.inertia.xy = own.inertia.xy + more.inertia.xy;
    R.inertia.xz = own.inertia.xz + more.inertia.xz;
    R.inertia.yz = own.inertia.yz + more.inertia.yz;
    out[l.v * n + l.v] = R.inertia.zz + l.armature;
    if (l.parent >= 0) {
      const Numbers<S> f{R.inertia.xz, R.inertia.yz, R.inertia.zz, -R.first_moment.y, R.first_moment.x, S(0)};
      climb_all(ws, k, f, l.v, n, out);
      give_composite<kind>(ws, l, ws.spin[at(k)], R);
    }
  }
}

/// 𝓜 where several states go at once: column by column, each from its link to the base without a stop in memory. Where
/// hinges on different branches do not feel each other nothing is written.
template <class S>
void mass_matrix_by_columns(Workspace<S>& ws, S* out) {
  need_positions(ws);
  for (std::size_t r = ws.tree->runs.size(); r-- > 0;) {
    const Run& run = ws.tree->runs[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { compose_lanes<kind>(ws, begin, end, out); };
    if (if_revolute(run, revolute)) {
      continue;
    }
    for (int k = run.end - 1; k >= run.begin; --k) {
      const Link<S>& l = ws.link(k);
      const RigidInertia<S> R = composed(ws, k);
      write_columns(ws, k, R, ws.tree->coordinates.nv, out);
      if (l.parent >= 0) {
        const Transform<S> X = pose(ws, l);
        hand_over(ws, l, X.translation, X.rotation * R);
      }
    }
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
