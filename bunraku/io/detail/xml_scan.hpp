/// @file
/// A first look at a text that should be XML.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::io {

/// The most attributes that an element may have; the parser compares each with all before it.
inline constexpr int max_attributes = 200;

/// Throws ModelError, with the line and the cause, when `text` is not well-formed XML in UTF-8 with one root element:
/// tags that do not match or are never closed, attributes that are there twice or have no closing quote, text outside
/// of the root, character references that do not end. The parser itself says less of these, and takes time that grows
/// with the square of the text for some. O(n), no memory but for the open tags.
void scan_xml(std::string_view text, const std::string& file);

}  // namespace bunraku::io
