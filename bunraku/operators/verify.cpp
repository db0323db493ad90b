#include "bunraku/operators/verify.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "bunraku/model/configuration.hpp"
#include "bunraku/model/detail/random.hpp"
#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/system.hpp"

namespace bunraku {

namespace {

/// Operators with more columns than this are compared on random vectors.
constexpr int most_columns = 400;
constexpr int vectors_instead = 16;
/// Differences below this part of what an operator is made of are rounding.
constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();

struct Difference {
  double residual = 0;
  int row = 0;
  int column = 0;
  double left = 0;
  double right = 0;
};

/// How large the numbers are that x is made of: those of a sum's terms add up, those of a product's factors multiply.
double magnitude(System& system, const Operator& x) {
  const Term& term = x.term();
  double out = term.type == TermType::product ? 1 : 0;
  switch (term.type) {
    case TermType::sum:
    case TermType::product:
      for (const Operator& part : term.parts) {
        const double size = magnitude(system, part);
        out = term.type == TermType::product ? out * size : out + size;
      }
      return out;
    case TermType::adjoint:
      return magnitude(system, term.parts.front());
    case TermType::scale:
      return std::abs(term.number) * magnitude(system, term.parts.front());
    case TermType::symbol:
      if (term.symbol == Symbol::M_C) {  // a difference, and perhaps of all
        return magnitude(system, operators::expanded(x));
      }
      break;
    default:
      break;
  }
  Evaluation value = system.literal(x);
  std::vector<double> column(static_cast<std::size_t>(value.cols()));
  std::vector<double> result(static_cast<std::size_t>(value.rows()));
  for (int j = 0; j < std::min(value.cols(), most_columns); ++j) {
    std::fill(column.begin(), column.end(), 0.0);
    column[static_cast<std::size_t>(j)] = 1;
    value.apply(column, result);
    for (const double number : result) {
      out = std::max(out, std::abs(number));
    }
  }
  return out;
}

/// Velocities and accelerations that satisfy the closures where the system stands.
void satisfy_closures(System& system, std::vector<double>& q, std::vector<double>& v, std::vector<double>& a) {
  const Operator Y = parse("A*~B*~phi*~H + A_h");
  const auto less = [&](std::vector<double>& x, const Operator& off) {
    std::vector<double> part(x.size());
    system.literal(off).apply(std::vector<double>{1}, part);
    std::transform(x.begin(), x.end(), part.begin(), x.begin(), std::minus<>());
  };
  const Operator back = ~Y * inv(Y * ~Y);
  for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left of the first
    less(v, back * Y * Operator(Symbol::thetad));
    system.set_state(q, v);
  }
  for (int pass = 0; pass < 2; ++pass) {
    less(a, back * (Y * Operator(Symbol::thetadd) - Operator(Symbol::U)));
    system.set_accelerations(a);
  }
}

/// The largest difference of two operators, relative to the larger of their largest numbers; where it is rounding of
/// what they are made of, as where both vanish, relative to that.
Difference compare(System& system, const Operator& lhs, const Operator& rhs, Random& random) {
  Evaluation left = system.literal(lhs);
  Evaluation right = system.literal(rhs);
  const int rows = left.rows();
  const int cols = left.cols();
  std::vector<double> x(static_cast<std::size_t>(cols));
  std::vector<double> y(static_cast<std::size_t>(rows));
  std::vector<double> z(static_cast<std::size_t>(rows));
  Difference out;
  double largest = 0;
  double difference = -1;
  const bool dense = cols <= most_columns;
  for (int j = 0; j < (dense ? cols : vectors_instead); ++j) {
    if (dense) {
      std::fill(x.begin(), x.end(), 0.0);
      x[static_cast<std::size_t>(j)] = 1;
    } else {
      x = random.vector(x.size());
    }
    left.apply(x, y);
    right.apply(x, z);
    for (int i = 0; i < rows; ++i) {
      const double a = y[static_cast<std::size_t>(i)];
      const double b = z[static_cast<std::size_t>(i)];
      largest = std::max({largest, std::abs(a), std::abs(b)});
      if (std::abs(a - b) > difference || !std::isfinite(a - b)) {
        difference = std::isfinite(a - b) ? std::abs(a - b) : std::numeric_limits<double>::infinity();
        out = {0, i, j, a, b};
      }
    }
  }
  out.residual = difference <= 0 ? 0 : difference / largest;
  if (out.residual > rounding && std::isfinite(out.residual)) {
    const double made_of = std::max(magnitude(system, lhs), magnitude(system, rhs));
    if (difference <= rounding * made_of) {
      out.residual = difference / made_of;
    }
  }
  return out;
}

}  // namespace

