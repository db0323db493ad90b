// Identities as rules on words, and what they make of a polynomial.

#include <algorithm>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::operators {

const Identity* Engine::row(IdentityUse use, std::size_t number) const {
  for (const Identity& each : table_) {
    if (each.use == use && number-- == 0) {
      return &each;
    }
  }
  return nullptr;
}

int Engine::group(const std::string& name, const std::string& source) {
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].name == name && groups_[i].source == source) {
      return static_cast<int>(i);
    }
  }
  groups_.push_back({name, source});
  return static_cast<int>(groups_.size()) - 1;
}

void Engine::add_rule(const Word& left, const Polynomial& right, const std::string& name, const std::string& source) {
  const int in = group(name, source);
  const Word other = adjoint(left);
  for (const bool reversed : {false, true}) {
    if (reversed && other == left) {
      break;
    }
    rules_.push_back({reversed ? other : left, reversed ? adjoint(right) : right, in, reversed});
    groups_[static_cast<std::size_t>(in)].rules.push_back(static_cast<int>(rules_.size()) - 1);
  }
}

void Engine::add_rule(const Identity& identity, int family, int second) {
  const int before = reading_family_;
  reading_family_ = family;
  reading_second_ = second;
  const Polynomial left = read(identity.left);
  Polynomial right = read(identity.right);
  reading_family_ = before;
  reading_second_ = -1;
  if (left.zero()) {
    return;
  }
  // Where M stands for a sum, its heaviest word is replaced and the rest taken to the other side.
  const auto [lead, c] = sorted(left).back();
  const bool own = search_.identities.has_value();
  if (own && (lead.empty() || (family < 0 && left.size() > 1))) {
    throw OperatorError(fmt::format("the identity '{}' has no direction: its left side '{}' is not a product",
                                    identity.name, to_ascii(identity.left)),
                        "write the product that is to be replaced on the left, all else on the right");
  }
  Polynomial rest = left;
  rest.words.erase(lead);
  right.add(rest, -1);
  for (auto& [w, number] : right.words) {
    if (w.find(lead) != Word::npos) {
      throw OperatorError(fmt::format("the identity '{}' has no direction: its right side holds its left side '{}'",
                                      identity.name, to_ascii(identity.left)));
    }
    number /= c;
  }
  right.range = left.range;
  right.domain = left.domain;
  add_rule(lead, right, identity.name, identity.source);
}

void Engine::add_rules(int family) {
  const auto belongs = [](const Operator& x) {
    return any_in(
        x, [](const Operator& part) { return part.term().type == TermType::symbol && has_family(part.term().symbol); });
  };
  const auto of_two = [](const Operator& x) {
    return any_in(
        x, [](const Operator& part) { return part.term().type == TermType::symbol && !part.term().parts.empty(); });
  };
  for (const Identity& each : table_) {
    if (each.use != IdentityUse::rule || !(belongs(each.left) || belongs(each.right))) {
      continue;
    }
    if (!of_two(each.right)) {
      add_rule(each, family);
      continue;
    }
    for (int other = 0; other < family; ++other) {
      add_rule(each, family, other);
      add_rule(each, other, family);
    }
  }
  inverse_letter(of_letter(family_letter(Symbol::D, family)), true);
}

bool Engine::apply_group(Polynomial& p, const RuleGroup& group, std::set<int>& used) {
  constexpr int none = -1;
  const auto first = [&](const Word& w) {
    for (const int i : group.rules) {
      if (w.find(rules_[static_cast<std::size_t>(i)].left) != Word::npos) {
        return i;
      }
    }
    return none;
  };
  if (std::none_of(p.words.begin(), p.words.end(), [&](const auto& each) { return first(each.first) != none; })) {
    return false;
  }
  Polynomial todo = std::move(p);
  p = {todo.range, todo.domain};
  while (!todo.zero()) {
    const auto [w, c] = *todo.words.begin();
    todo.words.erase(todo.words.begin());
    const int number_of_rule = first(w);
    if (number_of_rule == none) {
      p.add(w, c);
      continue;
    }
    const WordRule& rule = rules_[static_cast<std::size_t>(number_of_rule)];
    tick(rule.right.size() + 1);
    used.insert(number_of_rule);
    const std::size_t at = w.find(rule.left);
    const Word u = w.substr(0, at);
    const Word v = w.substr(at + rule.left.size());
    for (const auto& [r, number] : rule.right.words) {
      if (!std::isnormal(c * number)) {
        throw Limit("numbers are too large or too small to be multiplied out");
      }
      todo.add(joined(u, r, v), c * number);
    }
    if (todo.size() + p.size() > 2'000) {
      throw Limit("the expression has too many products");
    }
  }
  return true;
}

