// A humanoid on two feet, knees bent: which torques hold it, and what the ground must give to each foot.
#include <bunraku/bunraku.hpp>

#include <Eigen/Dense>
#include <iostream>
#include <vector>

namespace bk = bunraku;

int main() {
  const bk::Model humanoid = bk::load("models/humanoid.urdf", {.free_base = true});
  bk::State state(humanoid);

  Eigen::VectorXd q = bk::neutral(humanoid);  // the pelvis first: (w, x, y, z, px, py, pz)
  for (const char* side : {"left_", "right_"}) {
    const auto bend = [&](const char* hinge, double angle) {
      q[humanoid.body(humanoid.hinge_index(std::string(side) + hinge)).q_index] = angle;
    };
    bend("hip_pitch", -0.5);
    bend("knee", 1.0);
    bend("ankle_pitch", -0.5);
    bend("elbow", -0.8);
  }
  state.set(q);

  // Six numbers a foot, moment over force, at the soles and in the world's axes. The hinges of the free base have no
  // motor: their rows of  gravity = torques + J* forces  say what the ground must give. Two feet can do that in many
  // ways; this is the one of least norm.
  const std::vector<const char*> soles = {"left_sole", "right_sole"};
  Eigen::MatrixXd J(12, humanoid.nv());
  J << bk::jacobian(state, soles[0], bk::Frame::aligned), bk::jacobian(state, soles[1], bk::Frame::aligned);
  const Eigen::VectorXd gravity = bk::gravity_torques(state);
  const Eigen::MatrixXd base = J.leftCols(6).transpose();
  const Eigen::VectorXd ground = base.completeOrthogonalDecomposition().solve(gravity.head(6));
  const Eigen::VectorXd torque = gravity - J.transpose() * ground;

  std::vector<bk::AppliedForce<double>> forces;
  for (int foot = 0; foot < 2; ++foot) {
    const Eigen::VectorXd f = ground.segment(6 * foot, 6);
    std::cout << soles[foot] << ": " << f[5] << " N up, centre of pressure " << -f[1] / f[5] << " m ahead, "
              << f[0] / f[5] << " m to the left\n";
    if (std::abs(f[1] / f[5]) > 0.1 || std::abs(f[0] / f[5]) > 0.05) {
      std::cout << "the foot would tip\n";
      return 1;
    }
    forces.emplace_back(humanoid, soles[foot], bk::force_from_eigen(f), bk::Frame::aligned);
  }
  std::cout << "left knee: " << torque[humanoid.body(humanoid.hinge_index("left_knee")).v_index] << " N·m\n";

  // The ground carries the weight, the base is not driven, and nothing moves.
  const double weight = -humanoid.mass() * humanoid.gravity().z;
  const bool carried = std::abs(ground[5] + ground[11] - weight) < 1e-9 && torque.head(6).norm() < 1e-9;
  return carried && bk::forward_dynamics(state, torque, forces).norm() < 1e-9 ? 0 : 1;
}
