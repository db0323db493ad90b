/// @file
/// YAML as far as the files beside a model need it: words, lists and mappings, each with its line. No anchors, no tags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::io {

/// A value: a word, a list or a mapping.
struct YamlValue {
  /// What it is.
  enum class Kind {
    none,     ///< Nothing was read.
    word,     ///< A scalar.
    list,     ///< A sequence.
    mapping,  ///< `key: value` pairs.
  };

  Kind kind = Kind::none;             ///< What it is.
  int line = 0;                       ///< Where it starts; 0 for nothing.
  std::string word = {};              ///< The text of a word.
  std::vector<YamlValue> items = {};  ///< Of a list, or of a mapping.
  std::string key = {};               ///< Of an item of a mapping: its key.
  int key_line = 0;                   ///< Where the key stands.

  bool is_word() const { return kind == Kind::word; }        ///< Whether it is a scalar.
  bool is_list() const { return kind == Kind::list; }        ///< Whether it is a sequence.
  bool is_mapping() const { return kind == Kind::mapping; }  ///< Whether it has keys.
};

/// The one mapping that a text is. Throws ModelError, with the line and this cure, where the text is not YAML, is
/// nested more than eight deep, holds a second document, an alias or a key that is no word. Keys may be there twice.
YamlValue read_yaml(std::string_view text, const std::string& file, const std::string& cure);

/// Whether a line of the text starts with this key, quoted or not: a file that never names it need not be read.
bool mentions_key(std::string_view text, std::string_view key);

}  // namespace bunraku::io
