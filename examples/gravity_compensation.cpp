// Holds an arm still against gravity, also with something in its hand.
#include <bunraku/bunraku.hpp>

#include <iostream>

namespace bk = bunraku;

int main() {
  const bk::Model arm = bk::load("models/manipulator.urdf");
  bk::State state(arm);
  Eigen::VectorXd q(arm.nv());
  q << 0.3, 0.6, -0.2, 1.1, 0.4, -0.7, 0.2;
  state.set(q);  // at rest

  const Eigen::VectorXd torque = bk::gravity_torques(state);
  std::cout << "torques that hold the arm:   " << torque.transpose() << '\n';

  // 2 kg in the hand: a force at the node `tool`, along the world's axes, which the hinges must hold as well.
  const bk::Vec3<double> weight = 2.0 * arm.gravity();
  const bk::AppliedForce<double> load(arm, "tool", {bk::Vec3<double>::zero(), weight}, bk::Frame::aligned);
  const Eigen::VectorXd at_rest = Eigen::VectorXd::Zero(arm.nv());
  const Eigen::VectorXd loaded = bk::inverse_dynamics(state, at_rest, {&load, 1});
  std::cout << "with 2 kg in the hand:       " << loaded.transpose() << '\n';

  // The difference is J*f, and under these torques nothing moves.
  const Eigen::MatrixXd J = bk::jacobian(state, "tool", bk::Frame::aligned, bk::Rows::linear);
  const Eigen::VectorXd expected = torque - J.transpose() * bk::to_eigen(weight);
  const double alone = bk::forward_dynamics(state, torque).norm();
  const double carrying = bk::forward_dynamics(state, loaded, {&load, 1}).norm();
  std::cout << "accelerations that are left: " << alone << ", " << carrying << '\n';
  return (loaded - expected).norm() < 1e-10 && alone < 1e-10 && carrying < 1e-10 ? 0 : 1;
}
