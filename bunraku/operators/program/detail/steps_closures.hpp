/// @file
/// What the steps of closure space do. Closures are on no one body: none of these is part of a loop over bodies.
#pragma once

#include "bunraku/operators/program/detail/evaluator.hpp"
#include "bunraku/operators/program/detail/small_solve.hpp"

namespace bunraku::operators {

/// What the equations of closures are computed in: `double` for scalars that have a number.
template <class S>
using ClosureScalar = std::conditional_t<std::is_floating_point_v<S>, S, double>;
/// Whether they are computed for a scalar.
template <class S>
inline constexpr bool has_closures = std::is_floating_point_v<S> || std::is_same_v<S, Counting>;

[[noreturn]] inline void refuse_closures() {
  throw OperatorError("the equations of closures are computed in float and double only");
}

/// Node b in node a, through the closest common ancestor of their bodies: what is below it does not touch rounding.
template <class S>
Transform<S> relative_pose(const kernels::Link<S>* links, const Joints<S>& joints, const Node& a, const Node& b) {
  Transform<S> X_A = kernels::cast<S>(a.X_BN);
  Transform<S> X_B = kernels::cast<S>(b.X_BN);
  int i = a.body;
  int j = b.body;
  while (i != j) {
    if (i > j) {
      X_A = joints.pose[at(i)] * X_A;
      i = links[i].parent;
    } else {
      X_B = joints.pose[at(j)] * X_B;
      j = links[j].parent;
    }
  }
  return X_A.inverse() * X_B;
}

/// Rows of A and A_h of the configuration.
template <class S>
void Evaluator<S>::closures() {
  if constexpr (has_closures<S>) {
    using T = ClosureScalar<S>;
    const std::span<const Closure> all = folded_->model.closures();
    for (std::size_t c = 0; c < all.size(); ++c) {
      ClosureAt<S>& out = closures_[c];
      if (all[c].kind == ClosureKind::hinges) {
        const auto q = [&](int body) { return body == world ? T(0) : static_cast<T>(q_[links_[body].q]); };
        out.slope = S(kernels::coupling_equation<T>(all[c], q(all[c].hinge_a), q(all[c].hinge_b), T(0)).slope);
        continue;
      }
      kernels::ClosureEquations<T> at_q;
      const Transform<T> X_AB = kernels::cast<T>(relative_pose(links_, joints_, all[c].a, all[c].b));
      kernels::closure_positions(all[c], X_AB, at_q);
      for (std::size_t i = 0; i < static_cast<std::size_t>(at_q.rows); ++i) {
        for (int j = 0; j < rigid; ++j) {
          out.on_a[i][j] = S(at_q.on_a[i][j]);
          out.on_b[i][j] = S(at_q.on_b[i][j]);
        }
      }
      if constexpr (std::is_same_v<S, Counting>) {
        Counting::count() += 60L * at_q.rows;  // two shifts and turns a row, about
      }
    }
  } else {
    refuse_closures();
  }
}

/// A x, A*x, A_h x or A_h*x.
template <class S>
void Evaluator<S>::apply_closures(int i) {
  const Value& v = value(i);
  const S* x = in(v, 0);
  S* y = out(i);
  const std::span<const Closure> all = folded_->model.closures();
  std::ptrdiff_t node = 0;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const int begin = folded_->closure.begin(static_cast<int>(c));
    const int end = folded_->closure.end(static_cast<int>(c));
    if (all[c].kind == ClosureKind::hinges) {
      const auto put_hinge = [&](int body, const S& slope) {
        const LinkPlace& place = folded_->places[at(body)];
        const S number = slope * constant<S>(place.ratio);
        v.adjoint ? y[place.own] += number * x[begin] : y[begin] += number * x[place.own];
      };
      if (v.part == Part::A_h) {
        put_hinge(all[c].hinge_a, S(1));
        if (all[c].hinge_b != world) {
          put_hinge(all[c].hinge_b, -closures_[c].slope);
        }
      }
      continue;
    }
    for (int row = begin; row < end && v.part == Part::A; ++row) {
      const Force<S>& on_a = closures_[c].on_a[at(row - begin)];
      const Force<S>& on_b = closures_[c].on_b[at(row - begin)];
      if (v.adjoint) {
        add(y + node, on_a * x[row]);
        add(y + node + rigid, on_b * x[row]);
      } else {
        y[row] = dot(on_a, motion_at(x + node)) + dot(on_b, motion_at(x + node + rigid));
      }
    }
    node += 2 * rigid;
  }
}

