#include "bunraku/io/detail/xml_scan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tinyxml2.h>

#include "bunraku/error.hpp"
#include "bunraku/io/detail/numbers.hpp"

namespace bunraku::io {

namespace {

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void run() {
    check_encoding();
    if (text_.starts_with("\xEF\xBB\xBF")) {
      at_ = 3;
    }
    while (at_ < text_.size()) {
      if (text_[at_] != '<') {
        scan_text();
      } else if (starts("<!--")) {
        skip_past("-->", 4, "a comment is not closed by -->");
      } else if (starts("<![CDATA[")) {
        skip_past("]]>", 9, "a CDATA section is not closed by ]]>");
      } else if (starts("<?")) {
        if (starts("<?xml ") && seen_declaration_) {
          fail(line_, "there is a second declaration <?xml … ?>", "keep one, at the top");
        }
        seen_declaration_ = true;
        skip_past("?>", 2, "a declaration <? … is not closed by ?>");
      } else if (starts("<!")) {
        skip_past(">", 2, "a <! … is not closed by >");
      } else if (starts("</")) {
        scan_closing_tag();
      } else {
        scan_opening_tag();
      }
    }
    if (!open_.empty()) {
      fail(open_.back().line, fmt::format("<{}> is never closed", shown(open_.back().name)),
           fmt::format("add </{}>; the file may be cut off", shown(open_.back().name)));
    }
    if (!seen_root_) {
      fail(1, "the file has no XML element in it", "give a URDF, MJCF or SDF file");
    }
  }

 private:
  struct Tag {
    std::string_view name;
    int line;
  };

  static std::string shown(std::string_view name) { return bunraku::detail::printable(name, 60); }
  [[noreturn]] void fail(int line, const std::string& text, const std::string& cure) const {
    throw ModelError({file_, line}, text, cure);
  }
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }

  void check_encoding() {
    if (const std::size_t nul = text_.find('\0'); nul != std::string_view::npos) {
      fail(line_of(nul), "this is binary data, not a text file", "give a URDF, MJCF or SDF file in UTF-8");
    }
    if (const std::size_t bad = bunraku::detail::first_not_utf8(text_); bad < text_.size()) {
      fail(line_of(bad), "the text is not UTF-8", "save the file in UTF-8");
    }
  }
  int line_of(std::size_t position) const {
    return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
  }

