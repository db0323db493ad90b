// Polynomials as expressions: words gathered by what they have in common.

#include <algorithm>
#include <array>

#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::operators {

namespace {

/// More words are gathered by their first letters alone.
constexpr std::size_t most_factored = 80;

}  // namespace

Operator Engine::zero(int range, int domain) const {
  const Space& to = spaces_[static_cast<std::size_t>(range)];
  const Space& from = spaces_[static_cast<std::size_t>(domain)];
  const auto leaf = [](SpaceKind a, SpaceKind b) -> std::optional<Operator> {
    using enum SpaceKind;
    const std::array<std::pair<std::pair<SpaceKind, SpaceKind>, Operator>, 10> known{{
        {{body, body}, Symbol::phi},
        {{hinge, hinge}, Symbol::armature},
        {{hinge, body}, Symbol::H},
        {{body, node}, Symbol::B},
        {{body, number}, Symbol::V},
        {{hinge, number}, Symbol::thetad},
        {{closure, node}, Symbol::A},
        {{closure, hinge}, Symbol::A_h},
        {{closure, body}, Operator(Symbol::A_h) * Operator(Symbol::H)},
        {{closure, number}, Symbol::U},
    }};
    for (const auto& [spaces, x] : known) {
      if (spaces == std::pair{a, b}) {
        return x;
      }
      if (spaces == std::pair{b, a}) {
        return ~x;
      }
    }
    return std::nullopt;
  };
  const auto between = [&](SpaceKind a, SpaceKind b) {
    const std::optional<Operator> direct = leaf(a, b);
    return direct ? *direct : *leaf(a, SpaceKind::body) * *leaf(SpaceKind::body, b);
  };
  if (to.kind == SpaceKind::number && from.kind == SpaceKind::number) {
    return {0.0};
  }
  Operator x = between(to.kind, from.kind);
  if (!to.part.empty() || !from.part.empty()) {
    if (from.kind == SpaceKind::number) {
      x = x.block(to.part);
    } else if (to.kind == SpaceKind::number) {
      x = ~between(from.kind, to.kind).block(from.part);
    } else if (to.part.empty()) {
      x = between(to.kind, SpaceKind::number) * ~between(from.kind, SpaceKind::number).block(from.part);
    } else if (from.part.empty()) {
      x = between(to.kind, SpaceKind::number).block(to.part) * ~between(from.kind, SpaceKind::number);
    } else {
      x = x.block(to.part, from.part);
    }
  }
  return Operator(0.0) * x;
}

Operator Engine::write_word(const Word& w, int range) const {
  if (w.empty()) {
    return spaces_[static_cast<std::size_t>(range)].kind == SpaceKind::number ? Operator(1.0) : identity(range);
  }
  std::vector<Operator> parts;
  parts.reserve(w.size());
  for (const Letter l : w) {
    parts.push_back(expression(l));
  }
  return product_of(parts);
}

/// Inverses of closure space are of A B*Ω B A*, as step D of the papers has them.
Operator Engine::write_inverted(const Polynomial& p) {
  Operator whole = write(p);
  if (spaces_[static_cast<std::size_t>(p.range)].kind != SpaceKind::closure || p.size() != 1) {
    return whole;
  }
  const auto& [w, c] = *p.words.begin();
  const Letter H = letter(Operator(Symbol::H));
  for (std::size_t f = 0; f < families_.size(); ++f) {
    const int family = static_cast<int>(f);
    const Letter psi = family_letter(Symbol::psi, family);
    const Letter inverse = inverse_letter(of_letter(family_letter(Symbol::D, family)), true);
    const Word own{adjoint(psi), adjoint(H), inverse, H, psi};
    if (const std::size_t at = w.find(own); at != Word::npos && at > 0 && at + own.size() < w.size()) {
      return Operator(c) * write_word(w.substr(0, at), p.range) * of_family(Symbol::Omega, family) *
             write_word(w.substr(at + own.size()), p.range);
    }
  }
  return whole;
}

/// A sum of products, as the papers' identities are.
Operator Engine::write_plainly(const Polynomial& p) const {
  if (p.zero()) {
    return zero(p.range, p.domain);
  }
  std::vector<std::pair<Word, Operator>> pieces;
  std::vector<double> numbers;
  for (const auto& [w, c] : p.words) {
    pieces.emplace_back(w, write_word(w, p.range));
    numbers.push_back(c);
  }
  return summed(std::move(pieces), std::move(numbers));
}

