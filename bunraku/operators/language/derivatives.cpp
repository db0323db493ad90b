// Derivatives of expressions by rules: docs/operators.md has the table and where the rules come from.

#include "bunraku/operators/language/detail/derivatives.hpp"

#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku::operators {

namespace {

/// A larger derivative is refused: nested ones grow tenfold each.
constexpr int most_operands = 200'000;

/// A derivative, or nothing where it is zero.
using Rate = std::optional<Operator>;

Rate plus(const Rate& x, const Rate& y) {
  return !x ? y : !y ? x : Rate(*x + *y);
}
Rate minus(const Rate& x) {
  return x ? Rate(-*x) : x;
}
Rate times(const Operator& x, const Rate& y) {
  return y ? Rate(x * *y) : y;
}
Rate times(const Rate& x, const Operator& y) {
  return x ? Rate(*x * y) : x;
}
Rate adjoint(const Rate& x) {
  return x ? Rate(~*x) : x;
}

/// What moves: the configuration along u, the velocities along v.
class Differentiator {
 public:
  Differentiator(Rate u, Rate v, bool in_time) : u_(std::move(u)), v_(std::move(v)), in_time_(in_time) {}

  /// The derivative of what has no derivatives in it.
  Rate of(const Operator& x) {
    const auto found = known_.find(&x.term());
    if (found != known_.end()) {
      return found->second;
    }
    Rate out = of_new(x);
    kept_.push_back(x);
    known_.emplace(&x.term(), out);
    return out;
  }

 private:
  Rate of_new(const Operator& x) {
    const Term& t = x.term();
    switch (t.type) {
      case TermType::identity:
      case TermType::number:
      case TermType::unit:
        return std::nullopt;
      case TermType::variable:
        if (t.function != nullptr) {
          refuse(t.name, "a function gives it", "only variables without one, which are constant, have a rule");
        }
        return std::nullopt;
      case TermType::symbol:
        return has_family(t.symbol) ? of_family(t) : of_symbol(t.symbol);
      case TermType::sum: {
        Rate out;
        for (const Operator& part : t.parts) {
          out = plus(out, of(part));
        }
        return out;
      }
      case TermType::product:
        return of_product(t);
      case TermType::scale:
        return times(Operator(t.number), of(t.parts[0]));
      case TermType::adjoint:
        return adjoint(of(t.parts[0]));
      case TermType::inverse:
      case TermType::dense_inverse:
        return minus(times(x, times(of(t.parts[0]), x)));
      case TermType::root:
        return of_root(x);
      case TermType::cross:
        return applied(of(t.parts[0]), [](const Operator& rate) { return cross(rate); });
      case TermType::force_cross:
        return applied(of(t.parts[0]), [](const Operator& rate) { return Q(rate); });
      case TermType::joint_rate:
        return of_joint_rate(t);
      case TermType::gather:
        return of_gather(x);
      case TermType::spread:
        return of_spread(x);
      case TermType::carry:
        return plus(applied(of(t.parts[1]), [&](const Operator& rate) { return carry(t.parts[0], rate); }),
                    carried_rate(t.parts[0], t.parts[1]));
      case TermType::lyapunov: {  // r y + y r = x
        const Rate dr = of(t.parts[0]);
        const Rate source = plus(of(t.parts[1]), minus(plus(times(dr, x), times(x, dr))));
        return applied(source, [&](const Operator& rate) { return lyap(t.parts[0], rate); });
      }
      case TermType::block:
        return applied(of(t.parts[0]), [&](const Operator& rate) {
          return t.domain.kind == SpaceKind::number ? rate.block(t.range.part)
                                                    : rate.block(t.range.part, t.domain.part);
        });
      case TermType::derivative:
      case TermType::time_rate:
        return of(differentiated(x));
    }
    return std::nullopt;
  }

  template <class Make>
  static Rate applied(const Rate& rate, const Make& make) {
    return rate ? Rate(make(*rate)) : rate;
  }

  [[noreturn]] static void refuse(std::string_view name, std::string_view why, const std::string& cure) {
    throw OperatorError(fmt::format("'{}' has no derivative here: {}", name, why), cure, std::string(name));
  }

  /// cross(H* u), how each hinge moves.
  Rate W() const {
    return applied(u_, [](const Operator& u) { return cross(~Operator(Symbol::H) * u); });
  }
  /// δH, zero where it is constant in the child's axes: for all hinges but universal ones and users' own.
  Rate map_rate() const {
    return applied(u_, [](const Operator& u) { return dH({u}); });
  }
  /// −E_φ W*: JR03 (3.30) in the bodies' axes.
  Rate step_rate() const { return minus(times(Operator(Symbol::E_phi), adjoint(W()))); }

  // -------------------------------------------------------------------------------------------------------------------
  // Symbols

