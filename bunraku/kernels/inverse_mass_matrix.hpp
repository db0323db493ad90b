/// @file
/// 𝓜⁻¹ = W* D⁻¹ W with W = I − HψK. Row e of W is what the innovation of coordinate e sees of a unit torque at each
/// coordinate beyond it; an inward sweep carries all unit torques at once.
#pragma once

#include <algorithm>
#include <span>

#include "bunraku/kernels/carry.hpp"
#include "bunraku/kernels/eliminate_lanes.hpp"
#include "bunraku/kernels/solve.hpp"

namespace bunraku::kernels {

/// Writes the row of coordinate e of W, which has the coordinates in their cells, with its one.
template <class S>
BUNRAKU_INLINE void store_row(const ColumnLayout& layout, int e, int end, const S* cells, S* out) {
  const auto i = static_cast<std::size_t>(e);
  S* to = out + layout.row[i];
  to[layout.user[i]] = S(1);
  for (std::size_t c = i + 1; c < static_cast<std::size_t>(end); ++c) {
    to[layout.user[c]] = cells[layout.cell[c]];
  }
}

/// c += G ε in each column.
template <class S>
BUNRAKU_INLINE void add_product(const Force<S>& G, const Column<S>& epsilon, Columns<S>& c) {
  c.moment.x += G.moment.x * epsilon;
  c.moment.y += G.moment.y * epsilon;
  c.moment.z += G.moment.z * epsilon;
  c.force.x += G.force.x * epsilon;
  c.force.y += G.force.y * epsilon;
  c.force.z += G.force.z * epsilon;
}

/// Rows of 𝓜⁻¹ from column j on: Σ factor · row of W over one register of columns, or two, to have more sums under way.
template <int rows, int registers, class S>
BUNRAKU_INLINE void combine(std::span<const AncestorRow<S>> ancestors, int j, S* const* out) {
  constexpr int lanes = columns_per_register<S>;
  Column<S> sum[rows][registers] = {};
  for (const AncestorRow<S>& a : ancestors) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) {
      const Column<S> w = load_column(a.row + j + r * lanes);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        sum[i][r] += a.factor[i] * w;
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int r = 0; r < registers; ++r) {
      store_column(sum[i][r], out[i] + j + r * lanes);
    }
  }
}

/// The same over all columns.
template <int rows, class S>
void combine(std::span<const AncestorRow<S>> ancestors, int n, S* const* out) {
  constexpr int lanes = columns_per_register<S>;
  int j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    combine<rows, 2>(ancestors, j, out);
  }
  for (; j + lanes <= n; j += lanes) {
    combine<rows, 1>(ancestors, j, out);
  }
  for (; j < n; ++j) {
    S sum[rows] = {};
    for (const AncestorRow<S>& a : ancestors) {
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        sum[i] += a.factor[i] * a.row[j];
      }
    }
    for (int i = 0; i < rows; ++i) {
      out[i][j] = sum[i];
    }
  }
}

template <Kind kind, class S>
void innovate_revolute(Workspace<S>& ws, int begin, int end, S* out) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const Force<S> G = ws.of_state.U[at(l.v)] * ws.of_state.D_inverse[at(l.v)];
    const int e = ws.innovation_layout.first[at(k)];
    const Span span = registers(ws.innovation_layout, k);
    for (int r = span.begin; r < span.end; ++r) {
      Columns<S>& c = ws.columns[at(r)];
      const Column<S> epsilon = -c.moment.z;
      ws.rows[at(r)].moment.x = epsilon;
      add_product(G, epsilon, c);
    }
    store_row(ws.innovation_layout, e, ws.innovation_layout.coordinate_end[at(e)],
              reinterpret_cast<const S*>(ws.rows.data()), out);
    if (l.parent >= 0) {
      insert(ws, ws.innovation_layout, e, G);
      carry<kind>(ws, l, ws.spin[at(k)], span);
    }
  }
}