  /// Moves on, counting lines.
  void advance_to(std::size_t position) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
    at_ = position;
  }
  void skip_space() {
    std::size_t end = at_;
    while (end < text_.size() && is_space(text_[end])) {
      ++end;
    }
    advance_to(end);
  }
  void skip_past(std::string_view closing, std::size_t opening, const char* otherwise) {
    const std::size_t end = text_.find(closing, at_ + opening);
    if (end == std::string_view::npos) {
      fail(line_, otherwise, "close it");
    }
    advance_to(end + closing.size());
  }

  void scan_text() {
    const std::size_t end = std::min(text_.find('<', at_), text_.size());
    const std::string_view text = text_.substr(at_, end - at_);
    if (open_.empty() && !trimmed(text).empty()) {
      skip_space();
      fail(line_, fmt::format("there is text outside of the root element: '{}'", shown(trimmed(text).substr(0, 60))),
           "remove it; a model file starts with < and ends with >");
    }
    check_references(text);
    advance_to(end);
  }

  /// `&#123;` must end soon and mean a character: the parser would end the text at a zero.
  void check_references(std::string_view text) const {
    constexpr std::size_t longest = 12;
    for (std::size_t i = text.find("&#"); i != std::string_view::npos; i = text.find("&#", i + 2)) {
      const auto line = [&] { return line_of(static_cast<std::size_t>(text.data() - text_.data()) + i); };
      const std::size_t end = text.substr(i, longest).find(';');
      if (end == std::string_view::npos) {
        fail(line(), "a character reference &#… does not end in ;", "write &amp; for the sign & itself");
      }
      if (!is_character(text.substr(i + 2, end - 2))) {
        fail(line(), fmt::format("the character reference {} means no character", shown(text.substr(i, end + 1))),
             "write &amp; for the sign & itself, or the number of a character");
      }
    }
  }

  /// Whether `13` or `xd` is the number of a character that XML allows.
  static bool is_character(std::string_view number) {
    const bool hexadecimal = number.starts_with('x');
    number.remove_prefix(hexadecimal ? 1 : 0);
    std::uint32_t code = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), code, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != number.data() + number.size()) {
      return false;
    }
    return code == 0x9 || code == 0xA || code == 0xD || (code >= 0x20 && code <= 0xD7FF) ||
           (code >= 0xE000 && code <= 0xFFFD) || (code >= 0x10000 && code <= 0x10FFFF);
  }

  std::string_view scan_name() {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end]) &&
           std::string_view("<>/=\"'").find(text_[end]) == std::string_view::npos) {
      ++end;
    }
    const std::string_view name = text_.substr(at_, end - at_);
    advance_to(end);
    return name;
  }

  void scan_closing_tag() {
    const int line = line_;
    at_ += 2;
    const std::string_view name = scan_name();
    skip_space();
    if (at_ >= text_.size() || text_[at_] != '>') {
      fail(line, fmt::format("the tag </{} is not closed by >", shown(name)), "close it");
    }
    ++at_;
    const bool is_open = std::any_of(open_.begin(), open_.end(), [&](const Tag& tag) { return tag.name == name; });
    if (!is_open) {
      const std::string open =
          open_.empty() ? "" : fmt::format(": <{}> of line {} is", shown(open_.back().name), open_.back().line);
      fail(line, fmt::format("</{}> closes nothing that is open{}", shown(name), open),
           "correct or remove it, or the one that closed the element before it");
    }
    if (open_.back().name != name) {
      fail(open_.back().line,
           fmt::format("<{}> is never closed: </{}> in line {} comes first", shown(open_.back().name), shown(name),
                       line),
           fmt::format("add </{}>", shown(open_.back().name)));
    }
    open_.pop_back();
  }

  void scan_opening_tag() {
    const int line = line_;
    ++at_;
    const std::string_view name = scan_name();
    if (name.empty()) {
      fail(line, "a < is not followed by the name of a tag", "write &lt; for the sign < itself");
    }
    if (open_.empty() && seen_root_) {
      fail(line, fmt::format("there is a second root element <{}>", shown(name)), "keep one root element");
    }
    if (std::cmp_greater_equal(open_.size(), TINYXML2_MAX_ELEMENT_DEPTH)) {
      fail(line, fmt::format("elements are nested deeper than {}", TINYXML2_MAX_ELEMENT_DEPTH),
           "nest them less deeply");
    }
    seen_root_ = true;
    count_ = 0;
    for (;;) {
      skip_space();
      if (at_ >= text_.size() || text_[at_] == '<') {
        fail(line, fmt::format("the tag <{} is not closed by >", shown(name)), "close it; the file may be cut off");
      }
      if (text_[at_] == '>') {
        ++at_;
        open_.push_back({name, line});
        return;
      }
      if (starts("/>")) {
        at_ += 2;
        return;
      }
      scan_attribute(name);
    }
  }

  void scan_attribute(std::string_view tag) {
    const int line = line_;
    const std::string_view name = scan_name();
    skip_space();
    if (name.empty() || at_ >= text_.size() || text_[at_] != '=') {
      fail(line, fmt::format("an attribute of <{}> is not written as name=\"value\"", shown(tag)),
           "write name=\"value\"");
    }
    ++at_;
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) {
      fail(line, fmt::format("the value of attribute '{}' of <{}> has no quotes", shown(name), shown(tag)),
           fmt::format("write {}=\"…\"", shown(name)));
    }
    const std::size_t start = at_ + 1;
    const std::size_t end = text_.find_first_of(text_[at_] == '"' ? "\"<" : "'<", start);
    if (end == std::string_view::npos || text_[end] == '<') {
      fail(line, fmt::format("the value of attribute '{}' of <{}> has no closing quote", shown(name), shown(tag)),
           "close it; write &lt; for the sign < itself");
    }
    check_references(text_.substr(start, end - start));
    advance_to(end + 1);
    remember_attribute(name, tag, line);
  }

  void remember_attribute(std::string_view name, std::string_view tag, int line) {
    if (std::find(names_.begin(), names_.begin() + count_, name) != names_.begin() + count_) {
      fail(line, fmt::format("attribute '{}' of <{}> is there twice", shown(name), shown(tag)), "keep one of them");
    }
    if (count_ == max_attributes) {
      fail(line, fmt::format("<{}> has more than {} attributes", shown(tag), max_attributes), "no format has so many");
    }
    names_[static_cast<std::size_t>(count_++)] = name;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool seen_declaration_ = false;
  bool seen_root_ = false;
  std::vector<Tag> open_;
  std::array<std::string_view, max_attributes> names_;
  int count_ = 0;
};

}  // namespace

void scan_xml(std::string_view text, const std::string& file) {
  Scanner(text, file).run();
}

}  // namespace bunraku::io
