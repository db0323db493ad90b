#include "bunraku/operators/rewriting/detail/extraction.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

namespace {

/// When a result is there: loops alternate, inward ones are even, outward ones odd. Of a vector that is there after
/// loop 0 (or 1) the result is there after loop `after[0]` (or `after[1]`). Products compose these, sums take the
/// later: sharing does not change them, so that the number of sweeps of a term follows from its parts.
struct Timing {
  std::array<int, 2> after{0, 1};

  int operator()(int loop) const { return after[at(loop % 2)] + (loop - loop % 2); }
  int sweeps() const { return std::min(after[0] + 1, after[1]); }
};

constexpr Timing no_carry{{0, 1}};
constexpr Timing carries_inward{{0, 2}};
constexpr Timing carries_outward{{1, 1}};

Timing timing_of(const Operator& leaf) {
  switch (leaf.kind()) {
    case Kind::memoryless:
      return no_carry;
    case Kind::causal:
      return carries_inward;
    case Kind::anticausal:
      return carries_outward;
    case Kind::general:
      break;
  }
  return {{1, 3}};  // Ω: inward, then outward
}

/// Operations of a leaf at a body with one velocity, applied to a vector.
double flops_of(const Operator& leaf) {
  if (leaf.domain().kind == SpaceKind::number) {
    return 0;
  }
  const Plan plan = make_plan(leaf, true);
  double sum = 0;
  for (int i = 0; i < static_cast<int>(plan.values.size()); ++i) {
    sum += work_of(plan, i, 1, 1).flops;
  }
  return sum;
}

/// What every step costs beside its operations, so that a longer way to write the same is never cheaper.
constexpr double step = 0.1;

/// A term that can be evaluated.
struct Choice {
  int node = -1;                        // the term in the e-graph
  std::array<int, 2> operands{-1, -1};  // choices of its operands: indices into the bank
  Timing timing = {};
  double flops = 0;
  double own = 0;  // without the vectors it is made of
  // Of a stacked vector: the vectors that it is made of, each of which is computed once however often it is used.
  std::vector<std::pair<int, double>> vectors = {};  // choice and its own operations, in order of the former
};

class Extractor {
 public:
  Extractor(const EGraph& graph, Sharing sharing)
      : graph_(graph), sharing_(sharing == Sharing::counted_once), terms_(graph.distinct_terms()) {
    choices_.resize(terms_.size());
    local_.resize(terms_.size(), -1);
    choose_local();
    choose();
  }

  std::vector<int> best(int id, EGraph& graph) const {
    std::vector<int> out;
    for (const int c : choices_[at(graph_.find(id))]) {
      out.push_back(added(c, graph));
    }
    return out;
  }

 private:
  // Different timings of one class are kept apart; of each the cheapest few.
  static constexpr std::size_t per_timing = 5;
  static constexpr std::size_t per_class = 20;

  const Choice& choice(int i) const { return bank_[at(i)]; }

  double size_of(int id) const {
    const SpaceKind kind = graph_.range(id).kind;
    return kind == SpaceKind::body || kind == SpaceKind::node ? 6.0 : 1.0;
  }