  Rate of_symbol(Symbol symbol) {
    using namespace soa;
    switch (symbol) {
      case Symbol::M:
      case Symbol::B:
      case Symbol::S:
      case Symbol::armature:
      case Symbol::stiffness:
      case Symbol::ang:
        return std::nullopt;
      case Symbol::E_phi:
        return step_rate();
      case Symbol::Delta_phi:
        return minus(times(Operator(symbol), adjoint(W())));
      case Symbol::phi:
      case Symbol::phit:
        return minus(times(Operator(phit), times(adjoint(W()), Operator(phi))));
      case Symbol::H:
        return map_rate();
      case Symbol::R:
        return applied(W(), [](const Operator& W) { return -gather(E_phi, E_phi * (~W * R + R * W) * ~E_phi); });
      case Symbol::V: {
        const Rate turned = applied(u_, [](const Operator& u) { return cross(~E_phi * V) * ~H * u; });
        const Rate of_map = times(adjoint(map_rate()), Operator(thetad));
        return times(~phi, plus(plus(turned, of_map), times(~H, v_)));
      }
      case Symbol::a_g:
        return minus(times(W(), Operator(a_g)));
      case Symbol::b:
        return of(cross(ang * V) * M * ang * V);
      case Symbol::a:
        return of((I - ~E_phi) * cross(ang * V) * V + cross(V) * ~H * thetad + ~dH({thetad}) * thetad + a_g);
      case Symbol::thetad:
        return v_;
      case Symbol::alpha:
        return of(~phi * (~H * thetadd + a));
      case Symbol::f:
        return of(phi * (M * alpha + b));
      case Symbol::T:
        return of(H * f + soa::armature * thetadd - T_p);
      case Symbol::thetadd:
        if (in_time_) {
          refuse("thetadd", "its rate is not given", "diff(x, u) has it constant");
        }
        return std::nullopt;
      case Symbol::T_p:  // along θ it is the springs that count
        if (in_time_) {
          refuse("T_p", "dampers and friction have no rule in time", "diff(T_p, u) has velocities constant");
        }
        return minus(times(Operator(Symbol::stiffness), u_));
      default:
        refuse(info(symbol).ascii, "the equations of closures have no rules",
               "what has none of A, A_h, U, a_n and M_C in it can be differentiated");
    }
  }

  /// A symbol of the same family as another.
  static Operator beside(const Term& t, Symbol symbol) {
    return t.parts.empty() ? Operator(symbol) : Operator::of_family(symbol, t.parts[0], t.parts[1]);
  }

  /// P, D, G, K, ψ of any pair (X, A), and what is derived of them. The gain's own change drops out of that of P, as G
  /// is optimal: the Riccati recursion becomes a linear one.
  Rate of_family(const Term& t) {
    const auto own = [&](Symbol symbol) { return beside(t, symbol); };
    const Operator E_phi(Symbol::E_phi);
    const Operator H(Symbol::H);
    const Operator P = own(Symbol::P);
    const Operator G = own(Symbol::G);
    const Operator taub = own(Symbol::taub);
    const Operator psi = own(Symbol::psi);
    const Operator D_inverse = inv(own(Symbol::D));
    const Rate source_rate = t.parts.empty() ? std::nullopt : of(t.parts[0]);
    const Rate rotor_rate = t.parts.empty() ? std::nullopt : of(t.parts[1]);
    const Rate map = map_rate();
    switch (t.symbol) {
      case Symbol::P: {  // P⁺ = τ̄ P
        const Rate Z = plus(W(), times(adjoint(map), ~G));
        const Rate turned = times(adjoint(Z), taub * P);
        const Rate source = plus(times(G, times(rotor_rate, ~G)), minus(plus(turned, adjoint(turned))));
        return applied(plus(source_rate, times(E_phi, times(source, ~E_phi))),
                       [&](const Operator& x) { return gather(own(Symbol::E_psi), x); });
      }
      case Symbol::D: {
        const Rate seen = times(map, P * ~H);
        return plus(plus(times(H, times(of(P), ~H)), plus(seen, adjoint(seen))), rotor_rate);
      }
      case Symbol::G: {
        const Rate seen = plus(times(taub, times(of(P), ~H)), times(taub * P, adjoint(map)));
        return plus(times(plus(seen, minus(times(G, rotor_rate))), D_inverse), minus(times(G, times(map, G))));
      }
      case Symbol::K:
        return times(E_phi, plus(of(G), minus(times(adjoint(W()), G))));
      case Symbol::tau:
        return plus(times(of(G), H), times(G, map));
      case Symbol::taub:
        return minus(of(own(Symbol::tau)));
      case Symbol::E_psi:
        return times(E_phi, shift_rate(own(Symbol::E_psi)));
      case Symbol::psi:
      case Symbol::psit:
        return times(psi, times(of(own(Symbol::E_psi)), psi));
      case Symbol::Upsilon: {
        const Operator E_psi = own(Symbol::E_psi);
        return applied(plus(of(~H * D_inverse * H), carried_rate(E_psi, own(Symbol::Upsilon))),
                       [&](const Operator& x) { return spread(E_psi, x); });
      }
      default:  // Ω
        return of(~psi * ~H * D_inverse * H * psi);
    }
  }

