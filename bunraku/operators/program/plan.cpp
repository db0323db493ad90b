#include "bunraku/operators/program/detail/plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku::operators {

namespace {

bool is_symbol(const Operator& x, Symbol symbol) {
  return x.term().type == TermType::symbol && x.term().symbol == symbol;
}
bool is_standard(const Operator& x, Symbol symbol) {
  return is_symbol(x, symbol) && x.term().parts.empty();
}

/// Whether a space consists of the parts of bodies or nodes. Closure space is small, and taken as a whole.
bool has_blocks(const Space& space) {
  return space.part.empty() && space.kind != SpaceKind::number && space.kind != SpaceKind::closure;
}

/// θ̈ of given torques, already rewritten: by articulated bodies; where hinges are coupled, in a form that needs no P.
const char* forward_dynamics_text(bool coupled) {
  return coupled ? "~(I - H*psi*K)*inv(D)*(I - H*psi*K)*(T + T_p - H*phi*(M*~phi*a + b))"
                 : "(I - ~K*~psi*~H)*inv(D)*(T + T_p - H*psi*(K*(T + T_p) + P*a + b)) - ~K*~psi*a";
}

/// Builds the values of a plan, each distinct one once.
class Compiler {
 public:
  Compiler(const Meaning& meaning, Inverses inverses) : meaning_(meaning), inverses_(inverses) {}

  Plan compile(const Operator& x) {
    plan_.expression = x;
    if (x.range().kind == SpaceKind::any) {
      throw OperatorError("the space of this identity is not known", "add it to, or multiply it by, something");
    }
    const Operator flat = expanded(x);
    plan_.symmetric = flat == expanded(~x);
    if (x.domain().kind == SpaceKind::number) {
      plan_.output = apply(flat, one());
    } else {
      plan_.input = add({.step = Step::input, .space = x.domain()});
      plan_.output = apply(flat, plan_.input);
    }
    put_in_order(plan_);
    plan_.mergeable = is_mergeable(plan_);
    return std::move(plan_);
  }

 private:
  // -------------------------------------------------------------------------------------------------------------------
  // Values

  const Value& at(int i) const { return plan_.values[static_cast<std::size_t>(i)]; }

  int add(Value value) {
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      const Value& other = at(i);
      if (other.step == value.step && other.part == value.part && other.adjoint == value.adjoint &&
          other.in == value.in && other.uses == value.uses && other.coefficients == value.coefficients &&
          other.space == value.space && other.domain == value.domain && value.step != Step::probe &&
          other.what == value.what) {
        return i;
      }
    }
    plan_.values.push_back(std::move(value));
    return static_cast<int>(plan_.values.size()) - 1;
  }

  /// Σ c x, with sums of sums taken together and what cancels left out.
  int combine(const std::vector<std::pair<double, int>>& terms, const Space& space) {
    std::vector<std::pair<int, double>> sum;
    std::map<int, std::size_t> place;
    const auto put = [&](int value, double c) {
      const auto [found, is_new] = place.emplace(value, sum.size());
      if (is_new || !std::isfinite(sum[found->second].second + c)) {
        sum.emplace_back(value, c);
      } else {
        sum[found->second].second += c;
      }
    };
    const auto multiplies_out = [&](double c, const Value& value) {  // and does not overflow or vanish
      return value.step == Step::combine && std::all_of(value.coefficients.begin(), value.coefficients.end(),
                                                        [&](double other) { return std::isnormal(c * other); });
    };
    for (const auto& [c, value] : terms) {
      if (multiplies_out(c, at(value))) {
        for (std::size_t i = 0; i < at(value).in.size(); ++i) {
          put(at(value).in[i], c * at(value).coefficients[i]);
        }
      } else {
        put(value, c);
      }
    }
    Value out{.step = Step::combine, .space = space};
    for (const auto& [value, c] : sum) {
      if (c != 0) {
        out.in.push_back(value);
        out.coefficients.push_back(c);
      }
    }
    if (out.in.size() == 1 && out.coefficients[0] == 1) {
      return out.in[0];
    }
    return add(std::move(out));
  }

