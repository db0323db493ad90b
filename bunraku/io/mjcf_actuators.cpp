#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_bodies.hpp"

namespace bunraku::io {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether the force is the control times a constant, so that bounds on the one are bounds on the other.
std::optional<double> read_gain(const XmlElement& element, const Attributes& attributes) {
  if (element.name() == "motor") {
    return 1;
  }
  if (element.name() != "general") {
    return std::nullopt;
  }
  const bool plain = attributes.word("dyntype", "none", actuator_dynamics) == "none" &&
                     attributes.word("gaintype", "fixed", actuator_gains) == "fixed" &&
                     attributes.word("biastype", "none", actuator_biases) == "none";
  if (!plain) {
    return std::nullopt;
  }
  const auto gain = attributes.numbers("gainprm", 1, 10);
  return gain ? gain->front() : 1.0;
}

/// The largest torque or force at the joint, without sign.
double read_bound(const XmlElement& element, const Attributes& attributes, const MjcfSettings& settings) {
  const double gear = std::abs(attributes.partial("gear", {1, 0, 0, 0, 0, 0})[0]);
  std::optional<MjcfRange> force = read_range(attributes, "forcerange", "forcelimited", settings);
  const std::optional<MjcfRange> control = read_range(attributes, "ctrlrange", "ctrllimited", settings);
  if (const auto gain = read_gain(element, attributes); gain && control) {
    const double a = *gain * control->lower;
    const double b = *gain * control->upper;
    const MjcfRange by_control{std::min(a, b), std::max(a, b)};
    force = force ? MjcfRange{std::max(force->lower, by_control.lower), std::min(force->upper, by_control.upper)}
                  : by_control;
  }
  if (force && force->lower != -force->upper) {
    element.warning(fmt::format("the force of {} is not bounded alike in both directions: {} is used for both",
                                element.description(), force->size()));
  }
  return force ? gear * force->size() : infinity;
}

}  // namespace

void read_actuators(const std::vector<XmlElement>& sections, const MjcfShared& shared, std::vector<BodySpec>& bodies) {
  std::unordered_map<std::string_view, std::size_t> hinges;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    hinges.emplace(bodies[i].hinge.name, i);
  }
  std::unordered_map<std::size_t, double> bounds;  // of all actuators of a joint together
  for (const XmlElement& section : sections) {
    if (section.name() != "actuator") {
      continue;
    }
    section.mark_used();
    for (const XmlElement& element : shared.files.children(section)) {
      const char* joint = element.has("jointinparent") ? "jointinparent" : "joint";
      const auto at = hinges.find(element.has(joint) ? *element.attribute(joint) : std::string_view());
      // those that pull tendons, sites and bodies bound no joint, and are listed as not used
      if (actuator_class(element.name()).empty() || at == hinges.end() || bodies[at->second].hinge.dofs.size() != 1) {
        continue;
      }
      element.mark_used();
      element.attribute("name");  // nothing refers to it
      const Attributes attributes(element, shared.defaults,
                                  shared.defaults.named(element, "class", shared.defaults.main()), "general");
      bounds[at->second] += read_bound(element, attributes, shared.settings);
    }
  }
  for (const auto& [i, bound] : bounds) {
    double& effort = bodies[i].hinge.dofs.front().effort;
    effort = std::min(effort, bound);
  }
}

}  // namespace bunraku::io
