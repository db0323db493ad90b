/// Reads the YAML file that closes the loops of a URDF: pairs of frames, and how each pair is joined.

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <yaml.h>

#include "bunraku/io/detail/readers.hpp"

namespace bunraku::io {

namespace {

/// A YAML value: a scalar, or a sequence of values. Mappings occur at the top alone.
struct Value {
  int line = 0;
  bool is_sequence = false;
  std::string scalar;
  std::vector<Value> items;
};

struct Entry {
  std::string key;
  int line = 0;
  Value value;
};

/// A pull parser that reads `key: value` pairs of scalars and nested sequences.
class LoopParser {
 public:
  LoopParser(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (yaml_parser_initialize(&parser_) == 0) {
      throw ModelError({file, 0}, "out of memory");
    }
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~LoopParser() { yaml_parser_delete(&parser_); }
  LoopParser(const LoopParser&) = delete;
  LoopParser& operator=(const LoopParser&) = delete;

  std::vector<Entry> entries() {
    std::vector<Entry> out;
    expect(YAML_STREAM_START_EVENT);
    if (next()->type == YAML_STREAM_END_EVENT) {
      fail(1, "the file is empty");
    }
    if (next()->type != YAML_MAPPING_START_EVENT) {
      fail(line(), "the file is not a list of `key: value`");
    }
    while (next()->type != YAML_MAPPING_END_EVENT) {
      Entry entry{{}, line(), {}};
      if (event_->type != YAML_SCALAR_EVENT) {
        fail(line(), "a key is not a plain word");
      }
      entry.key = scalar();
      next();
      entry.value = value(0);
      out.push_back(std::move(entry));
    }
    expect(YAML_DOCUMENT_END_EVENT);
    if (next()->type != YAML_STREAM_END_EVENT) {
      fail(line(), "there is a second document");
    }
    return out;
  }

  [[noreturn]] void fail(int line, const std::string& text) const {
    throw ModelError({file_, line}, text, "write: closed_loop: [['frame_a', 'frame_b'], …] and type: ['6d', …]");
  }

 private:
  struct EventDeleter {
    void operator()(yaml_event_t* event) const {
      yaml_event_delete(event);
      delete event;
    }
  };

  yaml_event_t* next() {
    event_.reset(new yaml_event_t{});
    if (yaml_parser_parse(&parser_, event_.get()) == 0) {
      const std::string problem = parser_.problem == nullptr ? "this is not YAML" : parser_.problem;
      // a wrong byte is found by the reader, which knows its place in the text but not its line
      const std::size_t place = std::min(parser_.problem_offset, text_.size());
      const auto lines = parser_.error == YAML_READER_ERROR
                             ? std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(place), '\n')
                             : static_cast<std::ptrdiff_t>(parser_.problem_mark.line);
      fail(static_cast<int>(lines) + 1, problem);
    }
    return event_.get();
  }
  void expect(yaml_event_type_t type) {
    if (next()->type != type) {
      fail(line(), "this is not a plain list of `key: value`");
    }
  }
  int line() const { return static_cast<int>(event_->start_mark.line) + 1; }
  std::string scalar() const {
    return {reinterpret_cast<const char*>(event_->data.scalar.value), event_->data.scalar.length};
  }
  /// The value that starts with the current event.
  Value value(int depth) {
    constexpr int deepest = 8;
    Value out{line(), event_->type == YAML_SEQUENCE_START_EVENT, {}, {}};
    if (event_->type == YAML_SCALAR_EVENT) {
      out.scalar = scalar();
      return out;
    }
    if (!out.is_sequence || depth >= deepest) {
      fail(line(), out.is_sequence ? "lists are nested too deeply" : "a value is neither a word nor a list");
    }
    while (next()->type != YAML_SEQUENCE_END_EVENT) {
      out.items.push_back(value(depth + 1));
    }
    return out;
  }

  std::string_view text_;
  std::string file_;
  yaml_parser_t parser_{};
  std::unique_ptr<yaml_event_t, EventDeleter> event_;
};

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

void read_loops(std::string_view text, const std::string& file, ModelBuilder& builder, std::vector<Problem>& problems) {
  if (text.find("closed_loop") == std::string_view::npos) {  // some other file that happens to have this name
    bunraku::detail::add_problem(
        problems,
        {Severity::warning, {file, 0}, "the file has no 'closed_loop' and is not used: it closes no loops", {}});
    return;
  }
  constexpr std::size_t longest = std::size_t{1} << 20;
  if (text.size() > longest) {
    throw ModelError({file, 0}, fmt::format("the file has more than the {} bytes that a loop file may have", longest),
                     "list pairs of frames alone");
  }
  LoopParser parser(text, file);
  const Ends ends(builder);
  Value loops;
  Value types;
  for (Entry& entry : parser.entries()) {
    if (Value* const known = entry.key == "closed_loop" ? &loops : entry.key == "type" ? &types : nullptr) {
      if (known->line != 0) {
        parser.fail(entry.line, fmt::format("there is a second '{}'", entry.key));
      }
      *known = std::move(entry.value);
    } else {
      bunraku::detail::add_problem(problems,
                                   {Severity::warning,
                                    {file, entry.line},
                                    fmt::format("'{}' is not used{}", entry.key,
                                                bunraku::detail::did_you_mean(entry.key, {"closed_loop", "type"})),
                                    {}});
    }
  }
  if (!loops.is_sequence) {
    parser.fail(std::max(1, loops.line), "there is no list 'closed_loop'");
  }
  if (types.line != 0 && (!types.is_sequence || types.items.size() != loops.items.size())) {
    parser.fail(types.line, fmt::format("'type' does not name one type for each of the {} loops", loops.items.size()));
  }
  for (std::size_t i = 0; i < loops.items.size(); ++i) {
    const Value& pair = loops.items[i];
    if (!pair.is_sequence || pair.items.size() != 2 || pair.items[0].is_sequence || pair.items[1].is_sequence) {
      parser.fail(pair.line, "a loop is not a pair of names");
    }
    const std::string type = types.line == 0 ? "6d" : types.items[i].scalar;
    if (type != "6d" && type != "3d") {
      parser.fail(types.items[i].line, fmt::format("the type '{}' is neither '6d' (rigid) nor '3d' (a point)", type));
    }
    builder.add(ClosureSpec{.name = fmt::format("loop_{}", i + 1),
                            .hinge = {.type = type == "6d" ? HingeType::fixed : HingeType::spherical},
                            .a = ends[pair.items[0].scalar],
                            .b = ends[pair.items[1].scalar],
                            .where = {file, pair.line}});
  }
}

}  // namespace bunraku::io
