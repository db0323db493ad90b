#include "quantities.hpp"

#include <array>

namespace bunraku::cli {

Evaluator::Evaluator(const Model& model, PassiveForces passive) : state_(model, passive) {}

void Evaluator::set_state(const GivenState& given, bool moving) {
  given_ = &given;
  if (moving) {
    state_.set(given.q, given.v);
  } else {
    state_.set(given.q);
  }
}

std::span<double> Evaluator::room(std::size_t numbers) {
  room_.resize(numbers);
  return room_;
}

namespace {

std::size_t freedoms(const Evaluator& e) {
  return static_cast<std::size_t>(e.model().nv());
}

void write_poses(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.begin_object();
  for (int i = 0; i < static_cast<int>(e.model().bodies().size()); ++i) {
    json.key(e.model().body(i).name).value(pose(e.state(), i));
  }
  json.end_object();
}

void write_velocities(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.begin_object();
  for (int i = 0; i < static_cast<int>(e.model().bodies().size()); ++i) {
    json.key(e.model().body(i).name).value(velocity(e.state(), i, Frame::aligned));
  }
  json.end_object();
}

void write_com(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.value(center_of_mass(e.state()));
}

void write_inverse(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::span<double> torque = e.room(freedoms(e));
  inverse_dynamics(e.state(), e.given().a, torque);
  json.value(torque);
}

void write_forward(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::span<double> acceleration = e.room(freedoms(e));
  forward_dynamics(e.state(), e.given().tau, acceleration);
  json.value(acceleration);
}

/// A quantity of n numbers.
template <void (*compute)(State&, Out<double>)>
void write_vector(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::span<double> out = e.room(freedoms(e));
  compute(e.state(), out);
  json.value(out);
}

/// A quantity of n×n numbers.
template <void (*compute)(State&, MatrixOut<double>)>
void write_square(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::size_t n = freedoms(e);
  const std::span<double> out = e.room(n * n);
  compute(e.state(), out);
  json.matrix(out, n, n);
}

void write_regressor(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::size_t n = freedoms(e);
  const std::size_t parameters = 10 * e.model().bodies().size();
  const std::span<double> out = e.room(n * parameters);
  regressor(e.state(), e.given().a, out);
  json.matrix(out, n, parameters);
}

void write_energy(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.begin_object().key("kinetic").value(kinetic_energy(e.state()));
  json.key("potential").value(potential_energy(e.state())).end_object();
}

void write_momentum(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const Force<double> h = momentum(e.state());
  json.begin_array();
  for (int i = 0; i < 6; ++i) {
    json.value(h[i]);
  }
  json.end_array();
}

void write_log_det(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.value(log_det_mass(e.state()));
}

void write_jacobian(Evaluator& e, const Request& request, JsonWriter& json) {
  const std::size_t n = freedoms(e);
  const std::span<double> out = e.room(6 * n);
  jacobian(e.state(), request.nodes.front(), request.frame, out);
  json.matrix(out, 6, n);
}

void write_pose(Evaluator& e, const Request& request, JsonWriter& json) {
  json.value(pose(e.state(), request.nodes.front()));
}

void write_lambda_inverse(Evaluator& e, const Request& request, JsonWriter& json) {
  const std::size_t rows = 6 * request.nodes.size();
  const std::span<double> out = e.room(rows * rows);
  lambda_inverse(e.state(), request.nodes, out);
  json.matrix(out, rows, rows);
}

void write_lambda(Evaluator& e, const Request& request, JsonWriter& json) {
  const std::size_t rows = 6 * request.nodes.size();
  const std::span<double> out = e.room(rows * rows);
  lambda(e.state(), request.nodes, out);
  json.matrix(out, rows, rows);
}

// ---------------------------------------------------------------------------------------------------------------------
// Sizes

Size square(const Model& model, const Request& /*request*/) {
  return {model.nv(), model.nv()};
}

Size regressor_size(const Model& model, const Request& /*request*/) {
  return {model.nv(), 10 * std::ssize(model.bodies())};
}

Size jacobian_size(const Model& model, const Request& /*request*/) {
  return {6, model.nv()};
}

Size lambda_size(const Model& /*model*/, const Request& request) {
  return {6 * std::ssize(request.nodes), 6 * std::ssize(request.nodes)};
}

constexpr Needs positions{.q = true};
constexpr Needs motion{.q = true, .v = true};
constexpr Needs motion_and_a{.q = true, .v = true, .a = true};
constexpr Needs motion_and_tau{.q = true, .v = true, .tau = true};

constexpr std::array table = {
    Quantity{"poses", "", positions, "{body: 4×4 pose in the world}", write_poses},
    Quantity{"pose", ":NODE", positions, "4×4 pose of a node in the world", write_pose},
    Quantity{"velocities", "", motion, "{body: [ω, v] at the body's origin, world axes}", write_velocities},
    Quantity{"com", "", positions, "centre of mass in the world", write_com},
    Quantity{"id", "", motion_and_a, "hinge torques for the acceleration a", write_inverse},
    Quantity{"fd", "", motion_and_tau, "hinge accelerations under tau, loops cut open", write_forward},
    Quantity{"bias", "", motion, "Coriolis, gyroscopic and gravity torques", write_vector<bias>},
    Quantity{"gravity", "", positions, "gravity torques alone", write_vector<gravity_torques>},
    Quantity{"mass", "", positions, "mass matrix", write_square<mass_matrix>, square},
    Quantity{"inverse_mass", "", positions, "inverse of the mass matrix", write_square<inverse_mass_matrix>, square},
    Quantity{"coriolis", "", motion, "matrix C: C·v is bias without gravity, and d(mass)/dt − 2C is skew",
             write_square<coriolis_matrix>, square},
    Quantity{"energy", "", motion, "{kinetic, potential}", write_energy},
    Quantity{"momentum", "", motion, "[angular about the centre of mass, linear], world axes", write_momentum},
    Quantity{"log_det", "", positions, "logarithm of the mass matrix's determinant", write_log_det},
    Quantity{"regressor", "", motion_and_a,
             "nv × 10·bodies, per body (m, m·c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the body's origin)", write_regressor,
             regressor_size},
    Quantity{"jacobian", ":NODE:FRAME", positions,
             "6 × nv, angular over linear; FRAME is node, aligned (world axes at the node) or world", write_jacobian,
             jacobian_size},
    Quantity{"lambda_inverse", ":NODE,NODE…", positions,
             "J·inverse_mass·Jᵀ of the stacked Jacobians, each in its node's frame", write_lambda_inverse, lambda_size},
    Quantity{"lambda", ":NODE,NODE…", positions,
             "inverse of lambda_inverse: the operational-space inertia; refused where there is none", write_lambda,
             lambda_size},
    Quantity{"id_dq", "", motion_and_a, "derivative of id in tangent coordinates", nullptr},
    Quantity{"id_dv", "", motion_and_a, "derivative of id", nullptr},
    Quantity{"fd_dq", "", motion_and_tau, "derivative of fd in tangent coordinates", nullptr},
    Quantity{"fd_dv", "", motion_and_tau, "derivative of fd", nullptr},
    Quantity{"fd_dtau", "", motion_and_tau, "derivative of fd", nullptr},
    Quantity{"closed_fd", "", motion_and_tau, "{a, rank, rows}: accelerations with all closures holding", nullptr},
    Quantity{"closed_id", "", motion_and_a, "torques of least norm for what the closures allow of a", nullptr},
    Quantity{"closure_forces", "", motion_and_tau, "{closure: its forces, in a's axes}", nullptr}};

}  // namespace

std::span<const Quantity> quantities() {
  return table;
}

bool takes_list(const Quantity& quantity) {
  return quantity.argument.find(',') != std::string_view::npos;
}

}  // namespace bunraku::cli
