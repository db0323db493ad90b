#include <fmt/format.h>

#include "bunraku/io/detail/sdf.hpp"
#include "bunraku/io/detail/solids.hpp"

namespace bunraku::io::sdf {

namespace {

/// The density of water, which the format takes where it is not said.
constexpr double default_density = 1000;

Solid weigh_solid(const Geometry& shape) {
  const Vec3<double>& s = shape.size;
  switch (shape.type) {
    case ShapeType::box:
      return full_shape("box", s * 0.5);
    case ShapeType::sphere:
      return full_shape("sphere", s);
    case ShapeType::cylinder:
      return full_shape("cylinder", {s.x, s.y / 2, 0});
    case ShapeType::capsule:
      return full_shape("capsule", {s.x, s.y / 2, 0});
    case ShapeType::ellipsoid:
      return full_shape("ellipsoid", s);
    case ShapeType::plane:
    case ShapeType::mesh:
      break;
  }
  return {};  // a plane weighs nothing
}

double read_density(const XmlElement& element, double otherwise) {
  const double density = read_number(element, "density", otherwise);
  if (density < 0) {
    element.error(fmt::format("the density {} is negative", density), "give a density of zero or more");
    return otherwise;
  }
  return density;
}

}  // namespace

bool weighs_shapes(const XmlElement& link) {
  const XmlElement inertial = link.child("inertial");
  return inertial && inertial.flag("auto", false);
}

RigidInertia<double> Scales::weigh(const XmlElement& collision, const Link& link, double density) {
  const auto shape = read_shape(collision, link, frames_, paths_);
  if (!shape) {
    return RigidInertia<double>::zero();
  }
  density = read_density(collision, density);
  const Mat3<double>& turn = shape->pose.rotation.matrix();
  if (shape->type != ShapeType::mesh) {
    const Solid solid = weigh_solid(*shape);
    const double mass = density * solid.volume;
    const Vec3<double> m = solid.moments * mass;
    return RigidInertia<double>::about_center(mass, shape->pose.translation,
                                              congruence(turn, Sym3<double>::diagonal(m.x, m.y, m.z)));
  }
  std::string problem = "its file is not found";
  std::optional<Mesh> mesh;
  if (!shape->mesh_path.empty()) {
    mesh = io::read_mesh(shape->mesh_path, bytes_left_, problem);
  }
  std::optional<MeshProperties> properties;
  if (mesh) {
    for (Vec3<double>& v : mesh->vertices) {
      v = {v.x * shape->size.x, v.y * shape->size.y, v.z * shape->size.z};
    }
    properties = mesh_properties(*mesh, MeshInside::exact);
    problem = "it has no volume";
  }
  if (!properties) {
    collision.error(fmt::format("the inertia of {} is not known, whose mesh is '{}': {}", collision.description(),
                                bunraku::detail::printable(shape->mesh_uri, 100), problem),
                    "write <mass> and <inertia>");
    return RigidInertia<double>::zero();
  }
  // a mesh that is turned inside out, or mirrored, has all of it negative
  const double mass = density * std::abs(properties->volume);
  return RigidInertia<double>::about_center(mass, shape->pose * properties->center,
                                            congruence(turn, properties->central * (mass / properties->volume)));
}

RigidInertia<double> Scales::weigh(const Link& link) {
  const XmlElement inertial = link.element.child("inertial");
  const double density = read_density(inertial, default_density);
  RigidInertia<double> sum = RigidInertia<double>::zero();
  for (const XmlElement& collision : link.element.children("collision")) {
    sum = sum + weigh(collision, link, density);
  }
  for (const char* tag : {"pose", "inertia"}) {
    if (const XmlElement given = inertial.child(tag)) {
      given.mark_all_used();
      given.warning(fmt::format("<{}> of <inertial auto=\"true\"> is not used: it is computed", tag));
    }
  }
  if (!(sum.mass > 0)) {
    inertial.error(fmt::format("{} wants its inertia computed from its <collision>s, which have no mass",
                               link.element.description()),
                   "add a <collision> with a shape, or write <mass> and <inertia>");
    return RigidInertia<double>::about_center(1, Vec3<double>::zero(), Sym3<double>::diagonal(1, 1, 1));
  }
  if (inertial.child("mass")) {
    const double scale = read_number(inertial, "mass", sum.mass) / sum.mass;
    if (scale < 0) {
      inertial.error("the mass is negative", "give a mass of zero or more");
    }
    return {sum.mass * scale, sum.first_moment * scale, sum.inertia * scale};
  }
  return sum;
}

}  // namespace bunraku::io::sdf
