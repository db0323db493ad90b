#include "bunraku/operators/language/operator.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku {

using operators::described;

namespace {

/// Deeper nesting is refused: expressions are walked by recursion.
constexpr int max_depth = 400;

std::string with_cure(const std::string& problem, const std::string& cure) {
  return cure.empty() ? problem : problem + "\n" + cure;
}

/// The columns that the bytes of a text take up, for the caret: one a character, none for a combining one.
std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool continues = (byte & 0xC0U) == 0x80U;
    const bool combines = (byte == 0xCC) || (byte == 0xCD && i + 1 < text.size() &&
                                             static_cast<unsigned char>(text[i + 1]) < 0xB0);  // U+0300 … U+036F
    count += !continues && !combines ? 1 : 0;
  }
  return count;
}

std::string with_place(const std::string& problem, const std::string& cure, const std::string& text, std::size_t start,
                       std::size_t length) {
  constexpr std::size_t width = 100;  // of the text shown around the place
  start = std::min(start, text.size());
  length = std::min(length, text.size() - start);
  std::size_t from = start > width / 2 ? start - width / 2 : 0;
  std::size_t to = std::min(text.size(), std::max(start + length, from + width));
  to = std::min(to, start + width);
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  while (continues(from) && from > 0) {
    --from;
  }
  while (continues(to)) {
    ++to;
  }
  std::string line = text.substr(from, to - from);
  for (char& c : line) {
    c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  }
  const std::size_t shown = std::max<std::size_t>(1, columns(text.substr(start, std::min(length, to - start))));
  return with_cure(fmt::format("{}\n  {}\n  {:>{}}{:~>{}}", problem, detail::printable(line, 4 * width), "^",
                               columns(text.substr(from, start - from)) + 1, "", shown - 1),
                   cure);
}

std::size_t mix(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6U) + (seed >> 2U));
}

std::size_t hash_of(const Term& term) {
  std::size_t h = static_cast<std::size_t>(term.type);
  h = mix(h, static_cast<std::size_t>(term.symbol));
  h = mix(h, std::hash<std::string>()(term.name));
  h = mix(h, std::hash<double>()(term.number));
  h = mix(h, static_cast<std::size_t>(term.index));
  h = mix(h, static_cast<std::size_t>(term.range.kind));
  for (const Operator& part : term.parts) {
    h = mix(h, part.term().hash);
  }
  return h;
}

bool is_number(const Operator& x) {
  return x.term().type == TermType::number;
}
bool is_identity(const Operator& x) {
  return x.term().type == TermType::identity;
}

}  // namespace

std::string operators::described(const Operator& x) {
  return fmt::format("'{}' ({} to {})", detail::printable(to_ascii(x), 80), to_string(x.domain()),
                     to_string(x.range()));
}

OperatorError::OperatorError(const std::string& problem, const std::string& cure)
    : ArgumentError(with_cure(problem, cure)), problem_(problem), cure_(cure) {}

OperatorError::OperatorError(const std::string& problem, const std::string& cure, const std::string& culprit)
    : ArgumentError(with_cure(problem, cure)), problem_(problem), cure_(cure), culprit_(culprit) {}

OperatorError::OperatorError(const std::string& problem, const std::string& cure, const std::string& text,
                             std::size_t start, std::size_t length)
    : ArgumentError(with_place(problem, cure, text, start, length)), problem_(problem), cure_(cure), has_place_(true) {}

OperatorError::~OperatorError() = default;

std::string to_string(const Space& space) {
  static constexpr std::array<const char*, space_kinds> names{
      "a space not yet known", "the numbers", "hinge space", "body space", "node space", "closure space"};
  const std::string name = names[static_cast<std::size_t>(space.kind)];
  return space.part.empty() ? name : fmt::format("{} at {}", name, space.part);
}

std::string_view to_string(Kind kind) {
  static constexpr std::array<std::string_view, 4> names{"memoryless", "causal", "anticausal", "general"};
  return names[static_cast<std::size_t>(kind)];
}

// ---------------------------------------------------------------------------------------------------------------------
// Making terms

