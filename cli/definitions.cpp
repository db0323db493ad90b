#include "definitions.hpp"

#include <utility>

#include "bunraku/operators/language/text.hpp"

namespace bunraku::cli {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_word(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

}  // namespace

bool Definitions::may_define(std::string_view name) {
  return is_free_name(name);
}

void Definitions::define(std::string_view name, std::string expression) {
  texts_.insert_or_assign(std::string(name), std::move(expression));
}

std::string Definitions::expanded(std::string_view text) const {
  std::string out;
  int brackets = 0;
  for (std::size_t i = 0; i < text.size();) {
    brackets += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    std::size_t end = i + 1;
    const bool command = text[i] == '\\';  // of LaTeX
    if (command || is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) {
        ++end;
      }
    }
    const std::string_view word = text.substr(i, end - i);
    const auto found = brackets <= 0 && !command ? texts_.find(word) : texts_.end();
    if (found != texts_.end()) {
      out.append("(").append(found->second).append(")");
    } else {
      out += word;
    }
    i = end;
  }
  return out;
}

}  // namespace bunraku::cli
