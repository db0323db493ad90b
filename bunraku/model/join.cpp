#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "bunraku/model/changes.hpp"

namespace bunraku {

namespace {

/// Names that are unique among their kind.
void note_names(const ModelBuilder& builder, std::set<std::pair<std::string, std::string>>& names) {
  for (const BodySpec& body : builder.bodies()) {
    names.emplace("node", body.name);
    names.emplace("hinge", body.hinge.name);
  }
  for (const NodeSpec& node : builder.nodes()) {
    names.emplace("node", node.name);
  }
  for (const ClosureSpec& closure : builder.closures()) {
    names.emplace("closure", closure.name);
  }
}

void refuse_clashes(const ModelBuilder& ours, const ModelBuilder& theirs, const Model& a, const Model& b,
                    std::string_view prefix) {
  std::set<std::pair<std::string, std::string>> left;
  std::set<std::pair<std::string, std::string>> right;
  std::vector<std::pair<std::string, std::string>> both;
  note_names(ours, left);
  note_names(theirs, right);
  std::ranges::set_intersection(left, right, std::back_inserter(both));
  if (!both.empty()) {
    throw ArgumentError(fmt::format(
        "models '{}' and '{}' both have a {} called '{}'{}: join them with {} prefix for the names of the second",
        a.name(), b.name(), both[0].first, both[0].second,
        both.size() > 1 ? fmt::format(", and share {} names more", both.size() - 1) : "",
        prefix.empty() ? "a" : "another"));
  }
}

/// Gives each name the prefix; b's world becomes `root` at X_RW.
void rename(ModelBuilder& builder, const std::string& prefix, const std::string& root, const std::string& world_node,
            const Transform<double>& X_RW) {
  const auto renamed = [&](std::string& name, const std::string& the_world) {
    name = name == world_name ? the_world : prefix + name;
  };
  for (BodySpec& body : builder.bodies()) {
    body.X_PF = body.parent == world_name ? X_RW * body.X_PF : body.X_PF;
    renamed(body.parent, root);
    body.name = prefix + body.name;
    body.hinge.name = prefix + body.hinge.name;
    if (body.hinge.mimic) {
      body.hinge.mimic->hinge = prefix + body.hinge.mimic->hinge;
    }
  }
  for (NodeSpec& node : builder.nodes()) {
    node.X_BN = node.body == world_name ? X_RW * node.X_BN : node.X_BN;
    renamed(node.body, root);
    node.name = prefix + node.name;
  }
  for (ClosureSpec& closure : builder.closures()) {
    closure.name = prefix + closure.name;
    const bool nodes = closure.kind != ClosureKind::hinges;
    for (std::string* side : {&closure.a, &closure.b}) {
      if (nodes) {
        renamed(*side, world_node);
      } else if (!side->empty()) {
        *side = prefix + *side;
      }
    }
  }
  for (ReferenceSpec& reference : builder.references()) {
    std::map<std::string, std::vector<double>> positions;
    for (auto& [hinge, q] : reference.positions) {
      positions.emplace(prefix + hinge, std::move(q));
    }
    reference.positions = std::move(positions);
  }
}

const ReferenceSpec* find(const std::vector<ReferenceSpec>& references, std::string_view name) {
  const auto at = std::ranges::find(references, name, &ReferenceSpec::name);
  return at == references.end() ? nullptr : &*at;
}

/// Adds the positions of the reference of that name, or of the initial one.
void complete(ReferenceSpec& reference, const std::vector<ReferenceSpec>& others) {
  const ReferenceSpec* other = find(others, reference.name);
  other = other != nullptr ? other : find(others, initial_name);
  if (other != nullptr) {
    reference.positions.insert(other->positions.begin(), other->positions.end());
  }
}

std::vector<ReferenceSpec> joined(const std::vector<ReferenceSpec>& a, const std::vector<ReferenceSpec>& b) {
  std::vector<ReferenceSpec> out;
  for (ReferenceSpec reference : a) {
    complete(reference, b);
    out.push_back(std::move(reference));
  }
  for (ReferenceSpec reference : b) {
    if (find(a, reference.name) == nullptr) {
      complete(reference, a);
      out.push_back(std::move(reference));
    }
  }
  return out;
}

}  // namespace

Model join(const Model& a, std::string_view node, const Model& b, std::string_view prefix, const Hinge& hinge) {
  const Node at = a.node(node);
  std::string root = at.body == world ? std::string(world_name) : a.body(at.body).name;
  std::string world_node(node);
  Transform<double> X_RW = at.X_BN;
  ModelBuilder builder = edit(a);
  ModelBuilder other = edit(b);
  ModelBuilder base;
  if (hinge.type != HingeType::fixed) {
    base.add_body(
        {.name = std::string(prefix) + std::string(world_name), .parent = root, .hinge = hinge, .X_PF = X_RW});
    root = world_node = base.bodies()[0].name;
    X_RW = Transform<double>::identity();
    if (root == world_name) {
      throw ArgumentError("a moving base of the second model needs a name: join them with a prefix");
    }
  }
  rename(other, std::string(prefix), root, world_node, X_RW);
  other.bodies().insert(other.bodies().begin(), base.bodies().begin(), base.bodies().end());
  refuse_clashes(builder, other, a, b, prefix);
  for (Geometry shape : b.world_geometry()) {
    shape.pose = X_RW * shape.pose;
    if (root == world_name) {
      builder.add_to_world(std::move(shape));
    } else {
      std::vector<BodySpec>& bodies = base.bodies().empty() ? builder.bodies() : other.bodies();
      std::ranges::find(bodies, root, &BodySpec::name)->visuals.push_back(std::move(shape));
    }
  }
  if (b.gravity() != a.gravity()) {
    builder.report({Severity::warning,
                    {},
                    fmt::format("the gravity of '{}' is not that of '{}', which is kept", b.name(), a.name()),
                    "see Model::with_gravity"});
  }
  for (const Problem& warning : other.reports()) {
    builder.report(warning);
  }
  builder.references() = joined(builder.references(), other.references());
  std::ranges::move(other.bodies(), std::back_inserter(builder.bodies()));
  std::ranges::move(other.nodes(), std::back_inserter(builder.nodes()));
  std::ranges::move(other.closures(), std::back_inserter(builder.closures()));
  return builder.build();
}

}  // namespace bunraku
