#include <vector>

#include "bunraku/model/builder.hpp"

namespace bunraku {

namespace {

/// The body that another becomes part of, and where on it.
struct Host {
  int body;
  Transform<double> X_HB;
};

void move_shapes(std::vector<Geometry> shapes, const Transform<double>& x, std::vector<Geometry>& to) {
  for (Geometry& shape : shapes) {
    shape.pose = x * shape.pose;
    to.push_back(std::move(shape));
  }
}

}  // namespace

Model merge_fixed(const Model& model) {
  std::vector<Host> hosts;
  std::vector<BodySpec> kept(model.bodies().size());
  hosts.reserve(model.bodies().size());
  ModelBuilder builder(model.name());
  builder.set_format(model.format()).set_gravity(model.gravity());
  const ModelBuilder original = edit(model);
  for (int i = 0; i < static_cast<int>(model.bodies().size()); ++i) {
    const Body& body = model.body(i);
    const bool merges = body.hinge.type == HingeType::fixed && body.parent != world;
    if (!merges) {
      hosts.push_back({i, Transform<double>::identity()});
      BodySpec& spec = kept[static_cast<std::size_t>(i)];
      spec = original.bodies()[static_cast<std::size_t>(i)];
      if (body.parent != world) {
        const Host& host = hosts[static_cast<std::size_t>(body.parent)];
        spec.parent = model.body(host.body).name;
        spec.X_PF = host.X_HB * spec.X_PF;
      }
      continue;
    }
    const Host& parent = hosts[static_cast<std::size_t>(body.parent)];
    const Host host{parent.body, parent.X_HB * body.X_PF * body.X_MB};
    BodySpec& spec = kept[static_cast<std::size_t>(host.body)];
    spec.inertia += host.X_HB * body.inertia;
    move_shapes(body.visuals, host.X_HB, spec.visuals);
    move_shapes(body.collisions, host.X_HB, spec.collisions);
    builder.add(NodeSpec{.name = body.name, .body = spec.name, .X_BN = host.X_HB, .where = body.where});
    hosts.push_back(host);
  }
  for (int i = 0; i < static_cast<int>(kept.size()); ++i) {
    if (hosts[static_cast<std::size_t>(i)].body == i) {
      builder.add(std::move(kept[static_cast<std::size_t>(i)]));
    }
  }
  for (const Node& node : model.nodes()) {
    NodeSpec spec{.name = node.name, .X_BN = node.X_BN};
    if (node.body != world) {
      const Host& host = hosts[static_cast<std::size_t>(node.body)];
      spec.body = model.body(host.body).name;
      spec.X_BN = host.X_HB * node.X_BN;
    }
    builder.add(std::move(spec));
  }
  for (const ClosureSpec& closure : original.closures()) {
    builder.add(closure);  // a merged body's name is a node now, so that its closures still find it
  }
  for (const ReferenceSpec& reference : original.references()) {
    builder.add(reference);
  }
  for (const Geometry& shape : model.world_geometry()) {
    builder.add_to_world(shape);
  }
  for (const Problem& warning : original.reports()) {
    builder.report(warning);
  }
  return builder.build();
}

}  // namespace bunraku