Operator::Operator(Term term) {
  for (const Operator& part : term.parts) {
    term.depth = std::max(term.depth, part.term().depth + 1);
  }
  if (term.depth > max_depth) {
    throw OperatorError(fmt::format("the expression is nested more than {} deep", max_depth));
  }
  term.hash = hash_of(term);
  term_ = std::make_shared<const Term>(std::move(term));
}

Operator::Operator(Symbol symbol)
    : Operator(Term{.type = TermType::symbol,
                    .symbol = symbol,
                    .range = {info(symbol).range},
                    .domain = {info(symbol).domain},
                    .kind = info(symbol).kind}) {}

Operator::Operator(double number)
    : Operator(Term{
          .type = TermType::number, .number = number, .range = {SpaceKind::number}, .domain = {SpaceKind::number}}) {
  if (!std::isfinite(number)) {
    throw OperatorError("a number in an expression is not finite");
  }
}

Operator Operator::identity() {
  return Operator(Term{.type = TermType::identity});
}

Operator Operator::variable(const std::string& name, SpaceKind range, SpaceKind domain,
                            std::shared_ptr<const BlockFunction> function) {
  if (!may_name_variable(name)) {
    throw OperatorError(fmt::format("'{}' cannot name a variable", detail::printable(name, 40)),
                        "a name is letters, digits and underscores, and not one of the symbols");
  }
  const auto has_space = [](SpaceKind kind) {
    return kind == SpaceKind::hinge || kind == SpaceKind::body || kind == SpaceKind::node || kind == SpaceKind::closure;
  };
  if (!has_space(range) || (!has_space(domain) && domain != SpaceKind::number)) {
    throw OperatorError(fmt::format("the variable '{}' needs a range: hinge, body, node or closure space", name));
  }
  if ((range == SpaceKind::closure || domain == SpaceKind::closure) && range != domain && domain != SpaceKind::number) {
    throw OperatorError(fmt::format("the variable '{}' has no blocks: a closure is not on one body or node", name),
                        "closure space goes with itself or the numbers");
  }
  return Operator(Term{
      .type = TermType::variable, .name = name, .range = {range}, .domain = {domain}, .function = std::move(function)});
}

Operator Operator::of_family(Symbol symbol, const Operator& X, const Operator& A) {
  if (!has_family(symbol)) {
    throw OperatorError(fmt::format("'{}' does not belong to a pair of inertia and armature", info(symbol).ascii),
                        "P, D, G, K, psi and what is derived of them do");
  }
  const Space body{SpaceKind::body};
  const Space hinge{SpaceKind::hinge};
  const Operator inertia = in_space(X, body);
  const Operator rotors = in_space(A, hinge);
  const auto fits = [](const Operator& x, const Space& space) {
    return x.range() == space && x.domain() == space && x.kind() == Kind::memoryless;
  };
  if (!fits(inertia, body)) {
    throw OperatorError(fmt::format("{} cannot stand in place of the inertia", described(inertia)),
                        "it must be memoryless, from body space to body space");
  }
  if (!fits(rotors, hinge)) {
    throw OperatorError(fmt::format("{} cannot stand in place of the armature", described(rotors)),
                        "it must be memoryless, from hinge space to hinge space; none is 0*armature");
  }
  if (inertia == Operator(Symbol::M) && rotors == Operator(Symbol::armature)) {
    return {symbol};
  }
  return Operator(Term{.type = TermType::symbol,
                       .symbol = symbol,
                       .parts = {inertia, rotors},
                       .range = {info(symbol).range},
                       .domain = {info(symbol).domain},
                       .kind = info(symbol).kind});
}

Operator Operator::unit(int i) {
  if (i < 0) {
    throw OperatorError(fmt::format("unit({}): velocity coordinates are counted from 0", i));
  }
  return Operator(Term{.type = TermType::unit, .index = i, .range = {SpaceKind::hinge}, .domain = {SpaceKind::number}});
}

namespace {

/// Whether two terms agree in everything but their operands.
bool same_head(const Term& x, const Term& y) {
  return x.hash == y.hash && x.type == y.type && x.symbol == y.symbol && x.name == y.name && x.number == y.number &&
         x.index == y.index && x.range == y.range && x.domain == y.domain && x.parts.size() == y.parts.size() &&
         x.function == y.function;
}

}  // namespace

