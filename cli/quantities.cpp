#include "quantities.hpp"

#include <array>

namespace bunraku::cli {

Evaluator::Evaluator(const Model& model, PassiveForces passive)
    : kinematics_(model), dynamics_(model, passive), at_rest_(static_cast<std::size_t>(model.nv())) {}

void Evaluator::set_state(const GivenState& state, bool moving) {
  state_ = &state;
  moving_ = moving;
  kinematics_follow_ = false;
  dynamics_follow_ = false;
}

const Kinematics& Evaluator::kinematics() {
  if (!kinematics_follow_) {
    kinematics_.set_state(std::span<const double>(state_->q), velocity());
    kinematics_follow_ = true;
  }
  return kinematics_;
}

Dynamics& Evaluator::dynamics() {
  if (!dynamics_follow_) {
    dynamics_.set_state(std::span<const double>(state_->q), velocity());
    dynamics_follow_ = true;
  }
  return dynamics_;
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
  const Kinematics& kinematics = e.kinematics();
  json.begin_object();
  for (int i = 0; i < static_cast<int>(e.model().bodies().size()); ++i) {
    json.key(e.model().body(i).name).value(kinematics.pose(i));
  }
  json.end_object();
}

void write_velocities(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const Kinematics& kinematics = e.kinematics();
  json.begin_object();
  for (int i = 0; i < static_cast<int>(e.model().bodies().size()); ++i) {
    json.key(e.model().body(i).name).value(kinematics.velocity_in_world(i));
  }
  json.end_object();
}

void write_com(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.value(e.kinematics().center_of_mass());
}

void write_inverse(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::span<double> torque = e.room(freedoms(e));
  e.dynamics().inverse(e.state().a, torque);
  json.value(torque);
}

void write_forward(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::span<double> acceleration = e.room(freedoms(e));
  e.dynamics().forward(e.state().tau, acceleration);
  json.value(acceleration);
}

/// A quantity of n numbers.
template <void (Dynamics::*compute)(std::span<double>)>
void write_vector(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::span<double> out = e.room(freedoms(e));
  (e.dynamics().*compute)(out);
  json.value(out);
}

/// A quantity of n×n numbers.
template <void (Dynamics::*compute)(std::span<double>)>
void write_square(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::size_t n = freedoms(e);
  const std::span<double> out = e.room(n * n);
  (e.dynamics().*compute)(out);
  json.matrix(out, n, n);
}

void write_regressor(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const std::size_t n = freedoms(e);
  const std::size_t parameters = 10 * e.model().bodies().size();
  const std::span<double> out = e.room(n * parameters);
  e.dynamics().regressor(e.state().a, out);
  json.matrix(out, n, parameters);
}

void write_energy(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.begin_object().key("kinetic").value(e.dynamics().kinetic_energy());
  json.key("potential").value(e.dynamics().potential_energy()).end_object();
}

void write_momentum(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  const Force<double> h = e.dynamics().momentum();
  json.begin_array();
  for (int i = 0; i < 6; ++i) {
    json.value(h[i]);
  }
  json.end_array();
}

void write_log_det(Evaluator& e, const Request& /*request*/, JsonWriter& json) {
  json.value(e.dynamics().log_determinant());
}

void write_jacobian(Evaluator& e, const Request& request, JsonWriter& json) {
  const std::size_t n = freedoms(e);
  const std::span<double> out = e.room(6 * n);
  e.dynamics().jacobian(request.nodes.front(), request.frame, out);
  json.matrix(out, 6, n);
}

void write_pose(Evaluator& e, const Request& request, JsonWriter& json) {
  json.value(e.kinematics().pose(request.nodes.front()));
}

void write_lambda_inverse(Evaluator& e, const Request& request, JsonWriter& json) {
  const std::size_t rows = 6 * request.nodes.size();
  const std::span<double> out = e.room(rows * rows);
  e.dynamics().operational_space_inverse(request.nodes, out);
  json.matrix(out, rows, rows);
}

void write_lambda(Evaluator& e, const Request& request, JsonWriter& json) {
  const std::size_t rows = 6 * request.nodes.size();
  const std::span<double> out = e.room(rows * rows);
  e.dynamics().operational_space_inertia(request.nodes, out);
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
    Quantity{"bias", "", motion, "Coriolis, gyroscopic and gravity torques", write_vector<&Dynamics::bias>},
    Quantity{"gravity", "", positions, "gravity torques alone", write_vector<&Dynamics::gravity_torques>},
    Quantity{"mass", "", positions, "mass matrix", write_square<&Dynamics::mass_matrix>, square},
    Quantity{"inverse_mass", "", positions, "inverse of the mass matrix", write_square<&Dynamics::inverse_mass_matrix>,
             square},
    Quantity{"coriolis", "", motion, "matrix C: C·v is bias without gravity, and d(mass)/dt − 2C is skew",
             write_square<&Dynamics::coriolis_matrix>, square},
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
