// Step D of RJK89: the closure forces. Rows are scaled so that they have no units (see ClosureReport). Rows that are
// far from dependent are solved for by the factors of their Λ; that the others depend on them is seen in 𝔟, which Λ
// squares. Where either is in doubt, the singular values of 𝔟 decide.
//
// Which rows are independent is remembered from state to state: most often it is all of them, or those that a mechanism
// has everywhere. With K these rows, j the others, C = Λ_KK⁻¹Λ_Kj: 𝔟_j − 𝔟_K C bounds the first singular value that is
// dropped, and (−C; I) spans the forces that do nothing.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/detail/closed_data.hpp"

namespace bunraku::detail {

using kernels::ClosureColumns;

namespace {

/// Below this pivot one step of refinement pays.
template <class T>
constexpr T refined_pivot = std::is_same_v<T, float> ? T(1e-1) : T(1e-3);
/// Of the largest singular value where closures can do anything at all.
constexpr double least_size = 1e-3;
/// Rows between the rank tolerance and this, relative, look like rounded numbers of a file.
constexpr double nearly = 1e-5;
/// A part of the right side that no closure force can balance is a contradiction above this, relative to its terms.
template <class T>
constexpr double contradiction = std::is_same_v<T, float> ? 1e-2 : 1e-6;
/// A closure force is unique where null vectors have less than this of it, squared.
constexpr double unique_share = 1e-8;

}  // namespace

template <class T>
void ClosedData<T>::assemble_right(bool biased) {
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
      const T asked =
          biased ? c.asked[r] + (c.closure.kind == ClosureKind::hinges ? c.coupling.rate : c.equations.rate[r]) : T(0);
      T sum = c.bias[r] - asked;
      T terms = std::abs(c.bias[r]) + std::abs(asked);
      T squares = 0;
      for_each_part(c, [&](ClosedMember<T>&, ClosureColumns<T>& part) {
        sum += part.acceleration.x[r];
        terms += std::abs(part.acceleration.x[r]);
        squares += part.scale.x[r];
      });
      const std::size_t i = static_cast<std::size_t>(c.first) + r;
      scale[i] = squares > T(0) ? std::sqrt(squares) : T(1);
      right[i] = sum / scale[i];
      size[i] = terms / scale[i];
    }
  }
}

template <class T>
void ClosedData<T>::assemble_small(bool biased) {
  if (blocks.chosen) {
    assemble_blocks(biased);
    return;
  }
  assemble_right(biased);
  const auto m = static_cast<std::size_t>(rows);
  std::fill(lambda.begin(), lambda.end(), T(0));
  for (std::size_t i = 0; i < closures.size(); ++i) {
    ClosedClosure<T>& c = *closures[i];
    if (!c.present) {
      continue;
    }
    for_each_part(c, [&](ClosedMember<T>& on, ClosureColumns<T>& part) {
      for (std::size_t k = 0; k < part.coordinates.size(); ++k) {
        on.slot[static_cast<std::size_t>(part.coordinates[k])] = static_cast<int>(k);
      }
      const kernels::Sweeps<T>& sweeps = *on.state.data().sweeps;
      for (std::size_t j = i; j < closures.size(); ++j) {
        ClosedClosure<T>& other = *closures[j];
        if (other.present) {
          for_each_part(other, [&](ClosedMember<T>& there, ClosureColumns<T>& its) {
            if (&there == &on) {
              sweeps.closed_product(
                  part, its, on.slot.data(),
                  lambda.data() + static_cast<std::size_t>(c.first) * m + static_cast<std::size_t>(other.first), m);
            }
          });
        }
      }
      for (const int k : part.coordinates) {
        on.slot[static_cast<std::size_t>(k)] = -1;
      }
    });
  }
  for (std::size_t i = 0; i < m; ++i) {
    residual[i] = T(1) / scale[i];
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i; j < m; ++j) {
      lambda[j * m + i] = lambda[i * m + j] *= residual[i] * residual[j];
    }
  }
}

namespace {

/// Moves the independent rows to the front of `order`, the one that is farthest from those before it first. Returns how
/// many there are. `factor` is overwritten.
template <class T>
std::size_t independent_rows(const T* lambda, std::size_t m, T floor, std::span<int> order, T* factor) {
  std::copy_n(lambda, m * m, factor);
  for (std::size_t i = 0; i < m; ++i) {
    order[i] = static_cast<int>(i);
  }
  for (std::size_t j = 0; j < m; ++j) {
    const auto diagonal = [&](int i) { return factor[static_cast<std::size_t>(i) * (m + 1)]; };
    const auto most = std::max_element(order.begin() + static_cast<std::ptrdiff_t>(j), order.end(),
                                       [&](int x, int y) { return diagonal(x) < diagonal(y); });
    if (!(diagonal(*most) > floor)) {
      return j;
    }
    std::swap(order[j], *most);
    const T* row = factor + static_cast<std::size_t>(order[j]) * m;
    const T inverse = T(1) / row[order[j]];
    for (std::size_t i = j + 1; i < m; ++i) {
      T* below = factor + static_cast<std::size_t>(order[i]) * m;
      const T l = row[order[i]] * inverse;
      for (std::size_t k = j + 1; k < m; ++k) {
        below[order[k]] -= l * row[order[k]];
      }
    }
  }
  return m;
}

}  // namespace

