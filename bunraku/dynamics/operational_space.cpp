// Operational space of several nodes on a tree (RJK89 3.10, A.3–A.5 with Ω across branches put right; RJK91 17–20).
// Without mimics by the recursions of the papers; with mimics by the factor of the mass matrix.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/dynamics/detail/cast.hpp"
#include "bunraku/dynamics/detail/cholesky.hpp"
#include "bunraku/dynamics/detail/nodes.hpp"
#include "bunraku/dynamics/detail/singular.hpp"
#include "bunraku/dynamics/detail/state.hpp"
#include "bunraku/dynamics/dynamics.hpp"

namespace bunraku {

namespace {

/// Throws ArgumentError where a node's body does not exist.
void check_nodes(const Model& model, std::span<const Node> nodes) {
  for (const Node& node : nodes) {
    kernels::check_node(model, node);
  }
}

/// Calls f(j, column) for the columns of J of a node in its own axes, j a velocity of all hinges. Needs positions.
/// O(d).
template <class T, class F>
void for_each_column(const kernels::Blocks<T>& blocks, const Node& node, F&& f) {
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
void jacobian_row(const kernels::Blocks<T>& blocks, const kernels::Coordinates<T>& coordinates,
                  std::span<const Node> nodes, std::size_t r, std::span<T> out) {
  std::fill(out.begin(), out.end(), T(0));
  for_each_column(blocks, nodes[r / 6], [&](std::size_t j, const Motion<T>& column) {
    const kernels::Follower<T>& follower = coordinates.velocities[j];
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

/// Writes the 6×6 block (i, j) of a matrix with `rows` rows, and its transpose at (j, i).
template <class T, class F>
void set_blocks(std::span<T> out, std::size_t rows, std::size_t i, std::size_t j, F&& element) {
  for (std::size_t c = 0; c < 6; ++c) {
    for (std::size_t r = 0; r < 6; ++r) {
      out[(6 * j + c) * rows + 6 * i + r] = out[(6 * i + r) * rows + 6 * j + c] = element(r, c);
    }
  }
}

}  // namespace

template <class T>
void BasicDynamics<T>::operational_space_inverse(std::span<const Node> nodes, std::span<T> out) {
  State& s = *state_;
  const std::size_t rows = 6 * nodes.size();
  check_size(out.size(), static_cast<std::ptrdiff_t>(rows * rows), "Λ⁻¹");
  check_nodes(s.model, nodes);
  s.blocks.need_positions();
  if (s.has_mimics()) {
    s.operational_space_by_factor(nodes, out);
    return;
  }
  s.blocks.need_articulated();
  kernels::sweep_upsilon(s.blocks, s.upsilon);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      int c = nodes[i].body;  // the closest common ancestor: parents have smaller indices
      for (int other = nodes[j].body; c != other;) {
        (c > other ? c : other) = s.blocks.parent(std::max(c, other));
      }
      if (c == world) {  // nothing common moves
        set_blocks(out, rows, i, j, [](std::size_t, std::size_t) { return T(0); });
        continue;
      }
      // Ω(i,j) = ψ*(c,i)Υ(c)ψ(c,j), between B*(i) and B(j) (RJK89 A.5 corrected)
      const auto psi = [&](const Node& node) {
        return kernels::psi_times(s.blocks, c, node.body, kernels::unit_forces(kernels::cast<T>(node.X_BN)));
      };
      const kernels::SixForces<T> left = psi(nodes[i]);
      const kernels::SixForces<T> right = psi(nodes[j]);
      std::array<Motion<T>, 6> moved{};
      for (std::size_t b = 0; b < 6; ++b) {
        moved[b] = kernels::motion_of(s.upsilon[static_cast<std::size_t>(c)], right[b]);
      }
      set_blocks(out, rows, i, j, [&](std::size_t a, std::size_t b) { return dot(left[a], moved[b]); });
    }
  }
}

/// Column by column: x = 𝓜⁻¹J*e, then J x.
template <class T>
void BasicDynamics<T>::State::operational_space_by_factor(std::span<const Node> nodes, std::span<T> out) {
  need_factor();
  const std::size_t rows = 6 * nodes.size();
  Eigen::Map<Vector> x(unit.data(), nv());
  for (std::size_t c = 0; c < rows; ++c) {
    jacobian_row<T>(blocks, coordinates, nodes, c, unit);
    kernels::solve_factored(factor, x.data());
    for (std::size_t i = c / 6; i < nodes.size(); ++i) {
      Motion<T> seen = Motion<T>::zero();
      for_each_column(blocks, nodes[i], [&](std::size_t j, const Motion<T>& column) {
        const kernels::Follower<T>& follower = coordinates.velocities[j];
        seen += column * (follower.ratio * unit[static_cast<std::size_t>(follower.own)]);
      });
      for (std::size_t r = 0; r < 6; ++r) {
        out[c * rows + 6 * i + r] = out[(6 * i + r) * rows + c] = seen[static_cast<int>(r)];
      }
    }
  }
}

/// In place by the sweep operator of statistics: a sweep at pivot p takes A to A_ij − A_ip A_pj / A_pp, A_ip / A_pp and
/// −1 / A_pp; after all sweeps, in whatever order, −A⁻¹ is there. The order is that of Cholesky with diagonal pivots,
/// each relative to what it was at first, so that the rank does not depend on units.
template <class T>
void BasicDynamics<T>::operational_space_inertia(std::span<const Node> nodes, std::span<T> out) {
  State& s = *state_;
  operational_space_inverse(nodes, out);
  const std::size_t n = 6 * nodes.size();
  if (n > s.unit.size()) {
    throw rank_loss(nodes.size(), s.nv(), true);
  }
  const std::span<T> whole = std::span<T>(s.unit).first(n);    // A_ii at first, or −1 once swept
  const std::span<T> left = std::span<T>(s.torques).first(n);  // A_ii now
  for (std::size_t i = 0; i < n; ++i) {
    whole[i] = out[i * n + i];
  }
  Eigen::Map<typename State::Matrix> A(out.data(), static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  for (std::size_t rank = 0; rank < n; ++rank) {
    for (std::size_t i = 0; i < n; ++i) {
      left[i] = out[i * n + i];
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
void BasicDynamics<T>::dynamically_consistent_inverse(std::span<const Node> nodes, std::span<T> out) {
  State& s = *state_;
  const std::size_t m = 6 * nodes.size();
  check_size(out.size(), s.nv() * static_cast<std::ptrdiff_t>(m), "J̄");
  check_nodes(s.model, nodes);
  if (m > s.unit.size()) {
    throw rank_loss(nodes.size(), s.nv(), true);
  }
  s.blocks.need_positions();
  Eigen::Map<typename State::Matrix> X(out.data(), s.nv(), static_cast<Eigen::Index>(m));
  const std::span<T> row = std::span<T>(s.full).first(s.unit.size());
  const Eigen::Map<const typename State::Vector> Jp(row.data(), s.nv());
  const std::span<T> whole = std::span<T>(s.unit).first(m);    // (JX)_ii at first, or −1 once it is 1
  const std::span<T> left = std::span<T>(s.torques).first(m);  // (JX)_ii now
  for (std::size_t i = 0; i < m; ++i) {
    const std::span<T> column = out.subspan(i * s.unit.size(), s.unit.size());
    jacobian_row<T>(s.blocks, s.coordinates, nodes, i, row);
    solve(row, column);
    whole[i] = left[i] = Jp.dot(X.col(static_cast<Eigen::Index>(i)));
  }
  for (std::size_t rank = 0; rank < m; ++rank) {
    const int p = next_pivot<T>(whole, left);
    if (p < 0) {
      throw rank_loss(nodes.size(), static_cast<int>(rank), false);
    }
    whole[static_cast<std::size_t>(p)] = T(-1);
    jacobian_row<T>(s.blocks, s.coordinates, nodes, static_cast<std::size_t>(p), row);
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

/// Inward: z(k) = Σ ψ(k,j)z(j) + the forces on body k, ν(k) = D⁻¹(k)H(k)z(k). Outward: λ(k) = ψ*(p,k)λ(p) + H*(k)ν(k),
/// Δθ̈(k) = ν(k) − K*(p,k)λ(p) (RJK91 18).
template <class T>
void BasicDynamics<T>::force_correction(Forces forces, std::span<T> out) {
  State& s = *state_;
  check_size(out.size(), s.nv(), "out");
  s.check_forces(forces);
  std::fill(out.begin(), out.end(), T(0));
  if (s.has_mimics()) {
    s.need_factor();
    s.subtract_applied(forces, out);
    Eigen::Map<typename State::Vector> x(out.data(), s.nv());
    kernels::solve_factored(s.factor, x.data());
    x = -x;
    return;
  }
  s.blocks.need_world();
  s.blocks.need_articulated();
  std::fill(s.force.begin(), s.force.end(), Force<T>::zero());
  for (const AppliedForce<T>& applied : forces) {
    if (applied.body != world) {
      s.force[static_cast<std::size_t>(applied.body)] += s.at_body(applied);
    }
  }
  for (int k = s.blocks.size() - 1; k >= 0; --k) {
    const Force<T>& z = s.force[static_cast<std::size_t>(k)];
    const auto v = kernels::d_inverse_times(s.blocks, k, kernels::h_times(s.blocks, k, z));
    kernels::set_hinge_part(s.blocks, k, v, out.data());
    if (const int p = s.blocks.parent(k); p != world) {
      s.force[static_cast<std::size_t>(p)] += kernels::psi_times(s.blocks, k, z);
    }
  }
  for (int k = 0; k < s.blocks.size(); ++k) {
    const int p = s.blocks.parent(k);
    const Motion<T> inner = p == world ? Motion<T>::zero() : s.motion[static_cast<std::size_t>(p)];
    const auto v = kernels::hinge_part<T>(s.blocks, k, out.data());
    s.motion[static_cast<std::size_t>(k)] =
        kernels::psi_adjoint_times(s.blocks, k, inner) + kernels::h_adjoint_times(s.blocks, k, v);
    kernels::set_hinge_part(s.blocks, k, v - kernels::shifted_gain_adjoint_times(s.blocks, k, inner), out.data());
  }
}

template void BasicDynamics<double>::State::operational_space_by_factor(std::span<const Node>, std::span<double>);
template void BasicDynamics<double>::operational_space_inverse(std::span<const Node>, std::span<double>);
template void BasicDynamics<double>::operational_space_inertia(std::span<const Node>, std::span<double>);
template void BasicDynamics<double>::dynamically_consistent_inverse(std::span<const Node>, std::span<double>);
template void BasicDynamics<double>::force_correction(Forces, std::span<double>);
template void BasicDynamics<float>::State::operational_space_by_factor(std::span<const Node>, std::span<float>);
template void BasicDynamics<float>::operational_space_inverse(std::span<const Node>, std::span<float>);
template void BasicDynamics<float>::operational_space_inertia(std::span<const Node>, std::span<float>);
template void BasicDynamics<float>::dynamically_consistent_inverse(std::span<const Node>, std::span<float>);
template void BasicDynamics<float>::force_correction(Forces, std::span<float>);

}  // namespace bunraku
