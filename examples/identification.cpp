// Finds what an arm holds from its torques: inverse dynamics is linear in the ten inertial parameters of each body,
// T = Yπ, so that those of the last link follow by least squares.
#include <bunraku/bunraku.hpp>

#include <Eigen/Dense>
#include <cmath>
#include <iostream>

namespace bk = bunraku;

int main() {
  const bk::Model arm = bk::load("models/manipulator.urdf");
  const int hand = arm.body_index("link7");

  // The real arm: 1.5 kg in its hand, 10 cm ahead, of which the model does not know.
  const bk::RigidInertia<double> payload =
      bk::RigidInertia<double>::about_center(1.5, {0.02, 0, 0.1}, {0.004, 0.004, 0.002});
  const bk::ModelBuilder parts = bk::edit(arm);
  bk::ModelBuilder builder("real");
  for (bk::BodySpec body : parts.bodies()) {
    if (body.name == "link7") {
      body.inertia += payload;
    }
    builder.add(body);
  }
  const bk::Model real = builder.build();

  // Measured: torques along a motion that shakes all hinges, with a little noise.
  bk::State known(arm, bk::PassiveForces::left_out);
  bk::State measured(real, bk::PassiveForces::left_out);
  const int samples = 400;
  Eigen::MatrixXd Y(samples * arm.nv(), 10);  // the columns of the last link's parameters
  Eigen::VectorXd surplus(samples * arm.nv());
  for (int i = 0; i < samples; ++i) {
    Eigen::VectorXd q(arm.nv()), v(arm.nv()), a(arm.nv());
    for (int k = 0; k < arm.nv(); ++k) {
      const double w = 1 + 0.7 * k;
      const double t = 0.02 * i + k;
      q[k] = std::sin(w * t), v[k] = w * std::cos(w * t), a[k] = -w * w * std::sin(w * t);
    }
    known.set(q, v);
    measured.set(q, v);
    const Eigen::VectorXd noise = 1e-3 * Eigen::VectorXd::Random(arm.nv());
    const Eigen::VectorXd torque = bk::inverse_dynamics(measured, a) + noise;
    surplus.segment(i * arm.nv(), arm.nv()) = torque - bk::inverse_dynamics(known, a);
    Y.middleRows(i * arm.nv(), arm.nv()) = bk::regressor(known, a).middleCols(10 * hand, 10);
  }

  const Eigen::VectorXd found = Y.colPivHouseholderQr().solve(surplus);
  const Eigen::Vector3d center = found.segment(1, 3) / found[0];
  std::cout << "mass " << found[0] << " kg at " << center.transpose() << " m, inertia xx " << found[4] << " kg·m²\n";
  const bool mass = std::abs(found[0] - payload.mass) < 1e-3;
  return mass && (center - bk::to_eigen(payload.center())).norm() < 1e-3 ? 0 : 1;
}
