#include "operator_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "bunraku/io/detail/numbers.hpp"
#include "bunraku/kernels/closure_equations.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "json_writer.hpp"
#include "limits.hpp"

namespace bunraku::cli {

namespace {

constexpr std::array space_names{
    std::pair{SpaceKind::hinge, std::string_view("hinge")}, std::pair{SpaceKind::body, std::string_view("body")},
    std::pair{SpaceKind::node, std::string_view("node")}, std::pair{SpaceKind::closure, std::string_view("closure")},
    std::pair{SpaceKind::number, std::string_view("number")}};

SpaceKind parse_space(std::string_view name, const std::string& declaration) {
  const auto found =
      std::find_if(space_names.begin(), space_names.end(), [&](const auto& each) { return each.second == name; });
  if (found == space_names.end()) {
    throw ArgumentError(fmt::format("--let: '{}' in '{}' is not a space: those are hinge, body, node and closure",
                                    bunraku::detail::printable(name), bunraku::detail::printable(declaration)));
  }
  return found->first;
}

Operator parse_variable(const std::string& declaration) {
  const std::size_t colon = declaration.find(':');
  if (colon == std::string::npos) {
    throw ArgumentError(
        fmt::format("--let: '{}' has no ':': write NAME:RANGE<-DOMAIN, such as A:body<-body, or x:hinge",
                    bunraku::detail::printable(declaration)));
  }
  const std::string_view spaces = std::string_view(declaration).substr(colon + 1);
  const std::size_t arrow = spaces.find("<-");
  const bool is_vector = arrow == std::string_view::npos;
  const SpaceKind range = parse_space(io::trimmed(spaces.substr(0, arrow)), declaration);
  const SpaceKind domain =
      is_vector ? SpaceKind::number : parse_space(io::trimmed(spaces.substr(arrow + 2)), declaration);
  return Operator::variable(std::string(io::trimmed(declaration.substr(0, colon))), range, domain);
}

/// The columns that a text takes up: combining characters, which fmt counts, take none.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool continues = (byte & 0xC0U) == 0x80U;
    const bool combines =  // U+0300 … U+036F
        byte == 0xCC || (byte == 0xCD && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xB0);
    width += continues || combines ? 0 : 1;
  }
  return width;
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t own = width_of(text);
  return std::string(text) + std::string(own < width ? width - own : 0, ' ');
}

}  // namespace

std::string_view space_name(SpaceKind kind) {
  const auto found =
      std::find_if(space_names.begin(), space_names.end(), [&](const auto& each) { return each.first == kind; });
  return found == space_names.end() ? "any" : found->second;
}

Variables parse_variables(const std::vector<std::string>& declarations) {
  Variables out;
  for (const std::string& each : declarations) {
    out.push_back(parse_variable(each));
    const auto twice = std::find_if(out.begin(), out.end() - 1,
                                    [&](const Operator& x) { return x.term().name == out.back().term().name; });
    if (twice != out.end() - 1) {
      throw ArgumentError(fmt::format("--let: '{}' is declared twice", out.back().term().name));
    }
  }
  return out;
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',') {
      out.emplace_back();
    } else {
      i += list[i] == '\\' && i + 1 < list.size() ? 1U : 0U;
      out.back() += list[i];
    }
  }
  for (std::string& name : out) {
    name = std::string(io::trimmed(name));
  }
  if (out.back().empty()) {
    out.pop_back();
  }
  return out;
}

std::optional<Sides> split_sides(std::string_view text) {
  int brackets = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    brackets += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] == '=' && brackets <= 0) {
      const bool doubled = i + 1 < text.size() && text[i + 1] == '=';
      return Sides{.left = io::trimmed(text.substr(0, i)),
                   .right = io::trimmed(text.substr(i + (doubled ? 2 : 1))),
                   .doubled = doubled};
    }
  }
  return std::nullopt;
}

