// Families, and inverses through smaller spaces.

#include <algorithm>

#include <fmt/format.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::operators {

namespace {

Polynomial multiplied(Polynomial p, double c) {
  for (auto& [w, number] : p.words) {
    number *= c;
  }
  return p;
}

}  // namespace

/// p with the adjoints of square variables taken for these, where that makes it symmetric.
std::optional<Polynomial> Engine::with_symmetric_variables(const Polynomial& p) const {
  const auto plain = [this](const Polynomial& of) {
    Polynomial out{of.range, of.domain};
    for (const auto& [w, c] : of.words) {
      Word v = w;
      for (Letter& l : v) {
        if (atom(l).expression.term().type == TermType::variable && square(l)) {
          l = static_cast<Letter>(l & ~1U);
        }
      }
      out.add(v, c);
    }
    return out;
  };
  const Polynomial out = plain(p);
  return plain(adjoint(out)) == out ? std::optional(out) : std::nullopt;
}

/// H φ X φ* H* + A, also written with H φ Y H* + H Y φ* H*.
std::optional<Operator> Engine::family_inverse(const Polynomial& p, bool assume_symmetric, const Show& show) {
  const Identity* factors = row(IdentityUse::factorization);
  const Identity* causal = row(IdentityUse::causal_inverse);
  if (factors == nullptr || causal == nullptr || rank(p.range) != 2) {
    return std::nullopt;
  }
  const Letter H = letter(Operator(Symbol::H));
  const Letter phi = letter(Operator(Symbol::phi));
  const Letter E = letter(Operator(Symbol::E_phi));
  const int body = domain(H);
  const Word in{H, phi};
  const Word out{adjoint(phi), adjoint(H)};
  Polynomial X{body, body};
  Polynomial A{p.range, p.domain};
  Polynomial left{body, body};
  Polynomial right{body, body};
  for (const auto& [w, c] : p.words) {
    if (shape(w) == Shape::memoryless) {
      A.add(w, c);
      continue;
    }
    const bool starts = w.starts_with(in);
    const bool ends = w.ends_with(out);
    const std::size_t from = starts ? 2 : 1;
    const std::size_t taken = from + (ends ? 2 : 1);
    if (w.size() < taken || w.front() != H || w.back() != adjoint(H) || !(starts || ends)) {
      return std::nullopt;
    }
    const Word middle = w.substr(from, w.size() - taken);
    if (shape(middle) != Shape::memoryless) {
      return std::nullopt;
    }
    (starts && ends ? X : starts ? left : right).add(middle, c);
  }
  if (!(left == right) || (X.zero() && left.zero())) {
    return std::nullopt;
  }
  if (!left.zero()) {
    X.add(left);
    X.add(Word{E}, left, Word{adjoint(E)}, -1);
    A.add(Word{H}, left, Word{adjoint(H)}, 1);
    X = normal(X);
    A = normal(A);
    if (X.zero()) {
      return std::nullopt;
    }
  }
  if (assume_symmetric) {
    const std::optional<Polynomial> same_X = with_symmetric_variables(X);
    const std::optional<Polynomial> same_A = with_symmetric_variables(A);
    if (!same_X || !same_A || same_X->zero()) {
      return std::nullopt;
    }
    X = *same_X;
    A = *same_A;
  } else if (!is_symmetric(X) || !is_symmetric(A)) {
    return std::nullopt;
  }
  if (search_.conditions.couplings &&
      std::any_of(X.words.begin(), X.words.end(), [&](const auto& each) { return through_hinges(each.first); })) {
    return std::nullopt;
  }
  const auto mass = X.words.find(Word{letter(Operator(Symbol::M))});
  const double c = mass != X.words.end() ? mass->second : sorted(X).back().second;
  X = multiplied(X, 1 / c);
  A = multiplied(A, 1 / c);
  const Operator inertia = write(X);
  const Operator rotors = A.zero() ? Operator(0.0) * Operator(Symbol::armature) : write(A);
  if (inertia.kind() != Kind::memoryless || rotors.kind() != Kind::memoryless) {
    return std::nullopt;
  }
  const int f = family(inertia, rotors);
  const Letter d = family_letter(Symbol::D, f);
  if (!atom(d).pd) {
    condition(fmt::format("{} is invertible", atom(d).text));
  }
  const Operator one = identity(p.range);
  const Operator D = of_family(Symbol::D, f);
  const Operator K = of_family(Symbol::K, f);
  const Operator L = one + Operator(Symbol::H) * Operator(Symbol::phi) * K;
  const Operator W = one - Operator(Symbol::H) * of_family(Symbol::psi, f) * K;
  Operator result = Operator(1 / c) * (~W * inv(D) * W);
  if (show) {
    show({factors->name,
          factors->source,
          Operator(1 / c) * inv(L * D * ~L),
          false,
          {{write(p), Operator(c) * (L * D * ~L)}}});
    show({causal->name, causal->source, result, false, {{inv(L), W}}});
  }
  return result;
}

