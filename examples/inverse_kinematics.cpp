// Finds a configuration in which the tool is where it should be, by damped least squares.
#include <bunraku/bunraku.hpp>

#include <Eigen/Dense>
#include <iostream>

namespace bk = bunraku;

// The twist, in the tool's axes, that leads from its pose to the one wanted: zero where they agree.
Eigen::VectorXd error(const bk::Transform<double>& pose, const bk::Transform<double>& wanted) {
  const Eigen::Matrix4d difference = bk::to_eigen(pose).inverse() * bk::to_eigen(wanted);
  const Eigen::AngleAxisd turn(Eigen::Matrix3d(difference.topLeftCorner<3, 3>()));
  Eigen::VectorXd twist(6);
  twist << turn.angle() * turn.axis(), difference.topRightCorner<3, 1>();
  return twist;
}

int main() {
  const bk::Model arm = bk::load("models/manipulator.urdf");
  bk::State state(arm);

  // Where the tool is at some configuration is surely within reach.
  state.set(bk::random_configuration(arm, 7));
  const bk::Transform<double> wanted = bk::pose(state, "tool");

  Eigen::VectorXd q = Eigen::VectorXd::Constant(arm.nv(), 0.3);
  double left = 1;
  int steps = 0;
  for (; left > 1e-10 && steps < 200; ++steps) {
    state.set(q);
    const Eigen::VectorXd twist = error(bk::pose(state, "tool"), wanted);
    const Eigen::MatrixXd J = bk::jacobian(state, "tool", bk::Frame::node);
    left = twist.norm();
    // The damping lets steps stay small near singular configurations, and vanishes with the error.
    const Eigen::MatrixXd damped = J * J.transpose() + 0.01 * left * Eigen::MatrixXd::Identity(6, 6);
    const Eigen::VectorXd step = J.transpose() * damped.ldlt().solve(twist);
    q = bk::integrate(arm, q, step, std::min(1.0, 0.5 / step.norm()));
  }
  std::cout << "after " << steps << " steps the tool is " << left << " away, at q = " << q.transpose() << '\n';
  return left <= 1e-10 ? 0 : 1;
}
