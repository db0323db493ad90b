/// Reads URDF: links, joints, and the extensions that other readers of the format know (capsules, frames).

#include "bunraku/io/detail/urdf.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

namespace bunraku::io {

namespace {

constexpr std::array<std::string_view, 7> joint_types = {"revolute", "continuous", "prismatic", "fixed",
                                                         "floating", "planar",     "spherical"};

class UrdfReader {
 public:
  UrdfReader(XmlElement robot, const ReaderContext& context)
      : robot_(robot),
        context_(context),
        builder_(std::string(robot.attribute("name").value_or(""))),
        shapes_(context) {}

  ModelBuilder read();

 private:
  struct Joint {
    XmlElement element;
    std::string name;
    std::string parent;
    std::string child;
  };

  void refuse_xacro() const;
  void read_links();
  void read_joints();
  void read_frames();
  void add_roots();
  void add_body(const Joint& joint);
  Hinge read_hinge(const Joint& joint);
  void read_mimic(const XmlElement& joint, Hinge& hinge);
  std::string leader_suggestion(const XmlElement& joint, const std::string& leader);
  void read_limits(const XmlElement& joint, HingeType type, HingeDof& dof) const;

  RigidInertia<double> read_inertia(const XmlElement& link) const;
  std::string known_link(const XmlElement& joint, const char* tag) const;

