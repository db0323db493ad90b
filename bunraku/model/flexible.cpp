#include "bunraku/model/flexible.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "bunraku/model/detail/validation.hpp"

namespace bunraku {

namespace {

/// The name of a node's body.
std::string node_name(std::string_view body, std::string_view node) {
  return fmt::format("{}.{}", body, node);
}

bool all_finite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
}

/// What is wrong with a node's shapes, or nothing.
std::string fault_of(const FlexibleNode& node, std::size_t modes) {
  const ModalShape& shape = node.shape;
  if (shape.translation.size() != modes || (!shape.rotation.empty() && shape.rotation.size() != modes)) {
    return fmt::format("has shapes of {} modes, not of {}", shape.translation.size(), modes);
  }
  if (!shape.shortening.empty() && shape.shortening.size() != modes * modes) {
    return fmt::format("has {} numbers of shortening, not {}", shape.shortening.size(), modes * modes);
  }
  if (!is_finite(node.place) || !std::all_of(shape.translation.begin(), shape.translation.end(), is_finite) ||
      !std::all_of(shape.rotation.begin(), shape.rotation.end(), is_finite) || !is_finite(shape.shortening_axis) ||
      !all_finite(shape.shortening)) {
    return "has a place or a shape that is not finite";
  }
  for (std::size_t i = 0; i < shape.shortening.size(); ++i) {
    const double other = shape.shortening[i % modes * modes + i / modes];
    if (std::abs(shape.shortening[i] - other) > 1e-9 * (std::abs(other) + std::abs(shape.shortening[i]))) {
      return "has a shortening that is not symmetric";
    }
  }
  return {};
}

/// Throws ModelError with all that is wrong.
void check_flexible(const BodySpec& body, const FlexibleBody& flexible) {
  std::vector<Problem> problems;
  const auto refuse = [&](const std::string& text, const std::string& cure) {
    problems.push_back({Severity::error, body.where, fmt::format("flexible body '{}' {}", body.name, text), cure});
  };
  const std::size_t modes = flexible.stiffness.size();
  if (modes > static_cast<std::size_t>(max_modes)) {
    refuse(fmt::format("has {} modes", modes), fmt::format("{} are the most", max_modes));
  }
  if (!flexible.damping.empty() && flexible.damping.size() != modes) {
    refuse(fmt::format("has {} numbers of damping for {} modes", flexible.damping.size(), modes),
           "give one for each mode, or none");
  }
  if (modes > 0 && flexible.nodes.empty()) {
    refuse("has modes and no nodes", "give the nodes that they move");
  }
  for (std::size_t i = 0; i < modes; ++i) {
    const double damping = i < flexible.damping.size() ? flexible.damping[i] : 0;
    if (!(flexible.stiffness[i] >= 0) || !std::isfinite(flexible.stiffness[i])) {
      refuse(fmt::format("has the stiffness {} in mode {}", flexible.stiffness[i], i + 1), "give zero or more");
    }
    if (!(damping >= 0) || !std::isfinite(damping)) {
      refuse(fmt::format("has the damping {} in mode {}", damping, i + 1), "give zero or more");
    }
  }
  std::set<std::string> names;
  for (const FlexibleNode& node : flexible.nodes) {
    const std::string called = node.name.empty() ? "a nameless node" : fmt::format("node '{}'", node.name);
    if (!node.name.empty() && !names.insert(node.name).second) {
      refuse(fmt::format("has two nodes '{}'", node.name), "give each a name of its own");
    }
    if (const std::string fault = fault_of(node, modes); !fault.empty()) {
      refuse(fmt::format("is wrong: {} {}", called, fault), "give each node finite shapes of all modes");
    }
    if (!std::isfinite(node.inertia.mass) || node.inertia.mass < 0) {
      refuse(fmt::format("has {} of mass {}", called, node.inertia.mass), "give zero or more");
    }
  }
  if (!problems.empty()) {
    throw ModelError(std::move(problems));
  }
}

/// Modes whose shape turns nothing are without rotation, which is cheaper.
std::shared_ptr<const ModalShape> shared_shape(ModalShape shape) {
  const auto is_zero = [](const Vec3<double>& x) { return x == Vec3<double>::zero(); };
  if (std::all_of(shape.rotation.begin(), shape.rotation.end(), is_zero)) {
    shape.rotation.clear();
  }
  if (std::all_of(shape.shortening.begin(), shape.shortening.end(), [](double x) { return x == 0; })) {
    shape.shortening.clear();
  }
  return std::make_shared<const ModalShape>(std::move(shape));
}

/// The node's inertia about the body's origin.
RigidInertia<double> at_frame(const FlexibleNode& node) {
  return Transform<double>::translate(node.place) * node.inertia;
}

/// Whether a node does not move with the modes.
bool stands_still(const FlexibleNode& node) {
  const auto is_zero = [](const Vec3<double>& x) { return x == Vec3<double>::zero(); };
  return std::all_of(node.shape.translation.begin(), node.shape.translation.end(), is_zero) &&
         std::all_of(node.shape.rotation.begin(), node.shape.rotation.end(), is_zero) &&
         std::all_of(node.shape.shortening.begin(), node.shape.shortening.end(), [](double x) { return x == 0; });
}

/// The bodies of a flexible body: its frame, and one for each node.
std::vector<BodySpec> bodies_of(BodySpec frame, const FlexibleBody& flexible) {
  const std::string name = frame.name;
  const SourceLocation where = frame.where;
  frame.inertia += flexible.inertia;
  std::vector<BodySpec> out = {std::move(frame)};
  const int modes = flexible.modes();
  std::set<std::string> taken;
  for (const FlexibleNode& node : flexible.nodes) {
    taken.insert(node.name);
  }
  int lumps = 0;
  const auto lump_name = [&] {
    std::string free;
    do {
      free = fmt::format("lump{}", ++lumps);
    } while (taken.contains(free));
    return free;
  };
  std::string leader;
  int hinges = 0;
  for (const FlexibleNode& node : flexible.nodes) {
    const bool rigid = modes == 0 || stands_still(node);
    if (rigid) {
      out.front().inertia += at_frame(node);
      if (node.name.empty()) {
        continue;
      }
    }
    BodySpec spec{.name = node_name(name, node.name.empty() ? lump_name() : node.name),
                  .parent = name,
                  .X_PF = Transform<double>::translate(node.place),
                  .where = where};
    if (!rigid) {
      spec.inertia = node.inertia;
      spec.hinge.type = HingeType::modal;
      spec.hinge.modal = shared_shape(node.shape);
      spec.hinge.name = ++hinges == 1 ? name + ".modes" : fmt::format("{}.modes{}", name, hinges);
      if (hinges == 1) {
        leader = spec.hinge.name;
        spec.hinge.dofs.resize(static_cast<std::size_t>(modes));
        for (std::size_t i = 0; i < spec.hinge.dofs.size(); ++i) {
          spec.hinge.dofs[i].stiffness = flexible.stiffness[i];
          spec.hinge.dofs[i].damping = flexible.damping.empty() ? 0 : flexible.damping[i];
        }
      } else {
        spec.hinge.mimic = Mimic{leader, 1, 0};
      }
    }
    out.push_back(std::move(spec));
  }
  return out;
}

}  // namespace