template <class T>
bool ClosedData<T>::factor_small() {
  const auto m = static_cast<std::size_t>(rows);
  auto largest = static_cast<T>(least_size * least_size);  // scaled rows are about one, or rounding
  for (std::size_t i = 0; i < m; ++i) {
    largest = std::max(largest, lambda[i * (m + 1)]);
  }
  const T floor = std::max(certain_pivot<T>, static_cast<T>(100 * tolerance * tolerance)) * largest;
  for (const bool again : {false, true}) {
    if (again) {
      kept = independent_rows<T>(lambda.data(), m, floor, order, factor.data());
    }
    T least = largest;
    entangled = false;
    report.first_dropped = 0;
    if (kernel().closed_factor(lambda.data(), m, std::span<const int>(order).first(kept), floor, factor.data(),
                               least) &&
        (kept == m || others_depend(largest))) {
      report.rank = static_cast<int>(kept);
      report.last_kept = kept > 0 ? std::sqrt(static_cast<double>(least / largest)) : 1;
      report.nearly_redundant = false;
      return solve_kept(least < refined_pivot<T> * largest);
    }
  }
  return false;
}

/// Whether all rows beyond the kept ones depend on these: C, and what it leaves of 𝔟.
template <class T>
bool ClosedData<T>::others_depend(T largest) {
  const auto m = static_cast<std::size_t>(rows);
  const std::size_t others = m - kept;
  const T zero = static_cast<T>(tolerance * tolerance) / static_cast<T>(others) * largest;
  T left = 0;
  for (std::size_t j = 0; j < others; ++j) {
    const auto row = static_cast<std::size_t>(order[kept + j]);
    T* c = dependence.data() + j * m;
    const T own = lambda[row * (m + 1)];
    if (own <= zero) {  // as it is out of a mechanism's plane
      std::fill_n(c, kept, T(0));
      left += std::max(own, T(0));
      continue;
    }
    for (std::size_t k = 0; k < kept; ++k) {
      c[k] = lambda[row * m + static_cast<std::size_t>(order[k])];
    }
    kernel().closed_solve(factor.data(), kept, c);
    if (!entangled) {
      fill_columns();
      entangled = true;
    }
    weighted = columns.col(static_cast<Eigen::Index>(row));
    for (std::size_t k = 0; k < kept; ++k) {
      if (c[k] != T(0)) {
        weighted -= c[k] * columns.col(order[k]);
      }
    }
    left += weighted.squaredNorm();
  }
  report.first_dropped = std::sqrt(static_cast<double>(left / largest));
  return report.first_dropped <= tolerance;
}

/// f̃ of the kept rows, then the least of those that do the same; false where the others contradict it.
template <class T>
bool ClosedData<T>::solve_kept(bool refined) {
  const auto m = static_cast<std::size_t>(rows);
  const std::size_t others = m - kept;
  T* f = residual.data();
  for (std::size_t k = 0; k < kept; ++k) {
    f[k] = right[static_cast<std::size_t>(order[k])];
  }
  T contrary = 0;
  for (std::size_t j = 0; j < others; ++j) {
    const T* c = dependence.data() + j * m;
    T sum = right[static_cast<std::size_t>(order[kept + j])];
    for (std::size_t k = 0; k < kept; ++k) {
      sum -= c[k] * f[k];
    }
    contrary += sum * sum;
  }
  const auto against = static_cast<double>(std::sqrt(contrary));
  const auto most = static_cast<double>(*std::max_element(size.begin(), size.end()));
  if (against > contradiction<T> * most && against > contradiction<T> * asked_for()) {
    return false;
  }
  kernel().closed_solve(factor.data(), kept, f);
  std::fill(force.begin(), force.end(), T(0));
  for (std::size_t k = 0; k < kept; ++k) {
    force[static_cast<std::size_t>(order[k])] = f[k];
  }
  if (refined) {
    fill_columns();
    using Map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
    weighted.noalias() = columns * Map(force.data(), rows);
    for (std::size_t k = 0; k < kept; ++k) {
      f[k] = right[static_cast<std::size_t>(order[k])] - columns.col(order[k]).dot(weighted);
    }
    kernel().closed_solve(factor.data(), kept, f);
    for (std::size_t k = 0; k < kept; ++k) {
      force[static_cast<std::size_t>(order[k])] += f[k];
    }
  }
  mark_unique();
  if (entangled) {
    shorten_force();
  }
  return true;
}

