/// @file
/// Numbers in text, read the same in every locale.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bunraku/export.hpp"

namespace bunraku::io {

/// White space as XML has it.
constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
/// Without white space at both ends.
BUNRAKU_API std::string_view trimmed(std::string_view text);
/// The next word of text, which is taken off its front; empty at the end. Words are separated by white space.
BUNRAKU_API std::string_view next_word(std::string_view& text);
/// The whole of text as one number, `inf` and `nan` included, or nothing.
BUNRAKU_API std::optional<double> parse_number(std::string_view text);

}  // namespace bunraku::io
