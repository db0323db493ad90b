// Step D of RJK89: the closure forces. Rows are scaled so that they have no units (see ClosureReport); what is far from
// singular is solved by the factors of Λ, anything else by the singular values of 𝔟, which Λ squares.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/detail/closed_data.hpp"

namespace bunraku::detail {

using kernels::ClosureColumns;

namespace {

/// Pivots of the scaled Λ above this leave no doubt about its rank; below refined_pivot one step of refinement pays.
template <class T>
constexpr T certain_pivot = std::is_same_v<T, float> ? T(1e-2) : T(1e-8);
template <class T>
constexpr T refined_pivot = std::is_same_v<T, float> ? T(1e-1) : T(1e-3);
/// Rows between the rank tolerance and this, relative, look like rounded numbers of a file.
constexpr double nearly = 1e-5;
/// A part of the right side that no closure force can balance is a contradiction above this, relative to its terms.
template <class T>
constexpr double contradiction = std::is_same_v<T, float> ? 1e-2 : 1e-6;
/// A closure force is unique where null vectors have less than this of it, squared.
constexpr double unique_share = 1e-8;

/// Adds Σ e1* D⁻¹ e2 over the coordinates that two closures share; slots are set for the first.
template <class T>
void add_product(const ClosedMember<T>& m, const T* D_inverse, const ClosureColumns<T>& one,
                 const ClosureColumns<T>& two, T* out, std::size_t stride) {
  T sum[kernels::max_closure_rows][kernels::closure_lanes] = {};
  for (std::size_t i = 0; i < two.coordinates.size(); ++i) {
    const auto v = static_cast<std::size_t>(two.coordinates[i]);
    const int place = m.slot[v];
    if (place < 0) {
      continue;
    }
    const T* e1 = one.e[static_cast<std::size_t>(place)].x;
    const T* e2 = two.e[i].x;
    for (int r = 0; r < one.rows; ++r) {
      const T left = D_inverse[v] * e1[r];
      for (int c = 0; c < kernels::closure_lanes; ++c) {
        sum[r][c] += left * e2[c];
      }
    }
  }
  for (int r = 0; r < one.rows; ++r) {
    for (int c = 0; c < two.rows; ++c) {
      out[static_cast<std::size_t>(r) * stride + static_cast<std::size_t>(c)] += sum[r][c];
    }
  }
}

}  // namespace

template <class T>
void ClosedData<T>::assemble_small(bool biased) {
  if (blocks.chosen) {
    assemble_blocks(biased);
    return;
  }
  const auto m = static_cast<std::size_t>(rows);
  std::fill(lambda.begin(), lambda.end(), T(0));
  std::fill(scale.begin(), scale.end(), T(0));
  for (std::size_t i = 0; i < closures.size(); ++i) {
    ClosedClosure<T>& c = *closures[i];
    if (!c.present) {
      continue;
    }
    const auto first = static_cast<std::size_t>(c.first);
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
      const T asked =
          biased ? c.asked[r] + (c.closure.kind == ClosureKind::hinges ? c.coupling.rate : c.equations.rate[r]) : T(0);
      right[first + r] = c.bias[r] - asked;
      size[first + r] = std::abs(c.bias[r]) + std::abs(asked);
    }
    for_each_part(c, [&](ClosedMember<T>& on, ClosureColumns<T>& columns) {
      for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
        right[first + r] += columns.acceleration.x[r];
        size[first + r] += std::abs(columns.acceleration.x[r]);
        scale[first + r] += columns.scale.x[r];
      }
      for (std::size_t k = 0; k < columns.coordinates.size(); ++k) {
        on.slot[static_cast<std::size_t>(columns.coordinates[k])] = static_cast<int>(k);
      }
      const T* D_inverse = on.state.data().sweeps->inverse_D();
      for (std::size_t j = i; j < closures.size(); ++j) {
        ClosedClosure<T>& other = *closures[j];
        if (other.present) {
          for_each_part(other, [&](ClosedMember<T>& there, ClosureColumns<T>& its) {
            if (&there == &on) {
              add_product(on, D_inverse, columns, its,
                          lambda.data() + first * m + static_cast<std::size_t>(other.first), m);
            }
          });
        }
      }
      for (const int k : columns.coordinates) {
        on.slot[static_cast<std::size_t>(k)] = -1;
      }
    });
  }
  for (std::size_t i = 0; i < m; ++i) {
    scale[i] = scale[i] > T(0) ? std::sqrt(scale[i]) : T(1);
    right[i] /= scale[i];
    size[i] /= scale[i];
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i; j < m; ++j) {
      lambda[j * m + i] = lambda[i * m + j] /= scale[i] * scale[j];
    }
  }
}

