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

/// Builds the values of a plan, each distinct one once.
class Compiler {
 public:
  explicit Compiler(bool dense) : dense_(dense) {}

  Plan compile(const Operator& x) {
    plan_.expression = x;
    if (x.range().kind == SpaceKind::any) {
      throw OperatorError("the space of this identity is not known", "add it to, or multiply it by, something");
    }
    static_cast<void>(any_in(x, [](const Operator& part) {
      const Term& t = part.term();
      if (t.type == TermType::gather || t.type == TermType::spread ||
          (t.type == TermType::symbol && !t.parts.empty())) {
        throw OperatorError(fmt::format("'{}' cannot be evaluated yet", detail::printable(to_ascii(part), 200)));
      }
      return false;
    }));
    const Operator flat = expanded(x);
    plan_.symmetric = flat == expanded(~x);
    if (x.domain().kind == SpaceKind::number) {
      plan_.output = apply(flat, add({.step = Step::one, .space = {SpaceKind::number}}));
    } else {
      plan_.input = add({.step = Step::input, .space = x.domain()});
      plan_.output = apply(flat, plan_.input);
    }
    drop_unused();
    schedule();
    return std::move(plan_);
  }

 private:
  // -------------------------------------------------------------------------------------------------------------------
  // Values

  const Value& at(int i) const { return plan_.values[static_cast<std::size_t>(i)]; }