Operator Engine::summed(std::vector<std::pair<Word, Operator>> pieces, std::vector<double> numbers) const {
  std::vector<std::size_t> order(pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t x, std::size_t y) { return before(pieces[x].first, pieces[y].first); });
  const auto positive = std::find_if(order.begin(), order.end(), [&](std::size_t i) { return numbers[i] > 0; });
  if (positive != order.end()) {
    std::rotate(order.begin(), positive, positive + 1);
  } else if (numbers.size() > 1) {  // -(x + y)
    for (double& each : numbers) {
      each = -each;
    }
    return -summed(std::move(pieces), std::move(numbers));
  }
  std::vector<Operator> parts;
  parts.reserve(order.size());
  for (const std::size_t i : order) {
    parts.push_back(Operator(numbers[i]) * pieces[i].second);
  }
  return sum_of(parts);
}

Operator Engine::write(const Polynomial& p, Grouping grouping) {
  if (p.zero()) {
    return zero(p.range, p.domain);
  }
  const double c = p.words.begin()->second;
  if (p.size() == 1) {
    return Operator(c) * write_word(p.words.begin()->first, p.range);
  }
  // a common number; within a product x and −x are written alike
  const bool same = std::all_of(p.words.begin(), p.words.end(),
                                [&](const auto& each) { return std::abs(each.second) == std::abs(c); });
  const bool negative =
      written_depth_ > 0
          ? sorted(p).front().second < 0
          : std::all_of(p.words.begin(), p.words.end(), [](const auto& each) { return each.second < 0; });
  const double number = (same ? std::abs(c) : 1) * (negative ? -1 : 1);
  if (number == 1) {
    return write_sorted(p, grouping);
  }
  Polynomial rest = p;
  for (auto& [w, each] : rest.words) {
    each /= number;
  }
  return Operator(number) * write_sorted(rest, grouping);
}

Operator Engine::write_inner(const Polynomial& p, Grouping grouping) {
  ++written_depth_;
  const Operator out = write(p, grouping);
  --written_depth_;
  return out;
}

/// What all words begin or end with taken out, then the rest gathered.
Operator Engine::write_sorted(const Polynomial& p, Grouping grouping) {
  const Word& first = p.words.begin()->first;
  std::size_t prefix = first.size();
  std::size_t suffix = first.size();
  std::size_t shortest = first.size();
  for (const auto& [w, c] : p.words) {
    shortest = std::min(shortest, w.size());
    prefix = std::min(prefix, static_cast<std::size_t>(
                                  std::mismatch(first.begin(), first.end(), w.begin(), w.end()).first - first.begin()));
    suffix =
        std::min(suffix, static_cast<std::size_t>(
                             std::mismatch(first.rbegin(), first.rend(), w.rbegin(), w.rend()).first - first.rbegin()));
  }
  prefix = std::min(prefix, shortest);
  suffix = std::min(suffix, shortest - prefix);
  if (prefix + suffix > 0) {
    Polynomial inner{prefix > 0 ? domain(first[prefix - 1]) : p.range,
                     suffix > 0 ? range(first[first.size() - suffix]) : p.domain};
    for (const auto& [w, c] : p.words) {
      inner.words.emplace(w.substr(prefix, w.size() - prefix - suffix), c);
    }
    Operator out = write_inner(inner, grouping);
    if (prefix > 0) {
      out = write_word(first.substr(0, prefix), p.range) * out;
    }
    return suffix > 0 ? out * write_word(first.substr(first.size() - suffix), inner.domain) : out;
  }
  if (grouping == Grouping::factored && p.size() <= most_factored) {
    if (std::optional<Operator> out = write_product(p)) {
      return *out;
    }
  }
  return write_groups(p, grouping);
}

