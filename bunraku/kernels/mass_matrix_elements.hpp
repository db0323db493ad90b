/// @file
/// 𝓜 of one state in its elements (JR03 5.44–5.46): seen from one frame, inward R(k) = Σ R + M(k); f(k) = R(k)H*(k) is
/// the force of a unit acceleration; and with a coordinate j on the path from k to the base H(j)f(k) is an element. All
/// of it is done for a register of coordinates at a time: in the sum each link's inertia is added to all of them that
/// carry it.
#pragma once

#include <algorithm>
#include <vector>

#include "bunraku/kernels/one_frame.hpp"

namespace bunraku::kernels {

/// Elements of 𝓜 in the columns of one register's coordinates and the rows of another's, or the same one's.
template <class S>
struct ElementBlock {
  int columns = 0;                                          ///< The one …
  int rows = 0;                                             ///< … and the other, not before it.
  bool any = false;                                         ///< Whether any is not zero.
  CoordinateBits<S> outside[columns_per_register<S>] = {};  ///< Of each column: its own row, and those farther out.
};

/// What some coordinates of a register carry: the inertia of a link, or all that one of another register carries.
template <class S>
struct CarriedBy {
  CoordinateBits<S> by = 0;  ///< Which of them.
  std::ptrdiff_t cell = 0;   ///< Where it starts.
};

/// Scratch of 𝓜.
template <class S>
struct ElementLanes : FrameLanes<S, 43> {
  using Base = FrameLanes<S, 43>;
  /// @name Where components start
  /// @{
  static constexpr int momentum = Base::further;        ///< f = RH*.
  static constexpr int composite = Base::further + 6;   ///< R.
  static constexpr int own = Base::further + 16;        ///< The link's inertia: constants …
  static constexpr int own_there = Base::further + 26;  ///< … and as seen from the tree.
  /// @}

  /// O(n²) memory.
  explicit ElementLanes(const Workspace<S>& ws);

