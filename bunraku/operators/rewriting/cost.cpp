// What candidates cost: the one place where the search asks for a plan.

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/plan.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::operators {

namespace {

/// What needs the articulated inertias first, which a single application has to pay for.
bool needs_articulated(const Operator& x) {
  return any_in(
      x, [](const Operator& part) { return part.term().type == TermType::symbol && has_family(part.term().symbol); });
}

/// x with the standard family in place of others and R for what gathers: plans do not know them yet.
Operator as_planned(const Operator& x, double& extra) {
  const Term& t = x.term();
  constexpr double recursion_flops = 60;  // a guess
  if (t.type == TermType::gather || t.type == TermType::spread) {
    extra += recursion_flops;
    return {Symbol::R};
  }
  if (t.type == TermType::symbol) {
    extra += t.parts.empty() ? 0 : 1;
    return t.symbol;
  }
  return with_parts(x, [&](const Operator& part) { return as_planned(part, extra); });
}

/// Sweeps from a new state: inward ones are even, outward ones odd; poses are there after the first, what is
/// articulated from the second on.
int sweeps_from_state(const Plan& plan) {
  int stage = 1;
  for (const Loop& loop : plan.loops) {
    if (loop.direction != Direction::inward && loop.direction != Direction::outward) {
      continue;
    }
    bool articulated = false;
    for (const int i : loop.values) {
      const Value& value = plan.values[static_cast<std::size_t>(i)];
      articulated = articulated || value.step == Step::filter || value.step == Step::smoother ||
                    needs_articulated(value.factor.what);
    }
    const bool inward = loop.direction == Direction::inward;
    stage = std::max(stage + (stage > 1 ? 1 : 0), articulated ? (inward ? 2 : 3) : 1);
    stage += (stage % 2 == 0) == inward ? 0 : 1;
  }
  return stage;
}

}  // namespace

Cost cost_of(const Operator& x, Use use) {
  constexpr double articulated_flops = 30;  // a part of the Riccati recursion's, which serves many applications
  double flops = needs_articulated(x) ? articulated_flops : 0;
  const Operator planned = as_planned(x, flops);
  const std::string text = to_ascii(x);
  const Plan plan = make_plan(planned, false);
  for (int i = 0; i < static_cast<int>(plan.values.size()); ++i) {
    flops += work_of(plan, i, 1, 1).flops;
  }
  return {use == Use::new_state ? sweeps_from_state(plan) : plan.sweeps(), flops, text.size(), text};
}

}  // namespace bunraku::operators
