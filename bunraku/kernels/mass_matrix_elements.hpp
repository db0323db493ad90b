/// @file
/// 𝓜 of one state in its elements (JR03 5.44–5.46): seen from one frame, inward R(k) = Σ R + M(k); f(k) = R(k)H*(k) is
/// the force of a unit acceleration; and with a coordinate j on the path from k to the base H(j)f(k) is an element. But
/// for the sum, all of it is done for a register of coordinates at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "bunraku/kernels/one_frame.hpp"

namespace bunraku::kernels {

/// The rows of a register's coordinates in one column of 𝓜.
template <class S>
struct ColumnPart {
  CoordinateBits<S> outside = 0;  ///< Rows of the column's own coordinate, and of those farther out on one path …
  CoordinateBits<S> inside = 0;   ///< … and of those farther in.
  std::ptrdiff_t column = 0;      ///< Which.
  std::ptrdiff_t cell = 0;        ///< Where its components start.
};

/// Columns with elements of both kinds in the rows of a register, with one, and with none.
template <class S>
struct ColumnParts {
  int both = 0;     ///< Where those end.
  int outside = 0;  ///< And these.
  int inside = 0;   ///< And these.
  int end = 0;      ///< And these.
};

/// Where what a coordinate carries is added, to the one before it inward.
template <class S>
struct Inward {
  std::ptrdiff_t from = 0;  ///< Its cell.
  std::ptrdiff_t to = 0;    ///< That of the other.
};

/// Scratch of 𝓜.
template <class S>
struct ElementLanes : FrameLanes<S, 39> {
  using Base = FrameLanes<S, 39>;
  /// @name Where components start
  /// @{
  static constexpr int momentum = Base::frames;    ///< f = RH*, in the place of the frame.
  static constexpr int composite = Base::further;  ///< R.
  static constexpr int own = Base::further + 10;   ///< The link's inertia: constants.
  /// @}

  /// O(n²) memory.
  explicit ElementLanes(const Workspace<S>& ws);

