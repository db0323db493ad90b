#include <array>

#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_bodies.hpp"

namespace bunraku::io {

void MjcfEquality::read(const std::vector<XmlElement>& sections) {
  std::vector<XmlElement> all;
  for (const XmlElement& section : sections) {
    if (section.name() == "equality") {
      section.mark_used();
      for (const XmlElement& child : shared_.files.children(section)) {
        if (child.name() == "connect" || child.name() == "weld" || child.name() == "joint") {
          child.mark_used();
          names_.reserve(child.attribute("name").value_or(""));
          all.push_back(child);
        }
      }
    }
  }
  for (const XmlElement& element : all) {
    read_one(element);
  }
}

void MjcfEquality::read_one(const XmlElement& element) {
  const Attributes attributes(element, shared_.defaults,
                              shared_.defaults.named(element, "class", shared_.defaults.main()), "equality");
  ClosureSpec closure;
  closure.where = element.where();
  closure.name = element.attribute("name").value_or("");
  if (closure.name.empty()) {
    closure.name = names_.make(fmt::format("{}_1", element.name()));
  }
  const bool active = attributes.flag("active", true);
  const bool sound = element.name() == "joint"                      ? read_joints(element, closure)
                     : element.has("site1") || element.has("site2") ? read_sites(element, closure)
                                                                    : read_nodes(element, closure);
  if (!active) {
    element.warning(fmt::format("{} is not active and not used", element.description()),
                    "write active=\"true\" to have it hold");
  } else if (sound) {
    builder_.add(std::move(closure));
  }
}

template <class Table>
typename Table::const_iterator MjcfEquality::find(const XmlElement& element, const char* attribute, const Table& table,
                                                  const char* kind) const {
  const std::string_view name = element.required(attribute);
  const auto at = table.find(name);
  if (at == table.end() && !name.empty()) {
    element.error(fmt::format("{} of {} names the {} '{}', which there is not{}", attribute, element.description(),
                              kind, name, shared_.suggestions(name, table)),
                  "correct the name");
  }
  return at;
}

std::string MjcfEquality::add_node(const ClosureSpec& closure, const char* suffix, const std::string& body,
                                   const Transform<double>& pose) {
  NodeSpec node;
  node.name = frame_names_.make(fmt::format("{}/{}", closure.name, suffix));
  node.body = body;
  node.X_BN = pose;
  node.where = closure.where;
  builder_.add(node);
  return node.name;
}

bool MjcfEquality::read_nodes(const XmlElement& element, ClosureSpec& closure) {
  const bool weld = element.name() == "weld";
  const auto first = find(element, "body1", landmarks_.bodies, "body");
  const auto second =
      element.has("body2") ? find(element, "body2", landmarks_.bodies, "body") : landmarks_.bodies.find(world_name);
  if (!weld) {
    element.required("anchor");
  }
  const Vec3<double> anchor = element.vector("anchor", Vec3<double>::zero());
  const std::optional<Transform<double>> relative = weld ? relative_pose(element) : std::nullopt;
  if (first == landmarks_.bodies.end() || second == landmarks_.bodies.end()) {
    return false;
  }
  if (first == second) {
    element.error(fmt::format("{} ties body '{}' to itself", element.description(), first->first),
                  "name two different bodies");
    return false;
  }
  // Both are as written in the file where the constraint holds, unless relpose says otherwise. A connect gives its
  // point on the first body, a weld on the second.
  const Transform<double> between = first->second.inverse() * second->second;
  const Transform<double> at = Transform<double>::translate(anchor);
  Transform<double> on_first = weld ? relative.value_or(between * at) : at;
  Transform<double> on_second = weld ? at : between.inverse() * at;
  // torquescale="0" leaves a weld without torque
  closure.hinge.type = weld && element.number("torquescale", 1) != 0 ? HingeType::fixed : HingeType::spherical;
  closure.a = add_node(closure, "a", first->first, on_first);
  closure.b = add_node(closure, "b", second->first, on_second);
  return true;
}

std::optional<Transform<double>> MjcfEquality::relative_pose(const XmlElement& element) const {
  const auto numbers = element.numbers("relpose", 7, 7);
  if (!numbers) {
    return std::nullopt;
  }
  const std::vector<double>& p = *numbers;
  const Quaternion<double> q{p[3], p[4], p[5], p[6]};
  if (q == Quaternion<double>{0, 0, 0, 0}) {  // says: as written in the file
    return std::nullopt;
  }
  return Transform<double>{Rotation<double>(q.normalized()), {p[0], p[1], p[2]}};
}

bool MjcfEquality::read_sites(const XmlElement& element, ClosureSpec& closure) {
  const auto first = find(element, "site1", landmarks_.sites, "site");
  const auto second = find(element, "site2", landmarks_.sites, "site");
  const bool weld = element.name() == "weld";
  for (const char* other : {"body1", "body2", "anchor", "relpose"}) {
    if (element.has(other)) {
      element.error(fmt::format("{} has both sites and {}", element.description(), other), "keep the sites alone");
    }
  }
  closure.hinge.type = weld && element.number("torquescale", 1) != 0 ? HingeType::fixed : HingeType::spherical;
  if (first == landmarks_.sites.end() || second == landmarks_.sites.end()) {
    return false;
  }
  if (first->second.body == second->second.body) {
    element.error(fmt::format("both sites of {} are on body '{}'", element.description(), first->second.body),
                  "name sites on two different bodies");
    return false;
  }
  closure.a = first->second.node;
  closure.b = second->second.node;
  return true;
}

bool MjcfEquality::read_joints(const XmlElement& element, ClosureSpec& closure) {
  closure.kind = ClosureKind::hinges;
  const auto first = find(element, "joint1", landmarks_.joints, "joint");
  const bool alone = !element.has("joint2");
  const auto second = alone ? landmarks_.joints.end() : find(element, "joint2", landmarks_.joints, "joint");
  if (const auto given = element.numbers("polycoef", 1, closure.polynomial.size())) {
    std::copy(given->begin(), given->end(), closure.polynomial.begin());
  }
  if (first == landmarks_.joints.end() || (!alone && second == landmarks_.joints.end())) {
    return false;
  }
  if (!first->second.scalar || (!alone && !second->second.scalar)) {
    element.error(fmt::format("{} ties a joint that is no hinge and no slide", element.description()),
                  "name joints of type hinge or slide");
    return false;
  }
  if (first == second) {
    element.error(fmt::format("{} ties joint '{}' to itself", element.description(), first->first),
                  "name two different joints, or leave out joint2");
    return false;
  }
  closure.a = first->first;
  closure.reference_a = first->second.reference;
  if (alone) {
    const double constant = closure.polynomial[0];
    closure.polynomial = {constant, 0, 0, 0, 0};
  } else {
    closure.b = second->first;
    closure.reference_b = second->second.reference;
  }
  return true;
}

}  // namespace bunraku::io
