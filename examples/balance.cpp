// Balances an arm of two links upright with a motor at its elbow alone: the regulator that costs least, from the exact
// linear system about the equilibrium, holds the whole nonlinear arm. `balance FILE` writes the motion as a table.
#include <fstream>
#include <iostream>

#include <Eigen/Dense>
#include <bunraku/bunraku.hpp>

namespace bk = bunraku;

// K of u = −Kx, the least of ∫ x'Qx + ru² dt for ẋ = Ax + bu: from the stable half of the Hamiltonian's eigenvectors.
Eigen::RowVectorXd regulator(const Eigen::MatrixXd& A, const Eigen::VectorXd& b, const Eigen::MatrixXd& Q, double r) {
  const Eigen::Index m = A.rows();
  Eigen::MatrixXd hamiltonian(2 * m, 2 * m);
  hamiltonian << A, -b * b.transpose() / r, -Q, -A.transpose();
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(hamiltonian);
  Eigen::MatrixXcd stable(2 * m, m);
  for (Eigen::Index i = 0, c = 0; i < 2 * m; ++i) {
    if (solver.eigenvalues()[i].real() < 0 && c < m) {
      stable.col(c++) = solver.eigenvectors().col(i);
    }
  }
  const Eigen::MatrixXcd P = stable.bottomRows(m) * stable.topRows(m).inverse();
  return b.transpose() * P.real() / r;
}

int main(int argc, char** argv) {
  bk::ModelBuilder builder("acrobot");
  for (int i = 0; i < 2; ++i) {  // rods of 1 m and 1 kg
    bk::BodySpec rod{.name = i == 0 ? "upper" : "lower", .parent = i == 0 ? "world" : "upper"};
    rod.hinge = {.type = bk::HingeType::revolute, .axis = {0, 1, 0}};
    rod.X_PF = bk::Transform<double>::translate({0, 0, double(i)});
    rod.inertia = bk::RigidInertia<double>::about_center(1, {0, 0, 0.5}, {1.0 / 12, 1.0 / 12, 0});
    builder.add(rod);
  }
  const bk::Model arm = builder.build();
  bk::State state(arm);  // at q = 0 both links stand on end
  const bk::Linearization<double> upright = bk::linearize(state, Eigen::Vector2d::Zero());
  const Eigen::VectorXd elbow = upright.B.col(1);
  const Eigen::RowVectorXd K = regulator(upright.A, elbow, Eigen::Vector4d(10, 10, 1, 1).asDiagonal(), 1.0);
  const Eigen::VectorXcd poles = (upright.A - elbow * K).eigenvalues();

  Eigen::VectorXd q = Eigen::Vector2d(0.05, -0.1);
  Eigen::VectorXd v = Eigen::Vector2d::Zero();
  std::ofstream table(argc > 1 ? argv[1] : "/dev/null");
  table << "time,shoulder,elbow,torque\n";
  const double dt = 1e-3;
  double largest = 0;
  for (int i = 0; i <= 8000; ++i) {
    const double torque = -K * (Eigen::VectorXd(4) << q, v).finished();
    largest = std::max(largest, std::abs(torque));
    if (i % 20 == 0) {
      table << i * dt << ',' << q[0] << ',' << q[1] << ',' << torque << '\n';
    }
    state.set(q, v);
    v += dt * bk::forward_dynamics(state, Eigen::Vector2d(0, torque));
    q = bk::integrate(arm, q, v, dt);
  }
  std::cout << "slowest pole " << poles.real().maxCoeff() << " 1/s, largest torque " << largest
            << " N m, off upright after 8 s " << q.norm() << " rad\n";
  return poles.real().maxCoeff() < 0 && q.norm() < 1e-4 ? 0 : 1;
}
