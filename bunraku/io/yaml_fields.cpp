#include "bunraku/io/detail/yaml_fields.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku::io {

std::string shortly(std::string_view name) {
  return bunraku::detail::printable(name, 60);
}

std::optional<double> number_in(const YamlValue& value) {
  const std::optional<double> out = value.is_word() ? parse_number(trimmed(value.word)) : std::nullopt;
  return out && std::abs(*out) <= largest_model_number ? out : std::nullopt;
}

std::string YamlProblems::suggestion(const std::string& name, const std::vector<std::string>& known) {
  constexpr int most = 20;
  return ++suggestions > most ? std::string() : bunraku::detail::did_you_mean(name, known);
}

void YamlProblems::error(int line, const std::string& text, const std::string& cure) {
  ++errors;
  bunraku::detail::add_problem(list, {Severity::error, {file, line}, text, cure});
}

void YamlProblems::warning(int line, const std::string& text, const std::string& cure) const {
  bunraku::detail::add_problem(list, {Severity::warning, {file, line}, text, cure});
}

YamlFields::YamlFields(const YamlValue& mapping, std::string what, YamlProblems& problems)
    : mapping_(mapping), what_(std::move(what)), problems_(problems) {
  if (!mapping.is_mapping()) {
    problems_.error(mapping.line, fmt::format("{} is not of the form {{key: value, …}}", what_), "see docs/formats.md");
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

const YamlValue* YamlFields::find(const std::string& key) {
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

std::optional<std::string> YamlFields::word(const std::string& key) {
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

std::string YamlFields::choice(const std::string& key, const std::vector<std::string>& words) {
  const std::optional<std::string> given = word(key);
  if (given && std::find(words.begin(), words.end(), *given) == words.end()) {
    problems_.error(
        line(key),
        fmt::format("'{}' of {} is '{}'{}", key, what_, shortly(*given), bunraku::detail::did_you_mean(*given, words)),
        fmt::format("give one of {}", fmt::join(words, ", ")));
    return words.front();
  }
  return given.value_or(words.front());
}

std::optional<double> YamlFields::number(const std::string& key) {
  const YamlValue* const value = find(key);
  return value == nullptr ? std::nullopt : number_of(*value, key);
}

double YamlFields::positive(const std::string& key) {
  const std::optional<double> given = number(key);
  if (!given && find(key) == nullptr) {
    problems_.error(mapping_.line, fmt::format("{} has no '{}'", what_, key), fmt::format("add {}: …", key));
  } else if (given && !(*given > 0)) {
    problems_.error(line(key), fmt::format("'{}' of {} is not positive", key, what_), "give it in SI units");
  }
  return given.value_or(1);
}

double YamlFields::not_negative(const std::string& key, double otherwise) {
  const std::optional<double> given = number(key);
  if (given && *given < 0) {
    problems_.error(line(key), fmt::format("'{}' of {} is negative", key, what_), "give it in SI units");
  }
  return given.value_or(otherwise);
}

int YamlFields::whole(const std::string& key, int least, int most, int otherwise) {
  const std::optional<double> given = number(key);
  if (given && (*given < least || *given > most || *given != std::floor(*given))) {
    problems_.error(line(key), fmt::format("'{}' of {} is no whole number of {} … {}", key, what_, least, most),
                    "see docs/formats.md");
    return otherwise;
  }
  return given ? static_cast<int>(*given) : otherwise;
}

bool YamlFields::truth(const std::string& key, bool otherwise) {
  const YamlValue* const value = find(key);
  return value == nullptr ? otherwise : choice(key, {"true", "false"}) == "true";
}

std::optional<std::vector<double>> YamlFields::numbers(const std::string& key, std::size_t count) {
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

int YamlFields::line(const std::string& key) {
  const YamlValue* const value = find(key);
  return value == nullptr ? mapping_.line : value->key_line;
}

void YamlFields::finish() const {
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

std::optional<double> YamlFields::number_of(const YamlValue& value, const std::string& key) {
  const std::optional<double> out = number_in(value);
  if (!out) {
    problems_.error(value.line, fmt::format("'{}' of {} is not a finite number", key, what_),
                    "write numbers as 1.5 or 2.1e11");
  }
  return out;
}

}  // namespace bunraku::io
