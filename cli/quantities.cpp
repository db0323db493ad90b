#include "quantities.hpp"

#include <array>

#include "quantities_at_state.hpp"
#include "quantities_at_states.hpp"

namespace bunraku::cli {

std::int64_t Shape::count() const {
  if (!parts.empty()) {
    std::int64_t sum = 0;
    for (const auto& [name, own] : parts) {
      sum += Shape{own}.count();
    }
    return sum;
  }
  std::int64_t out = by_key ? std::ssize(keys) : 1;
  for (const std::int64_t n : axes) {
    out *= n;
  }
  return out;
}

namespace {

// ---------------------------------------------------------------------------------------------------------------------
// Shapes

Shape number(const Model& /*model*/, const Request& /*request*/) {
  return {{}};
}

template <int n>
Shape numbers(const Model& /*model*/, const Request& /*request*/) {
  return {{n}};
}

Shape a_freedom(const Model& model, const Request& /*request*/) {
  return {{model.nv()}};
}

Shape square(const Model& model, const Request& /*request*/) {
  return {{model.nv(), model.nv()}};
}

Shape pose_shape(const Model& /*model*/, const Request& /*request*/) {
  return {{4, 4}};
}

Shape jacobian_shape(const Model& model, const Request& /*request*/) {
  return {{6, model.nv()}};
}

Shape jacobian_derivative_shape(const Model& model, const Request& /*request*/) {
  return {{6, model.nv(), model.nv()}};
}

Shape regressor_shape(const Model& model, const Request& /*request*/) {
  return {{model.nv(), 10 * std::ssize(model.bodies())}};
}

Shape lambda_shape(const Model& /*model*/, const Request& request) {
  return {{6 * std::ssize(request.nodes), 6 * std::ssize(request.nodes)}};
}

Shape energies(const Model& /*model*/, const Request& /*request*/) {
  return {{}, true, {"kinetic", "potential"}};
}

Shape closed_accelerations(const Model& model, const Request& /*request*/) {
  return {{}, false, {}, {{"a", {model.nv()}}, {"rank", {}}, {"rows", {}}}};
}

Shape of_closures(const Model& model, const Request& /*request*/) {
  Shape out;
  for (const Closure& closure : model.closures()) {
    out.parts.emplace_back(closure.name, std::vector<std::int64_t>{closure_rows(closure)});
  }
  out.by_key = out.parts.empty();  // without closures there is an object all the same
  return out;
}

/// One such thing for each body.
template <Shape (*of_one)(const Model&, const Request&)>
Shape by_body(const Model& model, const Request& request) {
  Shape out = of_one(model, request);
  out.by_key = true;
  for (const Body& body : model.bodies()) {
    out.keys.push_back(body.name);
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// The table

constexpr Needs positions{.q = true};
constexpr Needs motion{.q = true, .v = true};
constexpr Needs motion_and_a{.q = true, .v = true, .a = true};
constexpr Needs motion_and_tau{.q = true, .v = true, .tau = true};

constexpr std::array table = {
    Quantity{"poses", "", positions, "{body: 4×4 pose in the world}", by_body<pose_shape>, at_state::poses,
             at_states::poses},
    Quantity{"pose", ":NODE", positions, "4×4 pose of a node in the world", pose_shape, at_state::pose,
             at_states::pose},
    Quantity{"velocities", "", motion, "{body: [ω, v] at the body's origin, world axes}", by_body<numbers<6>>,
             at_state::velocities, at_states::velocities},
    Quantity{"com", "", positions, "centre of mass in the world", numbers<3>, at_state::com, at_states::com},
    Quantity{"id", "", motion_and_a, "hinge torques for the acceleration a", a_freedom, at_state::id, at_states::id},
    Quantity{"fd", "", motion_and_tau, "hinge accelerations under tau, loops cut open", a_freedom, at_state::fd,
             at_states::fd},
    Quantity{"bias", "", motion, "Coriolis, gyroscopic and gravity torques", a_freedom, at_state::bias,
             at_states::bias},
    Quantity{"gravity", "", positions, "gravity torques alone", a_freedom, at_state::gravity, at_states::gravity},
    Quantity{"mass", "", positions, "mass matrix", square, at_state::mass, at_states::mass},
    Quantity{"inverse_mass", "", positions, "inverse of the mass matrix", square, at_state::inverse_mass,
             at_states::inverse_mass},
    Quantity{"coriolis", "", motion, "matrix C: C·v is bias without gravity, and d(mass)/dt − 2C is skew", square,
             at_state::coriolis},
    Quantity{"energy", "", motion, "{kinetic, potential}", energies, at_state::energy, at_states::energy},
    Quantity{"momentum", "", motion, "[angular about the centre of mass, linear], world axes", numbers<6>,
             at_state::momentum, at_states::momentum},
    Quantity{"log_det", "", positions, "logarithm of the mass matrix's determinant", number, at_state::log_det,
             at_states::log_det},
    Quantity{"regressor", "", motion_and_a,
             "nv × 10·bodies, per body (m, m·c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the body's origin)", regressor_shape,
             at_state::regressor},
    Quantity{"jacobian", ":NODE:FRAME", positions,
             "6 × nv, angular over linear; FRAME is node, aligned (world axes at the node) or world", jacobian_shape,
             at_state::jacobian, at_states::jacobian},
    Quantity{"lambda_inverse", ":NODE,NODE…", positions,
             "J·inverse_mass·Jᵀ of the stacked Jacobians, each in its node's frame", lambda_shape,
             at_state::lambda_inverse},
    Quantity{"lambda", ":NODE,NODE…", positions,
             "inverse of lambda_inverse: the operational-space inertia; refused where there is none", lambda_shape,
             at_state::lambda},
    Quantity{"id_dq", "", motion_and_a, "derivative of id by q, in tangent coordinates: nv × nv", square,
             at_state::id_dq},
    Quantity{"id_dv", "", motion_and_a, "derivative of id by v", square, at_state::id_dv},
    Quantity{"fd_dq", "", motion_and_tau, "derivative of fd by q, in tangent coordinates: nv × nv", square,
             at_state::fd_dq},
    Quantity{"fd_dv", "", motion_and_tau, "derivative of fd by v", square, at_state::fd_dv},
    Quantity{"fd_dtau", "", motion_and_tau, "derivative of fd by tau", square, at_state::fd_dtau},
    Quantity{"jacobian_dq", ":NODE", positions,
             "6 × nv × nv, the last by q in tangent coordinates: derivative of jacobian:NODE:node",
             jacobian_derivative_shape, at_state::jacobian_dq},
    Quantity{"closed_fd", "", motion_and_tau, "{a, rank, rows}: accelerations with all closures holding",
             closed_accelerations, at_state::closed_fd},
    Quantity{"closed_id", "", motion_and_a, "torques of least norm for what the closures allow of a", a_freedom,
             at_state::closed_id},
    Quantity{"closure_forces", "", motion_and_tau, "{closure: its forces, in a's axes: what b exerts on a}",
             of_closures, at_state::closure_forces}};

}  // namespace

std::span<const Quantity> quantities() {
  return table;
}

bool takes_list(const Quantity& quantity) {
  return quantity.argument.find(',') != std::string_view::npos;
}

}  // namespace bunraku::cli