bool Engine::apply_pairs(Polynomial& p, std::vector<Change>& changed) {
  const Identity* identity = row(IdentityUse::pair);
  if (identity == nullptr) {
    return false;
  }
  const Letter phi = letter(Operator(Symbol::phi));
  const Letter R = letter(Operator(Symbol::R));
  const Letter out = adjoint(phi);
  std::set<Letter> composites;
  const auto note = [&](Letter y, const Polynomial& x) {
    if (!root_ || !composites.insert(y).second) {
      return;
    }
    Polynomial before{x.range, x.domain, {{Word{phi, y}, 1.0}, {Word{y, out}, 1.0}}};
    Polynomial after{x.range, x.domain, {{Word{y}, 1.0}}};
    after.add(Word{phi}, x, Word{out}, 1);
    changed.push_back({write_plainly(before), write_plainly(after)});
  };
  bool any = false;
  const auto once = [&] {
    for (const auto& [w, c] : p.words) {
      for (std::size_t i = 0; i + 1 < w.size(); ++i) {
        const Letter y = w[i + 1];
        const bool composite =
            w[i] == phi && (y == R || (atom(y).expression.term().type == TermType::gather && atom(y).inner));
        if (!composite) {
          continue;
        }
        const Word u = w.substr(0, i);
        const Word v = w.substr(i + 2);
        const Word partner = joined(u, Word{y, out}, v);
        const auto other = p.words.find(partner);
        if (other == p.words.end() || (other->second > 0) != (c > 0)) {
          continue;
        }
        Polynomial x = y == R ? of_letter(letter(Operator(Symbol::M))) : *atom(y).inner;
        if ((y & 1U) != 0) {
          x = adjoint(x);
        }
        note(y, x);
        const double m = std::abs(c) <= std::abs(other->second) ? c : other->second;
        const Word own = w;
        p.add(own, -m);
        p.add(partner, -m);
        p.add(u + phi, x, out + v, m);
        p.add(joined(u, Word{y}, v), m);
        tick(4);
        return true;
      }
    }
    return false;
  };
  while (once()) {
    any = true;
  }
  return any;
}

/// What the rules of one name did. A rule stands before its adjoint, which need not be told beside it.
void Engine::show_rules(const Show& show, const RuleGroup& group, const std::set<int>& used, const Polynomial& now) {
  DerivationStep step{group.name, group.source, write(now), true};
  for (const int i : used) {
    const WordRule& rule = rules_[static_cast<std::size_t>(i)];
    step.adjoint = step.adjoint && rule.adjoint;
    if (!rule.adjoint || !used.contains(i - 1)) {
      step.changed.push_back({write_word(rule.left, rule.right.range), write_plainly(rule.right)});
    }
  }
  show(step);
}

Polynomial Engine::normal(Polynomial p, const Show& show) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t i = 0; i < groups_.size() && !changed; ++i) {
      std::set<int> used;
      changed = apply_group(p, groups_[i], used);
      if (changed && show && root_) {
        show_rules(show, RuleGroup(groups_[i]), used, p);
      }
    }
    if (!changed) {
      std::vector<Change> pairs;
      changed = apply_pairs(p, pairs);
      if (changed && show && root_) {
        const Identity* by = row(IdentityUse::pair);
        show({by->name, by->source, write(p), false, pairs});
      }
    }
  }
  return p;
}

Polynomial Engine::normal_of_word(const Word& w) {
  return normal(of_word(w));
}

Polynomial Engine::applied(const WordRule& rule, const Word& w, std::size_t at) const {
  Polynomial out{of_word(w).range, of_word(w).domain};
  out.add(w.substr(0, at), rule.right, w.substr(at + rule.left.size()), 1);
  return out;
}

}  // namespace bunraku::operators
