// Expressions with their adjoints at the symbols, and with derived symbols replaced by what defines them.

#include <optional>

#include "bunraku/operators/detail/plan.hpp"

namespace bunraku::operators {

namespace {

/// Rebuilds x with its adjoints at the symbols; `transposed` asks for the adjoint.
Operator push(const Operator& x, bool transposed) {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::adjoint:
      return push(t.parts[0], !transposed);
    case TermType::sum: {
      Operator out = push(t.parts[0], transposed);
      for (std::size_t i = 1; i < t.parts.size(); ++i) {
        out = out + push(t.parts[i], transposed);
      }
      return out;
    }
    case TermType::product: {
      const std::size_t n = t.parts.size();
      Operator out = push(t.parts[transposed ? n - 1 : 0], transposed);
      for (std::size_t i = 1; i < n; ++i) {
        out = out * push(t.parts[transposed ? n - 1 - i : i], transposed);
      }
      return out;
    }
    case TermType::scale:
      return Operator(t.number) * push(t.parts[0], transposed);
    case TermType::inverse:
      return inv(push(t.parts[0], transposed));
    case TermType::dense_inverse:
      return dense_inv(push(t.parts[0], transposed));
    case TermType::root:
      return sqrt(push(t.parts[0], transposed));
    case TermType::cross: {
      const Operator out = cross(push(t.parts[0], false));
      return transposed ? ~out : out;
    }
    case TermType::block:
      if (t.domain.kind == SpaceKind::number) {
        const Operator out = push(t.parts[0], false).block(t.range.part);
        return transposed ? ~out : out;
      }
      return transposed ? push(t.parts[0], true).block(t.domain.part, t.range.part)
                        : push(t.parts[0], false).block(t.range.part, t.domain.part);
    default:
      return transposed ? ~x : x;
  }
}

/// What defines a symbol by others that steps know, or nothing.
std::optional<Operator> definition(Symbol symbol) {
  const Operator I = Operator::identity();
  const Operator G(Symbol::G);
  const Operator H(Symbol::H);
  const Operator K(Symbol::K);
  const Operator psi(Symbol::psi);
  switch (symbol) {
    case Symbol::phit:
      return Operator(Symbol::phi) - I;
    case Symbol::psit:
      return psi - I;
    case Symbol::tau:
      return G * H;
    case Symbol::taub:
      return I - G * H;
    case Symbol::E_psi:
      return Operator(Symbol::E_phi) - K * H;
    case Symbol::Omega:
      return ~psi * ~H * inv(Operator(Symbol::D)) * H * psi;
    default:
      return std::nullopt;
  }
}

/// x with `change` applied to its leaves.
template <class Change>
Operator rebuilt(const Operator& x, const Change& change) {
  const Term& t = x.term();
  const auto part = [&](std::size_t i) { return rebuilt(t.parts[i], change); };
  switch (t.type) {
    case TermType::adjoint:
      return ~part(0);
    case TermType::sum:
    case TermType::product: {
      Operator out = part(0);
      for (std::size_t i = 1; i < t.parts.size(); ++i) {
        out = t.type == TermType::sum ? out + part(i) : out * part(i);
      }
      return out;
    }
    case TermType::scale:
      return Operator(t.number) * part(0);
    case TermType::inverse:
      return inv(part(0));
    case TermType::dense_inverse:
      return dense_inv(part(0));
    case TermType::root:
      return sqrt(part(0));
    case TermType::cross:
      return cross(part(0));
    case TermType::block:
      return t.domain.kind == SpaceKind::number ? part(0).block(t.range.part)
                                                : part(0).block(t.range.part, t.domain.part);
    default:
      return change(x);
  }
}

int adjoints_in(const Operator& x) {
  int count = x.term().type == TermType::adjoint ? 1 : 0;
  for (const Operator& part : x.term().parts) {
    count += adjoints_in(part);
  }
  return count;
}

Operator tidy(const Operator& x) {
  const Term& t = x.term();
  if (t.type == TermType::sum || t.type == TermType::inverse) {
    const Operator other = push(x, true);
    if (adjoints_in(other) + 1 < adjoints_in(x)) {
      return ~tidy(other);
    }
  }
  switch (t.type) {
    case TermType::sum:
    case TermType::product: {
      Operator out = tidy(t.parts[0]);
      for (std::size_t i = 1; i < t.parts.size(); ++i) {
        out = t.type == TermType::sum ? out + tidy(t.parts[i]) : out * tidy(t.parts[i]);
      }
      return out;
    }
    case TermType::scale:
      return Operator(t.number) * tidy(t.parts[0]);
    case TermType::inverse:
      return inv(tidy(t.parts[0]));
    default:
      return x;
  }
}

}  // namespace

Operator pushed(const Operator& x) {
  return push(x, false);
}

Operator expanded(const Operator& x) {
  return push(rebuilt(x,
                      [](const Operator& leaf) {
                        if (leaf.term().type != TermType::symbol) {
                          return leaf;
                        }
                        return definition(leaf.term().symbol).value_or(leaf);
                      }),
              false);
}

Operator tidied(const Operator& x) {
  return tidy(push(x, false));
}

}  // namespace bunraku::operators
