/// @file
/// Matchers for problems of models.
#pragma once

#include <ostream>
#include <string>

#include <gmock/gmock.h>

#include "bunraku/error.hpp"

namespace bunraku {

/// For GoogleTest's messages.
inline void PrintTo(const Problem& problem, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << (problem.severity == Severity::error ? "error: " : "warning: ") << to_string(problem);
}

}  // namespace bunraku

namespace bunraku::test {

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
