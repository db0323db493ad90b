/// @file
/// Products with derivatives, of the tuned sweeps and of expressions, against the number of bodies.
#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include <bunraku/bunraku.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "derivatives_parts.hpp"
#include "meter.hpp"
#include "shapes.hpp"

namespace bench {

namespace {

namespace bk = bunraku;

/// The most that a product may cost, in evaluations of the function.
constexpr double most_of_product = 4;
/// The most that an exponent may be.
constexpr double most_of_exponent = 1.1;

/// A model at some states, and room for what comes out.
struct Subject {
  Subject(const Shape& shape, int n) : model(random_model(shape, n)), states(random_shape_states(model)), state(model) {
    for (std::vector<double>* each : {&way, &out, &out_v, &out_x}) {
      each->assign(static_cast<std::size_t>(model.nv()), 0.1);
    }
  }
  bk::Model model;
  std::vector<ShapeState> states;
  bk::State state;
  std::vector<double> way, out, out_v, out_x;
};

using Call = void (*)(Subject&, const ShapeState&);

void set(Subject& s, const ShapeState& x) {
  s.state.set(std::span(x.q), std::span(x.v));
}

/// A function, and its two products.
struct Products {
  const char* name;
  Call function;
  Call jvp;
  Call vjp;
};

const Products products[] = {
    {"inverse dynamics",
     [](Subject& s, const ShapeState& x) {
       set(s, x);
       bk::inverse_dynamics(s.state, std::span(x.x), s.out);
     },
     [](Subject& s, const ShapeState& x) {
       set(s, x);
       bk::inverse_dynamics_jvp(s.state, std::span(x.x), std::span(s.way), std::span(s.way), std::span(s.way), s.out);
     },
     [](Subject& s, const ShapeState& x) {
       set(s, x);
       bk::inverse_dynamics_vjp(s.state, std::span(x.x), std::span(s.way), s.out, s.out_v, s.out_x);
     }},
    {"forward dynamics",
     [](Subject& s, const ShapeState& x) {
       set(s, x);
       bk::forward_dynamics(s.state, std::span(x.x), s.out);
     },
     [](Subject& s, const ShapeState& x) {
       set(s, x);
       bk::forward_dynamics_jvp(s.state, std::span(x.x), std::span(s.way), std::span(s.way), std::span(s.way), s.out);
     },
     [](Subject& s, const ShapeState& x) {
       set(s, x);
       bk::forward_dynamics_vjp(s.state, std::span(x.x), std::span(s.way), s.out, s.out_v, s.out_x);
     }}};

std::vector<int> sizes_from_seven(int max) {
  std::vector<int> out{7};
  for (int n = 30; n <= max; n = n % 9 == 3 ? n / 3 * 10 : n * 3) {
    out.push_back(n);
  }
  return out;
}

}  // namespace

std::string measure_products(int max, double seconds) {
  fmt::print(
      "Jacobian times vector (JVP) and vector times Jacobian (VJP), at a new state each time, in evaluations of the\n"
      "function at a new state; target: at most {:.0f}.\n\n{:<8}{:>8}  {:<18}{:>14}{:>8}{:>8}\n",
      most_of_product, "shape", "bodies", "function", counting() ? "instructions" : "ns", "JVP", "VJP");
  std::vector<std::string> lines;
  double largest = 0;
  for (const Shape& shape : shapes()) {
    for (const int n : sizes_from_seven(std::min(max, 10000))) {
      Subject subject(shape, n);
      for (const Products& each : products) {
        std::vector<Batch> batches;
        for (const Call call : {each.function, each.jvp, each.vjp}) {
          batches.emplace_back([&subject, call] {
            for (const ShapeState& x : subject.states) {
              call(subject, x);
            }
          });
        }
        const std::vector<double> costs = measure(batches, seconds);
        require_finite(subject.out, each.name, subject.model.name());
        const double cost = costs[0] / static_cast<double>(subject.states.size());
        const double jvp = costs[1] / costs[0];
        const double vjp = costs[2] / costs[0];
        largest = std::max({largest, jvp, vjp});
        fmt::print("{:<8}{:>8}  {:<18}{:>14.0f}{:>8.2f}{:>8.2f}\n", shape.name, n, each.name, cost, jvp, vjp);
        std::fflush(stdout);
        lines.push_back(fmt::format(
            R"(    {{"shape": "{}", "n": {}, "function": "{}", "{}": {:.1f}, "jvp": {:.4f}, "vjp": {:.4f}}})",
            shape.name, n, each.name, unit(), cost, jvp, vjp));
      }
    }
  }
  fmt::print("largest {:.2f}  {}\n", largest, largest <= most_of_product ? "met" : "MISSED");
  return fmt::format("[\n{}\n  ]", fmt::join(lines, ",\n"));
}

std::string measure_expressions(int max, double seconds) {
  using namespace bk::soa;
  const bk::Operator mass = H * phi * M * ~phi * ~H;
  const bk::Operator u = bk::Operator::variable("u", bk::SpaceKind::hinge, bk::SpaceKind::number);
  const std::array<std::pair<const char*, bk::Operator>, 4> expressions{{
      {"diff(𝓜, u)", diff(mass, u)},
      {"diff(diff(𝓜, u), u)", diff(diff(mass, u), u)},
      {"diff(𝓜⁻¹, u)", diff(inv(mass), u)},
      {"diff(diff(𝓜⁻¹, u), u)", diff(diff(inv(mass), u), u)},
  }};
  fmt::print(
      "Expressions that are differentiated, applied to a vector at a new state, on trees; target: exponents of at "
      "most\n"
      "{:.1f}.\n\n{:<26}{:>8}{:>14}\n",
      most_of_exponent, "expression", "bodies", counting() ? "instructions" : "ns");
  const Shape& shape = shapes().back();
  std::vector<std::string> lines;
  std::vector<std::string> slopes;
  for (const auto& [name, expression] : expressions) {
    std::vector<GrowthPoint> points;
    for (const int n : sizes_from_seven(std::min(max, 10000))) {
      if (n < 100) {
        continue;
      }
      const bk::Model model = random_model(shape, n);
      const std::vector<ShapeState> states = random_shape_states(model);
      bk::System system(model, states.front().q, states.front().v);
      system.bind(u, std::vector<double>(static_cast<std::size_t>(model.nv()), 0.1));
      bk::Evaluation evaluation = system(expression);
      std::vector<double> out(static_cast<std::size_t>(model.nv()));
      const std::array<Batch, 1> batch{[&] {
        for (const ShapeState& x : states) {
          system.set_state(x.q, x.v);
          evaluation.apply(x.x, out);
        }
      }};
      const double cost = measure(batch, seconds)[0] / static_cast<double>(states.size());
      require_finite(out, name, model.name());
      points.emplace_back(n, cost);
      fmt::print("{:<26}{:>8}{:>14.0f}\n", name, n, cost);
      std::fflush(stdout);
      lines.push_back(fmt::format(R"(      {{"expression": "{}", "n": {}, "{}": {:.1f}}})", name, n, unit(), cost));
    }
    if (const std::optional<double> slope = exponent(points)) {
      fmt::print("{:<26}{:>8}{:>14.3f}  {}\n", name, "exponent", *slope, *slope <= most_of_exponent ? "met" : "MISSED");
      slopes.push_back(fmt::format(R"("{}": {:.4f})", name, *slope));
    }
  }
  return fmt::format("{{\n    \"rows\": [\n{}\n    ],\n    \"exponents\": {{{}}}\n  }}", fmt::join(lines, ",\n"),
                     fmt::join(slopes, ", "));
}

}  // namespace bench
