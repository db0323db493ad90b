#include "bunraku/operators/rewriting/simplify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/plan.hpp"
#include "bunraku/operators/rewriting/detail/egraph.hpp"
#include "bunraku/operators/rewriting/detail/extraction.hpp"

namespace bunraku {

namespace {

using operators::EGraph;

/// What an expression costs: sweeps, then operations at a body with one velocity and one node, then its length.
using Cost = std::tuple<int, double, std::size_t, std::string>;

/// Quantities that need the articulated inertias first, which a single application has to pay for.
bool needs_articulated(const Operator& x) {
  return operators::any_in(x, [](const Operator& part) {
    if (part.term().type != TermType::symbol) {
      return false;
    }
    switch (part.term().symbol) {
      case Symbol::P:
      case Symbol::D:
      case Symbol::G:
      case Symbol::K:
      case Symbol::tau:
      case Symbol::taub:
      case Symbol::E_psi:
      case Symbol::psi:
      case Symbol::psit:
      case Symbol::Upsilon:
      case Symbol::Omega:
        return true;
      default:
        return false;
    }
  });
}

Cost cost_of(const Operator& x) {
  constexpr double articulated_flops = 30;  // a part of the Riccati recursion's, which serves many applications
  const operators::Plan plan = operators::make_plan(x, false);
  double flops = needs_articulated(x) ? articulated_flops : 0;
  for (int i = 0; i < static_cast<int>(plan.values.size()); ++i) {
    flops += operators::work_of(plan, i, 1, 1).flops;
  }
  const std::string text = to_ascii(x);
  return {plan.sweeps(), flops, text.size(), text};
}

std::span<const Identity> table_of(const Search& search) {
  return search.identities.value_or(identities());
}

/// The arguments of functions, which the e-graph takes for leaves, simplified on their own.
Operator simplified_inside(const Operator& x, const Search& search) {
  switch (x.term().type) {
    case TermType::root:
      return x;
    case TermType::dense_inverse:
    case TermType::cross:
    case TermType::block:
      return operators::with_parts(x, [&](const Operator& part) { return simplify(part, search); });
    default:
      return operators::with_parts(x, [&](const Operator& part) { return simplified_inside(part, search); });
  }
}

/// Whether the identities give the inverse of x.
bool has_inverse(const Operator& x, const Search& search) {
  EGraph graph(table_of(search), search.conditions);
  const int id = graph.add(operators::pushed(inv(x)));
  graph.saturate(search.max_nodes);
  return !operators::cheapest(graph, id, operators::Sharing::ignored).empty();
}

/// The innermost part whose inverse is asked for and not given, or nothing.
const Operator* unsolved_inverse(const Operator& x, const Search& search) {
  for (const Operator& part : x.term().parts) {
    if (const Operator* inner = unsolved_inverse(part, search)) {
      return inner;
    }
  }
  return x.term().type == TermType::inverse && !has_inverse(x.term().parts[0], search) ? &x.term().parts[0] : nullptr;
}

[[noreturn]] void refuse(const Operator& x, const Search& search) {
  const Operator* inner = unsolved_inverse(x, search);
  const std::string what = to_ascii(inner != nullptr ? *inner : x);
  const std::string shown = detail::printable(what, 200);
  std::string cure = "dense_inv(x) forms it by a dense matrix, O(n³)";
  Search without = search;
  without.conditions.armature = false;
  if (inner != nullptr && search.conditions.armature && has_inverse(*inner, without)) {
    cure = fmt::format("this model has armature: write inv({} + armature), or {}", shown, cure);
  }
  throw OperatorError(fmt::format("no identity gives the inverse of '{}'", shown), cure, what);
}

/// No more e-graphs than this are made one after another.
constexpr int max_starts = 8;

struct Found {
  Operator start;
  Operator result;
  std::vector<EGraph::ProofStep> proof;
};

/// One e-graph from `start`: its best term, and how it follows. Nothing where an inverse is not given.
std::optional<Found> saturated(const Operator& start, const Search& search, operators::Sharing sharing) {
  EGraph graph(table_of(search), search.conditions);
  const int from = graph.add(start);
  graph.saturate(search.max_nodes);
  int best = -1;
  Cost least;
  for (const int each : operators::cheapest(graph, from, sharing)) {
    Cost cost = cost_of(graph.expression(each));
    if (best < 0 || cost < least) {
      best = each;
      least = std::move(cost);
    }
  }
  if (best < 0) {
    return std::nullopt;
  }
  return Found{start, graph.expression(best), graph.prove(from, best)};
}

/// Whether an inverse is asked for that is not taken block by block.
bool holds_inverse(const Operator& x) {
  return operators::any_in(x, [](const Operator& part) {
    return part.term().type == TermType::inverse && part.term().parts[0].kind() != Kind::memoryless;
  });
}

/// Operands in an expression.
int size_of(const Operator& x) {
  int count = 1;
  for (const Operator& part : x.term().parts) {
    count += size_of(part);
  }
  return count;
}

/// Orders of magnitude that multiplying out may gain or lose.
double reach_of(const Operator& x) {
  const Term& t = x.term();
  const bool has_number = (t.type == TermType::scale || t.type == TermType::number) && t.number != 0;
  double inside = 0;
  for (const Operator& part : t.parts) {
    inside = t.type == TermType::sum ? std::max(inside, reach_of(part)) : inside + reach_of(part);
  }
  return inside + (has_number ? std::abs(std::log10(std::abs(t.number))) : 0);
}

Found search_for(const Operator& x, const Search& search) {
  if (x.range().kind == SpaceKind::any) {
    throw OperatorError("the space of this identity is not known", "add it to, or multiply it by, something");
  }
  Found found{operators::pushed(simplified_inside(x, search)), x, {}};
  found.result = found.start;
  // A term of hundreds of operands leaves the search no room, and takes its time all the same; numbers that overflow
  // when they are multiplied out are better left where they are.
  constexpr int most_operands = 200;
  constexpr double most_reach = std::numeric_limits<double>::max_exponent10;
  if ((size_of(found.start) > most_operands || reach_of(found.start) >= most_reach) && !holds_inverse(found.start)) {
    return found;
  }
  // First by the quick count, which gathers factors; then by the exact one, which may take a sum apart again.
  bool first = true;
  for (const operators::Sharing sharing : {operators::Sharing::ignored, operators::Sharing::counted_once}) {
    for (int i = 0; i < max_starts; ++i) {
      const std::optional<Found> next = saturated(found.result, search, sharing);
      if (!next) {
        refuse(x, search);
      }
      if (!first && !(cost_of(next->result) < cost_of(found.result))) {
        break;
      }
      first = false;
      found.result = next->result;
      found.proof.insert(found.proof.end(), next->proof.begin(), next->proof.end());
    }
    if (x.domain().kind != SpaceKind::number) {
      break;  // an operator has no vectors to share
    }
  }
  return found;
}

/// Products and sums flattened and sorted, so that two ways to write the same by the laws of addition look alike.
std::string normal_text(const Operator& x) {
  const Term& t = x.term();
  if (t.type != TermType::sum && t.type != TermType::product && t.type != TermType::scale &&
      t.type != TermType::inverse) {
    return to_ascii(x);
  }
  std::vector<std::string> parts(t.parts.size());
  std::transform(t.parts.begin(), t.parts.end(), parts.begin(), normal_text);
  if (t.type == TermType::sum) {
    std::sort(parts.begin(), parts.end());
  }
  return fmt::format("{}[{} {}]", static_cast<int>(t.type), t.number, fmt::join(parts, ", "));
}

}  // namespace

Operator simplify(const Operator& x, const Search& search) {
  return operators::tidied(search_for(x, search).result);
}

Operator simplify(const Operator& x, const Conditions& conditions) {
  return simplify(x, Search{.conditions = conditions});
}

Derivation derive(const Operator& x, const Search& search) {
  const Found found = search_for(x, search);
  const std::span<const Identity> table = table_of(search);

  // Leave out what only moves parentheses, and whatever lies between two occurrences of the same expression.
  std::vector<std::string> texts{normal_text(found.start)};
  std::vector<const EGraph::ProofStep*> steps{nullptr};
  for (const EGraph::ProofStep& each : found.proof) {
    const std::string text = normal_text(each.expression);
    const auto before = std::find(texts.begin(), texts.end(), text);
    if (before != texts.end()) {
      texts.erase(before + 1, texts.end());
      steps.resize(texts.size());
      continue;
    }
    texts.push_back(text);
    steps.push_back(&each);
  }
  Derivation out{x, {}, operators::tidied(found.result)};
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const bool algebra = steps[i]->reason.type != operators::Reason::Type::identity;
    if (algebra && !out.steps.empty() && out.steps.back().rule == "algebra") {
      out.steps.pop_back();  // one line for several laws in a row
    }
    const Operator shown = operators::tidied(steps[i]->expression);
    if (algebra) {
      out.steps.push_back({"algebra", "associative and distributive laws", shown});
    } else {
      const Identity& rule = table[static_cast<std::size_t>(steps[i]->reason.identity)];
      out.steps.push_back({rule.name, rule.source, shown});
    }
  }
  if (!out.steps.empty()) {
    out.steps.back().expression = out.result;  // the same but for the order of sums
  }
  return out;
}

std::string to_string(const Derivation& derivation) {
  std::string out = fmt::format("  {}\n", to_unicode(derivation.start));
  for (const DerivationStep& step : derivation.steps) {
    out += fmt::format("= {}\n      by {}, {}\n", to_unicode(step.expression), step.rule, step.source);
  }
  return out;
}

std::string explain(const Operator& x, const Search& search) {
  return to_string(derive(x, search));
}

}  // namespace bunraku