  std::vector<CarriedBy<S>> carried;    ///< Of all registers, the last first …
  std::vector<int> carried_end;         ///< … where those of each register end; they start where the next one's end.
  std::vector<ElementBlock<S>> blocks;  ///< Of one triangle.
  std::vector<S> armature;              ///< Of all lanes.
};

template <class S>
ElementLanes<S>::ElementLanes(const Workspace<S>& ws)
    : Base(ws), carried_end(at(this->registers)), armature(at(this->registers * Base::lanes)) {
  std::copy_n(ws.armature, ws.tree->coordinates.nv, armature.begin());
  std::vector<int> massless(at(ws.tree->coordinates.nv), 1);  // numbers: bools would be in functions of all variants
  for (const Link<double>& l : ws.tree->links) {
    this->put(own, l.v + l.nv - 1, cast<S>(l.inertia));
    massless[at(l.v + l.nv - 1)] = 0;
  }
  const ColumnLayout& layout = ws.composite_layout;
  const int n = ws.tree->coordinates.nv;
  std::vector<int> parent(at(n), -1);  // of each coordinate, in the order of the matrix
  for (int c = 0; c < n; ++c) {
    if (layout.parent[at(c)] >= 0) {
      parent[at(layout.user[at(c)])] = layout.user[at(layout.parent[at(c)])];
    }
  }
  for (int r = this->registers - 1; r >= 0; --r) {
    for (int e = n - 1; e >= r * Base::lanes; --e) {
      const bool within = e < (r + 1) * Base::lanes;
      if (within ? massless[at(e)] != 0 : parent[at(e)] / Base::lanes != r) {
        continue;
      }
      CoordinateBits<S> by = 0;
      for (int up = parent[at(e)]; up >= r * Base::lanes; up = parent[at(up)]) {
        by |= CoordinateBits<S>{1} << (up - r * Base::lanes);
      }
      if (by != 0) {
        carried.push_back({by, static_cast<std::ptrdiff_t>(this->start(e)) +
                                   (within ? own_there : composite) * std::ptrdiff_t{Base::lanes}});
      }
    }
    carried_end[at(r)] = static_cast<int>(carried.size());
  }
  for (int columns = 0; columns < this->registers; ++columns) {
    for (int rows = columns; rows < this->registers; ++rows) {
      ElementBlock<S>& block = blocks.emplace_back(ElementBlock<S>{columns, rows});
      for (int e = rows * Base::lanes; e < std::min(n, (rows + 1) * Base::lanes); ++e) {
        for (int up = e; up >= columns * Base::lanes; up = parent[at(up)]) {
          if (up < (columns + 1) * Base::lanes) {
            block.outside[up - columns * Base::lanes] |= CoordinateBits<S>{1} << (e - rows * Base::lanes);
            block.any = true;
          }
        }
      }
    }
  }
}

/// From frames R and f of a register's coordinates; what those of later ones carry is there.
template <class S>
void compose_register(ElementLanes<S>& d, int r) {
  using D = ElementLanes<S>;
  using C = Column<S>;
  const Transform<C> X = place_columns(d, r);
  const Mat3<C>& turn = X.rotation.matrix();
  const RigidInertia<C> own = d.load_inertia(D::own, r);
  RigidInertia<C> R =
      shifted(RigidInertia<C>{own.mass, turn * own.first_moment, congruence(turn, own.inertia)}, X.translation);
  d.store(D::own_there, r, R);
  const S* const numbers = d.numbers.data();
  const CarriedBy<S>* const carried = d.carried.data();
  const int end = d.carried_end[at(r)];
  for (int i = r + 1 < d.registers ? d.carried_end[at(r + 1)] : 0; i < end; ++i) {
    const S* const more = numbers + carried[i].cell;
    const auto add = [&](C& sum, int c) BUNRAKU_INLINE_LAMBDA { add_some<S>(carried[i].by, more[c * D::lanes], sum); };
    add(R.mass, 0);
    add(R.first_moment.x, 1);
    add(R.first_moment.y, 2);
    add(R.first_moment.z, 3);
    add(R.inertia.xx, 4);
    add(R.inertia.yy, 5);
    add(R.inertia.zz, 6);
    add(R.inertia.xy, 7);
    add(R.inertia.xz, 8);
    add(R.inertia.yz, 9);
  }
  d.store(D::composite, r, R);
  d.store(D::momentum, r, R * d.load_motion(D::column, r));
}

/// The elements of a block, and of the one across: H(j)f(k), where j is the one farther in.
template <class S>
BUNRAKU_INLINE void write_block(const ElementLanes<S>& d, const ElementBlock<S>& block, std::ptrdiff_t n, S* out) {
  using D = ElementLanes<S>;
  constexpr int lanes = D::lanes;
  const int column = block.columns * lanes;
  const int row = block.rows * lanes;
  Column<S> x[lanes] = {};
  Column<S> across[lanes] = {};
  if (block.any) {
    const SixColumns<S> f(d.cell(D::momentum, row));
    const S* const H = d.cell(D::column, column);
#pragma GCC unroll 8
    for (int i = 0; i < lanes; ++i) {
      if (block.outside[i] != 0) {
        x[i] = chosen<S>(block.outside[i], f.times(H + i), Column<S>{});
      }
    }
    if (row == column) {
#pragma GCC unroll 8
      for (int i = 0; i < lanes; ++i) {
        add_some<S>(CoordinateBits<S>{1} << i, d.armature[at(column + i)], x[i]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < lanes; ++i) {
      across[i] = x[i];
    }
    transpose<NumberOf<S>, lanes>(across);
  }
  if (row == column) {
#pragma GCC unroll 8
    for (int i = 0; i < lanes; ++i) {
      x[i] = joined<S>(i, across[i], x[i]);
    }
  } else {
    write_square<S>(across, row, column, n, out);
  }
  write_square<S>(x, column, row, n, out);
}

/// 𝓜 = HφMφ*H* + armature by composite bodies (RK92 28–33) over all hinges, both triangles. O(n²).
template <class S>
void mass_matrix(Workspace<S>& ws, ElementLanes<S>& d, S* out) {
  const std::ptrdiff_t n = ws.tree->coordinates.nv;
  place_all(ws, d);
  for (int r = d.registers - 1; r >= 0; --r) {
    compose_register(d, r);
  }
  for (const ElementBlock<S>& block : d.blocks) {
    write_block(d, block, n, out);
  }
}

}  // namespace bunraku::kernels
