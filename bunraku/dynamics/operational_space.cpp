// Operational space of several nodes on a tree (RJK89 3.10, A.3–A.5 with Ω across branches put right; RJK91 17–20).
#include "bunraku/dynamics/operational_space.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/prepared.hpp"
#include "bunraku/kernels/cast.hpp"
#include "bunraku/kernels/singular.hpp"

namespace bunraku {

namespace {

/// Throws ArgumentError where a node does not exist.
void check_nodes(const Model& model, const NodeList& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    static_cast<void>(nodes[i].place(model));
  }
}

/// Calls f(j, column) for the columns of J of a node in its own axes, j a velocity of all hinges. Needs positions.
/// O(d).
template <class T, class F>
void for_each_column(const kernels::Blocks<T>& blocks, const Place& node, F&& f) {
  Transform<T> X_KN = kernels::cast<T>(node.X_BN);  // the node's pose in body k
  for (int k = node.body; k != world; k = blocks.parent(k)) {
    for (int j = blocks.first(k); j < blocks.first(k) + blocks.nv(k); ++j) {
      f(static_cast<std::size_t>(j), inverse_times(X_KN, blocks.H(j)));
    }
    X_KN = blocks.X_PB(k) * X_KN;
  }
}

/// Row r of the Jacobian of all nodes, in the user's coordinates.
template <class T>
void jacobian_row(const detail::StateData<T>& s, const NodeList& nodes, std::size_t r, std::span<T> out) {
  std::fill(out.begin(), out.end(), T(0));
  for_each_column(s.blocks, nodes[r / 6].place(s.model), [&](std::size_t j, const Motion<T>& column) {
    const kernels::Follower<T>& follower = s.coordinates.velocities[j];
    out[static_cast<std::size_t>(follower.own)] += follower.ratio * column[static_cast<int>(r % 6)];
  });
}

/// The error where J has not full rank.
Error rank_loss(std::size_t nodes, int rank, bool at_most) {
  return Error(fmt::format("the Jacobian of {} node{} has {} rows and rank{} {}: J𝓜⁻¹J* has no inverse", nodes,
                           nodes == 1 ? "" : "s", 6 * nodes, at_most ? " at most" : "", rank));
}

/// The index with the largest left[i] / whole[i] among whole[i] > 0, or −1 where nothing is left beside the others:
/// that row of J depends on them.
template <class T>
int next_pivot(std::span<const T> whole, std::span<const T> left) {
  int best = -1;
  T share = kernels::vanishing_beside_others<T>;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i] > T(0) && left[i] > share * whole[i]) {
      share = left[i] / whole[i];
      best = static_cast<int>(i);
    }
  }
  return best;
}

}  // namespace

template <class T>
void lambda_inverse(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const int m = static_cast<int>(nodes.size());
  const auto out = detail::wanted(matrix, 6 * m, 6 * m, "Λ⁻¹");
  check_nodes(s.model, nodes);
  detail::PreparedPrograms<T>& programs = detail::programs_of(s);
  operators::Evaluator<T>& program = programs.at(detail::Prepared::lambda_inverse, s, nodes.size());
  const int room = program.cols() / 6;
  for (int i = 0; i < room; ++i) {
    program.set_node(i, i < m ? nodes[static_cast<std::size_t>(i)].place(s.model) : Place{});
  }
  programs.unit.assign(static_cast<std::size_t>(program.cols()), T(0));
  programs.column.resize(static_cast<std::size_t>(program.rows()));
  for (int c = 0; c < 6 * m; ++c) {
    programs.unit[static_cast<std::size_t>(c)] = T(1);
    program.apply(programs.unit.data(), programs.column.data());
    programs.unit[static_cast<std::size_t>(c)] = T(0);
    for (int r = c; r < 6 * m; ++r) {
      out(r, c) = out(c, r) = programs.column[static_cast<std::size_t>(r)];
    }
  }
}

/// In place by the sweep operator of statistics: a sweep at pivot p takes A to A_ij − A_ip A_pj / A_pp, A_ip / A_pp and
/// −1 / A_pp; after all sweeps, in whatever order, −A⁻¹ is there. The order is that of Cholesky with diagonal pivots,
/// each relative to what it was at first, so that the rank does not depend on units.
template <class T>
void lambda(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  lambda_inverse(state, nodes, matrix);
  const std::size_t n = 6 * nodes.size();
  if (n > s.unit.size()) {
    throw rank_loss(nodes.size(), s.nv(), true);
  }
  const std::span<T> whole = std::span<T>(s.unit).first(n);    // A_ii at first, or −1 once swept
  const std::span<T> left = std::span<T>(s.torques).first(n);  // A_ii now
  using Strided = Eigen::Map<typename detail::StateData<T>::Matrix, 0, Eigen::OuterStride<>>;
  const auto size = static_cast<Eigen::Index>(n);
  Strided A(matrix.data(), size, size, Eigen::OuterStride<>(matrix.shaped() ? matrix.stride() : size));
  for (std::size_t i = 0; i < n; ++i) {
    whole[i] = A(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
  }
  for (std::size_t rank = 0; rank < n; ++rank) {
    for (std::size_t i = 0; i < n; ++i) {
      left[i] = A(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i));
    }
    const int p = next_pivot<T>(whole, left);
    if (p < 0) {
      throw rank_loss(nodes.size(), static_cast<int>(rank), false);
    }
    whole[static_cast<std::size_t>(p)] = T(-1);
    const T pivot = A(p, p);
    for (Eigen::Index j = 0; j < A.cols(); ++j) {
      for (Eigen::Index i = j; i < A.rows(); ++i) {
        if (i != p && j != p) {
          A(j, i) = A(i, j) -= A(i, p) * A(j, p) / pivot;
        }
      }
    }
    A.col(p) /= pivot;
    A.row(p) = A.col(p).transpose();
    A(p, p) = -1 / pivot;
  }
  A = -A;
}