std::vector<Place> places_of(const Model& model, std::span<const Node> nodes, const Space& space, int size,
                             Order order) {
  std::vector<Place> out;
  const auto add = [&](int first, int count, const std::string& label) {
    for (int i = 0; i < count; ++i) {
      out.push_back({first + i, i == 0 ? label : ""});
    }
  };
  if (!space.part.empty() || space.kind == SpaceKind::number) {
    add(0, size, space.part);
    return out;
  }
  if (space.kind == SpaceKind::node) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      add(6 * static_cast<int>(i), 6, nodes[i].name);
    }
    return out;
  }
  if (space.kind == SpaceKind::closure) {
    for (const Closure& closure : model.closures()) {
      add(static_cast<int>(out.size()), closure_rows(closure), closure.name);
    }
    return out;
  }
  const bool hinges = space.kind == SpaceKind::hinge;
  std::vector<int> bodies(model.bodies().size());
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    bodies[k] = static_cast<int>(k);
  }
  if (order == Order::paper) {
    std::reverse(bodies.begin(), bodies.end());
  } else if (hinges) {
    std::stable_sort(bodies.begin(), bodies.end(),
                     [&](int a, int b) { return model.body(a).v_index < model.body(b).v_index; });
  }
  for (const int k : bodies) {
    const Body& body = model.body(k);
    add(hinges ? body.v_index : 6 * k, hinges ? body.nv : 6, hinges ? body.hinge.name : body.name);
  }
  return out;
}

std::vector<double> dense_matrix(Evaluation& evaluation, Order order) {
  check_matrix_size("the matrix", evaluation.rows(), evaluation.cols(), "apply it to vectors instead");
  const std::int64_t numbers = std::int64_t{evaluation.rows()} * evaluation.cols();
  std::vector<double> out(static_cast<std::size_t>(numbers));
  evaluation.dense(std::span<double>(out), order);
  return out;
}

std::string dense_text(Evaluation& evaluation, const Model& model, Order order) {
  const std::vector<double> columns = dense_matrix(evaluation, order);
  const std::vector<Place> places =
      places_of(model, evaluation.nodes(), evaluation.expression().range(), evaluation.rows(), order);
  const auto rows = static_cast<std::size_t>(evaluation.rows());
  const auto cols = static_cast<std::size_t>(evaluation.cols());
  std::size_t label_width = 0;
  for (const Place& each : places) {
    label_width = std::max(label_width, width_of(each.label));
  }
  const auto number = [&](std::size_t i) { return fmt::format("{:.5g}", columns[i] + 0.0); };  // no -0
  std::vector<std::size_t> widths(cols);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths[i / rows] = std::max(widths[i / rows], number(i).size());
  }
  std::string out;
  for (std::size_t i = 0; i < rows; ++i) {
    out += "  " + padded(places[i].label, label_width);
    for (std::size_t j = 0; j < cols; ++j) {
      out += fmt::format("  {:>{}}", number(i + j * rows), widths[j]);
    }
    out += '\n';
  }
  return out;
}

std::string spaces_text(const Operator& x, int rows, int cols) {
  const bool to_number = x.range().kind == SpaceKind::number;
  const bool from_number = x.domain().kind == SpaceKind::number;
  if (to_number && from_number) {
    return "a number";
  }
  if (from_number) {
    return fmt::format("a stacked vector of {}, {} numbers", to_string(x.range()), rows);
  }
  return fmt::format("from {} to {}, {} × {}, {}", to_string(x.domain()), to_string(x.range()), rows, cols,
                     to_string(x.kind()));
}

std::string sweeps_text(const PlanReport& plan) {
  std::vector<std::string> directions;
  const bool has_vector =
      std::any_of(plan.sweeps.begin(), plan.sweeps.end(), [](const Sweep& sweep) { return !sweep.once_per_state; });
  const auto says = [&](std::string_view what) {
    return std::any_of(plan.sweeps.begin(), plan.sweeps.end(),
                       [&](const Sweep& sweep) { return sweep.text.find(what) != std::string::npos; });
  };
  const bool dense = says("by a dense matrix");
  const bool solve = says("a solve of closure size");
  for (const Sweep& sweep : plan.sweeps) {
    if (sweep.direction != "local" && sweep.direction != "whole" && !(has_vector && sweep.once_per_state)) {
      directions.push_back(sweep.direction);
    }
  }
  const std::string and_dense =
      fmt::format("{}{}", solve ? ", and a solve of closure size" : "", dense ? ", and a dense matrix" : "");
  const auto sweeps = [](std::size_t n) { return fmt::format("{} sweep{}", n, n == 1 ? "" : "s"); };
  const auto fused = static_cast<std::size_t>(plan.fused);
  if (fused == 0) {
    return dense ? "a dense matrix" : solve ? "a solve of closure size" : "no sweeps: body by body";
  }
  const std::string counted = fused == directions.size() ? sweeps(fused)
                                                         : fmt::format("{} from q to the result, {} for another vector",
                                                                       sweeps(fused), directions.size());
  return fmt::format("{}{}{}{}", counted, directions.empty() ? "" : ": ", fmt::join(directions, ", "), and_dense);
}

