// What programs are given beside a model: parts by name, and the values of users' variables.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

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
  if (of_nodes) {
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
  const int count = static_cast<int>(of_nodes ? nodes.size() : model.bodies().size());
  if (status == std::errc{} && end == name.data() + name.size() && number >= 0 && number < count) {
    return number;
  }
  std::vector<std::string> known;
  if (of_nodes) {
    std::transform(nodes.begin(), nodes.end(), std::back_inserter(known), [](const Node& n) { return n.name; });
  } else {
    std::transform(model.bodies().begin(), model.bodies().end(), std::back_inserter(known),
                   [](const Body& b) { return b.name; });
  }
  throw OperatorError(fmt::format("there is no {} '{}'{}", of_nodes ? "node" : "body", detail::printable(name),
                                  detail::did_you_mean(name, known)),
                      fmt::format("give its name, or a number from 0 to {}", count - 1));
}

VariableBlocks blocks_for(const Folded& folded, std::span<const Node> nodes, const Operator& variable) {
  const SpaceKind range = variable.range().kind;
  const SpaceKind domain = variable.domain().kind;
  const bool by_node = range == SpaceKind::node || domain == SpaceKind::node;
  VariableBlocks out{variable, {}};
  const std::span<const Body> bodies = folded.model.bodies();
  const int owners = static_cast<int>(by_node ? nodes.size() : bodies.size());
  for (int i = 0; i < owners && !folded.units.empty(); ++i) {
    const int body = by_node ? nodes[at(i)].body : i;
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
        throw OperatorError(
            fmt::format("the function of '{}' gave a number that is not finite for {} {}", t.name,
                        t.range.kind == SpaceKind::node || t.domain.kind == SpaceKind::node ? "node" : "body", i));
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
