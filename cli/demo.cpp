#include <string>

#include <Eigen/QR>
#include <fmt/format.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "commands.hpp"
#include "demo_model.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

std::string poses_text(State& state) {
  std::string out = fmt::format("{:<18}{:>9}{:>9}{:>9}{:>12}{:>9}{:>9}\n", "", "x", "y", "z", "roll", "pitch", "yaw");
  for (int i = 0; i < static_cast<int>(state.model().bodies().size()); ++i) {
    const Transform<double> x = pose(state, i);
    const Vec3<double> rpy = x.rotation.rpy();
    out += fmt::format("{:<18}{:>9.4f}{:>9.4f}{:>9.4f}{:>12.4f}{:>9.4f}{:>9.4f}\n", state.model().body(i).name,
                       x.translation.x, x.translation.y, x.translation.z, rpy.x, rpy.y, rpy.z);
  }
  return out;
}

/// V = φ*H*θ̇ against the difference of two poses a short time apart, which knows nothing of velocities.
std::string velocity_check(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                           const std::string& body) {
  constexpr double h = 1e-5;
  State now(model);
  State before(model);
  State after(model);
  now.set(q, v);
  before.set(integrate(model, q, v, -h));
  after.set(integrate(model, q, v, h));
  const Vec3<double> swept = velocity(now, body, Frame::aligned).linear;
  const Vec3<double> moved = (pose(after, body).translation - pose(before, body).translation) / (2 * h);
  const double difference = norm(swept - moved);
  if (!(difference < 1e-8)) {
    throw Error(fmt::format("the velocity of {} is off by {} m/s: this build is broken", body, difference));
  }
  return fmt::format(
      "\nThe velocity of {}, V = φ*H*θ̇:                  [{:.6f}, {:.6f}, {:.6f}] m/s\n"
      "The same from its positions 10 µs before and after: [{:.6f}, {:.6f}, {:.6f}] m/s; they differ by {:.0e}\n",
      body, swept.x, swept.y, swept.z, moved.x, moved.y, moved.z, difference);
}

/// The largest number of a difference that should vanish, as text; an error where it does not.
std::string vanishing(const Eigen::VectorXd& x, double tolerance, const char* what, const char* unit) {
  const double largest = x.cwiseAbs().maxCoeff();
  if (!(largest < tolerance)) {
    throw Error(fmt::format("{} is off by {} {}: this build is broken", what, largest, unit));
  }
  return fmt::format("{:.0e} {}", largest, unit);
}

/// Kinetic and potential energy, a time h after the model was at q and v with acceleration a.
double energy_at(State& dynamics, const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
                 double h) {
  const Eigen::VectorXd mean = v + h / 2 * a;
  const Eigen::VectorXd then = v + h * a;
  dynamics.set(integrate(dynamics.model(), q, mean, h), then);
  return kinetic_energy(dynamics) + potential_energy(dynamics);
}

/// A forward-dynamics solve, and three checks of it by other ways: inverse dynamics, the equations of motion as dense
/// matrices, and the balance of power.
std::string dynamics_check(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  State dynamics(model, PassiveForces::left_out);  // damping would take power
  dynamics.set(q, v);
  const Eigen::VectorXd torque = 1.5 * gravity_torques(dynamics);
  const Eigen::VectorXd acceleration = forward_dynamics(dynamics, torque);
  std::string out = fmt::format(
      "\nForward dynamics, θ̈ = 𝓜⁻¹(T − 𝓒), friction aside, under 1.5 times what holds it still:\n{:<22}{:>9}{:>12}\n",
      "", "T, N·m", "θ̈, rad/s²");
  for (const Body& body : model.bodies()) {
    if (body.nv == 1) {
      out +=
          fmt::format("{:<22}{:>9.4f}{:>10.4f}\n", body.hinge.name, torque[body.v_index], acceleration[body.v_index]);
    }
  }
  const Eigen::MatrixXd mass = mass_matrix(dynamics);
  const Eigen::VectorXd C = bias(dynamics);
  // QR, as the library itself has a Cholesky factorization where hinges mimic others
  const Eigen::VectorXd solved = mass.householderQr().solve(torque - C);
  out += fmt::format("Inverse dynamics of θ̈ gives T back to {}.\n",
                     vanishing(inverse_dynamics(dynamics, acceleration) - torque, 1e-10, "the torque", "N·m"));
  out += fmt::format("With 𝓜 as a matrix, 𝓜θ̈ + 𝓒 − T is {}, and a dense solve of it gives θ̈ to {}.\n",
                     vanishing(mass * acceleration + C - torque, 1e-10, "the equation of motion", "N·m"),
                     vanishing(solved - acceleration, 1e-9, "the acceleration", "rad/s²"));
  constexpr double h = 1e-5;
  const double kinetic = kinetic_energy(dynamics);
  const double power = torque.dot(v);
  const double gain =
      (energy_at(dynamics, q, v, acceleration, h) - energy_at(dynamics, q, v, acceleration, -h)) / (2 * h);
  out += fmt::format(
      "It moves with {:.6f} J; the torques put in T·θ̇ = {:.6f} W, its energy changes by {:.6f} W: they differ by {}.\n",
      kinetic, power, gain, vanishing(Eigen::VectorXd::Constant(1, gain - power), 1e-7, "the power", "W"));
  return out;
}

std::string demo() {
  const Model model = load_text(demo_model_text, "puppet.urdf");
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(model.nv(), 0.1, 0.7);
  State state(model);
  state.set(q, v);
  const Vec3<double> com = center_of_mass(state);
  return fmt::format("A puppet: {} bodies, {} degrees of freedom, {:.3f} kg.\n\n", model.bodies().size(), model.nv(),
                     model.mass()) +
         draw_tree(model) + "\nWhere its bodies are at a random configuration (m, rad):\n" + poses_text(state) +
         fmt::format("\nIts centre of mass: [{:.6f}, {:.6f}, {:.6f}] m\n", com.x, com.y, com.z) +
         velocity_check(model, q, v, "right_hand") + dynamics_check(model, q, v);
}

}  // namespace

void add_demo(CLI::App& app, int& /*status*/) {
  CLI::App* command = app.add_subcommand("demo", "Show what Bunraku does on a small model that it carries with it");
  command->callback([] { print(demo()); });
}

}  // namespace bunraku::cli
