#include <string>

#include <fmt/format.h>

#include "bunraku/dynamics/kinematics.hpp"
#include "commands.hpp"
#include "demo_model.hpp"

namespace bunraku::cli {

namespace {

void show_poses(const Kinematics& kinematics) {
  fmt::print("{:<18}{:>9}{:>9}{:>9}{:>12}{:>9}{:>9}\n", "", "x", "y", "z", "roll", "pitch", "yaw");
  for (int i = 0; i < static_cast<int>(kinematics.model().bodies().size()); ++i) {
    const Transform<double>& x = kinematics.pose(i);
    const Vec3<double> rpy = x.rotation.rpy();
    fmt::print("{:<18}{:>9.4f}{:>9.4f}{:>9.4f}{:>12.4f}{:>9.4f}{:>9.4f}\n", kinematics.model().body(i).name,
               x.translation.x, x.translation.y, x.translation.z, rpy.x, rpy.y, rpy.z);
  }
}

/// V = φ*H*θ̇ against the difference of two poses a short time apart, which knows nothing of velocities.
void show_velocity_check(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
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
  fmt::print("\nThe velocity of {}, V = φ*H*θ̇:        [{:.9f}, {:.9f}, {:.9f}] m/s\n", body, swept.x, swept.y, swept.z);
  fmt::print("and from its positions 10 µs before and after: [{:.9f}, {:.9f}, {:.9f}] m/s\n", moved.x, moved.y,
             moved.z);
}

void demo() {
  const Model model = load_text(demo_model_text, "puppet.urdf");
  fmt::print("A puppet: {} bodies, {} degrees of freedom, {:.3f} kg.\n\n{}", model.bodies().size(), model.nv(),
             model.mass(), draw_tree(model));
  const Eigen::VectorXd q = random_configuration(model, 1);
  Eigen::VectorXd v(model.nv());
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    v[i] = 0.1 * static_cast<double>(i + 1);
  }
  Kinematics kinematics(model);
  kinematics.set_state(q, v);
  fmt::print("\nWhere its bodies are at a random configuration (m, rad):\n");
  show_poses(kinematics);
  const Vec3<double> com = kinematics.center_of_mass();
  fmt::print("\nIts centre of mass: [{:.6f}, {:.6f}, {:.6f}] m\n", com.x, com.y, com.z);
  show_velocity_check(model, q, v, "right_hand");
}

}  // namespace

void add_demo(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand("demo", "Show what Bunraku does on a small model that it carries with it");
  command->callback([] { demo(); });
}

}  // namespace bunraku::cli
