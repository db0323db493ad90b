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
#include <numeric>

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
/// Of gravity, which is in the terms of the right side even where it has no effect.
constexpr double balanced = 1e-7;
/// A closure force is unique where null vectors have less than this of it, squared.
constexpr double unique_share = 1e-8;

}  // namespace

template <class T>
void ClosedData<T>::assemble_right() {
  T noise = 0;  // where weights balance, what is left of them is rounding, and contradicts nothing
  for (const auto& m : members) {
    if (m->present) {
      const Vec3<T> gravity = m->state.data().gravity();
      noise = std::max(noise, T(balanced) * std::sqrt(dot(gravity, gravity)));
    }
  }
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    if (!c.direct_terms) {
      kernel().closed_right(c.on_a, c.within() ? nullptr : &c.on_b, c.rate, c.bias, c.terms);
    }
    for (int r = 0; c.active < c.rows && r < c.rows; ++r) {
      scale[index(c.first + r)] = T(1);
    }
    for (int r = 0; r < c.active; ++r) {
      scale[index(c.first + c.row[index(r)])] = c.terms.scale.x[r];
      right[index(c.solved + r)] = c.terms.right.x[r];
      size[index(c.solved + r)] = c.terms.size.x[r] + noise / c.terms.scale.x[r];
    }
  }
}

namespace {

/// The columns of a closure on a member, or null.
template <class T>
const ClosureColumns<T>* part_on(const ClosedClosure<T>& c, const ClosedMember<T>& on, const ClosedData<T>& d) {
  if (!c.present) {
    return nullptr;
  }
  return &d.on(c.a) == &on ? &c.on_a : &d.on(c.b) == &on ? &c.on_b : nullptr;
}

}  // namespace

/// Which closures act on which velocities together. O(pairs × depth).
template <class T>
void ClosedData<T>::pair_closures() {
  pairs.clear();
  common.clear();
  for (const auto& each : members) {
    ClosedMember<T>& here = *each;
    here.first_pair = pairs.size();
    for (std::size_t i = 0; here.present && i < closures.size(); ++i) {
      const ClosureColumns<T>* one = part_on(*closures[i], here, *this);
      if (one == nullptr) {
        continue;
      }
      for (std::size_t k = 0; k < one->coordinates.size(); ++k) {
        here.slot[index(one->coordinates[k])] = static_cast<int>(k);
      }
      for (std::size_t j = i; j < closures.size(); ++j) {
        const ClosureColumns<T>* two = part_on(*closures[j], here, *this);
        const std::size_t before = common.size();
        for (std::size_t k = 0; two != nullptr && k < two->coordinates.size(); ++k) {
          const int v = two->coordinates[k];
          if (here.slot[index(v)] >= 0) {
            common.push_back({here.slot[index(v)], static_cast<int>(k), v});
          }
        }
        if (common.size() > before) {
          pairs.push_back({one, two, index(closures[i]->solved) * stride + index(closures[j]->solved), before,
                           common.size() - before});
        }
      }
      for (const int k : one->coordinates) {
        here.slot[index(k)] = -1;
      }
    }
    here.pairs = pairs.size() - here.first_pair;
  }
  paired = true;
}

template <class T>
void ClosedData<T>::assemble_small() {
  if (blocks.chosen) {
    assemble_blocks();
    return;
  }
  assemble_right();
  if (!paired) {
    pair_closures();
  }
  std::fill(lambda.begin(), lambda.end(), T(0));
  for (const auto& m : members) {
    if (m->present && m->pairs > 0) {
      m->state.data().sweeps->closed_products(std::span(pairs).subspan(m->first_pair, m->pairs), common.data(),
                                              lambda.data(), stride);
    }
  }
}

