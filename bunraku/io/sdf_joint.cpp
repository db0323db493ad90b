#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "bunraku/io/detail/sdf.hpp"

namespace bunraku::io::sdf {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a type of joint is here.
struct JointType {
  std::string_view name;
  HingeType type;
  int axes;
};
constexpr std::array<JointType, 8> joint_types = {{
    {"fixed", HingeType::fixed, 0},
    {"revolute", HingeType::revolute, 1},
    {"continuous", HingeType::continuous, 1},
    {"prismatic", HingeType::prismatic, 1},
    {"screw", HingeType::helical, 1},
    {"ball", HingeType::spherical, 0},
    {"universal", HingeType::universal, 2},
    {"revolute2", HingeType::universal, 2},  // two revolute joints in series are a universal one
}};

const JointType* read_type(const XmlElement& joint) {
  const std::string_view text = joint.required("type");
  if (text.empty()) {
    return nullptr;
  }
  std::vector<std::string> known;
  for (const JointType& type : joint_types) {
    if (type.name == text) {
      return &type;
    }
    known.emplace_back(type.name);
  }
  known.emplace_back("gearbox");
  joint.error(fmt::format("{} is of type '{}', which is not known here{}", joint.description(), text.substr(0, 40),
                          bunraku::detail::did_you_mean(text, known)),
              fmt::format("use one of: {}", fmt::join(known, ", ")));
  return nullptr;
}

/// The axis in the joint's axes, at the zero configuration.
Vec3<double> read_direction(const XmlElement& axis, const Joint& joint, const FrameGraph& frames) {
  const XmlElement xyz = axis.child("xyz");
  const auto n = xyz ? xyz.text_numbers(3, 3) : std::nullopt;
  Vec3<double> out = n ? Vec3<double>{(*n)[0], (*n)[1], (*n)[2]} : Vec3<double>::unit_z();
  if (out == Vec3<double>::zero()) {
    xyz.error(fmt::format("<{}> of {} is zero", axis.name(), joint.element.description()),
              "give the direction of the axis");
    return Vec3<double>::unit_z();
  }
  out = normalized(out);
  std::string_view expressed_in = xyz ? xyz.attribute("expressed_in").value_or("") : std::string_view();
  if (joint.source->version < version_number(1, 7) && expressed_in.empty()) {
    // the older ways to say __model__; up to 1.4 there was no other
    const bool in_model = joint.source->version < version_number(1, 5);
    expressed_in = read_flag(axis, "use_parent_model_frame", in_model) ? "__model__" : "";
  }
  if (!expressed_in.empty()) {
    const Frame& own = frames[joint.frame];
    if (const auto base = frames.find(expressed_in, own.scope, own.home, xyz)) {
      out = frames.relative(joint.frame, base->frame).rotation * out;
    }
  }
  return out;
}

/// Older files write huge numbers for none.
double limit_or_none(double value) {
  constexpr double huge = 1e16;
  return value <= -huge ? -infinity : value >= huge ? infinity : value;
}

void read_limits(const XmlElement& axis, HingeType type, HingeDof& dof) {
  const XmlElement limit = axis.child("limit");
  if (!limit) {
    return;
  }
  if (type != HingeType::continuous) {
    dof.lower = limit_or_none(read_number(limit, "lower", -infinity, Finite::or_inf));
    dof.upper = limit_or_none(read_number(limit, "upper", infinity, Finite::or_inf));
  }
  if (!(dof.lower <= dof.upper) || dof.lower == infinity || dof.upper == -infinity) {
    limit.error(fmt::format("the lower limit {} is above the upper limit {}", dof.lower, dof.upper),
                "exchange the two");
    dof.lower = -infinity;
    dof.upper = infinity;
  }
  const double effort = read_number(limit, "effort", infinity, Finite::or_inf);
  const double velocity = read_number(limit, "velocity", infinity, Finite::or_inf);
  dof.effort = effort < 0 ? infinity : effort;  // a negative number means no limit
  dof.velocity = velocity < 0 ? infinity : velocity;
}

/// Returns the spring's rest position.
double read_dynamics(const XmlElement& axis, HingeDof& dof) {
  const XmlElement dynamics = axis.child("dynamics");
  if (!dynamics) {
    return 0;
  }
  dof.damping = read_number(dynamics, "damping", 0);
  dof.friction = read_number(dynamics, "friction", 0);
  dof.stiffness = read_number(dynamics, "spring_stiffness", 0);
  return read_number(dynamics, "spring_reference", 0);
}

/// Metres a turn. The older number is in radians a metre, and positive for a left-handed thread.
double read_pitch(const XmlElement& joint) {
  if (const XmlElement pitch = joint.child("screw_thread_pitch")) {
    return pitch.text_number(1);
  }
  if (const XmlElement pitch = joint.child("thread_pitch")) {
    const double value = pitch.text_number(1);
    if (value == 0) {
      pitch.error("the thread pitch is zero radians a metre", "use <screw_thread_pitch> in metres a turn");
      return 1;
    }
    return -2 * std::numbers::pi / value;
  }
  joint.warning(fmt::format("{} has no <screw_thread_pitch>: the format's default, 1 metre a turn, is taken",
                            joint.description()),
                "add <screw_thread_pitch>");
  return 1;
}

void read_mimic(const XmlElement& axis, const Joint& joint, const FrameGraph& frames, const LoadOptions& options,
                Hinge& hinge) {
  const XmlElement mimic = axis.child("mimic");
  if (!mimic) {
    return;
  }
  static constexpr std::array<std::string_view, 2> axes = {"axis", "axis2"};
  const std::string_view leader_axis = mimic.word("axis", axes[0], axes);
  const double multiplier = read_number(mimic, "multiplier", 1);
  const double offset = read_number(mimic, "offset", 0);
  const double reference = read_number(mimic, "reference", 0);
  const std::string_view leader = mimic.required("joint");
  if (leader.empty()) {
    return;
  }
  if (leader_axis != axes[0] || hinge.type == HingeType::universal) {
    mimic.error(fmt::format("{}: only joints with one axis can follow one another", joint.element.description()),
                "remove <mimic>");
    return;
  }
  const Frame& own = frames[joint.frame];
  std::optional<Lenient> lenient;
  if (options.free_mimics) {
    lenient.emplace(mimic.document(), "the joint is left free");
  }
  const auto found = frames.find(leader, own.scope, own.home, mimic, missing_leader_cure);
  if (!found) {
    return;
  }
  lenient.reset();
  if (frames[found->frame].kind != FrameKind::joint) {
    mimic.error(
        fmt::format("{} is to follow '{}', which is no joint", joint.element.description(), leader.substr(0, 60)),
        "name a joint");
    return;
  }
  hinge.mimic = Mimic{frames[found->frame].name, multiplier, offset - multiplier * reference};
}

void read_axes(const JointType& type, const Joint& joint, const FrameGraph& frames, const LoadOptions& options,
               Hinge& hinge) {
  static constexpr std::array<const char*, 2> tags = {"axis", "axis2"};
  std::vector<double> rest;
  hinge.dofs.assign(static_cast<std::size_t>(type.axes), HingeDof{});
  for (int i = 0; i < type.axes; ++i) {
    const auto k = static_cast<std::size_t>(i);
    Vec3<double>& direction = i == 0 ? hinge.axis : hinge.axis2;
    const XmlElement axis = joint.element.child(tags[k]);
    if (!axis) {
      joint.element.error(fmt::format("{} has no <{}>", joint.element.description(), tags[k]),
                          fmt::format("add <{0}><xyz>0 0 1</xyz></{0}>", tags[k]));
      direction = i == 0 ? Vec3<double>::unit_z() : perpendicular(hinge.axis);
      rest.push_back(0);
      continue;
    }
    direction = read_direction(axis, joint, frames);
    read_limits(axis, type.type, hinge.dofs[k]);
    rest.push_back(read_dynamics(axis, hinge.dofs[k]));
    read_mimic(axis, joint, frames, options, hinge);
    if (i == 1 && norm(cross(hinge.axis, hinge.axis2)) < 1e-9) {
      axis.error(fmt::format("the two axes of {} are parallel", joint.element.description()), "give axes that cross");
      direction = perpendicular(hinge.axis);
    }
  }
  if (std::any_of(rest.begin(), rest.end(), [](double x) { return x != 0; })) {
    hinge.rest = std::move(rest);
  }
}

}  // namespace