/// The same where a register holds one column of several states: each column's force is read and written once, number
/// by number.
template <Kind kind, class S>
void innovate_lanes(Workspace<S>& ws, int begin, int end, S* out) {
  const ColumnLayout& layout = ws.innovation_layout;
  for (int k = end - 1; k >= begin; --k) {
    const Link<S>& l = ws.link(k);
    const Spin<S>& spin = ws.spin[at(k)];
    const Force<S>& U = ws.of_state.U[at(l.v)];
    const S& d = ws.of_state.D_inverse[at(l.v)];
    const Numbers<S> G{U.moment.x * d, U.moment.y * d, U.moment.z * d, U.force.x * d, U.force.y * d, U.force.z * d};
    const int e = layout.first[at(k)];
    S* const row = out + layout.row[at(e)];
    const auto hand_on = [&](int c, Numbers<S> f) BUNRAKU_INLINE_LAMBDA {
      climb<kind>(l, spin, f);
      Columns<S>& to = ws.columns[at(layout.slot[at(c)])];
      to.moment.x = f.nx;
      to.moment.y = f.ny;
      to.moment.z = f.nz;
      to.force.x = f.fx;
      to.force.y = f.fy;
      to.force.z = f.fz;
    };
    row[layout.user[at(e)]] = S(1);
    for (int c = e + 1; c < layout.coordinate_end[at(e)]; ++c) {
      const Columns<S>& z = ws.columns[at(layout.slot[at(c)])];
      const S epsilon = -z.moment.z;
      row[layout.user[at(c)]] = epsilon;
      if (l.parent >= 0) {
        hand_on(c, {z.moment.x + G.nx * epsilon, z.moment.y + G.ny * epsilon, z.moment.z + G.nz * epsilon,
                    z.force.x + G.fx * epsilon, z.force.y + G.fy * epsilon, z.force.z + G.fz * epsilon});
      }
    }
    if (l.parent >= 0) {
      hand_on(e, G);
    }
  }
}

template <class S>
void innovate_other(Workspace<S>& ws, int k, S* out) {
  const Link<S>& l = ws.link(k);
  const int e = ws.innovation_layout.first[at(k)];
  const int end = ws.innovation_layout.coordinate_end[at(e)];
  const Span span = registers(ws.innovation_layout, k);
  for (int j = l.nv - 1; j >= 0; --j) {
    const Motion<S>& H = column(ws, l.v + j);
    const Force<S> G = ws.of_state.U[at(l.v + j)] * ws.of_state.D_inverse[at(l.v + j)];
    for (int r = span.begin; r < span.end; ++r) {
      Columns<S>& c = ws.columns[at(r)];
      const Column<S> epsilon = -along(H, c);
      ws.rows[at(r)].moment.x = epsilon;
      add_product(G, epsilon, c);
    }
    store_row(ws.innovation_layout, e + j, end, reinterpret_cast<const S*>(ws.rows.data()), out);
    insert(ws, ws.innovation_layout, e + j, G);
  }
  if (l.parent >= 0) {
    carry(ws, pose(ws, l), span);
  }
}

/// A free body against the world: H = I, and U(j) has nothing beyond j.
template <class S>
void innovate_floating(Workspace<S>& ws, int k, S* out) {
  const Link<S>& l = ws.link(k);
  const int e = ws.innovation_layout.first[at(k)];
  const Span span = registers(ws.innovation_layout, k);
  S g[6][6];
  for (int j = 0; j < 6; ++j) {
    const Force<S>& U = ws.of_state.U[at(l.v + j)];
    const S u[6] = {U.moment.x, U.moment.y, U.moment.z, U.force.x, U.force.y, U.force.z};
    for (int i = 0; i < 6; ++i) {
      g[j][i] = u[i] * ws.of_state.D_inverse[at(l.v + j)];
    }
  }
  for (int j = 5; j >= 0; --j) {  // its own columns
    Force<S> unit = Force<S>::zero();
    unit[j] = S(-1);  // its innovation is one
    insert(ws, ws.innovation_layout, e + j, unit);
  }
  for (int r = span.begin; r < span.end; ++r) {
    Columns<S>& c = ws.columns[at(r)];
    Column<S> z[6] = {c.moment.x, c.moment.y, c.moment.z, c.force.x, c.force.y, c.force.z};
#pragma GCC unroll 6
    for (int j = 5; j >= 0; --j) {
      z[j] = -z[j];
#pragma GCC unroll 6
      for (int i = 0; i < j; ++i) {
        z[i] += g[j][i] * z[j];
      }
    }
    Columns<S>& row = ws.rows[at(r)];
    row.moment.x = z[0];
    row.moment.y = z[1];
    row.moment.z = z[2];
    row.force.x = z[3];
    row.force.y = z[4];
    row.force.z = z[5];
  }
  const auto n = static_cast<std::ptrdiff_t>(ws.innovation_layout.user.size());
  S* to = out + ws.innovation_layout.row[at(e)];
  for (int c = e; c < ws.innovation_layout.coordinate_end[at(e)]; ++c) {
    const S* cell = reinterpret_cast<const S*>(ws.rows.data()) + ws.innovation_layout.cell[at(c)];
    S* column = to + ws.innovation_layout.user[at(c)];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      column[j * n] = cell[j * columns_per_register<S>];
    }
  }
}

