/// @file
/// Random systems with flexible bodies.
#include <array>

#include <fmt/format.h>

#include "papers/systems.hpp"

namespace bunraku::cli::papers {

namespace {

/// Random parts of a model.
struct Parts {
  Vec3<double> vec3(double size) const {
    return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
  }
  Vec3<double> unit() const {
    Vec3<double> v = vec3(1);
    while (squared_norm(v) < 0.01) {
      v = vec3(1);
    }
    return v / norm(v);
  }
  Transform<double> transform(double size) const {
    return {Rotation<double>::about_z(random.uniform(-3, 3)) * Rotation<double>::about_x(random.uniform(-3, 3)),
            vec3(size)};
  }
  /// Of some point masses.
  RigidInertia<double> inertia(double size) const {
    RigidInertia<double> out = RigidInertia<double>::zero();
    for (int i = 0; i < 6; ++i) {
      out += RigidInertia<double>::about_center(random.uniform(0.1, 0.4), vec3(size), {});
    }
    return out;
  }
  HingeType inner_type() const {
    static constexpr std::array types{HingeType::revolute,  HingeType::prismatic, HingeType::universal,
                                      HingeType::spherical, HingeType::helical,   HingeType::planar};
    return types[static_cast<std::size_t>(random.integer(0, static_cast<int>(types.size()) - 1))];
  }
  Hinge hinge(HingeType type) const {
    Hinge out;
    out.type = type;
    out.axis = unit();
    Vec3<double> across = cross(out.axis, unit());
    while (norm(across) < 0.1) {
      across = cross(out.axis, unit());
    }
    out.axis2 = across / norm(across);
    out.pitch = random.uniform(0.1, 0.5);
    return out;
  }
  /// A shape of so many modes: at random coordinates it turns and shifts its node far.
  ModalShape shape(int modes, bool shortening) const {
    ModalShape out;
    for (int i = 0; i < modes; ++i) {
      out.rotation.push_back(vec3(2.5));
      out.translation.push_back(vec3(1.5));
    }
    if (shortening) {  // S = AA*
      Eigen::MatrixXd A(modes, modes);
      for (double& each : A.reshaped()) {
        each = random.uniform(-1.5, 1.5);
      }
      const Eigen::MatrixXd S = A * A.transpose();
      out.shortening.assign(S.data(), S.data() + S.size());
      out.shortening_axis = unit();
    }
    return out;
  }
  FlexibleBody flexible(int modes, int nodes, bool shortening) const {
    FlexibleBody out;
    for (int i = 0; i < nodes; ++i) {
      out.nodes.push_back({.name = fmt::format("n{}", i),
                           .place = vec3(0.8),
                           .inertia = inertia(0.3),
                           .shape = shape(modes, shortening)});
    }
    for (int i = 0; i < modes; ++i) {
      out.stiffness.push_back(random.uniform(10, 60));
      out.damping.push_back(random.uniform(0.1, 2));
    }
    return out;
  }

  Random& random;
};

}  // namespace

Model random_flexible_tree(Random& random) {
  const Parts parts{random};
  const int bodies = random.integer(4, 6);
  ModelBuilder builder("flexible");
  builder.set_gravity(parts.vec3(10));
  std::vector<std::string> places;
  std::vector<std::string> nodes;
  for (int k = 0; k < bodies; ++k) {
    BodySpec body{.name = fmt::format("b{}", k)};
    const bool first = k == 0;
    if (!first) {
      body.parent = places[static_cast<std::size_t>(random.integer(0, static_cast<int>(places.size()) - 1))];
    }
    body.hinge = parts.hinge(first && random.integer(0, 1) == 0 ? HingeType::free : parts.inner_type());
    body.X_PF = parts.transform(0.5);
    body.X_MB = parts.transform(0.3);
    body.inertia = parts.inertia(0.4);
    places.push_back(body.name);
    if (k == 1 || k == bodies - 1 || random.integer(0, 1) == 0) {
      const int count = random.integer(2, 3);
      for (int j = 0; j < count; ++j) {
        places.push_back(fmt::format("{}.n{}", body.name, j));
        nodes.push_back(places.back());
      }
      add_flexible_body(builder, body, parts.flexible(random.integer(1, 5), count, random.integer(0, 1) == 0));
    } else {
      builder.add(body);
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    builder.add(NodeSpec{.name = fmt::format("tip{}", i),
                         .body = nodes[i == 0 ? nodes.size() - 1 : nodes.size() / 2],
                         .X_BN = parts.transform(0.4)});
  }
  return builder.build();
}

Model random_nodal_chain(Random& random) {
  const Parts parts{random};
  ModelBuilder builder("nodal");
  builder.set_gravity(parts.vec3(10));
  for (int k = 0; k < 3; ++k) {
    BodySpec link{.name = fmt::format("link{}", k), .inertia = parts.inertia(0.3)};
    link.parent = k == 0 ? std::string(world_name) : fmt::format("link{}.n0", k - 1);
    link.hinge = parts.hinge(k == 0 && random.integer(0, 1) == 0 ? HingeType::free : parts.inner_type());
    link.X_PF = parts.transform(0.3);
    const int nodes = random.integer(1, 3);
    FlexibleBody body = parts.flexible(6 * nodes, nodes, false);
    for (int j = 0; j < nodes; ++j) {
      ModalShape& shape = body.nodes[static_cast<std::size_t>(j)].shape;
      const auto n = static_cast<std::size_t>(6 * nodes);
      shape.rotation.assign(n, Vec3<double>::zero());
      shape.translation.assign(n, Vec3<double>::zero());
      for (int i = 0; i < 3; ++i) {
        const Vec3<double> axis{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
        shape.rotation[static_cast<std::size_t>(6 * j + i)] = axis;
        shape.translation[static_cast<std::size_t>(6 * j + 3 + i)] = axis;
      }
    }
    add_flexible_body(builder, link, body);
  }
  return builder.build();
}

FlexibleBody random_many_lumps(Random& random) {
  const Parts parts{random};
  FlexibleBody out = parts.flexible(3, 20, random.integer(0, 1) == 0);
  for (std::size_t i = 2; i < out.nodes.size(); ++i) {
    out.nodes[i].name.clear();
    if (i % 5 != 0) {
      out.nodes[i].inertia = {random.uniform(0.1, 0.4), {}, {}};
      out.nodes[i].shape.rotation.clear();
    }
    out.nodes[i].shape.shortening_axis = out.nodes.front().shape.shortening_axis;
  }
  out.inertia = parts.inertia(0.3);
  return out;
}

}  // namespace bunraku::cli::papers