  int one() { return add({.step = Step::one, .space = {SpaceKind::number}}); }
  int joints() { return add({.step = Step::joints, .space = {SpaceKind::body}, .domain = {SpaceKind::body}}); }
  int closures() {
    return add({.step = Step::closures, .uses = {joints()}, .space = {SpaceKind::body}, .domain = {SpaceKind::body}});
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Blocks and matrices

  /// The blocks of a memoryless expression.
  int blocks(const Operator& x) {
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      if (at(i).step == Step::blocks && at(i).what == x) {
        return i;
      }
    }
    const int probe = add({.step = Step::probe, .space = x.domain()});
    const int result = apply(expanded(x), probe);
    return add({.step = Step::blocks, .in = {probe, result}, .what = x, .space = x.range(), .domain = x.domain()});
  }

  /// The inverse or root of the matrix of an expression.
  int dense(const Operator& x, const Operator& of, Step step) {
    const int probe = add({.step = Step::probe, .space = of.domain()});
    const int result = apply(of, probe);
    return add({.step = step, .in = {probe, result}, .what = x, .space = x.range(), .domain = x.domain()});
  }

  /// The inverse of a closure-space operator: from columns where it is a square, else from its matrix.
  int small_solve(const Operator& x) {
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      if (at(i).step == Step::solve && at(i).what == x) {
        return i;
      }
    }
    const Operator& of = x.term().parts[0];
    Value out{.step = Step::solve, .what = x, .space = x.range(), .domain = x.domain()};
    const std::optional<Columns> found = columns_of(of);
    if (!found) {
      const int probe = add({.step = Step::probe, .space = of.domain()});
      out.in = {probe, apply(of, probe)};
      return add(std::move(out));
    }
    const auto of_columns = [&](Step step, const Operator& columns) {
      kept_.push_back(columns);
      const int probe = add({.step = Step::probe, .space = columns.domain()});
      const int result = apply(columns, probe);
      return add({.step = step,
                  .in = {probe, result},
                  .uses = {family(found->D)},
                  .what = columns,
                  .space = columns.range(),
                  .domain = columns.domain()});
    };
    const Operator H(Symbol::H);
    const Operator psi = with_family(Symbol::psi, found->D);
    const Operator W = in_space(Operator::identity(), {SpaceKind::hinge}) - H * psi * with_family(Symbol::K, found->D);
    const auto names = [&](Symbol symbol) {
      return any_in(found->e, [&](const Operator& part) { return is_symbol(part, symbol); });
    };
    const int e = of_columns(Step::columns, found->e);
    const int nodes = names(Symbol::A) ? of_columns(Step::norms, H * psi * Operator(Symbol::B)) : no_value;
    const int hinges = names(Symbol::A_h) ? of_columns(Step::norms, W) : no_value;
    out.uses = {family(found->D), e, nodes, hinges};
    return add(std::move(out));
  }

  /// P, D and G of the family that a symbol belongs to.
  int family(const Operator& symbol) {
    Value out{.step = Step::riccati,
              .uses = {joints(), no_value, no_value},
              .what = Operator(Symbol::P),
              .space = {SpaceKind::body},
              .domain = {SpaceKind::body}};
    const std::vector<Operator>& pair = symbol.term().parts;
    if (pair.empty()) {
      out.part = Part::armature;
      return add(std::move(out));
    }
    out.what = symbol;
    if (!is_standard(pair[0], Symbol::M)) {
      out.uses[1] = blocks(pair[0]);
    }
    if (is_standard(pair[1], Symbol::armature)) {
      out.part = Part::armature;
    } else if (!is_zero(pair[1])) {
      out.part = Part::blocks;
      out.uses[2] = blocks(pair[1]);
    }
    // another symbol of the same family needs no other recursion
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      if (at(i).step == Step::riccati && at(i).uses == out.uses && at(i).part == out.part) {
        return i;
      }
    }
    return add(std::move(out));
  }

  /// gather(E, x) or spread(E, x).
  int collected(const Term& t) {
    const Operator& E = t.parts[0];
    const bool inward = t.type == TermType::gather;
    const bool once = t.type == TermType::carry;
    Value out{.step = inward ? Step::gather
                      : once ? Step::carry
                             : Step::spread,
              .uses = {joints(), blocks(t.parts[1]), no_value},
              .what = inward ? gather(E, t.parts[1])
                      : once ? carry(E, t.parts[1])
                             : spread(E, t.parts[1]),
              .space = t.range,
              .domain = t.domain};
    if (is_symbol(E, Symbol::E_phi)) {
      out.part = Part::E_phi;
    } else if (is_symbol(E, Symbol::S)) {
      out.part = Part::S;
    } else if (is_symbol(E, Symbol::E_psi)) {
      out.part = Part::E_psi;
      out.uses[2] = family(E);
    } else {
      throw OperatorError(fmt::format("'{}' is not one step from body to body", to_ascii(E)),
                          "gather and spread take E_phi, E_psi or S");
    }
    return add(std::move(out));
  }

  /// The derivative of H along vectors.
  int joint_rate(const Operator& x) {
    Value out{.step = Step::joint_rate, .uses = {joints()}, .what = x, .space = x.range(), .domain = x.domain()};
    for (const Operator& each : x.term().parts) {
      out.in.push_back(apply(each, one()));
    }
    return add(std::move(out));
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Application

  int apply(const Operator& x, int value) {
    const auto key = std::pair(&x.term(), value);
    if (const auto found = applied_.find(key); found != applied_.end()) {
      return found->second;
    }
    const int out = apply_anew(x, value);
    kept_.push_back(x);
    applied_.emplace(key, out);
    return out;
  }

  int apply_anew(const Operator& x, int value) {
    const Term& t = x.term();
    switch (t.type) {
      case TermType::identity:
        return value;
      case TermType::number:
        return combine({{t.number, value}}, t.range);
      case TermType::scale:
        return combine({{t.number, apply(t.parts[0], value)}}, t.range);
      case TermType::sum: {
        std::vector<std::pair<double, int>> terms;
        terms.reserve(t.parts.size());
        for (const Operator& part : t.parts) {
          terms.emplace_back(1.0, apply(part, value));
        }
        return combine(terms, t.range);
      }
      case TermType::product: {
        for (std::size_t i = t.parts.size(); i-- > 0;) {
          value = apply(t.parts[i], value);
        }
        return value;
      }
      case TermType::adjoint:
        return apply_adjoint(t.parts[0], value);
      case TermType::block:
        return apply_block(t, value);
      case TermType::inverse:
        return apply_inverse(x, value);
      case TermType::dense_inverse:
        return apply_matrix(dense(x, t.parts[0], Step::dense_inverse), t.range, value);
      case TermType::root:  // a block of one body is small
        return has_blocks(t.range) ? apply_blocks(add({.step = Step::block_root,
                                                       .uses = {blocks(t.parts[0])},
                                                       .what = x,
                                                       .space = t.range,
                                                       .domain = t.domain}),
                                                  x, false, value)
                                   : apply_matrix(dense(x, t.parts[0], Step::dense_root), t.range, value);
      case TermType::cross: {
        const int vector = apply(t.parts[0], one());
        return add({.step = Step::apply_cross, .in = {value, vector}, .space = t.range});
      }
      case TermType::force_cross: {
        const int vector = apply(t.parts[0], one());
        return add({.step = Step::apply_force_cross, .in = {value, vector}, .space = t.range});
      }
      case TermType::joint_rate:
        return apply_blocks(joint_rate(x), x, false, value);
      case TermType::gather:
      case TermType::spread:
      case TermType::carry:
        return apply_blocks(collected(t), x, false, value);
      case TermType::lyapunov:
        return apply_blocks(add({.step = Step::block_lyapunov,
                                 .uses = {blocks(t.parts[0]), blocks(t.parts[1])},
                                 .what = x,
                                 .space = t.range,
                                 .domain = t.domain}),
                            x, false, value);
      case TermType::derivative:
      case TermType::time_rate: {
        const Operator made = expanded(x);
        kept_.push_back(made);
        return apply(made, value);
      }
      case TermType::symbol:
      case TermType::variable:
      case TermType::unit:
        return apply_named(x, false, value);
    }
    return no_value;
  }

  int apply_blocks(int blocks_value, const Operator& x, bool adjoint, int value) {
    return add({.step = Step::apply,
                .part = Part::blocks,
                .adjoint = adjoint,
                .in = {value},
                .uses = {blocks_value},
                .what = x,
                .space = adjoint ? x.domain() : x.range()});
  }
  int apply_matrix(int matrix, const Space& space, int value) {
    return add({.step = Step::apply_dense, .in = {value}, .uses = {matrix}, .what = at(matrix).what, .space = space});
  }

  int apply_adjoint(const Operator& x, int value) {
    if (x.domain().kind == SpaceKind::number) {  // x*y: a number
      const int vector = apply(x, one());
      return add({.step = Step::dot, .in = {std::min(vector, value), std::max(vector, value)}, .space = x.domain()});
    }
    if (x.term().type == TermType::cross) {
      const int vector = apply(x.term().parts[0], one());
      return add({.step = Step::apply_cross, .adjoint = true, .in = {value, vector}, .space = x.domain()});
    }
    if (x.term().type == TermType::gather || x.term().type == TermType::spread || x.term().type == TermType::carry) {
      return apply_blocks(collected(x.term()), x, true, value);
    }
    if (x.term().type == TermType::joint_rate) {
      return apply_blocks(joint_rate(x), x, true, value);
    }
    return apply_named(x, true, value);
  }

  int apply_block(const Term& t, int value) {
    if (t.domain.kind != SpaceKind::number) {
      value = add({.step = Step::inject, .in = {value}, .space = {t.domain.kind}, .domain = t.domain});
    }
    const int whole = apply(t.parts[0], value);
    return add({.step = Step::extract, .in = {whole}, .space = t.range, .domain = at(whole).space});
  }

  int apply_inverse(const Operator& x, int value) {
    const Operator& inner = x.term().parts[0];
    if (is_symbol(inner, Symbol::D)) {  // known with D
      return add({.step = Step::apply,
                  .part = Part::inverse_D,
                  .in = {value},
                  .uses = {family(inner)},
                  .what = x,
                  .space = x.range()});
    }
    if (inner.range() == Space{SpaceKind::closure}) {
      return apply_matrix(small_solve(x), x.range(), value);
    }
    if (inner.kind() == Kind::memoryless && has_blocks(inner.range())) {
      return apply_blocks(add({.step = Step::block_inverse,
                               .uses = {blocks(inner)},
                               .what = x,
                               .space = x.range(),
                               .domain = x.domain()}),
                          x, false, value);
    }
    if (inverses_ == Inverses::dense || !has_blocks(inner.range())) {  // a number or a block of one body is small
      return apply_matrix(dense(x, inner, Step::dense_inverse), x.range(), value);
    }
    throw OperatorError(
        fmt::format("no identity gives the inverse of '{}'", bunraku::detail::printable(to_ascii(inner), 200)),
        "dense_inv(x) forms it by a dense matrix, O(n³)");
  }

  int apply_named(const Operator& x, bool adjoint, int value) {
    const Term& t = x.term();
    if (t.domain.kind == SpaceKind::number) {
      const int vector = stacked(x);
      return at(value).step == Step::one ? vector
                                         : add({.step = Step::scale_by, .in = {vector, value}, .space = t.range});
    }
    Value out{.adjoint = adjoint, .in = {value}, .what = x, .space = adjoint ? t.domain : t.range};
    const auto made = [&](Step step, Part part, std::vector<int> uses) {
      out.step = step;
      out.part = part;
      out.uses = std::move(uses);
      return add(std::move(out));
    };
    if (t.type == TermType::variable) {
      return made(Step::apply, Part::variable, {});
    }
    switch (t.symbol) {
      case Symbol::phi:
        return made(Step::propagate, Part::E_phi, {joints()});
      case Symbol::psi:
        return adjoint ? smoother(x, value) : filter(x, value);
      case Symbol::E_phi:
        return made(Step::shift, Part::E_phi, {joints()});
      case Symbol::S:
        return made(Step::shift, Part::S, {});
      case Symbol::K: {
        const int of = family(x);
        if (adjoint && at(value).step == Step::smoother && at(value).uses[0] == of) {  // K* s = d − r
          return complement(value, Step::residual);
        }
        return made(Step::shift, Part::K, {of});
      }
      case Symbol::H:
        if (!adjoint && at(value).step == Step::filter) {  // H z = x − ε
          return complement(value, Step::innovation);
        }
        return made(Step::apply, Part::H, {joints()});
      case Symbol::M:
        return made(Step::apply, Part::M, {});
      case Symbol::B:
        return made(Step::apply, Part::B, {});
      case Symbol::A:
        return made(Step::apply, Part::A, {closures()});
      case Symbol::A_h:
        return made(Step::apply, Part::A_h, {closures()});
      case Symbol::Delta_phi:
        return made(Step::apply, Part::Delta_phi, {joints()});
      case Symbol::armature:
        return made(Step::apply, Part::armature, {});
      case Symbol::stiffness:
        return made(Step::apply, Part::stiffness, {});
      case Symbol::ang:
        return made(Step::apply, Part::ang, {});
      case Symbol::P:
        return made(Step::apply, Part::P, {family(x)});
      case Symbol::D:
        return made(Step::apply, Part::D, {family(x)});
      case Symbol::G:
        return made(Step::apply, Part::G, {family(x)});
      case Symbol::R:
        return apply_blocks(collected_symbol(x, Step::gather, Part::E_phi, Operator(Symbol::M), no_value), x, adjoint,
                            value);
      case Symbol::Upsilon: {
        const Operator H(Symbol::H);
        const Operator D = with_family(Symbol::D, x);
        return apply_blocks(collected_symbol(x, Step::spread, Part::E_psi, ~H * inv(D) * H, family(x)), x, adjoint,
                            value);
      }
      case Symbol::phit:
      case Symbol::psit:
      case Symbol::tau:
      case Symbol::taub:
      case Symbol::E_psi:
      case Symbol::M_C:
      case Symbol::Omega: {  // others define them
        const Operator defined = expanded(adjoint ? ~x : x);
        kept_.push_back(defined);
        return apply(defined, value);
      }
      case Symbol::V:
      case Symbol::alpha:
      case Symbol::a:
      case Symbol::b:
      case Symbol::f:
      case Symbol::T:
      case Symbol::thetad:
      case Symbol::thetadd:
      case Symbol::T_p:
      case Symbol::a_g:
      case Symbol::U:
      case Symbol::a_n:
        break;  // stacked vectors, above
    }
    return no_value;
  }

  /// A symbol of the same family as another.
  static Operator with_family(Symbol symbol, const Operator& other) {
    const std::vector<Operator>& pair = other.term().parts;
    return pair.empty() ? Operator(symbol) : Operator::of_family(symbol, pair[0], pair[1]);
  }

  int collected_symbol(const Operator& x, Step step, Part part, const Operator& of, int through) {
    return add({.step = step,
                .part = part,
                .uses = {joints(), blocks(of), through},
                .what = x,
                .space = {SpaceKind::body},
                .domain = {SpaceKind::body}});
  }

  /// A stacked vector: what defines it, as a value with its name.
  int stacked(const Operator& x) {
    const Term& t = x.term();
    if (t.type != TermType::symbol) {
      return add({.step = Step::constants, .what = x, .space = t.range});
    }
    switch (t.symbol) {
      case Symbol::V:
        return named(x, "~phi*~H*thetad");
      case Symbol::alpha:
        return named(x, "~phi*(~H*thetadd + a)");
      case Symbol::f:
        return named(x, "phi*(M*alpha + b)");
      case Symbol::a:
        return add({.step = Step::bias,
                    .in = {stacked(Operator(Symbol::V)), stacked(Operator(Symbol::thetad))},
                    .uses = {joints()},
                    .what = x,
                    .space = t.range});
      case Symbol::a_g:
        return add({.step = Step::gravity, .uses = {joints()}, .what = x, .space = t.range});
      case Symbol::b:
        return add({.step = Step::gyroscopic, .in = {stacked(Operator(Symbol::V))}, .what = x, .space = t.range});
      case Symbol::a_n:
        return add({.step = Step::node_bias, .in = {stacked(Operator(Symbol::V))}, .what = x, .space = t.range});
      case Symbol::U:
        return asked(x);
      case Symbol::T_p:
        return add({.step = Step::passive, .what = x, .space = t.range});
      case Symbol::T:
        if (meaning_.accelerations) {
          return named(x, "H*f + armature*thetadd - T_p");
        }
        break;
      case Symbol::thetadd:
        if (meaning_.torques) {
          return named(x, forward_dynamics_text(meaning_.coupled));
        }
        break;
      default:
        break;
    }
    return add({.step = Step::given, .what = x, .space = t.range});
  }

  /// U: what closures ask of their nodes, less what these do without θ̈.
  int asked(const Operator& x) {
    const auto found = stacked_.find(x.term().symbol);
    if (found != stacked_.end()) {
      return found->second;
    }
    const Operator still = expanded(parse("A*(~B*~phi*a + a_n)"));
    kept_.push_back(still);
    const int rate = add({.step = Step::rates,
                          .in = {stacked(Operator(Symbol::V)), stacked(Operator(Symbol::thetad))},
                          .uses = {joints()},
                          .space = x.range()});
    const int value = combine({{1.0, rate}, {-1.0, apply(still, one())}}, x.range());
    plan_.values[static_cast<std::size_t>(value)].what = x;
    stacked_.emplace(x.term().symbol, value);
    return value;
  }

  int named(const Operator& x, const char* text) {
    const auto found = stacked_.find(x.term().symbol);
    if (found != stacked_.end()) {
      return found->second;
    }
    const Operator definition = expanded(parse(text));
    kept_.push_back(definition);
    const int value = apply(definition, one());
    Value& made = plan_.values[static_cast<std::size_t>(value)];
    if (made.step == Step::propagate || made.step == Step::combine) {
      made.what = x;  // its name in the text
    }
    stacked_.emplace(x.term().symbol, value);
    return value;
  }

  /// in[0] of a filter or smoother less its innovation or residual.
  int complement(int sweep, Step step) {
    int own = at(sweep).in[0];
    if (at(sweep).part == Part::inverse_D) {
      const Operator D = with_family(Symbol::D, at(at(sweep).uses[0]).what);
      own = add({.step = Step::apply,
                 .part = Part::inverse_D,
                 .in = {own},
                 .uses = {at(sweep).uses[0]},
                 .what = inv(D),
                 .space = {SpaceKind::hinge}});
    }
    const int rest = add({.step = step, .in = {sweep}, .space = {SpaceKind::hinge}});
    return own == no_value ? combine({{-1.0, rest}}, {SpaceKind::hinge})
                           : combine({{1.0, own}, {-1.0, rest}}, {SpaceKind::hinge});
  }

  /// Splits an operand into what passes through K of a family, or H*, and the rest: x = through · first + second.
  template <class Passes>
  std::pair<int, int> split(int value, const Passes& passes) {
    if (passes(at(value))) {
      return {at(value).in[0], no_value};
    }
    if (at(value).step != Step::combine) {
      return {no_value, value};
    }
    std::vector<std::pair<double, int>> through;
    std::vector<std::pair<double, int>> rest;
    const Value sum = at(value);
    for (std::size_t i = 0; i < sum.in.size(); ++i) {
      if (passes(at(sum.in[i]))) {
        through.emplace_back(sum.coefficients[i], at(sum.in[i]).in[0]);
      } else {
        rest.emplace_back(sum.coefficients[i], sum.in[i]);
      }
    }
    if (through.empty()) {
      return {no_value, value};
    }
    const int first = combine(through, {SpaceKind::hinge});
    return {first, rest.empty() ? no_value : combine(rest, sum.space)};
  }

  /// ψ(K x + w): with E_ψ = E_φ − K H the recursion z = E_φ z + K (x − H z) + w needs each gain once.
  int filter(const Operator& psi, int value) {
    const int of = family(psi);
    const auto [x, w] = split(value, [of](const Value& v) {
      return v.step == Step::shift && v.part == Part::K && !v.adjoint && v.uses[0] == of;
    });
    return add({.step = Step::filter, .in = {x, w}, .uses = {of}, .space = {SpaceKind::body}});
  }
  /// ψ*(H* d + w): likewise s = E_φ* s + H* (d − K* s) + w.
  int smoother(const Operator& psi, int value) {
    const int of = family(psi);
    const auto [d, w] =
        split(value, [](const Value& v) { return v.step == Step::apply && v.part == Part::H && v.adjoint; });
    if (d != no_value && at(d).step == Step::apply && at(d).part == Part::inverse_D && at(d).uses[0] == of) {
      // D⁻¹x − G*λ = D⁻¹(x − U*λ): in one
      return add({.step = Step::smoother,
                  .part = Part::inverse_D,
                  .in = {at(d).in[0], w},
                  .uses = {of},
                  .space = {SpaceKind::body}});
    }
    return add({.step = Step::smoother, .in = {d, w}, .uses = {of}, .space = {SpaceKind::body}});
  }

  Meaning meaning_;
  Inverses inverses_;
  Plan plan_;
  std::map<std::pair<const Term*, int>, int> applied_;
  std::vector<Operator> kept_;  // whose terms are keys above
  std::map<Symbol, int> stacked_;
};

}  // namespace

Plan make_plan(const Operator& x, const Meaning& meaning, Inverses inverses) {
  return Compiler(meaning, inverses).compile(x);
}

}  // namespace bunraku::operators
