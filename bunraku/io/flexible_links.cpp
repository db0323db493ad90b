/// Reads `flexible:` of the YAML file beside a URDF: links that are beams, or whose modes are in a file.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include "bunraku/io/detail/modal.hpp"
#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/io/detail/readers.hpp"
#include "bunraku/io/detail/yaml.hpp"
#include "bunraku/model/beam.hpp"

namespace bunraku::io {

namespace {

/// How far from the inboard joint a body may be clamped, and from a straight line what hangs on it, m.
constexpr double place_tolerance = 1e-6;
/// How far masses may be apart, relative, before somebody is told.
constexpr double mass_tolerance = 0.01;
/// How far from its node a joint may be, relative to the body's size, before somebody is told.
constexpr double distance_tolerance = 1e-3;
/// Each costs a walk over the whole model.
constexpr std::size_t most_links = 1000;

/// Where problems of this file go.
struct FlexibleProblems {
  const std::string& file;
  std::vector<Problem>& list;
  int errors = 0;
  int suggestions = 0;

  /// The nearest of known names, for the first few: each costs a walk over all of them.
  std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
    constexpr int most = 20;
    return ++suggestions > most ? std::string() : bunraku::detail::did_you_mean(name, known);
  }
  void error(int line, const std::string& text, const std::string& cure) {
    ++errors;
    bunraku::detail::add_problem(list, {Severity::error, {file, line}, text, cure});
  }
  void warning(int line, const std::string& text, const std::string& cure) const {
    bunraku::detail::add_problem(list, {Severity::warning, {file, line}, text, cure});
  }
};

std::string shortly(std::string_view name) {
  return bunraku::detail::printable(name, 60);
}

/// A mapping of which every key is asked for by name; what nobody has asked for is a warning.
class YamlFields {
 public:
  /// `what` is how messages call it.
  YamlFields(const YamlValue& mapping, std::string what, FlexibleProblems& problems)
      : mapping_(mapping), what_(std::move(what)), problems_(problems) {
    if (!mapping.is_mapping()) {
      problems_.error(mapping.line, fmt::format("{} is not of the form {{key: value, …}}", what_),
                      "see docs/formats.md");
      return;
    }
    std::set<std::string_view> seen;
    for (const YamlValue& item : mapping.items) {
      if (!seen.insert(item.key).second) {
        problems_.error(item.key_line, fmt::format("{} has '{}' twice", what_, shortly(item.key)),
                        "remove one of the two");
      }
    }
  }

