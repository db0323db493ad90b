/// @file
/// −𝓜⁻¹ times derivatives of torques, which have zeros where hinges are on different branches.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "bunraku/kernels/workspace.hpp"

namespace bunraku::kernels {

/// Scratch of the products, and who is on one path with whom.
template <class S>
struct ProductScratch {
  /// O(n²) memory.
  explicit ProductScratch(const Workspace<S>& ws) {
    constexpr int lanes = columns_per_register<S>;
    const ColumnLayout& layout = ws.innovation_layout;
    const std::size_t n = layout.user.size();
    stride = static_cast<std::ptrdiff_t>((n + lanes - 1) / lanes * lanes);
    inverse.resize(n * static_cast<std::size_t>(stride));
    for (int e = 0; e < static_cast<int>(n); ++e) {
      first.push_back(related.size());
      for (int a = layout.parent[at(e)]; a >= 0; a = layout.parent[at(a)]) {
        related.push_back(layout.user[at(a)]);
      }
      for (int c = e; c < layout.coordinate_end[at(e)]; ++c) {
        related.push_back(layout.user[at(c)]);
      }
    }
    first.push_back(related.size());
  }

  std::ptrdiff_t stride = 0;       ///< Numbers of a column, whole registers of them.
  std::vector<S> inverse;          ///< Columns of 𝓜⁻¹.
  std::vector<int> related;        ///< Of each coordinate, depth first: those on one path with it.
  std::vector<std::size_t> first;  ///< Where they start; one more for the end.
};

/// The sums of `count` registers of rows of −𝓜⁻¹x and −𝓜⁻¹y.
template <int count, class S>
BUNRAKU_INLINE void multiply_rows(std::span<const int> related, const S* inverse, std::ptrdiff_t stride, const S* x,
                                  const S* y, std::ptrdiff_t rows, S* out_x, S* out_y) {
  constexpr int lanes = columns_per_register<S>;
  Column<S> sum_x[count] = {};
  Column<S> sum_y[count] = {};
  for (const int k : related) {
    const S* column = inverse + k * stride;
    const Column<S> by_x = x[k];
    const Column<S> by_y = y[k];
#pragma GCC unroll 8
    for (int r = 0; r < count; ++r) {
      const Column<S> m = load_column(column + r * lanes);
      sum_x[r] -= m * by_x;
      sum_y[r] -= m * by_y;
    }
  }
  const auto write = [&](const Column<S>& sum, int r, S* out) BUNRAKU_INLINE_LAMBDA {
    if ((r + 1) * lanes <= rows) {
      store_column(sum, out + r * lanes);
    } else {
      S numbers[lanes];
      store_column(sum, numbers);
      for (int lane = 0; r * lanes + lane < rows; ++lane) {
        out[r * lanes + lane] = numbers[lane];
      }
    }
  };
#pragma GCC unroll 8
  for (int r = 0; r < count; ++r) {
    write(sum_x[r], r, out_x);
    write(sum_y[r], r, out_y);
  }
}

/// −𝓜⁻¹X and −𝓜⁻¹Y over the user's coordinates, n×n each, where X and Y have zeros between coordinates that are not on
/// one path. O(n²d).
template <class S>
void multiply_derivatives(const Workspace<S>& ws, ProductScratch<S>& scratch, const S* inverse, const S* x, const S* y,
                          S* out_x, S* out_y) {
  constexpr int lanes = columns_per_register<S>;
  constexpr int most = 6;  // registers of rows of which the sums of both products stay in registers
  const ColumnLayout& layout = ws.innovation_layout;
  const int n = static_cast<int>(layout.user.size());
  const int registers = (n + lanes - 1) / lanes;
  const int rounds = (registers + most - 1) / most;
  const int together = rounds == 0 ? 0 : (registers + rounds - 1) / rounds;
  if (n != scratch.stride) {
    for (int j = 0; j < n; ++j) {
      std::copy_n(inverse + j * n, n, scratch.inverse.data() + j * scratch.stride);
    }
    inverse = scratch.inverse.data();
  }
  for (int e = 0; e < n; ++e) {
    const std::span<const int> related(scratch.related.data() + scratch.first[at(e)],
                                       scratch.first[at(e) + 1] - scratch.first[at(e)]);
    const std::ptrdiff_t own = layout.row[at(e)];
    for (int r = 0; r < registers; r += together) {
      const std::ptrdiff_t first = r * lanes;
      const auto some = [&]<int count>() BUNRAKU_INLINE_LAMBDA {
        multiply_rows<count>(related, inverse + first, scratch.stride, x + own, y + own, n - first, out_x + own + first,
                             out_y + own + first);
      };
      switch (std::min(together, registers - r)) {
        case 1:
          some.template operator()<1>();
          break;
        case 2:
          some.template operator()<2>();
          break;
        case 3:
          some.template operator()<3>();
          break;
        case 4:
          some.template operator()<4>();
          break;
        case 5:
          some.template operator()<5>();
          break;
        default:
          some.template operator()<most>();
      }
    }
  }
}

}  // namespace bunraku::kernels
