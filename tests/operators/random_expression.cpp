#include "operators/random_expression.hpp"

namespace bunraku::test {
namespace {

/// An inverse of something that is not zero as written.
Operator inv_of(const Operator& x) {
  const Term& t = x.term();
  return t.type == TermType::number || (t.type == TermType::scale && t.number == 0) ? x : inv(x);
}

}  // namespace

std::vector<Operator> all_symbols() {
  std::vector<Operator> out;
  for (const SymbolInfo& each : symbol_table()) {
    if (!is_of_closures(each.symbol) && each.symbol != Symbol::stiffness) {  // not all springs have one
      out.emplace_back(each.symbol);
    }
  }
  return out;
}

RandomExpression::RandomExpression(ExpressionParts parts, unsigned seed) : parts_(std::move(parts)), random_(seed) {
  for (const Operator& leaf : parts_.leaves) {
    both_.push_back(leaf);
    if (!(~leaf == leaf)) {
      both_.push_back(~leaf);
    }
  }
}

template <class T>
T RandomExpression::one_of(std::initializer_list<T> choices) {
  return *(choices.begin() + random_.integer(0, static_cast<int>(choices.size()) - 1));
}

Operator RandomExpression::number() {
  return {one_of<double>({-1, 2, -3, 0.5, 1e-3, -2.5e10, 1.0 / 3})};
}

std::string RandomExpression::body() {
  return one_of<std::string>({"0", "1", "2", "b1"});
}

Operator RandomExpression::any(int depth) {
  const SpaceKind range = one_of<SpaceKind>({SpaceKind::hinge, SpaceKind::body, SpaceKind::node, SpaceKind::body});
  const SpaceKind domain = parts_.vectors ? one_of<SpaceKind>({SpaceKind::hinge, SpaceKind::body, SpaceKind::number})
                                          : one_of<SpaceKind>({SpaceKind::hinge, SpaceKind::body});
  return between(range, domain, depth);
}

Operator RandomExpression::between(SpaceKind range, SpaceKind domain, int depth) {
  if (depth <= 0) {
    return leaf(range, domain);
  }
  switch (random_.integer(0, parts_.functions ? 9 : 5)) {
    case 0:
      return between(range, domain, depth - 1) + between(range, domain, depth - 1);
    case 1:
      return between(range, domain, depth - 1) - between(range, domain, depth - 1);
    case 2:
      return parts_.numbers ? number() * between(range, domain, depth - 1) : leaf(range, domain);
    case 3:
      return ~between(domain, range, depth - 1);
    case 6:
      return range == domain ? inv_of(between(range, domain, depth - 1)) : between(range, domain, depth - 1);
    case 7:
      return special(range, domain, depth);
    case 8:
      return range == SpaceKind::number || domain == SpaceKind::number ? leaf(range, domain)
                                                                       : whole_of_blocks(range, domain, depth);
    default: {
      const SpaceKind middle = parts_.vectors && random_.integer(0, 5) == 0 ? SpaceKind::number
                               : random_.integer(0, 2) == 0                 ? SpaceKind::hinge
                                                                            : SpaceKind::body;
      return between(range, middle, depth - 1) * between(middle, domain, depth - 1);
    }
  }
}

Operator RandomExpression::block(int depth) {
  const SpaceKind range = one_of<SpaceKind>({SpaceKind::hinge, SpaceKind::body});
  const SpaceKind domain = one_of<SpaceKind>({SpaceKind::hinge, SpaceKind::body, SpaceKind::number});
  const Operator x = between(range, domain, depth);
  return domain == SpaceKind::number ? x.block(body()) : x.block(body(), body());
}

Operator RandomExpression::leaf(SpaceKind range, SpaceKind domain) {
  std::vector<Operator> fitting;
  for (const Operator& each : both_) {
    if (each.range().kind == range && each.domain().kind == domain) {
      fitting.push_back(each);
    }
  }
  if (range == SpaceKind::number && domain == SpaceKind::number) {
    return number();
  }
  if (!fitting.empty()) {
    const Operator& x = fitting[static_cast<std::size_t>(random_.integer(0, static_cast<int>(fitting.size()) - 1))];
    // alone, an identity would not say in text which space it is of
    return range == domain && random_.integer(0, 4) == 0 ? Operator::identity() + x : x;
  }
  return leaf(range, SpaceKind::body) * leaf(SpaceKind::body, domain);  // node space is next to body space alone
}

Operator RandomExpression::special(SpaceKind range, SpaceKind domain, int depth) {
  if (range == SpaceKind::hinge && domain == SpaceKind::number) {
    return Operator::unit(random_.integer(0, 3));
  }
  if (range == SpaceKind::body && domain == SpaceKind::body) {
    return random_.integer(0, 1) == 0 ? sqrt(Operator(Symbol::M))
                                      : cross(between(SpaceKind::body, SpaceKind::number, depth - 1));
  }
  if (range == SpaceKind::hinge && domain == SpaceKind::hinge) {
    return random_.integer(0, 1) == 0 ? sqrt(Operator(Symbol::D)) : dense_inv(between(range, domain, depth - 1));
  }
  return leaf(range, domain);
}

Operator RandomExpression::whole_of_blocks(SpaceKind range, SpaceKind domain, int depth) {
  if (!parts_.vectors) {
    return leaf(range, domain);
  }
  const std::string i = body();
  const Operator number = ~between(SpaceKind::body, SpaceKind::number, 0).block(i) *
                          between(SpaceKind::body, SpaceKind::body, depth - 1).block(i, "1") *
                          between(SpaceKind::body, SpaceKind::number, 0).block("1");
  return between(range, SpaceKind::number, 0) * number * between(SpaceKind::number, domain, 0);
}

}  // namespace bunraku::test
