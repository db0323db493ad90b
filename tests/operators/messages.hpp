/// @file
/// Expressions and errors in messages of tests.
#pragma once

#include <ostream>
#include <string>

#include "bunraku/operators/language/text.hpp"

namespace bunraku {

/// For GoogleTest's messages.
inline void PrintTo(const Operator& x, std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << to_ascii(x);
}

}  // namespace bunraku

namespace bunraku::test {

/// What an OperatorError says.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const OperatorError& error) {
    return error.what();
  }
  return "no OperatorError";
}

}  // namespace bunraku::test
