/// @file
/// 𝓜⁻¹ = W* D⁻¹ W of one state, as inverse_mass_matrix.hpp has it, seen from one frame: unit torques at all coordinates
/// go inward without being moved, a register of them at a time. For trees without coupled hinges.
#pragma once

#include <algorithm>
#include <vector>

#include "bunraku/kernels/articulated_bodies.hpp"
#include "bunraku/kernels/one_frame.hpp"
#include "bunraku/kernels/transpose.hpp"

namespace bunraku::kernels {

/// Coordinates of a register that are farther out than another on one path with it.
template <class S>
struct OuterLanes {
  CoordinateBits<S> bits = 0;  ///< Which.
  CoordinateBits<S> own = 0;   ///< The other's bit, where it is in the register, too.
  std::ptrdiff_t cell = 0;     ///< Where the register's forces start …
  std::ptrdiff_t in_row = 0;   ///< … and its numbers in a row of W.
};

/// A coordinate with others farther out.
template <class S>
struct InnovationStep {
  std::ptrdiff_t cell = 0;  ///< Where its components start …
  std::ptrdiff_t row = 0;   ///< … and its row of W.
  int end = 0;              ///< Where its OuterLanes end; they start where those of the step before end.
};

/// A coordinate that two registers of others see.
template <class S>
struct SeenByTwo {
  std::ptrdiff_t row = 0;  ///< Its row of W.
  int coordinate = 0;      ///< Which.
};

/// Elements of 𝓜⁻¹ between the coordinates of two registers.
template <class S>
struct InverseBlock {
  int rows = 0;     ///< One register …
  int columns = 0;  ///< … and the other, not before it.
  int end = 0;      ///< Where the coordinates that both see end; they start where those of the block before end.
};

/// Scratch of 𝓜⁻¹.
template <class S>
struct InnovationLanes : FrameLanes<S, 13> {
  using Base = FrameLanes<S, 13>;
  /// @name Where components start
  /// @{
  static constexpr int force = Base::further;  ///< G of the coordinate, then what is left of its unit torque.
  /// @}

  /// O(n²) memory.
  explicit InnovationLanes(const Workspace<S>& ws);

  /// From row to row of W.
  std::ptrdiff_t stride() const { return this->registers * Base::lanes; }

