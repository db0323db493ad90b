#include <fmt/format.h>

#include "bunraku/io/detail/urdf.hpp"

namespace bunraku::io {

Transform<double> read_urdf_pose(const XmlElement& element) {
  const Vec3<double> xyz = element.vector("xyz", Vec3<double>::zero());
  const Vec3<double> rpy = element.vector("rpy", Vec3<double>::zero());
  return {Rotation<double>::from_rpy(rpy.x, rpy.y, rpy.z), xyz};
}

Transform<double> read_urdf_origin(const XmlElement& parent) {
  const XmlElement origin = parent.child("origin");
  return origin ? read_urdf_pose(origin) : Transform<double>::identity();
}

bool UrdfShapes::read_shape(const XmlElement& geometry, Geometry& shape) const {
  const auto positive = [](const XmlElement& element, const char* name) {
    const double value = element.required_number(name);
    if (value < 0) {
      element.error(fmt::format("'{}' of <{}> is negative", name, element.name()), "give a length");
    }
    return value;
  };
  if (const XmlElement box = geometry.child("box")) {
    shape.type = ShapeType::box;
    box.required("size");
    shape.size = box.vector("size", Vec3<double>::zero());
    if (shape.size.x < 0 || shape.size.y < 0 || shape.size.z < 0) {
      box.error("'size' of <box> is negative", "give three lengths");
    }
  } else if (const XmlElement sphere = geometry.child("sphere")) {
    shape.type = ShapeType::sphere;
    shape.size.x = positive(sphere, "radius");
  } else if (const XmlElement cylinder = geometry.child("cylinder")) {
    shape.type = ShapeType::cylinder;
    shape.size = {positive(cylinder, "radius"), positive(cylinder, "length"), 0};
  } else if (const XmlElement capsule = geometry.child("capsule")) {
    shape.type = ShapeType::capsule;
    shape.size = {positive(capsule, "radius"), positive(capsule, "length"), 0};
  } else if (const XmlElement mesh = geometry.child("mesh")) {
    shape.type = ShapeType::mesh;
    shape.mesh_uri = mesh.required("filename");
    shape.mesh_path = context_.paths.find(shape.mesh_uri).string();
    shape.size = {1, 1, 1};
    if (const auto scale = mesh.numbers("scale", 1, 3); scale && scale->size() == 2) {
      mesh.error(fmt::format("'scale' of <mesh> in {} has 2 numbers where 1 or 3 are wanted", geometry.description()));
    } else if (scale) {
      shape.size = scale->size() == 3 ? Vec3<double>{(*scale)[0], (*scale)[1], (*scale)[2]}
                                      : Vec3<double>{1, 1, 1} * scale->front();
    }
  } else {
    geometry.error("<geometry> holds no shape that is known", "use one of: box, sphere, cylinder, capsule, mesh");
    return false;
  }
  return true;
}

UrdfShapes::Material UrdfShapes::read_material_body(const XmlElement& material) {
  Material out;
  const Lenient looks(material.document(), "it is not used");
  if (const XmlElement color = material.child("color")) {
    color.required("rgba");
    if (const auto rgba = color.numbers("rgba", 4, 4)) {
      out.color = {(*rgba)[0], (*rgba)[1], (*rgba)[2], (*rgba)[3]};
    }
  }
  if (const XmlElement texture = material.child("texture")) {
    out.texture = texture.required("filename");
  }
  return out;
}

void UrdfShapes::read_material(const XmlElement& visual, Geometry& shape) {
  const XmlElement material = visual.child("material");
  if (!material) {
    return;
  }
  shape.material = material.attribute("name").value_or("");
  Material found = read_material_body(material);
  if (!found.color && found.texture.empty()) {
    // a reference to a material described elsewhere; without one the looks are left open
    if (const auto known = materials_.find(shape.material); known != materials_.end()) {
      found = known->second;
    }
  } else if (!shape.material.empty()) {
    materials_.emplace(shape.material, found);
  }
  shape.color = found.color;
  shape.texture = found.texture;
}

std::vector<Geometry> UrdfShapes::read(const XmlElement& link, const char* tag) {
  std::vector<Geometry> shapes;
  for (const XmlElement& element : link.children(tag)) {
    const Lenient lenient(link.document(), "the shape is not used");  // no inertia depends on it
    Geometry shape;
    shape.name = element.attribute("name").value_or("");
    shape.pose = read_urdf_origin(element);
    const XmlElement geometry = element.child("geometry");
    if (!geometry) {
      element.error(fmt::format("<{}> of {} has no <geometry>", tag, link.description()), "add one");
      continue;
    }
    const bool known = read_shape(geometry, shape);
    read_material(element, shape);
    if (known && lenient.count() == 0) {
      shapes.push_back(std::move(shape));
    }
  }
  return shapes;
}

void UrdfShapes::read_materials(const XmlElement& robot) {
  for (const XmlElement& material : robot.children("material")) {
    const Lenient looks(robot.document(), "the material is not used");
    const std::string name(material.required("name"));
    if (!materials_.emplace(name, read_material_body(material)).second && !name.empty()) {
      material.warning(fmt::format("there is a second material '{}': the first is used", name));
    }
  }
}

}  // namespace bunraku::io
