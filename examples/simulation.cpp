// Lets an arm fall: a fourth-order Runge-Kutta rollout on the configuration manifold, whose energy is watched; then the
// same with dry friction, by a law that is smooth through zero: the library's own is sign(v), and never sticks.
#include <bunraku/bunraku.hpp>

#include <iostream>

namespace bk = bunraku;

struct Motion {
  Eigen::VectorXd q;
  Eigen::VectorXd v;
};

// A step of length h under torques that depend on the velocity.
template <class Torques>
Motion step(bk::State& state, const Motion& now, double h, const Torques& torques) {
  const bk::Model& model = state.model();
  const auto rate = [&](const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    state.set(q, v);
    return Eigen::VectorXd(bk::forward_dynamics(state, torques(v)));
  };
  const Eigen::VectorXd a1 = rate(now.q, now.v);
  const Eigen::VectorXd v2 = now.v + h / 2 * a1;
  const Eigen::VectorXd a2 = rate(bk::integrate(model, now.q, now.v, h / 2), v2);
  const Eigen::VectorXd v3 = now.v + h / 2 * a2;
  const Eigen::VectorXd a3 = rate(bk::integrate(model, now.q, v2, h / 2), v3);
  const Eigen::VectorXd v4 = now.v + h * a3;
  const Eigen::VectorXd a4 = rate(bk::integrate(model, now.q, v3, h), v4);
  const Eigen::VectorXd mean = (now.v + 2 * v2 + 2 * v3 + v4) / 6;
  return {bk::integrate(model, now.q, mean, h), now.v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)};
}

int main() {
  const bk::Model arm = bk::load("models/manipulator.urdf");
  bk::State state(arm, bk::PassiveForces::left_out);
  const auto energy = [&](const Motion& at) {
    state.set(at.q, at.v);
    return bk::kinetic_energy(state) + bk::potential_energy(state);
  };
  const Motion start{Eigen::VectorXd::Constant(arm.nv(), 0.4), Eigen::VectorXd::Zero(arm.nv())};

  Motion free = start;
  Motion rubbing = start;
  const auto none = [&](const Eigen::VectorXd& v) { return Eigen::VectorXd(0 * v); };
  const Eigen::ArrayXd strength = (Eigen::ArrayXd(7) << 4, 4, 1, 1, 0.1, 0.05, 0).finished();  // N·m
  const auto friction = [&](const Eigen::VectorXd& v) { return Eigen::VectorXd(-strength * (v.array() / 0.1).tanh()); };
  bool falling = true;
  for (int i = 0; i < 2000; ++i) {
    free = step(state, free, 5e-4, none);
    const double before = energy(rubbing);
    rubbing = step(state, rubbing, 5e-4, friction);
    falling = falling && energy(rubbing) < before + 1e-9;
  }
  const double drift = energy(free) - energy(start);
  std::cout << "after 1 s: energy " << energy(start) << " J, changed by " << drift << " J; with friction "
            << energy(rubbing) << " J\n";
  return std::abs(drift) < 1e-6 && falling && energy(rubbing) < energy(start) - 1 ? 0 : 1;
}
