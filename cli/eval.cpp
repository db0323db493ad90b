#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "bunraku/io/detail/numbers.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "output.hpp"
#include "states.hpp"

namespace bunraku::cli {

namespace {

/// All that a quantity may need at a state.
struct Evaluator {
  Evaluator(const Model& model, PassiveForces passive)
      : kinematics(model),
        dynamics(model, passive),
        vector(model.nv()),
        matrix(model.nv(), model.nv()),
        columns(6, model.nv()) {}

  Kinematics kinematics;
  Dynamics dynamics;
  const State* state = nullptr;
  Eigen::VectorXd vector;
  Eigen::MatrixXd matrix;
  Eigen::Matrix<double, 6, Eigen::Dynamic> columns;

  std::span<double> vector_span() { return {vector.data(), static_cast<std::size_t>(vector.size())}; }
  std::span<double> matrix_span() { return {matrix.data(), static_cast<std::size_t>(matrix.size())}; }
};

/// Something that `eval` can compute: what it needs, and how it is written.
struct Quantity {
  std::string_view name;
  Needs needs;
  std::string_view help;
  void (*write)(Evaluator&, JsonWriter&);
};

template <class Matrix>
void write_rows(const Matrix& matrix, JsonWriter& json) {
  json.begin_array();
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    json.begin_array();
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      json.value(matrix(i, j));
    }
    json.end_array();
  }
  json.end_array();
}

void write_poses(Evaluator& e, JsonWriter& json) {
  json.begin_object();
  for (int i = 0; i < static_cast<int>(e.kinematics.model().bodies().size()); ++i) {
    json.key(e.kinematics.model().body(i).name).value(e.kinematics.pose(i));
  }
  json.end_object();
}

void write_velocities(Evaluator& e, JsonWriter& json) {
  json.begin_object();
  for (int i = 0; i < static_cast<int>(e.kinematics.model().bodies().size()); ++i) {
    json.key(e.kinematics.model().body(i).name).value(e.kinematics.velocity_in_world(i));
  }
  json.end_object();
}

void write_com(Evaluator& e, JsonWriter& json) {
  json.value(e.kinematics.center_of_mass());
}

void write_inverse(Evaluator& e, JsonWriter& json) {
  e.dynamics.inverse(e.state->a, e.vector_span());
  json.value(e.vector_span());
}

void write_forward(Evaluator& e, JsonWriter& json) {
  e.dynamics.forward(e.state->tau, e.vector_span());
  json.value(e.vector_span());
}

void write_bias(Evaluator& e, JsonWriter& json) {
  e.dynamics.bias(e.vector_span());
  json.value(e.vector_span());
}

void write_gravity(Evaluator& e, JsonWriter& json) {
  e.dynamics.gravity_torques(e.vector_span());
  json.value(e.vector_span());
}

void write_mass(Evaluator& e, JsonWriter& json) {
  e.dynamics.mass_matrix(e.matrix_span());
  write_rows(e.matrix, json);
}

void write_inverse_mass(Evaluator& e, JsonWriter& json) {
  e.dynamics.inverse_mass_matrix(e.matrix_span());
  write_rows(e.matrix, json);
}

void write_energy(Evaluator& e, JsonWriter& json) {
  json.begin_object().key("kinetic").value(e.dynamics.kinetic_energy());
  json.key("potential").value(e.dynamics.potential_energy()).end_object();
}

void write_momentum(Evaluator& e, JsonWriter& json) {
  const Force<double> h = e.dynamics.momentum();
  json.begin_array();
  for (int i = 0; i < 6; ++i) {
    json.value(h[i]);
  }
  json.end_array();
}

void write_log_det(Evaluator& e, JsonWriter& json) {
  json.value(e.dynamics.log_determinant());
}

constexpr Needs positions{.q = true};
constexpr Needs motion{.q = true, .v = true};

constexpr std::array quantities = {
    Quantity{"poses", positions, "{body: 4×4 pose in the world}", write_poses},
    Quantity{"velocities", motion, "{body: [ω, v] at the body's origin, world axes}", write_velocities},
    Quantity{"com", positions, "centre of mass in the world", write_com},
    Quantity{"id", {.q = true, .v = true, .a = true}, "hinge torques for the acceleration a", write_inverse},
    Quantity{"fd", {.q = true, .v = true, .tau = true}, "hinge accelerations under tau, loops cut open", write_forward},
    Quantity{"bias", motion, "Coriolis, gyroscopic and gravity torques", write_bias},
    Quantity{"gravity", positions, "gravity torques alone", write_gravity},
    Quantity{"mass", positions, "mass matrix", write_mass},
    Quantity{"inverse_mass", positions, "inverse of the mass matrix", write_inverse_mass},
    Quantity{"energy", motion, "{kinetic, potential}", write_energy},
    Quantity{"momentum", motion, "[angular about the centre of mass, linear], world axes", write_momentum},
    Quantity{"log_det", positions, "logarithm of the mass matrix's determinant", write_log_det}};

/// What was asked for, in order.
struct Request {
  std::string key;
  const Quantity* quantity = nullptr;  // null for a Jacobian
  std::string node;
  ReferenceFrame frame = ReferenceFrame::node;
};