/// In place by columns: from X = 𝓜⁻¹J*, each step makes one more row of JX a row of I by adding columns of X to one
/// another, and X(JX)⁻¹ = 𝓜⁻¹J*Λ is there at the end.
template <class T>
void dynamically_consistent_inverse(BasicState<T>& state, const NodeList& nodes, MatrixOut<T> matrix) {
  detail::StateData<T>& s = state.data();
  const std::size_t m = 6 * nodes.size();
  const auto out = detail::wanted(matrix, s.nv(), static_cast<std::ptrdiff_t>(m), "J̄");
  check_nodes(s.model, nodes);
  if (m > s.unit.size()) {
    throw rank_loss(nodes.size(), s.nv(), true);
  }
  s.blocks.need_positions();
  Eigen::Map<typename detail::StateData<T>::Matrix, 0, Eigen::OuterStride<>> X(
      out.data, s.nv(), static_cast<Eigen::Index>(m), Eigen::OuterStride<>(out.stride));
  const std::span<T> row = std::span<T>(s.full).first(s.unit.size());
  const Eigen::Map<const typename detail::StateData<T>::Vector> Jp(row.data(), s.nv());
  const std::span<T> whole = std::span<T>(s.unit).first(m);    // (JX)_ii at first, or −1 once it is 1
  const std::span<T> left = std::span<T>(s.torques).first(m);  // (JX)_ii now
  for (std::size_t i = 0; i < m; ++i) {
    jacobian_row<T>(s, nodes, i, row);
    s.solve(row, out.column(static_cast<std::ptrdiff_t>(i)));
    whole[i] = left[i] = Jp.dot(X.col(static_cast<Eigen::Index>(i)));
  }
  for (std::size_t rank = 0; rank < m; ++rank) {
    const int p = next_pivot<T>(whole, left);
    if (p < 0) {
      throw rank_loss(nodes.size(), static_cast<int>(rank), false);
    }
    whole[static_cast<std::size_t>(p)] = T(-1);
    jacobian_row<T>(s, nodes, static_cast<std::size_t>(p), row);
    const T pivot = Jp.dot(X.col(p));
    X.col(p) /= pivot;
    for (Eigen::Index j = 0; j < X.cols(); ++j) {
      if (j != p) {
        const T factor = Jp.dot(X.col(j));
        X.col(j) -= factor * X.col(p);
        left[static_cast<std::size_t>(j)] -= factor * factor / pivot;  // JX of what is left is symmetric
      }
    }
  }
}

/// By 𝓜⁻¹HφBf, since (I − HψK)*D⁻¹Hψ = 𝓜⁻¹Hφ: the tuned sweeps have both parts.
template <class T>
void force_correction(BasicState<T>& state, std::type_identity_t<Forces<T>> forces, Out<T> accelerations) {
  detail::StateData<T>& s = state.data();
  const std::span<T> out = detail::wanted(accelerations, s.nv(), "out");
  s.check_forces(forces);
  std::fill(s.unit.begin(), s.unit.end(), T(0));
  s.subtract_applied(forces, s.unit);
  std::transform(s.unit.begin(), s.unit.end(), s.unit.begin(), std::negate<>());
  s.solve(s.unit, out);
}

template void lambda_inverse(BasicState<double>&, const NodeList&, MatrixOut<double>);
template void lambda(BasicState<double>&, const NodeList&, MatrixOut<double>);
template void dynamically_consistent_inverse(BasicState<double>&, const NodeList&, MatrixOut<double>);
template void force_correction(BasicState<double>&, Forces<double>, Out<double>);
template void lambda_inverse(BasicState<float>&, const NodeList&, MatrixOut<float>);
template void lambda(BasicState<float>&, const NodeList&, MatrixOut<float>);
template void dynamically_consistent_inverse(BasicState<float>&, const NodeList&, MatrixOut<float>);
template void force_correction(BasicState<float>&, Forces<float>, Out<float>);

}  // namespace bunraku