void add_flexible_body(ModelBuilder& builder, BodySpec body, const FlexibleBody& flexible) {
  check_flexible(body, flexible);
  for (BodySpec& each : bodies_of(std::move(body), with_fewest_lumps(flexible))) {
    builder.add(std::move(each));
  }
}

void make_flexible(ModelBuilder& builder, std::string_view body, const FlexibleBody& flexible,
                   const std::map<std::string, std::string>& held) {
  BodySpec frame = builder.body(body);
  check_flexible(frame, flexible);
  const auto node_of = [&](const std::string& wanted) -> const FlexibleNode& {
    const auto node = std::find_if(flexible.nodes.begin(), flexible.nodes.end(),
                                   [&](const FlexibleNode& each) { return each.name == wanted; });
    if (node == flexible.nodes.end() || wanted.empty()) {
      throw ArgumentError(fmt::format("flexible body '{}' has no node '{}'", body, wanted));
    }
    return *node;
  };
  std::set<std::string_view> found;
  const auto move = [&](const std::string& name, std::string& owner, Transform<double>& X) {
    const auto at = held.find(name);
    if (owner == body && at != held.end()) {
      const FlexibleNode& node = node_of(at->second);
      owner = node_name(body, node.name);
      X = Transform<double>::translate(-node.place) * X;
      found.insert(at->first);
    }
  };
  std::vector<BodySpec> bodies = builder.bodies();
  std::vector<NodeSpec> nodes = builder.nodes();
  for (BodySpec& each : bodies) {
    move(each.hinge.name, each.parent, each.X_PF);
  }
  for (NodeSpec& each : nodes) {
    move(each.name, each.body, each.X_BN);
  }
  for (const auto& [name, node] : held) {
    if (!found.contains(name)) {
      throw ArgumentError(fmt::format(
          "body '{}' has no hinge and no node '{}' on it, which its flexible node '{}' is to hold", body, name, node));
    }
  }
  frame.inertia = RigidInertia<double>::zero();
  const auto place =
      std::find_if(bodies.begin(), bodies.end(), [&](const BodySpec& each) { return each.name == body; });
  std::vector<BodySpec> made = bodies_of(std::move(frame), with_fewest_lumps(flexible));
  *place = std::move(made.front());
  bodies.insert(place + 1, std::make_move_iterator(made.begin() + 1), std::make_move_iterator(made.end()));
  builder.bodies() = std::move(bodies);
  builder.nodes() = std::move(nodes);
}

FlexibleBody flexible_body(const Model& model, const FlexiblePart& part) {
  FlexibleBody out;
  const std::string prefix = part.body == world ? std::string() : model.body(part.body).name + ".";
  for (const HingeDof& dof : model.body(part.nodes.front()).hinge.dofs) {
    out.stiffness.push_back(dof.stiffness);
    out.damping.push_back(dof.damping);
  }
  for (const int i : part.nodes) {
    const Body& body = model.body(i);
    out.nodes.push_back({.name = body.name.starts_with(prefix) ? body.name.substr(prefix.size()) : body.name,
                         .place = body.X_PF.translation,
                         .inertia = body.X_MB * body.inertia,
                         .shape = *body.hinge.modal});
  }
  if (part.body != world) {
    out.inertia = model.body(part.body).inertia;
  }
  return out;
}

}  // namespace bunraku
