// What is known of words and polynomials.

#include <algorithm>

#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::operators {

int Engine::rank(int space) const {
  const Space& s = spaces_[static_cast<std::size_t>(space)];
  if (!s.part.empty()) {
    return -1;
  }
  switch (s.kind) {
    case SpaceKind::number:
      return 0;
    case SpaceKind::node:
    case SpaceKind::closure:
      return 1;
    case SpaceKind::hinge:
      return 2;
    case SpaceKind::body:
      return 3;
    case SpaceKind::any:
      break;
  }
  return -1;
}

Engine::Shape Engine::shape(const Word& w) const {
  // One step inward and, with nothing but memoryless factors between, one outward again end at the same body: each has
  // one parent. Outward and inward end at its siblings, too.
  std::vector<Shape> open;
  for (const Letter l : w) {
    const Atom& a = atom(l);
    if (a.range == 1 || a.domain == 1) {
      open.push_back(w.size() == 1 && a.kind == Kind::memoryless && (l & 1U) == 0 ? Shape::memoryless : Shape::general);
      continue;
    }
    const bool reversed = (l & 1U) != 0;
    switch (a.kind) {
      case Kind::memoryless:
        continue;
      case Kind::causal:
        if (a.one_step && reversed && !open.empty() && open.back() == Shape::step_in && !search_.conditions.couplings) {
          open.pop_back();
        } else {
          open.push_back(a.one_step ? (reversed ? Shape::step_out : Shape::step_in)
                                    : (reversed ? Shape::out : Shape::in));
        }
        continue;
      case Kind::anticausal:
        open.push_back(reversed ? Shape::in : Shape::out);
        continue;
      case Kind::general:
        open.push_back(Shape::general);
    }
  }
  if (open.empty()) {
    return Shape::memoryless;
  }
  if (open.size() == 1) {
    return open.front();
  }
  const auto all = [&](Shape step, Shape loop) {
    return std::all_of(open.begin(), open.end(), [&](Shape s) { return s == step || s == loop; });
  };
  const auto any = [&](Shape step) { return std::find(open.begin(), open.end(), step) != open.end(); };
  if (all(Shape::step_in, Shape::in)) {
    return any(Shape::step_in) ? Shape::strict_in : Shape::in;
  }
  if (all(Shape::step_out, Shape::out)) {
    return any(Shape::step_out) ? Shape::strict_out : Shape::out;
  }
  return Shape::general;
}

bool Engine::is_memoryless(const Polynomial& p) const {
  return std::all_of(p.words.begin(), p.words.end(),
                     [&](const auto& each) { return shape(each.first) == Shape::memoryless; });
}

bool Engine::is_strict(const Polynomial& p) const {
  const auto all = [&](Shape step, Shape strict) {
    return std::all_of(p.words.begin(), p.words.end(), [&](const auto& each) {
      const Shape s = shape(each.first);
      return s == step || s == strict;
    });
  };
  return all(Shape::step_in, Shape::strict_in) || all(Shape::step_out, Shape::strict_out);
}

bool Engine::is_psd(const Polynomial& p) const {
  return std::all_of(p.words.begin(), p.words.end(), [&](const auto& each) {
    const Word& w = each.first;
    return each.second > 0 && adjoint(w) == w && (w.size() % 2 == 0 || atom(w[w.size() / 2]).psd);
  });
}

bool Engine::is_pd(const Polynomial& p) const {
  // u y u* is positive definite if y is and u has full row rank, as H has
  const auto definite = [&](const Word& w) {
    if (w.empty()) {
      return true;
    }
    if (w.size() % 2 == 0 || !atom(w[w.size() / 2]).pd) {
      return false;
    }
    return std::all_of(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(w.size() / 2), [&](Letter l) {
      const Atom& a = atom(l);
      const bool is_H = a.expression.term().type == TermType::symbol && a.expression.term().symbol == Symbol::H;
      return (square(l) && a.invertible) || (is_H && (l & 1U) == 0);
    });
  };
  return is_psd(p) && std::any_of(p.words.begin(), p.words.end(), [&](const auto& e) { return definite(e.first); });
}

bool Engine::is_invertible(const Polynomial& p) const {
  if (p.zero() || p.range != p.domain) {
    return false;
  }
  if (p.size() == 1) {
    const Word& w = p.words.begin()->first;
    if (std::all_of(w.begin(), w.end(), [&](Letter l) { return square(l) && atom(l).invertible; })) {
      return true;
    }
  }
  const auto one = p.words.find(Word{});
  if (one != p.words.end()) {
    Polynomial rest = p;
    rest.words.erase(Word{});
    if (is_strict(rest)) {
      return true;
    }
  }
  if (const std::optional<Polynomial> blocks = diagonal(p); blocks && !(*blocks == p) && is_invertible(*blocks)) {
    return true;
  }
  Polynomial negative = p;
  for (auto& [w, c] : negative.words) {
    c = -c;
  }
  return is_pd(p) || is_pd(negative);
}

std::optional<Polynomial> Engine::diagonal(const Polynomial& p) const {
  if (search_.conditions.couplings) {  // not body by body
    return std::nullopt;
  }
  Polynomial out{p.range, p.domain};
  bool inward = true;
  bool outward = true;
  for (const auto& [w, c] : p.words) {
    const Shape s = shape(w);
    inward = inward && (s == Shape::memoryless || s == Shape::in || s == Shape::step_in || s == Shape::strict_in);
    outward = outward && (s == Shape::memoryless || s == Shape::out || s == Shape::step_out || s == Shape::strict_out);
    if (s == Shape::memoryless) {
      out.add(w, c);
    } else if (s == Shape::in || s == Shape::out) {  // φ and ψ have I on it
      Word v;
      for (const Letter l : w) {
        const Term& t = atom(l).expression.term();
        const bool loop = t.type == TermType::symbol && (t.symbol == Symbol::phi || t.symbol == Symbol::psi);
        if (!loop && atom(l).kind != Kind::memoryless) {
          return std::nullopt;
        }
        if (!loop) {
          v += l;
        }
      }
      out.add(v, c);
    }
  }
  return inward || outward ? std::optional(out) : std::nullopt;
}

bool Engine::is_singular(const Polynomial& p) const {
  const std::optional<Polynomial> blocks = diagonal(p);
  return is_strict(p) || (blocks && blocks->zero());
}

bool Engine::is_narrow(const Polynomial& p) const {
  // all words pass through a smaller space at the same place
  const Word& first = p.words.begin()->first;
  const auto narrow = [&](bool from_end) {
    for (std::size_t k = 1; k < first.size(); ++k) {
      const std::size_t cut = from_end ? first.size() - k : k;
      const int between = domain(first[cut - 1]);
      const Word part = from_end ? first.substr(cut) : first.substr(0, cut);
      const bool common = std::all_of(p.words.begin(), p.words.end(), [&](const auto& each) {
        return from_end ? each.first.ends_with(part) : each.first.starts_with(part);
      });
      if (!common) {
        return false;
      }
      if (rank(between) >= 0 && rank(between) < rank(p.range) && rank(between) != 1) {  // there may be many nodes
        return true;
      }
    }
    return false;
  };
  return narrow(false) || narrow(true);
}

bool Engine::through_hinges(const Word& w) const {
  return std::any_of(w.begin(), w.end(), [&](Letter l) { return rank(range(l)) == 2 || rank(domain(l)) == 2; });
}

}  // namespace bunraku::operators
