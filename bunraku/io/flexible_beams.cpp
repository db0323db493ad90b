/// Links that are beams.

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/flexible_links.hpp"

namespace bunraku::io {

namespace {

/// The axes of a beam along d, with z as near to `up` as can be; by default the smallest turn that takes x to d.
Rotation<double> beam_axes(const Vec3<double>& d, const std::optional<Vec3<double>>& up) {
  if (up) {
    const Vec3<double> y = normalized(cross(*up, d));
    return Rotation<double>(Mat3<double>::from_columns(d, y, cross(d, y)));
  }
  return Rotation<double>::between(Vec3<double>::unit_x(), d);
}

}  // namespace

/// A point `[x, y, z]`, or nothing.
std::optional<Vec3<double>> FlexibleReader::point_of(const YamlValue& value) {
  if (!value.is_list() || value.items.size() != 3) {
    return std::nullopt;
  }
  Vec3<double> out = Vec3<double>::zero();
  for (int i = 0; i < 3; ++i) {
    const std::optional<double> each = number_in(value.items[static_cast<std::size_t>(i)]);
    if (!each) {
      return std::nullopt;
    }
    out[i] = *each;
  }
  return out;
}

std::optional<OnLink> FlexibleReader::read_end(const YamlValue& value, const std::string& link,
                                               const LinkParts& parts) {
  if (const std::optional<Vec3<double>> point = point_of(value)) {
    return OnLink{{}, *point};
  }
  if (!value.is_word()) {
    problems_.error(value.line,
                    fmt::format("an end of link '{}' is neither a name nor a point [x, y, z]", shortly(link)),
                    "write to: [JOINT, …], or to: [x, y, z] in the link's frame");
    return std::nullopt;
  }
  const OnLink* const found = parts.find(value.word, value.line, link, problems_);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

/// What `to` names; nothing, with an error, where that is no list of ends.
std::optional<std::vector<OnLink>> FlexibleReader::read_ends(YamlFields& item, const std::string& link,
                                                             const LinkParts& parts) {
  const YamlValue* const to = item.find("to");
  if (to == nullptr) {
    problems_.error(item.line("link"),
                    fmt::format("link '{}' has no 'to': it is not said where the beam ends", shortly(link)),
                    "name what hangs on it, to: [JOINT, …], or its end in the link's frame, to: [x, y, z]");
    return std::nullopt;
  }
  std::vector<OnLink> out;
  if (to->is_list() && !point_of(*to)) {
    for (const YamlValue& each : to->items) {
      if (const std::optional<OnLink> end = read_end(each, link, parts)) {
        out.push_back(*end);
      }
    }
    if (out.size() != to->items.size()) {
      return std::nullopt;
    }
  } else if (const std::optional<OnLink> end = read_end(*to, link, parts)) {
    out.push_back(*end);
  } else {
    return std::nullopt;
  }
  if (out.empty()) {
    problems_.error(to->line, fmt::format("'to' of link '{}' is empty", shortly(link)), "name what hangs on the beam");
    return std::nullopt;
  }
  return out;
}

void FlexibleReader::read_section(YamlFields& fields, Beam& beam) {
  if (fields.find("section") == nullptr) {
    problems_.error(fields.line("section"), "the beam has no 'section'",
                    "add section: rectangle, circle, tube or custom, and size: […]");
  }
  const std::string kind = fields.choice("section", {"rectangle", "circle", "tube", "custom"});
  const std::size_t count = kind == "circle" ? 1 : kind == "custom" ? 4 : 2;
  const int before = problems_.errors;
  const std::optional<std::vector<double>> size = fields.numbers("size", count);
  if (!size) {
    if (problems_.errors == before) {
      problems_.error(fields.line("size"), "the beam has no 'size'", "add size: […], in m");
    }
    return;
  }
  try {
    const std::vector<double>& s = *size;
    beam.section = kind == "rectangle" ? BeamSection::rectangle(s[0], s[1])
                   : kind == "circle"  ? BeamSection::circle(s[0])
                   : kind == "tube"    ? BeamSection::tube(s[0], s[1])
                                       : BeamSection{s[0], s[1], s[2], s[3]};
  } catch (const ArgumentError& error) {
    problems_.error(fields.line("size"), error.what(), "give sizes in m");
  }
}

/// Which ways the beam moves.
void FlexibleReader::read_motions(YamlFields& fields, Beam& beam) {
  if (const YamlValue* const bend = fields.find("bend")) {
    beam.bend_y = beam.bend_z = false;
    const bool is_list = bend->is_list();
    const std::span<const YamlValue> axes =
        is_list ? std::span<const YamlValue>(bend->items) : std::span<const YamlValue>(bend, 1);
    for (const YamlValue& axis : axes) {
      if (axis.is_word() && axis.word == "y") {
        beam.bend_y = true;
      } else if (axis.is_word() && axis.word == "z") {
        beam.bend_z = true;
      } else {
        problems_.error(axis.line, "'bend' of the beam has something else than y and z in it",
                        "write bend: [y, z], the directions in which it deflects, in its own axes");
      }
    }
  }
  const std::optional<double> shear = fields.number("G");
  beam.torsion = fields.truth("torsion", shear.has_value());
  beam.stretch = fields.truth("stretch", false);
  beam.shear = shear.value_or(0);
  if (beam.torsion && !(beam.shear > 0)) {
    problems_.error(fields.line("G"), "the beam twists, but has no shear modulus 'G' above zero",
                    "add G: …, in Pa, or torsion: false");
  }
}

/// All that hangs on a link, as one load in the axes at its tip.
TipLoad FlexibleReader::load_on(const std::string& link, const Transform<double>& X_LT) const {
  std::unordered_map<std::string_view, std::vector<const BodySpec*>> children;
  for (const BodySpec& body : builder_.bodies()) {
    children[body.parent].push_back(&body);
  }
  RigidInertia<double> sum = RigidInertia<double>::zero();
  std::vector<std::pair<std::string_view, Transform<double>>> todo = {{link, X_LT.inverse()}};
  for (std::size_t steps = 0; !todo.empty() && steps <= builder_.bodies().size(); ++steps) {
    const auto [name, X_TP] = todo.back();
    todo.pop_back();
    if (const auto at = children.find(name); at != children.end()) {
      for (const BodySpec* body : at->second) {
        const Transform<double> X_TB = X_TP * body->X_PF * body->X_MB;
        sum += X_TB * body->inertia;
        todo.emplace_back(body->name, X_TB);
      }
    }
  }
  return {sum.mass, {sum.inertia.xx, sum.inertia.yy, sum.inertia.zz}};
}

ModeChoice FlexibleReader::read_modes(YamlFields& item, const std::string& link, const Transform<double>& X_LT) {
  ModeChoice out;
  const YamlValue* const modes = item.find("modes");
  if (modes == nullptr) {
    return out;
  }
  YamlFields fields(*modes, "'modes'", problems_);
  const std::string set = fields.choice("set", {"craig-bampton", "clamped-free", "loaded"});
  out.set = set == "craig-bampton" ? ModeSet::craig_bampton : set == "loaded" ? ModeSet::loaded : ModeSet::clamped_free;
  out.count = fields.whole("count", 1, max_modes, 0);
  if (fields.find("below") != nullptr) {
    out.below = fields.positive("below");
  }
  if (out.set == ModeSet::loaded) {
    if (const YamlValue* const load = fields.find("load")) {
      YamlFields parts(*load, "'load'", problems_);
      out.load.mass = parts.positive("mass");
      if (const auto moments = parts.numbers("moments", 3)) {
        out.load.moments = {(*moments)[0], (*moments)[1], (*moments)[2]};
      }
      parts.finish();
    } else {
      out.load = load_on(link, X_LT);
    }
  }
  fields.finish();
  return out;
}

/// The deformation vanishes at the joint that the link hangs on.
void FlexibleReader::check_start(YamlFields& item, const std::string& link, const LinkParts& parts) {
  if (const YamlValue* const from = item.find("from")) {
    const std::optional<OnLink> start = read_end(*from, link, parts);
    if (start && !(norm(start->place) <= place_tolerance)) {
      problems_.error(
          from->line,
          fmt::format("the beam starts {:.6g} m away from the joint that link '{}' hangs on", norm(start->place),
                      shortly(link)),
          "start it there, and put what lies between into a link of its own: a body bends from its joint on");
    }
  }
}

/// A node for each end that is not at the tip, and which node holds what.
void FlexibleReader::place_stations(const std::vector<OnLink>& ends, const OnLink& farthest, const std::string& link,
                                    int line, BeamOptions& options, Held& held) {
  const Vec3<double> along = normalized(farthest.place);
  std::map<double, std::string> names = {{norm(farthest.place), "tip"}};  // by place
  std::set<std::string> taken = {"tip"};
  for (const OnLink& end : ends) {
    const double place = dot(end.place, along);
    if (!(norm(end.place - along * place) <= place_tolerance) || !(place > place_tolerance)) {
      problems_.error(
          line,
          fmt::format("'{}' does not lie on the beam of link '{}', which runs from the link's joint to '{}'",
                      end.name.empty() ? std::string("a point") : shortly(end.name), shortly(link),
                      farthest.name.empty() ? std::string("its end") : shortly(farthest.name)),
          "name what lies on one line; what hangs beside it can hang on a fixed link at the beam");
      continue;
    }
    auto at = names.lower_bound(place - place_tolerance);
    if (at == names.end() || at->first > place + place_tolerance) {
      std::string name = end.name.empty() ? fmt::format("at_{:.6g}", place) : end.name;
      while (!taken.insert(name).second) {
        name += '_';
      }
      options.stations.push_back({.name = name, .place = place, .carries = true});
      at = names.emplace(place, name).first;
    }
    if (!end.name.empty()) {
      held[end.name] = at->second;
    }
  }
}

std::optional<FlexibleBody> FlexibleReader::read_beam(YamlFields& item, const std::string& link, Held& held) {
  const int before = problems_.errors;
  const LinkParts parts(builder_, link);
  check_start(item, link, parts);
  const std::optional<std::vector<OnLink>> ends = read_ends(item, link, parts);
  std::optional<Vec3<double>> up;
  if (const auto given = item.numbers("up", 3)) {
    up = Vec3<double>{(*given)[0], (*given)[1], (*given)[2]};
  }
  const bool shortening = item.choice("stiffening", {"none", "foreshortening"}) == "foreshortening";
  Beam beam;
  YamlFields fields(*item.find("beam"), "'beam'", problems_);
  read_section(fields, beam);
  beam.young = fields.positive("E");
  beam.density = fields.positive("density");
  beam.elements = fields.whole("elements", 1, max_beam_elements, beam.elements);
  read_motions(fields, beam);
  fields.finish();
  const ModeDamping damping = read_damping(item).value_or(ModeDamping{});
  if (!ends) {
    read_modes(item, link, Transform<double>::identity());
    return std::nullopt;
  }

  const auto farthest = std::max_element(ends->begin(), ends->end(), [](const OnLink& a, const OnLink& b) {
    return squared_norm(a.place) < squared_norm(b.place);
  });
  beam.length = norm(farthest->place);
  const int to_line = item.line("to");
  if (!(beam.length > place_tolerance)) {
    problems_.error(to_line, fmt::format("the beam of link '{}' has no length: it ends where it starts", shortly(link)),
                    "name what hangs on its other end");
    return std::nullopt;
  }
  const Vec3<double> along = normalized(farthest->place);
  if (up && !(norm(cross(*up, along)) > place_tolerance * norm(*up))) {
    problems_.error(item.line("up"), "'up' does not say how the section is turned: it is along the beam, or zero",
                    "give a direction at right angles to the beam, that of the section's z");
    up.reset();
  }
  const Transform<double> X_LT{beam_axes(along, up), along * beam.length};
  const ModeChoice choice = read_modes(item, link, X_LT);

  BeamOptions options{.modes = choice, .damping = damping, .shortening = shortening, .stations = {}};
  place_stations(*ends, *farthest, link, to_line, options, held);
  if (problems_.errors > before) {
    return std::nullopt;
  }
  warn_of_joints(link, to_line, parts, held, {});
  try {
    return placed(Transform<double>::rotate(X_LT.rotation), flexible_beam(beam, options));
  } catch (const ArgumentError& error) {
    problems_.error(item.line("beam"), fmt::format("the beam of link '{}': {}", shortly(link), error.what()),
                    "see docs/formats.md");
    return std::nullopt;
  }
}

}  // namespace bunraku::io
