#include "bunraku/io/urdf_writer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <tinyxml2.h>

namespace bunraku {

namespace {

std::optional<std::string_view> urdf_type(HingeType type) {
  switch (type) {
    case HingeType::fixed:
    case HingeType::revolute:
    case HingeType::continuous:
    case HingeType::prismatic:
    case HingeType::planar:
      return to_string(type);
    case HingeType::free:
      return "floating";
    default:
      return std::nullopt;
  }
}

/// Whether a body's hinge is what a URDF reader gives a root link without a joint.
bool is_plain_root(const Body& body) {
  return body.parent == world && body.hinge.type == HingeType::fixed &&
         body.X_PF * body.X_MB == Transform<double>::identity() && body.hinge.name == "root_joint";
}

/// Reading orders x of a planar hinge by its normal alone.
bool planar_axes_follow(const Hinge& hinge) {
  return norm(hinge.axis2 - perpendicular(hinge.axis)) < 1e-12;
}

/// What no way of writing can save.
std::vector<std::string> unwritable(const Model& model) {
  std::vector<std::string> out;
  const auto check_name = [&](const std::string& name) {
    if (name.find("${") != std::string::npos) {  // readers would take the file for a xacro file
      out.push_back(fmt::format("a name is '{}'", name));
    }
  };
  for (const Node& node : model.nodes()) {
    check_name(node.name);
  }
  for (const Body& body : model.bodies()) {
    check_name(body.name);
    check_name(body.hinge.name);
    if (!urdf_type(body.hinge.type)) {
      out.push_back(fmt::format("hinge '{}' is {}", body.hinge.name, to_string(body.hinge.type)));
    } else if (body.hinge.type == HingeType::planar && !planar_axes_follow(body.hinge)) {
      out.push_back(fmt::format("planar hinge '{}' has an x axis of its own", body.hinge.name));
    }
  }
  return out;
}

void hinge_losses(const Hinge& hinge, std::vector<std::string>& out) {
  const auto differs = [&](const HingeDof& dof) {
    const HingeDof& first = hinge.dofs.front();
    return dof.damping != first.damping || dof.friction != first.friction || dof.velocity != first.velocity ||
           dof.effort != first.effort;
  };
  if (std::any_of(hinge.dofs.begin(), hinge.dofs.end(), differs)) {
    out.push_back(fmt::format("the coordinates of hinge '{}' have friction or limits of their own", hinge.name));
  }
  for (const HingeDof& dof : hinge.dofs) {
    if (dof.armature != 0) {
      out.push_back(fmt::format("hinge '{}' has armature", hinge.name));
    }
    if (dof.stiffness != 0) {
      out.push_back(fmt::format("hinge '{}' has a spring", hinge.name));
    }
    const bool limited = std::isfinite(dof.lower) || std::isfinite(dof.upper);
    if (limited && hinge.type != HingeType::revolute && hinge.type != HingeType::prismatic) {
      out.push_back(fmt::format("{} hinge '{}' has limits", to_string(hinge.type), hinge.name));
    }
    if (dof.armature != 0 || dof.stiffness != 0 || limited) {
      return;
    }
  }
}

void shape_losses(const std::vector<Geometry>& shapes, const std::string& body, std::vector<std::string>& out) {
  for (const Geometry& shape : shapes) {
    if (shape.type == ShapeType::ellipsoid || shape.type == ShapeType::plane) {
      out.push_back(fmt::format("body '{}' has a shape that is {}", body, to_string(shape.type)));
    }
  }
}

/// An element being written: attributes by name, children below.
class Writer {
 public:
  Writer() { printer_.OpenElement("robot"); }

