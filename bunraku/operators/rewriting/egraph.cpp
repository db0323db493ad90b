#include "bunraku/operators/rewriting/detail/egraph.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

std::size_t ENodeHash::operator()(const ENode& n) const {
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

ENode EGraph::canonical(const ENode& n) const {
  ENode out = n;
  if (n.type != ENodeType::leaf && n.type != ENodeType::identity && n.type != ENodeType::zero) {
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
  return add(ENode{ENodeType::leaf, index});
}

int EGraph::identity(const Space& space) {
  // The leaf table holds an identity for each space, so that terms of different spaces differ.
  const Operator x = in_space(Operator::identity(), space);
  const auto found = std::find(leaves_.begin(), leaves_.end(), x);
  const auto index = static_cast<int>(found - leaves_.begin());
  if (found == leaves_.end()) {
    leaves_.push_back(x);
  }
  return add(ENode{ENodeType::identity, index});
}

int EGraph::zero(int like) {
  const Space range = ranges_[at(like)];
  const Space domain = domains_[at(like)];
  for (std::size_t i = 0; i < zeros_.size(); ++i) {
    if (zeros_[i].range() == range && zeros_[i].domain() == domain) {
      return add(ENode{ENodeType::zero, static_cast<int>(i)});
    }
  }
  zeros_.push_back(Operator(0.0) * expression(like));
  return add(ENode{ENodeType::zero, static_cast<int>(zeros_.size()) - 1});
}

int EGraph::add(const ENode& n) {
  if (const auto found = exact_.find(n); found != exact_.end()) {
    return found->second;
  }
  const int id = size();
  nodes_.push_back(n);
  Space range;
  Space domain;
  switch (n.type) {
    case ENodeType::leaf:
    case ENodeType::identity:
      range = leaves_[at(n.a)].range();
      domain = leaves_[at(n.a)].domain();
      break;
    case ENodeType::product:
      range = ranges_[at(n.a)];
      domain = domains_[at(n.b)];
      break;
    case ENodeType::zero:
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
  plain_.push_back(n.type == ENodeType::identity || n.type == ENodeType::zero ? n.type : ENodeType::leaf);
  uses_.emplace_back();
  exact_.emplace(n, id);
  const bool has_operands = n.type == ENodeType::product || n.type == ENodeType::sum || n.type == ENodeType::scale ||
                            n.type == ENodeType::inverse;
  if (has_operands) {
    const ENode key = canonical(n);
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

int EGraph::insert(const ENode& n) {
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
      return add(ENode{ENodeType::inverse, add(t.parts[0])});
    case TermType::identity:
      return identity(x.range());
    default:
      return add_leaf(x);
  }
}

int EGraph::lookup(const ENode& n) const {
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
        id = left < 0 ? -1 : lookup(ENode{t.type == TermType::sum ? ENodeType::sum : ENodeType::product, left, id});
      }
      return id;
    }
    case TermType::scale: {
      const int id = lookup(t.parts[0]);
      return id < 0 ? -1 : lookup(ENode{ENodeType::scale, id, -1, t.number});
    }
    case TermType::inverse: {
      const int id = lookup(t.parts[0]);
      return id < 0 ? -1 : lookup(ENode{ENodeType::inverse, id});
    }
    default: {
      const auto found = std::find(leaves_.begin(), leaves_.end(), x);
      if (found == leaves_.end()) {
        return -1;
      }
      const ENodeType type = t.type == TermType::identity ? ENodeType::identity : ENodeType::leaf;
      const auto id = exact_.find(ENode{type, static_cast<int>(found - leaves_.begin())});
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
  if (plain_[at(b)] != ENodeType::leaf) {
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
  std::unordered_set<ENode, ENodeHash> seen;
  for (int id = 0; id < size(); ++id) {
    if (seen.insert(canonical(node(id))).second) {
      out[at(find(id))].push_back(id);
    }
  }
  return out;
}

}  // namespace bunraku::operators
