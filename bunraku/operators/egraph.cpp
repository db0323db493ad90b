#include "bunraku/operators/detail/egraph.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

#include "bunraku/operators/detail/plan.hpp"
#include "bunraku/operators/text.hpp"

namespace bunraku::operators {

namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// More rounds than this are not made: each looks at every term once.
constexpr int max_rounds = 12;

}  // namespace

std::size_t NodeHash::operator()(const Node& n) const {
  std::size_t h = static_cast<std::size_t>(n.type);
  for (const std::size_t x : {at(n.a + 1), at(n.b + 1), std::hash<double>()(n.number)}) {
    h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6U) + (h >> 2U);
  }
  return h;
}

EGraph::EGraph(std::span<const Identity> identities, const Conditions& conditions) {
  for (std::size_t i = 0; i < identities.size(); ++i) {
    const Identity& each = identities[i];
    if (!each.applies(conditions)) {
      continue;
    }
    const auto index = static_cast<int>(i);
    const auto offer = [&](const Operator& left, const Operator& right) {
      rules_.push_back({left, right, {Reason::Type::identity, index, false}});
      if (each.both_ways) {
        rules_.push_back({right, left, {Reason::Type::identity, index, true}});
      }
    };
    const Operator left = pushed(each.left);
    const Operator right = pushed(each.right);
    offer(left, right);
    const Operator left_adjoint = pushed(~each.left);
    const Operator right_adjoint = pushed(~each.right);
    if (!(left_adjoint == left) || !(right_adjoint == right)) {
      offer(left_adjoint, right_adjoint);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Terms

int EGraph::find(int id) const {
  while (parent_[at(id)] != id) {
    parent_[at(id)] = parent_[at(parent_[at(id)])];
    id = parent_[at(id)];
  }
  return id;
}

Node EGraph::canonical(const Node& n) const {
  Node out = n;
  if (n.type != NodeType::leaf && n.type != NodeType::identity && n.type != NodeType::zero) {
    out.a = find(n.a);
    out.b = n.b < 0 ? -1 : find(n.b);
  }
  return out;
}

int EGraph::add_leaf(const Operator& x) {
  const auto found = std::find(leaves_.begin(), leaves_.end(), x);
  const auto index = static_cast<int>(found - leaves_.begin());
  if (found == leaves_.end()) {
    leaves_.push_back(x);
  }
  return add(Node{NodeType::leaf, index});
}

int EGraph::identity(const Space& space) {
  // The leaf table holds an identity for each space, so that terms of different spaces differ.
  const Operator x = in_space(Operator::identity(), space);
  const auto found = std::find(leaves_.begin(), leaves_.end(), x);
  const auto index = static_cast<int>(found - leaves_.begin());
  if (found == leaves_.end()) {
    leaves_.push_back(x);
  }
  return add(Node{NodeType::identity, index});
}

int EGraph::zero(int like) {
  const Space range = ranges_[at(like)];
  const Space domain = domains_[at(like)];
  for (std::size_t i = 0; i < zeros_.size(); ++i) {
    if (zeros_[i].range() == range && zeros_[i].domain() == domain) {
      return add(Node{NodeType::zero, static_cast<int>(i)});
    }
  }
  zeros_.push_back(Operator(0.0) * expression(like));
  return add(Node{NodeType::zero, static_cast<int>(zeros_.size()) - 1});
}

int EGraph::add(const Node& n) {
  if (const auto found = exact_.find(n); found != exact_.end()) {
    return found->second;
  }
  const int id = size();
  nodes_.push_back(n);
  Space range;
  Space domain;
  switch (n.type) {
    case NodeType::leaf:
    case NodeType::identity:
      range = leaves_[at(n.a)].range();
      domain = leaves_[at(n.a)].domain();
      break;
    case NodeType::product:
      range = ranges_[at(n.a)];
      domain = domains_[at(n.b)];
      break;
    case NodeType::zero:
      range = zeros_[at(n.a)].range();
      domain = zeros_[at(n.a)].domain();
      break;
    default:
      range = ranges_[at(n.a)];
      domain = domains_[at(n.a)];
      break;
  }
  ranges_.push_back(range);
  domains_.push_back(domain);
  parent_.push_back(id);
  proof_parent_.push_back(-1);
  proof_reason_.emplace_back();
  members_.push_back({id});
  plain_.push_back(n.type == NodeType::identity || n.type == NodeType::zero ? n.type : NodeType::leaf);
  uses_.emplace_back();
  exact_.emplace(n, id);
  const bool has_operands = n.type == NodeType::product || n.type == NodeType::sum || n.type == NodeType::scale ||
                            n.type == NodeType::inverse;
  if (has_operands) {
    const Node key = canonical(n);
    uses_[at(key.a)].push_back(id);
    if (key.b >= 0 && key.b != key.a) {
      uses_[at(key.b)].push_back(id);
    }
    const auto [place, is_new] = canonical_.emplace(key, id);
    if (!is_new) {
      unite(id, place->second, {Reason::Type::congruence});
    }
  }
  return id;
}

int EGraph::insert(const Node& n) {
  const int id = add(n);
  rebuild();
  return id;
}

int EGraph::add(const Operator& x) {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::sum:
    case TermType::product: {
      int id = add(t.parts.back());
      for (std::size_t i = t.parts.size() - 1; i-- > 0;) {
        id = t.type == TermType::sum ? sum(add(t.parts[i]), id) : product(add(t.parts[i]), id);
      }
      return id;
    }
    case TermType::scale:
      return scaled(t.number, add(t.parts[0]));
    case TermType::inverse:
      return add(Node{NodeType::inverse, add(t.parts[0])});
    case TermType::identity:
      return identity(x.range());
    default:
      return add_leaf(x);
  }
}

int EGraph::lookup(const Node& n) const {
  const auto found = canonical_.find(canonical(n));
  return found == canonical_.end() ? -1 : found->second;
}

int EGraph::lookup(const Operator& x) const {
  const Term& t = x.term();
  switch (t.type) {
    case TermType::sum:
    case TermType::product: {
      int id = lookup(t.parts.back());
      for (std::size_t i = t.parts.size() - 1; id >= 0 && i-- > 0;) {
        const int left = lookup(t.parts[i]);
        id = left < 0 ? -1 : lookup(Node{t.type == TermType::sum ? NodeType::sum : NodeType::product, left, id});
      }
      return id;
    }
    case TermType::scale: {
      const int id = lookup(t.parts[0]);
      return id < 0 ? -1 : lookup(Node{NodeType::scale, id, -1, t.number});
    }
    case TermType::inverse: {
      const int id = lookup(t.parts[0]);
      return id < 0 ? -1 : lookup(Node{NodeType::inverse, id});
    }
    default: {
      const auto found = std::find(leaves_.begin(), leaves_.end(), x);
      if (found == leaves_.end()) {
        return -1;
      }
      const NodeType type = t.type == TermType::identity ? NodeType::identity : NodeType::leaf;
      const auto id = exact_.find(Node{type, static_cast<int>(found - leaves_.begin())});
      return id == exact_.end() ? -1 : id->second;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Equality

void EGraph::unite(int x, int y, const Reason& reason) {
  int a = find(x);
  int b = find(y);
  if (a == b) {
    return;
  }
  if (!(ranges_[at(a)] == ranges_[at(b)]) || !(domains_[at(a)] == domains_[at(b)])) {
    throw std::logic_error(fmt::format("a rule equates operators between different spaces: {} and {}",
                                       to_ascii(expression(x)), to_ascii(expression(y))));
  }
  // x becomes the root of its proof tree, and then hangs on y.
  int below = -1;
  Reason below_reason{};
  for (int at_now = x; at_now >= 0;) {
    const int up = proof_parent_[at(at_now)];
    const Reason up_reason = proof_reason_[at(at_now)];
    proof_parent_[at(at_now)] = below;
    proof_reason_[at(at_now)] = below_reason;
    below = at_now;
    below_reason = up_reason;
    below_reason.backwards = !below_reason.backwards;
    at_now = up;
  }
  proof_parent_[at(x)] = y;
  proof_reason_[at(x)] = reason;

  if (members_[at(a)].size() < members_[at(b)].size()) {
    std::swap(a, b);
  }
  parent_[at(b)] = a;
  if (plain_[at(b)] != NodeType::leaf) {
    plain_[at(a)] = plain_[at(b)];
  }
  members_[at(a)].insert(members_[at(a)].end(), members_[at(b)].begin(), members_[at(b)].end());
  members_[at(b)].clear();
  members_[at(b)].shrink_to_fit();
  dirty_.insert(dirty_.end(), uses_[at(b)].begin(), uses_[at(b)].end());
  uses_[at(a)].insert(uses_[at(a)].end(), uses_[at(b)].begin(), uses_[at(b)].end());
  uses_[at(b)].clear();
}

void EGraph::rebuild() {
  while (!dirty_.empty()) {
    std::vector<int> work;
    work.swap(dirty_);
    for (const int id : work) {
      const auto [place, is_new] = canonical_.emplace(canonical(node(id)), id);
      if (!is_new && find(place->second) != find(id)) {
        unite(id, place->second, {Reason::Type::congruence});
      }
    }
  }
}

std::vector<std::vector<int>> EGraph::distinct_terms() const {
  std::vector<std::vector<int>> out(nodes_.size());
  std::unordered_set<Node, NodeHash> seen;
  for (int id = 0; id < size(); ++id) {
    if (seen.insert(canonical(node(id))).second) {
      out[at(find(id))].push_back(id);
    }
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------------------------
// Saturation

void EGraph::saturate(int max_nodes) {
  max_nodes_ = max_nodes;
  rebuild();
  for (int round = 0; round < max_rounds; ++round) {
    const int before = size();
    std::size_t classes_before = 0;
    for (const auto& each : members_) {
      classes_before += each.empty() ? 0 : 1;
    }
    apply_identities();
    rebuild();
    round_ = distinct_terms();
    const int count = size();
    for (int c = 0; c < count && !full(); ++c) {
      // a copy: the terms of this round, while new ones arrive
      const std::vector<int> terms = round_[at(c)];
      for (const int id : terms) {
        apply_algebra(id);
        if (full()) {
          break;
        }
      }
    }
    rebuild();
    std::size_t classes = 0;
    for (const auto& each : members_) {
      classes += each.empty() ? 0 : 1;
    }
    if (full() || (size() == before && classes == classes_before)) {
      break;
    }
  }
  apply_identities();
  rebuild();
}

void EGraph::apply_identities() {
  bool more = true;
  while (more) {
    more = false;
    for (const GroundRule& rule : rules_) {
      const int found = lookup(rule.left);
      if (found < 0) {
        continue;
      }
      const int other = lookup(rule.right);
      if (other >= 0 && find(other) == find(found)) {
        continue;
      }
      unite(add(rule.left), add(rule.right), rule.reason);
      rebuild();
      more = true;
    }
  }
}

template <class Visit>
void EGraph::each_term(int id, NodeType type, const Visit& visit) {
  const int c = find(id);
  // What equals I or 0 is taken as that alone: x x⁻¹ = I would otherwise breed products without end.
  const NodeType plain = plain_[at(c)];
  if (plain != NodeType::leaf && plain != type) {
    return;
  }
  // The class may have grown by classes merged in this round; their terms come in the next.
  if (c >= static_cast<int>(round_.size())) {
    return;
  }
  const std::vector<int> terms = round_[at(c)];
  for (const int term : terms) {
    if (node(term).type == type) {
      visit(term);
    }
  }
}

/// Visits the products of a class, and the products of which it is a multiple.
template <class Visit>
void EGraph::each_multiple(int id, const Visit& visit) {
  each_term(id, NodeType::product, [&](int m) { visit(1.0, m); });
  each_term(id, NodeType::scale,
            [&](int k) { each_term(node(k).a, NodeType::product, [&](int m) { visit(node(k).number, m); }); });
}

bool EGraph::first_time(int law, int x, int y, double c, double d) {
  const std::size_t factors = std::hash<double>()(c) * 31 + std::hash<double>()(d);
  const std::uint64_t key = (static_cast<std::uint64_t>(law) << 56U) ^ (static_cast<std::uint64_t>(x) << 28U) ^
                            static_cast<std::uint64_t>(y) ^ (factors << 17U);
  return seen_.insert(key).second;
}

void EGraph::apply_algebra(int id) {
  switch (node(id).type) {
    case NodeType::product:
      product_laws(id);
      break;
    case NodeType::sum:
      sum_laws(id);
      break;
    case NodeType::scale:
      scale_laws(id);
      break;
    case NodeType::inverse:
      inverse_laws(id);
      break;
    default:
      break;
  }
}

void EGraph::product_laws(int id) {
  const Node n = node(id);
  each_term(n.a, NodeType::product, [&](int m) {  // (x y) b = x (y b)
    if (first_time(0, id, m)) {
      equal(product(m, n.b), product(node(m).a, product(node(m).b, n.b)));
    }
  });
  each_term(n.b, NodeType::product, [&](int m) {  // a (x y) = (a x) y
    if (first_time(1, id, m)) {
      equal(product(n.a, m), product(product(n.a, node(m).a), node(m).b));
    }
  });
  each_term(n.a, NodeType::sum, [&](int m) {  // (x + y) b = x b + y b
    if (first_time(2, id, m)) {
      equal(product(m, n.b), sum(product(node(m).a, n.b), product(node(m).b, n.b)));
    }
  });
  each_term(n.b, NodeType::sum, [&](int m) {
    if (first_time(3, id, m)) {
      equal(product(n.a, m), sum(product(n.a, node(m).a), product(n.a, node(m).b)));
    }
  });
  each_term(n.a, NodeType::scale, [&](int m) {  // (c x) b = c (x b)
    if (first_time(4, id, m)) {
      equal(product(m, n.b), scaled(node(m).number, product(node(m).a, n.b)));
    }
  });
  each_term(n.b, NodeType::scale, [&](int m) {
    if (first_time(5, id, m)) {
      equal(product(n.a, m), scaled(node(m).number, product(n.a, node(m).a)));
    }
  });
  each_term(n.a, NodeType::identity, [&](int m) { equal(product(m, n.b), n.b); });
  each_term(n.b, NodeType::identity, [&](int m) { equal(product(n.a, m), n.a); });
  each_term(n.a, NodeType::inverse, [&](int m) {  // x⁻¹ x = I
    if (find(node(m).a) == find(n.b)) {
      equal(product(m, node(m).a), identity(domains_[at(n.b)]));
    }
  });
  each_term(n.b, NodeType::inverse, [&](int m) {
    if (find(node(m).a) == find(n.a)) {
      equal(product(node(m).a, m), identity(ranges_[at(n.a)]));
    }
  });
  for (const int side : {n.a, n.b}) {
    each_term(side, NodeType::zero, [&](int m) { equal(side == n.a ? product(m, n.b) : product(n.a, m), zero(id)); });
  }
}

void EGraph::sum_laws(int id) {
  const Node n = node(id);
  if (first_time(6, id, 0)) {
    equal(id, sum(n.b, n.a));
  }
  each_term(n.a, NodeType::sum, [&](int m) {  // (x + y) + b = x + (y + b)
    if (first_time(7, id, m)) {
      equal(sum(m, n.b), sum(node(m).a, sum(node(m).b, n.b)));
    }
  });
  each_term(n.a, NodeType::zero, [&](int m) { equal(sum(m, n.b), n.b); });
  // common factors, on the left and on the right; a lone x counts as x I
  const auto multiple = [&](double c, int x) { return c == 1 ? x : scaled(c, x); };
  each_multiple(n.a, [&](double c, int m) {
    each_multiple(n.b, [&](double d, int k) {
      const Node x = node(m);
      const Node y = node(k);
      if (find(x.a) == find(y.a) && first_time(8, m, k, c, d)) {
        equal(sum(multiple(c, m), multiple(d, product(x.a, y.b))),
              product(x.a, sum(multiple(c, x.b), multiple(d, y.b))));
      }
      if (find(x.b) == find(y.b) && first_time(9, m, k, c, d)) {
        equal(sum(multiple(c, m), multiple(d, product(y.a, x.b))),
              product(sum(multiple(c, x.a), multiple(d, y.a)), x.b));
      }
    });
  });
  each_multiple(n.b, [&](double d, int k) {
    const Node y = node(k);
    if (find(y.a) == find(n.a) && first_time(10, id, k, 1, d)) {  // a + d a y = a (I + d y)
      equal(sum(n.a, multiple(d, product(n.a, y.b))), product(n.a, sum(identity(domains_[at(id)]), multiple(d, y.b))));
    }
    if (find(y.b) == find(n.a) && first_time(11, id, k, 1, d)) {  // a + d y a = (I + d y) a
      equal(sum(n.a, multiple(d, product(y.a, n.a))), product(sum(identity(ranges_[at(id)]), multiple(d, y.a)), n.a));
    }
  });
  // multiples of one thing
  const auto collect = [&](double c, double d, int x) {
    const int total = c + d == 0 ? zero(x) : c + d == 1 ? x : scaled(c + d, x);
    equal(sum(c == 1 ? x : scaled(c, x), scaled(d, x)), total);
  };
  if (find(n.a) == find(n.b)) {
    equal(sum(n.a, n.a), scaled(2, n.a));
  }
  each_term(n.b, NodeType::scale, [&](int k) {
    if (find(node(k).a) == find(n.a) && first_time(12, id, k)) {
      collect(1, node(k).number, n.a);
    }
    each_term(n.a, NodeType::scale, [&](int m) {
      if (!first_time(13, m, k)) {
        return;
      }
      if (find(node(m).a) == find(node(k).a)) {
        collect(node(m).number, node(k).number, node(m).a);
      }
      if (node(m).number == node(k).number) {  // c x + c y = c (x + y)
        equal(sum(m, k), scaled(node(m).number, sum(node(m).a, node(k).a)));
      }
    });
  });
}

void EGraph::scale_laws(int id) {
  const Node n = node(id);
  if (n.number == 1) {
    equal(id, n.a);
  } else if (n.number == 0) {
    equal(id, zero(id));
    return;
  }
  each_term(n.a, NodeType::scale, [&](int m) {
    const double number = n.number * node(m).number;
    equal(scaled(n.number, m), number == 1 ? node(m).a : scaled(number, node(m).a));
  });
  each_term(n.a, NodeType::sum, [&](int m) {
    if (first_time(14, id, m)) {
      equal(scaled(n.number, m), sum(scaled(n.number, node(m).a), scaled(n.number, node(m).b)));
    }
  });
  each_term(n.a, NodeType::zero, [&](int m) { equal(scaled(n.number, m), m); });
}

void EGraph::inverse_laws(int id) {
  const Node n = node(id);
  const auto inverse = [&](int x) { return add(Node{NodeType::inverse, x}); };
  each_term(n.a, NodeType::product, [&](int m) {  // (x y)⁻¹ = y⁻¹ x⁻¹ where both map the space to itself
    const bool square = ranges_[at(node(m).a)] == domains_[at(node(m).a)];
    if (square && first_time(16, id, m)) {
      equal(inverse(m), product(inverse(node(m).b), inverse(node(m).a)));
    }
  });
  each_term(n.a, NodeType::inverse, [&](int m) { equal(inverse(m), node(m).a); });
  each_term(n.a, NodeType::identity, [&](int m) { equal(inverse(m), m); });
  each_term(n.a, NodeType::scale, [&](int m) {
    if (node(m).number != 0 && first_time(17, id, m)) {
      equal(inverse(m), scaled(1 / node(m).number, inverse(node(m).a)));
    }
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Proofs

Operator EGraph::expression(int id) const {
  const Node& n = node(id);
  switch (n.type) {
    case NodeType::leaf:
    case NodeType::identity:
      return leaves_[at(n.a)];
    case NodeType::zero:
      return zeros_[at(n.a)];
    case NodeType::product:
      return expression(n.a) * expression(n.b);
    case NodeType::sum:
      return expression(n.a) + expression(n.b);
    case NodeType::scale:
      return Operator(n.number) * expression(n.a);
    case NodeType::inverse:
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
  const Node& x = node(from);
  const Node& y = node(to);
  const auto wrap = [&](const Operator& inner) {
    return x.type == NodeType::scale ? Operator(x.number) * inner : inv(inner);
  };
  if (x.type == NodeType::scale || x.type == NodeType::inverse) {
    for (const ProofStep& step : prove(x.a, y.a)) {
      out.push_back({wrap(step.expression), step.reason});
    }
    return;
  }
  const auto join = [&](const Operator& left, const Operator& right) {
    return x.type == NodeType::product ? left * right : left + right;
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