  int add(Value value) {
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      const Value& other = at(i);
      if (other.step == value.step && other.in == value.in && other.coefficients == value.coefficients &&
          other.space == value.space && other.factor.adjoint == value.factor.adjoint &&
          other.factor.what == value.factor.what) {
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

  // -------------------------------------------------------------------------------------------------------------------
  // Application

  int apply(const Operator& x, int value) {
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
        return add({.step = Step::apply_dense, .in = {value}, .factor = {x}, .space = t.range});
      case TermType::root:  // a block of one body is small
        return add({.step = t.range.part.empty() ? Step::apply_solved : Step::apply_dense,
                    .in = {value},
                    .factor = {x},
                    .space = t.range});
      case TermType::cross: {
        const int vector = apply(t.parts[0], one());
        return add({.step = Step::apply_cross, .in = {value, vector}, .space = t.range});
      }
      case TermType::gather:
      case TermType::spread:
        break;  // refused above
      case TermType::symbol:
      case TermType::variable:
      case TermType::unit:
        return apply_named(x, false, value);
    }
    return no_value;
  }

  int one() { return add({.step = Step::one, .space = {SpaceKind::number}}); }

  int apply_adjoint(const Operator& x, int value) {
    if (x.domain().kind == SpaceKind::number) {  // x*y: a number
      const int vector = apply(x, one());
      return add({.step = Step::dot, .in = {std::min(vector, value), std::max(vector, value)}, .space = x.domain()});
    }
    if (x.term().type == TermType::cross) {
      const int vector = apply(x.term().parts[0], one());
      return add({.step = Step::apply_cross, .in = {value, vector}, .factor = {.adjoint = true}, .space = x.domain()});
    }
    return apply_named(x, true, value);
  }

  int apply_block(const Term& t, int value) {
    if (t.domain.kind != SpaceKind::number) {
      value = add({.step = Step::inject, .in = {value}, .space = {t.domain.kind}});
    }
    return add({.step = Step::extract, .in = {apply(t.parts[0], value)}, .space = t.range});
  }

  int apply_inverse(const Operator& x, int value) {
    const Operator& inner = x.term().parts[0];
    if (is_symbol(inner, Symbol::D)) {  // known with D
      return add({.step = Step::apply, .in = {value}, .factor = {x}, .space = x.range()});
    }
    if (inner.kind() == Kind::memoryless && inner.range().part.empty()) {
      return add({.step = Step::apply_solved, .in = {value}, .factor = {x}, .space = x.range()});
    }
    if (dense_ || !inner.range().part.empty()) {  // a block of one body is small
      return add({.step = Step::apply_dense, .in = {value}, .factor = {x}, .space = x.range()});
    }
    throw OperatorError(fmt::format("no identity gives the inverse of '{}'", detail::printable(to_ascii(inner), 200)),
                        "dense_inv(x) forms it by a dense matrix, O(n³)");
  }

  int apply_named(const Operator& x, bool adjoint, int value) {
    const Term& t = x.term();
    if (t.domain.kind == SpaceKind::number) {
      const int vector = add({.step = Step::vector, .factor = {x}, .space = t.range});
      return at(value).step == Step::one ? vector
                                         : add({.step = Step::scale_by, .in = {vector, value}, .space = t.range});
    }
    const Space& out = adjoint ? t.domain : t.range;
    if (t.type == TermType::symbol) {
      switch (t.symbol) {
        case Symbol::phi:
          return add({.step = Step::propagate, .in = {value}, .factor = {x, adjoint}, .space = out});
        case Symbol::psi:
          return adjoint ? smoother(value) : filter(value);
        case Symbol::E_phi:
        case Symbol::S:
          return add({.step = Step::shift, .in = {value}, .factor = {x, adjoint}, .space = out});
        case Symbol::K:
          if (adjoint && at(value).step == Step::smoother) {  // K* s = d − r
            return complement(value, Step::residual);
          }
          return add({.step = Step::shift, .in = {value}, .factor = {x, adjoint}, .space = out});
        case Symbol::H:
          if (!adjoint && at(value).step == Step::filter) {  // H z = x − ε
            return complement(value, Step::innovation);
          }
          break;
        default:
          break;
      }
    }
    return add({.step = Step::apply, .in = {value}, .factor = {x, adjoint}, .space = out});
  }

  /// in[0] of a filter or smoother less its innovation or residual.
  int complement(int sweep, Step step) {
    const int own = at(sweep).in[0];
    const int rest = add({.step = step, .in = {sweep}, .space = {SpaceKind::hinge}});
    return own == no_value ? combine({{-1.0, rest}}, {SpaceKind::hinge})
                           : combine({{1.0, own}, {-1.0, rest}}, {SpaceKind::hinge});
  }

  /// Splits an operand into what passes through `through` (K or H*) and the rest: x = through · first + second.
  std::pair<int, int> split(int value, Symbol symbol, bool adjoint) {
    const auto passes = [&](int v) {
      return (at(v).step == Step::shift || at(v).step == Step::apply) && at(v).factor.adjoint == adjoint &&
             is_symbol(at(v).factor.what, symbol);
    };
    if (passes(value)) {
      return {at(value).in[0], no_value};
    }
    if (at(value).step != Step::combine) {
      return {no_value, value};
    }
    std::vector<std::pair<double, int>> through;
    std::vector<std::pair<double, int>> rest;
    const Value sum = at(value);
    for (std::size_t i = 0; i < sum.in.size(); ++i) {
      if (passes(sum.in[i])) {
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
  int filter(int value) {
    const auto [x, w] = split(value, Symbol::K, false);
    return add({.step = Step::filter, .in = {x, w}, .space = {SpaceKind::body}});
  }
  /// ψ*(H* d + w): likewise s = E_φ* s + H* (d − K* s) + w.
  int smoother(int value) {
    const auto [d, w] = split(value, Symbol::H, true);
    return add({.step = Step::smoother, .in = {d, w}, .space = {SpaceKind::body}});
  }

  // -------------------------------------------------------------------------------------------------------------------
  // Order

  void drop_unused() {
    std::vector<bool> used(plan_.values.size());
    used[static_cast<std::size_t>(plan_.output)] = true;
    for (std::size_t i = plan_.values.size(); i-- > 0;) {
      if (used[i]) {
        for (const int in : plan_.values[i].in) {
          if (in != no_value) {
            used[static_cast<std::size_t>(in)] = true;
          }
        }
      }
    }
    if (plan_.input != no_value) {
      used[static_cast<std::size_t>(plan_.input)] = true;
    }
    std::vector<int> renamed(plan_.values.size(), no_value);
    std::vector<Value> kept;
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      if (used[i]) {
        Value value = plan_.values[i];
        for (int& in : value.in) {
          in = in == no_value ? no_value : renamed[static_cast<std::size_t>(in)];
        }
        renamed[i] = static_cast<int>(kept.size());
        kept.push_back(std::move(value));
      }
    }
    plan_.values = std::move(kept);
    plan_.output = renamed[static_cast<std::size_t>(plan_.output)];
    plan_.input = plan_.input == no_value ? no_value : renamed[static_cast<std::size_t>(plan_.input)];
  }

  /// Fills loops one after another, each with all that can be done in it: whatever starts inward or outward and then
  /// alternates with the fewest loops.
  void schedule() {
    std::vector<Loop> best = alternating(Direction::inward);
    std::vector<Loop> other = alternating(Direction::outward);
    plan_.loops = other.size() < best.size() ? std::move(other) : std::move(best);
  }

  std::vector<Loop> alternating(Direction direction) const {
    std::vector<int> loop_of(plan_.values.size(), no_value);
    std::vector<Loop> loops;
    std::size_t left = plan_.values.size();
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      if (plan_.values[i].step == Step::input || plan_.values[i].step == Step::one) {
        loop_of[i] = -2;  // there from the start
        --left;
      }
    }
    bool flipped = false;
    while (left > 0) {
      Loop whole = next_whole(loop_of);
      if (!whole.values.empty()) {
        take(std::move(whole), loops, loop_of, left);
        continue;
      }
      Loop loop = next_loop(direction, loop_of);
      const bool carries =
          std::any_of(loop.values.begin(), loop.values.end(), [&](int v) { return direction_of(at(v)) == direction; });
      if (!carries && !flipped) {  // nothing to carry this way now
        direction = direction == Direction::inward ? Direction::outward : Direction::inward;
        flipped = true;
        continue;
      }
      if (!carries) {
        loop.direction = Direction::local;
      }
      take(std::move(loop), loops, loop_of, left);
      flipped = false;
      direction = direction == Direction::inward ? Direction::outward : Direction::inward;
    }
    return loops;
  }

  static void take(Loop loop, std::vector<Loop>& loops, std::vector<int>& loop_of, std::size_t& left) {
    for (const int v : loop.values) {
      loop_of[static_cast<std::size_t>(v)] = static_cast<int>(loops.size());
    }
    left -= loop.values.size();
    loops.push_back(std::move(loop));
  }

  Loop next_whole(const std::vector<int>& loop_of) const {
    Loop out{Direction::whole};
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      if (loop_of[static_cast<std::size_t>(i)] == no_value && direction_of(at(i)) == Direction::whole &&
          loop_of[static_cast<std::size_t>(at(i).in[0])] != no_value) {
        out.values.push_back(i);
      }
    }
    return out;
  }

  Loop next_loop(Direction direction, const std::vector<int>& loop_of) const {
    Loop out{direction};
    std::vector<bool> here(plan_.values.size());
    for (int i = 0; i < static_cast<int>(plan_.values.size()); ++i) {
      const auto done = [&](int in) {
        return in == no_value || loop_of[static_cast<std::size_t>(in)] != no_value ||
               (here[static_cast<std::size_t>(in)] && !is_late(at(in)));
      };
      const Direction needed = direction_of(at(i));
      if (loop_of[static_cast<std::size_t>(i)] == no_value && (needed == direction || needed == Direction::local) &&
          std::all_of(at(i).in.begin(), at(i).in.end(), done)) {
        out.values.push_back(i);
        here[static_cast<std::size_t>(i)] = true;
      }
    }
    return out;
  }

  bool dense_;
  Plan plan_;
};

}  // namespace

int Plan::sweeps() const {
  return static_cast<int>(std::count_if(loops.begin(), loops.end(), [](const Loop& loop) {
    return loop.direction == Direction::inward || loop.direction == Direction::outward;
  }));
}

Direction direction_of(const Value& value) {
  switch (value.step) {
    case Step::filter:
      return Direction::inward;
    case Step::smoother:
      return Direction::outward;
    case Step::shift:
    case Step::propagate:
      return value.factor.adjoint ? Direction::outward : Direction::inward;
    case Step::apply_dense:
      return Direction::whole;
    default:
      return Direction::local;
  }
}

bool is_late(const Value& value) {
  if (value.step == Step::input || value.step == Step::one) {
    return false;
  }
  return value.space.kind == SpaceKind::number || !value.space.part.empty();
}

Plan make_plan(const Operator& x, bool dense) {
  return Compiler(dense).compile(x);
}

}  // namespace bunraku::operators
