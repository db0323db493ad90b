/// @file
/// −𝓜⁻¹ times derivatives of torques, which have zeros where hinges are on different branches.
///
/// Of free bodies most columns need no product where nothing but gravity acts between them and the world: "unbound".
/// What moves there without turning moves all alike, and so do those who fall with it: accelerations change neither
/// with position nor with the velocity v of the base, but for v̇ = … − ω × v, and gravity turned back, g, is in v̇ alone.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/positions.hpp"

namespace bunraku::kernels {

/// Registers of rows of which the sums of some products stay in registers …
inline constexpr int most_product_registers = 6;
/// … and of how many products.
inline constexpr int most_product_columns = register_bytes == 64 ? 4 : 2;

/// Scratch of the products.
template <class S>
struct ProductScratch {
  /// O(n) memory. The layout must outlive it.
  ProductScratch(const Workspace<S>& ws, const DerivativeLayout& l)
      : layout(l),
        inverse(lanes == 1 ? 0 : room(ws)),
        rows_x(lanes == 1 ? room(ws) : 0),
        rows_y(lanes == 1 ? room(ws) : 0) {}

  const DerivativeLayout& layout;  ///< Who is on one path with whom.
  RegisterArray<S> inverse;        ///< Of one state some rows of 𝓜⁻¹, column by column without gaps: they stay near.
  RegisterArray<S> rows_x;         ///< Of several states some rows of −𝓜⁻¹X, row by row …
  RegisterArray<S> rows_y;         ///< … and of −𝓜⁻¹Y.

 private:
  static constexpr int lanes = columns_per_register<S>;
  static std::size_t room(const Workspace<S>& ws) {
    return ws.innovation_layout.user.size() * std::size_t{most_product_registers} * lanes;
  }
};

/// Where products go: element (i, j) is at number i · row + j · column.
template <class S>
struct Products {
  S* x = nullptr;             ///< Of −𝓜⁻¹X the first element …
  S* y = nullptr;             ///< … and of −𝓜⁻¹Y.
  std::ptrdiff_t row = 0;     ///< From row to row …
  std::ptrdiff_t column = 0;  ///< … and from column to column.