  /// The value of a key, or nothing.
  const YamlValue* find(const std::string& key) {
    asked_.push_back(key);
    if (mapping_.is_mapping()) {
      for (const YamlValue& item : mapping_.items) {
        if (item.key == key) {
          return &item;
        }
      }
    }
    return nullptr;
  }
  /// A word, or nothing.
  std::optional<std::string> word(const std::string& key) {
    const YamlValue* const value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!value->is_word() || value->word.empty()) {
      problems_.error(value->line, fmt::format("'{}' of {} is not a word", key, what_), "see docs/formats.md");
      return std::nullopt;
    }
    return value->word;
  }
  /// One of some words; the first where there is none.
  std::string choice(const std::string& key, const std::vector<std::string>& words) {
    const std::optional<std::string> given = word(key);
    if (given && std::find(words.begin(), words.end(), *given) == words.end()) {
      problems_.error(line(key),
                      fmt::format("'{}' of {} is '{}'{}", key, what_, shortly(*given),
                                  bunraku::detail::did_you_mean(*given, words)),
                      fmt::format("give one of {}", fmt::join(words, ", ")));
      return words.front();
    }
    return given.value_or(words.front());
  }
  /// A finite number, or nothing.
  std::optional<double> number(const std::string& key) {
    const YamlValue* const value = find(key);
    return value == nullptr ? std::nullopt : number_of(*value, key);
  }
  /// A finite number that is there, and positive.
  double positive(const std::string& key) {
    const std::optional<double> given = number(key);
    if (!given && find(key) == nullptr) {
      problems_.error(mapping_.line, fmt::format("{} has no '{}'", what_, key), fmt::format("add {}: …", key));
    } else if (given && !(*given > 0)) {
      problems_.error(line(key), fmt::format("'{}' of {} is not positive", key, what_), "give it in SI units");
    }
    return given.value_or(1);
  }
  /// A finite number of zero or more.
  double not_negative(const std::string& key, double otherwise) {
    const std::optional<double> given = number(key);
    if (given && *given < 0) {
      problems_.error(line(key), fmt::format("'{}' of {} is negative", key, what_), "give it in SI units");
    }
    return given.value_or(otherwise);
  }
  /// A whole number between bounds.
  int whole(const std::string& key, int least, int most, int otherwise) {
    const std::optional<double> given = number(key);
    if (given && (*given < least || *given > most || *given != std::floor(*given))) {
      problems_.error(line(key), fmt::format("'{}' of {} is no whole number of {} … {}", key, what_, least, most),
                      "see docs/formats.md");
      return otherwise;
    }
    return given ? static_cast<int>(*given) : otherwise;
  }
  bool truth(const std::string& key, bool otherwise) {
    const YamlValue* const value = find(key);
    return value == nullptr ? otherwise : choice(key, {"true", "false"}) == "true";
  }
  /// Finite numbers, or nothing where there are none or something is wrong.
  std::optional<std::vector<double>> numbers(const std::string& key, std::size_t count) {
    const YamlValue* const value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    std::vector<double> out;
    if (value->is_list() && value->items.size() == count) {
      for (const YamlValue& item : value->items) {
        if (const std::optional<double> each = number_of(item, key)) {
          out.push_back(*each);
        }
      }
      return out.size() == count ? std::optional(out) : std::nullopt;
    }
    if (count == 1 && value->is_word()) {
      const std::optional<double> each = number_of(*value, key);
      return each ? std::optional(std::vector<double>{*each}) : std::nullopt;
    }
    problems_.error(value->line, fmt::format("'{}' of {} is not a list of {} numbers", key, what_, count),
                    "see docs/formats.md");
    return std::nullopt;
  }
  /// Where a key stands, or else the mapping.
  int line(const std::string& key) {
    const YamlValue* const value = find(key);
    return value == nullptr ? mapping_.line : value->key_line;
  }
  /// Warns of all that nobody has asked for.
  void finish() const {
    if (!mapping_.is_mapping()) {
      return;
    }
    for (const YamlValue& item : mapping_.items) {
      if (std::find(asked_.begin(), asked_.end(), item.key) == asked_.end()) {
        problems_.warning(item.key_line,
                          fmt::format("'{}' of {} is not used{}", shortly(item.key), what_,
                                      bunraku::detail::did_you_mean(item.key, asked_)),
                          "remove it");
      }
    }
  }

 private:
  std::optional<double> number_of(const YamlValue& value, const std::string& key) {
    const std::optional<double> out = value.is_word() ? parse_number(trimmed(value.word)) : std::nullopt;
    constexpr double largest = 1e50;  // products must stay finite
    if (!out || !(std::abs(*out) <= largest)) {
      problems_.error(value.line, fmt::format("'{}' of {} is not a finite number", key, what_),
                      "write numbers as 1.5 or 2.1e11");
      return std::nullopt;
    }
    return out;
  }

  const YamlValue& mapping_;
  std::string what_;
  FlexibleProblems& problems_;
  std::vector<std::string> asked_;
};

template <class Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> out;
  std::transform(map.begin(), map.end(), std::back_inserter(out), [](const auto& each) { return each.first; });
  return out;
}

/// What is on a link: a joint to a child, or a named frame.
struct OnLink {
  std::string name;  ///< Of the hinge or the node, as make_flexible takes it; empty for the link's own frame.
  Vec3<double> place = Vec3<double>::zero();
};

/// All that is on one link, by the names that the file may call it.
class LinkParts {
 public:
  LinkParts(const ModelBuilder& builder, const std::string& link) {
    for (const BodySpec& body : builder.bodies()) {
      if (body.parent == link) {
        joints_.push_back({body.hinge.name, body.X_PF.translation});
        names_.emplace(body.hinge.name, joints_.back());
      }
    }
    for (const BodySpec& body : builder.bodies()) {
      if (body.parent == link) {
        names_.emplace(body.name, OnLink{body.hinge.name, body.X_PF.translation});
      } else if (body.name == link) {
        names_.emplace(link, OnLink{});
        names_.emplace(body.hinge.name, OnLink{});
      }
    }
    for (const NodeSpec& node : builder.nodes()) {
      if (node.body == link) {
        names_.emplace(node.name, OnLink{node.name, node.X_BN.translation});
      }
    }
  }

  /// The part of that name, or nothing, with an error.
  const OnLink* find(const std::string& name, int line, const std::string& link, FlexibleProblems& problems) const {
    if (const auto at = names_.find(name); at != names_.end()) {
      return &at->second;
    }
    problems.error(line,
                   fmt::format("link '{}' has no joint, child link or frame '{}' on it{}", shortly(link), shortly(name),
                               problems.suggestion(name, keys_of(names_))),
                   "name a joint whose parent is the link, that joint's child link, or a <frame> of the link");
    return nullptr;
  }
  /// The joints on the link.
  const std::vector<OnLink>& joints() const { return joints_; }