/// a_n: (0; ω × (ω × l)) of a node at l on its body; on the world the base's pseudo-acceleration, as in a.
template <class S>
void Evaluator<S>::node_bias(int i, Range range) {
  const S* V = in(value(i), 0);
  const Vec3<S> upward = kernels::cast<S>(-folded_->gravity);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const int k = nodes_[n].link;
    if (std::max(k, 0) < range.begin || std::max(k, 0) >= range.end) {
      continue;
    }
    Vec3<S> linear{};
    if (k < 0) {
      linear = kernels::cast<S>(attached_->nodes[n].X_BN).rotation.inverse_times(upward);
    } else {
      const Vec3<S> w = motion_at(V + rigid * k).angular;
      linear = nodes_[n].X_LN.rotation.inverse_times(cross(w, cross(w, nodes_[n].X_LN.translation)));
    }
    put(out(i) + static_cast<std::ptrdiff_t>(rigid * n), Motion<S>{Vec3<S>::zero(), linear});
  }
}

/// What the closures ask of A α_n + A_h θ̈, α_n with gravity as an acceleration of the base. It drops out of differences
/// of nodes; general equations are about the accelerations without it.
template <class S>
void Evaluator<S>::rates(int i) {
  if constexpr (has_closures<S>) {
    using T = ClosureScalar<S>;
    const Value& v = value(i);
    const S* V = in(v, 0);
    const S* theta = in(v, 1);
    const std::span<const Closure> all = folded_->model.closures();
    for (std::size_t c = 0; c < all.size(); ++c) {
      S* to = out(i) + folded_->closure.begin(static_cast<int>(c));
      if (all[c].kind == ClosureKind::hinges) {
        const auto q = [&](int body) { return body == world ? T(0) : static_cast<T>(q_[links_[body].q]); };
        const int b = all[c].hinge_b;
        const T v_b = b == world ? T(0)
                                 : static_cast<T>(theta[folded_->places[at(b)].own]) *
                                       static_cast<T>(folded_->places[at(b)].ratio);
        *to = S(kernels::coupling_equation<T>(all[c], q(all[c].hinge_a), q(b), v_b).rate);
        continue;
      }
      const auto velocity = [&](const Node& node) {
        return node.body == world
                   ? Motion<T>::zero()
                   : kernels::cast<T>(inverse_times(kernels::cast<S>(node.X_BN), motion_at(V + rigid * node.body)));
      };
      kernels::ClosureEquations<T> now;
      kernels::closure_velocities(all[c],
                                  {kernels::cast<T>(relative_pose(links_, joints_, all[c].a, all[c].b)),
                                   velocity(all[c].a), velocity(all[c].b)},
                                  now);
      const bool general = all[c].kind == ClosureKind::rows;
      const auto weight = [&](const Node& node, const Force<T>& row) {  // row · (0; g) in the node's axes
        const Node origin{.name = {}, .body = world};
        const Transform<T> X = kernels::cast<T>(relative_pose(links_, joints_, origin, node));
        return dot(row.force, X.rotation.inverse_times(kernels::cast<T>(folded_->gravity)));
      };
      for (std::size_t row = 0; row < static_cast<std::size_t>(now.rows); ++row) {
        const T less = general ? weight(all[c].a, now.on_a[row]) + weight(all[c].b, now.on_b[row]) : T(0);
        to[row] = S(now.rate[row] - less);
      }
      if constexpr (std::is_same_v<S, Counting>) {
        Counting::count() += 60L + 12L * now.rows;
      }
    }
  } else {
    refuse_closures();
  }
}

template <class S>
void Evaluator<S>::columns(int i) {
  matrix_of(i, slots_[at(i)].out);
}

/// D^(−½)x: with D⁻¹ = L⁻*d⁻¹L⁻¹ of a hinge d^(−½)L⁻¹x, of a cluster by the factor of its D⁻¹.
template <class S>
void Evaluator<S>::whiten(const RiccatiBlocks<S>& r, const S* x, double* out) const {
  for (const Unit& unit : folded_->units) {
    const std::size_t n = unit.coordinates.size();
    const int k = unit.members[0];
    if (!folded_->places[at(k)].coupled) {
      kernels::HingeVector<S> e{};
      for (std::size_t j = 0; j < n; ++j) {
        e[static_cast<int>(j)] = x[unit.coordinates[j]];
      }
      const kernels::HingeFactors<S> own = factors(r, k);
      e = own.innovations(e);
      for (std::size_t j = 0; j < n; ++j) {
        const auto inverse = static_cast<double>(own.inverse(static_cast<int>(j)));
        out[unit.coordinates[j]] = static_cast<double>(e[static_cast<int>(j)]) * std::sqrt(std::max(inverse, 0.0));
      }
      continue;
    }
    std::vector<double> C(n * n);  // D⁻¹ = C C*
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t row = c; row < n; ++row) {
        auto sum = static_cast<double>(r.L[at(unit.block) + row * n + c]);
        for (std::size_t m = 0; m < c; ++m) {
          sum -= C[row * n + m] * C[c * n + m];
        }
        const double pivot = C[c * n + c];
        C[row * n + c] = row == c ? std::sqrt(std::max(sum, 0.0)) : pivot > 0 ? sum / pivot : 0.0;
      }
    }
    for (std::size_t c = 0; c < n; ++c) {
      double sum = 0;
      for (std::size_t row = c; row < n; ++row) {
        sum += C[row * n + c] * static_cast<double>(x[unit.coordinates[row]]);
      }
      out[unit.coordinates[c]] = sum;
    }
  }
}