std::string summary_text(const Operator& x, const Evaluation& evaluation) {
  const std::string written = to_unicode(x);
  const std::string found = operators::is_zero(evaluation.expression()) ? "0" : to_unicode(evaluation.expression());
  std::string out = fmt::format("{}\n  {}\n", written, spaces_text(x, evaluation.rows(), evaluation.cols()));
  if (found != written) {
    out += fmt::format("  = {}\n", found);
  }
  return out + fmt::format("  {}\n", sweeps_text(evaluation.plan()));
}

std::string derivation_text(const Derivation& derivation) {
  return to_string(derivation) + (derivation.steps.empty() ? "  no identity makes it cheaper\n" : "");
}

std::string verdict_text(const Verdict& verdict) {
  const std::string systems = fmt::format("{} system{}", verdict.samples, verdict.samples == 1 ? "" : "s");
  if (!verdict.holds) {
    return fmt::format("refuted: {}; {} tried\n", verdict.counterexample, systems);
  }
  return fmt::format("{}: largest residual {:.2g} on {}\n{}", to_string(verdict), verdict.residual, systems,
                     verdict.proof ? to_string(*verdict.proof) : "");
}

std::string symbols_text() {
  std::string out = fmt::format("{:<11}{:<5}{:<17}{:<12}meaning (source)\n", "name", "", "spaces", "kind");
  for (const SymbolInfo& each : symbol_table()) {
    const bool is_vector = each.domain == SpaceKind::number;
    out += fmt::format("{}{}{}{}{} ({})\n", padded(each.ascii, 11), padded(each.unicode, 5),
                       padded(is_vector ? fmt::format("{} vector", space_name(each.range))
                                        : fmt::format("{} <- {}", space_name(each.range), space_name(each.domain)),
                              17),
                       padded(is_vector ? "" : to_string(each.kind), 12), each.meaning, each.source);
  }
  out += fmt::format("{}{}{}{}the identity; its space follows from where it stands\n\n", padded("I", 11),
                     padded("I", 5), padded("any", 17), padded("memoryless", 12));
  out +=
      "x*y or x y   product              x + y, x - y, 2*x   sums and multiples\n"
      "~x, x∗       adjoint              x[i, j], v[i]       a block, by bodies' names or numbers\n"
      "inv(x)       inverse, by the identities               dense_inv(x)   inverse by a dense matrix\n"
      "sqrt(x)      root of a memoryless operator            cross(v)       cross product with a stacked vector\n"
      "unit(i)      unit vector of the velocity coordinate i\n"
      "gather(E, x), spread(E, x), carry(E, x)               recursions over the blocks of a memoryless x, one step\n"
      "diff(x, i)   derivative in velocity coordinate i      diff(x, u)     along a vector of hinge space\n"
      "dt(x)        derivative in time                       dH(u)          of H along u\n"
      "Q(f)         Q(f) v = ~cross(v)*f                     lyap(r, x)     y of r*y + y*r = x, block by block\n"
      "psi_{X, A}   P, D, G, K, psi … of an inertia X and an armature A\n";
  return out;
}

std::string symbols_json() {
  JsonWriter json;
  json.begin_array();
  for (const SymbolInfo& each : symbol_table()) {
    json.begin_object().key("name").value(each.ascii).key("unicode").value(each.unicode);
    json.key("latex").value(each.latex).key("range").value(space_name(each.range));
    json.key("domain").value(space_name(each.domain)).key("kind").value(to_string(each.kind));
    json.key("meaning").value(each.meaning).key("source").value(each.source).end_object();
  }
  json.end_array().newline();
  return std::string(json.text());
}

}  // namespace bunraku::cli
