/// 𝓜⁻¹ = W* D⁻¹ W with W = I − HψK. Row e of W is what the innovation of coordinate e sees of a unit torque at each
/// coordinate beyond it; an inward sweep carries all unit torques at once.
#include <algorithm>
#include <span>

#include "bunraku/kernels/carry.hpp"

namespace bunraku::kernels {

namespace {

/// Writes the row of coordinate e of W, which has the coordinates in their cells, with its one.
template <class T>
BUNRAKU_INLINE void store(const ColumnLayout& layout, int e, int end, const T* cells, T* out) {
  const auto i = static_cast<std::size_t>(e);
  T* to = out + layout.row[i];
  to[layout.user[i]] = T(1);
  for (std::size_t c = i + 1; c < static_cast<std::size_t>(end); ++c) {
    to[layout.user[c]] = cells[layout.cell[c]];
  }
}

/// c += G ε in each column.
template <class T>
BUNRAKU_INLINE void add_product(const Force<T>& G, const Lanes<T>& epsilon, Columns<T>& c) {
  c.moment.x += G.moment.x * epsilon;
  c.moment.y += G.moment.y * epsilon;
  c.moment.z += G.moment.z * epsilon;
  c.force.x += G.force.x * epsilon;
  c.force.y += G.force.y * epsilon;
  c.force.z += G.force.z * epsilon;
}

/// Rows of 𝓜⁻¹ from column j on: Σ factor · row of W over one register of columns, or two, to have more sums under way.
template <int rows, int registers, class T>
BUNRAKU_INLINE void combine(std::span<const AncestorRow<T>> ancestors, int j, T* const* out) {
  constexpr int lanes = lane_count<T>;
  Lanes<T> sum[rows][registers] = {};
  for (const AncestorRow<T>& a : ancestors) {
#pragma GCC unroll 2
    for (int r = 0; r < registers; ++r) {
      const Lanes<T> w = *reinterpret_cast<const Loose<T>*>(a.row + j + r * lanes);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) {
        sum[i][r] += a.factor[i] * w;
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int r = 0; r < registers; ++r) {
      *reinterpret_cast<Loose<T>*>(out[i] + j + r * lanes) = sum[i][r];
    }
  }
}

/// The same over all columns.
template <int rows, class T>
void combine(std::span<const AncestorRow<T>> ancestors, int n, T* const* out) {
  constexpr int lanes = lane_count<T>;
  int j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    combine<rows, 2>(ancestors, j, out);
  }
  for (; j + lanes <= n; j += lanes) {
    combine<rows, 1>(ancestors, j, out);
  }
  for (; j < n; ++j) {
    T sum[rows] = {};
    for (const AncestorRow<T>& a : ancestors) {
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

}  // namespace

template <class T>
template <Kind kind>
void Sweeps<T>::innovate_revolute(int begin, int end, T* out) {
  for (int k = end - 1; k >= begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const Force<T> G = of_state_.U[at(l.v)] * of_state_.D_inverse[at(l.v)];
    const int e = innovation_layout_.first[at(k)];
    const Span span = registers(innovation_layout_, k);
    for (int r = span.begin; r < span.end; ++r) {
      Columns<T>& c = columns_[at(r)];
      const Lanes<T> epsilon = -c.moment.z;
      rows_[at(r)].moment.x = epsilon;
      add_product(G, epsilon, c);
    }
    store(innovation_layout_, e, innovation_layout_.coordinate_end[at(e)], reinterpret_cast<const T*>(rows_.data()),
          out);
    if (l.parent >= 0) {
      insert(innovation_layout_, e, G);
      carry<kind>(l, spin_[at(k)], span);
    }
  }
}

template <class T>
void Sweeps<T>::innovate_other(int k, T* out) {
  const Link<T>& l = tree_.links[at(k)];
  const int e = innovation_layout_.first[at(k)];
  const int end = innovation_layout_.coordinate_end[at(e)];
  const Span span = registers(innovation_layout_, k);
  for (int j = l.nv - 1; j >= 0; --j) {
    const Motion<T>& H = column(l.v + j);
    const Force<T> G = of_state_.U[at(l.v + j)] * of_state_.D_inverse[at(l.v + j)];
    for (int r = span.begin; r < span.end; ++r) {
      Columns<T>& c = columns_[at(r)];
      const Lanes<T> epsilon = -along(H, c);
      rows_[at(r)].moment.x = epsilon;
      add_product(G, epsilon, c);
    }
    store(innovation_layout_, e + j, end, reinterpret_cast<const T*>(rows_.data()), out);
    insert(innovation_layout_, e + j, G);
  }
  if (l.parent >= 0) {
    carry(pose(l), span);
  }
}

/// A free body against the world: H = I, and U(j) has nothing beyond j.
template <class T>
void Sweeps<T>::innovate_floating(int k, T* out) {
  const Link<T>& l = tree_.links[at(k)];
  const int e = innovation_layout_.first[at(k)];
  const Span span = registers(innovation_layout_, k);
  T g[6][6];
  for (int j = 0; j < 6; ++j) {
    const Force<T>& U = of_state_.U[at(l.v + j)];
    const T u[6] = {U.moment.x, U.moment.y, U.moment.z, U.force.x, U.force.y, U.force.z};
    for (int i = 0; i < 6; ++i) {
      g[j][i] = u[i] * of_state_.D_inverse[at(l.v + j)];
    }
  }
  for (int j = 5; j >= 0; --j) {  // its own columns
    Force<T> unit = Force<T>::zero();
    unit[j] = T(-1);  // its innovation is one
    insert(innovation_layout_, e + j, unit);
  }
  for (int r = span.begin; r < span.end; ++r) {
    Columns<T>& c = columns_[at(r)];
    Lanes<T> z[6] = {c.moment.x, c.moment.y, c.moment.z, c.force.x, c.force.y, c.force.z};
#pragma GCC unroll 6
    for (int j = 5; j >= 0; --j) {
      z[j] = -z[j];
#pragma GCC unroll 6
      for (int i = 0; i < j; ++i) {
        z[i] += g[j][i] * z[j];
      }
    }
    Columns<T>& row = rows_[at(r)];
    row.moment.x = z[0];
    row.moment.y = z[1];
    row.moment.z = z[2];
    row.force.x = z[3];
    row.force.y = z[4];
    row.force.z = z[5];
  }
  const auto n = static_cast<std::ptrdiff_t>(innovation_layout_.user.size());
  T* to = out + innovation_layout_.row[at(e)];
  for (int c = e; c < innovation_layout_.coordinate_end[at(e)]; ++c) {
    const T* cell = reinterpret_cast<const T*>(rows_.data()) + innovation_layout_.cell[at(c)];
    T* column = to + innovation_layout_.user[at(c)];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      column[j * n] = cell[j * lane_count<T>];
    }
  }
}

/// One-axis hinges on one parent that follow one velocity: a column beyond one of them has its part in that one alone.
template <class T>
void Sweeps<T>::innovate_siblings(const CoupledLinks& c, T* out) {
  const int e = innovation_layout_.first[at(c.begin)];
  const std::size_t v = at(c.coordinates.front());
  const Force<T> G = of_state_.U[v] * of_state_.D_inverse[v];
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const T ratio = tree_.within[at(l.v)].ratio;
    const Span span = registers(innovation_layout_, k);
    for (int r = span.begin; r < span.end; ++r) {
      const Columns<T>& column = columns_[at(r)];
      rows_[at(r)].moment.x = -ratio * (l.kind == Kind::prismatic ? column.force.z : column.moment.z);
    }
    if (c.parent >= 0 && span.begin < span.end) {
      carry(pose_of(k), span);
      for (int r = span.begin; r < span.end; ++r) {
        add_product(G, rows_[at(r)].moment.x, columns_[at(r)]);
      }
    }
  }
  store(innovation_layout_, e, innovation_layout_.coordinate_end[at(e)], reinterpret_cast<const T*>(rows_.data()), out);
  if (c.parent >= 0) {
    insert(innovation_layout_, e, G);
  }
}

/// Any other cluster: H̄z of all columns while these are carried to the parent, then L⁻¹ of that. The cluster's own
/// columns are units, and zero forces until then.
template <class T>
void Sweeps<T>::innovate_coupled(const CoupledLinks& c, T* out) {
  const ColumnLayout& layout = innovation_layout_;
  const int e = layout.first[at(c.begin)];
  const int m = static_cast<int>(c.coordinates.size());
  Span all{layout.slot[at(e)] / lane_count<T>, (layout.slot[at(e + m - 1)] + lane_count<T>) / lane_count<T>};
  for (int k = c.begin; k < c.end; ++k) {
    all.end = std::max(all.end, registers(layout, k).end);
  }
  const std::size_t width = at(all.end - all.begin);
  const auto part = [&](int j, int r) -> Lanes<T>& { return parts_[at(j) * width + at(r - all.begin)]; };
  std::fill_n(parts_.begin(), at(m) * width, Lanes<T>{});
  for (int k = c.end - 1; k >= c.begin; --k) {
    const Link<T>& l = tree_.links[at(k)];
    const Span span = registers(layout, k);
    for (int i = l.v; i < l.v + l.nv; ++i) {
      const Follower<T>& follower = tree_.within[at(i)];
      for (int r = span.begin; r < span.end; ++r) {
        part(follower.own, r) -= follower.ratio * along(column(i), columns_[at(r)]);
      }
    }
    if (l.parent >= 0 && span.begin < span.end) {
      carry(pose_of(k), span);
    }
  }
  for (int j = 0; j < m; ++j) {
    insert(layout, e + j, Force<T>::zero());
    const int slot = layout.slot[at(e + j)];
    for (int i = 0; i < m; ++i) {
      part(i, slot / lane_count<T>)[slot % lane_count<T>] = i == j ? T(1) : T(0);
    }
  }
  const T* L = of_state_.L.data() + c.factor;
  for (int j = m - 1; j >= 0; --j) {
    const std::size_t v = at(c.coordinates[at(j)]);
    const Force<T> G = of_state_.U[v] * of_state_.D_inverse[v];
    for (int r = all.begin; r < all.end; ++r) {
      const Lanes<T> epsilon = part(j, r);
      for (int i = 0; i < j; ++i) {
        part(i, r) -= L[i * m + j] * epsilon;
      }
      add_product(G, epsilon, columns_[at(r)]);
      rows_[at(r)].moment.x = epsilon;
    }
    store(layout, e + j, layout.coordinate_end[at(e)], reinterpret_cast<const T*>(rows_.data()), out);
  }
}

/// From W to W* D⁻¹ W, in place: row e needs the rows of its ancestors alone, so the rows are finished from the tips to
/// the base, several of one path at a time. A row of W has zeros where it is not on the path.
template <class T>
void Sweeps<T>::combine_rows(T* out) {
  const int n = static_cast<int>(innovation_layout_.user.size());
  for (int e = n - 1; e >= 0;) {
    int rows = 1;
    while (rows < combined_rows && e - rows >= 0 && innovation_layout_.parent[at(e - rows + 1)] == e - rows) {
      ++rows;
    }
    T* to[combined_rows] = {};
    int column_of[combined_rows] = {};
    for (int i = 0; i < rows; ++i) {
      to[i] = out + innovation_layout_.row[at(e - i)];
      column_of[i] = innovation_layout_.user[at(e - i)];
    }
    int count = 0;
    for (int a = e; a >= 0; a = innovation_layout_.parent[at(a)]) {
      const T* w = out + innovation_layout_.row[at(a)];
      const T scale = of_state_.D_inverse[at(innovation_layout_.full[at(a)])];
      AncestorRow<T>& ancestor = ancestors_[at(count++)];
      ancestor.row = w;
      for (int i = 0; i < rows; ++i) {
        ancestor.factor[i] = w[column_of[i]] * scale;
      }
    }
    const std::span<const AncestorRow<T>> ancestors(ancestors_.data(), at(count));
    switch (rows) {
      case 4:
        combine<4, T>(ancestors, n, to);
        break;
      case 3:
        combine<3, T>(ancestors, n, to);
        break;
      case 2:
        combine<2, T>(ancestors, n, to);
        break;
      default:
        combine<1, T>(ancestors, n, to);
    }
    e -= rows;
  }
}

template <class T>
void Sweeps<T>::inverse_mass_matrix(T* out) {
  need_articulated();
  const std::size_t n = innovation_layout_.user.size();
  if (innovation_layout_.depth >
      deepest_combined) {  // combining rows takes as many steps an element as the tree is deep
    for (std::size_t j = 0; j < n; ++j) {
      solve_unit(static_cast<int>(j), out + j * n);
    }
    return;
  }
  std::fill_n(out, n * n, T(0));
  for (std::size_t r = tree_.stages.size(); r-- > 0;) {
    const Run& run = tree_.stages[r];
    const auto revolute = [&]<Kind kind>(int begin, int end) { innovate_revolute<kind>(begin, end, out); };
    if (if_revolute(run, revolute)) {
      continue;
    }
    if (run.cluster >= 0) {
      const CoupledLinks& c = tree_.clusters[at(run.cluster)];
      run.kind == Kind::siblings ? innovate_siblings(c, out) : innovate_coupled(c, out);
    } else {
      for (int k = run.end - 1; k >= run.begin; --k) {
        run.kind == Kind::floating ? innovate_floating(k, out) : innovate_other(k, out);
      }
    }
  }
  combine_rows(out);
}

template void Sweeps<double>::inverse_mass_matrix(double*);
template void Sweeps<float>::inverse_mass_matrix(float*);

}  // namespace bunraku::kernels