bool operator==(const Operator& x, const Operator& y) {
  if (x.term_ == y.term_) {
    return true;
  }
  return same_head(x.term(), y.term()) && x.term().parts == y.term().parts;
}

Operator operator~(const Operator& x) {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::adjoint:
      return t.parts[0];
    case TermType::identity:
    case TermType::number:
      return x;
    case TermType::symbol:
      if (info(t.symbol).symmetric) {
        return x;
      }
      break;
    case TermType::scale:
      return Operator(t.number) * ~t.parts[0];
    case TermType::gather:
    case TermType::spread:
    case TermType::carry:
    case TermType::lyapunov:
      if (~t.parts[1] == t.parts[1]) {
        return x;
      }
      break;
    case TermType::derivative:
    case TermType::time_rate:
      if (~t.parts[0] == t.parts[0]) {
        return x;
      }
      break;
    case TermType::force_cross:
      return -x;
    default:
      break;
  }
  // the adjoint of a stacked vector adds up over all bodies
  const Kind kind = t.domain.kind == SpaceKind::number ? Kind::general : adjoint(t.kind);
  return Operator(Term{.type = TermType::adjoint, .parts = {x}, .range = t.domain, .domain = t.range, .kind = kind});
}

Operator operator-(const Operator& x) {
  return Operator(-1.0) * x;
}

Operator operator+(const Operator& x, const Operator& y) {
  const bool x_open = x.range().kind == SpaceKind::any;
  const bool y_open = y.range().kind == SpaceKind::any;
  if (x_open != y_open) {  // an identity takes the space of what it is added to
    const Operator& known = x_open ? y : x;
    if (!(known.range() == known.domain())) {
      throw OperatorError(fmt::format("the sum of {} and {} does not fit", described(x), described(y)),
                          "the identity maps a space to itself");
    }
    return x_open ? in_space(x, known.range()) + y : x + in_space(y, known.range());
  }
  if (!(x.range() == y.range()) || !(x.domain() == y.domain())) {
    throw OperatorError(fmt::format("the sum of {} and {} does not fit", described(x), described(y)),
                        is_number(x) || is_number(y) ? "a number is a factor; a multiple of the identity is 2*I"
                                                     : "both must act between the same spaces");
  }
  if (is_number(x) && is_number(y)) {
    return {x.term().number + y.term().number};
  }
  Term sum{.type = TermType::sum, .range = x.range(), .domain = x.domain(), .kind = join(x.kind(), y.kind())};
  for (const Operator* each : {&x, &y}) {
    if (each->term().type == TermType::sum) {
      sum.parts.insert(sum.parts.end(), each->term().parts.begin(), each->term().parts.end());
    } else {
      sum.parts.push_back(*each);
    }
  }
  return Operator(std::move(sum));
}

Operator operator-(const Operator& x, const Operator& y) {
  return x + -y;
}

Operator operator*(const Operator& x, const Operator& y) {
  if (is_number(x) || is_number(y)) {
    const double factor = is_number(x) ? x.term().number : y.term().number;
    const Operator& rest = is_number(x) ? y : x;
    if (is_number(rest)) {
      return {factor * rest.term().number};
    }
    if (factor == 1) {
      return rest;
    }
    if (rest.term().type == TermType::scale) {
      return Operator(factor * rest.term().number) * rest.term().parts[0];
    }
    return Operator(Term{.type = TermType::scale,
                         .number = factor,
                         .parts = {rest},
                         .range = rest.range(),
                         .domain = rest.domain(),
                         .kind = rest.kind()});
  }
  if (x.term().type == TermType::scale || y.term().type == TermType::scale) {
    const bool left = x.term().type == TermType::scale;
    const Term& scaled = left ? x.term() : y.term();
    return Operator(scaled.number) * (left ? scaled.parts[0] * y : x * scaled.parts[0]);
  }
  if (is_identity(x) && (x.range().kind == SpaceKind::any || x.range() == y.range())) {
    return y;
  }
  if (is_identity(y) && (y.range().kind == SpaceKind::any || y.range() == x.domain())) {
    return x;
  }
  if ((x.range().kind == SpaceKind::any) != (y.range().kind == SpaceKind::any)) {
    return x.range().kind == SpaceKind::any ? in_space(x, y.range()) * y : x * in_space(y, x.domain());
  }
  if (!(x.domain() == y.range())) {
    throw OperatorError(
        fmt::format("the product of {} and {} does not fit", described(x), described(y)),
        fmt::format("the left factor acts on {}, the right one gives {}", to_string(x.domain()), to_string(y.range())));
  }
  Term product{.type = TermType::product, .range = x.range(), .domain = y.domain(), .kind = join(x.kind(), y.kind())};
  for (const Operator* each : {&x, &y}) {
    if (each->term().type == TermType::product) {
      product.parts.insert(product.parts.end(), each->term().parts.begin(), each->term().parts.end());
    } else {
      product.parts.push_back(*each);
    }
  }
  return Operator(std::move(product));
}