 private:
  std::map<std::string, OnLink> names_;
  std::vector<OnLink> joints_;
};

/// The same body in other axes, from another origin.
FlexibleBody placed(const Transform<double>& X, FlexibleBody body) {
  const auto turn = [&](std::vector<Vec3<double>>& shapes) {
    std::transform(shapes.begin(), shapes.end(), shapes.begin(), [&](const Vec3<double>& v) { return X.rotation * v; });
  };
  for (FlexibleNode& node : body.nodes) {
    node.place = X * node.place;
    node.inertia = X.rotation * node.inertia;
    turn(node.shape.rotation);
    turn(node.shape.translation);
    node.shape.shortening_axis = X.rotation * node.shape.shortening_axis;
  }
  body.inertia = X * body.inertia;
  return body;
}

/// The axes of a beam along d, with z as near to `up` as can be; by default the smallest turn that takes x to d, and
/// half a turn about z for −x.
Rotation<double> beam_axes(const Vec3<double>& d, const std::optional<Vec3<double>>& up) {
  if (up) {
    const Vec3<double> y = normalized(cross(*up, d));
    return Rotation<double>(Mat3<double>::from_columns(d, y, cross(d, y)));
  }
  constexpr double nearly_back = -1 + 1e-12;
  if (d.x < nearly_back) {
    return Rotation<double>(Mat3<double>::diagonal(-1, -1, 1));
  }
  // columns of I + w̃ + w̃²/(1 + x·d) with w = x × d
  const double s = 1 / (1 + d.x);
  return Rotation<double>(Mat3<double>::from_columns(d, {-d.y, 1 - d.y * d.y * s, -d.y * d.z * s},
                                                     {-d.z, -d.y * d.z * s, 1 - d.z * d.z * s}));
}

/// Mass at rest, without what only turns with the modes.
double mass_of(const FlexibleBody& body) {
  double out = body.inertia.mass;
  for (const FlexibleNode& node : body.nodes) {
    out += node.inertia.mass;
  }
  return out;
}

class FlexibleReader {
 public:
  FlexibleReader(const std::string& file, ModelBuilder& builder, const ReaderContext& context)
      : file_(file), builder_(builder), context_(context), problems_{file, context.problems} {
    for (const BodySpec& body : builder.bodies()) {
      masses_.emplace(body.name, body.inertia.mass);
    }
  }

  void read(const YamlValue& list);

 private:
  using Held = std::map<std::string, std::string>;

  void read_link(const YamlValue& value);
  std::optional<FlexibleBody> read_beam(YamlFields& item, const std::string& link, Held& held);
  std::optional<FlexibleBody> read_modal_data(YamlFields& item, const std::string& link, Held& held);
  std::optional<std::vector<OnLink>> read_ends(YamlFields& item, const std::string& link, const LinkParts& parts);
  std::optional<OnLink> read_end(const YamlValue& value, const std::string& link, const LinkParts& parts);
  std::optional<Vec3<double>> point_of(const YamlValue& value);
  void read_section(YamlFields& fields, Beam& beam);
  void read_motions(YamlFields& fields, Beam& beam);
  ModeChoice read_modes(YamlFields& item, const std::string& link, const Transform<double>& X_LT);
  std::optional<ModeDamping> read_damping(YamlFields& item);
  TipLoad load_on(const std::string& link, const Transform<double>& X_LT) const;
  void warn_of_joints(const std::string& link, int line, const LinkParts& parts, const Held& held,
                      const std::set<std::string>& on_frame);

  const std::string& file_;
  ModelBuilder& builder_;
  const ReaderContext& context_;
  FlexibleProblems problems_;
  std::unordered_map<std::string, double> masses_;  ///< Of the links, as the URDF has them.
  std::map<std::string, int> done_;                 ///< Links that are flexible, with their lines.
};

