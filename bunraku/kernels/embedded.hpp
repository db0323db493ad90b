/// @file
/// Loops: a cluster whose closures leave only some of its motions free, θ̇ = Xξ and θ̈ = Xξ̇ + θ̈_b, with X and θ̈_b of the
/// state (embedding.hpp). D, Ū and ε of ξ are made at once (embedded_columns.hpp), have the place of the cluster's
/// first coordinates, and are eliminated like those of coupled hinges; at the others are 1/D = 1 and U = 0.
#pragma once

#include <type_traits>

#include "bunraku/kernels/embedded_columns.hpp"

namespace bunraku::kernels {

/// X*x, to the first of the cluster's coordinates of an array over all; zero at the others.
template <class S>
void reduce(Workspace<S>& ws, const CoupledLinks& c, S* x) {
  using T = NumberOf<S>;
  const std::size_t m = c.coordinates.size();
  const std::size_t r = independent(ws, c);
  const std::size_t stride = embedded_stride(m);
  const T* rows = free_rows(ws, c);
  S* sum = ws.embedded.numbers.data();
  for (std::size_t j = 0; j < m; ++j) {
    sum[j] = S(0);
    for (std::size_t i = 0; i < m && j < r; ++i) {
      sum[j] += S(rows[i * stride + j + 1]) * x[c.coordinates[i]];
    }
  }
  for (std::size_t j = 0; j < m; ++j) {
    x[c.coordinates[j]] = sum[j];
  }
}

template <bool forces, class S>
void eliminate_embedded(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  gather_embedded<forces>(ws, c, factors, torque);
  factor_coupled<forces>(ws, c, independent(ws, c), factors);
}

template <class S>
void filter_embedded(Workspace<S>& ws, const CoupledLinks& c, const S* x) {
  gather_innovations(ws, c, x);
  reduce(ws, c, ws.epsilon.data());
  settle_innovations(ws, c, independent(ws, c));
}

/// θ̈ = Xξ̇ + θ̈_b of the cluster's coordinates, of which the first have ξ̇.
template <bool biased, class S>
void combine_coordinates(Workspace<S>& ws, const CoupledLinks& c, std::size_t r, S* out) {
  const std::size_t m = c.coordinates.size();
  const std::size_t stride = embedded_stride(m);
  const NumberOf<S>* row = free_rows(ws, c);
  if (r == 1) {
    const S only = out[c.coordinates.front()];
    for (std::size_t i = 0; i < m; ++i, row += stride) {
      out[c.coordinates[i]] = biased ? S(row[0]) + S(row[1]) * only : S(row[1]) * only;
    }
    return;
  }
  S* all = ws.embedded.numbers.data();
  for (std::size_t i = 0; i < m; ++i, row += stride) {
    S sum = biased ? S(row[0]) : S(0);
    for (std::size_t j = 0; j < r; ++j) {
      sum += S(row[j + 1]) * out[c.coordinates[j]];
    }
    all[i] = sum;
  }
  for (std::size_t i = 0; i < m; ++i) {
    out[c.coordinates[i]] = all[i];
  }
}

template <bool biased, class S>
void smooth_embedded(Workspace<S>& ws, const CoupledLinks& c, const Factors<S>& factors, S* out) {
  const std::size_t r = independent(ws, c);
  move_coordinates(ws, c, r, factors, out);
  combine_coordinates<biased>(ws, c, r, out);
  const bool plain = ws.embedded.plain[at(c.embedded)] != 0;
  const int end = plain ? ws.embedded.carriers_end[at(c.embedded)] : c.end;
  for (int k = c.begin; k < end; ++k) {
    if (!plain) {
      move_hinge(ws, c, k, out);
    }
    if (ws.embedded.links[at(k)].carries) {  // how the others move nobody asks
      move_link<biased>(ws, k, out);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Any cluster

/// Whether loops are embedded in scalar S: no other numbers find X.
template <class S>
inline constexpr bool embeds = !is_wide<S> && std::is_floating_point_v<NumberOf<S>>;

template <bool forces, class S>
void eliminate_cluster(Workspace<S>& ws, const Run& run, Factors<S>& factors, const S* torque) {
  const CoupledLinks& c = ws.tree->clusters[at(run.cluster)];
  if (run.kind == Kind::siblings) {
    eliminate_siblings<forces>(ws, c, factors, torque);
  } else if (run.kind == Kind::modal) {
    eliminate_modes<forces>(ws, c, factors, torque);
  } else if (!embeds<S> || run.kind == Kind::coupled) {
    eliminate_coupled<forces>(ws, c, factors, torque);
  } else if constexpr (embeds<S>) {
    eliminate_embedded<forces>(ws, c, factors, torque);
  }
}

template <class S>
void filter_cluster(Workspace<S>& ws, const Run& run, const S* x) {
  const CoupledLinks& c = ws.tree->clusters[at(run.cluster)];
  if (run.kind == Kind::siblings) {
    filter_siblings(ws, c, x);
  } else if (!embeds<S> || run.kind != Kind::embedded) {
    filter_coupled(ws, c, x);
  } else if constexpr (embeds<S>) {
    filter_embedded(ws, c, x);
  }
}

template <bool biased, class S>
void smooth_cluster(Workspace<S>& ws, const Run& run, const Factors<S>& factors, S* out) {
  const CoupledLinks& c = ws.tree->clusters[at(run.cluster)];
  if (run.kind == Kind::siblings) {
    smooth_siblings<biased>(ws, c, factors, out);
  } else if (run.kind == Kind::modal) {
    smooth_modes<biased>(ws, c, factors, out);
  } else if (!embeds<S> || run.kind != Kind::embedded) {
    smooth_coupled<biased>(ws, c, factors, out);
  } else if constexpr (embeds<S>) {
    smooth_embedded<biased>(ws, c, factors, out);
  }
}

}  // namespace bunraku::kernels
