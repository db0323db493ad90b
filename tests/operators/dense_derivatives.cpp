/// The parts of dense systems that derivatives need: other states, and what is made of those by differences.
#include <algorithm>

#include "bunraku/model/configuration.hpp"
#include "operators/dense_system.hpp"
#include "support/finite_difference.hpp"

namespace bunraku::test {

const DenseSystem& DenseSystem::moved(double t, const Eigen::VectorXd& u, const Eigen::VectorXd& w) const {
  for (const Moved& each : moved_) {
    if (each.t == t && each.u == u && each.w == w) {
      return *each.there;
    }
  }
  const auto there =
      std::make_shared<DenseSystem>(blocks.model, integrate(blocks.model, q_, u, t), v_ + t * w, a_, nodes_);
  there->variables_ = variables_;
  moved_.push_back({t, u, w, there});
  return *there;
}

DenseSystem::Matrix DenseSystem::slope(const Operator& x, const Eigen::VectorXd& u, const Eigen::VectorXd& w) const {
  const double size = std::max({1.0, u.cwiseAbs().maxCoeff(), w.cwiseAbs().maxCoeff()});  // so that steps stay small
  return size * tenth_order_difference([&](double t) -> Matrix { return moved(t, u / size, w / size)(x); });
}

DenseSystem::Matrix DenseSystem::joint_rate(std::vector<Matrix> along) const {
  if (along.empty()) {
    return get(Symbol::H);
  }
  const Eigen::VectorXd last = along.back();
  along.pop_back();
  const Eigen::VectorXd still = Eigen::VectorXd::Zero(nv);
  return tenth_order_difference([&](double t) -> Matrix { return moved(t, last, still).joint_rate(along); });
}

DenseSystem::Matrix DenseSystem::carried(const Matrix& E, const Matrix& x) const {
  Matrix y = Matrix::Zero(6 * N, 6 * N);
  for (int k = 0; k < N; ++k) {
    if (const int p = blocks.body(k).parent; p != world) {
      const Matrix e = E.block(6 * p, 6 * k, 6, 6);
      y.block<6, 6>(6 * k, 6 * k) = e.transpose() * x.block<6, 6>(6 * p, 6 * p) * e;
    }
  }
  return y;
}

DenseSystem::Matrix DenseSystem::force_cross_of(const Matrix& f) const {
  Matrix out = Matrix::Zero(6 * N, 6 * N);
  for (int k = 0; k < N; ++k) {  // column by column: cross(e)* f
    for (int j = 0; j < 6; ++j) {
      Matrix unit = Matrix::Zero(6 * N, 1);
      unit(6 * k + j, 0) = 1;
      out.col(6 * k + j) = cross_of(unit).transpose() * f;
    }
  }
  return out;
}

}  // namespace bunraku::test