  Writer& open(const char* tag) {
    printer_.OpenElement(tag);
    return *this;
  }
  Writer& attribute(const char* name, std::string_view value) {
    printer_.PushAttribute(name, std::string(value).c_str());
    return *this;
  }
  /// Zero is added so that no number is written as -0.
  Writer& attribute(const char* name, double value) { return attribute(name, fmt::format("{}", value + 0.0)); }
  Writer& attribute(const char* name, const Vec3<double>& v) {
    return attribute(name, fmt::format("{} {} {}", v.x + 0.0, v.y + 0.0, v.z + 0.0));
  }
  Writer& close() {
    printer_.CloseElement();
    return *this;
  }
  Writer& origin(const Transform<double>& x) {
    if (x != Transform<double>::identity()) {
      open("origin").attribute("xyz", x.translation).attribute("rpy", x.rotation.rpy()).close();
    }
    return *this;
  }
  std::string text() {
    printer_.CloseElement();
    return std::string("<?xml version=\"1.0\"?>\n") + printer_.CStr();
  }

 private:
  tinyxml2::XMLPrinter printer_;
};

/// The name of a mesh, seen from the folder of the file that names it.
std::string mesh_name(const Geometry& shape, const std::string& folder) {
  if (folder.empty() || shape.mesh_path.empty() || shape.mesh_uri.find("://") != std::string::npos) {
    return shape.mesh_uri;
  }
  std::error_code error;
  const std::filesystem::path relative = std::filesystem::proximate(shape.mesh_path, folder, error);
  return error ? shape.mesh_uri : relative.string();
}

void write_shape(Writer& out, const Geometry& shape, const char* tag, const std::string& folder) {
  if (shape.type == ShapeType::ellipsoid || shape.type == ShapeType::plane) {
    return;
  }
  out.open(tag);
  if (!shape.name.empty()) {
    out.attribute("name", shape.name);
  }
  out.origin(shape.pose).open("geometry").open(std::string(to_string(shape.type)).c_str());
  switch (shape.type) {
    case ShapeType::sphere:
      out.attribute("radius", shape.size.x);
      break;
    case ShapeType::box:
      out.attribute("size", shape.size);
      break;
    case ShapeType::mesh:
      out.attribute("filename", mesh_name(shape, folder)).attribute("scale", shape.size);
      break;
    default:
      out.attribute("radius", shape.size.x).attribute("length", shape.size.y);
  }
  out.close().close();
  if (shape.color || !shape.material.empty() || !shape.texture.empty()) {
    out.open("material").attribute("name", shape.material);
    if (shape.color) {
      const auto& c = *shape.color;
      out.open("color").attribute("rgba", fmt::format("{} {} {} {}", c[0], c[1], c[2], c[3])).close();
    }
    if (!shape.texture.empty()) {
      out.open("texture").attribute("filename", shape.texture).close();
    }
    out.close();
  }
  out.close();
}

void write_link(Writer& out, const Body& body, const std::string& folder) {
  out.open("link").attribute("name", body.name);
  if (body.inertia != RigidInertia<double>::zero()) {
    const Sym3<double> i = body.inertia.central();
    out.open("inertial").origin(Transform<double>::translate(body.inertia.center()));
    out.open("mass").attribute("value", body.inertia.mass).close();
    out.open("inertia").attribute("ixx", i.xx).attribute("ixy", i.xy).attribute("ixz", i.xz);
    out.attribute("iyy", i.yy).attribute("iyz", i.yz).attribute("izz", i.zz).close().close();
  }
  for (const Geometry& shape : body.visuals) {
    write_shape(out, shape, "visual", folder);
  }
  for (const Geometry& shape : body.collisions) {
    write_shape(out, shape, "collision", folder);
  }
  out.close();
}

void write_joint(Writer& out, const Hinge& hinge, std::string_view type, const std::string& parent,
                 const std::string& child, const Transform<double>& pose) {
  out.open("joint").attribute("name", hinge.name).attribute("type", type).origin(pose);
  out.open("parent").attribute("link", parent).close();
  out.open("child").attribute("link", child).close();
  if (hinge.type != HingeType::fixed && hinge.type != HingeType::free) {
    out.open("axis").attribute("xyz", hinge.axis).close();
  }
  if (!hinge.dofs.empty()) {
    const HingeDof& dof = hinge.dofs.front();
    const bool bounded = hinge.type == HingeType::revolute || hinge.type == HingeType::prismatic;
    const bool rated = std::isfinite(dof.velocity) || std::isfinite(dof.effort);
    if (bounded || rated) {
      out.open("limit");
      if (bounded) {
        out.attribute("lower", dof.lower).attribute("upper", dof.upper);
      }
      out.attribute("velocity", dof.velocity).attribute("effort", dof.effort).close();
    }
    if (dof.damping != 0 || dof.friction != 0) {
      out.open("dynamics").attribute("damping", dof.damping).attribute("friction", dof.friction).close();
    }
  }
  if (hinge.mimic) {
    out.open("mimic").attribute("joint", hinge.mimic->hinge);
    out.attribute("multiplier", hinge.mimic->ratio).attribute("offset", hinge.mimic->offset).close();
  }
  out.close();
}

/// `name`, or with as many underscores as it takes for no body, node or hinge to have it.
std::string free_name(const Model& model, std::string name) {
  while (model.find_node(name) || model.find_hinge(name)) {
    name += '_';
  }
  return name;
}

std::vector<Problem> as_problems(const std::vector<std::string>& losses) {
  std::vector<Problem> out;
  for (const std::string& loss : losses) {
    bunraku::detail::add_problem(out, {Severity::error, {}, "URDF cannot say that " + loss, {}});
  }
  return out;
}

}  // namespace

std::vector<std::string> urdf_losses(const Model& model) {
  std::vector<std::string> out = unwritable(model);
  for (const Body& body : model.bodies()) {
    hinge_losses(body.hinge, out);
    shape_losses(body.visuals, body.name, out);
    shape_losses(body.collisions, body.name, out);
  }
  for (const Closure& closure : model.closures()) {
    out.push_back(fmt::format("closure '{}' closes a loop", closure.name));
  }
  for (const Node& node : model.nodes()) {
    if (node.body == world) {
      out.push_back(fmt::format("node '{}' is on the world", node.name));
    }
  }
  if (model.gravity() != standard_gravity) {
    out.emplace_back("gravity is not the standard");
  }
  if (!model.world_geometry().empty()) {
    out.emplace_back("the world has shapes");
  }
  return out;
}

std::string to_urdf(const Model& model, const UrdfOptions& options) {
  const std::vector<std::string> problems = options.loss == UrdfLoss::refuse ? urdf_losses(model) : unwritable(model);
  if (!problems.empty()) {
    throw ModelError(as_problems(problems));
  }
  Writer out;
  out.attribute("name", bunraku::detail::is_blank(model.name()) ? "robot" : model.name());
  const bool needs_world =
      model.bodies().empty() || !std::all_of(model.bodies().begin(), model.bodies().end(),
                                             [](const Body& b) { return b.parent != world || is_plain_root(b); });
  if (needs_world) {
    out.open("link").attribute("name", world_name).close();
  }
  for (const Body& body : model.bodies()) {
    write_link(out, body, options.folder);
    if (is_plain_root(body)) {
      continue;
    }
    const std::string parent = body.parent == world ? std::string(world_name) : model.body(body.parent).name;
    const std::string_view type = *urdf_type(body.hinge.type);
    if (body.X_MB == Transform<double>::identity()) {
      write_joint(out, body.hinge, type, parent, body.name, body.X_PF);
    } else if (body.hinge.type == HingeType::fixed) {
      write_joint(out, body.hinge, type, parent, body.name, body.X_PF * body.X_MB);
    } else {
      const std::string frame = free_name(model, body.name + "_hinge_frame");
      out.open("link").attribute("name", frame).close();
      write_joint(out, body.hinge, type, parent, frame, body.X_PF);
      write_joint(out, {.name = free_name(model, body.name + "_mount")}, "fixed", frame, body.name, body.X_MB);
    }
  }
  for (const Node& node : model.nodes()) {
    if (node.body == world) {
      continue;
    }
    out.open("link").attribute("name", node.name).close();
    write_joint(out, {.name = free_name(model, node.name + "_mount")}, "fixed", model.body(node.body).name, node.name,
                node.X_BN);
  }
  return out.text();
}

}  // namespace bunraku