/// A product of sums, and what is left over, where there is one.
std::optional<Operator> Engine::write_product(const Polynomial& p) {
  if (p.size() < 4) {
    return std::nullopt;
  }
  std::map<Word, std::map<Word, double>> remainders;
  for (const auto& [w, c] : p.words) {
    for (std::size_t k = 1; k <= w.size(); ++k) {
      remainders[w.substr(0, k)].emplace(w.substr(k), c);
    }
  }
  struct Split {
    std::map<Word, double> right;
    std::vector<std::pair<Word, double>> left = {};
  };
  std::vector<Split> factors;
  for (auto& [u, right] : remainders) {
    if (right.size() < 2) {
      continue;
    }
    const double lead = right.begin()->second;
    for (auto& [w, c] : right) {
      c /= lead;
    }
    const auto found =
        std::find_if(factors.begin(), factors.end(), [&r = right](const Split& f) { return f.right == r; });
    Split& f = found != factors.end() ? *found : factors.emplace_back(Split{right});
    f.left.emplace_back(u, lead);
  }
  const Split* best = nullptr;
  std::vector<std::pair<Word, double>> best_left;
  for (Split& f : factors) {
    const auto itself = p.words.find(f.right.begin()->first);
    if (itself != p.words.end() && std::all_of(f.right.begin(), f.right.end(), [&](const auto& each) {
          const auto at = p.words.find(each.first);
          return at != p.words.end() && at->second == each.second * itself->second;
        })) {
      f.left.insert(f.left.begin(), {Word{}, itself->second});
    }
    // no word twice
    Polynomial used;
    std::vector<std::pair<Word, double>> left;
    for (const auto& [u, c] : f.left) {
      const bool is_free = std::none_of(f.right.begin(), f.right.end(),
                                        [&, &u = u](const auto& each) { return used.words.contains(u + each.first); });
      if (is_free) {
        left.emplace_back(u, c);
        for (const auto& [w, number] : f.right) {
          used.words.emplace(u + w, 1);
        }
      }
    }
    if (left.size() < 2) {
      continue;
    }
    const std::size_t covers = left.size() * f.right.size();
    const std::size_t most = best == nullptr ? 0 : best_left.size() * best->right.size();
    if (covers > most || (covers == most && f.right.size() > best->right.size())) {
      best = &f;
      best_left = left;
    }
  }
  if (best == nullptr) {
    return std::nullopt;
  }
  const Word& u = best_left.back().first;  // not empty
  const int between = domain(u.back());
  Polynomial left{p.range, between};
  Polynomial right{between, p.domain, best->right};
  Polynomial rest = p;
  for (const auto& [v, c] : best_left) {
    left.words.emplace(v, c);
    for (const auto& [w, number] : best->right) {
      rest.words.erase(v + w);
    }
  }
  Operator product = write_inner(left, Grouping::factored) * write_inner(right, Grouping::factored);
  if (rest.zero()) {
    return product;
  }
  Word lead = sorted(left).front().first + sorted(right).front().first;
  const double sign = product.term().type == TermType::scale ? product.term().number : 1;
  const Operator positive = product.term().type == TermType::scale ? product.term().parts[0] : product;
  std::vector<std::pair<Word, Operator>> pieces{{lead, positive}};
  std::vector<double> numbers{sign};
  const Operator others = write(rest);
  const Term& t = others.term();
  const auto put = [&](const Word& at, const Operator& x) {
    const bool scaled = x.term().type == TermType::scale;
    pieces.emplace_back(at, scaled ? x.term().parts[0] : x);
    numbers.push_back(scaled ? x.term().number : 1);
  };
  const Word at = sorted(rest).front().first;
  if (t.type == TermType::sum) {
    for (const Operator& part : t.parts) {
      put(at, part);
    }
  } else {
    put(at, others);
  }
  return summed(std::move(pieces), std::move(numbers));
}

Operator Engine::write_groups(const Polynomial& p, Grouping grouping) {
  const auto gathered = [&](bool last) {
    std::map<Letter, Polynomial> groups;
    for (const auto& [w, c] : p.words) {
      if (!w.empty()) {
        const Letter l = last ? w.back() : w.front();
        Polynomial& group = groups[l];
        group.range = last ? p.range : domain(l);
        group.domain = last ? range(l) : p.domain;
        group.words.emplace(last ? w.substr(0, w.size() - 1) : w.substr(1), c);
      }
    }
    return groups;
  };
  bool last = grouping == Grouping::last;
  std::map<Letter, Polynomial> groups = gathered(last);
  if (grouping == Grouping::factored) {
    std::map<Letter, Polynomial> other = gathered(true);
    if (other.size() < groups.size()) {
      groups = std::move(other);
      last = true;
    }
  }
  std::vector<std::pair<Word, Operator>> pieces;
  std::vector<double> numbers;
  const auto put = [&](const Word& lead, const Operator& x) {
    const bool scaled = x.term().type == TermType::scale;
    pieces.emplace_back(lead, scaled ? x.term().parts[0] : x);
    numbers.push_back(scaled ? x.term().number : 1);
  };
  const auto one = p.words.find(Word{});
  if (one != p.words.end()) {
    pieces.emplace_back(Word{}, write_word(Word{}, p.range));
    numbers.push_back(one->second);
  }
  for (const auto& [l, group] : groups) {
    const Operator inner = write_inner(group, grouping);
    const Word lead = sorted(group).front().first;
    put(last ? lead + l : l + lead, last ? inner * expression(l) : expression(l) * inner);
  }
  if (pieces.size() == 1) {
    return Operator(numbers[0]) * pieces[0].second;
  }
  return summed(std::move(pieces), std::move(numbers));
}

Operator Engine::written_best(const Polynomial& p) {
  std::optional<Operator> out;
  Cost least;
  for (const Grouping each : {Grouping::factored, Grouping::first, Grouping::last}) {
    const Operator x = tidied(write(p, each));
    if (out && x == *out) {
      continue;
    }
    Cost cost = cost_of(x, search_.use);
    if (!out || cost < least) {
      out = x;
      least = std::move(cost);
    }
  }
  return *out;
}

}  // namespace bunraku::operators
