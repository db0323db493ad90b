#include "bunraku/operators/language/definitions.hpp"

#include <utility>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/normal_forms.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"

namespace bunraku {

Operator define(const std::string& name, SpaceKind range, SpaceKind domain, BlockFunction function) {
  if (!function) {
    throw OperatorError(fmt::format("'{}' is defined by no function", detail::printable(name, 40)));
  }
  return Operator::variable(name, range, domain, std::make_shared<const BlockFunction>(std::move(function)));
}

namespace {

constexpr const char* forms = "an equation is y = x + E*y*~E or y = x + ~E*y*E, with E one of E_phi, E_psi and S";

bool holds(const Operator& x, const Operator& y) {
  return operators::any_in(x, [&](const Operator& part) { return part == y; });
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n\r") - first + 1);
}

}  // namespace

Operator define(const std::string& equation) {
  const std::size_t equals = equation.find('=');
  if (equals == std::string::npos) {
    throw OperatorError("an equation has a '='", forms);
  }
  const std::string name = trimmed(equation.substr(0, equals));
  const Operator y = Operator::variable(name, SpaceKind::body, SpaceKind::body);
  const Operator right = operators::pushed(parse(equation.substr(equals + 1), {y}));
  const std::vector<Operator> terms =
      right.term().type == TermType::sum ? right.term().parts : std::vector<Operator>{right};
  std::vector<Operator> rest;
  std::vector<Operator> steps;
  for (const Operator& each : terms) {
    (holds(each, y) ? steps : rest).push_back(each);
  }
  if (rest.empty() || steps.size() != 1 || steps[0].term().type != TermType::product ||
      steps[0].term().parts.size() != 3 || !(steps[0].term().parts[1] == y)) {
    throw OperatorError(fmt::format("'{}' has no recursion for '{}'", detail::printable(equation, 200), name), forms);
  }
  const Operator& first = steps[0].term().parts[0];
  const Operator& last = steps[0].term().parts[2];
  const Operator x = sum_of(rest);
  if (!(first == ~last)) {
    throw OperatorError(fmt::format("'{}' and '{}' are not adjoint to each other", to_ascii(first), to_ascii(last)),
                        forms);
  }
  return first.term().type == TermType::adjoint ? spread(last, x) : gather(first, x);
}

}  // namespace bunraku