  std::vector<ColumnPart<S>> parts;  ///< Of all registers of rows, by kind.
  std::vector<ColumnParts<S>> rows;  ///< Where they are, by registers.
  std::vector<Inward<S>> inward;     ///< Of all coordinates, from the tips to the base.
};

template <class S>
ElementLanes<S>::ElementLanes(const Workspace<S>& ws) : Base(ws) {
  for (const Link<double>& l : ws.tree->links) {
    this->put(own, l.v + l.nv - 1, cast<S>(l.inertia));
  }
  const ColumnLayout& layout = ws.composite_layout;
  const int n = ws.tree->coordinates.nv;
  for (int c = n - 1; c >= 0; --c) {
    if (layout.parent[at(c)] >= 0) {
      const auto place = [&](int e) { return this->start(layout.user[at(e)]) + at(composite * Base::lanes); };
      inward.push_back(
          {static_cast<std::ptrdiff_t>(place(c)), static_cast<std::ptrdiff_t>(place(layout.parent[at(c)]))});
    }
  }
  for (int first = 0; first < n; first += Base::lanes) {
    std::vector<ColumnPart<S>> found(at(n));
    const auto bit = [&](int row) {
      return row >= first && row < first + Base::lanes ? CoordinateBits<S>{1} << (row - first) : CoordinateBits<S>{0};
    };
    for (int c = 0; c < n; ++c) {
      const int own_column = layout.user[at(c)];
      ColumnPart<S>& part = found[at(own_column)];
      part.column = own_column;
      part.cell = static_cast<std::ptrdiff_t>(this->start(own_column));
      part.outside |= bit(own_column);
      for (int other = c + 1; other < layout.coordinate_end[at(c)]; ++other) {
        part.outside |= bit(layout.user[at(other)]);
        found[at(layout.user[at(other)])].inside |= bit(own_column);
      }
    }
    const auto add = [&](bool outside, bool inside) {
      for (const ColumnPart<S>& each : found) {
        if ((each.outside != 0) == outside && (each.inside != 0) == inside) {
          parts.push_back(each);
        }
      }
      return static_cast<int>(parts.size());
    };
    const int both = add(true, true);
    const int outside = add(true, false);
    const int inside = add(false, true);
    rows.push_back({both, outside, inside, add(false, false)});
  }
}

/// From frames the inertia of each link, seen from its tree.
template <class S>
void weigh_links(ElementLanes<S>& d) {
  using D = ElementLanes<S>;
  using C = Column<S>;
  for (int r = 0; r < d.registers; ++r) {
    const Transform<C> X = place_columns(d, r);
    const Mat3<C>& R = X.rotation.matrix();
    const RigidInertia<C> own = d.load_inertia(D::own, r);
    d.store(D::composite, r,
            shifted(RigidInertia<C>{own.mass, R * own.first_moment, congruence(R, own.inertia)}, X.translation));
  }
}

/// R of all coordinates, inward.
template <class S>
void gather_composites(ElementLanes<S>& d) {
  S* const numbers = d.numbers.data();
  for (const Inward<S>& each : d.inward) {
    const S* const from = numbers + each.from;
    S* const to = numbers + each.to;
    S sum[10];
#pragma GCC unroll 10
    for (int c = 0; c < 10; ++c) {
      sum[c] = to[c * d.lanes] + from[c * d.lanes];
    }
#pragma GCC unroll 10
    for (int c = 0; c < 10; ++c) {
      to[c * d.lanes] = sum[c];
    }
  }
}

/// f of all coordinates.
template <class S>
void load_columns(ElementLanes<S>& d) {
  using D = ElementLanes<S>;
  for (int r = 0; r < d.registers; ++r) {
    d.store(D::momentum, r, d.load_inertia(D::composite, r) * d.load_motion(D::column, r));
  }
}

/// Elements in the rows of a register, of all columns: H(j)f(k), where j is the one farther in.
template <class S>
void write_rows(const ElementLanes<S>& d, int r, std::ptrdiff_t n, S* out) {
  using D = ElementLanes<S>;
  const S* const numbers = d.numbers.data();
  const SixColumns<S> f(d.cell(D::momentum, r * D::lanes));
  const SixColumns<S> H(d.cell(D::column, r * D::lanes));
  const ColumnParts<S> ends = d.rows[at(r)];
  const ColumnPart<S>* const parts = d.parts.data();
  const int first = r == 0 ? 0 : d.rows[at(r - 1)].end;
  const int count = std::min(static_cast<int>(n) - r * D::lanes, D::lanes);
  S* const to = out + r * D::lanes;
  const auto write = [&]<bool outside, bool inside>(int begin, int end) BUNRAKU_INLINE_LAMBDA {
    for (int i = begin; i < end; ++i) {
      const ColumnPart<S>& part = parts[i];
      const S* const column = numbers + part.cell;
      Column<S> x{};
      if constexpr (inside) {
        x = chosen<S>(part.inside, H.times(column + D::momentum * D::lanes), x);
      }
      if constexpr (outside) {
        x = chosen<S>(part.outside, f.times(column + D::column * D::lanes), x);
      }
      store_some(x, count, to + part.column * n);
    }
  };
  write.template operator()<true, true>(first, ends.both);
  write.template operator()<true, false>(ends.both, ends.outside);
  write.template operator()<false, true>(ends.outside, ends.inside);
  write.template operator()<false, false>(ends.inside, ends.end);
}

/// 𝓜 = HφMφ*H* + armature by composite bodies (RK92 28–33) over all hinges, both triangles. O(n²).
template <class S>
void mass_matrix(Workspace<S>& ws, ElementLanes<S>& d, S* out) {
  const std::ptrdiff_t n = ws.tree->coordinates.nv;
  place_all(ws, d);
  weigh_links(d);
  gather_composites(d);
  load_columns(d);
  for (int r = 0; r < d.registers; ++r) {
    write_rows(d, r, n, out);
  }
  for (std::ptrdiff_t j = 0; j < n; ++j) {
    out[j * (n + 1)] += ws.armature[j];
  }
}

}  // namespace bunraku::kernels
