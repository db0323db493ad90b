#include "bunraku/io/detail/numbers.hpp"

#include <charconv>
#include <cmath>

namespace bunraku::io {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view next_word(std::string_view& text) {
  std::size_t start = 0;
  while (start < text.size() && is_space(text[start])) {
    ++start;
  }
  std::size_t end = start;
  while (end < text.size() && !is_space(text[end])) {
    ++end;
  }
  const std::string_view word = text.substr(start, end - start);
  text.remove_prefix(end);
  return word;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') {
    text.remove_prefix(1);  // from_chars knows no plus sign
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) {
    long double wide = 0;  // tells the too small, which is zero, from the too large
    const auto wider = std::from_chars(text.data(), text.data() + text.size(), wide);
    const bool too_small =
        wider.ec == std::errc() ? std::abs(wide) < 1 : text.find("e-") != text.npos || text.find("E-") != text.npos;
    return too_small ? std::optional(0.0) : std::nullopt;
  }
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace bunraku::io
