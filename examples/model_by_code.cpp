// A model without a file: a pendulum of rods, whose slowest small motion is compared with the known one of a hanging
// chain, and which is then written as URDF and read again.
#include <bunraku/bunraku.hpp>

#include <Eigen/Dense>
#include <iostream>
#include <numbers>

namespace bk = bunraku;

// `count` uniform rods, one below the other, of 1 m and 1 kg in all.
bk::Model hanging_chain(int count) {
  bk::ModelBuilder builder("chain");
  const double length = 1.0 / count;
  const double mass = 1.0 / count;
  const double about_center = mass * length * length / 12;
  for (int i = 0; i < count; ++i) {
    bk::BodySpec rod;
    rod.name = "rod" + std::to_string(i);
    rod.parent = i == 0 ? "world" : "rod" + std::to_string(i - 1);
    rod.hinge.type = bk::HingeType::revolute;
    rod.hinge.axis = {0, 1, 0};
    rod.X_PF = bk::Transform<double>::translate({0, 0, i == 0 ? 0 : -length});
    rod.inertia = bk::RigidInertia<double>::about_center(mass, {0, 0, -length / 2}, {about_center, about_center, 0});
    builder.add(rod);
  }
  return builder.build();  // throws bk::ModelError with everything that is wrong
}

int main() {
  const bk::Model chain = hanging_chain(100);
  bk::State state(chain);

  // 𝓜 q'' = −S q for small q, with S the derivative of the gravity torques: columns by central differences.
  const int n = chain.nv();
  const double h = 1e-4;
  Eigen::MatrixXd S(n, n);
  for (int i = 0; i < n; ++i) {
    state.set(h * Eigen::VectorXd::Unit(n, i));
    S.col(i) = bk::gravity_torques(state) / h;  // odd in q: one side is as good as two
  }
  state.set(bk::neutral(chain));
  const Eigen::MatrixXd symmetric = (S + S.transpose()) / 2;
  const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> modes(symmetric, bk::mass_matrix(state));
  const double slowest = std::sqrt(modes.eigenvalues()[0]);

  // A hanging chain swings with ω = (j/2) √(g/l), j = 2.404825557695773 the first zero of Bessel's J₀.
  const double known = 2.404825557695773 / 2 * std::sqrt(9.81);
  std::cout << "period " << 2 * std::numbers::pi / slowest << " s, of a chain " << 2 * std::numbers::pi / known << " s\n";

  const bk::Model again = bk::load_text(bk::to_urdf(chain), "chain");
  return std::abs(slowest / known - 1) < 1e-4 && again.nv() == n ? 0 : 1;
}
