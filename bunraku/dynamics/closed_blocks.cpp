// Step D of RJK89 group by group, in time that grows with the number of arms: see detail/closed_blocks.hpp.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bunraku/dynamics/detail/closed_data.hpp"
#include "bunraku/dynamics/detail/small_factors.hpp"

namespace bunraku::detail {

using kernels::ClosureColumns;

namespace {

/// Directions of a block are eliminated above this part of the largest; what is smaller would cost digits.
template <class T>
constexpr T eliminated_share = std::is_same_v<T, float> ? T(1e-2) : T(1e-3);
/// And above this in numbers without units: of arms that are very heavy beside the object, L is small as a whole.
template <class T>
constexpr T eliminated_least = std::is_same_v<T, float> ? T(1e-2) : T(1e-6);
/// Pivots below this ask for a step of refinement.
template <class T>
constexpr T refined_below = std::is_same_v<T, float> ? T(1e-1) : T(1e-2);

/// Adds e1*D⁻¹e2 of two closures of a group on one primary member to its block of L, lower half.
template <class T>
void add_shared(const ClosedData<T>& d, ClosedMember<T>& m, const ClosedClosure<T>& one, const ClosureColumns<T>& e1,
                const ClosedClosure<T>& two, const ClosureColumns<T>& e2, T* out, std::size_t stride) {
  const T* D_inverse = m.state.data().sweeps->inverse_D();
  for (std::size_t k = 0; k < e1.coordinates.size(); ++k) {
    m.slot[index(e1.coordinates[k])] = static_cast<int>(k);
  }
  T sum[kernels::max_closure_rows][kernels::closure_lanes] = {};
  for (std::size_t i = 0; i < e2.coordinates.size(); ++i) {
    const std::size_t v = index(e2.coordinates[i]);
    if (m.slot[v] < 0) {
      continue;
    }
    const T* left = e1.e[index(m.slot[v])].x;
    for (int r = 0; r < one.rows; ++r) {
      const T weighted = D_inverse[v] * left[r];
      for (int c = 0; c < kernels::closure_lanes; ++c) {
        sum[r][c] += weighted * e2.e[i].x[c];
      }
    }
  }
  for (const int k : e1.coordinates) {
    m.slot[index(k)] = -1;
  }
  for (int r = 0; r < one.rows; ++r) {
    for (int c = 0; c < two.rows; ++c) {
      out[index(r) * stride + index(c)] += sum[r][c] / (d.scale[index(one.first + r)] * d.scale[index(two.first + c)]);
    }
  }
}

/// The block of L of a group.
template <class T>
void assemble_group(ClosedData<T>& d, const ClosedGroup& group) {
  ClosedBlocks<T>& B = d.blocks;
  const std::size_t n = index(group.rows);
  T* L = B.L.data() + group.at;
  std::fill(L, L + n * n, T(0));
  for (int i = group.first; i < group.first + group.count; ++i) {
    ClosedClosure<T>& one = *d.closures[index(B.closures[index(i)])];
    for (int j = group.first; j <= i; ++j) {
      ClosedClosure<T>& two = *d.closures[index(B.closures[index(j)])];
      T* out = L + index(B.row[index(B.closures[index(i)])] - group.row) * n +
               index(B.row[index(B.closures[index(j)])] - group.row);
      for_each_side(one, [&](const ClosedEnd<T>& end, ClosureColumns<T>& e1) {
        for_each_side(two, [&](const ClosedEnd<T>& other, ClosureColumns<T>& e2) {
          if (end.member == other.member && B.secondary[index(end.member)] < 0) {
            add_shared(d, d.member(end.member), one, e1, two, e2, out, n);
          }
        });
      });
    }
  }
}

/// 𝔟_S* of a closure.
template <class T>
void put_secondary(ClosedData<T>& d, int closure) {
  ClosedBlocks<T>& B = d.blocks;
  ClosedClosure<T>& c = *d.closures[index(closure)];
  const std::size_t n = index(B.unknowns);
  for_each_side(c, [&](const ClosedEnd<T>& end, ClosureColumns<T>& columns) {
    const int first = B.secondary[index(end.member)];
    if (first < 0) {
      return;
    }
    const T* D_inverse = d.member(end.member).state.data().sweeps->inverse_D();
    for (std::size_t k = 0; k < columns.coordinates.size(); ++k) {
      const T root = std::sqrt(D_inverse[columns.coordinates[k]]);
      for (int r = 0; r < c.rows; ++r) {
        B.b[index(B.row[index(closure)] + r) * n + index(first + columns.coordinates[k])] =
            root * columns.e[k].x[r] / d.scale[index(c.first + r)];
      }
    }
  });
}

}  // namespace

template <class T>
void ClosedData<T>::assemble_blocks() {
  assemble_right();
  std::fill(blocks.b.begin(), blocks.b.end(), T(0));
  for (const ClosedGroup& group : blocks.groups) {
    if (group.primary) {
      assemble_group(*this, group);
    }
    for (int i = group.first; i < group.first + group.count; ++i) {
      put_secondary(*this, blocks.closures[index(i)]);
    }
  }
  blocks.factored = false;
}

namespace {

/// Splits a block by its eigenvectors into what is eliminated and what is kept.
template <class T>
void split_group(ClosedBlocks<T>& B, ClosedGroup& group) {
  const std::size_t n = index(group.rows);
  T* V = B.factor.data() + group.at;
  T* L = B.L.data() + group.at;
  T* values = B.values.data() + group.row;
  if (!group.primary) {
    std::fill(V, V + n * n, T(0));
    for (std::size_t i = 0; i < n; ++i) {
      V[i * n + i] = T(1);
      values[i] = T(0);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        L[j * n + i] = L[i * n + j];
      }
    }
    eigenvectors(L, V, n);
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = std::max(T(0), L[i * n + i]);
    }
  }
  const T floor = std::max(eliminated_least<T>, eliminated_share<T> * *std::max_element(values, values + n));
  for (std::size_t i = 0; i < n; ++i) {
    const bool strong = values[i] > floor;
    B.weak_of[index(group.row) + i] = strong ? -1 : B.weak++;
    if (strong) {
      B.least = std::min(B.least, values[i]);
      values[i] = std::sqrt(values[i]);
    }
  }
}

