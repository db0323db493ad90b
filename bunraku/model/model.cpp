#include "bunraku/model/model.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "bunraku/model/detail/validation.hpp"

namespace bunraku {

std::string_view to_string(ClosureKind kind) {
  switch (kind) {
    case ClosureKind::nodes:
      return "nodes";
    case ClosureKind::hinges:
      return "coupling";
    case ClosureKind::distance:
      return "distance";
    case ClosureKind::plane:
      return "plane";
    case ClosureKind::line:
      return "line";
    case ClosureKind::rows:
      return "rows";
    case ClosureKind::soft_finger:
      return "soft_finger";
  }
  return "nodes";
}

int closure_rows(const Closure& closure) {
  switch (closure.kind) {
    case ClosureKind::nodes:
      return 6 - closure.hinge.velocity_size();
    case ClosureKind::line:
      return 2;
    case ClosureKind::rows:
      return static_cast<int>(closure.rows.size());
    case ClosureKind::soft_finger:
      return 4;
    case ClosureKind::hinges:
    case ClosureKind::distance:
    case ClosureKind::plane:
      break;
  }
  return 1;
}

std::string_view to_string(Format format) {
  static constexpr std::array<std::string_view, 4> names = {"code", "urdf", "mjcf", "sdf"};
  return names[static_cast<std::size_t>(format)];
}

std::string_view to_string(ShapeType type) {
  static constexpr std::array<std::string_view, 7> names = {"sphere",    "box",   "cylinder", "capsule",
                                                            "ellipsoid", "plane", "mesh"};
  return names[static_cast<std::size_t>(type)];
}

void Model::make_indices(Data& data) {
  const auto sorted = [](Index& index) { std::sort(index.begin(), index.end()); };
  data.body_names.clear();
  data.hinge_names.clear();
  data.node_names.clear();
  for (int i = 0; i < static_cast<int>(data.bodies.size()); ++i) {
    data.body_names.emplace_back(data.bodies[static_cast<std::size_t>(i)].name, i);
    data.hinge_names.emplace_back(data.bodies[static_cast<std::size_t>(i)].hinge.name, i);
  }
  for (int i = 0; i < static_cast<int>(data.nodes.size()); ++i) {
    data.node_names.emplace_back(data.nodes[static_cast<std::size_t>(i)].name, i);
  }
  sorted(data.body_names);
  sorted(data.hinge_names);
  sorted(data.node_names);
}

namespace {

using Index = std::vector<std::pair<std::string_view, int>>;

std::optional<int> look_up(const Index& index, std::string_view name) {
  const auto at = std::lower_bound(index.begin(), index.end(), std::pair(name, world));
  return at != index.end() && at->first == name ? std::optional(at->second) : std::nullopt;
}

[[noreturn]] void unknown(std::string_view kind, std::string_view name, const Model& model,
                          std::initializer_list<const Index*> tables) {
  std::vector<std::string> known;
  for (const Index* table : tables) {
    for (const auto& entry : *table) {
      known.emplace_back(entry.first);
    }
  }
  throw ArgumentError(
      fmt::format("model '{}' has no {} '{}'{}", model.name(), kind, name, detail::did_you_mean(name, known)));
}

}  // namespace

const Body& Model::body(int i) const {
  if (i < 0 || std::cmp_greater_equal(i, data_->bodies.size())) {
    throw ArgumentError(fmt::format("model '{}' has no body {}: it has {}, and the world is not among them", name(), i,
                                    data_->bodies.size()));
  }
  return data_->bodies[static_cast<std::size_t>(i)];
}

std::optional<int> Model::find_body(std::string_view name) const {
  return name == world_name ? std::optional(world) : look_up(data_->body_names, name);
}

std::optional<int> Model::find_hinge(std::string_view name) const {
  return look_up(data_->hinge_names, name);
}

std::optional<Node> Model::find_node(std::string_view name) const {
  if (const auto body = find_body(name)) {
    return Node{std::string(name), *body, Transform<double>::identity()};
  }
  const Node* node = find_listed_node(name);
  return node != nullptr ? std::optional(*node) : std::nullopt;
}

const Node* Model::find_listed_node(std::string_view name) const {
  const auto node = look_up(data_->node_names, name);
  return node ? &nodes()[static_cast<std::size_t>(*node)] : nullptr;
}

int Model::body_index(std::string_view name) const {
  const auto found = find_body(name);
  return found ? *found : (unknown("body", name, *this, {&data_->body_names}), 0);
}

int Model::hinge_index(std::string_view name) const {
  const auto found = find_hinge(name);
  return found ? *found : (unknown("hinge", name, *this, {&data_->hinge_names}), 0);
}

Node Model::node(std::string_view name) const {
  auto found = find_node(name);
  return found ? *std::move(found) : (unknown("node", name, *this, {&data_->body_names, &data_->node_names}), Node{});
}

const ReferenceConfiguration* Model::find_reference(std::string_view name) const {
  const auto at = std::find_if(references().begin(), references().end(), [&](const auto& r) { return r.name == name; });
  return at == references().end() ? nullptr : &*at;
}

const ReferenceConfiguration& Model::reference(std::string_view name) const {
  if (const ReferenceConfiguration* const found = find_reference(name)) {
    return *found;
  }
  Index names;
  for (const ReferenceConfiguration& reference : references()) {
    names.emplace_back(reference.name, 0);
  }
  unknown("reference configuration", name, *this, {&names});
}

Model Model::with_gravity(const Vec3<double>& gravity) const {
  if (!is_finite(gravity)) {
    throw ArgumentError("gravity is not finite");
  }
  if (norm(gravity / largest_model_number) > 1) {
    throw ArgumentError(fmt::format("gravity is beyond {:.0e} m/s²", largest_model_number));
  }
  auto data = std::make_shared<Data>(*data_);
  data->gravity = gravity;
  make_indices(*data);  // its views must point into the copy
  return Model(std::move(data));
}

}  // namespace bunraku