  /// The cheapest memoryless term of each class, for inverses that are taken block by block.
  void choose_local() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t c = 0; c < terms_.size(); ++c) {
        for (const int id : terms_[c]) {
          const std::optional<Choice> found = local_choice(id);
          if (found && (local_[c] < 0 || found->flops < choice(local_[c]).flops - 1e-9)) {
            local_[c] = store(*found);
            changed = true;
          }
        }
      }
    }
  }

  std::optional<Choice> local_choice(int id) const {
    const ENode& n = graph_.node(id);
    switch (n.type) {
      case ENodeType::leaf:
        if (graph_.leaf(n).kind() != Kind::memoryless) {
          return std::nullopt;
        }
        return leaf_choice(id);
      case ENodeType::identity:
      case ENodeType::zero:
        return leaf_choice(id);
      default: {
        const int a = local_[at(graph_.find(n.a))];
        const int b = n.b < 0 ? -1 : local_[at(graph_.find(n.b))];
        if (a < 0 || (n.b >= 0 && b < 0)) {
          return std::nullopt;
        }
        return combined(id, a, b);
      }
    }
  }

  Choice leaf_choice(int id) const {
    const ENode& n = graph_.node(id);
    Choice out{.node = id, .timing = no_carry, .flops = step};
    if (n.type == ENodeType::leaf) {
      out.timing = timing_of(graph_.leaf(n));
      out.flops += flops_of(graph_.leaf(n));
    }
    return out;
  }

  Choice combined(int id, int a, int b) const {
    const ENode& n = graph_.node(id);
    Choice out{.node = id, .operands = {a, b}, .timing = choice(a).timing};
    double own = step;
    if (n.type == ENodeType::scale) {
      own += size_of(id) * 0.5;
    } else if (n.type == ENodeType::inverse) {
      own += 2 * size_of(id) * size_of(id);
    } else if (n.type == ENodeType::sum) {
      own += size_of(id);
    }
    if (b >= 0) {
      const Timing first = choice(a).timing;
      const Timing second = choice(b).timing;
      for (int i = 0; i < 2; ++i) {
        out.timing.after[at(i)] = n.type == ENodeType::product ? first(second(i)) : std::max(first(i), second(i));
      }
    }
    const auto is_vector = [&](int operand) {
      return sharing_ && operand >= 0 && graph_.domain(choice(operand).node).kind == SpaceKind::number;
    };
    for (const int operand : {a, b}) {
      if (operand >= 0 && !is_vector(operand)) {
        own += choice(operand).flops;
      }
    }
    if (!sharing_ || graph_.domain(id).kind != SpaceKind::number) {
      out.flops = own;
      return out;
    }
    for (const int operand : {a, b}) {
      if (is_vector(operand)) {
        std::vector<std::pair<int, double>> all;
        std::set_union(out.vectors.begin(), out.vectors.end(), choice(operand).vectors.begin(),
                       choice(operand).vectors.end(), std::back_inserter(all));
        out.vectors.swap(all);
      }
    }
    out.flops = own;
    for (const auto& [vector, flops] : out.vectors) {
      out.flops += flops;
    }
    out.own = own;
    return out;
  }

  /// Keeps a choice; the same one has the same place.
  int store(Choice c) {
    const auto [place, is_new] =
        places_.try_emplace({c.node, c.operands[0], c.operands[1]}, static_cast<int>(bank_.size()));
    if (is_new) {
      if (sharing_ && c.operands[0] >= 0 && graph_.domain(c.node).kind == SpaceKind::number) {
        c.vectors.emplace_back(place->second, c.own);  // the largest place so far
      }
      bank_.push_back(std::move(c));
    }
    return place->second;
  }

  void choose() {
    bool changed = true;
    for (int round = 0; changed && round < 64; ++round) {
      changed = false;
      for (std::size_t c = 0; c < terms_.size(); ++c) {
        for (const int id : terms_[c]) {
          changed = offer_all(id, choices_[c]) || changed;
        }
      }
    }
  }

  bool offer_all(int id, std::vector<int>& to) {
    const ENode& n = graph_.node(id);
    switch (n.type) {
      case ENodeType::leaf:
      case ENodeType::identity:
      case ENodeType::zero:
        return offer(leaf_choice(id), to);
      case ENodeType::inverse: {
        const int inner = local_[at(graph_.find(n.a))];
        return inner >= 0 && offer(combined(id, inner, -1), to);
      }
      default: {
        bool changed = false;
        const std::vector<int> left = choices_[at(graph_.find(n.a))];
        if (n.b < 0) {
          for (const int a : left) {
            changed = offer(combined(id, a, -1), to) || changed;
          }
          return changed;
        }
        const std::vector<int> right = choices_[at(graph_.find(n.b))];
        for (const int a : left) {
          for (const int b : right) {
            changed = offer(combined(id, a, b), to) || changed;
          }
        }
        return changed;
      }
    }
  }

  /// Takes a choice in where it is among the best of its timing and not worse in all than several others.
  bool offer(const Choice& c, std::vector<int>& to) {
    std::size_t better = 0;
    for (const int other : to) {
      const Choice& o = choice(other);
      if (o.node == c.node && o.operands == c.operands) {
        return false;
      }
      if (o.timing.after[0] <= c.timing.after[0] && o.timing.after[1] <= c.timing.after[1] && o.flops <= c.flops) {
        ++better;
      }
    }
    if (better >= per_timing) {
      return false;
    }
    const int stored = store(c);
    to.push_back(stored);
    std::sort(to.begin(), to.end(), [&](int x, int y) {
      const int sx = choice(x).timing.sweeps();
      const int sy = choice(y).timing.sweeps();
      if (sx != sy) {
        return sx < sy;
      }
      return choice(x).flops != choice(y).flops ? choice(x).flops < choice(y).flops : x < y;
    });
    prune(to);
    return std::find(to.begin(), to.end(), stored) != to.end();
  }

  void prune(std::vector<int>& to) const {
    std::vector<int> kept;
    for (const int i : to) {
      std::size_t better = 0;
      for (const int j : kept) {
        better += choice(j).timing.after[0] <= choice(i).timing.after[0] &&
                          choice(j).timing.after[1] <= choice(i).timing.after[1] && choice(j).flops <= choice(i).flops
                      ? 1
                      : 0;
      }
      if (better < per_timing && kept.size() < per_class) {
        kept.push_back(i);
      }
    }
    to.swap(kept);
  }

  /// The term of a choice, with exactly its operands.
  int added(int i, EGraph& graph) const {
    const Choice& c = choice(i);
    ENode n = graph.node(c.node);
    if (c.operands[0] >= 0) {
      n.a = added(c.operands[0], graph);
    }
    if (c.operands[1] >= 0) {
      n.b = added(c.operands[1], graph);
    }
    return c.operands[0] < 0 ? c.node : graph.insert(n);
  }

  const EGraph& graph_;
  bool sharing_;
  std::vector<std::vector<int>> terms_;
  std::vector<Choice> bank_;
  std::map<std::array<int, 3>, int> places_;
  std::vector<std::vector<int>> choices_;  // by class: the best, in order
  std::vector<int> local_;                 // by class: the cheapest memoryless term
};

}  // namespace

std::vector<int> cheapest(EGraph& graph, int id, Sharing sharing) {
  return Extractor(graph, sharing).best(id, graph);
}

}  // namespace bunraku::operators
