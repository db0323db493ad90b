#include "bunraku/io/detail/mjcf_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace bunraku::io {

namespace {

/// Lengths below which a direction says nothing.
constexpr double smallest_length = 1e-14;

double read_bound(const XmlElement& e, const char* name, double otherwise) {
  const double bound = e.number(name, otherwise);
  if (bound < 0) {
    e.error(fmt::format("{} is negative", name), "give a bound of zero or more");
    return otherwise;
  }
  return bound;
}

void read_compiler(const XmlElement& e, MjcfSettings& s, std::string& asset_folder) {
  static constexpr std::array<std::string_view, 2> units = {"radian", "degree"};
  static constexpr std::array<std::string_view, 2> coordinates = {"local", "global"};
  s.degrees = e.word("angle", s.degrees ? "degree" : "radian", units) == "degree";
  if (e.word("coordinate", "local", coordinates) == "global") {
    e.error("coordinate=\"global\" is not supported", "write the model in local coordinates");
  }
  if (const auto sequence = e.attribute("eulerseq")) {
    if (sequence->size() == 3 && sequence->find_first_not_of("xyzXYZ") == std::string_view::npos) {
      s.euler_sequence = *sequence;
    } else {
      e.error("eulerseq is not three of the letters x, y, z, X, Y, Z", "write eulerseq=\"xyz\" or the like");
    }
  }
  s.autolimits = e.flag("autolimits", s.autolimits);
  if (const std::string_view word = e.word("inertiafromgeom", {}, yes_no_or_auto); !word.empty()) {
    s.inertia_from_geom = word == "true"    ? InertiaFromGeom::always
                          : word == "false" ? InertiaFromGeom::never
                                            : InertiaFromGeom::automatically;
  }
  if (const auto range = e.numbers("inertiagrouprange", 2, 2)) {
    const auto group = [](double x) { return static_cast<int>(std::clamp(x, -1e6, 1e6)); };
    s.first_group = group((*range)[0]);
    s.last_group = group((*range)[1]);
  }
  s.balance_inertia = e.flag("balanceinertia", s.balance_inertia);
  s.least_mass = read_bound(e, "boundmass", s.least_mass);
  s.least_inertia = read_bound(e, "boundinertia", s.least_inertia);
  s.total_mass = e.number("settotalmass", s.total_mass);
  s.strip_path = e.flag("strippath", s.strip_path);
  s.mesh_folder = e.attribute("meshdir").value_or(s.mesh_folder);
  asset_folder = e.attribute("assetdir").value_or(asset_folder);
}

void read_option(const XmlElement& e, MjcfFiles& files, MjcfSettings& s, bool& weightless) {
  static constexpr std::array<std::string_view, 2> states = {"enable", "disable"};
  s.gravity = e.vector("gravity", s.gravity);
  for (const XmlElement& child : files.children(e)) {
    if (child.name() == "flag") {
      child.mark_used();
      weightless = child.word("gravity", weightless ? "disable" : "enable", states) == "disable";
    }
  }
}

/// The attribute that says how the element is turned: its own, or the one of the nearest class; nullptr for none.
const char* find_orientation(const Attributes& attributes) {
  const char* found = nullptr;
  std::optional<Setting> best;
  for (const char* name : orientations) {
    const auto at = attributes.setting(name);
    if (!at) {
      continue;
    }
    if (best && at->element == best->element) {
      if (at->element == attributes.element()) {  // a class is blamed by none of its many users
        at->element.error(fmt::format("{} has two orientations, {} and {}", at->element.description(), found, name),
                          "keep one of them");
      }
      continue;
    }
    if (!best || at->order > best->order) {
      best = at;
      found = name;
    }
  }
  return found;
}

Rotation<double> wrong_orientation(const Attributes& attributes, const std::string& what, const char* cure) {
  attributes.element().error(fmt::format("{} of {} is zero", what, attributes.element().description()), cure);
  return {};
}

Rotation<double> from_xyaxes(const Attributes& attributes, const std::vector<double>& a) {
  const Vec3<double> x{a[0], a[1], a[2]};
  const Vec3<double> y{a[3], a[4], a[5]};
  if (norm(x) < smallest_length || norm(y) < smallest_length) {
    return wrong_orientation(attributes, "an axis in xyaxes", "give two directions that cross");
  }
  const Vec3<double> unit_x = normalized(x);
  const Vec3<double> across = normalized(y) - unit_x * dot(unit_x, normalized(y));
  if (norm(across) < smallest_length) {
    return wrong_orientation(attributes, "the angle between the axes in xyaxes", "give two directions that cross");
  }
  const Vec3<double> unit_y = normalized(across);
  return Rotation<double>(Mat3<double>::from_columns(unit_x, unit_y, cross(unit_x, unit_y)));
}

Rotation<double> from_euler(const std::vector<double>& angles, const MjcfSettings& settings) {
  Rotation<double> out;
  for (std::size_t i = 0; i < 3; ++i) {
    const char letter = settings.euler_sequence[i];
    const bool moving_axes = letter >= 'x';
    const int axis = letter - (moving_axes ? 'x' : 'X');
    Vec3<double> unit = Vec3<double>::zero();
    unit[axis] = 1;
    const auto turn = Rotation<double>::about(unit, settings.radians(angles[i]));
    out = moving_axes ? out * turn : turn * out;
  }
  return out;
}

}  // namespace