/// LDL* of the scaled Λ; false where a pivot leaves doubts.
template <class T>
bool ClosedData<T>::factor_small() {
  const auto m = static_cast<std::size_t>(rows);
  factor = lambda;
  T least = T(1);
  for (std::size_t j = 0; j < m; ++j) {
    const T d = factor[j * m + j];
    if (!(d > certain_pivot<T>)) {
      return false;
    }
    least = std::min(least, d);
    const T inverse = T(1) / d;
    const T* row = factor.data() + j * m;
    for (std::size_t i = j + 1; i < m; ++i) {
      const T l = row[i] * inverse;
      T* below = factor.data() + i * m;
      for (std::size_t k = i; k < m; ++k) {
        below[k] -= l * row[k];
      }
    }
  }
  report.rank = rows;
  report.last_kept = std::sqrt(static_cast<double>(least));
  report.first_dropped = 0;
  report.nearly_redundant = false;
  const auto substitute = [&](std::vector<T>& x) {
    for (std::size_t j = 0; j < m; ++j) {  // row j of the factor is D L*
      const T part = x[j] / factor[j * m + j];
      for (std::size_t i = j + 1; i < m; ++i) {
        x[i] -= factor[j * m + i] * part;
      }
    }
    for (std::size_t j = m; j-- > 0;) {
      T sum = x[j];
      for (std::size_t i = j + 1; i < m; ++i) {
        sum -= factor[j * m + i] * x[i];
      }
      x[j] = sum / factor[j * m + j];
    }
  };
  force = right;
  substitute(force);
  if (least < refined_pivot<T>) {
    fill_columns();
    using Map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
    Map f(force.data(), rows);
    Map rest(residual.data(), rows);
    rest = Map(right.data(), rows);
    weighted.noalias() = columns * f;
    rest.noalias() -= columns.transpose() * weighted;
    substitute(residual);
    f += rest;
  }
  return true;
}

template <class T>
void ClosedData<T>::fill_columns() {
  int full = 0;
  for (const auto& each : members) {
    full += each->present ? static_cast<int>(each->torque.size()) : 0;
  }
  if (columns.rows() != std::max(full, rows) || columns.cols() != rows) {
    columns.resize(std::max(full, rows), rows);
    weighted.resize(columns.rows());
  }
  columns.setZero();
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    for_each_part(c, [&](ClosedMember<T>& on, ClosureColumns<T>& part) {
      Eigen::Index offset = 0;
      for (const auto& before : members) {
        if (before.get() == &on) {
          break;
        }
        offset += before->present ? static_cast<Eigen::Index>(before->torque.size()) : 0;
      }
      const T* D_inverse = on.state.data().sweeps->inverse_D();
      for (std::size_t k = 0; k < part.coordinates.size(); ++k) {
        const T root = std::sqrt(D_inverse[part.coordinates[k]]);
        for (int r = 0; r < c.rows; ++r) {
          columns(offset + part.coordinates[k], c.first + r) =
              root * part.e[k].x[r] / scale[static_cast<std::size_t>(c.first + r)];
        }
      }
    });
  }
}