/// What is H φ X φ* H* + A once the loops of ψ are opened: (I + H φ K) p, p (I + H φ K)* or both.
std::optional<Operator> Engine::opened_inverse(const Polynomial& p, const Show& show) {
  const Identity* by = row(IdentityUse::causal_inverse);
  if (by == nullptr || rank(p.range) != 2) {
    return std::nullopt;
  }
  const Operator one = identity(p.range);
  for (std::size_t f = 0; f < families_.size(); ++f) {
    const int family = static_cast<int>(f);
    const Letter psi = family_letter(Symbol::psi, family);
    const bool holds = std::any_of(p.words.begin(), p.words.end(), [&](const auto& each) {
      return each.first.find(psi) != Word::npos || each.first.find(adjoint(psi)) != Word::npos;
    });
    if (!holds) {
      continue;
    }
    const Operator opened = one + Operator(Symbol::H) * Operator(Symbol::phi) * of_family(Symbol::K, family);
    const Polynomial L = read(opened);
    for (const auto& [left, right] : {std::pair{true, false}, std::pair{false, true}, std::pair{true, true}}) {
      Polynomial q = left ? product(L, p) : p;
      q = normal(right ? product(q, adjoint(L)) : q);
      std::optional<Operator> inner = q.zero() ? std::nullopt : family_inverse(q, false, {});
      if (inner) {
        const Operator out = right ? ~opened * *inner : *inner;
        Operator result = left ? out * opened : out;
        if (show) {
          show({by->name, by->source, result, false, {{inv(write(p)), result}}});
        }
        return result;
      }
    }
  }
  return std::nullopt;
}

/// x + u v: x⁻¹ − x⁻¹ u inv(I + v x⁻¹ u) v x⁻¹, u into a smaller space.
std::optional<Operator> Engine::lemma(const Polynomial& p, const Show& show) {
  if (row(IdentityUse::inversion_lemma) == nullptr || p.size() < 2) {
    return std::nullopt;
  }
  std::map<Word, std::size_t> prefixes;
  for (const auto& [w, c] : p.words) {
    for (std::size_t k = 1; k < w.size(); ++k) {
      const int between = rank(domain(w[k - 1]));
      if (between >= 0 && between < rank(p.range)) {
        ++prefixes[w.substr(0, k)];
      }
    }
  }
  std::vector<std::pair<Word, std::size_t>> order(prefixes.begin(), prefixes.end());
  std::sort(order.begin(), order.end(), [&](const auto& x, const auto& y) {
    return x.second != y.second ? x.second > y.second : before(y.first, x.first);
  });
  constexpr std::size_t most_tried = 3;
  order.resize(std::min(order.size(), most_tried));
  for (const auto& [u, count] : order) {
    Polynomial x{p.range, p.domain};
    Polynomial v{domain(u.back()), p.domain};
    for (const auto& [w, c] : p.words) {
      if (w.size() > u.size() && w.starts_with(u)) {
        v.add(w.substr(u.size()), c);
      } else {
        x.add(w, c);
      }
    }
    if (x.zero() || !is_invertible(x)) {
      continue;
    }
    const std::optional<Operator> x_inverse = inverse(x, {});
    if (!x_inverse) {
      continue;
    }
    const Polynomial u_first = of_word(u);
    Polynomial inner = product(product(v, read(*x_inverse)), u_first);
    inner.add(Word{}, 1);
    inner = normal(inner);
    std::optional<Operator> middle = inner.zero() ? std::nullopt : inverse(inner, {});
    if (!middle && !inner.zero() && rank(inner.range) < 2) {  // a small matrix
      const Operator whole = written_best(inner);
      middle = dense_inv(whole);
    }
    if (!middle) {
      continue;
    }
    refusal_ = Refusal::none;
    const bool plain = x == one(p.range);
    const Operator first = write_word(u, p.range);
    const Operator second = write(v);
    Operator result = plain ? identity(p.range) - first * *middle * second
                            : *x_inverse - *x_inverse * first * *middle * second * *x_inverse;
    if (show) {
      const Identity* by = row(IdentityUse::inversion_lemma, plain ? 0 : 1);
      by = by == nullptr ? row(IdentityUse::inversion_lemma) : by;
      show({by->name, by->source, result, false, {{inv(write(p)), result}}});
    }
    return result;
  }
  refusal_ = Refusal::none;
  return std::nullopt;
}

}  // namespace bunraku::operators
