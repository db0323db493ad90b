/// @file
/// Mappings of a YAML file, asked for by key: numbers, words and choices, with a message for whatever is wrong.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bunraku/error.hpp"
#include "bunraku/io/detail/yaml.hpp"

namespace bunraku::io {

/// A name as messages show it.
std::string shortly(std::string_view name);

/// The number that a value is, or nothing: finite, and no larger than a model's numbers may be.
std::optional<double> number_in(const YamlValue& value);

/// Where problems of a YAML file go.
struct YamlProblems {
  const std::string& file;     ///< Its name.
  std::vector<Problem>& list;  ///< They are added to this.
  int errors = 0;              ///< How many there were.
  int suggestions = 0;         ///< How often a name was looked for.

  /// The nearest of known names, for the first few: each costs a walk over all of them.
  std::string suggestion(const std::string& name, const std::vector<std::string>& known);
  /// Adds an error.
  void error(int line, const std::string& text, const std::string& cure);
  /// Adds a warning.
  void warning(int line, const std::string& text, const std::string& cure) const;
};

/// A mapping of which every key is asked for by name; what nobody has asked for is a warning.
class YamlFields {
 public:
  /// `what` is how messages call it.
  YamlFields(const YamlValue& mapping, std::string what, YamlProblems& problems);

  /// The value of a key, or nothing.
  const YamlValue* find(const std::string& key);
  /// A word, or nothing.
  std::optional<std::string> word(const std::string& key);
  /// One of some words; the first where there is none.
  std::string choice(const std::string& key, const std::vector<std::string>& words);
  /// A finite number, or nothing.
  std::optional<double> number(const std::string& key);
  /// A finite number that is there, and positive.
  double positive(const std::string& key);
  /// A finite number of zero or more.
  double not_negative(const std::string& key, double otherwise);
  /// A whole number between bounds.
  int whole(const std::string& key, int least, int most, int otherwise);
  /// `true` or `false`.
  bool truth(const std::string& key, bool otherwise);
  /// Finite numbers, or nothing where there are none or something is wrong.
  std::optional<std::vector<double>> numbers(const std::string& key, std::size_t count);
  /// Where a key stands, or else the mapping.
  int line(const std::string& key);
  /// Warns of all that nobody has asked for.
  void finish() const;

 private:
  std::optional<double> number_of(const YamlValue& value, const std::string& key);

  const YamlValue& mapping_;
  std::string what_;
  YamlProblems& problems_;
  std::vector<std::string> asked_;
};

}  // namespace bunraku::io