/// One-axis hinges on one parent that follow one velocity: a column beyond one of them has its part in that one alone.
template <class S>
void innovate_siblings(Workspace<S>& ws, const CoupledLinks& c, S* out) {
  const int e = ws.innovation_layout.first[at(c.begin)];
  const std::size_t v = at(c.coordinates.front());
  const Force<S> G = ws.of_state.U[v] * ws.of_state.D_inverse[v];
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<S>& l = ws.link(k);
    const S ratio = ws.tree->within[at(l.v)].ratio;
    const Span span = registers(ws.innovation_layout, k);
    for (int r = span.begin; r < span.end; ++r) {
      const Columns<S>& column = ws.columns[at(r)];
      ws.rows[at(r)].moment.x = -ratio * (l.kind == Kind::prismatic ? column.force.z : column.moment.z);
    }
    if (c.parent >= 0 && span.begin < span.end) {
      carry(ws, pose_of(ws, k), span);
      for (int r = span.begin; r < span.end; ++r) {
        add_product(G, ws.rows[at(r)].moment.x, ws.columns[at(r)]);
      }
    }
  }
  store_row(ws.innovation_layout, e, ws.innovation_layout.coordinate_end[at(e)],
            reinterpret_cast<const S*>(ws.rows.data()), out);
  if (c.parent >= 0) {
    insert(ws, ws.innovation_layout, e, G);
  }
}

/// Any other cluster: H̄z of all columns while these are carried to the parent, then L⁻¹ of that. The cluster's own
/// columns are units, and zero forces until then.
template <class S>
void innovate_coupled(Workspace<S>& ws, const CoupledLinks& c, S* out) {
  const ColumnLayout& layout = ws.innovation_layout;
  const int e = layout.first[at(c.begin)];
  const int m = static_cast<int>(c.coordinates.size());
  Span all{layout.slot[at(e)] / columns_per_register<S>,
           (layout.slot[at(e + m - 1)] + columns_per_register<S>) / columns_per_register<S>};
  for (int k = c.begin; k < c.end; ++k) {
    all.end = std::max(all.end, registers(layout, k).end);
  }
  const std::size_t width = at(all.end - all.begin);
  const auto part = [&](int j, int r) -> Column<S>& { return ws.parts[at(j) * width + at(r - all.begin)]; };
  std::fill_n(ws.parts.begin(), at(m) * width, Column<S>{});
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<S>& l = ws.link(k);
    const Span span = registers(layout, k);
    for (int i = l.v; i < l.v + l.nv; ++i) {
      const Follower<double>& follower = ws.tree->within[at(i)];
      for (int r = span.begin; r < span.end; ++r) {
        part(follower.own, r) -= follower.ratio * along(column(ws, i), ws.columns[at(r)]);
      }
    }
    if (l.parent >= 0 && span.begin < span.end) {
      carry(ws, pose_of(ws, k), span);
    }
  }
  for (int j = 0; j < m; ++j) {
    insert(ws, layout, e + j, Force<S>::zero());
    const int slot = layout.slot[at(e + j)];
    for (int i = 0; i < m; ++i) {
      Column<S>& cell = part(i, slot / columns_per_register<S>);
      cell = blended<S>(cell, slot % columns_per_register<S>, i == j ? S(1) : S(0));
    }
  }
  const S* L = ws.of_state.L.data() + c.factor;
  for (int j = m - 1; j >= 0; --j) {
    const std::size_t v = at(c.coordinates[at(j)]);
    const Force<S> G = ws.of_state.U[v] * ws.of_state.D_inverse[v];
    for (int r = all.begin; r < all.end; ++r) {
      const Column<S> epsilon = part(j, r);
      for (int i = 0; i < j; ++i) {
        part(i, r) -= L[i * m + j] * epsilon;
      }
      add_product(G, epsilon, ws.columns[at(r)]);
      ws.rows[at(r)].moment.x = epsilon;
    }
    store_row(layout, e + j, layout.coordinate_end[at(e)], reinterpret_cast<const S*>(ws.rows.data()), out);
  }
}

