// What is recognised as an inverse, in the order in which it is tried.

#include <algorithm>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::operators {

namespace {

/// Inverses within inverses.
constexpr int most_nested = 12;

/// Passes on what a part becomes as what the whole becomes.
template <class Whole>
Show within(const Show& show, const Whole& whole) {
  if (!show) {
    return {};
  }
  return [show, whole](DerivationStep step) {
    step.expression = whole(step.expression);
    show(step);
  };
}

DerivationStep with_tidy_parts(DerivationStep step) {
  step.expression = tidied(step.expression);
  for (Change& each : step.changed) {
    each = {tidied(each.before), tidied(each.after)};
  }
  return step;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// In an expression

Operator Engine::rebuilt(const Operator& x) const {
  const auto found = solved_.find(x);
  if (found != solved_.end()) {
    return found->second;
  }
  if (x.term().type == TermType::root || x.term().type == TermType::symbol || x.term().type == TermType::lyapunov) {
    return x;
  }
  return with_parts(x, [this](const Operator& part) { return rebuilt(part); });
}

Show Engine::shown_in(const Operator& part) {
  if (!root_) {
    return {};
  }
  return [this, part](DerivationStep step) {
    solved_.insert_or_assign(part, step.expression);
    step.expression = rebuilt(*root_);
    steps_.push_back(with_tidy_parts(std::move(step)));
    solved_.erase(part);
  };
}

Show Engine::shown_as_root() {
  if (!root_) {
    return {};
  }
  return [this](DerivationStep step) { steps_.push_back(with_tidy_parts(std::move(step))); };
}

Operator Engine::solved(const Operator& x) {
  if (x.term().parts.empty() || x.term().type == TermType::symbol || x.term().type == TermType::root ||
      x.term().type == TermType::lyapunov) {
    return x;
  }
  const auto found = solved_.find(x);
  if (found != solved_.end()) {
    return found->second;
  }
  const Operator out = [&] {
    switch (x.term().type) {
      case TermType::inverse:
        return solved_inverse(x);
      case TermType::dense_inverse:
      case TermType::cross:
      case TermType::force_cross:
      case TermType::block:
      case TermType::gather:
      case TermType::spread:
      case TermType::carry:
        return solved_function(x);
      default:
        return with_parts(x, [this](const Operator& part) { return solved(part); });
    }
  }();
  solved_.insert_or_assign(x, out);
  return out;
}

Operator Engine::solved_function(const Operator& x) {
  const std::size_t last = x.term().parts.size() - 1;  // of gather and spread the second alone
  const auto of = [&](const Operator& inner) {
    std::size_t i = 0;
    return with_parts(x, [&](const Operator& part) { return i++ == last ? inner : part; });
  };
  const Operator inner = solved(x.term().parts[last]);
  try {
    const Polynomial p = normal(read(inner), within(shown_in(x), of));
    const Operator out = written_best(p);
    // a memoryless operand stays written as one
    return out.kind() == inner.kind() || is_block_diagonal(out) ? of(out) : of(inner);
  } catch (const Limit&) {
    return of(inner);
  }
}

Operator Engine::solved_inverse(const Operator& x) {
  const Operator& part = x.term().parts[0];
  const std::string what = to_ascii(part);
  const std::string shown = detail::printable(what, 200);
  const std::string cure = "dense_inv(x) forms it by a dense matrix, O(n³)";
  const Operator inner = solved(part);
  const Show show = shown_in(x);
  const std::size_t before = steps_.size();
  std::optional<Operator> out;
  refusal_ = Refusal::none;
  try {
    const Polynomial p = normal(read(inner), within(show, [](const Operator& now) { return inv(now); }));
    if (p.zero()) {
      throw OperatorError("the inverse of zero does not exist", "", what);
    }
    out = inverse(p, show);
  } catch (const Limit& limit) {
    throw OperatorError(fmt::format("no inverse of '{}' was found before a limit: {}", shown, limit.what()), cure,
                        what);
  }
  if (out) {
    if (*out == x) {  // there and back again, as Ω within an inverse
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(before), steps_.end());
    }
    return *out;
  }
  if (refusal_ == Refusal::singular) {
    throw OperatorError(fmt::format("no identity gives the inverse of '{}': it is singular", shown), "", what);
  }
  if (refusal_ == Refusal::narrow) {
    throw OperatorError(
        fmt::format("no identity gives the inverse of '{}': it is singular, but where every hinge is free", shown),
        cure, what);
  }
  throw OperatorError(fmt::format("no identity gives the inverse of '{}'", shown), cure, what);
}

// ---------------------------------------------------------------------------------------------------------------------
// Of a polynomial in normal form

std::optional<Operator> Engine::inverse(const Polynomial& p, const Show& show) {
  if (p.zero() || p.range != p.domain || ++depth_ > most_nested) {
    return std::nullopt;
  }
  const auto found = [&]() -> std::optional<Operator> {
    if (!spaces_[static_cast<std::size_t>(p.range)].part.empty()) {  // a block of one body is small
      return opaque(p);
    }
    if (spaces_[static_cast<std::size_t>(p.range)].kind == SpaceKind::closure) {
      return closure_inverse(p, show);
    }
    if (is_singular(p) || is_narrow(p)) {
      refusal_ = is_singular(p) ? Refusal::singular : Refusal::narrow;
      return std::nullopt;
    }
    if (p.size() == 1) {
      const auto& [w, c] = *p.words.begin();
      if (w.empty()) {
        return Operator(1 / c) * identity(p.range);
      }
      if (std::optional<Operator> out = inverse_of_word(w, c, show)) {
        return out;
      }
    } else if (std::optional<Operator> out = inverse_of_common(p, show)) {
      return out;
    }
    if (std::optional<Operator> out = loop(p)) {
      const Identity* by = row(IdentityUse::loop);
      if (show) {
        show({by->name, by->source, *out, false, {{inv(write(p)), *out}}});
      }
      return out;
    }
    if (std::optional<Operator> out = causal_inverse(p, show)) {
      return out;
    }
    for (const bool assume : {false, true}) {
      if (std::optional<Operator> out = family_inverse(p, assume, show)) {
        return out;
      }
      if (assume) {
        break;
      }
      if (std::optional<Operator> out = lemma(p, show)) {
        return out;
      }
      if (std::optional<Operator> out = opened_inverse(p, show)) {
        return out;
      }
    }
    return opaque(p);
  }();
  --depth_;
  return found;
}

std::optional<Operator> Engine::inverse_of_letter(Letter l, const Show& show) {
  const Atom& a = atom(l);
  const bool reversed = (l & 1U) != 0;
  const auto is = [&](Symbol symbol) {
    return a.expression.term().type == TermType::symbol && a.expression.term().symbol == symbol;
  };
  if (is(Symbol::phi) || is(Symbol::psi)) {
    const Identity* by = row(IdentityUse::inverse_of_loop, is(Symbol::phi) ? 0 : 1);
    if (by == nullptr) {
      return std::nullopt;
    }
    const Operator step = is(Symbol::phi) ? Operator(Symbol::E_phi) : of_family(Symbol::E_psi, std::max(a.family, 0));
    Operator out = identity(a.range) - step;
    out = reversed ? ~out : out;
    if (show) {
      show({by->name, by->source, out, reversed, {{inv(expression(l)), out}}});
    }
    return out;
  }
  if (a.expression.term().type == TermType::inverse && a.inner) {
    const Operator out = write(*a.inner);
    return reversed ? ~out : out;
  }
  if (is(Symbol::D) && !a.pd) {
    condition(fmt::format("{} is invertible", a.text));
  }
  return opaque(of_letter(l));
}

std::optional<Operator> Engine::inverse_of_word(const Word& w, double c, const Show& show) {
  std::size_t i = 0;
  std::size_t j = w.size();
  const auto splits = [&](Letter l) { return square(l) && atom(l).invertible; };
  while (i < j && splits(w[i])) {
    ++i;
  }
  while (j > i && splits(w[j - 1])) {
    --j;
  }
  if (i == 0 && j == w.size()) {
    return std::nullopt;
  }
  std::vector<Operator> right;  // of the inverse: what stood on the left
  std::vector<Operator> left;
  for (std::size_t k = i; k-- > 0;) {
    const std::optional<Operator> out = inverse_of_letter(w[k], i == 1 && w.size() == 1 ? show : Show{});
    if (!out) {
      return std::nullopt;
    }
    right.push_back(*out);
  }
  for (std::size_t k = w.size(); k-- > j;) {
    const std::optional<Operator> out = inverse_of_letter(w[k], {});
    if (!out) {
      return std::nullopt;
    }
    left.push_back(*out);
  }
  const auto whole = [&](const std::optional<Operator>& middle) {
    std::vector<Operator> parts = left;
    if (middle) {
      parts.push_back(*middle);
    }
    parts.insert(parts.end(), right.begin(), right.end());
    return Operator(1 / c) * product_of(parts);
  };
  if (i == j) {
    return whole(std::nullopt);
  }
  const std::optional<Operator> middle =
      inverse(of_word(w.substr(i, j - i)), within(show, [whole](const Operator& now) { return whole(now); }));
  if (!middle) {
    return std::nullopt;
  }
  return whole(middle);
}

std::optional<Operator> Engine::inverse_of_common(const Polynomial& p, const Show& show) {
  for (const bool last : {false, true}) {
    const Word& w = p.words.begin()->first;
    if (w.empty()) {
      return std::nullopt;
    }
    const Letter l = last ? w.back() : w.front();
    const bool common =
        square(l) && atom(l).invertible && std::all_of(p.words.begin(), p.words.end(), [&](const auto& each) {
          return !each.first.empty() && (last ? each.first.back() : each.first.front()) == l;
        });
    if (!common) {
      continue;
    }
    Polynomial rest{p.range, p.domain};
    for (const auto& [v, c] : p.words) {
      rest.words.emplace(last ? v.substr(0, v.size() - 1) : v.substr(1), c);
    }
    const std::optional<Operator> own = inverse_of_letter(l, {});
    if (!own) {
      return std::nullopt;
    }
    const auto whole = [own, last](const Operator& now) { return last ? *own * now : now * *own; };
    const std::optional<Operator> other = inverse(rest, within(show, whole));
    return other ? std::optional(whole(*other)) : std::nullopt;
  }
  return std::nullopt;
}

/// c (I − one step): φ or ψ.
std::optional<Operator> Engine::loop(const Polynomial& p) const {
  if (row(IdentityUse::loop) == nullptr || rank(p.range) != 3) {
    return std::nullopt;
  }
  const auto one = p.words.find(Word{});
  if (one == p.words.end()) {
    return std::nullopt;
  }
  const double c = one->second;
  const auto known = [&](Symbol symbol, int family) {
    return letters_.at(family < 0 ? Operator(symbol) : of_family(symbol, family));
  };
  if (!letters_.contains(Operator(Symbol::E_phi)) || !letters_.contains(Operator(Symbol::phi))) {
    return std::nullopt;
  }
  Polynomial step{p.range, p.domain};
  step.add(Word{}, c);
  step.add(Word{known(Symbol::E_phi, -1)}, -c);
  for (const Polynomial& each : {p, adjoint(p)}) {
    const bool reversed = !(each == p);
    const auto result = [&](const Operator& x) { return Operator(1 / c) * (reversed ? ~x : x); };
    if (each == step) {
      return result(Operator(Symbol::phi));
    }
    for (std::size_t f = 0; f < families_.size(); ++f) {
      const int family = static_cast<int>(f);
      if (letters_.contains(of_family(Symbol::K, family)) && letters_.contains(Operator(Symbol::H))) {
        Polynomial filtered = step;
        filtered.add(Word{known(Symbol::K, family), known(Symbol::H, -1)}, c);
        if (each == filtered) {
          return result(of_family(Symbol::psi, family));
        }
      }
    }
  }
  return std::nullopt;
}

/// c (I + u φ y), or c (I + y φ u) with `suffix`: c⁻¹ (I − u inv(φ⁻¹ + y u) y).
std::optional<Operator> Engine::push_through(const Polynomial& p, bool suffix) {
  const auto one = p.words.find(Word{});
  if (one == p.words.end() || p.size() < 2) {
    return std::nullopt;
  }
  const double c = one->second;
  const auto is_loop = [&](Letter l) {
    const Term& t = atom(l).expression.term();
    return (l & 1U) == 0 && t.type == TermType::symbol && (t.symbol == Symbol::phi || t.symbol == Symbol::psi);
  };
  const Word& w = std::next(p.words.begin())->first;  // the empty word is the first
  std::size_t k = 0;
  while (k < w.size() && !is_loop(suffix ? w[w.size() - 1 - k] : w[k])) {
    ++k;
  }
  if (k == w.size()) {
    return std::nullopt;
  }
  const Letter through = suffix ? w[w.size() - 1 - k] : w[k];
  const Word common = suffix ? w.substr(w.size() - 1 - k) : w.substr(0, k + 1);
  const Word u = suffix ? w.substr(w.size() - k) : w.substr(0, k);
  const int body = range(through);
  Polynomial y = suffix ? Polynomial{p.range, body} : Polynomial{body, p.domain};
  for (const auto& [v, number] : p.words) {
    if (v.empty()) {
      continue;
    }
    if (v.size() < common.size() || !(suffix ? v.ends_with(common) : v.starts_with(common))) {
      return std::nullopt;
    }
    y.words.emplace(suffix ? v.substr(0, v.size() - common.size()) : v.substr(common.size()), number / c);
  }
  Polynomial q{body, body};
  q.add(Word{}, 1);
  q.add(Word{letter(Operator(Symbol::E_phi))}, -1);
  if (atom(through).expression.term().symbol == Symbol::psi) {
    const int family = std::max(atom(through).family, 0);
    q.add(Word{family_letter(Symbol::K, family), letter(Operator(Symbol::H))}, 1);
  }
  for (const auto& [v, number] : y.words) {
    q.add(suffix ? u + v : v + u, number);
  }
  const std::optional<Operator> r = loop(normal(q));
  if (!r) {
    return std::nullopt;
  }
  const Operator first = suffix ? write(y) : write_word(u, p.range);
  const Operator second = suffix ? write_word(u, body) : write(y);
  return Operator(1 / c) * (identity(p.range) - first * *r * second);
}

std::optional<Operator> Engine::causal_inverse(const Polynomial& p, const Show& show) {
  const Identity* by = row(rank(p.range) == 2 ? IdentityUse::causal_inverse : IdentityUse::feedback);
  if (by == nullptr || row(IdentityUse::loop) == nullptr) {
    return std::nullopt;
  }
  for (const bool reversed : {false, true}) {
    const Polynomial q = reversed ? adjoint(p) : p;
    for (const bool suffix : {false, true}) {
      if (const std::optional<Operator> out = push_through(q, suffix)) {
        Operator result = reversed ? ~*out : *out;
        if (show) {
          show({by->name, by->source, result, reversed, {{inv(write(p)), result}}});
        }
        return result;
      }
    }
  }
  return std::nullopt;
}

/// A solve of closure size, when it is evaluated.
std::optional<Operator> Engine::closure_inverse(const Polynomial& p, const Show& show) {
  const auto& [w, c] = *p.words.begin();
  if (p.size() == 1 && w.empty()) {
    return Operator(1 / c) * identity(p.range);
  }
  const bool known = is_invertible(p);
  const Operator plain = write(p);
  const Operator whole = write_inverted(p);
  if (!known && !assume_) {
    condition(fmt::format("{} is invertible; where it is not, least squares are in place of its inverse",
                          to_ascii(tidied(whole))));
  }
  Operator out = expression(inverse_letter(p, known || assume_));
  const auto by = std::find_if(table_.begin(), table_.end(),
                               [](const Identity& each) { return each.left == Operator(Symbol::Omega); });
  if (show && !(plain == whole) && by != table_.end()) {
    show({by->name, by->source, out, false, {{by->right, by->left}}});
  }
  return out;
}

/// Block by block, when it is evaluated.
std::optional<Operator> Engine::opaque(const Polynomial& p) {
  const Operator whole = write(p);
  const bool block = !whole.range().part.empty();
  if (!assume_ && !block && (whole.kind() != Kind::memoryless || rank(p.range) == 0)) {
    return std::nullopt;
  }
  const bool known = is_invertible(p);
  if (!known) {
    condition(fmt::format("{} is invertible", to_ascii(tidied(whole))));
  }
  return expression(inverse_letter(p, known || assume_));
}

}  // namespace bunraku::operators
