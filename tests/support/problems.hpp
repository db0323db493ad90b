/// @file
/// Matchers for problems of models.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bunraku/io/load.hpp"

namespace bunraku {

/// For GoogleTest's messages.
inline void PrintTo(const Problem& problem, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << (problem.severity == Severity::error ? "error: " : "warning: ") << to_string(problem);
}

}  // namespace bunraku

namespace bunraku::test {

/// `line: text` of every problem of that severity.
inline std::vector<std::string> listed(std::span<const Problem> problems, Severity severity) {
  std::vector<std::string> out;
  for (const Problem& p : problems) {
    if (p.severity == severity) {
      out.push_back(std::to_string(p.where.line) + ": " + p.text);
    }
  }
  return out;
}

/// `line: text` of every warning of a model.
inline std::vector<std::string> warnings(const Model& model) {
  return listed(model.warnings(), Severity::warning);
}

/// `line: text` of every error of a text that cannot be loaded; none when it can.
inline std::vector<std::string> errors_of_text(const std::string& text, const std::string& name,
                                               const LoadOptions& options = {}) {
  try {
    static_cast<void>(load_text(text, name, options));
  } catch (const ModelError& error) {
    return listed(error.problems(), Severity::error);
  }
  return {};
}

/// An error whose text contains `text`.
inline auto error(const std::string& text) {
  return testing::AllOf(testing::Field(&Problem::severity, Severity::error),
                        testing::Field(&Problem::text, testing::HasSubstr(text)));
}
/// A warning whose text contains `text`.
inline auto warning(const std::string& text) {
  return testing::AllOf(testing::Field(&Problem::severity, Severity::warning),
                        testing::Field(&Problem::text, testing::HasSubstr(text)));
}

}  // namespace bunraku::test
