#include "bunraku/operators/levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/rigid.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"

namespace bunraku {

namespace {

/// More bodies than this are counted, not listed.
constexpr std::size_t most_listed = 40;

std::string how(const SymbolInfo& row) {
  if (row.symbol == Symbol::E_phi || row.symbol == Symbol::E_psi || row.symbol == Symbol::K ||
      row.symbol == Symbol::S) {
    return "one step, from every body to its parent";
  }
  switch (row.kind) {
    case Kind::memoryless:
      return "a block a body, applied where it stands";
    case Kind::causal:
      return "a recursion from the tips to the base";
    case Kind::anticausal:
      return "a recursion from the base to the tips";
    case Kind::general:
      break;
  }
  return "a recursion from the tips to the base and one back";
}

/// Lists something for every body, up to a limit.
template <class Line>
std::vector<std::string> for_bodies(const Model& model, const Line& line) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < std::min(model.bodies().size(), most_listed); ++k) {
    out.push_back(line(model.bodies()[k], static_cast<int>(k)));
  }
  if (model.bodies().size() > most_listed) {
    out.push_back(fmt::format("… and {} more", model.bodies().size() - most_listed));
  }
  return out;
}

std::string parent_name(const Model& model, const Body& body) {
  return body.parent == world ? std::string(world_name) : model.bodies()[static_cast<std::size_t>(body.parent)].name;
}

/// The rotation and the arm of φ(p,k), read off its block [R l̃R; 0 R].
std::string transform_text(const std::vector<double>& block) {
  const auto at = [&](int i, int j) { return block[static_cast<std::size_t>(i + operators::rigid * j)]; };
  // l̃ = (l̃R)R*
  std::array<std::array<double, 3>, 3> skew{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int m = 0; m < 3; ++m) {
        skew[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] += at(i, 3 + m) * at(j, m);
      }
    }
  }
  const auto number = [](double x) { return std::abs(x) < 5e-13 ? 0.0 : x; };  // no −0 and no dust
  std::string rows;
  for (int i = 0; i < 3; ++i) {
    rows +=
        fmt::format("{}{:.4g} {:.4g} {:.4g}", i == 0 ? "" : "; ", number(at(i, 0)), number(at(i, 1)), number(at(i, 2)));
  }
  return fmt::format("R = [{}], l = ({:.4g}, {:.4g}, {:.4g}) m", rows, number(skew[2][1]), number(skew[0][2]),
                     number(skew[1][0]));
}

}  // namespace

std::vector<Level> levels(const System& system, const Operator& x) {
  const Model& model = system.model();
  const Operator result = simplify(x, conditions_of(system));
  const std::set<Symbol> symbols = operators::symbols_in(result);
  const bool through_hinges = std::any_of(symbols.begin(), symbols.end(), [](Symbol s) {
    return s == Symbol::psi || s == Symbol::E_psi || s == Symbol::psit || s == Symbol::Omega;
  });
  const bool carries = through_hinges || std::any_of(symbols.begin(), symbols.end(),
                                                     [](Symbol s) { return info(s).kind != Kind::memoryless; });

  std::vector<Level> out;
  Level expression{1, "the expression", {to_unicode(x)}};
  if (!(result == x)) {
    expression.lines.push_back("= " + to_unicode(result));
  }
  out.push_back(std::move(expression));

  Level operators_in{2, "its operators", {}};
  Level recognised{3, "what they are recognised as", {}};
  for (const Symbol symbol : symbols) {
    const SymbolInfo& row = info(symbol);
    operators_in.lines.push_back(row.domain == SpaceKind::number
                                     ? fmt::format("{}: a vector of {}", row.unicode, to_string(Space{row.range}))
                                     : fmt::format("{}: {} to {}, {}", row.unicode, to_string(Space{row.domain}),
                                                   to_string(Space{row.range}), to_string(row.kind)));
    recognised.lines.push_back(row.domain == SpaceKind::number
                                   ? fmt::format("{}: {}", row.unicode, row.meaning)
                                   : fmt::format("{}: {}; {}", row.unicode, row.meaning, how(row)));
  }
  out.push_back(std::move(operators_in));
  out.push_back(std::move(recognised));

  Level recursions{4, "the recursions", {}};
  for (const Sweep& sweep : system(x).plan().sweeps) {
    recursions.lines.push_back(sweep.direction == "local"   ? "at every body:"
                               : sweep.direction == "whole" ? "all bodies together:"
                                                            : sweep.direction + ":");
    std::istringstream text(sweep.text);
    for (std::string line; std::getline(text, line);) {
      recursions.lines.push_back(fmt::format("  {}", line));
    }
  }
  out.push_back(std::move(recursions));

  const std::string_view letter = through_hinges ? "ψ" : "φ";
  if (!carries) {
    out.push_back({5, "the steps from body to body", {"none: nothing is carried between the bodies"}});
    out.push_back({6, "within a body and across its hinge", {"none"}});
    out.push_back({7, "coordinate transforms", {"none"}});
    return out;
  }
  out.push_back({5, "the steps from body to body", for_bodies(model, [&](const Body& body, int) {
                   return body.parent == world ? fmt::format("{}: the recursion ends here", body.name)
                                               : fmt::format("{0}({1}, {2}): from {2} to {1}", letter,
                                                             parent_name(model, body), body.name);
                 })});
  out.push_back({6, "within a body and across its hinge", for_bodies(model, [&](const Body& body, int) {
                   const std::string across =
                       fmt::format("hinge '{}', {}, {} velocit{}", body.hinge.name, to_string(body.hinge.type), body.nv,
                                   body.nv == 1 ? "y" : "ies");
                   const std::string parent = parent_name(model, body);
                   return through_hinges ? fmt::format("ψ({0}, {1}) = φ({0}, {1}) [I − G({1}) H({1})]: {2}", parent,
                                                       body.name, across)
                                         : fmt::format("φ({0}, {1}): {2}", parent, body.name, across);
                 })});
  Evaluation shifts = system.literal(Operator(Symbol::Delta_phi));
  out.push_back({7, "coordinate transforms", for_bodies(model, [&](const Body& body, int k) {
                   return fmt::format("φ({}, {}): {}", parent_name(model, body), body.name,
                                      transform_text(shifts.block(k, k)));
                 })});
  return out;
}

std::string to_string(const std::vector<Level>& levels) {
  std::string out;
  for (const Level& level : levels) {
    out += fmt::format("{}level {}, {}\n", level.number == 1 ? "" : "\n", level.number, level.title);
    for (const std::string& line : level.lines) {
      out += fmt::format("  {}\n", line);
    }
  }
  return out;
}

}  // namespace bunraku
