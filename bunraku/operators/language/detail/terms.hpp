/// @file
/// Walks through expressions.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "bunraku/operators/language/operator.hpp"

namespace bunraku::operators {

/// Zero, as far as its outermost tells.
inline bool is_zero(const Operator& x) {
  return (x.term().type == TermType::scale || x.term().type == TermType::number) && x.term().number == 0;
}

/// As messages name it, with its spaces: `'phi' (body space to body space)`.
std::string described(const Operator& x);

/// Adds the symbols in an expression.
inline void collect_symbols(const Operator& x, std::set<Symbol>& symbols) {
  if (x.term().type == TermType::symbol) {
    symbols.insert(x.term().symbol);
  }
  for (const Operator& part : x.term().parts) {
    collect_symbols(part, symbols);
  }
}

/// The symbols in an expression.
inline std::set<Symbol> symbols_in(const Operator& x) {
  std::set<Symbol> out;
  collect_symbols(x, out);
  return out;
}

/// Whether x or something in it is as asked.
template <class Is>
bool any_in(const Operator& x, const Is& is) {
  return is(x) || std::any_of(x.term().parts.begin(), x.term().parts.end(),
                              [&](const Operator& part) { return any_in(part, is); });
}

/// Operands in an expression written out; `known` are those of parts that it has met.
inline double size_of(const Operator& x, std::unordered_map<const Term*, double>& known) {
  const auto found = known.find(&x.term());
  if (found != known.end()) {
    return found->second;
  }
  double size = 1;
  for (const Operator& part : x.term().parts) {
    size += size_of(part, known);
  }
  known.emplace(&x.term(), size);
  return size;
}

/// Whether an operator is block diagonal by bodies: memoryless, or sums of E z E* with steps E from body to body, which
/// ends where it began, as each body has one parent.
bool is_block_diagonal(const Operator& x);

/// x made again of what `change` makes of its operands; x itself where it has none.
template <class Change>
Operator with_parts(const Operator& x, const Change& change) {
  const Term& t = x.term();
  if (t.parts.empty()) {
    return x;
  }
  if (t.type == TermType::sum || t.type == TermType::product) {
    std::vector<Operator> parts;
    parts.reserve(t.parts.size());
    for (const Operator& part : t.parts) {
      parts.push_back(change(part));
    }
    return t.type == TermType::sum ? sum_of(parts) : product_of(parts);
  }
  Operator out = change(t.parts[0]);
  switch (t.type) {
    case TermType::adjoint:
      return ~out;
    case TermType::scale:
      return Operator(t.number) * out;
    case TermType::inverse:
      return inv(out);
    case TermType::dense_inverse:
      return dense_inv(out);
    case TermType::root:
      return sqrt(out);
    case TermType::cross:
      return cross(out);
    case TermType::gather:
      return gather(out, change(t.parts[1]));
    case TermType::spread:
      return spread(out, change(t.parts[1]));
    case TermType::carry:
      return carry(out, change(t.parts[1]));
    case TermType::force_cross:
      return Q(out);
    case TermType::joint_rate: {
      std::vector<Operator> along{out};
      for (std::size_t i = 1; i < t.parts.size(); ++i) {
        along.push_back(change(t.parts[i]));
      }
      return dH(along);
    }
    case TermType::lyapunov:
      return lyap(out, change(t.parts[1]));
    case TermType::derivative:
      return diff(out, change(t.parts[1]));
    case TermType::time_rate:
      return dt(out);
    case TermType::symbol:
      return Operator::of_family(t.symbol, out, change(t.parts[1]));
    case TermType::block:
      return t.domain.kind == SpaceKind::number ? out.block(t.range.part) : out.block(t.range.part, t.domain.part);
    default:
      return x;
  }
}

}  // namespace bunraku::operators
