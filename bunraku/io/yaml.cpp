#include "bunraku/io/detail/yaml.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <yaml.h>

#include "bunraku/error.hpp"

namespace bunraku::io {

namespace {

/// A pull parser over libyaml's events.
class YamlReader {
 public:
  YamlReader(std::string_view text, const std::string& file, const std::string& cure)
      : text_(text), file_(file), cure_(cure) {
    if (yaml_parser_initialize(&parser_) == 0) {
      throw ModelError({file, 0}, "out of memory");
    }
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  YamlValue document() {
    expect(YAML_STREAM_START_EVENT);
    if (next()->type == YAML_STREAM_END_EVENT) {
      fail(1, "the file is empty");
    }
    if (next()->type != YAML_MAPPING_START_EVENT) {
      fail(line(), "the file is not a list of `key: value`");
    }
    YamlValue out = value(-1);  // lists may be as deep as they could before mappings were read
    expect(YAML_DOCUMENT_END_EVENT);
    if (next()->type != YAML_STREAM_END_EVENT) {
      fail(line(), "there is a second document");
    }
    return out;
  }

 private:
  struct EventDeleter {
    void operator()(yaml_event_t* event) const {
      yaml_event_delete(event);
      delete event;
    }
  };

  [[noreturn]] void fail(int line, const std::string& text) const { throw ModelError({file_, line}, text, cure_); }

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
  YamlValue value(int depth) {
    constexpr int deepest = 8;
    YamlValue out;
    out.line = line();
    switch (event_->type) {
      case YAML_SCALAR_EVENT:
        out.kind = YamlValue::Kind::word;
        out.word = scalar();
        return out;
      case YAML_SEQUENCE_START_EVENT:
        out.kind = YamlValue::Kind::list;
        break;
      case YAML_MAPPING_START_EVENT:
        out.kind = YamlValue::Kind::mapping;
        break;
      default:
        fail(line(), "a value is neither a word nor a list");
    }
    if (depth >= deepest) {
      fail(line(), out.is_list() ? "lists are nested too deeply" : "mappings are nested too deeply");
    }
    if (out.is_list()) {
      while (next()->type != YAML_SEQUENCE_END_EVENT) {
        out.items.push_back(value(depth + 1));
      }
      return out;
    }
    while (next()->type != YAML_MAPPING_END_EVENT) {
      if (event_->type != YAML_SCALAR_EVENT) {
        fail(line(), "a key is not a plain word");
      }
      std::string key = scalar();
      const int key_line = line();
      next();
      YamlValue item = value(depth + 1);
      item.key = std::move(key);
      item.key_line = key_line;
      out.items.push_back(std::move(item));
    }
    return out;
  }

  std::string_view text_;
  std::string file_;
  std::string cure_;
  yaml_parser_t parser_{};
  std::unique_ptr<yaml_event_t, EventDeleter> event_;
};

}  // namespace

YamlValue read_yaml(std::string_view text, const std::string& file, const std::string& cure) {
  return YamlReader(text, file, cure).document();
}

bool mentions_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + key.size())) {
    const std::string_view before = text.substr(0, at);
    const std::size_t start = before.find_last_not_of(" \t'\"{,\xEF\xBB\xBF");  // after a byte order mark, too
    if (start == std::string_view::npos || before[start] == '\n' || before[start] == '\r') {
      return true;
    }
  }
  return false;
}

}  // namespace bunraku::io
