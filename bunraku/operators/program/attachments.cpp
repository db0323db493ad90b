// What programs are given beside a model: parts by name, and the values of users' variables.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "bunraku/error.hpp"
#include "bunraku/operators/language/definitions.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/layout.hpp"
#include "bunraku/operators/program/detail/rigid.hpp"

namespace bunraku::operators {

int part_of(const Model& model, std::span<const Node> nodes, const Space& space) {
  const std::string& name = space.part;
  const bool of_nodes = space.kind == SpaceKind::node;
  const bool of_closures = space.kind == SpaceKind::closure;
  if (of_closures) {
    for (std::size_t i = 0; i < model.closures().size(); ++i) {
      if (model.closures()[i].name == name) {
        return static_cast<int>(i);
      }
    }
  } else if (of_nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].name == name) {
        return static_cast<int>(i);
      }
    }
  } else if (const std::optional<int> body = model.find_body(name); body && *body != world) {
    return *body;
  }
  int number = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), number);
  const int count = static_cast<int>(of_nodes      ? nodes.size()
                                     : of_closures ? model.closures().size()
                                                   : model.bodies().size());
  if (status == std::errc{} && end == name.data() + name.size() && number >= 0 && number < count) {
    return number;
  }
  std::vector<std::string> known;
  if (of_nodes) {
    std::transform(nodes.begin(), nodes.end(), std::back_inserter(known), [](const Node& n) { return n.name; });
  } else if (of_closures) {
    std::transform(model.closures().begin(), model.closures().end(), std::back_inserter(known),
                   [](const Closure& c) { return c.name; });
  } else {
    std::transform(model.bodies().begin(), model.bodies().end(), std::back_inserter(known),
                   [](const Body& b) { return b.name; });
  }
  throw OperatorError(fmt::format("there is no {} '{}'{}",
                                  of_nodes      ? "node"
                                  : of_closures ? "closure"
                                                : "body",
                                  detail::printable(name), detail::did_you_mean(name, known)),
                      fmt::format("give its name, or a number from 0 to {}", count - 1));
}

std::vector<Node> closure_nodes(const Model& model) {
  std::vector<Node> out;
  for (const Closure& each : model.closures()) {
    if (each.kind != ClosureKind::hinges) {
      out.push_back(each.a);
      out.push_back(each.b);
    }
  }
  return out;
}

Attachments attachments_for(const Operator& x, const Model& model, const Attachments& given, const std::string& cure) {
  const std::set<Symbol> symbols = symbols_in(x);
  const auto names = [&](Symbol symbol) { return symbols.contains(symbol); };
  for (const Symbol each : {Symbol::A, Symbol::A_h, Symbol::U, Symbol::M_C}) {
    if (names(each) && model.closures().empty()) {
      const std::string name(info(each).ascii);
      throw OperatorError(fmt::format("{} has no meaning here: the model '{}' has no closures", name, model.name()), "",
                          name);
    }
  }
  Attachments out = given;
  if (given.nodes.empty() || names(Symbol::A) || names(Symbol::a_n) || names(Symbol::U) || names(Symbol::M_C)) {
    out.nodes = closure_nodes(model);
    out.closure_nodes = static_cast<int>(out.nodes.size());
    out.nodes.insert(out.nodes.end(), given.nodes.begin(), given.nodes.end());
  }
  for (const Symbol each : {Symbol::B, Symbol::a_n}) {
    if (names(each) && out.nodes.empty()) {
      const std::string name(info(each).ascii);
      throw OperatorError(fmt::format("{} has no meaning without nodes", name), cure, name);
    }
  }
  if (out.nodes.size() > given.nodes.size() && !given.nodes.empty()) {  // those of variables come after
    for (VariableBlocks& variable : out.variables) {
      for (VariableBlock& block : variable.blocks) {
        const auto shift = [&](const Space& space, std::vector<int>& numbers) {
          for (int& each : numbers) {
            each += space.kind == SpaceKind::node ? rigid * out.closure_nodes : 0;
          }
        };
        shift(variable.variable.range(), block.rows);
        shift(variable.variable.domain(), block.cols);
      }
    }
  }
  return out;
}

VariableBlocks blocks_for(const Folded& folded, std::span<const Node> nodes, const Operator& variable) {
  const SpaceKind range = variable.range().kind;
  const SpaceKind domain = variable.domain().kind;
  const bool by_node = range == SpaceKind::node || domain == SpaceKind::node;
  VariableBlocks out{variable, {}};
  const std::span<const Body> bodies = folded.model.bodies();
  const bool by_closure = range == SpaceKind::closure;
  const int owners = by_closure ? folded.closure.owners() : static_cast<int>(by_node ? nodes.size() : bodies.size());
  for (int i = 0; i < owners && !folded.units.empty(); ++i) {
    const int body = by_closure ? world : by_node ? nodes[at(i)].body : i;
    const auto numbers = [&](SpaceKind kind) {
      std::vector<int> places;
      const auto add = [&](int first, int count) {
        for (int n = 0; n < count; ++n) {
          places.push_back(first + n);
        }
      };
      if (kind == SpaceKind::number) {
        add(0, 1);
      } else if (kind == SpaceKind::node) {
        add(rigid * i, rigid);
      } else if (kind == SpaceKind::closure) {
        add(folded.closure.begin(i), folded.closure.end(i) - folded.closure.begin(i));
      } else if (body != world && kind == SpaceKind::body) {
        add(folded.body.begin(body), folded.body.end(body) - folded.body.begin(body));
      } else if (body != world) {
        add(bodies[at(body)].v_index, bodies[at(body)].nv);
      }
      return places;
    };
    VariableBlock block{body == world ? 0 : folded.places[at(body)].unit, numbers(range), numbers(domain), {}};
    block.values.assign(block.rows.size() * block.cols.size(), 0.0);
    out.blocks.push_back(std::move(block));
  }
  return out;
}

void fill_defined(const Model& model, std::span<const double> q, std::span<const double> v,
                  std::vector<VariableBlocks>& variables) {
  for (VariableBlocks& each : variables) {
    const Term& t = each.variable.term();
    if (t.function == nullptr) {
      continue;
    }
    for (std::size_t i = 0; i < each.blocks.size(); ++i) {
      std::vector<double>& block = each.blocks[i].values;
      std::fill(block.begin(), block.end(), 0.0);
      (*t.function)({model, static_cast<int>(i), q, v}, block);
      if (!std::all_of(block.begin(), block.end(), [](double x) { return std::isfinite(x); })) {
        throw OperatorError(fmt::format("the function of '{}' gave a number that is not finite for {} {}", t.name,
                                        t.range.kind == SpaceKind::closure ? "closure"
                                        : t.range.kind == SpaceKind::node || t.domain.kind == SpaceKind::node ? "node"
                                                                                                              : "body",
                                        i));
      }
    }
  }
}

void attach_defined(const Folded& bodies, const Plan& plan, Attachments& attached) {
  for (const Value& v : plan.values) {
    if (v.what.term().function != nullptr && (v.part == Part::variable || v.step == Step::constants) &&
        std::none_of(attached.variables.begin(), attached.variables.end(),
                     [&](const VariableBlocks& each) { return each.variable == v.what; })) {
      attached.variables.push_back(blocks_for(bodies, attached.nodes, v.what));
    }
  }
}

}  // namespace bunraku::operators
