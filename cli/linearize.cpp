#include <algorithm>
#include <complex>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/derivatives.hpp"
#include "bunraku/dynamics/forward_dynamics.hpp"
#include "bunraku/dynamics/inverse_dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "bunraku/dynamics/linearization.hpp"
#include "bunraku/dynamics/steps.hpp"
#include "bunraku/model/hinge_set.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "open_tree.hpp"
#include "output.hpp"
#include "states.hpp"

namespace bunraku::cli {

namespace {

struct LinearizeArguments {
  ModelArguments model;
  StateArguments state;
  std::vector<std::string> inputs;
  std::vector<std::string> nodes;
  std::optional<double> step;  ///< s; none: the continuous system.
  std::string integrator = "euler";
  bool json = false;
};

/// What `linearize` answers.
struct Answer {
  Eigen::MatrixXd A, B, C, D;
  Eigen::VectorXd torque;        ///< About which.
  Eigen::VectorXd acceleration;  ///< There.
  std::optional<double> step;    ///< s; none: the continuous system.
  std::vector<LinearMode> modes;
};

/// The velocity coordinates of the hinges with inputs; all where none are named.
std::vector<int> input_places(const Model& model, const std::vector<std::string>& names) {
  const HingeSet hinges = names.empty() ? HingeSet::all(model) : HingeSet(model, std::span<const std::string>(names));
  std::vector<int> out;
  for (const int k : hinges.bodies()) {
    const Body& body = model.bodies()[static_cast<std::size_t>(k)];
    out.resize(out.size() + static_cast<std::size_t>(body.nv));
    std::iota(out.end() - body.nv, out.end(), body.v_index);
  }
  return out;
}

/// What inverse dynamics asks of the inputs to keep the velocity; the other hinges get none.
Eigen::VectorXd holding_torque(State& state, const std::vector<int>& inputs) {
  const Eigen::Index n = state.model().nv();
  Eigen::VectorXd out = Eigen::VectorXd::Zero(n);
  const Eigen::VectorXd wanted = inverse_dynamics<double>(state, Eigen::VectorXd::Zero(n));
  for (const int j : inputs) {
    out(j) = wanted(j);
  }
  return out;
}

/// How nodes move and how fast, in the world's axes: displacement and velocity of each, angular over linear.
Eigen::MatrixXd node_outputs(State& state, const std::vector<std::string>& nodes) {
  const Eigen::Index n = state.model().nv();
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(12 * static_cast<Eigen::Index>(nodes.size()), 2 * n);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeRef node = nodes[i];
    const Eigen::Index row = 12 * static_cast<Eigen::Index>(i);
    const Eigen::MatrixXd J = jacobian(state, node, Frame::aligned);
    const Eigen::MatrixXd change = jacobian_dq(state, node, Frame::aligned);
    out.block(row, 0, 6, n) = J;
    out.block(row + 6, n, 6, n) = J;
    for (Eigen::Index j = 0; j < n; ++j) {
      out.block(row + 6, j, 6, 1) = change.middleCols(j * n, n) * state.v();
    }
  }
  return out;
}

Integrator integrator_of(const std::string& name) {
  return name == "rk4" ? Integrator::runge_kutta_4 : Integrator::semi_implicit_euler;
}

/// The modes of x' = Ax + Bu, steps of h: eigenvalues are those of A, frequency and damping those of λ = ln z/h.
std::vector<LinearMode> modes_of_steps(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B, double h) {
  std::vector<LinearMode> out = linear_modes(A, B);
  for (LinearMode& mode : out) {
    const std::complex<double> rate = std::log(mode.eigenvalue) / h;
    const double size = std::abs(rate);
    mode.frequency = size / (2 * std::numbers::pi);
    mode.damping = size == 0 ? 0 : -rate.real() / size;
  }
  std::ranges::stable_sort(
      out, [](const LinearMode& x, const LinearMode& y) { return x.frequency < y.frequency * (1 - 1e-12); });
  return out;
}

Answer linearized(const LinearizeArguments& arguments) {
  const Model model = open_tree(arguments.model.load(), "linearize");
  const GivenState given = arguments.state.one(model);
  const std::vector<int> inputs = input_places(model, arguments.inputs);
  State state(model);
  state.set(given.q, given.v);
  Answer out;
  out.torque = given.given.tau ? Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(given.tau.data(), model.nv()))
                               : holding_torque(state, inputs);
  out.acceleration = forward_dynamics<double>(state, out.torque);
  out.step = arguments.step;
  const Linearization<double> all =
      out.step ? step_derivatives<double>(state, out.torque, *out.step, integrator_of(arguments.integrator))
               : linearize<double>(state, out.torque);
  out.A = all.A;
  out.B = all.B(Eigen::all, inputs);
  out.C = arguments.nodes.empty() ? Eigen::MatrixXd(Eigen::MatrixXd::Identity(out.A.rows(), out.A.cols()))
                                  : node_outputs(state, arguments.nodes);
  out.D = Eigen::MatrixXd::Zero(out.C.rows(), out.B.cols());
  out.modes = out.step ? modes_of_steps(out.A, out.B, *out.step) : linear_modes(out.A, out.B);
  return out;
}

