// Moves a tool on a straight line with its orientation held, the arm's own dynamics cancelled (Khatib 1987), while the
// elbow, for which the task leaves room, is damped in the task's null space.
#include <bunraku/bunraku.hpp>

#include <Eigen/Dense>
#include <iostream>

namespace bk = bunraku;

int main() {
  const bk::Model arm = bk::load("models/manipulator.urdf");
  bk::State state(arm);
  Eigen::VectorXd q(arm.nv());
  q << 0.2, 0.5, 0.1, 1.2, -0.3, 0.9, 0.4;
  Eigen::VectorXd v = Eigen::VectorXd::Zero(arm.nv());
  state.set(q, v);
  const Eigen::Matrix4d start = bk::to_eigen(bk::pose(state, "tool"));
  const Eigen::Vector3d way(0.05, 0.10, -0.08);  // in the world's axes, metres

  const double dt = 1e-3;
  const double duration = 1;
  double largest = 0;
  for (int i = 0; i < 2000; ++i) {
    // Where the tool should be: s goes from 0 to 1 with s' = s'' = 0 at both ends, then stays.
    const double t = std::min(i * dt / duration, 1.0);
    const double s = t * t * t * (10 - 15 * t + 6 * t * t);
    const double rate = 30 * t * t * (1 - t) * (1 - t) / duration;
    const double rate2 = 60 * t * (1 - t) * (1 - 2 * t) / (duration * duration);

    state.set(q, v);
    const Eigen::Matrix4d now = bk::to_eigen(bk::pose(state, "tool"));
    const Eigen::Matrix3d R = now.topLeftCorner<3, 3>();
    const Eigen::AngleAxisd turn(Eigen::Matrix3d(R.transpose() * start.topLeftCorner<3, 3>()));
    const Eigen::Vector3d lag = start.topRightCorner<3, 1>() + s * way - now.topRightCorner<3, 1>();
    largest = std::max({largest, lag.norm(), turn.angle()});

    // The task's acceleration in the tool's axes: what is wanted, and springs and dampers for what is not yet there.
    const bk::Motion<double> V = bk::velocity(state, "tool", bk::Frame::aligned);
    Eigen::VectorXd wanted(6);
    wanted << R * (400 * turn.angle() * turn.axis()) - 40 * bk::to_eigen(V.angular),
        rate2 * way + 40 * (rate * way - bk::to_eigen(V.linear)) + 400 * lag;
    const Eigen::MatrixXd J = bk::jacobian(state, "tool", bk::Frame::aligned);
    const Eigen::MatrixXd turned = (Eigen::MatrixXd(6, 6) << R, R * 0, R * 0, R).finished();  // from the node's axes
    const Eigen::MatrixXd inertia = turned * bk::lambda(state, {"tool"}) * turned.transpose();
    const Eigen::VectorXd force = inertia * (wanted - bk::to_eigen(bk::jacobian_bias(state, "tool", bk::Frame::aligned)));
    const Eigen::MatrixXd consistent = bk::inverse_mass_times(state, J.transpose()) * inertia;  // J̄
    const Eigen::VectorXd rest = -5 * v;
    const Eigen::VectorXd torque = J.transpose() * force + rest - J.transpose() * (consistent.transpose() * rest) +
                                   bk::bias(state) - bk::passive_torques(state);

    v += dt * bk::forward_dynamics(state, torque);
    q = bk::integrate(arm, q, v, dt);
  }
  std::cout << "largest deviation " << 1e3 * largest << " mm or mrad, speed in the end " << v.norm() << " rad/s\n";
  return largest < 1e-4 && v.norm() < 1e-6 ? 0 : 1;
}
