#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/dynamics/assembly.hpp"
#include "bunraku/dynamics/closed_dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/flexible.hpp"
#include "commands.hpp"
#include "json_writer.hpp"
#include "output.hpp"

namespace bunraku::cli {

namespace {

std::string name_of(const Model& model, int body) {
  return body == world ? std::string(world_name) : model.body(body).name;
}

/// Whether a body is a node of a flexible one: it is shown with that.
bool is_node(const Body& body) {
  return body.hinge.type == HingeType::modal;
}

/// The body that others see: of a node the flexible body that it is on.
int owner_of(const Model& model, int body) {
  return body != world && is_node(model.body(body)) ? model.body(body).parent : body;
}

/// The flexible body whose frame a body is, or null.
const FlexiblePart* flexible_of(const Model& model, const Body& body) {
  for (const FlexiblePart& part : model.flexible()) {
    if (part.body != world && &model.body(part.body) == &body) {
      return &part;
    }
  }
  return nullptr;
}

/// Of the body held still; none where its own mass does not resist all of its modes, and what hangs on it does.
std::vector<double> frequencies_of(const Model& model, const FlexiblePart& part) {
  try {
    return held_frequencies(flexible_body(model, part));
  } catch (const ArgumentError&) {
    return {};
  }
}

void write_flexible(JsonWriter& json, const Model& model, const FlexiblePart& part) {
  const std::vector<double> frequencies = frequencies_of(model, part);
  json.key("flexible").begin_object().key("modes").value(part.modes);
  json.key("q_index").value(part.q_index).key("v_index").value(part.v_index);
  json.key("frequencies").value(std::span<const double>(frequencies)).key("nodes").begin_array();
  for (const int node : part.nodes) {
    json.value(model.body(node).name);
  }
  json.end_array().end_object();
}

/// Of a flexible body all of it, at rest.
RigidInertia<double> inertia_of(const Model& model, const Body& body) {
  const FlexiblePart* const flexible = flexible_of(model, body);
  return flexible == nullptr ? body.inertia : rigid_inertia(flexible_body(model, *flexible));
}

void write_body(JsonWriter& json, const Model& model, const Body& body) {
  const FlexiblePart* const flexible = flexible_of(model, body);
  const RigidInertia<double> inertia = inertia_of(model, body);
  json.begin_object().key("name").value(body.name);
  json.key("parent").value(name_of(model, owner_of(model, body.parent)));
  json.key("mass").value(inertia.mass);
  json.key("com").value(inertia.center());
  json.key("inertia").value(inertia.central().full());
  const Hinge& hinge = body.hinge;
  json.key("hinge").begin_object().key("name").value(hinge.name).key("type").value(to_string(hinge.type));
  json.key("nq").value(body.nq).key("nv").value(body.nv);
  json.key("q_index").value(body.q_index).key("v_index").value(body.v_index);
  json.key("mimic");
  if (hinge.mimic) {
    json.begin_object().key("hinge").value(hinge.mimic->hinge);
    json.key("ratio").value(hinge.mimic->ratio).key("offset").value(hinge.mimic->offset).end_object();
  } else {
    json.null();
  }
  json.end_object();
  if (flexible != nullptr) {
    write_flexible(json, model, *flexible);
  }
  json.end_object();
}

/// The polynomial of q_b itself that q_a is: the references are multiplied out.
std::array<double, 5> plain_polynomial(const Closure& closure) {
  std::array<double, 5> out{};
  for (std::size_t i = closure.polynomial.size(); i-- > 0;) {  // Horner, with x − reference_b in place of x
    for (std::size_t j = out.size() - 1; j > 0; --j) {
      out[j] = out[j - 1] - closure.reference_b * out[j];
    }
    out[0] = closure.polynomial[i] - closure.reference_b * out[0];
  }
  out[0] += closure.reference_a;
  return out;
}

void write_closure(JsonWriter& json, const Model& model, const Closure& closure) {
  json.begin_object().key("name").value(closure.name);
  const auto vector = [&](const char* key, const Vec3<double>& x) {
    json.key(key).begin_array().value(x.x).value(x.y).value(x.z).end_array();
  };
  const bool nodes = closure.kind == ClosureKind::nodes;
  if (closure.kind != ClosureKind::hinges) {
    json.key("type").value(nodes ? to_string(closure.hinge.type) : to_string(closure.kind));
    json.key("a").value(closure.a.name).key("b").value(closure.b.name);
    if (nodes ? has_axis(closure.hinge.type)
              : closure.kind == ClosureKind::plane || closure.kind == ClosureKind::line ||
                    closure.kind == ClosureKind::soft_finger) {
      vector("axis", closure.hinge.axis);
    }
    if (nodes && has_second_axis(closure.hinge.type)) {
      vector("axis2", closure.hinge.axis2);
    }
    if (nodes && closure.hinge.type == HingeType::helical) {
      json.key("pitch").value(closure.hinge.pitch);
    }
    if (closure.kind == ClosureKind::distance) {
      json.key("length").value(closure.length);
    }
  } else {
    json.key("type").value("coupling").key("hinge_a").value(model.body(closure.hinge_a).hinge.name).key("hinge_b");
    if (closure.hinge_b == world) {
      json.null();
    } else {
      json.value(model.body(closure.hinge_b).hinge.name);
    }
    json.key("polynomial").begin_array();
    for (const double coefficient : plain_polynomial(closure)) {
      json.value(coefficient);
    }
    json.end_array();
  }
  json.end_object();
}

/// What the loops of a model come to.
struct Loops {
  int freedoms = 0;                    ///< Degrees of freedom with all closures holding.
  int rows = 0;                        ///< Equations of the closures.
  int rank = 0;                        ///< How many are independent.
  std::vector<std::string> redundant;  ///< Closures whose forces are not all unique.
  bool closed = true;                  ///< Whether a configuration was found that closes them.
  double residual = 0;                 ///< The gap where none was.
};

/// At a generic configuration: one that is closed, near where the model starts but not at it, where symmetry may hide
/// freedoms.
Loops loops_of(const Model& model) {
  if (model.closures().empty()) {
    return {.freedoms = model.nv(), .redundant = {}};
  }
  ClosedSystem system(model);
  system.state().set(initial_configuration(model));
  AssemblyResult result = assemble(system);
  if (!result.closed) {
    result = assemble(system, {.limits = false});
  }
  if (result.closed) {
    const Eigen::VectorXd there = system.state().q();
    const Eigen::VectorXd away =
        0.05 * difference(model, there, random_configuration(model, 1)).cwiseMin(1).cwiseMax(-1);
    system.state().set(integrate(model, there, away, 1.0));
    if (!assemble(system, {.limits = false}).closed) {
      system.state().set(there);
    }
  }
  const ClosureReport& report = closure_report(system);
  return {report.degrees_of_freedom, report.rows, report.rank, report.redundant, result.closed, result.residual};
}

std::string as_json(const Model& model) {
  JsonWriter json;
  json.begin_object().key("name").value(model.name()).key("format").value(to_string(model.format()));
  json.key("nq").value(model.nq()).key("nv").value(model.nv()).key("dof").value(loops_of(model).freedoms);
  json.key("mass").value(model.mass()).key("gravity").value(model.gravity());
  json.key("bodies").begin_array();
  for (const Body& body : model.bodies()) {
    if (!is_node(body)) {
      write_body(json, model, body);
    }
  }
  json.end_array().key("nodes").begin_array();
  for (const Body& body : model.bodies()) {
    if (is_node(body)) {
      json.value(body.name);
    }
  }
  for (const Node& node : model.nodes()) {
    json.value(node.name);
  }
  json.end_array().key("closures").begin_array();
  for (const Closure& closure : model.closures()) {
    write_closure(json, model, closure);
  }
  json.end_array().key("references").begin_object();
  for (const ReferenceConfiguration& reference : model.references()) {
    json.key(reference.name).value(std::span<const double>(reference.q));
  }
  json.end_object().key("warnings").begin_array();
  for (const Problem& warning : model.warnings()) {
    json.begin_object().key("file").value(warning.where.file).key("line").value(warning.where.line);
    json.key("text").value(warning.text).end_object();
  }
  json.end_array().end_object().newline();
  return std::string(json.text());
}

std::string hinge_text(const Body& body) {
  std::string out = fmt::format("{} {}", to_string(body.hinge.type), body.hinge.name);
  if (body.hinge.mimic) {
    const Mimic& mimic = *body.hinge.mimic;
    return out + fmt::format(", = {:g}·{}{}", mimic.ratio, mimic.hinge,
                             mimic.offset == 0 ? "" : fmt::format(" {:+g}", mimic.offset));
  }
  if (body.nv == 1) {
    out += fmt::format(", dof {}", body.v_index);
  } else if (body.nv > 1) {
    out += fmt::format(", dofs {}–{}", body.v_index, body.v_index + body.nv - 1);
  }
  return out;
}

std::string as_text(const Model& model) {
  std::string out = fmt::format("{} ({}): {} bodies, {} degrees of freedom, {:.6g} kg, gravity [{:g}, {:g}, {:g}]\n",
                                model.name(), to_string(model.format()),
                                std::count_if(model.bodies().begin(), model.bodies().end(), std::not_fn(is_node)),
                                model.nv(), model.mass(), model.gravity().x, model.gravity().y, model.gravity().z);
  out += draw_tree(model);
  if (!model.flexible().empty()) {
    out += "flexible bodies:\n";
    for (const FlexiblePart& part : model.flexible()) {
      out += fmt::format("  {}: modes are dofs {}–{}, held still {:.4g} Hz; nodes", name_of(model, part.body),
                         part.v_index, part.v_index + part.modes - 1, fmt::join(frequencies_of(model, part), ", "));
      for (const int node : part.nodes) {
        out += " " + model.body(node).name;
      }
      out += '\n';
    }
  }
  if (!model.nodes().empty()) {
    out += "nodes:\n";
    for (const Node& node : model.nodes()) {
      out += fmt::format("  {} on {}\n", node.name, name_of(model, node.body));
    }
  }
  if (!model.closures().empty()) {
    out += "closures:\n";
    for (const Closure& c : model.closures()) {
      if (c.kind != ClosureKind::hinges) {
        out += fmt::format("  {}: {} — {}, {}\n", c.name, c.a.name, c.b.name,
                           c.kind == ClosureKind::nodes ? to_string(c.hinge.type) : to_string(c.kind));
      } else {
        out += fmt::format("  {}: hinge {} follows {}\n", c.name, model.body(c.hinge_a).hinge.name,
                           c.hinge_b == world ? "a constant" : model.body(c.hinge_b).hinge.name);
      }
    }
    const Loops loops = loops_of(model);
    out += fmt::format("  {} equations of rank {}: {} degrees of freedom with all closures holding\n", loops.rows,
                       loops.rank, loops.freedoms);
    if (!loops.closed) {
      out += fmt::format("  no configuration was found that closes all of them: open by {:.3g}\n", loops.residual);
    }
    if (!loops.redundant.empty()) {
      out += fmt::format("  not all forces are unique in: {}\n", fmt::join(loops.redundant, ", "));
    }
  }
  if (!model.references().empty()) {
    out += "reference configurations:\n";
    for (const ReferenceConfiguration& reference : model.references()) {
      out += fmt::format("  {}: {:.6g}\n", reference.name, fmt::join(reference.q, " "));
    }
  }
  for (const Problem& warning : model.warnings()) {
    out += "warning: " + to_string(warning) + "\n";
  }
  return out;
}

}  // namespace

std::string draw_tree(const Model& model) {
  constexpr std::size_t deepest_prefix = 240;
  std::vector<std::vector<int>> children(model.bodies().size() + 1);
  for (int i = 0; i < static_cast<int>(model.bodies().size()); ++i) {
    if (!is_node(model.body(i))) {
      children[static_cast<std::size_t>(owner_of(model, model.body(i).parent) + 1)].push_back(i);
    }
  }
  std::string out = std::string(world_name) + "\n";
  struct Row {
    int body;
    std::string prefix;
    bool last;
  };
  std::vector<Row> open;
  const auto push_children = [&](int body, const std::string& prefix) {
    const std::vector<int>& below = children[static_cast<std::size_t>(body + 1)];
    for (std::size_t k = below.size(); k-- > 0;) {
      open.push_back({below[k], prefix, k + 1 == below.size()});
    }
  };
  push_children(world, "");
  while (!open.empty()) {
    const Row row = std::move(open.back());
    open.pop_back();
    const Body& body = model.body(row.body);
    const FlexiblePart* const flexible = flexible_of(model, body);
    out += fmt::format("{}{}{}  [{}]  {:.6g} kg{}\n", row.prefix, row.last ? "└─ " : "├─ ", body.name, hinge_text(body),
                       inertia_of(model, body).mass,
                       flexible == nullptr ? "" : fmt::format(", {} modes", flexible->modes));
    // a chain of thousands would make a drawing of millions of characters
    const bool too_deep = row.prefix.size() > deepest_prefix;
    push_children(row.body, too_deep ? row.prefix : row.prefix + (row.last ? "   " : "│  "));
  }
  return out;
}

void add_info(CLI::App& app, int& /*status*/) {
  struct InfoArguments {
    ModelArguments model;
    bool json = false;
  };
  CLI::App* command =
      app.add_subcommand("info", "Show a model: its tree, hinges, masses, closures, and what was ignored");
  const auto arguments = std::make_shared<InfoArguments>();
  arguments->model.add_to(*command);
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments] {
    const Model model = arguments->model.load();
    const std::string text = arguments->json ? as_json(model) : as_text(model);
    print(text);
  });
}

}  // namespace bunraku::cli
