/// @file
/// Reads `flexible:` of the YAML file beside a URDF: links that are beams, or whose modes are in a file.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "bunraku/io/detail/readers.hpp"
#include "bunraku/io/detail/yaml_fields.hpp"
#include "bunraku/model/beam.hpp"

namespace bunraku::io {

/// How far from the inboard joint a body may be clamped, and from a straight line what hangs on it, m.
inline constexpr double place_tolerance = 1e-6;

/// The keys of a map.
template <class Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> out;
  out.reserve(map.size());
  for (const auto& [key, value] : map) {
    out.push_back(key);
  }
  return out;
}

/// What is on a link: a joint to a child, or a named frame.
struct OnLink {
  std::string name;                           ///< Of the hinge or the node; empty for the link's own frame, or a point.
  Vec3<double> place = Vec3<double>::zero();  ///< In the link's frame.
};

/// All that is on one link, by the names that the file may call it.
class LinkParts {
 public:
  /// O(N).
  LinkParts(const ModelBuilder& builder, const std::string& link);

  /// The part of that name, or nothing, with an error.
  const OnLink* find(const std::string& name, int line, const std::string& link, YamlProblems& problems) const;
  /// The joints on the link.
  const std::vector<OnLink>& joints() const { return joints_; }

 private:
  std::map<std::string, OnLink> names_;
  std::vector<OnLink> joints_;
};

/// The same body in other axes, from another origin.
FlexibleBody placed(const Transform<double>& X, FlexibleBody body);

/// Makes links of a builder flexible, as the file says.
class FlexibleReader {
 public:
  /// All must live as long.
  FlexibleReader(const std::string& file, ModelBuilder& builder, const ReaderContext& context);

  /// What is in the list `flexible`.
  void read(const YamlValue& list);

 private:
  using Held = std::map<std::string, std::string>;

  void read_link(const YamlValue& value);
  std::optional<FlexibleBody> read_beam(YamlFields& item, const std::string& link, Held& held);
  std::optional<FlexibleBody> read_modal_data(YamlFields& item, const std::string& link, Held& held);
  std::optional<std::vector<OnLink>> read_ends(YamlFields& item, const std::string& link, const LinkParts& parts);
  std::optional<OnLink> read_end(const YamlValue& value, const std::string& link, const LinkParts& parts);
  static std::optional<Vec3<double>> point_of(const YamlValue& value);
  void check_start(YamlFields& item, const std::string& link, const LinkParts& parts);
  void place_stations(const std::vector<OnLink>& ends, const OnLink& farthest, const std::string& link, int line,
                      BeamOptions& options, Held& held);
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
  YamlProblems problems_;
  std::unordered_map<std::string, double> masses_;  ///< Of the links, as the URDF has them.
  std::map<std::string, int> done_;                 ///< Links that are flexible, with their lines.
};

}  // namespace bunraku::io
