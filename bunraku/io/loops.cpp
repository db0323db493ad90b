/// Reads the YAML file beside a URDF: pairs of frames that close its loops, how each pair is joined, and flexible
/// links.

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bunraku/io/detail/readers.hpp"
#include "bunraku/io/detail/yaml.hpp"

namespace bunraku::io {

namespace {

constexpr const char* loops_cure = "write: closed_loop: [['frame_a', 'frame_b'], …] and type: ['6d', …]";
constexpr const char* flexible_cure =
    "write: flexible: [{link: LINK, to: [FRAME, …], beam: {…}}, {link: LINK, modal: FILE, at: {JOINT: NODE}}], and "
    "closed_loop: [['frame_a', 'frame_b'], …] where there are loops";

/// Pairs of names have no mappings in them.
void refuse_mappings(const YamlValue& value, const SourceLocation& file) {
  if (value.is_mapping()) {
    throw ModelError({file.file, value.line}, "a value is neither a word nor a list", loops_cure);
  }
  for (const YamlValue& item : value.items) {
    refuse_mappings(item, file);
  }
}

/// What a loop's end may be called: a link, a named frame, or the joint whose child link is meant.
class Ends {
 public:
  explicit Ends(const ModelBuilder& builder) {
    for (const BodySpec& body : builder.bodies()) {
      names_.emplace(body.name, body.name);
    }
    for (const NodeSpec& node : builder.nodes()) {
      names_.emplace(node.name, node.name);
    }
    for (const BodySpec& body : builder.bodies()) {
      names_.emplace(body.hinge.name, body.name);
    }
  }
  /// The body or node; an unknown name stays as it is, and the builder reports it.
  const std::string& operator[](const std::string& name) const {
    const auto at = names_.find(name);
    return at == names_.end() ? name : at->second;
  }

 private:
  std::unordered_map<std::string, std::string> names_;
};

}  // namespace

void read_loops(std::string_view text, const std::string& file, ModelBuilder& builder, const ReaderContext& context) {
  const auto unused = [&] {
    bunraku::detail::add_problem(
        context.problems,
        {Severity::warning, {file, 0}, "the file has no 'closed_loop' and is not used: it closes no loops", {}});
  };
  const bool has_loops = text.find("closed_loop") != std::string_view::npos;
  const bool has_flexible = mentions_key(text, "flexible");
  if (!has_loops && !has_flexible) {  // some other file that happens to have this name
    unused();
    return;
  }
  constexpr std::size_t longest = std::size_t{1} << 20;
  if (text.size() > longest) {
    throw ModelError({file, 0}, fmt::format("the file has more than the {} bytes that a loop file may have", longest),
                     "list pairs of frames alone");
  }
  const char* const cure = has_flexible ? flexible_cure : loops_cure;
  const auto fail = [&](int line, const std::string& problem) { throw ModelError({file, line}, problem, cure); };
  YamlValue document = read_yaml(text, file, cure);
  YamlValue loops;
  YamlValue types;
  YamlValue flexible;
  for (YamlValue& entry : document.items) {
    YamlValue* const known = entry.key == "closed_loop" ? &loops
                             : entry.key == "type"      ? &types
                             : entry.key == "flexible"  ? &flexible
                                                        : nullptr;
    if (known == nullptr) {
      bunraku::detail::add_problem(
          context.problems, {Severity::warning,
                             {file, entry.key_line},
                             fmt::format("'{}' is not used{}", entry.key,
                                         bunraku::detail::did_you_mean(entry.key, {"closed_loop", "type", "flexible"})),
                             {}});
      continue;
    }
    if (known->line != 0) {
      fail(entry.key_line, fmt::format("there is a second '{}'", entry.key));
    }
    if (known != &flexible) {
      refuse_mappings(entry, {file, 0});
    }
    *known = std::move(entry);
  }
  if (loops.line == 0 && flexible.line == 0 && !has_loops) {  // the word stands elsewhere
    unused();
    return;
  }
  if (!loops.is_list() && (loops.line != 0 || flexible.line == 0)) {
    fail(std::max(1, loops.line), "there is no list 'closed_loop'");
  }
  if (types.line != 0 && (!types.is_list() || types.items.size() != loops.items.size())) {
    fail(types.line, fmt::format("'type' does not name one type for each of the {} loops", loops.items.size()));
  }
  if (flexible.line != 0) {
    read_flexible(flexible, file, builder, context);
  }
  const Ends ends(builder);
  for (std::size_t i = 0; i < loops.items.size(); ++i) {
    const YamlValue& pair = loops.items[i];
    if (!pair.is_list() || pair.items.size() != 2 || pair.items[0].is_list() || pair.items[1].is_list()) {
      fail(pair.line, "a loop is not a pair of names");
    }
    const std::string type = types.line == 0 ? "6d" : types.items[i].word;
    if (type != "6d" && type != "3d") {
      fail(types.items[i].line, fmt::format("the type '{}' is neither '6d' (rigid) nor '3d' (a point)", type));
    }
    builder.add(ClosureSpec{.name = fmt::format("loop_{}", i + 1),
                            .hinge = {.type = type == "6d" ? HingeType::fixed : HingeType::spherical},
                            .a = ends[pair.items[0].word],
                            .b = ends[pair.items[1].word],
                            .where = {file, pair.line}});
  }
}

}  // namespace bunraku::io
