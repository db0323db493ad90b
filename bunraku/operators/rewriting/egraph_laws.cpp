// Saturation: the identities, and the laws of addition, multiplication and inversion, applied round by round.

#include <functional>

#include "bunraku/operators/program/detail/at.hpp"
#include "bunraku/operators/rewriting/detail/egraph.hpp"

namespace bunraku::operators {

namespace {

/// More rounds than this are not made: each looks at every term once.
constexpr int max_rounds = 12;

}  // namespace

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
void EGraph::each_term(int id, ENodeType type, const Visit& visit) {
  const int c = find(id);
  // What equals I or 0 is taken as that alone: x x⁻¹ = I would otherwise breed products without end.
  const ENodeType plain = plain_[at(c)];
  if (plain != ENodeType::leaf && plain != type) {
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
  each_term(id, ENodeType::product, [&](int m) { visit(1.0, m); });
  each_term(id, ENodeType::scale,
            [&](int k) { each_term(node(k).a, ENodeType::product, [&](int m) { visit(node(k).number, m); }); });
}

bool EGraph::first_time(int law, int x, int y, double c, double d) {
  const std::size_t factors = std::hash<double>()(c) * 31 + std::hash<double>()(d);
  const std::uint64_t key = (static_cast<std::uint64_t>(law) << 56U) ^ (static_cast<std::uint64_t>(x) << 28U) ^
                            static_cast<std::uint64_t>(y) ^ (factors << 17U);
  return seen_.insert(key).second;
}

void EGraph::apply_algebra(int id) {
  switch (node(id).type) {
    case ENodeType::product:
      product_laws(id);
      break;
    case ENodeType::sum:
      sum_laws(id);
      break;
    case ENodeType::scale:
      scale_laws(id);
      break;
    case ENodeType::inverse:
      inverse_laws(id);
      break;
    default:
      break;
  }
}

void EGraph::product_laws(int id) {
  const ENode n = node(id);
  each_term(n.a, ENodeType::product, [&](int m) {  // (x y) b = x (y b)
    if (first_time(0, id, m)) {
      equal(product(m, n.b), product(node(m).a, product(node(m).b, n.b)));
    }
  });
  each_term(n.b, ENodeType::product, [&](int m) {  // a (x y) = (a x) y
    if (first_time(1, id, m)) {
      equal(product(n.a, m), product(product(n.a, node(m).a), node(m).b));
    }
  });
  each_term(n.a, ENodeType::sum, [&](int m) {  // (x + y) b = x b + y b
    if (first_time(2, id, m)) {
      equal(product(m, n.b), sum(product(node(m).a, n.b), product(node(m).b, n.b)));
    }
  });
  each_term(n.b, ENodeType::sum, [&](int m) {
    if (first_time(3, id, m)) {
      equal(product(n.a, m), sum(product(n.a, node(m).a), product(n.a, node(m).b)));
    }
  });
  each_term(n.a, ENodeType::scale, [&](int m) {  // (c x) b = c (x b)
    if (first_time(4, id, m)) {
      equal(product(m, n.b), scaled(node(m).number, product(node(m).a, n.b)));
    }
  });
  each_term(n.b, ENodeType::scale, [&](int m) {
    if (first_time(5, id, m)) {
      equal(product(n.a, m), scaled(node(m).number, product(n.a, node(m).a)));
    }
  });
  each_term(n.a, ENodeType::identity, [&](int m) { equal(product(m, n.b), n.b); });
  each_term(n.b, ENodeType::identity, [&](int m) { equal(product(n.a, m), n.a); });
  each_term(n.a, ENodeType::inverse, [&](int m) {  // x⁻¹ x = I
    if (find(node(m).a) == find(n.b)) {
      equal(product(m, node(m).a), identity(domains_[at(n.b)]));
    }
  });
  each_term(n.b, ENodeType::inverse, [&](int m) {
    if (find(node(m).a) == find(n.a)) {
      equal(product(node(m).a, m), identity(ranges_[at(n.a)]));
    }
  });
  for (const int side : {n.a, n.b}) {
    each_term(side, ENodeType::zero, [&](int m) { equal(side == n.a ? product(m, n.b) : product(n.a, m), zero(id)); });
  }
}

void EGraph::sum_laws(int id) {
  const ENode n = node(id);
  if (first_time(6, id, 0)) {
    equal(id, sum(n.b, n.a));
  }
  each_term(n.a, ENodeType::sum, [&](int m) {  // (x + y) + b = x + (y + b)
    if (first_time(7, id, m)) {
      equal(sum(m, n.b), sum(node(m).a, sum(node(m).b, n.b)));
    }
  });
  each_term(n.a, ENodeType::zero, [&](int m) { equal(sum(m, n.b), n.b); });
  // common factors, on the left and on the right; a lone x counts as x I
  const auto multiple = [&](double c, int x) { return c == 1 ? x : scaled(c, x); };
  each_multiple(n.a, [&](double c, int m) {
    each_multiple(n.b, [&](double d, int k) {
      const ENode x = node(m);
      const ENode y = node(k);
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
    const ENode y = node(k);
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
  each_term(n.b, ENodeType::scale, [&](int k) {
    if (find(node(k).a) == find(n.a) && first_time(12, id, k)) {
      collect(1, node(k).number, n.a);
    }
    each_term(n.a, ENodeType::scale, [&](int m) {
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
  const ENode n = node(id);
  if (n.number == 1) {
    equal(id, n.a);
  } else if (n.number == 0) {
    equal(id, zero(id));
    return;
  }
  each_term(n.a, ENodeType::scale, [&](int m) {
    const double number = n.number * node(m).number;
    equal(scaled(n.number, m), number == 1 ? node(m).a : scaled(number, node(m).a));
  });
  each_term(n.a, ENodeType::sum, [&](int m) {
    if (first_time(14, id, m)) {
      equal(scaled(n.number, m), sum(scaled(n.number, node(m).a), scaled(n.number, node(m).b)));
    }
  });
  each_term(n.a, ENodeType::zero, [&](int m) { equal(scaled(n.number, m), m); });
}

void EGraph::inverse_laws(int id) {
  const ENode n = node(id);
  const auto inverse = [&](int x) { return add(ENode{ENodeType::inverse, x}); };
  each_term(n.a, ENodeType::product, [&](int m) {  // (x y)⁻¹ = y⁻¹ x⁻¹ where both map the space to itself
    const bool square = ranges_[at(node(m).a)] == domains_[at(node(m).a)];
    if (square && first_time(16, id, m)) {
      equal(inverse(m), product(inverse(node(m).b), inverse(node(m).a)));
    }
  });
  each_term(n.a, ENodeType::inverse, [&](int m) { equal(inverse(m), node(m).a); });
  each_term(n.a, ENodeType::identity, [&](int m) { equal(inverse(m), m); });
  each_term(n.a, ENodeType::scale, [&](int m) {
    if (node(m).number != 0 && first_time(17, id, m)) {
      equal(inverse(m), scaled(1 / node(m).number, inverse(node(m).a)));
    }
  });
}

}  // namespace bunraku::operators
