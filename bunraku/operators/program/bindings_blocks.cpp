// The blocks of R, Υ, and of D and K where hinges are coupled.

#include <algorithm>
#include <array>
#include <map>

#include <Eigen/Dense>

#include "bunraku/dynamics/detail/block_sweeps.hpp"
#include "bunraku/kernels/singular.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/bindings.hpp"

namespace bunraku::operators {

void Bindings::need(Symbol symbol) {
  check(symbol);
  std::uint64_t& fresh = fresh_[symbol];
  if (fresh == version_) {
    return;
  }
  switch (symbol) {
    case Symbol::R:
      blocks_.need_positions();
      kernels::sweep_composites(blocks_, R_);
      break;
    case Symbol::P:
    case Symbol::G:
    case Symbol::tau:
    case Symbol::taub:
      blocks_.need_articulated();
      break;
    case Symbol::D:
    case Symbol::K:
    case Symbol::E_psi:
    case Symbol::psi:
    case Symbol::psit:
    case Symbol::Omega:
      if (!coupled()) {
        blocks_.need_articulated();
      } else if (fresh_[Symbol::D] != version_) {
        sweep_clusters();
        fresh_[Symbol::D] = version_;
      }
      break;
    case Symbol::Upsilon:
      blocks_.need_articulated();
      kernels::sweep_upsilon(blocks_, upsilon_);
      break;
    case Symbol::V:
    case Symbol::alpha:
    case Symbol::a:
    case Symbol::b:
    case Symbol::f:
    case Symbol::T:
    case Symbol::thetad:
    case Symbol::thetadd:
    case Symbol::T_p:
      fill_vector(symbol);
      break;
    default:
      blocks_.need_positions();
      break;
  }
  fresh_[symbol] = version_;
}

/// The Riccati recursion with each cluster as one body: with E_φ split into what stays within clusters and what leaves
/// them, φ = φ_b (I − E_out φ_b)⁻¹ where φ_b = (I − E_in)⁻¹, so that Hφ = H̄φ̄ with H̄ = Hφ_b and Ē = E_out φ_b. Then
/// D = H̄PH̄* + 𝒜, K = ĒPH̄*D⁻¹ and P(p) += ĒPĒ* − KDK*, and (I + HφK)D(I + HφK)* = HφMφ*H* + 𝒜 as ever.
void Bindings::sweep_clusters() {
  blocks_.need_positions();
  const std::size_t count = clusters_.size();
  D_.resize(count);
  D_inverse_.resize(count);
  K_.resize(count);
  std::vector<ArticulatedInertia<double>> P;
  P.reserve(at(blocks_.size()));
  for (int k = 0; k < blocks_.size(); ++k) {
    P.push_back(ArticulatedInertia<double>::from_rigid(blocks_.M(k)));
  }
  std::vector<Motion<double>> motion(at(blocks_.size()));
  std::vector<Force<double>> force(at(blocks_.size()));
  for (std::size_t c = count; c-- > 0;) {
    const Cluster& cluster = clusters_[c];
    const auto n = static_cast<Eigen::Index>(cluster.coordinates.size());
    Matrix D = Matrix::Zero(n, n);
    Matrix U = Matrix::Zero(6, n);  // ĒPH̄*
    std::map<int, Eigen::Index> column_of;
    for (Eigen::Index j = 0; j < n; ++j) {
      column_of[cluster.coordinates[static_cast<std::size_t>(j)]] = j;
    }
    const auto inside = [&](int k) { return std::binary_search(cluster.members.begin(), cluster.members.end(), k); };
    for (Eigen::Index j = 0; j < n; ++j) {
      for (const int k : cluster.members) {  // φ_b*H* of one velocity
        const int p = blocks_.parent(k);
        motion[at(k)] = inside(p) ? inverse_times(blocks_.X_PB(k), motion[at(p)]) : Motion<double>::zero();
        for (int i = blocks_.first(k); i < blocks_.first(k) + blocks_.nv(k); ++i) {
          if (column_of.at(follower(i).own) == j) {
            motion[at(k)] += blocks_.H(i) * follower(i).ratio;
          }
        }
        force[at(k)] = P[at(k)] * motion[at(k)];
      }
      for (std::size_t m = cluster.members.size(); m-- > 0;) {
        const int k = cluster.members[m];
        for (int i = blocks_.first(k); i < blocks_.first(k) + blocks_.nv(k); ++i) {
          D(column_of.at(follower(i).own), j) += follower(i).ratio * dot(blocks_.H(i), force[at(k)]);
        }
        const Force<double> moved = blocks_.X_PB(k) * force[at(k)];
        if (inside(blocks_.parent(k))) {
          force[at(blocks_.parent(k))] += moved;
        } else {
          for (int i = 0; i < 6; ++i) {
            U(i, j) += moved[i];
          }
        }
      }
      D(j, j) += armature(cluster.coordinates[static_cast<std::size_t>(j)]);
    }
    const Eigen::LDLT<Matrix> factor(D);
    const auto pivots = factor.vectorD();
    if (n > 0 && pivots.minCoeff() <= kernels::vanishing_beside_others<double> * D.diagonal().maxCoeff()) {
      for (const int k : cluster.members) {
        if (blocks_.nv(k) > 0) {
          throw kernels::massless(model_.bodies()[at(k)].hinge, "is coupled to others and ");
        }
      }
    }
    D_[c] = D;
    D_inverse_[c] = factor.solve(Matrix::Identity(n, n));
    K_[c] = U * D_inverse_[c];
    if (cluster.parent == world) {
      continue;
    }
    for (std::size_t m = cluster.members.size(); m-- > 0;) {
      const int k = cluster.members[m];
      P[at(blocks_.parent(k))] += blocks_.X_PB(k) * P[at(k)];
    }
    const Matrix taken = K_[c] * U.transpose();
    const auto block = [&](int i, int j) {
      const auto m = taken.block(i, j, 3, 3);
      return Mat3<double>::from_columns({m(0, 0), m(1, 0), m(2, 0)}, {m(0, 1), m(1, 1), m(2, 1)},
                                        {m(0, 2), m(1, 2), m(2, 2)});
    };
    P[at(cluster.parent)] -= ArticulatedInertia<double>{Sym3<double>::symmetric_part(block(0, 0)), block(0, 3),
                                                        Sym3<double>::symmetric_part(block(3, 3))};
  }
}

}  // namespace bunraku::operators
