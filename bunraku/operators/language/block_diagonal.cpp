// Which products end at the body where they began.

#include <algorithm>
#include <optional>

#include "bunraku/operators/language/detail/terms.hpp"

namespace bunraku::operators {

namespace {

/// How many steps inward a product carries, outward being negative; nothing where it ends at several bodies. Inward and
/// out again is the way back, as each body has one parent; outward and in again ends at siblings, too.
std::optional<int> steps_in(const Operator& x) {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::symbol:
      if (t.symbol == Symbol::E_phi || t.symbol == Symbol::E_psi || t.symbol == Symbol::S || t.symbol == Symbol::K) {
        return 1;
      }
      break;
    case TermType::adjoint:
      if (t.range.kind != SpaceKind::number) {  // which would add up over all bodies
        const std::optional<int> inner = steps_in(t.parts[0]);
        return inner ? std::optional(-*inner) : inner;
      }
      break;
    case TermType::scale:
      return steps_in(t.parts[0]);
    case TermType::sum: {
      const std::optional<int> first = steps_in(t.parts[0]);
      const bool alike =
          std::all_of(t.parts.begin(), t.parts.end(), [&](const Operator& part) { return steps_in(part) == first; });
      return alike ? first : std::nullopt;
    }
    case TermType::product: {
      int sum = 0;
      bool outward = false;
      for (const Operator& part : t.parts) {
        const std::optional<int> next = steps_in(part);
        if (!next || (outward && *next > 0)) {
          return std::nullopt;
        }
        sum += *next;
        outward = sum < 0;
      }
      return sum;
    }
    default:
      break;
  }
  return t.kind == Kind::memoryless ? std::optional(0) : std::nullopt;
}

}  // namespace

bool is_block_diagonal(const Operator& x) {
  return x.kind() == Kind::memoryless || steps_in(x) == 0;
}

}  // namespace bunraku::operators