  /// n of δE = E_φ n, for a step E.
  Rate shift_rate(const Operator& E) {
    const Term& t = E.term();
    if (t.symbol == Symbol::S) {
      return std::nullopt;
    }
    Rate turned = minus(adjoint(W()));
    if (t.symbol == Symbol::E_phi) {
      return turned;
    }
    return plus(times(turned, beside(t, Symbol::taub)), minus(of(beside(t, Symbol::tau))));
  }
  /// m of E = E_φ m, or nothing where it is E_φ.
  static Rate shift_factor(const Operator& E) {
    return E.term().symbol == Symbol::E_psi ? Rate(beside(E.term(), Symbol::taub)) : std::nullopt;
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Functions

  Rate of_product(const Term& t) {
    Rate out;
    for (std::size_t i = 0; i < t.parts.size(); ++i) {
      Rate part = of(t.parts[i]);
      if (!part) {
        continue;
      }
      for (std::size_t j = i; j-- > 0;) {
        part = times(t.parts[j], part);
      }
      for (std::size_t j = i + 1; j < t.parts.size(); ++j) {
        part = times(part, t.parts[j]);
      }
      out = plus(out, part);
    }
    return out;
  }

  Rate of_root(const Operator& x) {
    const Rate inner = of(x.term().parts[0]);
    if (inner && !x.range().part.empty()) {
      refuse(to_ascii(x), "it is the root of the block of one body", "take the block of the derivative of the root");
    }
    return applied(inner, [&](const Operator& rate) { return lyap(x, rate); });
  }

  Rate of_joint_rate(const Term& t) {
    Rate out = applied(u_, [&](const Operator& u) {
      std::vector<Operator> along = t.parts;
      along.push_back(u);
      return dH(along);
    });
    for (std::size_t i = 0; i < t.parts.size(); ++i) {
      out = plus(out, applied(of(t.parts[i]), [&](const Operator& rate) {
                   std::vector<Operator> along = t.parts;
                   along[i] = rate;
                   return dH(along);
                 }));
    }
    return out;
  }

  /// y = x + E y E*.
  Rate of_gather(const Operator& y) {
    const Operator& E = y.term().parts[0];
    const Operator& x = y.term().parts[1];
    const Rate moved = times(of(E), y * ~E);
    const Rate other = times(E * y, adjoint(of(E)));
    return applied(plus(of(x), plus(moved, other)), [&](const Operator& source) { return gather(E, source); });
  }

  /// y(k) = x(k) + E*(k,p) y(p) E(p,k).
  Rate of_spread(const Operator& y) {
    const Operator& E = y.term().parts[0];
    return applied(plus(of(y.term().parts[1]), carried_rate(E, y)),
                   [&](const Operator& source) { return spread(E, source); });
  }

  /// The block diagonal of δE* x E + E* x δE.
  Rate carried_rate(const Operator& E, const Operator& x) {
    const Rate n = shift_rate(E);
    if (!n) {
      return std::nullopt;
    }
    const Operator there = carry(Symbol::E_phi, x);
    const Rate m = shift_factor(E);
    const Operator right = m ? there * *m : there;
    const Operator left = m ? ~*m * there : there;
    return ~*n * right + left * *n;
  }

  Rate u_;
  Rate v_;
  bool in_time_;
  std::unordered_map<const Term*, Rate> known_;
  std::vector<Operator> kept_;  // whose terms are keys
};

}  // namespace

Operator differentiated(const Operator& x) {
  const Term& t = x.term();
  if (t.type != TermType::derivative && t.type != TermType::time_rate) {
    const bool has = any_in(x, [](const Operator& part) {
      return part.term().type == TermType::derivative || part.term().type == TermType::time_rate;
    });
    return has ? with_parts(x, differentiated) : x;
  }
  const Operator inner = differentiated(t.parts[0]);
  const bool in_time = t.type == TermType::time_rate;
  const Rate u = in_time ? Operator(Symbol::thetad) : differentiated(t.parts[1]);
  const Rate v = in_time ? Rate(Operator(Symbol::thetadd)) : std::nullopt;
  const Rate out = Differentiator(u, v, in_time).of(inner);
  std::unordered_map<const Term*, double> sizes;
  if (out && size_of(*out, sizes) > most_operands) {
    throw OperatorError(fmt::format("the derivative of '{}' is too large", detail::printable(to_ascii(t.parts[0]), 80)),
                        fmt::format("it has more than {} operands; differentiate fewer times", most_operands));
  }
  return out ? *out : Operator(0.0) * inner;
}

}  // namespace bunraku::operators
