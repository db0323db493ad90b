#include <fmt/format.h>

#include "bunraku/io/detail/sdf.hpp"

namespace bunraku::io::sdf {

namespace {

/// One of the six numbers of `<inertia>`; the format's default where it is missing.
double read_moment(const XmlElement& inertia, const char* tag, double otherwise, std::string& missing) {
  if (!inertia.child(tag)) {
    missing += missing.empty() ? tag : std::string(", ") + tag;
  }
  return read_number(inertia, tag, otherwise);
}

Sym3<double> read_moments(const XmlElement& inertial) {
  const XmlElement inertia = inertial.child("inertia");
  if (!inertia) {
    inertial.warning("<inertial> has no <inertia>: the format's default, the unit matrix, is taken",
                     "add <inertia> with ixx, iyy, izz");
    return Sym3<double>::diagonal(1, 1, 1);
  }
  std::string missing;
  std::string products;  // zero is what everybody expects of those
  const Sym3<double> out{read_moment(inertia, "ixx", 1, missing),  read_moment(inertia, "iyy", 1, missing),
                         read_moment(inertia, "izz", 1, missing),  read_moment(inertia, "ixy", 0, products),
                         read_moment(inertia, "ixz", 0, products), read_moment(inertia, "iyz", 0, products)};
  if (!missing.empty()) {
    inertia.warning(fmt::format("<inertia> has no {}: the format's default, 1 kg m², is taken", missing),
                    "write all three moments");
  }
  return out;
}

double read_mass(const XmlElement& inertial) {
  const XmlElement mass = inertial.child("mass");
  if (!mass) {
    inertial.warning("<inertial> has no <mass>: the format's default, 1 kg, is taken", "add <mass>");
    return 1;
  }
  const double value = mass.text_number(1);
  if (value < 0) {
    mass.error(fmt::format("the mass {} is negative", value), "give a mass of zero or more");
    return 1;
  }
  return value;
}

bool read_positive(const XmlElement& shape, const char* tag, double& out) {
  const XmlElement child = shape.child(tag);
  if (!child) {
    shape.error(fmt::format("<{}> has no <{}>", shape.name(), tag), fmt::format("add <{}>", tag));
    return false;
  }
  out = child.text_number(1);
  if (out < 0) {
    child.error(fmt::format("the {} {} is negative", tag, out), "give its size");
    return false;
  }
  return true;
}

void read_plane(const XmlElement& plane, Geometry& out) {
  out.type = ShapeType::plane;
  if (const XmlElement size = plane.child("size")) {
    if (const auto n = size.text_numbers(2, 2)) {
      out.size = {(*n)[0], (*n)[1], 0};
    }
    if (out.size.x < 0 || out.size.y < 0) {
      size.error("<size> of <plane> has a negative number", "give lengths of zero or more");
    }
  } else {
    out.size = {1, 1, 0};
  }
  const Vec3<double> normal = read_vector(plane, "normal", Vec3<double>::unit_z());
  if (normal == Vec3<double>::zero()) {
    plane.error("the normal of <plane> is zero", "give its direction, such as 0 0 1");
    return;
  }
  out.pose =
      out.pose * Transform<double>::rotate(Rotation<double>::between(Vec3<double>::unit_z(), normalized(normal)));
}

void read_mesh(const XmlElement& mesh, const Source& source, const PathResolver& paths, Geometry& out) {
  out.type = ShapeType::mesh;
  out.size = read_vector(mesh, "scale", {1, 1, 1});
  if (const XmlElement uri = mesh.child("uri"); uri && !uri.text().empty()) {
    out.mesh_uri = uri.text();
    out.mesh_path = paths.find(out.mesh_uri, source.folder).string();
  } else {
    mesh.error("<mesh> has no <uri>", "add <uri>the mesh file</uri>");
  }
}

/// Three lengths.
bool read_lengths(const XmlElement& shape, const char* tag, Vec3<double>& out) {
  const XmlElement child = shape.child(tag);
  if (!child) {
    shape.error(fmt::format("<{}> has no <{}>", shape.name(), tag), fmt::format("add <{}>", tag));
    return false;
  }
  const auto n = child.text_numbers(3, 3);
  if (!n) {
    return false;
  }
  out = {(*n)[0], (*n)[1], (*n)[2]};
  if (out.x < 0 || out.y < 0 || out.z < 0) {
    child.error(fmt::format("<{}> of <{}> has a negative number", tag, shape.name()), "give lengths of zero or more");
    return false;
  }
  return true;
}

/// False for a shape that is not known, or none.
bool read_geometry(const XmlElement& geometry, const Source& source, const PathResolver& paths, Geometry& out) {
  if (const XmlElement box = geometry.child("box")) {
    out.type = ShapeType::box;
    return read_lengths(box, "size", out.size);
  } else if (const XmlElement sphere = geometry.child("sphere")) {
    out.type = ShapeType::sphere;
    return read_positive(sphere, "radius", out.size.x);
  } else if (const XmlElement cylinder = geometry.child("cylinder")) {
    out.type = ShapeType::cylinder;
    return read_positive(cylinder, "radius", out.size.x) && read_positive(cylinder, "length", out.size.y);
  } else if (const XmlElement capsule = geometry.child("capsule")) {
    out.type = ShapeType::capsule;
    return read_positive(capsule, "radius", out.size.x) && read_positive(capsule, "length", out.size.y);
  } else if (const XmlElement ellipsoid = geometry.child("ellipsoid")) {
    out.type = ShapeType::ellipsoid;
    return read_lengths(ellipsoid, "radii", out.size);
  } else if (const XmlElement plane = geometry.child("plane")) {
    read_plane(plane, out);
  } else if (const XmlElement mesh = geometry.child("mesh")) {
    read_mesh(mesh, source, paths, out);
  } else {
    if (geometry.children().empty()) {
      geometry.error("<geometry> has no shape", "add one, such as <box>, or <empty/>");
    }
    geometry.child("empty");  // known to be nothing; any other shape is then listed as not used
    return false;
  }
  return true;
}

void read_material(const XmlElement& shape, Geometry& out) {
  const XmlElement material = shape.child("material");
  if (!material) {
    return;
  }
  const Lenient looks(shape.document(), "it is not used");
  XmlElement color = material.child("diffuse");
  color = color ? color : material.child("ambient");
  const auto n = color ? color.text_numbers(3, 4) : std::nullopt;
  if (n) {
    out.color = {(*n)[0], (*n)[1], (*n)[2], n->size() == 4 ? (*n)[3] : 1.0};
  }
}

}  // namespace

RigidInertia<double> read_inertial(const XmlElement& link) {
  const XmlElement inertial = link.child("inertial");
  if (!inertial) {
    link.warning(
        fmt::format("{} has no <inertial>: the format's default, 1 kg with unit inertia, is taken", link.description()),
        "add <inertial> with <mass> and <inertia>");
    return RigidInertia<double>::about_center(1, Vec3<double>::zero(), Sym3<double>::diagonal(1, 1, 1));
  }
  const XmlElement pose_element = inertial.child("pose");
  const Pose pose = read_pose(pose_element);
  if (!pose.relative_to.empty() && pose.relative_to != link.attribute("name")) {
    pose_element.error("the pose of <inertial> is always that in the link", "remove 'relative_to'");
  }
  const double mass = read_mass(inertial);
  const Sym3<double> central = congruence(pose.X.rotation.matrix(), read_moments(inertial));
  return RigidInertia<double>::about_center(mass, pose.X.translation, central);
}

std::optional<Geometry> read_shape(const XmlElement& element, const Link& link, const FrameGraph& frames,
                                   const PathResolver& paths) {
  Geometry shape;
  shape.name = element.required("name");
  const XmlElement pose_element = element.child("pose");
  const Pose pose = read_pose(pose_element);
  shape.pose = pose.X;
  if (!pose.relative_to.empty()) {
    const Frame& own = frames[link.frame];
    if (const auto base = frames.find(pose.relative_to, own.scope, own.home, pose_element)) {
      shape.pose = frames.relative(link.frame, base->frame) * pose.X;
    }
  }
  read_material(element, shape);
  const XmlElement geometry = element.child("geometry");
  if (!geometry) {
    element.error(fmt::format("{} has no <geometry>", element.description()), "add <geometry> with a shape");
    return std::nullopt;
  }
  return read_geometry(geometry, *link.source, paths, shape) ? std::optional(std::move(shape)) : std::nullopt;
}

std::vector<Geometry> read_shapes(const Link& link, const char* tag, const FrameGraph& frames,
                                  const PathResolver& paths) {
  std::vector<Geometry> out;
  for (const XmlElement& element : link.element.children(tag)) {
    const Lenient lenient(element.document(), "the shape is not used");  // no inertia that is stated depends on it
    auto shape = read_shape(element, link, frames, paths);
    if (shape && lenient.count() == 0) {
      out.push_back(std::move(*shape));
    }
  }
  return out;
}

}  // namespace bunraku::io::sdf
