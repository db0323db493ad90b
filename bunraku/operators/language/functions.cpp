// Functions of operators: inverses, roots, cross products, recursions over blocks, derivatives.

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/derivatives.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/operator.hpp"

namespace bunraku {

using operators::described;

namespace {

void require_square(const Operator& x, std::string_view function) {
  if (!(x.range() == x.domain())) {
    throw OperatorError(fmt::format("{} of {} does not exist", function, described(x)),
                        "only what maps a space to itself has one");
  }
}

}  // namespace

Operator inv(const Operator& x) {
  require_square(x, "the inverse");
  switch (x.term().type) {
    case TermType::identity:
      return x;
    case TermType::inverse:
      return x.term().parts[0];
    case TermType::number:
    case TermType::scale:
      if (x.term().number == 0) {
        throw OperatorError("the inverse of zero does not exist");
      }
      return x.term().type == TermType::number ? Operator(1 / x.term().number)
                                               : Operator(1 / x.term().number) * inv(x.term().parts[0]);
    default:
      return Operator(
          Term{.type = TermType::inverse, .parts = {x}, .range = x.range(), .domain = x.domain(), .kind = x.kind()});
  }
}

Operator dense_inv(const Operator& x) {
  require_square(x, "the inverse");
  return Operator(
      Term{.type = TermType::dense_inverse, .parts = {x}, .range = x.range(), .domain = x.domain(), .kind = x.kind()});
}

Operator sqrt(const Operator& x) {
  require_square(x, "the square root");
  if (x.kind() != Kind::memoryless) {
    throw OperatorError(
        fmt::format("the square root of {}, which is {}, is not formed", described(x), to_string(x.kind())),
        "only a memoryless operator, such as D, has one here");
  }
  if (x.term().type == TermType::identity) {
    return x;
  }
  return Operator(Term{.type = TermType::root, .parts = {x}, .range = x.range(), .domain = x.domain()});
}

Operator cross(const Operator& x) {
  if (x.range() != Space{SpaceKind::body} || x.domain().kind != SpaceKind::number) {
    throw OperatorError(fmt::format("the cross product of {} is not defined", described(x)),
                        "it takes a stacked vector of body space, such as V");
  }
  return Operator(Term{.type = TermType::cross, .parts = {x}, .range = x.range(), .domain = x.range()});
}

namespace {

/// A recursion over the blocks of a memoryless x: its operands, checked.
Term recursion(TermType type, const Operator& E, const Operator& x) {
  const std::string_view name = type == TermType::gather ? "gather" : type == TermType::spread ? "spread" : "carry";
  const bool step =
      E.term().type == TermType::symbol &&
      (E.term().symbol == Symbol::E_phi || E.term().symbol == Symbol::E_psi || E.term().symbol == Symbol::S);
  if (!step) {
    throw OperatorError(fmt::format("{} along {} is not defined", name, described(E)),
                        "its first operand is one step from body to body: E_phi, E_psi or S");
  }
  const Space body{SpaceKind::body};
  const Operator inner = in_space(x, body);
  if (inner.range() != body || inner.domain() != body || !operators::is_block_diagonal(inner)) {
    throw OperatorError(fmt::format("{} of {} is not defined", name, described(inner)),
                        "its second operand is memoryless, from body space to body space");
  }
  return {.type = type, .parts = {E, inner}, .range = body, .domain = body};
}

}  // namespace

Operator gather(const Operator& E, const Operator& x) {
  return Operator(recursion(TermType::gather, E, x));
}

Operator spread(const Operator& E, const Operator& x) {
  return Operator(recursion(TermType::spread, E, x));
}

Operator carry(const Operator& E, const Operator& x) {
  return Operator(recursion(TermType::carry, E, x));
}

Operator lyap(const Operator& r, const Operator& x) {
  require_square(r, "lyap");
  const Operator inner = in_space(x, r.range());
  if (inner.range() != r.range() || inner.domain() != r.range() || r.kind() != Kind::memoryless ||
      inner.kind() != Kind::memoryless || !r.range().part.empty() || r.range().kind == SpaceKind::number ||
      r.range().kind == SpaceKind::any) {
    throw OperatorError(fmt::format("lyap of {} and {} is not defined", described(r), described(inner)),
                        "both operands are memoryless, of one space: lyap(sqrt(D), x)");
  }
  return Operator(Term{.type = TermType::lyapunov, .parts = {r, inner}, .range = r.range(), .domain = r.range()});
}

Operator Q(const Operator& f) {
  if (f.range() != Space{SpaceKind::body} || f.domain().kind != SpaceKind::number) {
    throw OperatorError(fmt::format("Q of {} is not defined", described(f)),
                        "it takes a stacked vector of body space, such as f");
  }
  return Operator(Term{.type = TermType::force_cross, .parts = {f}, .range = f.range(), .domain = f.range()});
}

namespace {

bool is_hinge_vector(const Operator& x) {
  return x.range() == Space{SpaceKind::hinge} && x.domain().kind == SpaceKind::number;
}

}  // namespace

Operator dH(const std::vector<Operator>& along) {
  for (const Operator& each : along) {
    if (!is_hinge_vector(each)) {
      throw OperatorError(fmt::format("dH along {} is not defined", described(each)),
                          "it takes stacked vectors of hinge space, such as thetad");
    }
  }
  if (along.empty()) {
    throw OperatorError("dH takes at least one stacked vector of hinge space", "for example dH(thetad)");
  }
  return Operator(
      Term{.type = TermType::joint_rate, .parts = along, .range = {SpaceKind::hinge}, .domain = {SpaceKind::body}});
}

namespace {

void require_space(const Operator& x) {
  if (x.range().kind == SpaceKind::any) {
    throw OperatorError("the space of this identity is not known", "add it to, or multiply it by, something");
  }
}

}  // namespace

Operator diff(const Operator& x, const Operator& u) {
  require_space(x);
  if (u.term().type == TermType::number && u.term().number >= 0 && u.term().number == std::floor(u.term().number) &&
      u.term().number < std::numeric_limits<int>::max()) {
    return diff(x, static_cast<int>(u.term().number));
  }
  if (!is_hinge_vector(u)) {
    throw OperatorError(fmt::format("the derivative along {} is not defined", described(u)),
                        "diff takes the index of a hinge velocity or a stacked vector of hinge space: diff(phi, 0), "
                        "diff(phi, thetad)");
  }
  const Operator out(
      Term{.type = TermType::derivative, .parts = {x, u}, .range = x.range(), .domain = x.domain(), .kind = x.kind()});
  static_cast<void>(operators::differentiated(out));  // whether there are rules
  return out;
}

Operator diff(const Operator& x, int i) {
  return diff(x, Operator::unit(i));
}

Operator dt(const Operator& x) {
  require_space(x);
  const Operator out(
      Term{.type = TermType::time_rate, .parts = {x}, .range = x.range(), .domain = x.domain(), .kind = x.kind()});
  static_cast<void>(operators::differentiated(out));
  return out;
}

}  // namespace bunraku