void check_depth(const XmlElement& element, int depth) {
  if (depth > max_depth) {
    throw ModelError(element.where(), fmt::format("elements are nested deeper than {}", max_depth),
                     "nest fewer bodies, frames or default classes");
  }
}

MjcfSettings read_settings(const std::vector<XmlElement>& sections, MjcfFiles& files) {
  MjcfSettings settings;
  std::string asset_folder;
  bool weightless = false;
  for (const XmlElement& section : sections) {
    if (section.name() == "compiler") {
      section.mark_used();
      read_compiler(section, settings, asset_folder);
    } else if (section.name() == "option") {
      section.mark_used();
      read_option(section, files, settings, weightless);
    }
  }
  if (settings.mesh_folder.empty()) {
    settings.mesh_folder = asset_folder;
  }
  if (weightless) {
    settings.gravity = Vec3<double>::zero();
  }
  return settings;
}

Rotation<double> read_orientation(const Attributes& attributes, const MjcfSettings& settings) {
  const char* found = find_orientation(attributes);
  if (found == nullptr) {
    return {};
  }
  const std::string_view form = found;
  const std::size_t count = form == "xyaxes" ? 6 : form == "zaxis" || form == "euler" ? 3 : 4;
  const auto values = attributes.numbers(found, count, count);
  if (!values) {
    return {};
  }
  const std::vector<double>& a = *values;
  if (form == "euler") {
    return from_euler(a, settings);
  }
  if (form == "xyaxes") {
    return from_xyaxes(attributes, a);
  }
  if (form == "quat") {
    const Quaternion<double> q{a[0], a[1], a[2], a[3]};
    return q.norm() < smallest_length ? wrong_orientation(attributes, "the quaternion", "write quat=\"1 0 0 0\"")
                                      : Rotation<double>(q.normalized());
  }
  const Vec3<double> axis{a[0], a[1], a[2]};
  if (norm(axis) < smallest_length) {
    return wrong_orientation(attributes, fmt::format("the axis in {}", form), "give its direction");
  }
  return form == "zaxis" ? Rotation<double>::between(Vec3<double>::unit_z(), normalized(axis))
                         : Rotation<double>::about(normalized(axis), settings.radians(a[3]));
}

Transform<double> read_pose(const Attributes& attributes, const MjcfSettings& settings) {
  return {read_orientation(attributes, settings), attributes.vector("pos", Vec3<double>::zero())};
}

std::optional<Transform<double>> read_fromto(const Attributes& attributes, double& length) {
  const auto points = attributes.numbers("fromto", 6, 6);
  if (!points) {
    return std::nullopt;
  }
  const std::vector<double>& p = *points;
  const Vec3<double> from{p[0], p[1], p[2]};
  const Vec3<double> to{p[3], p[4], p[5]};
  length = norm(from - to);
  if (length < 2 * smallest_length) {
    attributes.element().error(
        fmt::format("the two points of fromto of {} are one", attributes.element().description()),
        "give two points, or pos and size");
    return std::nullopt;
  }
  return Transform<double>{Rotation<double>::between(Vec3<double>::unit_z(), normalized(from - to)), (from + to) * 0.5};
}

}  // namespace bunraku::io
