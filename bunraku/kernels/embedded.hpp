/// @file
/// Loops: a cluster whose closures leave only some of its motions free, θ̇ = Xξ and θ̈ = Xξ̇ + θ̈_b, with X and θ̈_b of the
/// state (embedding.hpp). Over the coordinates of all its hinges D, Ū and ε are as for coupled ones; then
///
///   ε → X*(ε − Dθ̈_b),  D → X*DX,  Ū → ŪX,  z(parent) += Ūθ̈_b.
///
/// D has the rotors' 𝒜 in it, so that Dθ̈_b is all that the bias accelerations H*θ̈_b and 𝒜θ̈_b take. What is kept for ξ
/// has the place of the cluster's first coordinates; at the others are 1/D = 1 and U = 0. For single numbers alone.
#pragma once

#include "bunraku/kernels/modes.hpp"

namespace bunraku::kernels {

/// Columns of X in the cluster.
template <class S>
std::size_t independent(const Workspace<S>& ws, const CoupledLinks& c) {
  return at(ws.embedded.independent[c.embedded]);
}

/// X*x, to the first of the cluster's coordinates of an array over all; zero at the others.
template <class S>
void reduce(Workspace<S>& ws, const CoupledLinks& c, S* x) {
  const std::size_t m = c.coordinates.size();
  const std::size_t r = independent(ws, c);
  const S* X = ws.embedded.basis.data() + c.basis;
  S* sum = ws.embedded.numbers.data();
  for (std::size_t j = 0; j < m; ++j) {
    sum[j] = S(0);
    for (std::size_t i = 0; i < m && j < r; ++i) {
      sum[j] += X[i * m + j] * x[c.coordinates[i]];
    }
  }
  for (std::size_t j = 0; j < m; ++j) {
    x[c.coordinates[j]] = sum[j];
  }
}

/// The bias θ̈_b in ε and in what the parent gets.
template <class S>
void take_bias(Workspace<S>& ws, const CoupledLinks& c, const Factors<S>& factors) {
  const std::size_t m = c.coordinates.size();
  const S* D = factors.L.data() + c.factor;
  for (std::size_t j = 0; j < m; ++j) {
    const S& bias = ws.embedded.bias[at(c.coordinates[j])];
    for (std::size_t i = 0; i < m; ++i) {
      ws.epsilon[at(c.coordinates[i])] -= D[i * m + j] * bias;
    }
    if (c.parent >= 0) {
      ws.force[at(c.parent)] += factors.U[at(c.coordinates[j])] * bias;
    }
  }
}

/// D → X*DX and Ū → ŪX.
template <class S>
void reduce_factors(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors) {
  const std::size_t m = c.coordinates.size();
  const std::size_t r = independent(ws, c);
  const S* X = ws.embedded.basis.data() + c.basis;
  S* D = factors.L.data() + c.factor;
  S* DX = ws.embedded.square.data();
  Force<S>* U = ws.embedded.forces.data();
  for (std::size_t j = 0; j < r; ++j) {
    U[j] = Force<S>::zero();
    for (std::size_t i = 0; i < m; ++i) {
      U[j] += factors.U[at(c.coordinates[i])] * X[i * m + j];
      S sum(0);
      for (std::size_t n = 0; n < m; ++n) {
        sum += D[i * m + n] * X[n * m + j];
      }
      DX[i * m + j] = sum;
    }
  }
  for (std::size_t j = 0; j < m; ++j) {
    const std::size_t v = at(c.coordinates[j]);
    factors.U[v] = j < r ? U[j] : Force<S>::zero();
    factors.D_inverse[v] = S(1);
    for (std::size_t i = 0; i < r && j < r; ++i) {
      S sum(0);
      for (std::size_t n = 0; n < m; ++n) {
        sum += X[n * m + i] * DX[n * m + j];
      }
      D[i * m + j] = sum;
    }
  }
}

template <bool forces, class S>
void eliminate_embedded(Workspace<S>& ws, const CoupledLinks& c, Factors<S>& factors, const S* torque) {
  gather_coupled<forces>(ws, c, factors, torque);
  if constexpr (forces) {
    take_bias(ws, c, factors);
    reduce(ws, c, ws.epsilon.data());
  }
  reduce_factors(ws, c, factors);
  factor_coupled<forces>(ws, c, independent(ws, c), factors);
}

template <class S>
void filter_embedded(Workspace<S>& ws, const CoupledLinks& c, const S* x) {
  gather_innovations(ws, c, x);
  reduce(ws, c, ws.epsilon.data());
  settle_innovations(ws, c, independent(ws, c));
}

template <bool biased, class S>
void smooth_embedded(Workspace<S>& ws, const CoupledLinks& c, const Factors<S>& factors, S* out) {
  const std::size_t m = c.coordinates.size();
  const std::size_t r = independent(ws, c);
  const S* X = ws.embedded.basis.data() + c.basis;
  S* all = ws.embedded.numbers.data();
  move_coordinates(ws, c, r, factors, out);
  for (std::size_t i = 0; i < m; ++i) {
    all[i] = biased ? ws.embedded.bias[at(c.coordinates[i])] : S(0);
    for (std::size_t j = 0; j < r; ++j) {
      all[i] += X[i * m + j] * out[c.coordinates[j]];
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    out[c.coordinates[i]] = all[i];
  }
  move_links<biased>(ws, c, out);
}

// ---------------------------------------------------------------------------------------------------------------------
// Any cluster

template <bool forces, class S>
void eliminate_cluster(Workspace<S>& ws, const Run& run, Factors<S>& factors, const S* torque) {
  const CoupledLinks& c = ws.tree->clusters[at(run.cluster)];
  if (run.kind == Kind::siblings) {
    eliminate_siblings<forces>(ws, c, factors, torque);
  } else if (run.kind == Kind::modal) {
    eliminate_modes<forces>(ws, c, factors, torque);
  } else if (is_wide<S> || run.kind == Kind::coupled) {
    eliminate_coupled<forces>(ws, c, factors, torque);
  } else if constexpr (!is_wide<S>) {
    eliminate_embedded<forces>(ws, c, factors, torque);
  }
}

template <class S>
void filter_cluster(Workspace<S>& ws, const Run& run, const S* x) {
  const CoupledLinks& c = ws.tree->clusters[at(run.cluster)];
  if (run.kind == Kind::siblings) {
    filter_siblings(ws, c, x);
  } else if (is_wide<S> || run.kind != Kind::embedded) {
    filter_coupled(ws, c, x);
  } else if constexpr (!is_wide<S>) {
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
  } else if (is_wide<S> || run.kind != Kind::embedded) {
    smooth_coupled<biased>(ws, c, factors, out);
  } else if constexpr (!is_wide<S>) {
    smooth_embedded<biased>(ws, c, factors, out);
  }
}

}  // namespace bunraku::kernels