Operator sum_of(const std::vector<Operator>& parts) {
  const Operator& first = parts.at(0);
  const bool plain = first.range().kind != SpaceKind::any && first.range().kind != SpaceKind::number;
  const bool alike = std::all_of(parts.begin(), parts.end(), [&](const Operator& each) {
    return each.range() == first.range() && each.domain() == first.domain();
  });
  if (!plain || !alike || parts.size() == 1) {
    Operator out = first;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      out = out + parts[i];
    }
    return out;
  }
  Term sum{.type = TermType::sum, .range = first.range(), .domain = first.domain(), .kind = first.kind()};
  for (const Operator& each : parts) {
    sum.kind = join(sum.kind, each.kind());
    if (each.term().type == TermType::sum) {
      sum.parts.insert(sum.parts.end(), each.term().parts.begin(), each.term().parts.end());
    } else {
      sum.parts.push_back(each);
    }
  }
  return Operator(std::move(sum));
}

Operator product_of(const std::vector<Operator>& parts) {
  const auto plain = [](const Operator& x) {
    return x.term().type != TermType::number && x.term().type != TermType::scale && !is_identity(x) &&
           x.range().kind != SpaceKind::any;
  };
  bool fits = parts.size() > 1 && plain(parts.at(0));
  for (std::size_t i = 1; fits && i < parts.size(); ++i) {
    fits = plain(parts[i]) && parts[i - 1].domain() == parts[i].range();
  }
  if (!fits) {
    Operator out = parts.at(0);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      out = out * parts[i];
    }
    return out;
  }
  Term product{.type = TermType::product, .range = parts.front().range(), .domain = parts.back().domain()};
  for (const Operator& each : parts) {
    product.kind = join(product.kind, each.kind());
    if (each.term().type == TermType::product) {
      product.parts.insert(product.parts.end(), each.term().parts.begin(), each.term().parts.end());
    } else {
      product.parts.push_back(each);
    }
  }
  return Operator(std::move(product));
}

Operator Operator::block(const std::string& i, const std::string& j) const {
  const auto part = [this](const Space& space, const std::string& index) {
    if (!space.part.empty() || space.kind == SpaceKind::number || space.kind == SpaceKind::any) {
      throw OperatorError(fmt::format("{} has no blocks to choose from", described(*this)),
                          "an operator has blocks [i, j], a stacked vector [i]");
    }
    if (index.empty()) {
      throw OperatorError("a block needs a body's name or number");
    }
    return Space{space.kind, index};
  };
  return Operator(Term{.type = TermType::block,
                       .parts = {*this},
                       .range = part(range(), i),
                       .domain = part(domain(), j),
                       .kind = Kind::memoryless});
}

Operator Operator::block(const std::string& i) const {
  if (domain().kind != SpaceKind::number || !range().part.empty() || range().kind == SpaceKind::number) {
    throw OperatorError(fmt::format("{} has no block [{}]", described(*this), i),
                        "an operator has blocks [i, j], a stacked vector [i]");
  }
  if (i.empty()) {
    throw OperatorError("a block needs a body's name or number");
  }
  return Operator(Term{.type = TermType::block, .parts = {*this}, .range = {range().kind, i}, .domain = domain()});
}

Operator in_space(const Operator& x, const Space& space) {
  if (x.range().kind != SpaceKind::any) {
    return x;
  }
  Term term = x.term();
  term.range = space;
  term.domain = space;
  for (Operator& part : term.parts) {
    part = in_space(part, space);
  }
  return Operator(std::move(term));
}

}  // namespace bunraku