/// f̃ less its part along (−C; I): the least y* y + |f̃_K − C y|².
template <class T>
void ClosedData<T>::shorten_force() {
  const auto m = static_cast<std::size_t>(rows);
  std::size_t n = 0;  // of the others, those that do depend on some
  for (std::size_t j = kept; j < m; ++j) {
    const T* c = dependence.data() + (j - kept) * m;
    if (std::any_of(c, c + kept, [](T x) { return x != T(0); })) {
      std::copy_n(c, kept, dependence.data() + n * m);
      std::swap(order[kept + n], order[j]);
      ++n;
    }
  }
  // (I + C*C) y = C*f̃_K
  T* y = residual.data();
  for (std::size_t i = 0; i < n; ++i) {
    const T* c = dependence.data() + i * m;
    y[i] = 0;
    for (std::size_t k = 0; k < kept; ++k) {
      y[i] += c[k] * force[static_cast<std::size_t>(order[k])];
    }
    for (std::size_t j = i; j < n; ++j) {
      const T* other = dependence.data() + j * m;
      T sum = i == j ? T(1) : T(0);
      for (std::size_t k = 0; k < kept; ++k) {
        sum += c[k] * other[k];
      }
      grown[i * m + j] = sum;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    indices[i] = static_cast<int>(i);
  }
  T least = std::numeric_limits<T>::max();
  kernel().closed_factor(grown.data(), m, std::span<const int>(indices).first(n), T(0), factor.data(), least);
  kernel().closed_solve(factor.data(), n, y);
  for (std::size_t i = 0; i < n; ++i) {
    const T* c = dependence.data() + i * m;
    for (std::size_t k = 0; k < kept; ++k) {
      force[static_cast<std::size_t>(order[k])] -= c[k] * y[i];
    }
    force[static_cast<std::size_t>(order[kept + i])] = y[i];
  }
}

/// Which rows' forces are unique, and the closures that have others.
template <class T>
void ClosedData<T>::mark_unique() {
  const auto m = static_cast<std::size_t>(rows);
  std::fill(shared.begin(), shared.end(), T(1));
  for (std::size_t k = 0; k < kept; ++k) {
    T sum = 0;
    for (std::size_t j = kept; j < m; ++j) {
      const T c = dependence[(j - kept) * m + k];
      sum += c * c;
    }
    shared[static_cast<std::size_t>(order[k])] = sum;
  }
  name_redundant();
}

/// Takes the closures that have rows of which null vectors have a share into the report. Names that are there already
/// stay, so that nothing allocates at the next state.
template <class T>
void ClosedData<T>::name_redundant() {
  std::size_t count = 0;
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    bool all = true;
    for (std::size_t r = 0; r < static_cast<std::size_t>(c.rows); ++r) {
      c.unique[r] = static_cast<double>(shared[static_cast<std::size_t>(c.first) + r]) < unique_share;
      all = all && c.unique[r];
    }
    if (all) {
      continue;
    }
    if (count == report.redundant.size()) {
      report.redundant.push_back(c.closure.name);
    } else if (report.redundant[count] != c.closure.name) {
      report.redundant[count] = c.closure.name;
    }
    ++count;
  }
  report.redundant.resize(count);
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
  // scaled columns are about one; where all of them are far less, they are rounding
  const double largest = std::max(static_cast<double>(sigma(0)), least_size);
  int rank = 0;
  const double floor = tolerance * largest;
  while (rank < rows && floor < static_cast<double>(sigma(rank))) {
    ++rank;
  }
  report.rank = rank;
  report.last_kept = rank > 0 ? static_cast<double>(sigma(rank - 1)) / largest : 1;
  report.first_dropped = rank < rows ? static_cast<double>(sigma(rank)) / largest : 0;
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
  for (int i = 0; i < rows; ++i) {
    shared[static_cast<std::size_t>(i)] = V.row(i).tail(rows - rank).squaredNorm();
  }
  name_redundant();
}

/// How large the right side is beside what drives the hinges, D^(−½)ε: rows of 𝔟/s are at most one, but what they sum
/// may cancel.
template <class T>
double ClosedData<T>::asked_for() const {
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
  return std::sqrt(driven) + static_cast<double>(*std::max_element(size.begin(), size.end())) +
         std::numeric_limits<double>::min();
}

/// Null vectors of 𝔟/s that see a part of the right side: no motion satisfies those closures together.
template <class T>
void ClosedData<T>::check_contradictions(int rank) {
  using Map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const Map g(right.data(), rows);
  const auto& V = svd.matrixV();
  const double whole = asked_for();
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
  if (rows == 0) {
    report.rank = 0;
    report.redundant.clear();
  } else if (!(blocks.chosen ? solve_blocks() : factor_small())) {
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
