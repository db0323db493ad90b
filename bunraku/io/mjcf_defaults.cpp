#include "bunraku/io/detail/mjcf_defaults.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bunraku/io/detail/mjcf_settings.hpp"

namespace bunraku::io {

namespace {

/// An attribute: one of some words, or else some numbers, or else, where none are wanted, a text.
struct Known {
  const char* name;
  std::size_t least = 0;
  std::size_t most = 0;
  Finite finite = Finite::required;
  std::span<const std::string_view> words = {};
  bool looks = false;  // bears on nothing but how things look

  bool holds_numbers() const { return most > 0; }
};

Known words(const char* name, std::span<const std::string_view> allowed) {
  return {.name = name, .words = allowed};
}

Known text(const char* name) {
  return {.name = name};
}

Known numbers(const char* name, std::size_t least, std::size_t most, Finite finite = Finite::required) {
  return {.name = name, .least = least, .most = most, .finite = finite};
}

Known numbers(const char* name, std::size_t count) {
  return numbers(name, count, count);
}

/// Wrong, it is a warning.
Known look(Known known) {
  known.looks = true;
  return known;
}

/// What is read of each kind of element that has defaults. All of it counts as used wherever it stands in a class,
/// whether or not an element ends up with that class.
const std::map<std::string, std::vector<Known>, std::less<>>& attributes_with_defaults() {
  static const std::map<std::string, std::vector<Known>, std::less<>> table = {
      {"joint",
       {words("type", joint_types), numbers("pos", 3), numbers("axis", 3), numbers("range", 2, 2, Finite::or_inf),
        words("limited", yes_no_or_auto), numbers("armature", 1), numbers("damping", 1, 3), numbers("frictionloss", 1),
        numbers("stiffness", 1, 3), numbers("springref", 1), numbers("ref", 1),
        numbers("actuatorfrcrange", 2, 2, Finite::or_inf), words("actuatorfrclimited", yes_no_or_auto)}},
      {"geom",
       {words("type", geom_types), numbers("pos", 3), numbers("quat", 4), numbers("axisangle", 4), numbers("xyaxes", 6),
        numbers("zaxis", 3), numbers("euler", 3), numbers("fromto", 6), numbers("size", 1, 3), numbers("mass", 1),
        text("mesh"), numbers("density", 1), words("shellinertia", yes_or_no), numbers("group", 1),
        numbers("contype", 1), numbers("conaffinity", 1), text("material"), look(numbers("rgba", 4))}},
      {"site",
       {look(words("type", geom_types)), numbers("pos", 3), numbers("quat", 4), numbers("axisangle", 4),
        numbers("xyaxes", 6), numbers("zaxis", 3), numbers("euler", 3), numbers("fromto", 6),
        look(numbers("size", 1, 3)), look(numbers("rgba", 4)), text("material"), look(numbers("group", 1))}},
      {"mesh", {numbers("scale", 3), words("inertia", mesh_insides)}},
      {"material", {look(numbers("rgba", 4)), text("texture")}},
      {"equality", {words("active", yes_or_no)}},
      {"general",
       {numbers("gear", 1, 6), numbers("ctrlrange", 2, 2, Finite::or_inf), words("ctrllimited", yes_no_or_auto),
        numbers("forcerange", 2, 2, Finite::or_inf), words("forcelimited", yes_no_or_auto),
        words("dyntype", actuator_dynamics), words("gaintype", actuator_gains), words("biastype", actuator_biases),
        numbers("gainprm", 1, 10)}},
  };
  return table;
}

const std::vector<Setting> no_settings;

/// The kind under which an element's defaults are kept.
std::string_view kind_of(std::string_view tag) {
  const std::string_view actuator = actuator_class(tag);
  return actuator.empty() ? tag : actuator;
}

/// What is known of an attribute of an element that has defaults; nothing for others.
const Known* find_known(std::string_view tag, std::string_view name) {
  const auto known = attributes_with_defaults().find(tag);
  if (known == attributes_with_defaults().end()) {
    return nullptr;
  }
  const auto at =
      std::find_if(known->second.begin(), known->second.end(), [&](const Known& k) { return k.name == name; });
  return at == known->second.end() ? nullptr : &*at;
}

}  // namespace

std::string_view actuator_class(std::string_view tag) {
  static constexpr std::array<std::string_view, 9> tags = {"general", "motor",    "position", "velocity", "intvelocity",
                                                           "damper",  "cylinder", "muscle",   "dcmotor"};
  return std::find(tags.begin(), tags.end(), tag) == tags.end() ? std::string_view() : tags.front();
}

void DefaultClass::add(const XmlElement& element, long order) {
  const auto known = attributes_with_defaults().find(kind_of(element.name()));
  if (known == attributes_with_defaults().end()) {
    return;
  }
  element.mark_used();
  ByAttribute& own = own_[known->first];
  for (const Known& attribute : known->second) {
    if (element.has(attribute.name) && !(attribute.holds_numbers() && element.has_blank(attribute.name))) {
      element.attribute(attribute.name);
      own[attribute.name].push_back({element, order});
    }
  }
}

const std::vector<Setting>& DefaultClass::settings(std::string_view tag, std::string_view attribute) const {
  const auto known = merged_.find(tag);
  if (known != merged_.end()) {
    if (const auto at = known->second.find(attribute); at != known->second.end()) {
      return at->second;
    }
  }
  // attributes of three numbers may be completed from further up; nobody goes further than this
  constexpr std::size_t most = 64;
  std::vector<Setting> merged;
  long before = std::numeric_limits<long>::max();
  for (const DefaultClass* c = this; c != nullptr && merged.size() < most; before = c->created_, c = c->parent_) {
    const auto of_tag = c->own_.find(tag);
    if (of_tag == c->own_.end()) {
      continue;
    }
    if (const auto at = of_tag->second.find(attribute); at != of_tag->second.end()) {
      const std::vector<Setting>& own = at->second;
      auto end = std::lower_bound(own.begin(), own.end(), before,
                                  [](const Setting& s, long order) { return s.order < order; });
      while (end != own.begin() && merged.size() < most) {
        merged.push_back(*--end);
      }
    }
  }
  return merged_[std::string(tag)][std::string(attribute)] = std::move(merged);
}

Defaults::Defaults(Suggestions& suggestions) : suggestions_(suggestions) {
  classes_.emplace_back(nullptr, 0);
  names_.emplace("main", &classes_.front());
}

void Defaults::read(const XmlElement& section, MjcfFiles& files) {
  section.mark_used();
  const std::string name(section.attribute("class").value_or(""));
  if (!name.empty() && name != "main") {
    section.error(fmt::format("the top default class cannot be called '{}'", name),
                  "put it into a <default> of its own: <default><default class=\"…\">");
    names_.emplace(name, &classes_.front());
  }
  read_class(section, classes_.front(), files, 1);
}

/// Whether or not anything ends up with a class, what it says must be well written.
void Defaults::check(const XmlElement& element) {
  const auto known = attributes_with_defaults().find(kind_of(element.name()));
  if (known == attributes_with_defaults().end()) {
    return;
  }
  const Attributes attributes(element, *this, nullptr, known->first);
  for (const Known& attribute : known->second) {
    if (element.has(attribute.name)) {
      attributes.check(attribute.name);
    }
  }
  const char* first = nullptr;
  for (const char* name : orientations) {
    if (first != nullptr && element.has(name)) {
      element.error(fmt::format("{} has two orientations, {} and {}", element.description(), first, name),
                    "keep one of them");
    }
    first = element.has(name) ? name : first;
  }
}

void Defaults::read_class(const XmlElement& element, DefaultClass& into, MjcfFiles& files, int depth) {
  check_depth(element, depth);
  const std::vector<XmlElement> children = files.children(element);
  for (const XmlElement& child : children) {
    into.add(child, ++order_);
    check(child);
  }
  // classes inherit from the whole of their parent, also from what stands below them
  for (const XmlElement& child : children) {
    if (child.name() == "default") {
      child.mark_used();
      if (DefaultClass* made = make_class(child, into)) {
        read_class(child, *made, files, depth + 1);
      } else {
        child.mark_all_used();  // what is wrong with it was said
      }
    }
  }
}

DefaultClass* Defaults::make_class(const XmlElement& element, const DefaultClass& parent) {
  const std::string name(element.required("class"));
  if (name.empty()) {
    return nullptr;
  }
  if (names_.contains(name)) {
    element.error(fmt::format("there is a second default class '{}'", name), "give each class a name of its own");
    return nullptr;
  }
  classes_.emplace_back(&parent, ++order_);
  names_.emplace(name, &classes_.back());
  return &classes_.back();
}

const DefaultClass* Defaults::named(const XmlElement& element, const char* attribute, const DefaultClass* otherwise) {
  const auto name = element.attribute(attribute);
  if (!name) {
    return otherwise;
  }
  const auto at = names_.find(*name);
  if (at != names_.end()) {
    return at->second;
  }
  element.error(fmt::format("{} of {} names the default class '{}', which there is not{}", attribute,
                            element.description(), *name, suggestions_(*name, names_)),
                "add the class to <default>, or correct the name");
  return otherwise;
}

const std::vector<Setting>& Attributes::inherited(const char* name) const {
  return class_ == nullptr ? no_settings : class_->settings(tag_, name);
}

std::optional<Setting> Attributes::setting(const char* name) const {
  const Known* known = find_known(tag_, name);
  const bool blank = element_.has_blank(name) && (known == nullptr || known->holds_numbers());
  if (!blank && element_.attribute(name)) {
    return Setting{element_, std::numeric_limits<long>::max()};
  }
  const std::vector<Setting>& more = inherited(name);
  return more.empty() ? std::nullopt : std::optional(more.front());
}

std::string_view Attributes::text(const char* name) const {
  const auto from = setting(name);
  return from ? *from->element.attribute(name) : std::string_view();
}

std::optional<std::vector<double>> Attributes::parse(const XmlElement& source, const char* name, std::size_t least,
                                                     std::size_t most, Finite finite) const {
  if (defaults_.wrong_.contains({source.identity(), name})) {
    return std::nullopt;
  }
  auto out = source.numbers(name, least, most, finite);
  if (!out) {
    defaults_.wrong_.emplace(source.identity(), name);
  }
  return out;
}

std::optional<std::vector<double>> Attributes::numbers(const char* name, std::size_t least, std::size_t most,
                                                       Finite finite) const {
  const auto from = setting(name);
  return from ? parse(from->element, name, least, most, finite) : std::nullopt;
}

std::optional<std::array<double, 4>> Attributes::look(const char* name) const {
  const auto from = setting(name);
  if (!from) {
    return std::nullopt;
  }
  const Lenient looks(from->element.document(), "it is not used");
  const auto values = parse(from->element, name, 4, 4, Finite::required);
  return values ? std::optional<std::array<double, 4>>({(*values)[0], (*values)[1], (*values)[2], (*values)[3]})
                : std::nullopt;
}

double Attributes::number(const char* name, double otherwise, Finite finite) const {
  const auto values = numbers(name, 1, 1, finite);
  return values ? values->front() : otherwise;
}

Vec3<double> Attributes::vector(const char* name, const Vec3<double>& otherwise) const {
  const auto values = numbers(name, 3, 3);
  return values ? Vec3<double>{(*values)[0], (*values)[1], (*values)[2]} : otherwise;
}

std::vector<double> Attributes::partial(const char* name, std::vector<double> defaults) const {
  std::size_t known = 0;  // as many numbers at the front are settled
  const auto take = [&](const XmlElement& source) {
    if (const auto values = parse(source, name, 1, defaults.size(), Finite::required)) {
      for (; known < values->size(); ++known) {
        defaults[known] = (*values)[known];
      }
    }
  };
  if (!element_.has_blank(name) && element_.attribute(name)) {
    take(element_);
  }
  for (const Setting& s : inherited(name)) {
    if (known == defaults.size()) {
      break;
    }
    take(s.element);
  }
  return defaults;
}

std::string_view Attributes::word(const char* name, std::string_view otherwise,
                                  std::span<const std::string_view> allowed) const {
  const auto from = setting(name);
  if (!from || defaults_.wrong_.contains({from->element.identity(), name})) {
    return otherwise;
  }
  if (std::find(allowed.begin(), allowed.end(), *from->element.attribute(name)) == allowed.end()) {
    defaults_.wrong_.emplace(from->element.identity(), name);
  }
  return from->element.word(name, otherwise, allowed);
}

bool Attributes::flag(const char* name, bool otherwise) const {
  return word(name, otherwise ? "true" : "false", yes_or_no) == "true";
}

void Attributes::check(const char* name) const {
  const Known* at = find_known(tag_, name);
  const auto from = setting(name);
  std::optional<Lenient> looks;
  if (at->looks && from) {
    looks.emplace(from->element.document(), "it is not used");
  }
  if (!at->words.empty()) {
    word(name, {}, at->words);
  } else if (at->holds_numbers()) {
    numbers(name, at->least, at->most, at->finite);
  } else {
    has(name);
  }
}

}  // namespace bunraku::io