template <class T>
void ClosedData<T>::solve_by_values() {
  fill_columns();
  svd.compute(columns, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const auto& sigma = svd.singularValues();
  const double largest = rows > 0 ? static_cast<double>(sigma(0)) : 0;
  int rank = 0;
  while (rank < rows && largest > 0 && static_cast<double>(sigma(rank)) > tolerance * largest) {
    ++rank;
  }
  report.rank = rank;
  report.last_kept = rank > 0 ? static_cast<double>(sigma(rank - 1)) / largest : 1;
  report.first_dropped = rank < rows && largest > 0 ? static_cast<double>(sigma(rank)) / largest : 0;
  report.nearly_redundant = report.last_kept < nearly;
  using Map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const Map g(right.data(), rows);
  const auto& V = svd.matrixV();
  Map f(force.data(), rows);
  f.setZero();
  for (int k = 0; k < rank; ++k) {
    const T part = V.col(k).dot(g) / (sigma(k) * sigma(k));
    f += V.col(k) * part;
  }
  if (rank < rows) {
    check_contradictions(rank);
  }
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    bool all = true;
    for (int r = 0; r < c.rows; ++r) {
      double null = 0;
      for (int k = rank; k < rows; ++k) {
        null += static_cast<double>(V(c.first + r, k)) * static_cast<double>(V(c.first + r, k));
      }
      c.unique[static_cast<std::size_t>(r)] = null < unique_share;
      all = all && null < unique_share;
    }
    if (!all) {
      report.redundant.push_back(c.closure.name);
    }
  }
}

/// Null vectors of 𝔟/s that see a part of the right side: no motion satisfies those closures together.
template <class T>
void ClosedData<T>::check_contradictions(int rank) {
  using Map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const Map g(right.data(), rows);
  const auto& V = svd.matrixV();
  // beside what drives the hinges, D^(−½)ε: rows of 𝔟/s are at most one, but what they sum may cancel
  double driven = 0;
  for (const auto& m : members) {
    if (m->present) {
      const kernels::Sweeps<T>& sweeps = *m->state.data().sweeps;
      for (std::size_t i = 0; i < m->torque.size(); ++i) {
        const auto epsilon = static_cast<double>(sweeps.innovations()[i]);
        driven += epsilon * epsilon * static_cast<double>(sweeps.inverse_D()[i]);
      }
    }
  }
  const double whole =
      std::sqrt(driven) + static_cast<double>(Map(size.data(), rows).maxCoeff()) + std::numeric_limits<double>::min();
  for (int k = rank; k < rows; ++k) {
    const double left = std::abs(static_cast<double>(V.col(k).dot(g)));
    if (left > contradiction<T> * whole) {
      std::vector<std::string> names;
      for (const auto& c : closures) {
        if (c->present &&
            V.col(k).segment(c->first, c->rows).cwiseAbs().maxCoeff() > T(0.1) * V.col(k).cwiseAbs().maxCoeff()) {
          names.push_back(c->closure.name);
        }
      }
      throw ContradictionError(
          fmt::format("closures contradict each other: no acceleration satisfies {} ({:.1e} of what they ask for is "
                      "left): check positions and velocities, or take one of them away",
                      fmt::join(names, ", "), left / whole));
    }
  }
}

template <class T>
void ClosedData<T>::solve_small() {
  ++work.solves;
  report.rows = rows;
  report.redundant.clear();
  if (rows == 0) {
    report.rank = 0;
  } else if (blocks.chosen ? solve_blocks() : factor_small()) {
    for (const auto& c : closures) {
      c->unique.fill(true);
    }
  } else {
    solve_by_values();
  }
  report.degrees_of_freedom = nv - report.rank;
  for (const auto& c : closures) {
    for (std::size_t r = 0; c->present && r < static_cast<std::size_t>(c->rows); ++r) {
      const std::size_t i = static_cast<std::size_t>(c->first) + r;
      c->force[r] = force[i] / scale[i];
    }
  }
}

template <class T>
void ClosedData<T>::run(std::span<const T> x, bool biased, std::span<T> out) {
  sweep_inward(x, biased);
  evaluate(biased);
  make_columns(biased);
  assemble_small(biased);
  solve_small();
  sweep_outward(out);
}

template struct ClosedData<double>;
template struct ClosedData<float>;

}  // namespace bunraku::detail