  std::vector<InnovationStep<S>> steps;  ///< From the tips to the base.
  std::vector<OuterLanes<S>> outer;      ///< Of all of them.
  std::vector<InverseBlock<S>> blocks;   ///< Of one triangle.
  std::vector<SeenByTwo<S>> seen;        ///< Of all of them.
  RegisterArray<S> W;                    ///< Whole registers a row; zeros and ones where they always are.
};

template <class S>
InnovationLanes<S>::InnovationLanes(const Workspace<S>& ws)
    : Base(ws), W(at(ws.tree->coordinates.nv) * at(this->registers * Base::lanes)) {
  const ColumnLayout& layout = ws.composite_layout;
  const int n = ws.tree->coordinates.nv;
  for (int c = n - 1; c >= 0; --c) {
    const int e = layout.user[at(c)];
    W.data()[e * stride() + e] = S(1);
    for (int r = 0; r < this->registers; ++r) {
      const auto bit = [&](int coordinate) {
        return coordinate / Base::lanes == r ? CoordinateBits<S>{1} << (coordinate % Base::lanes)
                                             : CoordinateBits<S>{0};
      };
      OuterLanes<S> others{0, bit(e), static_cast<std::ptrdiff_t>(this->start(r * Base::lanes)) + force * Base::lanes,
                           r * Base::lanes};
      for (int other = c + 1; other < layout.coordinate_end[at(c)]; ++other) {
        others.bits |= bit(layout.user[at(other)]);
      }
      if (others.bits != 0) {
        outer.push_back(others);
      }
    }
    const int end = static_cast<int>(outer.size());
    if (end > (steps.empty() ? 0 : steps.back().end)) {
      steps.push_back({static_cast<std::ptrdiff_t>(this->start(e)), e * stride(), end});
    }
  }
  std::vector<CoordinateBits<S>> sees(at(this->registers * n));  // of each register and coordinate: who sees it
  for (int c = 0; c < n; ++c) {
    for (int other = c; other < layout.coordinate_end[at(c)]; ++other) {
      sees[at(layout.user[at(other)] / Base::lanes * n + layout.user[at(c)])] = 1;
    }
  }
  for (int rows = 0; rows < this->registers; ++rows) {
    for (int columns = rows; columns < this->registers; ++columns) {
      for (int e = 0; e < n; ++e) {
        if (sees[at(rows * n + e)] != 0 && sees[at(columns * n + e)] != 0) {
          seen.push_back({e * stride(), e});
        }
      }
      blocks.push_back({rows, columns, static_cast<int>(seen.size())});
    }
  }
}

/// G of all coordinates.
template <class S>
void place_gains(const Workspace<S>& ws, InnovationLanes<S>& d) {
  using D = InnovationLanes<S>;
  using C = Column<S>;
  const int n = ws.tree->coordinates.nv;
  const NumberOf<S>* const U = reinterpret_cast<const NumberOf<S>*>(ws.of_state.U.data());
  for (int r = 0; r < d.registers; ++r) {
    const Transform<C> X = place_columns(d, r);
    const int first = r * D::lanes;
    const int last = std::min(D::lanes, n - first) - 1;
    C front[4];  // N and the first of F …
    C back[4];   // … the last of N, and F
    transpose_quads<S>(U + 6 * first, 6, last, front);
    transpose_quads<S>(U + 6 * first + 2, 6, last, back);
    const C inverse =
        first_numbers<D::lanes>(reinterpret_cast<const NumberOf<S>*>(&ws.of_state.D_inverse[at(first)]), last + 1);
    d.store(D::force, r, X * (Force<C>{{front[0], front[1], front[2]}, {back[1], back[2], back[3]}} * inverse));
  }
}

/// W: inward, the innovation of each coordinate of what is left of the unit torques beyond it.
template <class S>
void innovate(InnovationLanes<S>& d) {
  using D = InnovationLanes<S>;
  S* const numbers = d.numbers.data();
  S* const W = d.W.data();
  const OuterLanes<S>* lanes = d.outer.data();
  for (const InnovationStep<S>& step : d.steps) {
    const S* const own = numbers + step.cell;
    Column<S> H[6];
    Column<S> G[6];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      H[i] = -own[(D::column + i) * D::lanes];
      G[i] = own[(D::force + i) * D::lanes];
    }
    for (const OuterLanes<S>* const end = d.outer.data() + step.end; lanes < end; ++lanes) {
      S* const z = numbers + lanes->cell;
      const SixColumns<S> f(z);
      const Column<S> some = H[0] * f.x[0] + H[1] * f.x[1] + H[2] * f.x[2];
      const Column<S> others = H[3] * f.x[3] + H[4] * f.x[4] + H[5] * f.x[5];
      const Column<S> epsilon = chosen<S>(lanes->bits, some + others, Column<S>{});
      store_column(chosen<S>(lanes->own, Column<S>(1), epsilon), W + step.row + lanes->in_row);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) {
        store_column(f.x[i] + G[i] * epsilon, z + i * D::lanes);
      }
    }
  }
}

/// W* D⁻¹ W.
template <class S>
void multiply_rows(const Workspace<S>& ws, const InnovationLanes<S>& d, S* out) {
  using D = InnovationLanes<S>;
  constexpr int lanes = D::lanes;
  const int n = ws.tree->coordinates.nv;
  const S* const W = d.W.data();
  const S* const D_inverse = ws.of_state.D_inverse.data();
  const SeenByTwo<S>* seen = d.seen.data();
  for (const InverseBlock<S>& block : d.blocks) {
    const int row = block.rows * lanes;
    const int column = block.columns * lanes;
    Column<S> sum[lanes] = {};
    for (const SeenByTwo<S>* const end = d.seen.data() + block.end; seen < end; ++seen) {
      const S* const w = W + seen->row;
      const Column<S> scaled = load_column(w + column) * D_inverse[seen->coordinate];
#pragma GCC unroll 8
      for (int i = 0; i < lanes; ++i) {
        sum[i] += scaled * w[row + i];
      }
    }
    Column<S> across[lanes];
#pragma GCC unroll 8
    for (int i = 0; i < lanes; ++i) {
      across[i] = sum[i];
    }
    transpose<NumberOf<S>, lanes>(across);
    if (row == column) {
#pragma GCC unroll 8
      for (int i = 0; i < lanes; ++i) {
        sum[i] = joined<S>(i, across[i], sum[i]);
      }
    } else {
      write_square<S>(across, column, row, n, out);
    }
    write_square<S>(sum, row, column, n, out);
  }
}

/// 𝓜⁻¹ = [I − HψK]* D⁻¹ [I − HψK], both triangles. O(n²d). Throws as forward_dynamics.
template <class S>
void inverse_mass_matrix(Workspace<S>& ws, InnovationLanes<S>& d, S* out) {
  need_articulated(ws);
  place_all(ws, d);
  place_gains(ws, d);
  innovate(d);
  multiply_rows(ws, d, out);
}

}  // namespace bunraku::kernels
