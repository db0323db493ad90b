#include <string>

#include <fmt/format.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "commands.hpp"
#include "demo_model.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

std::string poses_text(const Kinematics& kinematics) {
  std::string out = fmt::format("{:<18}{:>9}{:>9}{:>9}{:>12}{:>9}{:>9}\n", "", "x", "y", "z", "roll", "pitch", "yaw");
  for (int i = 0; i < static_cast<int>(kinematics.model().bodies().size()); ++i) {
    const Transform<double>& x = kinematics.pose(i);
    const Vec3<double> rpy = x.rotation.rpy();
    out += fmt::format("{:<18}{:>9.4f}{:>9.4f}{:>9.4f}{:>12.4f}{:>9.4f}{:>9.4f}\n", kinematics.model().body(i).name,
                       x.translation.x, x.translation.y, x.translation.z, rpy.x, rpy.y, rpy.z);
  }
  return out;
}

/// V = φ*H*θ̇ against the difference of two poses a short time apart, which knows nothing of velocities.
std::string velocity_check(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                           const std::string& body) {
  constexpr double h = 1e-5;
  Kinematics now(model);
  Kinematics before(model);
  Kinematics after(model);
  now.set_state(q, v);
  before.set_configuration(integrate(model, q, v, -h));
  after.set_configuration(integrate(model, q, v, h));
  const int i = model.body_index(body);
  const Vec3<double> swept = now.velocity_in_world(i).linear;
  const Vec3<double> moved = (after.pose(i).translation - before.pose(i).translation) / (2 * h);
  const double difference = norm(swept - moved);
  if (!(difference < 1e-8)) {
    throw Error(fmt::format("the velocity of {} is off by {} m/s: this build is broken", body, difference));
  }
  return fmt::format(
      "\nThe velocity of {}, V = φ*H*θ̇:                  [{:.6f}, {:.6f}, {:.6f}] m/s\n"
      "The same from its positions 10 µs before and after: [{:.6f}, {:.6f}, {:.6f}] m/s; they differ by {:.0e}\n",
      body, swept.x, swept.y, swept.z, moved.x, moved.y, moved.z, difference);
}

/// A forward-dynamics solve, and inverse dynamics of its answer: two different algorithms.
std::string dynamics_check(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  Dynamics dynamics(model);
  dynamics.set_state(q, v);
  const Eigen::VectorXd torque = Eigen::VectorXd::LinSpaced(model.nv(), -0.2, 0.2);
  const Eigen::VectorXd acceleration = dynamics.forward(torque);
  const double difference = (dynamics.inverse(acceleration) - torque).cwiseAbs().maxCoeff();
  if (!(difference < 1e-10)) {
    throw Error(fmt::format("the torques come back off by {} N·m: this build is broken", difference));
  }
  return fmt::format(
      "\nForward dynamics, θ̈ = 𝓜⁻¹(T − 𝓒):                  [{:.4f}] rad/s²\n"
      "Inverse dynamics of it gives the torques back to {:.0e} N·m; ln det 𝓜 = {:.6f}\n",
      fmt::join(acceleration.begin(), acceleration.end(), ", "), difference, dynamics.log_determinant());
}

std::string demo() {
  const Model model = load_text(demo_model_text, "puppet.urdf");
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), 0.1, 0.7);
  Kinematics kinematics(model);
  kinematics.set_state(q, v);
  const Vec3<double> com = kinematics.center_of_mass();
  return fmt::format("A puppet: {} bodies, {} degrees of freedom, {:.3f} kg.\n\n", model.bodies().size(), model.nv(),
                     model.mass()) +
         draw_tree(model) + "\nWhere its bodies are at a random configuration (m, rad):\n" + poses_text(kinematics) +
         fmt::format("\nIts centre of mass: [{:.6f}, {:.6f}, {:.6f}] m\n", com.x, com.y, com.z) +
         velocity_check(model, q, v, "right_hand") + dynamics_check(model, q, v);
}

}  // namespace

void add_demo(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand("demo", "Show what Bunraku does on a small model that it carries with it");
  command->callback([] { print(demo()); });
}

}  // namespace bunraku::cli