/// |D^(−½)x|² of each column x.
template <class S>
void Evaluator<S>::norms(int i) {
  const Value& v = value(i);
  const Slot& slot = slots_[at(i)];
  const Slot& probe = slots_[at(v.in[0])];
  std::vector<double> column(at(folded_->model.nv()));
  std::fill_n(probe.out, probe.size, S(0));
  for (int j = 0; j < probe.size; ++j) {
    probe.out[j] = S(1);
    run_owned(slot);
    probe.out[j] = S(0);
    whiten(used(v), slots_[at(v.in[1])].out, column.data());
    double sum = 0;
    for (const double each : column) {
      sum += each * each;
    }
    slot.out[j] = S(static_cast<ClosureScalar<S>>(sum));
  }
}

/// What one newton or newton metre along each row moves at most, in the mean over directions: rows in units of their
/// own. Of a row's parts at its nodes each by the trace of Ω's angular or linear block there, of hinges by (𝓜⁻¹)_kk.
template <class S>
std::vector<double> Evaluator<S>::row_scales(const Value& v) {
  for (const std::size_t n : {2U, 3U}) {
    if (v.uses[n] != no_value) {
      norms(v.uses[n]);
    }
  }
  const auto moves = [&](std::size_t n, std::ptrdiff_t first, int count) {
    double sum = 0;
    for (int j = 0; v.uses[n] != no_value && j < count; ++j) {
      sum += static_cast<double>(slots_[at(v.uses[n])].out[first + j]);
    }
    return sum / count;
  };
  std::vector<double> out(at(folded_->closure.dimension()));
  const std::span<const Closure> all = folded_->model.closures();
  std::ptrdiff_t node = 0;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const int begin = folded_->closure.begin(static_cast<int>(c));
    if (all[c].kind == ClosureKind::hinges) {
      const auto of_hinge = [&](int body, double slope) {
        const LinkPlace& place = folded_->places[at(body)];
        return slope * slope * place.ratio * place.ratio * moves(3, place.own, 1);
      };
      out[at(begin)] = of_hinge(all[c].hinge_a, 1);
      if (all[c].hinge_b != world) {
        out[at(begin)] += of_hinge(all[c].hinge_b, static_cast<double>(closures_[c].slope));
      }
    } else {
      for (int row = begin; row < folded_->closure.end(static_cast<int>(c)); ++row) {
        const auto of_node = [&](const Force<S>& f, std::ptrdiff_t first) {
          return static_cast<double>(squared_norm(f.moment)) * moves(2, first, 3) +
                 static_cast<double>(squared_norm(f.force)) * moves(2, first + 3, 3);
        };
        out[at(row)] = of_node(closures_[c].on_a[at(row - begin)], node) +
                       of_node(closures_[c].on_b[at(row - begin)], node + rigid);
      }
      node += 2 * rigid;
    }
  }
  std::transform(out.begin(), out.end(), out.begin(), [](double squared) { return std::sqrt(squared); });
  return out;
}

/// (𝔟*𝔟)⁻¹ with 𝔟 = D^(−½)e, or the inverse of a matrix of closure size.
template <class S>
void Evaluator<S>::solve(int i) {
  if constexpr (has_closures<S>) {
    using T = ClosureScalar<S>;
    const Value& v = value(i);
    const Slot& slot = slots_[at(i)];
    const int m = dimension(v.space);
    std::vector<double> inverse(at(m * m));
    constexpr bool single = std::is_same_v<S, float>;
    if (!v.in.empty()) {
      matrix_of(i, slot.out);
      std::transform(slot.out, slot.out + m * m, inverse.begin(), [](const S& x) { return static_cast<double>(x); });
      invert_any(inverse, m, single ? redundant_float * redundant_float : singular_part);
    } else {
      const int n = folded_->model.nv();
      const S* e = slots_[at(v.uses[1])].out;
      std::vector<S> column(at(n));
      std::vector<double> b(at(n * m));
      for (int j = 0; j < m; ++j) {
        for (int row = 0; row < n; ++row) {
          column[at(row)] = e[row * m + j];
        }
        whiten(used(v), column.data(), b.data() + static_cast<std::ptrdiff_t>(n) * j);
      }
      const auto scales = [&](std::span<double> out) {
        const std::vector<double> all = row_scales(v);
        std::copy(all.begin(), all.end(), out.begin());
      };
      invert_square(b, n, m, single ? redundant_float : redundant, scales, inverse);
      if constexpr (std::is_same_v<S, Counting>) {
        Counting::count() += 2L * n * m * m;
      }
    }
    if constexpr (std::is_same_v<S, Counting>) {
      Counting::count() += 2L * m * m * m;
    }
    std::transform(inverse.begin(), inverse.end(), slot.out, [](double x) { return S(static_cast<T>(x)); });
  } else {
    refuse_closures();
  }
}

}  // namespace bunraku::operators