/// v ← L^(−½)v for what is eliminated, V_w*v for what is kept; v has `n` rows, `stride` apart.
template <class T>
void whiten(const ClosedBlocks<T>& B, const ClosedGroup& group, const T* from, T* to, std::size_t stride) {
  const std::size_t n = index(group.rows);
  const T* F = B.factor.data() + group.at;
  for (std::size_t i = 0; i < n; ++i) {
    T sum = group.whole ? from[i * stride] : T(0);
    if (group.whole) {
      for (std::size_t k = 0; k < i; ++k) {
        sum -= F[i * n + k] * to[k * stride];
      }
      to[i * stride] = sum / F[i * n + i];
      continue;
    }
    for (std::size_t k = 0; k < n; ++k) {
      sum += F[i * n + k] * from[k * stride];
    }
    const std::size_t row = index(group.row) + i;
    to[i * stride] = B.weak_of[row] < 0 ? sum / B.values[row] : sum;
  }
}

/// Factors of a group's block, and what its elimination adds to S.
template <class T>
void eliminate_group(ClosedBlocks<T>& B, ClosedGroup& group) {
  const std::size_t n = index(B.unknowns);
  const std::size_t m = index(group.rows);
  std::copy_n(B.L.data() + group.at, m * m, B.factor.data() + group.at);
  T largest = 0;
  for (std::size_t i = 0; i < m; ++i) {
    largest = std::max(largest, B.L[group.at + i * m + i]);
  }
  T least = B.least;
  const T floor = std::max(eliminated_least<T>, eliminated_share<T> * largest);
  group.whole = group.primary && cholesky(B.factor.data() + group.at, m, floor, least);
  if (group.whole) {
    B.least = least;
    std::fill_n(B.weak_of.begin() + group.row, m, -1);
  } else {
    split_group(B, group);
  }
  const int* seen = B.seen.data() + group.first_seen;
  for (int i = 0; i < group.seen; ++i) {
    const std::size_t column = index(group.row) * n + index(seen[i]);
    whiten(B, group, B.b.data() + column, B.x.data() + column, n);
  }
  for (std::size_t r = index(group.row); r < index(group.row) + m; ++r) {
    const T* x = B.x.data() + r * n;
    for (int i = 0; B.weak_of[r] < 0 && i < group.seen; ++i) {
      T* row = B.S.data() + index(seen[i]) * n;
      for (int j = 0; j < group.seen; ++j) {
        row[seen[j]] += x[seen[i]] * x[seen[j]];
      }
    }
  }
}

