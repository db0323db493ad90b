#include "bunraku/model/builder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bunraku/model/detail/builder_parts.hpp"

namespace bunraku {

namespace {

bool is_among(const std::vector<Problem>& problems, const Problem& problem) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
    return p.text == problem.text && p.where.line == problem.where.line && p.where.file == problem.where.file;
  });
}

}  // namespace

ModelBuilder::ModelBuilder(std::string name) : parts_(std::make_unique<Parts>()) {
  parts_->name = std::move(name);
}
ModelBuilder::~ModelBuilder() = default;
ModelBuilder::ModelBuilder(const ModelBuilder& other) : parts_(std::make_unique<Parts>(*other.parts_)) {}
ModelBuilder& ModelBuilder::operator=(const ModelBuilder& other) {
  if (this != &other) {
    parts_ = std::make_unique<Parts>(*other.parts_);
  }
  return *this;
}
ModelBuilder::ModelBuilder(ModelBuilder&&) noexcept = default;
ModelBuilder& ModelBuilder::operator=(ModelBuilder&&) noexcept = default;

ModelBuilder& ModelBuilder::set_name(std::string name) {
  parts_->name = std::move(name);
  return *this;
}
ModelBuilder& ModelBuilder::set_format(Format format) {
  parts_->format = format;
  return *this;
}
ModelBuilder& ModelBuilder::set_gravity(const Vec3<double>& gravity) {
  parts_->gravity = gravity;
  return *this;
}
ModelBuilder& ModelBuilder::add_body(BodySpec body) {
  if (body.hinge.name.empty()) {
    body.hinge.name = body.name + "_hinge";
  }
  parts_->bodies.push_back(std::move(body));
  return *this;
}
ModelBuilder& ModelBuilder::add_node(NodeSpec node) {
  parts_->nodes.push_back(std::move(node));
  return *this;
}
ModelBuilder& ModelBuilder::add_closure(ClosureSpec closure) {
  parts_->closures.push_back(std::move(closure));
  return *this;
}
ModelBuilder& ModelBuilder::add_reference(ReferenceSpec reference) {
  parts_->references.push_back(std::move(reference));
  return *this;
}
ModelBuilder& ModelBuilder::add_to_world(Geometry geometry) {
  parts_->world_geometry.push_back(std::move(geometry));
  return *this;
}
ModelBuilder& ModelBuilder::report(Problem problem) {
  detail::add_problem(parts_->reported, std::move(problem));
  return *this;
}

const std::vector<BodySpec>& ModelBuilder::bodies() const {
  return parts_->bodies;
}
const std::vector<NodeSpec>& ModelBuilder::nodes() const {
  return parts_->nodes;
}
const std::vector<ClosureSpec>& ModelBuilder::closures() const {
  return parts_->closures;
}
const std::vector<ReferenceSpec>& ModelBuilder::references() const {
  return parts_->references;
}
const std::vector<Problem>& ModelBuilder::reports() const {
  return parts_->reported;
}
std::vector<BodySpec>& ModelBuilder::bodies() {
  return parts_->bodies;
}
std::vector<NodeSpec>& ModelBuilder::nodes() {
  return parts_->nodes;
}
std::vector<ClosureSpec>& ModelBuilder::closures() {
  return parts_->closures;
}
std::vector<ReferenceSpec>& ModelBuilder::references() {
  return parts_->references;
}

BodySpec& ModelBuilder::body(std::string_view name) {
  const auto at = std::find_if(bodies().begin(), bodies().end(), [&](const BodySpec& b) { return b.name == name; });
  if (at != bodies().end()) {
    return *at;
  }
  std::vector<std::string> known;
  for (const BodySpec& body : bodies()) {
    known.push_back(body.name);
  }
  throw ArgumentError(fmt::format("there is no body '{}'{}", name, detail::did_you_mean(name, known)));
}

std::vector<Problem> ModelBuilder::check() const {
  ProblemList problems(parts_->reported);
  parts_->assemble(problems);
  return std::move(problems.problems());
}

Model ModelBuilder::build(Strictness strictness) const {
  ProblemList problems(parts_->reported);
  const std::shared_ptr<Model::Data> data = parts_->assemble(problems);
  if (problems.has_errors() || (strictness == Strictness::strict && !problems.problems().empty())) {
    throw ModelError(std::move(problems.problems()));
  }
  for (Problem& warning : problems.problems()) {
    if (!is_among(data->warnings, warning)) {
      data->warnings.push_back(std::move(warning));
    }
  }
  Model::make_indices(*data);
  return Model(data);
}

ModelBuilder edit(const Model& model) {
  ModelBuilder builder(model.name());
  builder.set_format(model.format()).set_gravity(model.gravity());
  const auto name_of = [&](int body) { return body == world ? std::string(world_name) : model.body(body).name; };
  for (const Body& body : model.bodies()) {
    builder.add(BodySpec{.name = body.name,
                         .parent = name_of(body.parent),
                         .hinge = body.hinge,
                         .X_PF = body.X_PF,
                         .X_MB = body.X_MB,
                         .inertia = body.inertia,
                         .visuals = body.visuals,
                         .collisions = body.collisions,
                         .where = body.where,
                         .hinge_where = body.hinge_where});
  }
  for (const Node& node : model.nodes()) {
    builder.add(NodeSpec{.name = node.name, .body = name_of(node.body), .X_BN = node.X_BN});
  }
  for (const Closure& c : model.closures()) {
    const auto hinge_name = [&](int body) { return body == world ? std::string() : model.body(body).hinge.name; };
    const bool nodes = c.kind != ClosureKind::hinges;
    builder.add(ClosureSpec{.name = c.name,
                            .kind = c.kind,
                            .hinge = c.hinge,
                            .length = c.length,
                            .rows = c.rows,
                            .a = nodes ? c.a.name : hinge_name(c.hinge_a),
                            .b = nodes ? c.b.name : hinge_name(c.hinge_b),
                            .polynomial = c.polynomial,
                            .reference_a = c.reference_a,
                            .reference_b = c.reference_b,
                            .where = c.where});
  }
  for (const ReferenceConfiguration& reference : model.references()) {
    ReferenceSpec spec{.name = reference.name, .where = reference.where};
    for (const Body& body : model.bodies()) {
      if (body.nq > 0) {
        const auto first = reference.q.begin() + body.q_index;
        spec.positions[body.hinge.name].assign(first, first + body.nq);
      }
    }
    builder.add_reference(std::move(spec));
  }
  for (const Geometry& shape : model.world_geometry()) {
    builder.add_to_world(shape);
  }
  // what the check finds again is not of the file: it goes where its cause is mended
  const std::vector<Problem> found = builder.check();
  for (const Problem& warning : model.warnings()) {
    if (!is_among(found, warning)) {
      builder.report(warning);
    }
  }
  return builder;
}

}  // namespace bunraku