/// A point `[x, y, z]`, or nothing.
std::optional<Vec3<double>> FlexibleReader::point_of(const YamlValue& value) {
  if (!value.is_list() || value.items.size() != 3) {
    return std::nullopt;
  }
  std::array<double, 3> x{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::optional<double> each =
        value.items[i].is_word() ? parse_number(trimmed(value.items[i].word)) : std::nullopt;
    if (!each || !std::isfinite(*each)) {
      return std::nullopt;
    }
    x[i] = *each;
  }
  return Vec3<double>{x[0], x[1], x[2]};
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

std::optional<ModeDamping> FlexibleReader::read_damping(YamlFields& item) {
  const YamlValue* const damping = item.find("damping");
  if (damping == nullptr) {
    return std::nullopt;
  }
  YamlFields fields(*damping, "'damping'", problems_);
  ModeDamping out;
  out.ratio = fields.not_negative("ratio", 0);
  out.alpha = fields.not_negative("alpha", 0);
  out.beta = fields.not_negative("beta", 0);
  fields.finish();
  return out;
}

std::optional<FlexibleBody> FlexibleReader::read_beam(YamlFields& item, const std::string& link, Held& held) {
  const int before = problems_.errors;
  const LinkParts parts(builder_, link);
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
  std::map<double, std::string> names = {{beam.length, "tip"}};  // by place
  std::set<std::string> taken = {"tip"};
  for (const OnLink& end : *ends) {
    const double place = dot(end.place, along);
    if (!(norm(end.place - along * place) <= place_tolerance) || !(place > place_tolerance)) {
      problems_.error(
          to_line,
          fmt::format("'{}' does not lie on the beam of link '{}', which runs from the link's joint to '{}'",
                      end.name.empty() ? std::string("a point") : shortly(end.name), shortly(link),
                      farthest->name.empty() ? std::string("its end") : shortly(farthest->name)),
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

std::optional<FlexibleBody> FlexibleReader::read_modal_data(YamlFields& item, const std::string& link, Held& held) {
  const int before = problems_.errors;
  const LinkParts parts(builder_, link);
  const std::optional<std::string> name = item.word("modal");
  const YamlValue* const at = item.find("at");
  const auto rpy = item.numbers("rpy", 3);
  const bool shortening = item.choice("stiffening", {"foreshortening", "none"}) == "foreshortening";
  const std::optional<ModeDamping> damping = read_damping(item);
  if (!name) {
    return std::nullopt;
  }
  ModalFile data;
  try {
    const std::filesystem::path path =
        context_.paths.find_to_read(*name, {file_, item.line("modal")}, std::filesystem::path(file_).parent_path());
    data = read_modal_file(path.string(), path.string(), context_.problems);
  } catch (const ModelError& error) {
    for (const Problem& problem : error.problems()) {
      ++problems_.errors;
      bunraku::detail::add_problem(context_.problems, problem);
    }
    return std::nullopt;
  }
  FlexibleBody body = std::move(data.body);
  if (rpy) {
    body =
        placed(Transform<double>::rotate(Rotation<double>::from_rpy((*rpy)[0], (*rpy)[1], (*rpy)[2])), std::move(body));
  }
  if (damping) {
    body.damping.clear();
    for (const double stiffness : body.stiffness) {
      body.damping.push_back(2 * damping->ratio * std::sqrt(stiffness) + damping->alpha + damping->beta * stiffness);
    }
  }
  double size = 0;
  std::map<std::string, Vec3<double>> nodes;
  for (FlexibleNode& node : body.nodes) {
    size = std::max(size, norm(node.place));
    if (!node.name.empty()) {
      nodes.emplace(node.name, node.place);
    }
    if (!shortening) {
      node.shape.shortening.clear();
    }
  }
  nodes.emplace(data.inboard, Vec3<double>::zero());
  std::set<std::string> on_frame;
  if (at != nullptr && !at->is_mapping()) {
    problems_.error(at->line, fmt::format("'at' of link '{}' is not of the form {{JOINT: NODE, …}}", shortly(link)),
                    "name by each joint on the link the node of the modal data that holds it");
  }
  for (const YamlValue& pair : at != nullptr && at->is_mapping() ? at->items : std::vector<YamlValue>{}) {
    const OnLink* const part = parts.find(pair.key, pair.key_line, link, problems_);
    const auto node = nodes.find(pair.word);
    if (!pair.is_word() || node == nodes.end()) {
      problems_.error(pair.line,
                      fmt::format("'{}' is no outboard node of '{}'{}", shortly(pair.word), shortly(*name),
                                  problems_.suggestion(pair.word, keys_of(nodes))),
                      "name a node that the modal data has as `outboard`, or its inboard one");
      continue;
    }
    if (part == nullptr || part->name.empty()) {
      continue;
    }
    if (const double distance = norm(part->place - node->second); distance > distance_tolerance * size) {
      problems_.warning(pair.key_line,
                        fmt::format("'{}' is {:.3g} m away from node '{}', which holds it", shortly(pair.key), distance,
                                    shortly(pair.word)),
                        "check the axes of the modal data: rpy: [r, p, y] turns them into those of the link");
    }
    if (pair.word == data.inboard) {
      on_frame.insert(part->name);
    } else if (!held.emplace(part->name, pair.word).second) {
      problems_.error(pair.key_line, fmt::format("'{}' is held twice", shortly(pair.key)),
                      "name it once, as a joint or as a link");
    }
  }
  if (problems_.errors > before) {
    return std::nullopt;
  }
  warn_of_joints(link, item.line("modal"), parts, held, on_frame);
  return body;
}

/// A joint that nobody mentions stays where it was: as if the link did not bend.
void FlexibleReader::warn_of_joints(const std::string& link, int line, const LinkParts& parts, const Held& held,
                                    const std::set<std::string>& on_frame) {
  for (const OnLink& joint : parts.joints()) {
    if (!held.contains(joint.name) && !on_frame.contains(joint.name) && norm(joint.place) > place_tolerance) {
      problems_.warning(line,
                        fmt::format("joint '{}' stays on the frame of the flexible link '{}': bending does not move it",
                                    shortly(joint.name), shortly(link)),
                        "name it in 'to' or 'at'");
    }
  }
}

void FlexibleReader::read_link(const YamlValue& value) {
  YamlFields item(value, "an entry of 'flexible'", problems_);
  if (!value.is_mapping()) {
    return;
  }
  const std::optional<std::string> link = item.word("link");
  if (!link) {
    if (item.find("link") == nullptr) {
      problems_.error(value.line, "an entry of 'flexible' has no 'link'", "add link: NAME");
    }
    return;
  }
  const int line = item.line("link");
  if (*link == world_name) {
    problems_.error(line, "link 'world' is the world, which does not bend", "name another link");
    return;
  }
  const auto known = masses_.find(*link);
  if (known == masses_.end()) {
    std::vector<std::string> names;
    std::transform(masses_.begin(), masses_.end(), std::back_inserter(names),
                   [](const auto& each) { return each.first; });
    problems_.error(line, fmt::format("there is no link '{}'{}", shortly(*link), problems_.suggestion(*link, names)),
                    "name a link of the URDF");
    return;
  }
  if (const auto [at, fresh] = done_.emplace(*link, line); !fresh) {
    problems_.error(line, fmt::format("link '{}' is flexible twice: line {} has it too", shortly(*link), at->second),
                    "remove one of the two");
    return;
  }
  const bool is_beam = item.find("beam") != nullptr;
  if (is_beam == (item.find("modal") != nullptr)) {
    problems_.error(line, fmt::format("link '{}' does not have one of 'beam' and 'modal'", shortly(*link)),
                    "add beam: {…}, or modal: FILE");
    return;
  }
  Held held;
  const std::optional<FlexibleBody> body = is_beam ? read_beam(item, *link, held) : read_modal_data(item, *link, held);
  item.finish();
  if (!body) {
    return;
  }
  const double mass = mass_of(*body);
  if (const double before = known->second; before > 0 && !(std::abs(mass - before) <= mass_tolerance * before)) {
    problems_.warning(line,
                      fmt::format("the mass {:.6g} kg of the flexible link '{}' replaces the {:.6g} kg of the URDF",
                                  mass, shortly(*link), before),
                      "put what the beam does not have, such as a motor, into a link of its own on a fixed joint");
  }
  try {
    make_flexible(builder_, *link, *body, held);
  } catch (const ModelError& error) {
    for (Problem problem : error.problems()) {
      if (problem.where.file.empty() || problem.where.file != file_) {
        problem.where = {file_, line};
      }
      bunraku::detail::add_problem(context_.problems, std::move(problem));
    }
  } catch (const ArgumentError& error) {
    problems_.error(line, error.what(), "see docs/formats.md");
  }
}

void FlexibleReader::read(const YamlValue& list) {
  if (!list.is_list()) {
    problems_.error(list.line, "'flexible' is not a list of links", "write flexible: [{link: LINK, …}, …]");
    return;
  }
  if (list.items.size() > most_links) {
    problems_.error(
        list.line,
        fmt::format("{} links are flexible, more than the {} that a file may have", list.items.size(), most_links),
        "leave those rigid that bend least");
    return;
  }
  for (const YamlValue& item : list.items) {
    read_link(item);
  }
}

}  // namespace

void read_flexible(const YamlValue& list, const std::string& file, ModelBuilder& builder,
                   const ReaderContext& context) {
  FlexibleReader(file, builder, context).read(list);
}

}  // namespace bunraku::io