/// The rows of what was kept of a group, with S's factor, and what they leave for μ.
template <class T>
void keep_group(ClosedData<T>& d, const ClosedGroup& group) {
  ClosedBlocks<T>& B = d.blocks;
  const std::size_t n = index(B.unknowns);
  const std::size_t w = index(B.weak);
  for (std::size_t r = index(group.row); r < index(group.row + group.rows); ++r) {
    if (B.weak_of[r] < 0) {
      continue;
    }
    const std::size_t i = index(B.weak_of[r]);
    T* kept = B.kept.data() + i * n;
    std::fill(kept, kept + n, T(0));
    for (int k = group.first_seen; k < group.first_seen + group.seen; ++k) {
      kept[B.seen[index(k)]] = B.x[r * n + index(B.seen[index(k)])];
    }
    solve_lower(B.S.data(), n, kept);
    for (std::size_t j = 0; j <= i; ++j) {  // rows² numbers that are free while no Λ is factored
      d.factor[i * w + j] = std::inner_product(kept, kept + n, B.kept.data() + j * n, i == j ? B.values[r] : T(0));
    }
  }
}

/// Factors of all blocks, of S, and of what is left of the directions that were kept. False where the rank is in doubt.
/// What is left is Λ's Schur complement in an orthonormal basis, so that its pivots mean what those of Λ do.
template <class T>
bool factor_blocks(ClosedData<T>& d) {
  ClosedBlocks<T>& B = d.blocks;
  const std::size_t n = index(B.unknowns);
  B.least = T(1);
  B.weak = 0;
  std::fill(B.S.begin(), B.S.end(), T(0));
  for (std::size_t i = 0; i < n; ++i) {
    B.S[i * n + i] = T(1);
  }
  for (ClosedGroup& group : B.groups) {
    eliminate_group(B, group);
  }
  T none = T(1);
  if (!cholesky(B.S.data(), n, T(0), none)) {
    return false;
  }
  for (const ClosedGroup& group : B.groups) {
    keep_group(d, group);
  }
  return cholesky(d.factor.data(), index(B.weak), certain_pivot<T>, B.least);
}

/// f̃ in `x`, in the order of groups, from the right side there.
template <class T>
void substitute(ClosedData<T>& d, T* x) {
  ClosedBlocks<T>& B = d.blocks;
  const std::size_t n = index(B.unknowns);
  const std::size_t w = index(B.weak);
  std::fill(B.y.begin(), B.y.end(), T(0));
  for (const ClosedGroup& group : B.groups) {
    whiten(B, group, x + group.row, B.z.data() + group.row, 1);
    for (std::size_t r = index(group.row); r < index(group.row + group.rows); ++r) {
      for (int k = group.first_seen; B.weak_of[r] < 0 && k < group.first_seen + group.seen; ++k) {
        B.y[index(B.seen[index(k)])] += B.x[r * n + index(B.seen[index(k)])] * B.z[r];
      }
    }
  }
  solve_lower(B.S.data(), n, B.y.data());
  for (std::size_t r = 0; r < index(d.rows); ++r) {
    if (B.weak_of[r] >= 0) {
      const T* kept = B.kept.data() + index(B.weak_of[r]) * n;
      B.mu[index(B.weak_of[r])] = B.z[r] - std::inner_product(kept, kept + n, B.y.begin(), T(0));
    }
  }
  solve_lower(d.factor.data(), w, B.mu.data());
  solve_upper(d.factor.data(), w, B.mu.data());
  for (std::size_t i = 0; i < w; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      B.y[k] += B.kept[i * n + k] * B.mu[i];
    }
  }
  solve_upper(B.S.data(), n, B.y.data());
  for (const ClosedGroup& group : B.groups) {
    const std::size_t m = index(group.rows);
    const T* F = B.factor.data() + group.at;
    T* f = x + group.row;
    for (std::size_t r = index(group.row); r < index(group.row) + m; ++r) {
      for (int k = group.first_seen; B.weak_of[r] < 0 && k < group.first_seen + group.seen; ++k) {
        B.z[r] -= B.x[r * n + index(B.seen[index(k)])] * B.y[index(B.seen[index(k)])];
      }
    }
    if (group.whole) {
      std::copy_n(B.z.data() + group.row, m, f);
      solve_upper(F, m, f);
      continue;
    }
    std::fill(f, f + m, T(0));
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t r = index(group.row) + i;
      const T along = B.weak_of[r] < 0 ? B.z[r] / B.values[r] : B.mu[index(B.weak_of[r])];
      for (std::size_t k = 0; k < m; ++k) {
        f[k] += F[i * m + k] * along;
      }
    }
  }
}

