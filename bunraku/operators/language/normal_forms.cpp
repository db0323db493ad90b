// Expressions with their adjoints at the symbols, and with derived symbols replaced by what defines them.

#include "bunraku/operators/language/detail/normal_forms.hpp"

#include <optional>

#include "bunraku/operators/language/detail/derivatives.hpp"
#include "bunraku/operators/language/detail/terms.hpp"

namespace bunraku::operators {

namespace {

/// Rebuilds x with its adjoints at the symbols; `transposed` asks for the adjoint.
Operator push(const Operator& x, bool transposed) {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::adjoint:
      return push(t.parts[0], !transposed);
    case TermType::sum: {
      std::vector<Operator> parts;
      parts.reserve(t.parts.size());
      for (const Operator& part : t.parts) {
        parts.push_back(push(part, transposed));
      }
      return sum_of(parts);
    }
    case TermType::product: {
      const std::size_t n = t.parts.size();
      std::vector<Operator> parts;
      parts.reserve(n);
      for (std::size_t i = 0; i < n; ++i) {
        parts.push_back(push(t.parts[transposed ? n - 1 - i : i], transposed));
      }
      return product_of(parts);
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
    case TermType::gather:
      return gather(t.parts[0], push(t.parts[1], transposed));
    case TermType::spread:
      return spread(t.parts[0], push(t.parts[1], transposed));
    case TermType::carry:
      return carry(t.parts[0], push(t.parts[1], transposed));
    case TermType::force_cross: {
      const Operator out = Q(push(t.parts[0], false));
      return transposed ? -out : out;
    }
    case TermType::joint_rate: {
      const Operator out = with_parts(x, [](const Operator& part) { return push(part, false); });
      return transposed ? ~out : out;
    }
    case TermType::lyapunov:
      return lyap(push(t.parts[0], transposed), push(t.parts[1], transposed));
    case TermType::derivative:
      return diff(push(t.parts[0], transposed), push(t.parts[1], false));
    case TermType::time_rate:
      return dt(push(t.parts[0], transposed));
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
std::optional<Operator> definition(const Term& t) {
  const auto of_family = [&](Symbol symbol) {
    return t.parts.empty() ? Operator(symbol) : Operator::of_family(symbol, t.parts[0], t.parts[1]);
  };
  const Operator I = Operator::identity();
  const Operator H(Symbol::H);
  const Operator G = of_family(Symbol::G);
  const Operator K = of_family(Symbol::K);
  const Operator psi = of_family(Symbol::psi);
  switch (t.symbol) {
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
      return ~psi * ~H * inv(of_family(Symbol::D)) * H * psi;
    case Symbol::M_C: {  // W*D⁻¹[D − e (e*D⁻¹e)⁻¹ e*]D⁻¹W: e are the columns that the small solve is made of
      const Operator W = I - H * psi * K;
      const Operator D_inverse = inv(Operator(Symbol::D));
      const Operator e = H * psi * Operator(Symbol::B) * ~Operator(Symbol::A) + W * ~Operator(Symbol::A_h);
      return ~W * (D_inverse * W - D_inverse * e * inv(~e * D_inverse * e) * ~e * D_inverse * W);
    }
    default:
      return std::nullopt;
  }
}

/// x with the symbols that others define replaced.
Operator spelled_out(const Operator& x) {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::symbol:
      return definition(t).value_or(x);
    case TermType::gather:  // along what stays one step
      return gather(t.parts[0], spelled_out(t.parts[1]));
    case TermType::spread:
      return spread(t.parts[0], spelled_out(t.parts[1]));
    case TermType::carry:
      return carry(t.parts[0], spelled_out(t.parts[1]));
    case TermType::derivative:
    case TermType::time_rate:
      return spelled_out(differentiated(x));
    default:
      return with_parts(x, spelled_out);
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
  // what small solves invert is as it stands: a square that is written so
  if (t.type == TermType::sum || (t.type == TermType::inverse && t.range.kind != SpaceKind::closure)) {
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
