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

std::vector<Problem> errors_first(std::vector<Problem> problems) {
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
ModelError::~ModelError() = default;

ModelError::ModelError(std::vector<Problem> problems)
    : Error(listing(errors_first(problems))), problems_(errors_first(std::move(problems))) {}

ModelError::ModelError(SourceLocation where, std::string text, std::string cure)
    : ModelError({Problem{Severity::error, std::move(where), std::move(text), std::move(cure)}}) {}

namespace detail {

void add_problem(std::vector<Problem>& problems, Problem problem) {
  if (problems.size() < max_problems) {
    problems.push_back(std::move(problem));
  } else if (problems.size() == max_problems) {
    problems.push_back({problem.severity, std::move(problem.where), "there are more problems than can be listed",
                        "correct these first"});
  } else if (problem.severity == Severity::error) {
    problems.back().severity = Severity::error;
  }
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
    if (distance <= best && (nearest == nullptr || distance < best)) {
      best = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? std::string() : "; did you mean '" + *nearest + "'?";
}

}  // namespace detail

}  // namespace bunraku
