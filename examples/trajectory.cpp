// Brings an arm's tip to a place, at rest, with little torque: a trajectory optimised by Newton's method along its time
// (differential dynamic programming), with exact first and second derivatives. `trajectory FILE` writes it as a table.
#include <fstream>
#include <iostream>

#include <Eigen/Dense>
#include <bunraku/bunraku.hpp>

namespace bk = bunraku;
using Eigen::MatrixXd, Eigen::VectorXd;

constexpr int n = 3, steps = 100;
constexpr double h = 0.01;  // s

struct Way {  // states (q over v) and torques, and what they cost: ½h(|T − hold|² + |v|²) a step, the rest at the end
  std::vector<VectorXd> x = std::vector<VectorXd>(steps + 1, VectorXd::Zero(2 * n)), torque{steps, VectorXd::Zero(n)};
  double cost = 0;
};

int main(int argc, char** argv) {
  const bk::Model arm = bk::load("models/arm.urdf");
  bk::State state(arm);
  const auto miss = [&](const VectorXd& x) -> Eigen::Vector3d {
    state.set(x.head(n));
    return bk::to_eigen(bk::pose(state, "tip")).topRightCorner<3, 1>() - Eigen::Vector3d(0.2, 0, 0.5);
  };
  const VectorXd start = (VectorXd(2 * n) << 0.4, 0.8, 0.3, 0, 0, 0).finished();
  state.set(start.head(n));
  const VectorXd hold = bk::inverse_dynamics(state, VectorXd::Zero(n));

  std::vector<VectorXd> k(steps, VectorXd::Zero(n));
  std::vector<MatrixXd> K(steps, MatrixXd::Zero(n, 2 * n));
  const auto roll = [&](const Way& old, double part) {  // torques T + part k + K dx, by semi-implicit Euler steps
    Way way;
    way.x[0] = start;
    for (int i = 0; i < steps; ++i) {
      way.torque[i] = old.torque[i] + part * k[i] + K[i] * (way.x[i] - old.x[i]);
      state.set(way.x[i].head(n), way.x[i].tail(n));
      const VectorXd v = way.x[i].tail(n) + h * bk::forward_dynamics(state, way.torque[i]);
      way.x[i + 1] << way.x[i].head(n) + h * v, v;
      way.cost += h / 2 * ((way.torque[i] - hold).squaredNorm() + way.x[i].tail(n).squaredNorm());
    }
    way.cost += 5e4 * miss(way.x[steps]).squaredNorm() + 50 * way.x[steps].tail(n).squaredNorm();
    return way;
  };
  Way way;
  way.torque.assign(steps, hold);
  way.x.assign(steps + 1, start);
  way = roll(way, 0);
  double slope = 1;  // of the cost along k: zero at the optimum
  int rounds = 0;
  for (; rounds < 20 && slope > 1e-12; ++rounds) {
    const bool newton = rounds > 3;  // before that without second derivatives, which goes down from far away as well
    const Eigen::Vector3d missed = miss(way.x[steps]);
    const MatrixXd J = bk::jacobian(state, "tip", bk::Frame::aligned).bottomRows(3);
    const MatrixXd Jq = bk::jacobian_dq(state, "tip", bk::Frame::aligned).bottomRows(3);
    MatrixXd S = 1e2 * MatrixXd::Identity(2 * n, 2 * n);  // the cost to go is s·dx + ½ dx·S dx
    S.topLeftCorner(n, n) = 1e5 * J.transpose() * J;
    for (int i = 0; newton && i < n; ++i) {
      S.col(i).head(n) += 1e5 * Jq.middleCols(i * n, n).transpose() * missed;
    }
    VectorXd s = (VectorXd(2 * n) << 1e5 * J.transpose() * missed, 1e2 * way.x[steps].tail(n)).finished();
    slope = 0;
    for (int i = steps - 1; i >= 0; --i) {
      state.set(way.x[i].head(n), way.x[i].tail(n));
      const auto first = bk::forward_dynamics_derivatives(state, way.torque[i]);
      MatrixXd A = MatrixXd::Identity(2 * n, 2 * n);
      A.bottomRows(n) += h * (MatrixXd(n, 2 * n) << first.dq, first.dv).finished();
      A.topRows(n) += h * A.bottomRows(n);
      const MatrixXd B = (MatrixXd(2 * n, n) << h * h * first.dtau, h * first.dtau).finished();
      MatrixXd Qxx = A.transpose() * S * A, Qux = B.transpose() * S * A;
      if (newton) {
        const auto second =
            bk::forward_dynamics_second(state, way.torque[i], VectorXd(h * (h * s.head(n) + s.tail(n))));
        Qxx += (MatrixXd(2 * n, 2 * n) << second.qq, second.qv, second.qv.transpose(), second.vv).finished();
        Qux.leftCols(n) += second.qtau.transpose();
      }
      const VectorXd Qu = h * (way.torque[i] - hold) + B.transpose() * s;
      const Eigen::LDLT<MatrixXd> Quu(MatrixXd(h * MatrixXd::Identity(n, n) + B.transpose() * S * B));
      k[i] = -Quu.solve(Qu);
      K[i] = -Quu.solve(Qux);
      s = VectorXd(A.transpose() * s + Qux.transpose() * k[i]);
      S = Qxx + Qux.transpose() * K[i];
      s.tail(n) += h * way.x[i].tail(n);
      S.bottomRightCorner(n, n) += h * MatrixXd::Identity(n, n);
      slope -= Qu.dot(k[i]);
    }
    Way next = roll(way, 1);
    for (double part = 0.5; !(next.cost < way.cost) && part > 1e-6; part /= 2) {
      next = roll(way, part);
    }
    if (next.cost <= way.cost) {
      way = next;
    }
    std::cout << (newton ? "Newton        " : "Gauss, Newton ") << rounds << "  cost " << way.cost << "  yet to gain "
              << slope / 2 << "\n";
  }
  std::ofstream table(argc > 1 ? argv[1] : "/dev/null");
  table << "time,shoulder,elbow,wrist,distance\n";
  const Eigen::IOFormat row(Eigen::StreamPrecision, Eigen::DontAlignCols, ",", ",");
  for (int i = 0; i < steps; ++i) {
    table << i * h << ',' << way.torque[i].format(row) << ',' << miss(way.x[i]).norm() << '\n';
  }
  std::cout << "misses by " << 1e3 * miss(way.x[steps]).norm() << " mm\n";
  return slope < 1e-12 && rounds < 12 ? 0 : 1;
}