/// left_over ← r − 𝔟*(𝔟f̃), both factors by themselves, which keeps what Λ squares away.
template <class T>
void find_residual(ClosedData<T>& d) {
  ClosedBlocks<T>& B = d.blocks;
  std::fill(B.weighted.begin(), B.weighted.end(), T(0));
  std::copy(d.right.begin(), d.right.end(), d.left_over.begin());
  for (const bool back : {false, true}) {
    for (const auto& each : d.closures) {
      ClosedClosure<T>& c = *each;
      for (std::size_t r = 0; c.present && r < index(c.rows); ++r) {
        const std::size_t i = index(c.first) + r;
        for_each_side(c, [&](const ClosedEnd<T>& end, ClosureColumns<T>& columns) {
          const T* D_inverse = d.member(end.member).state.data().sweeps->inverse_D();
          T* weighted = B.weighted.data() + B.every[index(end.member)];
          for (std::size_t k = 0; k < columns.coordinates.size(); ++k) {
            const int v = columns.coordinates[k];
            if (back) {
              d.left_over[i] -= D_inverse[v] * columns.e[k].x[r] * weighted[v] / d.scale[i];
            } else {
              weighted[v] += columns.e[k].x[r] * d.force[i] / d.scale[i];
            }
          }
        });
      }
    }
  }
}

}  // namespace

template <class T>
bool ClosedData<T>::solve_blocks() {
  ClosedBlocks<T>& B = blocks;
  if (!B.factored) {
    B.certain = factor_blocks(*this);
    B.factored = true;
  }
  if (!B.certain) {
    B.kept_right = right;
    B.kept_size = size;
    B.chosen = false;
    assemble_small();
    B.chosen = true;
    right = B.kept_right;
    size = B.kept_size;
    return factor_small();
  }
  const auto solve = [&](const std::vector<T>& from, std::vector<T>& to, bool add) {
    for (const int i : B.closures) {
      std::copy_n(from.data() + closures[index(i)]->first, closures[index(i)]->rows,
                  B.ordered.data() + B.row[index(i)]);
    }
    substitute(*this, B.ordered.data());
    for (const int i : B.closures) {
      const ClosedClosure<T>& c = *closures[index(i)];
      for (int r = 0; r < c.rows; ++r) {
        T& there = to[index(c.first + r)];
        there = (add ? there : T(0)) + B.ordered[index(B.row[index(i)] + r)];
      }
    }
  };
  solve(right, force, false);
  if (B.least < refined_below<T>) {
    find_residual(*this);
    solve(left_over, force, true);
  }
  report.rank = rows;
  report.last_kept = std::sqrt(static_cast<double>(B.least));
  report.first_dropped = 0;
  report.nearly_redundant = false;
  report.redundant.clear();
  plainly_named = false;
  for (const auto& c : closures) {
    c->unique.fill(true);
  }
  return true;
}

template void ClosedData<double>::assemble_blocks();
template void ClosedData<float>::assemble_blocks();
template bool ClosedData<double>::solve_blocks();
template bool ClosedData<float>::solve_blocks();

}  // namespace bunraku::detail
