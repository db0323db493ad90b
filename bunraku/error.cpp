#include "bunraku/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace bunraku {

std::string to_string(const Problem& problem) {
  std::string out;
  if (!problem.where.file.empty()) {
    out += problem.where.file;
    if (problem.where.line > 0) {
      out += ':' + std::to_string(problem.where.line);
    }
    out += ": ";
  }
  return out + problem.text;
}

namespace {

/// Longer messages are cut: they quote something that nobody wants to read.
constexpr std::size_t longest_text = 600;

std::vector<Problem> errors_first(std::vector<Problem> problems) {
  for (Problem& problem : problems) {
    problem.text = detail::printable(problem.text, longest_text);
  }
  std::stable_partition(problems.begin(), problems.end(),
                        [](const Problem& p) { return p.severity == Severity::error; });
  return problems;
}

std::string listing(const std::vector<Problem>& problems) {
  std::string out;
  for (const Problem& p : problems) {
    out += (out.empty() ? "" : "\n") + to_string(p);
    if (!p.cure.empty()) {
      out += "\n  " + p.cure;
    }
  }
  return out;
}

/// Levenshtein's distance, with swapped neighbours counted as one change.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

Error::~Error() = default;
ArgumentError::~ArgumentError() = default;
SingularError::~SingularError() = default;
ModelError::~ModelError() = default;

ModelError::ModelError(std::vector<Problem> problems)
    : Error(listing(errors_first(problems))), problems_(errors_first(std::move(problems))) {}

ModelError::ModelError(SourceLocation where, std::string text, std::string cure)
    : ModelError({Problem{Severity::error, std::move(where), std::move(text), std::move(cure)}}) {}

namespace detail {

void add_problem(std::vector<Problem>& problems, Problem problem) {
  const auto same =
      std::count_if(problems.begin(), problems.end(), [&](const Problem& p) { return p.severity == problem.severity; });
  if (std::cmp_less(same, max_problems)) {
    problem.text = printable(problem.text, longest_text);
    problems.push_back(std::move(problem));
  } else if (std::cmp_equal(same, max_problems)) {
    problems.push_back({problem.severity, std::move(problem.where),
                        problem.severity == Severity::error ? "there are more errors than can be listed"
                                                            : "there are more warnings than can be listed",
                        "correct these first"});
  }
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

namespace {

/// The length of the well-formed UTF-8 sequence at the front of text, which is not empty; 0 when there is none.
/// Overlong forms, surrogates and what lies beyond U+10FFFF are not well-formed.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const bool malformed = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
                         (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90);
  return malformed ? 0 : length;
}

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7F;
}

}  // namespace

std::size_t first_not_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return at;
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(static_cast<unsigned char>(text.front()))) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= most) {
      return out + "…";
    }
    const std::size_t length = sequence_length(text);
    const bool good = length > 0 && !is_control(static_cast<unsigned char>(text.front()));
    out += good ? text.substr(0, length) : "\uFFFD";
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;  // a longer name is no typing mistake, and the comparison is quadratic
  if (name.empty() || name.size() > longest) {
    return {};
  }
  std::size_t best = 1 + name.size() / 3;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : known) {
    if (candidate.empty() || candidate.size() > longest) {
      continue;
    }
    const std::size_t distance = edit_distance(name, candidate);
    // a name all of whose letters would change is another name: q is not a slip for H
    if (distance < name.size() && distance <= best && (nearest == nullptr || distance < best)) {
      best = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? std::string() : "; did you mean '" + *nearest + "'?";
}

}  // namespace detail

}  // namespace bunraku
