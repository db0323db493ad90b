/// @file
/// The rows by which modes.hpp eliminates the modes of a flexible body.
#pragma once

#include "bunraku/kernels/workspace.hpp"

namespace bunraku::kernels {

/// The rows of one cluster, and scratch for as many modes, in a workspace's memory.
template <class S>
struct ModalRows {
  static constexpr int lanes = columns_per_register<S>;  ///< Numbers in a register.
  static constexpr int tail = modal_tail<S>;             ///< Room for Ū and ε.
  static constexpr int tail_registers = tail / lanes;    ///< What that takes.

  /// For n modes.
  ModalRows(Workspace<S>& ws, int n)
      : width(padded<S>(n)),
        stride(width + tail),
        rows(reinterpret_cast<S*>(ws.modal.data())),
        scratch(rows + n * stride) {}

  /// D of mode j.
  BUNRAKU_INLINE S* D(int j) const { return rows + j * stride; }
  /// Ū and then ε of mode j.
  BUNRAKU_INLINE S* U(int j) const { return D(j) + width; }
  /// Scratch vector i.
  BUNRAKU_INLINE S* vector(int i) const { return scratch + i * width; }

  int width;   ///< Numbers of D in a row.
  int stride;  ///< From one row to the next.
  S* rows;     ///< The first one.
  S* scratch;  ///< The first vector.
};

/// x of all modes and zeros after them, as whole registers.
template <class S>
BUNRAKU_INLINE void fill_vector(const S* x, int n, int width, S* out) {
  for (int i = 0; i < n; ++i) {
    out[i] = x[i];
  }
  for (int i = n; i < width; ++i) {
    out[i] = S(0);
  }
}

/// y ← y − a x, registers from 0 on up to that of number `last`.
template <class S>
BUNRAKU_INLINE void subtract_row(S* y, const S& a, const S* x, int last) {
  const Column<S> factor(a);
  for (int i = 0; i <= last; i += columns_per_register<S>) {
    store_column<S>(load_column<S>(y + i) - factor * load_column<S>(x + i), y + i);
  }
}

}  // namespace bunraku::kernels