  XmlElement robot_;
  const ReaderContext& context_;
  ModelBuilder builder_;
  UrdfShapes shapes_;
  std::map<std::string, XmlElement, std::less<>> links_;
  std::vector<std::string> link_order_;
  std::vector<Joint> joints_;
  std::set<std::string, std::less<>> joint_names_;  // those of joints with errors too
  int suggested_leaders_ = 0;
};

RigidInertia<double> UrdfReader::read_inertia(const XmlElement& link) const {
  const XmlElement inertial = link.child("inertial");
  if (!inertial) {
    return RigidInertia<double>::zero();
  }
  const Transform<double> pose = read_urdf_origin(inertial);
  double mass = 0;
  if (const XmlElement element = inertial.child("mass")) {
    mass = element.required_number("value");
    if (mass < 0) {
      element.error(fmt::format("the mass of {} is negative", link.description()), "give a mass of zero or more");
      mass = 0;
    }
  } else {
    inertial.error(fmt::format("<inertial> of {} has no <mass>", link.description()), "add <mass value=\"…\"/>");
  }
  Sym3<double> central = Sym3<double>::zero();
  if (const XmlElement element = inertial.child("inertia")) {
    central = {element.required_number("ixx"), element.required_number("iyy"), element.required_number("izz"),
               element.number("ixy", 0),       element.number("ixz", 0),       element.number("iyz", 0)};
  } else {
    inertial.error(fmt::format("<inertial> of {} has no <inertia>", link.description()),
                   "add <inertia ixx=\"…\" ixy=\"…\" ixz=\"…\" iyy=\"…\" iyz=\"…\" izz=\"…\"/>");
  }
  return RigidInertia<double>::about_center(mass, pose.translation, congruence(pose.rotation.matrix(), central));
}

void UrdfReader::read_links() {
  shapes_.read_materials(robot_);
  for (const XmlElement& link : robot_.children("link")) {
    const std::string name(link.required("name"));
    const auto [at, fresh] = links_.emplace(name, link);
    if (!fresh) {
      link.error(fmt::format("there is a link '{}' twice: line {} has it too", name, at->second.where().line),
                 "give each a name of its own");
      continue;
    }
    link_order_.push_back(name);
  }
}

std::string UrdfReader::known_link(const XmlElement& joint, const char* tag) const {
  const XmlElement element = joint.child(tag);
  if (!element) {
    joint.error(fmt::format("{} has no <{}>", joint.description(), tag), fmt::format("add <{} link=\"…\"/>", tag));
    return {};
  }
  std::string link(element.required("link"));
  if (!link.empty() && link != world_name && !links_.contains(link)) {
    element.error(fmt::format("the {} of {} is link '{}', which does not exist{}", tag, joint.description(),
                              bunraku::detail::printable(link, 60), robot_.document().suggestion(link, link_order_)),
                  "name a link of this file");
    return {};
  }
  return link;
}

void UrdfReader::read_joints() {
  std::unordered_map<std::string, int> children;
  for (const XmlElement& element : robot_.children("joint")) {
    Joint joint{element, std::string(element.required("name")), known_link(element, "parent"),
                known_link(element, "child")};
    joint_names_.insert(joint.name);
    if (joint.child == world_name) {
      element.error(fmt::format("the child of {} is 'world'", element.description()), "exchange parent and child");
      continue;
    }
    if (joint.parent.empty() || joint.child.empty() || joint.name.empty()) {
      continue;
    }
    const auto [at, fresh] = children.emplace(joint.child, element.where().line);
    if (!fresh) {
      element.error(
          fmt::format("link '{}' is the child of a second joint: line {} has the first", joint.child, at->second),
          "a URDF is a tree: keep one joint, and close the loop in a .yaml file beside it");
      continue;
    }
    joints_.push_back(std::move(joint));
  }
}

void UrdfReader::read_limits(const XmlElement& joint, HingeType type, HingeDof& dof) const {
  const XmlElement limit = joint.child("limit");
  const bool bounded = type == HingeType::revolute || type == HingeType::prismatic;
  if (!limit) {
    if (bounded) {
      joint.warning(fmt::format("{} has no <limit>: it is taken as unlimited", joint.description()),
                    "add <limit lower=\"…\" upper=\"…\" effort=\"…\" velocity=\"…\"/>, or make it continuous");
    }
    return;
  }
  // the format's own default for a missing bound is 0; as both missing would pin the joint, that means no bounds
  if (bounded && (limit.has("lower") || limit.has("upper"))) {
    const double lower = limit.number("lower", 0, Finite::or_inf);
    const double upper = limit.number("upper", 0, Finite::or_inf);
    if (lower > upper) {
      limit.warning(fmt::format("the lower limit {} of {} is above the upper limit {}: it is taken as unlimited", lower,
                                joint.description(), upper),
                    "exchange the two");
    } else {
      dof.lower = lower;
      dof.upper = upper;
    }
  }
  const auto size = [&](const char* name, double& value) {
    value = limit.number(name, value, Finite::or_inf);
    if (value < 0) {
      limit.warning(
          fmt::format("'{}' of the limit of {} is negative: it is taken as unlimited", name, joint.description()),
          "give its size");
      value = std::numeric_limits<double>::infinity();
    }
  };
  size("velocity", dof.velocity);
  size("effort", dof.effort);
}

Hinge UrdfReader::read_hinge(const Joint& joint) {
  const XmlElement& element = joint.element;
  Hinge hinge;
  hinge.name = joint.name;
  element.required("type");
  const std::string_view type = element.word("type", "fixed", joint_types);
  hinge.type = type == "floating" ? HingeType::free : hinge_type_from_string(type).value_or(HingeType::fixed);
  if (const XmlElement axis = element.child("axis")) {
    axis.required("xyz");
    hinge.axis = axis.vector("xyz", Vec3<double>::unit_x());
    if (hinge.axis == Vec3<double>::zero() && hinge.type != HingeType::fixed && hinge.type != HingeType::free) {
      axis.error(fmt::format("the axis of {} is zero", element.description()), "give the direction of the axis");
      hinge.axis = Vec3<double>::unit_x();
    }
  } else {
    hinge.axis = Vec3<double>::unit_x();
  }
  if (hinge.type == HingeType::planar) {
    hinge.axis2 = perpendicular(normalized(hinge.axis));
  }
  HingeDof dof;
  if (hinge.type != HingeType::fixed) {
    read_limits(element, hinge.type, dof);
    if (const XmlElement dynamics = element.child("dynamics")) {
      dof.damping = dynamics.number("damping", 0);
      dof.friction = dynamics.number("friction", 0);
    }
  }
  hinge.dofs.assign(static_cast<std::size_t>(velocity_size(hinge.type)), dof);
  read_mimic(element, hinge);
  return hinge;
}

/// The nearest name of another joint, for the first few: each costs a walk over all names.
std::string UrdfReader::leader_suggestion(const XmlElement& joint, const std::string& leader) {
  constexpr int most = 20;
  if (++suggested_leaders_ > most) {
    return {};
  }
  std::vector<std::string> others(joint_names_.begin(), joint_names_.end());
  std::erase(others, joint.attribute("name").value_or(""));
  return bunraku::detail::did_you_mean(leader, others);
}

void UrdfReader::read_mimic(const XmlElement& joint, Hinge& hinge) {
  const XmlElement mimic = joint.child("mimic");
  if (!mimic) {
    return;
  }
  if (hinge.type == HingeType::fixed) {
    mimic.mark_all_used();
    mimic.warning(fmt::format("{} is fixed: its <mimic> is not used", joint.description()), "remove one of the two");
    return;
  }
  const std::string leader(mimic.required("joint"));
  const Mimic read{leader, mimic.number("multiplier", 1), mimic.number("offset", 0)};
  if (leader.empty()) {
    return;
  }
  if (joint_names_.contains(leader)) {
    hinge.mimic = read;
    return;
  }
  const std::string problem =
      fmt::format("{} mimics '{}', which does not exist", joint.description(), bunraku::detail::printable(leader, 60));
  if (context_.options.free_mimics) {
    joint.warning(problem + ": it is left free", "correct the name");
  } else {
    joint.error(problem + leader_suggestion(joint, leader), missing_leader_cure);
  }
}

void UrdfReader::add_body(const Joint& joint) {
  const XmlElement& link = links_.at(joint.child);
  builder_.add(BodySpec{.name = joint.child,
                        .parent = joint.parent,
                        .hinge = read_hinge(joint),
                        .X_PF = read_urdf_origin(joint.element),
                        .inertia = read_inertia(link),
                        .visuals = shapes_.read(link, "visual"),
                        .collisions = shapes_.read(link, "collision"),
                        .where = link.where(),
                        .hinge_where = joint.element.where()});
}

/// A link called `world` is the world; any other link that is nobody's child hangs on it by a root joint.
void UrdfReader::add_roots() {
  std::unordered_set<std::string_view> children;
  std::unordered_set<std::string_view> hinges;
  for (const Joint& joint : joints_) {
    children.insert(joint.child);
    hinges.insert(joint.name);
  }
  int roots = 0;
  for (const std::string& name : link_order_) {
    const XmlElement& link = links_.at(name);
    if (name == world_name) {
      if (read_inertia(link) != RigidInertia<double>::zero()) {
        link.warning("link 'world' is the world: its inertia is not used");
      }
      for (const char* tag : {"visual", "collision"}) {
        for (Geometry& shape : shapes_.read(link, tag)) {
          builder_.add_to_world(std::move(shape));
        }
      }
      continue;
    }
    if (children.contains(name)) {
      continue;
    }
    std::string hinge = roots == 0 ? "root_joint" : "root_joint_" + name;
    while (hinges.contains(hinge)) {
      hinge += '_';
    }
    if (roots++ == 1) {
      link.warning(fmt::format("link '{}' is a second root: no joint has it as its child", name),
                   "other readers refuse such a file; join it to the rest");
    }
    builder_.add(
        BodySpec{.name = name,
                 .hinge = {.name = hinge, .type = context_.options.free_base ? HingeType::free : HingeType::fixed},
                 .inertia = read_inertia(link),
                 .visuals = shapes_.read(link, "visual"),
                 .collisions = shapes_.read(link, "collision"),
                 .where = link.where()});
  }
  const bool on_world =
      std::any_of(joints_.begin(), joints_.end(), [](const Joint& j) { return j.parent == world_name; });
  if (roots == 0 && context_.options.free_base && on_world) {
    robot_.error("the base cannot be made free: the robot hangs on the link 'world'",
                 "leave out the free base, or the joint to 'world'");
  }
}

/// `<frame name link xyz rpy>`, which Drake knows: a named frame on a link.
void UrdfReader::read_frames() {
  for (const XmlElement& frame : robot_.children("frame")) {
    const std::string name(frame.required("name"));
    const std::string link(frame.required("link"));
    if (!link.empty() && link != world_name && !links_.contains(link)) {
      frame.error(fmt::format("{} is on link '{}', which does not exist{}", frame.description(),
                              bunraku::detail::printable(link, 60), robot_.document().suggestion(link, link_order_)),
                  "name a link of this file");
    } else if (!name.empty() && !link.empty()) {
      builder_.add(NodeSpec{.name = name, .body = link, .X_BN = read_urdf_pose(frame), .where = frame.where()});
    }
  }
}

/// A xacro file is no URDF yet: most of the robot would be missing.
void UrdfReader::refuse_xacro() const {
  const std::string cure = "run xacro on it first: xacro robot.urdf.xacro > robot.urdf";
  for (const XmlElement& child : robot_.children()) {
    if (child.name().starts_with("xacro:")) {
      throw ModelError(child.where(), fmt::format("<{}>: this is a xacro file, not a URDF", child.name()), cure);
    }
    for (const auto& [name, value] : child.attributes()) {
      if (name == "name" && value.find("${") != std::string_view::npos) {
        throw ModelError(child.where(),
                         fmt::format("{} is named by a xacro expression: this is not a URDF", child.description()),
                         cure);
      }
    }
  }
}

ModelBuilder UrdfReader::read() {
  builder_.set_format(Format::urdf);
  robot_.document().let_the_first_win();
  for (const char* described : {"version", "xmlns:xacro", "xmlns:drake", "xmlns:xsi", "xsi:schemaLocation", "xmlns"}) {
    static_cast<void>(robot_.attribute(described));  // namespaces and the format's version say nothing of the robot
  }
  refuse_xacro();
  if (bunraku::detail::is_blank(robot_.attribute("name").value_or(""))) {
    const std::string stem = std::filesystem::path(robot_.document().file()).stem().string();
    builder_.set_name(stem.empty() ? "robot" : stem);
    robot_.warning(fmt::format("<robot> has no name: it is called '{}' here", stem.empty() ? "robot" : stem),
                   "add name=\"…\"");
  }
  read_links();
  if (link_order_.empty()) {
    robot_.error("the robot has no links", "add <link name=\"…\"/>");
  }
  read_joints();
  add_roots();
  for (const Joint& joint : joints_) {
    add_body(joint);
  }
  read_frames();
  robot_.document().report_unused();
  return std::move(builder_);
}

}  // namespace

ModelBuilder read_urdf(XmlDocument& document, const ReaderContext& context) {
  return UrdfReader(document.root(), context).read();
}

}  // namespace bunraku::io
