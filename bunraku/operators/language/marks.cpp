#include "bunraku/operators/language/detail/marks.hpp"

#include <algorithm>

namespace bunraku::operators {

namespace {

constexpr Marks all{.whole = true};

/// All operands marked is the whole marked.
Marks settled(Marks marks, std::size_t operands) {
  const bool whole = marks.parts.size() == operands && std::all_of(marks.parts.begin(), marks.parts.end(),
                                                                   [](const auto& each) { return each.second.whole; });
  return whole ? all : marks;
}

/// Operand by operand.
Marks one_by_one(const Term& before, const Term& after) {
  Marks out;
  for (std::size_t i = 0; i < after.parts.size(); ++i) {
    if (Marks inner = new_parts(before.parts[i], after.parts[i]); inner.any()) {
      out.parts.emplace_back(i, std::move(inner));
    }
  }
  return out;
}

/// The factors between those that both begin and end with.
Marks of_product(const Term& before, const Term& after) {
  const std::vector<Operator>& a = before.parts;
  const std::vector<Operator>& b = after.parts;
  if (a.size() == b.size()) {
    return settled(one_by_one(before, after), b.size());
  }
  const auto shorter = std::min(a.size(), b.size());
  std::size_t first = 0;
  while (first < shorter && a[first] == b[first]) {
    ++first;
  }
  std::size_t last = 0;
  while (last < shorter - first && a[a.size() - 1 - last] == b[b.size() - 1 - last]) {
    ++last;
  }
  Marks out;
  for (std::size_t i = first; i < b.size() - last; ++i) {
    out.parts.emplace_back(i, all);
  }
  return out.parts.empty() ? all : settled(out, b.size());
}

/// The terms that the other sum has not, in whatever order.
Marks of_sum(const Term& before, const Term& after) {
  std::vector<Operator> gone = before.parts;
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < after.parts.size(); ++i) {
    const auto found = std::find(gone.begin(), gone.end(), after.parts[i]);
    if (found != gone.end()) {
      gone.erase(found);
    } else {
      fresh.push_back(i);
    }
  }
  if (fresh.empty()) {
    return all;
  }
  Marks out;
  for (const std::size_t i : fresh) {
    const bool alone = fresh.size() == 1 && gone.size() == 1;
    out.parts.emplace_back(i, alone ? new_parts(gone[0], after.parts[i]) : all);
  }
  return settled(out, after.parts.size());
}

}  // namespace

Marks new_parts(const Operator& before, const Operator& after) {
  const Term& a = before.term();
  const Term& b = after.term();
  if (before == after) {
    return {};
  }
  if (a.type != b.type || a.range != b.range || a.domain != b.domain) {
    return all;
  }
  switch (b.type) {
    case TermType::sum:
      return of_sum(a, b);
    case TermType::product:
      return of_product(a, b);
    case TermType::scale:
      return a.number == b.number ? one_by_one(a, b) : all;
    case TermType::adjoint:
    case TermType::inverse:
    case TermType::dense_inverse:
    case TermType::root:
    case TermType::cross:
    case TermType::gather:
    case TermType::spread:
    case TermType::carry:
    case TermType::force_cross:
    case TermType::joint_rate:
    case TermType::lyapunov:
    case TermType::derivative:
    case TermType::time_rate:
    case TermType::block:
      return one_by_one(a, b);
    default:
      return all;
  }
}

}  // namespace bunraku::operators