std::string_view to_string(const Verdict& verdict) {
  return verdict.proof ? "proved" : verdict.holds ? "holds" : "refuted";
}

Verdict verify(const Operator& lhs, const Operator& rhs, const VerifyOptions& options) {
  Operator left = lhs;
  Operator right = rhs;
  if (left.range().kind == SpaceKind::any) {
    left = in_space(left, right.range());
  } else {
    right = in_space(right, left.range());
  }
  if (!(left.range() == right.range()) || !(left.domain() == right.domain())) {
    throw OperatorError(fmt::format(
        "the sides act between different spaces: the left one from {} to {}, the right one "
        "from {} to {}",
        to_string(left.domain()), to_string(left.range()), to_string(right.domain()), to_string(right.range())));
  }
  const bool armature =
      operators::symbols_in(left).contains(Symbol::armature) || operators::symbols_in(right).contains(Symbol::armature);
  const bool passive =
      operators::symbols_in(left).contains(Symbol::T_p) || operators::symbols_in(right).contains(Symbol::T_p);
  const auto closes = [](const Operator& x) {
    return operators::any_in(x, [](const Operator& part) {
      return part.term().type == TermType::symbol && is_of_closures(part.term().symbol) &&
             part.term().symbol != Symbol::a_n;
    });
  };
  const bool closures = closes(left) || closes(right);
  Verdict verdict;
  Conditions conditions;
  const auto try_on = [&](const Model& model, const std::string& what, std::uint64_t seed) {
    Random random(seed);
    System system(model, passive ? PassiveForces::included : PassiveForces::left_out);
    const Conditions has = conditions_of(system);
    // 𝒜 is known to be invertible only where all have it
    conditions.ungeared = conditions.ungeared || has.ungeared || !has.armature;
    conditions.armature = conditions.armature || has.armature;
    conditions.couplings = conditions.couplings || has.couplings;
    conditions.massless = conditions.massless || has.massless;
    conditions.tied = conditions.tied || has.tied;
    std::vector<double> q(static_cast<std::size_t>(model.nq()));
    random_configuration(model, random.seed(), q);
    const auto nv = static_cast<std::size_t>(model.nv());
    std::vector<double> v = random.vector(nv);
    std::vector<double> a = random.vector(nv);
    system.set_state(q, v);
    system.set_accelerations(a);
    std::vector<Node> nodes(model.nodes().begin(), model.nodes().end());
    std::erase_if(nodes, [](const Node& node) { return node.body == world; });
    nodes.resize(std::min<std::size_t>(nodes.size(), 2));
    for (std::size_t i = model.bodies().size(); nodes.size() < 2 && i-- > 0;) {
      nodes.push_back(model.node(model.bodies()[i].name));
    }
    system.set_nodes(std::move(nodes));
    if (closures && !model.closures().empty()) {
      satisfy_closures(system, q, v, a);
    }
    for (const Operator& variable : options.variables) {
      system.bind_random(variable, random.seed());
    }
    const Difference found = [&] {
      try {
        return compare(system, left, right, random);
      } catch (const OperatorError& error) {
        throw OperatorError(fmt::format("on {}: {}", what, error.problem()), error.cure(), error.culprit());
      }
    }();
    ++verdict.samples;
    if (found.residual > verdict.residual || !std::isfinite(found.residual)) {
      verdict.residual = found.residual;
      verdict.counterexample =
          fmt::format("{}: {:.6g} against {:.6g} in row {}, column {}, a relative difference of {:.2g}", what,
                      found.left, found.right, found.row, found.column, found.residual);
    }
  };
  for (int i = 0; i < options.chains + options.trees; ++i) {
    const bool serial = i < options.chains;
    const std::uint64_t seed = options.seed * 1000 + static_cast<std::uint64_t>(i);
    const Model model = random_model({.serial = serial,
                                      .armature = (armature || options.armature) && i % 2 == 1,
                                      .passive = passive,
                                      .couplings = options.couplings && i % 3 == 1,
                                      .massless = options.massless && i % 2 == 0,
                                      .closures = closures},
                                     seed);
    try_on(model, fmt::format("random {} {} of {} bodies", serial ? "chain" : "tree", seed, model.bodies().size()),
           seed);
  }
  for (std::size_t i = 0; i < options.models.size(); ++i) {
    try_on(options.models[i], fmt::format("'{}' at a random state", options.models[i].name()), options.seed * 77 + i);
  }
  verdict.holds = verdict.residual <= options.tolerance;
  if (verdict.holds) {
    verdict.counterexample.clear();
    verdict.proof = prove(left, right, {.conditions = conditions});
  }
  return verdict;
}

}  // namespace bunraku