/// Rows e, e − 1, … of 𝓜⁻¹, of one path, up to the diagonal, and the same across it, columns c and c − 1 at a time.
/// `ancestors` are those of e, from e on inward. Of what is not on the path of both a row and a column nothing is read.
template <int rows, class S>
void combine_triangle(const ColumnLayout& layout, std::span<const AncestorRow<S>> ancestors, int e, S* out) {
  const int* const user = layout.user.data();
  const AncestorRow<S>* a = ancestors.data();
  const AncestorRow<S>* const end = a + ancestors.size();
  for (int c = e; c >= 0; c -= 2) {
    S sum[rows][2] = {};
    while (a != end && a->coordinate > c) {
      ++a;
    }
    const std::ptrdiff_t first = user[c];
    const std::ptrdiff_t second = user[c > 0 ? c - 1 : 0];
    if (a != end && a->coordinate == c) {  // W has ones there
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        sum[i][0] = a->factor[i];
      }
      ++a;
    }
    if (a != end && a->coordinate == c - 1) {
      const S w = a->row[first];
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        sum[i][0] += a->factor[i] * w;
        sum[i][1] = a->factor[i];
      }
      ++a;
    }
    for (const AncestorRow<S>* shared = a; shared != end; ++shared) {
      S w[2] = {shared->row[first], shared->row[second]};
      hold(w[0]);
      hold(w[1]);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        S factor = shared->factor[i];
        hold(factor);
        sum[i][0] += factor * w[0];
        sum[i][1] += factor * w[1];
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (c - j >= 0 && c - j <= e - i) {
          out[layout.row[at(e - i)] + user[c - j]] = sum[i][j];
          out[layout.row[at(c - j)] + user[e - i]] = sum[i][j];
        }
      }
    }
  }
}

/// From W to W* D⁻¹ W, in place: row e needs the rows of its ancestors alone, so the rows are finished from the tips to
/// the base, several of one path at a time. Where registers hold several columns all of them are combined, and a row of
/// W has zeros where it is not on the path.
template <class S>
void combine_rows(Workspace<S>& ws, S* out) {
  const ColumnLayout& layout = ws.innovation_layout;
  const int n = static_cast<int>(layout.user.size());
  for (int e = n - 1; e >= 0;) {
    int rows = 1;
    while (rows < combined_rows && e - rows >= 0 && layout.parent[at(e - rows + 1)] == e - rows) {
      ++rows;
    }
    S* to[combined_rows] = {};
    int column_of[combined_rows] = {};
    for (int i = 0; i < rows; ++i) {
      to[i] = out + layout.row[at(e - i)];
      column_of[i] = layout.user[at(e - i)];
    }
    int count = 0;
    for (int a = e; a >= 0; a = layout.parent[at(a)]) {
      const S* w = out + layout.row[at(a)];
      const S scale = ws.of_state.D_inverse[at(layout.full[at(a)])];
      AncestorRow<S>& ancestor = ws.ancestors[at(count++)];
      ancestor.row = w;
      ancestor.coordinate = a;
      for (int i = 0; i < rows; ++i) {
        ancestor.factor[i] = a > e - i ? S(0) : w[column_of[i]] * scale;
      }
    }
    const std::span<const AncestorRow<S>> ancestors(ws.ancestors.data(), at(count));
    const auto combine_some = [&]<int some>() {
      if constexpr (columns_per_register<S> == 1) {
        combine_triangle<some>(layout, ancestors, e, out);
      } else {
        combine<some, S>(ancestors, n, to);
      }
    };
    switch (rows) {
      case 4:
        combine_some.template operator()<4>();
        break;
      case 3:
        combine_some.template operator()<3>();
        break;
      case 2:
        combine_some.template operator()<2>();
        break;
      default:
        combine_some.template operator()<1>();
    }
    e -= rows;
  }
}

/// 𝓜⁻¹ = [I − HψK]* D⁻¹ [I − HψK], both triangles, over the user's coordinates. Throws as forward_dynamics.
template <class S>
void inverse_mass_matrix(Workspace<S>& ws, S* out) {
  need_articulated(ws);
  need_positions(ws);
  const std::size_t n = ws.innovation_layout.user.size();
  // combining rows takes as many steps an element as the tree is deep; loops have no rows of their own in it
  if (ws.innovation_layout.depth > deepest_combined || ws.tree->loop_clusters > 0) {
    for (std::size_t j = 0; j < n; ++j) {
      solve_unit(ws, static_cast<int>(j), out + j * n);
    }
    return;
  }
  if constexpr (columns_per_register<S> > 1) {
    std::fill_n(out, n * n, S(0));
  }
  for (std::size_t r = ws.tree->stages.size(); r-- > 0;) {
    const Run& run = ws.tree->stages[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) {
      if constexpr (columns_per_register<S> == 1) {
        innovate_lanes<kind>(ws, begin, end, out);
      } else {
        innovate_revolute<kind>(ws, begin, end, out);
      }
    };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      const CoupledLinks& c = ws.tree->clusters[at(run.cluster)];
      run.kind == Kind::siblings ? innovate_siblings(ws, c, out) : innovate_coupled(ws, c, out);
    } else {
      for (int k = run.end - 1; k >= run.begin; --k) {
        run.kind == Kind::floating ? innovate_floating(ws, k, out) : innovate_other(ws, k, out);
      }
    }
  }
  combine_rows(ws, out);
}

}  // namespace bunraku::kernels