namespace {

/// Moves the independent rows to the front of `order`, the one that is farthest from those before it first. Returns how
/// many there are. Λ is given on and above the diagonal; `factor` is overwritten.
template <class T>
std::size_t independent_rows(const T* lambda, std::size_t stride, T floor, std::span<int> order, T* factor) {
  const std::size_t m = order.size();
  for (std::size_t i = 0; i < m; ++i) {
    order[i] = static_cast<int>(i);
    for (std::size_t k = i; k < m; ++k) {
      factor[k * stride + i] = factor[i * stride + k] = lambda[i * stride + k];
    }
  }
  for (std::size_t j = 0; j < m; ++j) {
    const auto diagonal = [&](int i) { return factor[index(i) * (stride + 1)]; };
    const auto most = std::max_element(order.begin() + static_cast<std::ptrdiff_t>(j), order.end(),
                                       [&](int x, int y) { return diagonal(x) < diagonal(y); });
    if (!(diagonal(*most) > floor)) {
      return j;
    }
    std::swap(order[j], *most);
    const T* row = factor + index(order[j]) * stride;
    const T inverse = T(1) / row[order[j]];
    for (std::size_t i = j + 1; i < m; ++i) {
      T* below = factor + index(order[i]) * stride;
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
  const auto m = static_cast<std::size_t>(solved);
  auto largest = static_cast<T>(least_size * least_size);  // scaled rows are about one, or rounding
  for (std::size_t i = 0; i < m; ++i) {
    largest = std::max(largest, lambda[i * (stride + 1)]);
  }
  const T floor = std::max(certain_pivot<T>, static_cast<T>(100 * tolerance * tolerance)) * largest;
  for (const bool again : {false, true}) {
    if (again) {
      plainly_named = false;
      kept = independent_rows<T>(lambda.data(), stride, floor, order, factor.data());
      std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept));
    }
    T least = largest;
    report.first_dropped = 0;
    if (eliminate(largest, floor, least)) {
      report.rank = static_cast<int>(kept);
      report.last_kept = kept > 0 ? std::sqrt(static_cast<double>(least / largest)) : 1;
      report.nearly_redundant = false;
      return solve_kept(least < refined_pivot<T> * largest);
    }
  }
  return false;
}

/// Factors of the kept rows of Λ and their f̃; false where these are not all that is independent.
template <class T>
bool ClosedData<T>::eliminate(T largest, T floor, T& least) {
  if (kept < static_cast<std::size_t>(solved)) {
    return eliminate_kept(largest, floor, least) && others_depend(largest);
  }
  tangled = 0;
  return kernel().closed_independent(lambda.data(), stride, kept, right.data(), floor, factor.data(), force.data(),
                                     least);
}

/// Factors of the kept rows of Λ, C and f̃ of them; false where a pivot is not above `floor`. Rows that nothing can
/// violate, as it is out of a mechanism's plane, go to the end of `order`: they have no part in it.
template <class T>
bool ClosedData<T>::eliminate_kept(T largest, T floor, T& least) {
  const auto m = static_cast<std::size_t>(solved);
  const T zero = static_cast<T>(tolerance * tolerance) / static_cast<T>(std::max<std::size_t>(m - kept, 1)) * largest;
  tangled = 0;
  for (std::size_t j = kept; j < m; ++j) {
    if (lambda[index(order[j]) * (stride + 1)] > zero) {
      std::swap(order[kept + tangled++], order[j]);
    }
  }
  const auto gather_row = [&](std::size_t i, std::size_t end, T* to) {
    const std::size_t row = index(order[i]);
    for (std::size_t k = i; k < end; ++k) {
      const std::size_t column = index(order[k]);
      to[k] = lambda[row <= column ? row * stride + column : column * stride + row];
    }
  };
  if (tangled == 0) {
    T* f = left_over.data();
    for (std::size_t i = 0; i < kept; ++i) {
      gather_row(i, kept, scratch.data() + i * stride);
      f[i] = right[index(order[i])];
    }
    const bool done = kernel().closed_independent(scratch.data(), stride, kept, f, floor, factor.data(), f, least);
    for (std::size_t i = 0; i < kept; ++i) {
      factor[i * stride + kept] = f[i];
    }
    return done;
  }
  const std::size_t width = kept + tangled;
  for (std::size_t i = 0; i < kept; ++i) {
    T* to = factor.data() + i * stride;
    gather_row(i, width, to);
    to[width] = right[index(order[i])];
    std::fill_n(to + width + 1, kernels::closure_lanes - 1, T(0));
  }
  return kernel().closed_factor(factor.data(), stride, kept, width + 1, floor, least);
}

/// 𝔟/s of all closures, but for D^(−½).
template <class T>
void ClosedData<T>::gather() {
  std::fill(gathered.begin(), gathered.end(), T(0));
  for (const auto& each : closures) {
    if (each->present) {
      for_each_part(*each, [&](ClosedMember<T>& there, ClosureColumns<T>& part) {
        kernel().closed_gather(part, gathered.data() + index(there.first_full) * stride + index(each->solved), stride);
      });
    }
  }
}

/// Whether all rows beyond the kept ones depend on these: what C leaves of 𝔟.
template <class T>
bool ClosedData<T>::others_depend(T largest) {
  const auto m = static_cast<std::size_t>(solved);
  T left = 0;
  for (std::size_t j = kept + tangled; j < m; ++j) {
    left += std::max(lambda[index(order[j]) * (stride + 1)], T(0));
  }
  if (tangled > 0) {
    gather();
    std::fill(scratch.begin(), scratch.end(), T(0));  // (−C; I) in the order of all rows
    for (std::size_t k = 0; k < kept; ++k) {
      std::transform(factor.data() + k * stride + kept, factor.data() + k * stride + kept + tangled,
                     scratch.data() + index(order[k]) * stride, [](T c) { return -c; });
    }
    for (std::size_t j = 0; j < tangled; ++j) {
      scratch[index(order[kept + j]) * stride + j] = T(1);
    }
    std::fill(residual.begin(), residual.end(), T(0));
    for (const auto& each : members) {
      if (each->present && each->touched) {
        each->state.data().sweeps->closed_squares(gathered.data() + index(each->first_full) * stride, stride,
                                                  scratch.data(), stride, m, tangled, residual.data());
      }
    }
    left = std::accumulate(residual.begin(), residual.begin() + static_cast<std::ptrdiff_t>(tangled), left);
  }
  report.first_dropped = std::sqrt(static_cast<double>(left / largest));
  return report.first_dropped <= tolerance;
}

/// f̃ of the kept rows, then the least of those that do the same; false where the others contradict it.
template <class T>
bool ClosedData<T>::solve_kept(bool refined) {
  const auto m = static_cast<std::size_t>(solved);
  const std::size_t width = kept + tangled;
  T contrary = 0;
  for (std::size_t j = kept; j < m; ++j) {
    T sum = right[index(order[j])];
    for (std::size_t k = 0; j < width && k < kept; ++k) {
      sum -= factor[k * stride + j] * right[index(order[k])];
    }
    contrary += sum * sum;
  }
  if (kept < m) {
    const auto against = static_cast<double>(std::sqrt(contrary));
    const auto most = static_cast<double>(*std::max_element(size.begin(), size.end()));
    if (against > contradiction<T> * most && against > contradiction<T> * asked_for()) {
      return false;
    }
  }
  if (kept < m) {
    std::fill(force.begin(), force.end(), T(0));
    for (std::size_t k = 0; k < kept; ++k) {
      force[index(order[k])] = factor[k * stride + width];
    }
  }
  if (refined) {
    gather();
    std::copy(right.begin(), right.end(), left_over.begin());
    for (const auto& each : members) {
      if (each->present && each->touched) {
        each->state.data().sweeps->closed_residual(gathered.data() + index(each->first_full) * stride, stride, m,
                                                   force.data(), left_over.data());
      }
    }
    T* f = residual.data();
    for (std::size_t k = 0; k < kept; ++k) {
      f[k] = left_over[index(order[k])];
    }
    kernel().closed_solve(factor.data(), stride, kept, f);
    for (std::size_t k = 0; k < kept; ++k) {
      force[index(order[k])] += f[k];
    }
  }
  mark_unique();
  if (tangled > 0) {
    shorten_force();
  }
  return true;
}

/// f̃ less its part along (−C; I): the least y*y + |f̃_K − C y|².
template <class T>
void ClosedData<T>::shorten_force() {
  T* f = residual.data();
  T* y = left_over.data();
  for (std::size_t k = 0; k < kept; ++k) {
    f[k] = force[index(order[k])];
  }
  kernel().closed_shorten(factor.data() + kept, stride, kept, tangled, scratch.data(), f, y);
  for (std::size_t k = 0; k < kept; ++k) {
    force[index(order[k])] = f[k];
  }
  for (std::size_t j = 0; j < tangled; ++j) {
    force[index(order[kept + j])] = y[j];
  }
}

/// Which rows' forces are unique, and the closures that have others.
template <class T>
void ClosedData<T>::mark_unique() {
  if (tangled == 0 && plainly_named) {
    return;
  }
  std::fill(shared.begin(), shared.end(), T(1));
  for (std::size_t k = 0; k < kept; ++k) {
    T sum = 0;
    for (std::size_t j = kept; j < kept + tangled; ++j) {
      sum += factor[k * stride + j] * factor[k * stride + j];
    }
    shared[index(order[k])] = sum;
  }
  name_redundant();
  plainly_named = tangled == 0;
}

/// Takes the closures that have rows of which null vectors have a share into the report. Names that are there already
/// stay, so that nothing allocates at the next state.
template <class T>
void ClosedData<T>::name_redundant() {
  std::size_t count = 0;
  plainly_named = false;
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    bool all = c.active == c.rows;
    c.unique.fill(false);
    for (int r = 0; r < c.active; ++r) {
      const bool unique = static_cast<double>(shared[index(c.solved + r)]) < unique_share;
      c.unique[index(c.row[index(r)])] = unique;
      all = all && unique;
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
  if (columns.rows() != std::max(full, solved) || columns.cols() != solved) {
    columns.resize(std::max(full, solved), solved);
  }
  columns.setZero();
  for (const auto& each : closures) {
    ClosedClosure<T>& c = *each;
    if (!c.present) {
      continue;
    }
    for_each_part(c, [&](ClosedMember<T>& there, ClosureColumns<T>& part) {
      const T* D_inverse = there.state.data().sweeps->inverse_D();
      for (std::size_t k = 0; k < part.coordinates.size(); ++k) {
        const T root = std::sqrt(D_inverse[part.coordinates[k]]);
        for (int r = 0; r < c.active; ++r) {
          columns(there.first_full + part.coordinates[k], c.solved + r) = root * part.e[k].x[r] * part.inverse.x[r];
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
  while (rank < solved && floor < static_cast<double>(sigma(rank))) {
    ++rank;
  }
  report.rank = rank;
  report.last_kept = rank > 0 ? static_cast<double>(sigma(rank - 1)) / largest : 1;
  report.first_dropped = rank < solved ? static_cast<double>(sigma(rank)) / largest : 0;
  report.nearly_redundant = report.last_kept < nearly;
  using Map = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
  const Map g(right.data(), solved);
  const auto& V = svd.matrixV();
  Map f(force.data(), solved);
  f.setZero();
  for (int k = 0; k < rank; ++k) {
    const T part = V.col(k).dot(g) / (sigma(k) * sigma(k));
    f += V.col(k) * part;
  }
  if (rank < solved) {
    check_contradictions(rank);
  }
  for (int i = 0; i < solved; ++i) {
    shared[static_cast<std::size_t>(i)] = V.row(i).tail(solved - rank).squaredNorm();
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
  const Map g(right.data(), solved);
  const auto& V = svd.matrixV();
  const double whole = asked_for();
  for (int k = rank; k < solved; ++k) {
    const double left = std::abs(static_cast<double>(V.col(k).dot(g)));
    if (left > contradiction<T> * whole) {
      std::vector<std::string> names;
      for (const auto& c : closures) {
        if (c->present && c->active > 0 &&
            V.col(k).segment(c->solved, c->active).cwiseAbs().maxCoeff() > T(0.1) * V.col(k).cwiseAbs().maxCoeff()) {
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

/// Most often all rows are independent, so that there is nothing to compare with. Otherwise the rank near by is looked
/// for once, for each set of closures.
template <class T>
void ClosedData<T>::judge_rank() {
  report.generic_rank = report.rank;
  if (report.rank < solved && looks_around) {
    std::uint64_t key = 0;
    for (const auto& c : closures) {
      key = (key ^ (c->present ? c->stamp : 0)) * 0x100000001b3U;
    }
    auto known =
        std::find_if(generic_ranks.begin(), generic_ranks.end(), [&](const auto& each) { return each.first == key; });
    if (known == generic_ranks.end()) {
      known = generic_ranks.emplace(generic_ranks.end(), key, rank_near_by(*this));
    }
    known->second = std::max(known->second, report.rank);
    report.generic_rank = known->second;
  }
  report.singular = report.rank < report.generic_rank;
}

template <class T>
void ClosedData<T>::solve_small() {
  ++work.solves;
  report.rows = rows;
  if (solved == 0) {
    report.rank = 0;
    name_redundant();
  } else if (!(blocks.chosen ? solve_blocks() : factor_small())) {
    solve_by_values();
  }
  report.degrees_of_freedom = nv - report.rank;
  judge_rank();
  for (const auto& c : closures) {
    for (int r = 0; c->present && r < c->active; ++r) {
      c->force.x[r] = force[index(c->solved + r)] / scale[index(c->first + c->row[index(r)])];
    }
  }
}

template <class T>
void ClosedData<T>::run(std::span<const T> x, bool biased, std::span<T> out) {
  sweep_inward(x, biased);
  evaluate(biased);
  make_columns(biased);
  assemble_small();
  solve_small();
  sweep_outward(out);
}

template struct ClosedData<double>;
template struct ClosedData<float>;

}  // namespace bunraku::detail
