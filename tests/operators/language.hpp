/// @file
/// Expressions read from text, and what they are as text again.
#pragma once

#include <string>

#include "bunraku/operators/language/text.hpp"

namespace bunraku::test {

/// The error of a text.
OperatorError error_of(const std::string& text, const Variables& variables = {});

/// The expression is read again from each of its texts.
void expect_round_trip(const Operator& x, const Variables& variables = {});

}  // namespace bunraku::test
