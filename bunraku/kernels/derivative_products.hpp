/// @file
/// −𝓜⁻¹ times derivatives of torques, which have zeros where hinges are on different branches.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/workspace.hpp"

namespace bunraku::kernels {

/// Scratch of the products.
template <class S>
struct ProductScratch {
  /// O(n²) memory. The layout must outlive it.
  ProductScratch(const Workspace<S>& ws, const DerivativeLayout& l) : layout(l) {
    constexpr int lanes = columns_per_register<S>;
    const std::size_t n = ws.innovation_layout.user.size();
    stride = static_cast<std::ptrdiff_t>((n + lanes - 1) / lanes * lanes);
    inverse.resize(stride == static_cast<std::ptrdiff_t>(n) ? 0 : n * static_cast<std::size_t>(stride));
  }

  const DerivativeLayout& layout;  ///< Who is on one path with whom.
  std::ptrdiff_t stride = 0;       ///< Numbers of a column, whole registers of them.
  std::vector<S> inverse;          ///< Columns of 𝓜⁻¹, where those of the caller are not whole registers.
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
    const S* const end = inverse + std::ptrdiff_t{n} * n;
    for (int j = 0; j < n; ++j) {  // whole registers, with numbers of the next column behind: nobody looks at those
      const S* from = inverse + std::ptrdiff_t{j} * n;
      S* to = scratch.inverse.data() + j * scratch.stride;
      for (int r = 0; r < registers; ++r, from += lanes, to += lanes) {
        if (from + lanes <= end) {
          store_column(load_column(from), to);
        } else {
          std::copy(from, end, to);
        }
      }
    }
    inverse = scratch.inverse.data();
  }
  for (int r = 0; r < registers; r += together) {  // of several states, so many rows of 𝓜⁻¹ fit the nearest cache
    const std::ptrdiff_t first = r * lanes;
    for (int e = 0; e < n; ++e) {
      const int begin = scratch.layout.related_begin[at(e)];
      const std::span<const int> related(scratch.layout.related.data() + begin,
                                         at(scratch.layout.related_begin[at(e) + 1] - begin));
      const std::ptrdiff_t own = layout.row[at(e)];
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
