#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_bodies.hpp"

namespace bunraku::io {

double MjcfRange::size() const {
  return std::max(std::abs(lower), std::abs(upper));
}

std::optional<MjcfRange> read_range(const Attributes& attributes, const char* name, const char* switch_name,
                                    const MjcfSettings& settings) {
  const XmlElement& element = attributes.element();
  const std::string_view limited = attributes.word(switch_name, "auto", yes_no_or_auto);
  const auto numbers = attributes.numbers(name, 2, 2, Finite::or_inf);
  const MjcfRange range = numbers ? MjcfRange{(*numbers)[0], (*numbers)[1]} : MjcfRange{};
  const bool given = range.lower != 0 || range.upper != 0;
  if (limited == "false" || (limited == "auto" && !given)) {
    return std::nullopt;
  }
  if (limited == "auto" && !settings.autolimits) {
    element.error(
        fmt::format("{} has {} but does not say {}, and autolimits is off", element.description(), name, switch_name),
        fmt::format("write {}=\"true\" or {}=\"false\"", switch_name, switch_name));
    return std::nullopt;
  }
  if (range.lower >= range.upper) {
    element.error(fmt::format("the first number of {} of {} is not below the second", name, element.description()),
                  "write the smaller number first");
    return std::nullopt;
  }
  return range;
}

namespace {

/// Spring and damper may be polynomials, of which the linear part is kept.
double read_linear(const Attributes& attributes, const char* name) {
  const std::vector<double> coefficients = attributes.partial(name, {0, 0, 0});
  if (coefficients[1] != 0 || coefficients[2] != 0) {
    attributes.element().warning(
        fmt::format("of {} of {} the first number alone is used", name, attributes.element().description()),
        "the rest makes it nonlinear");
  }
  return coefficients[0];
}

void read_limits(const Attributes& attributes, std::string_view type, const MjcfSettings& settings, Hinge& hinge) {
  const XmlElement& element = attributes.element();
  if (type == "ball" || type == "free") {
    for (const char* unused : {"range", "limited", "actuatorfrcrange", "actuatorfrclimited"}) {
      attributes.check(unused);
    }
    if (attributes.has("range") && type == "ball") {
      element.warning(fmt::format("the range of {}, a ball joint, is not used", element.description()));
    }
    return;
  }
  HingeDof& dof = hinge.dofs.front();
  if (const auto range = read_range(attributes, "range", "limited", settings)) {
    const bool angle = type == "hinge";
    dof.lower = angle ? settings.radians(range->lower) : range->lower;
    dof.upper = angle ? settings.radians(range->upper) : range->upper;
    hinge.type = angle ? HingeType::revolute : HingeType::prismatic;
  }
  if (const auto force = read_range(attributes, "actuatorfrcrange", "actuatorfrclimited", settings)) {
    dof.effort = force->size();
    if (force->lower != -force->upper) {
      element.warning(fmt::format("actuatorfrcrange of {} is not symmetric: {} is used for both directions",
                                  element.description(), dof.effort));
    }
  }
}

void read_axis(const Attributes& attributes, const Transform<double>& X_BF, Hinge& hinge) {
  const Vec3<double> axis = attributes.vector("axis", Vec3<double>::unit_z());
  constexpr double smallest = 1e-14;
  if (norm(axis) < smallest) {
    attributes.element().error(fmt::format("the axis of {} is zero", attributes.element().description()),
                               "give the direction of the axis");
    return;
  }
  hinge.axis = X_BF.rotation * normalized(axis);
}

void read_dynamics(const Attributes& attributes, std::string_view type, const MjcfSettings& settings, Hinge& hinge) {
  HingeDof all = hinge.dofs.front();
  all.armature = attributes.number("armature", 0);
  all.friction = attributes.number("frictionloss", 0);
  all.damping = read_linear(attributes, "damping");
  all.stiffness = read_linear(attributes, "stiffness");
  const double rest = attributes.number("springref", 0);
  if (all.armature != 0 && type == "free") {
    attributes.element().warning(fmt::format(
        "the armature of {}, a free joint, counts in the body's axes, where MuJoCo counts it in the world's",
        attributes.element().description()));
  }
  if (all.stiffness != 0 && type == "free") {
    attributes.element().warning(
        fmt::format("the stiffness of {}, a free joint, is not used", attributes.element().description()));
    all.stiffness = 0;
  }
  if (type == "hinge" || type == "slide") {
    hinge.rest = {type == "hinge" ? settings.radians(rest) : rest};
  }
  hinge.dofs.assign(hinge.dofs.size(), all);
}

}  // namespace

MjcfJoint read_joint(const XmlElement& element, const DefaultClass* inherited, const Transform<double>& X_BF,
                     const MjcfShared& shared) {
  MjcfJoint joint;
  joint.element = element;
  if (element.name() == "freejoint") {  // has no defaults
    joint.hinge.type = HingeType::free;
    return joint;
  }
  const MjcfSettings& settings = shared.settings;
  const Attributes attributes(element, shared.defaults, shared.defaults.named(element, "class", inherited));
  const std::string_view type = attributes.word("type", "hinge", joint_types);
  Hinge& hinge = joint.hinge;
  hinge.type = type == "free"    ? HingeType::free
               : type == "ball"  ? HingeType::spherical
               : type == "slide" ? HingeType::prismatic
                                 : HingeType::continuous;  // revolute where there are limits
  hinge.dofs.resize(static_cast<std::size_t>(velocity_size(hinge.type)));
  read_dynamics(attributes, type, settings, hinge);
  read_limits(attributes, type, settings, hinge);
  const Vec3<double> position = attributes.vector("pos", Vec3<double>::zero());
  const double reference = attributes.number("ref", 0);
  if (type == "hinge" || type == "slide") {
    read_axis(attributes, X_BF, hinge);
    joint.reference = type == "hinge" ? settings.radians(reference) : reference;
  } else {
    attributes.check("axis");  // common in classes
  }
  if (type == "hinge" || type == "ball") {
    joint.position = X_BF * position;
  }
  return joint;
}

}  // namespace bunraku::io
