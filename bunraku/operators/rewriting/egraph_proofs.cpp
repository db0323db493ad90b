// Why two terms of a class are equal: the way between them in the proof forest.

#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/rewriting/detail/egraph.hpp"

namespace bunraku::operators {

Operator EGraph::expression(int id) const {
  const ENode& n = node(id);
  switch (n.type) {
    case ENodeType::leaf:
    case ENodeType::identity:
      return leaves_[at(n.a)];
    case ENodeType::zero:
      return zeros_[at(n.a)];
    case ENodeType::product:
      return expression(n.a) * expression(n.b);
    case ENodeType::sum:
      return expression(n.a) + expression(n.b);
    case ENodeType::scale:
      return Operator(n.number) * expression(n.a);
    case ENodeType::inverse:
      return inv(expression(n.a));
  }
  return Operator(0.0);
}

std::vector<int> EGraph::way_up(int id) const {
  std::vector<int> out;
  for (; id >= 0; id = proof_parent_[at(id)]) {
    out.push_back(id);
  }
  return out;
}

std::vector<EGraph::ProofStep> EGraph::prove(int from, int to) const {
  std::vector<int> up = way_up(from);
  std::vector<int> down = way_up(to);
  while (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
    up.pop_back();
    down.pop_back();
  }
  std::vector<ProofStep> out;
  for (std::size_t i = 0; i + 1 < up.size(); ++i) {
    prove_edge(up[i], up[i + 1], proof_reason_[at(up[i])], out);
  }
  for (std::size_t i = down.size() - 1; i > 0; --i) {
    Reason reason = proof_reason_[at(down[i - 1])];
    reason.backwards = !reason.backwards;
    prove_edge(down[i], down[i - 1], reason, out);
  }
  return out;
}

void EGraph::prove_edge(int from, int to, const Reason& reason, std::vector<ProofStep>& out) const {
  if (reason.type != Reason::Type::congruence) {
    out.push_back({expression(to), reason});
    return;
  }
  const ENode& x = node(from);
  const ENode& y = node(to);
  const auto wrap = [&](const Operator& inner) {
    return x.type == ENodeType::scale ? Operator(x.number) * inner : inv(inner);
  };
  if (x.type == ENodeType::scale || x.type == ENodeType::inverse) {
    for (const ProofStep& step : prove(x.a, y.a)) {
      out.push_back({wrap(step.expression), step.reason});
    }
    return;
  }
  const auto join = [&](const Operator& left, const Operator& right) {
    return x.type == ENodeType::product ? left * right : left + right;
  };
  if (x.a != y.a) {
    const Operator right = expression(x.b);
    for (const ProofStep& step : prove(x.a, y.a)) {
      out.push_back({join(step.expression, right), step.reason});
    }
  }
  if (x.b != y.b) {
    const Operator left = expression(y.a);
    for (const ProofStep& step : prove(x.b, y.b)) {
      out.push_back({join(left, step.expression), step.reason});
    }
  }
}

}  // namespace bunraku::operators