std::vector<double> read_initial_position(const Joint& joint, const Hinge& hinge) {
  std::vector<double> out;
  for (const char* tag : {"axis", "axis2"}) {
    if (std::ssize(out) < hinge.configuration_size() && hinge.type != HingeType::spherical) {
      const XmlElement axis = joint.element.child(tag);
      out.push_back(axis ? read_number(axis, "initial_position", 0) : 0);
    }
  }
  const bool zero = std::all_of(out.begin(), out.end(), [](double x) { return x == 0; });
  return zero ? std::vector<double>() : out;
}

bool is_gearbox(const Joint& joint) {
  return joint.element.attribute("type") == "gearbox";
}

std::optional<Gearbox> read_gearbox(const Joint& joint, const FrameGraph& frames) {
  const XmlElement& element = joint.element;
  Gearbox out;
  out.ratio = read_number(element, "gearbox_ratio", 1);
  const std::array<std::pair<const char*, Vec3<double>*>, 2> axes = {{{"axis", &out.axis}, {"axis2", &out.axis2}}};
  bool sound = true;
  for (const auto& [tag, direction] : axes) {
    if (const XmlElement axis = element.child(tag)) {
      *direction = read_direction(axis, joint, frames);
    } else {
      element.error(fmt::format("{} has no <{}>", element.description(), tag),
                    fmt::format("add <{0}><xyz>0 0 1</xyz></{0}>", tag));
      sound = false;
    }
  }
  const XmlElement reference = element.child("gearbox_reference_body");
  if (!reference || reference.text().empty() || reference.text() == "__default__") {
    element.error(fmt::format("{} has no <gearbox_reference_body>", element.description()),
                  "name the link against which the angles of parent and child are counted");
    return std::nullopt;
  }
  const Frame& own = frames[joint.frame];
  if (const auto found = frames.find(reference.text(), own.scope, own.home, reference)) {
    out.reference = frames[found->frame].body;
  }
  return sound && out.reference != no_frame ? std::optional(out) : std::nullopt;
}

std::optional<Hinge> read_hinge(const Joint& joint, const FrameGraph& frames, const LoadOptions& options) {
  const JointType* type = read_type(joint.element);
  if (type == nullptr) {
    return std::nullopt;
  }
  Hinge hinge;
  hinge.name = frames[joint.frame].name;
  hinge.type = type->type;
  read_axes(*type, joint, frames, options, hinge);
  if (hinge.type == HingeType::helical) {
    hinge.pitch = read_pitch(joint.element);
  }
  if (hinge.type == HingeType::spherical) {
    // an axis says nothing about a ball, but is where the format keeps its damping
    if (const XmlElement axis = joint.element.child("axis")) {
      const XmlElement dynamics = axis.child("dynamics");
      HingeDof dof;
      dof.damping = dynamics ? read_number(dynamics, "damping", 0) : 0;
      hinge.dofs.assign(3, dof);
    }
  }
  return hinge;
}

}  // namespace bunraku::io::sdf
