// Expressions with their adjoints at the symbols, and with derived symbols replaced by what defines them.

#include <optional>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/program/detail/plan.hpp"

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

/// x with the symbols that others define replaced.
Operator spelled_out(const Operator& x) {
  return x.term().type == TermType::symbol ? definition(x.term().symbol).value_or(x) : with_parts(x, spelled_out);
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
  const bool open = t.type == TermType::sum || t.type == TermType::product || t.type == TermType::scale ||
                    t.type == TermType::inverse;
  return open ? with_parts(x, tidy) : x;
}

}  // namespace

Operator pushed(const Operator& x) {
  return push(x, false);
}

Operator expanded(const Operator& x) {
  return push(spelled_out(x), false);
}

Operator tidied(const Operator& x) {
  return tidy(push(x, false));
}

}  // namespace bunraku::operators