  /// From row i on.
  Products from(int i) const { return {x + i * row, y + i * row, row, column}; }
};

/// `count` registers of rows of 𝓜⁻¹, column by column, from row `first` on; numbers beyond the last row are any.
template <int count, class S>
BUNRAKU_INLINE void pack_rows(const S* inverse, int n, int first, S* to) {
  constexpr int lanes = columns_per_register<S>;
  const S* const end = inverse + std::ptrdiff_t{n} * n;
  for (const S* from = inverse + first; from < end; from += n, to += count * lanes) {
    if (from + count * lanes <= end) {
#pragma GCC unroll 8
      for (int r = 0; r < count; ++r) {
        store_column(load_column(from + r * lanes), to + r * lanes);
      }
    } else {
      std::copy(from, end, to);
    }
  }
}

/// `count` registers of rows, `rows` in all, of the products of some coordinates' columns of Y, or with `both` of X and
/// of Y, where `related` starts for each of them, by those rows of 𝓜⁻¹, column by column, `stride` apart. The products
/// go to `to`, and `row` apart from row to row.
template <int count, int coordinates, bool both, class S>
BUNRAKU_INLINE void multiply_rows(const Related* const (&related)[coordinates], int length, const S* inverse,
                                  std::ptrdiff_t stride, const Slopes<S>& slopes,
                                  S* const (&to)[both ? 2 * coordinates : coordinates], std::ptrdiff_t row, int rows) {
  constexpr int lanes = columns_per_register<S>;
  constexpr int width = both ? 2 * coordinates : coordinates;
  const S* const dq = slopes.dq;
  const S* const dv = slopes.dv;
  Column<S> sum[width][count] = {};
  for (int k = 0; k < length; ++k) {
    const S* column = inverse + related[0][k].column * stride;
    Column<S> x[width];
#pragma GCC unroll 3
    for (int c = 0; c < coordinates; ++c) {
      const int place = related[c][k].place;
      if constexpr (both) {
        x[2 * c] = dq[place];
        x[2 * c + 1] = dv[place];
      } else {
        x[c] = dv[place];
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < count; ++r) {
      Column<S> m = load_column(column + r * lanes);
      hold(m);
#pragma GCC unroll 4
      for (int c = 0; c < width; ++c) {
        sum[c][r] -= m * x[c];
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < count; ++r) {
    const int own = std::min(rows - r * lanes, lanes);
#pragma GCC unroll 4
    for (int c = 0; c < width; ++c) {
      store_some(sum[c][r], own, to[c] + r * lanes * row);
    }
  }
}

/// The columns of a free body that need no product, by q and by the linear velocity, in `count` rows from `first` on.
template <class S>
void put_unbound(const Workspace<S>& ws, const FreeBody& body, int first, int count, const Products<S>& out) {
  const Link<S>& l = ws.link(body.link);
  const Vec3<S> g = placed(ws, l).rotation.inverse_times(ws.base_acceleration);
  const Vec3<S> w{ws.v[l.v], ws.v[l.v + 1], ws.v[l.v + 2]};
  for (int j = 0; j < 6; ++j) {
    S* const x = out.x + (l.v + j) * out.column;
    S* const y = out.y + (l.v + j) * out.column;
    for (int i = 0; i < count; ++i) {
      x[i * out.row] = S(0);
      if (j >= 3) {
        y[i * out.row] = S(0);
      }
    }
  }
  for (int j = 0; j < 3; ++j) {
    Vec3<S> unit = Vec3<S>::zero();
    unit[j] = S(1);
    const Vec3<S> by_q = cross(unit, g);
    const Vec3<S> by_v = cross(unit, w);
    for (int i = 0; i < 3; ++i) {
      const int row = l.v + 3 + i - first;
      if (row >= 0 && row < count) {
        out.x[row * out.row + (l.v + j) * out.column] = by_q[i];
        out.y[row * out.row + (l.v + 3 + j) * out.column] = by_v[i];
      }
    }
  }
}

/// `count` registers of rows of −𝓜⁻¹X and −𝓜⁻¹Y, from row `first` on, which is where `out` starts; see
/// multiply_derivatives.
template <int count, class S>
void multiply_some(const Workspace<S>& ws, ProductScratch<S>& scratch, const S* inverse, const Slopes<S>& slopes,
                   bool unbound, int first, const Products<S>& out) {
  const ColumnLayout& layout = ws.innovation_layout;
  const int n = static_cast<int>(layout.user.size());
  constexpr bool whole = columns_per_register<S> == 1;  // rows come without gaps in whole columns, too
  const S* const some = whole ? inverse + first : scratch.inverse.data();
  const std::ptrdiff_t stride = whole ? n : count * columns_per_register<S>;
  if constexpr (!whole) {
    pack_rows<count>(inverse, n, first, scratch.inverse.data());
  }
  const auto related = [&](int e) { return scratch.layout.related.data() + scratch.layout.related_begin[at(e)]; };
  const auto related_by = [&](int e) {
    return scratch.layout.related_begin[at(e) + 1] - scratch.layout.related_begin[at(e)];
  };
  const auto x = [&](int e) { return out.x + layout.user[at(e)] * out.column; };
  const auto y = [&](int e) { return out.y + layout.user[at(e)] * out.column; };
  for (int e = 0; e < n; ++e) {
    if (unbound && scratch.layout.of_free[at(e)] != 0) {
      continue;
    }
    if (most_product_columns == 4 && scratch.layout.with_next[at(e)] != 0) {
      multiply_rows<count, 2, true, S>({related(e), related(e + 1)}, related_by(e), some, stride, slopes,
                                       {x(e), y(e), x(e + 1), y(e + 1)}, out.row, n - first);
      ++e;
    } else {
      multiply_rows<count, 1, true, S>({related(e)}, related_by(e), some, stride, slopes, {x(e), y(e)}, out.row,
                                       n - first);
    }
  }
  for (const FreeBody& body : scratch.layout.free) {
    if (unbound) {  // by the angular velocity
      const int e = body.first;
      if constexpr (most_product_columns >= 3) {
        multiply_rows<count, 3, false, S>({related(e), related(e + 1), related(e + 2)}, related_by(e), some, stride,
                                          slopes, {y(e), y(e + 1), y(e + 2)}, out.row, n - first);
      } else {
        multiply_rows<count, 2, false, S>({related(e), related(e + 1)}, related_by(e), some, stride, slopes,
                                          {y(e), y(e + 1)}, out.row, n - first);
        multiply_rows<count, 1, false, S>({related(e + 2)}, related_by(e), some, stride, slopes, {y(e + 2)}, out.row,
                                          n - first);
      }
      put_unbound(ws, body, first, std::min(count * columns_per_register<S>, n - first), out);
    }
  }
}

/// −𝓜⁻¹X and −𝓜⁻¹Y of slopes X and Y over the user's coordinates, n×n each, some rows at a time: calls done(i, count)
/// after each `count` rows from row i on, which go to to(i). With `unbound` some columns of free bodies are not read.
/// O(n²d).
template <class S, class To, class Done>
void multiply_derivatives(const Workspace<S>& ws, ProductScratch<S>& scratch, const S* inverse, const Slopes<S>& slopes,
                          bool unbound, To&& to, Done&& done) {
  constexpr int lanes = columns_per_register<S>;
  const int n = static_cast<int>(ws.innovation_layout.user.size());
  const int registers = (n + lanes - 1) / lanes;
  const int rounds = (registers + most_product_registers - 1) / most_product_registers;
  for (int round = 0, r = 0; round < rounds; ++round) {
    const int count = (registers - r + rounds - round - 1) / (rounds - round);
    const int first = r * lanes;
    const auto some = [&]<int registers_of_rows>() {
      multiply_some<registers_of_rows>(ws, scratch, inverse, slopes, unbound, first, to(first));
    };
    switch (count) {
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
        some.template operator()<most_product_registers>();
    }
    done(first, std::min(count * lanes, n - first));
    r += count;
  }
}

/// The same as whole matrices, column by column.
template <class S>
void multiply_derivatives(const Workspace<S>& ws, ProductScratch<S>& scratch, const S* inverse, const Slopes<S>& slopes,
                          bool unbound, S* out_x, S* out_y) {
  const Products<S> all{out_x, out_y, 1, static_cast<std::ptrdiff_t>(ws.innovation_layout.user.size())};
  multiply_derivatives(
      ws, scratch, inverse, slopes, unbound, [&](int first) { return all.from(first); }, [](int, int) {});
}

}  // namespace bunraku::kernels
