/// @file
/// Default classes of MJCF, and attributes seen through them.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bunraku/io/detail/mjcf_files.hpp"
#include "bunraku/io/detail/mjcf_names.hpp"

namespace bunraku::io {

/// Words for the shape of a geom or site.
inline constexpr std::array<std::string_view, 9> geom_types = {"sphere", "capsule", "ellipsoid", "cylinder", "box",
                                                               "plane",  "mesh",    "hfield",    "sdf"};
/// Words for the type of a joint.
inline constexpr std::array<std::string_view, 4> joint_types = {"free", "ball", "slide", "hinge"};
/// Words for what is inside of a mesh.
inline constexpr std::array<std::string_view, 4> mesh_insides = {"convex", "exact", "legacy", "shell"};
/// Words for a switch.
inline constexpr std::array<std::string_view, 2> yes_or_no = {"false", "true"};
/// Words for a switch that may be left to the rest of the element.
inline constexpr std::array<std::string_view, 3> yes_no_or_auto = {"false", "true", "auto"};
/// Words for what comes between the control and the force of an actuator.
inline constexpr std::array<std::string_view, 7> actuator_dynamics = {"none",   "integrator", "filter", "filterexact",
                                                                      "muscle", "dcmotor",    "user"};
/// Words for what the control is multiplied with.
inline constexpr std::array<std::string_view, 5> actuator_gains = {"fixed", "affine", "muscle", "dcmotor", "user"};
/// Words for what is added.
inline constexpr std::array<std::string_view, 5> actuator_biases = {"none", "affine", "muscle", "dcmotor", "user"};
/// The ways to say how something is turned; one element can have one of them.
inline constexpr std::array<const char*, 5> orientations = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};

/// `general` for an actuator of any kind, since all share their defaults; empty for others.
std::string_view actuator_class(std::string_view tag);

/// Where an attribute is set. Of two settings that apply to one element the one with the larger order wins.
struct Setting {
  XmlElement element;
  long order = 0;
};

/// A default class. It has what its parent had when it was made: what is added to the parent later does not count.
class DefaultClass {
 public:
  DefaultClass(const DefaultClass* parent, long created) : parent_(parent), created_(created) {}

  /// Adds all settings of an element such as `<geom>` in `<default>`.
  void add(const XmlElement& element, long order);
  /// The settings of an attribute of a tag, the one that counts first.
  const std::vector<Setting>& settings(std::string_view tag, std::string_view attribute) const;

 private:
  using ByAttribute = std::map<std::string, std::vector<Setting>, std::less<>>;
  using ByTag = std::map<std::string, ByAttribute, std::less<>>;

  const DefaultClass* parent_;
  long created_;
  ByTag own_;             // in the order of reading
  mutable ByTag merged_;  // with the parents', the one that counts first; filled when asked for
};

/// All default classes of a model.
class Defaults {
 public:
  explicit Defaults(Suggestions& suggestions);

  /// Reads a `<default>` section of the root.
  void read(const XmlElement& section, MjcfFiles& files);
  /// The top class, which is always there.
  const DefaultClass* main() const { return &classes_.front(); }
  /// The class that an attribute (`class` or `childclass`) of an element names; `otherwise` where it is absent, or
  /// names no class, which is reported.
  const DefaultClass* named(const XmlElement& element, const char* attribute, const DefaultClass* otherwise);

 private:
  friend class Attributes;

  void check(const XmlElement& element);
  void read_class(const XmlElement& element, DefaultClass& into, MjcfFiles& files, int depth);
  DefaultClass* make_class(const XmlElement& element, const DefaultClass& parent);

  Suggestions& suggestions_;
  std::deque<DefaultClass> classes_;  // which stay where they are
  std::map<std::string, DefaultClass*, std::less<>> names_;
  std::set<std::pair<const void*, std::string>> wrong_;  // reported once, however many elements inherit it
  long order_ = 0;
};

/// The attributes of an element, those that it does not set itself taken from its default class.
class Attributes {
 public:
  /// Of an element of a kind that has no defaults.
  Attributes(const XmlElement& element, Defaults& defaults) : Attributes(element, defaults, nullptr) {}
  /// `tag` is the kind in `<default>` where it is not the element's own tag.
  Attributes(const XmlElement& element, Defaults& defaults, const DefaultClass* inherited, std::string_view tag = {})
      : element_(element), defaults_(defaults), class_(inherited), tag_(tag.empty() ? element.name() : tag) {}

  /// The element itself.
  const XmlElement& element() const { return element_; }
  /// Where the attribute is set, if it is. An empty one that should hold numbers counts as not set.
  std::optional<Setting> setting(const char* name) const;
  /// Whether the attribute is set, by the element or its class.
  bool has(const char* name) const { return setting(name).has_value(); }
  /// The attribute; empty when it is not set.
  std::string_view text(const char* name) const;
  /// As XmlElement::number.
  double number(const char* name, double otherwise, Finite finite = Finite::required) const;
  /// As XmlElement::numbers.
  std::optional<std::vector<double>> numbers(const char* name, std::size_t least, std::size_t most,
                                             Finite finite = Finite::required) const;
  /// Four numbers that say how something looks: what is wrong with them is a warning.
  std::optional<std::array<double, 4>> look(const char* name) const;
  /// As XmlElement::vector.
  Vec3<double> vector(const char* name, const Vec3<double>& otherwise) const;
  /// Between one and as many numbers as there are defaults: where an element or a class gives fewer, the rest stay
  /// what they were.
  std::vector<double> partial(const char* name, std::vector<double> defaults) const;
  /// As XmlElement::word.
  std::string_view word(const char* name, std::string_view otherwise, std::span<const std::string_view> allowed) const;
  /// As XmlElement::flag, with the words true and false alone.
  bool flag(const char* name, bool otherwise) const;
  /// Reports what is wrong with an attribute that has no meaning where it stands, but must be well written.
  void check(const char* name) const;

 private:
  std::optional<std::vector<double>> parse(const XmlElement& source, const char* name, std::size_t least,
                                           std::size_t most, Finite finite) const;
  const std::vector<Setting>& inherited(const char* name) const;

  XmlElement element_;
  Defaults& defaults_;
  const DefaultClass* class_;
  std::string_view tag_;
};

}  // namespace bunraku::io