std::optional<Request> jacobian_request(const std::string& name) {
  constexpr std::string_view prefix = "jacobian:";
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  const std::size_t colon = name.rfind(':');
  const std::string frame = name.substr(colon + 1);
  Request request{name, nullptr, {}, ReferenceFrame::node};
  if (colon < prefix.size()) {
    throw ArgumentError(fmt::format("--want: '{}' names no frame: write jacobian:NODE:FRAME", name));
  }
  request.node = name.substr(prefix.size(), colon - prefix.size());
  if (frame == "aligned") {
    request.frame = ReferenceFrame::aligned;
  } else if (frame == "world") {
    request.frame = ReferenceFrame::world_origin;
  } else if (frame != "node") {
    throw ArgumentError(fmt::format("--want: the frame of '{}' is none of node, aligned, world", name));
  }
  return request;
}

std::vector<Request> chosen(const std::string& wanted) {
  std::vector<Request> out;
  std::vector<std::string> known;
  known.reserve(quantities.size() + 1);
  for (const Quantity& quantity : quantities) {
    known.emplace_back(quantity.name);
  }
  known.emplace_back("jacobian:NODE:FRAME");
  for (const std::string& word : CLI::detail::split(wanted, ',')) {
    const std::string name(io::trimmed(word));
    std::optional<Request> request = jacobian_request(name);
    if (!request) {
      const auto* const found =
          std::find_if(quantities.begin(), quantities.end(), [&](const Quantity& q) { return q.name == name; });
      if (found == quantities.end()) {
        throw ArgumentError(fmt::format("--want: '{}' is not a quantity{}; known are: {}", name,
                                        bunraku::detail::did_you_mean(name, known), fmt::join(known, ", ")));
      }
      request = Request{name, found, {}, {}};
    }
    if (std::none_of(out.begin(), out.end(), [&](const Request& r) { return r.key == name; })) {
      out.push_back(*std::move(request));
    }
  }
  return out;
}

/// Says how far a long run is, once a second, when a person is looking.
class Progress {
 public:
  void count() {
    if (++states_ % 1000 != 0 || !shown_) {
      return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ > std::chrono::seconds(1)) {
      last_ = now;
      fmt::print(stderr, "\r{} states", states_);
      printed_ = true;
    }
  }
  ~Progress() {
    if (printed_) {
      fmt::print(stderr, "\r\033[K");
    }
  }

 private:
  long states_ = 0;
  bool shown_ = isatty(STDERR_FILENO) == 1;
  bool printed_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Arguments {
  ModelArguments model;
  StateArguments states;
  std::string want;
  std::string gravity;
  bool ideal = false;
};

Model model_of(const Arguments& arguments) {
  Model model = arguments.model.load();
  if (arguments.gravity.empty()) {
    return model;
  }
  const std::vector<double> g = parse_numbers(arguments.gravity, "--gravity");
  if (g.size() != 3) {
    throw ArgumentError(fmt::format("--gravity has {} numbers, three are wanted", g.size()));
  }
  return model.with_gravity({g[0], g[1], g[2]});
}

Needs needs_of(const std::vector<Request>& wanted) {
  Needs needs;
  for (const Request& request : wanted) {
    const Needs own = request.quantity == nullptr ? positions : request.quantity->needs;
    needs.q = needs.q || own.q;
    needs.v = needs.v || own.v;
    needs.a = needs.a || own.a;
    needs.tau = needs.tau || own.tau;
  }
  return needs;
}

void eval(const Arguments& arguments) {
  const std::vector<Request> wanted = chosen(arguments.want);
  const Model model = model_of(arguments);
  std::vector<Node> nodes;
  nodes.reserve(wanted.size());
  for (const Request& request : wanted) {
    nodes.push_back(request.quantity == nullptr ? model.node(request.node) : Node{});
  }
  const Needs needs = needs_of(wanted);
  Evaluator evaluator(model, arguments.ideal ? PassiveForces::left_out : PassiveForces::included);
  const std::vector<double> at_rest(static_cast<std::size_t>(model.nv()));
  WholeOutput output;
  JsonWriter json;
  Progress progress;
  arguments.states.for_each(model, needs, [&](const State& state) {
    const std::vector<double>& v = needs.v ? state.v : at_rest;
    evaluator.state = &state;
    evaluator.kinematics.set_state(state.q, v);
    evaluator.dynamics.set_state(state.q, v);
    json.clear();
    json.begin_object();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      json.key(wanted[i].key);
      if (wanted[i].quantity != nullptr) {
        wanted[i].quantity->write(evaluator, json);
      } else {
        evaluator.dynamics.jacobian(nodes[i], wanted[i].frame,
                                    {evaluator.columns.data(), static_cast<std::size_t>(evaluator.columns.size())});
        write_rows(evaluator.columns, json);
      }
    }
    json.end_object().newline();
    output.write(json.text());
    progress.count();
  });
  output.commit();
}

}  // namespace

void add_eval(CLI::App& app, int& /*status*/) {
  CLI::App* command =
      app.add_subcommand("eval", "Evaluate quantities at one state, or at each of many: one JSON object a line");
  const auto arguments = std::make_shared<Arguments>();
  arguments->model.add_to(*command);
  std::string help = "what to compute, separated by commas:";
  for (const Quantity& quantity : quantities) {
    help += fmt::format("\n{}: {}", quantity.name, quantity.help);
  }
  help +=
      "\njacobian:NODE:FRAME: 6 × nv, angular over linear; FRAME is node, aligned (world axes at the node) or world";
  command->add_option("--want", arguments->want, help)->required()->option_text("LIST");
  command->add_option("--gravity", arguments->gravity, "gravity in the world in place of the model's")
      ->option_text("X,Y,Z");
  command->add_flag("--ideal", arguments->ideal, "leave out damping, friction, springs and limits; armature stays");
  arguments->states.add_to(*command);
  command->callback([arguments] { eval(*arguments); });
}

}  // namespace bunraku::cli
