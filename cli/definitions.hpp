/// @file
/// Names that stand for expressions.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace bunraku::cli {

/// What was defined, by name. A name stands for the text of its definition in brackets, and a definition keeps what its
/// own names stood for when it was made.
class Definitions {
 public:
  /// Whether a name may be defined: letters, digits and underscores, and none of the language's.
  static bool may_define(std::string_view name);
  /// Defines a name, anew where it is there already; `expression` as expanded() gives it.
  void define(std::string_view name, std::string expression);
  /// A text with its names replaced; those in square brackets are bodies and stay.
  std::string expanded(std::string_view text) const;
  /// All of them.
  const std::map<std::string, std::string, std::less<>>& all() const { return texts_; }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace bunraku::cli