std::string as_json(const Answer& answer) {
  JsonWriter json;
  const auto numbers = [](const auto& x) {
    return std::span<const double>(x.data(), static_cast<std::size_t>(x.size()));
  };
  const auto matrix = [&](const char* name, const Eigen::MatrixXd& x) {
    json.key(name).matrix(numbers(x), static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols()));
  };
  json.begin_object();
  matrix("A", answer.A);
  matrix("B", answer.B);
  matrix("C", answer.C);
  matrix("D", answer.D);
  if (answer.step) {
    json.key("step").value(*answer.step);
  }
  json.key("tau").value(numbers(answer.torque)).key("a").value(numbers(answer.acceleration));
  json.key("modes").begin_array();
  for (const LinearMode& mode : answer.modes) {
    json.begin_object().key("eigenvalue").begin_array();
    json.value(mode.eigenvalue.real()).value(mode.eigenvalue.imag()).end_array();
    json.key("frequency").value(mode.frequency).key("damping").value(mode.damping);
    json.key("controllable").boolean(mode.controllable).end_object();
  }
  json.end_array().end_object().newline();
  return std::string(json.text());
}

std::string as_text(const Answer& answer) {
  std::string out;
  const auto matrix = [&](const char* name, const Eigen::MatrixXd& x) {
    out += fmt::format("{}, {} × {}\n", name, x.rows(), x.cols());
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      const Eigen::VectorXd row = x.row(i);
      out += fmt::format("  {:12.6g}\n", fmt::join(row.begin(), row.end(), " "));
    }
  };
  matrix("A", answer.A);
  matrix("B", answer.B);
  out += fmt::format("torques {:.6g}\n", fmt::join(answer.torque.begin(), answer.torque.end(), " "));
  out += fmt::format("accelerations there {:.6g}\n",
                     fmt::join(answer.acceleration.begin(), answer.acceleration.end(), " "));
  for (const LinearMode& mode : answer.modes) {
    out += fmt::format("mode {:.6g} {:+.6g}i{}: {:.6g} Hz, damping {:.4g}, {}\n", mode.eigenvalue.real(),
                       mode.eigenvalue.imag(), answer.step ? " a step" : " 1/s", mode.frequency, mode.damping,
                       mode.controllable ? "controllable" : "out of the inputs' reach");
  }
  return out;
}

}  // namespace

void add_linearize(CLI::App& app, int& /*status*/) {
  CLI::App* command =
      app.add_subcommand("linearize", "The linear system of small motions about a state: A, B, C, D and its modes");
  const auto arguments = std::make_shared<LinearizeArguments>();
  arguments->model.add_to(*command);
  command
      ->add_option("--q", arguments->state.q,
                   "configuration, or @NAME for a reference of the model; neutral if not given")
      ->option_text("NUMBERS");
  command->add_option("--v", arguments->state.v, "velocity; zero if not given")->option_text("NUMBERS");
  command
      ->add_option(
          "--tau", arguments->state.tau,
          "hinge torques; if not given, those at the inputs that inverse dynamics asks for to keep the velocity")
      ->option_text("NUMBERS");
  command
      ->add_option("--input", arguments->inputs,
                   "hinges whose torques are the inputs, separated by commas; all where none are named")
      ->option_text("HINGES")
      ->delimiter(',');
  command
      ->add_option("--node", arguments->nodes,
                   "nodes whose displacements and velocities are the outputs; the state itself where none are named")
      ->option_text("NODES")
      ->delimiter(',');
  CLI::Option* step = command
                          ->add_option("--step", arguments->step,
                                       "the discrete system of steps so long, in s, in place of the continuous")
                          ->option_text("SECONDS");
  command->add_option("--integrator", arguments->integrator, "of the steps: euler, the semi-implicit one, or rk4")
      ->option_text("NAME")
      ->check(CLI::IsMember({"euler", "rk4"}))
      ->needs(step);
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments] {
    const Answer answer = linearized(*arguments);
    print(arguments->json ? as_json(answer) : as_text(answer));
  });
}

}  // namespace bunraku::cli
