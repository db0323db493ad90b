// What candidates cost: the one place where the search asks for a plan.

#include <limits>
#include <memory>

#include "bunraku/model/builder.hpp"
#include "bunraku/operators/language/detail/terms.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/evaluator.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::operators {

namespace {

/// A small tree on which operations are counted: each hinge has one velocity, as most have, and each body a node.
struct Sample {
  std::shared_ptr<const Folded> bodies;
  std::shared_ptr<const Folded> links;
  std::vector<Node> nodes;
};

const Sample& sample() {
  static const Sample made = [] {
    constexpr int count = 4;
    ModelBuilder builder;
    std::vector<Node> nodes;
    for (int i = 0; i < count; ++i) {
      const double x = 0.3 + 0.1 * i;
      BodySpec body;
      body.name = "b" + std::to_string(i);
      if (i > 0) {
        body.parent = i == 3 ? "b1" : "b" + std::to_string(i - 1);  // a branch
      }
      body.X_PF = {Rotation<double>::from_rpy(x, 2 * x, -x), {x, 0.1, 0.2}};
      body.hinge = {.name = "h" + std::to_string(i), .type = HingeType::revolute, .dofs = {HingeDof{.armature = 0.1}}};
      body.inertia = RigidInertia<double>::about_center(1 + x, {x, 0.2, 0.1}, {0.3, 0.4, 0.5, 0.01, 0.02, 0.03});
      builder.add(body);
      nodes.push_back({.name = "n" + std::to_string(i), .body = i, .X_BN = Transform<double>::translate({x, x, x})});
    }
    builder.add(ClosureSpec{
        .name = "loop", .hinge = {.name = "", .type = HingeType::spherical, .dofs = {}}, .a = "b2", .b = "b3"});
    builder.add(ClosureSpec{.name = "tie", .kind = ClosureKind::hinges, .a = "h0", .b = "h3"});
    const Model model = builder.build();
    return Sample{std::make_shared<const Folded>(model, Fold::bodies),
                  std::make_shared<const Folded>(model, Fold::links), nodes};
  }();
  return made;
}

/// Blocks near the identity for the variables in an expression.
void attach_variables(const Operator& x, Attachments& out) {
  if (x.term().type == TermType::variable &&
      std::none_of(out.variables.begin(), out.variables.end(),
                   [&](const VariableBlocks& each) { return each.variable == x; })) {
    VariableBlocks blocks = blocks_for(*sample().bodies, out.nodes, x);
    for (VariableBlock& block : blocks.blocks) {
      for (std::size_t i = 0; i < block.values.size(); ++i) {
        block.values[i] = i % (block.cols.size() + 1) == 0 ? 1.5 : 0.01;
      }
    }
    out.variables.push_back(std::move(blocks));
  }
  for (const Operator& part : x.term().parts) {
    attach_variables(part, out);
  }
}

/// Operations of a plan, counted by doing them.
double flops_of(const std::shared_ptr<const Plan>& plan, Use use) {
  Attachments given;
  given.nodes = sample().nodes;
  attach_variables(plan->expression, given);
  const auto attached =
      std::make_shared<const Attachments>(attachments_for(plan->expression, sample().bodies->model, given, {}));
  Evaluator<Counting> counter(plan, plan->mergeable ? sample().links : sample().bodies, attached);
  const std::vector<Counting> q{0.3, -0.4, 0.5, 0.6};
  counter.set_state(q.data(), q.data());
  for (const Symbol each : {Symbol::T_p, Symbol::thetadd, Symbol::T}) {
    counter.set_given(each, q.data());
  }
  const std::vector<Counting> x(static_cast<std::size_t>(counter.cols()));
  std::vector<Counting> y(static_cast<std::size_t>(counter.rows()));
  long before = Counting::count();
  counter.apply(x.data(), y.data());
  if (use == Use::fixed_state && plan->input != no_value) {
    before = Counting::count();
    counter.apply(x.data(), y.data());
  }
  return static_cast<double>(Counting::count() - before);
}

}  // namespace

Cost cost_of(const Operator& x, Use use) {
  const std::string text = to_ascii(x);
  const auto plan = std::make_shared<const Plan>(make_plan(x, {}, Inverses::refused));
  const bool of_vector = use == Use::fixed_state && plan->input != no_value;
  const int sweeps = sweeps_in(of_vector ? plan->of_vector : plan->fused);
  // parts and unit vectors name bodies and velocities that the sample may not have
  const bool names_places = any_in(x, [](const Operator& part) {
    return part.term().type == TermType::unit || part.term().type == TermType::block;
  });
  double flops = static_cast<double>(plan->values.size());
  if (!names_places) {
    try {
      flops = flops_of(plan, use);
    } catch (const Error&) {  // singular here: what it costs elsewhere is not known
      flops = std::numeric_limits<double>::max();
    }
  }
  return {sweeps, flops, text.size(), text};
}

}  // namespace bunraku::operators
