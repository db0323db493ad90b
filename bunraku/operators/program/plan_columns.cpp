// Closure-space products that are squares: what a small solve is made of.

#include <algorithm>
#include <cmath>
#include <map>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/program/detail/plan.hpp"

namespace bunraku::operators {

namespace {

/// A multiple of a product of what is neither a sum nor a product.
struct Monomial {
  double c = 1;
  std::vector<Operator> factors = {};
};

/// More terms are not looked at.
constexpr std::size_t most_monomials = 400;

std::vector<Monomial> multiplied_out(const Operator& x) {
  const Term& t = x.term();
  std::vector<Monomial> out;
  switch (t.type) {
    case TermType::identity:
      return {{}};
    case TermType::scale:
      out = multiplied_out(t.parts[0]);
      for (Monomial& each : out) {
        each.c *= t.number;
      }
      return out;
    case TermType::sum:
      for (const Operator& part : t.parts) {
        const std::vector<Monomial> more = multiplied_out(part);
        out.insert(out.end(), more.begin(), more.end());
      }
      return out;
    case TermType::product:
      out = {{}};
      for (const Operator& part : t.parts) {
        const std::vector<Monomial> right = multiplied_out(part);
        std::vector<Monomial> next;
        for (const Monomial& a : out) {
          for (const Monomial& b : right) {
            Monomial both{a.c * b.c, a.factors};
            both.factors.insert(both.factors.end(), b.factors.begin(), b.factors.end());
            next.push_back(std::move(both));
          }
        }
        out = std::move(next);
        if (out.size() > most_monomials) {
          return {};
        }
      }
      return out;
    default:
      return {{1, {x}}};
  }
}

bool is_inverse_D(const Operator& x) {
  const Term& t = x.term();
  return t.type == TermType::inverse && t.parts[0].term().type == TermType::symbol &&
         t.parts[0].term().symbol == Symbol::D;
}

/// The sum with what products begin with in common taken out, so that it is done once.
Operator gathered_by_first(const std::vector<Monomial>& all) {
  std::vector<Operator> terms;
  std::vector<bool> done(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (done[i]) {
      continue;
    }
    const Operator& first = all[i].factors[0];
    std::vector<Monomial> rest;
    double whole = 0;  // of the first alone
    for (std::size_t j = i; j < all.size(); ++j) {
      if (!done[j] && all[j].factors[0] == first) {
        done[j] = true;
        if (all[j].factors.size() == 1) {
          whole += all[j].c;
        } else {
          rest.push_back({all[j].c, {all[j].factors.begin() + 1, all[j].factors.end()}});
        }
      }
    }
    if (whole != 0) {
      terms.push_back(Operator(whole) * first);
    }
    if (!rest.empty()) {
      terms.push_back(first * gathered_by_first(rest));
    }
  }
  return sum_of(terms);
}

}  // namespace

std::optional<Columns> columns_of(const Operator& x) {
  // x = Σ C_ij h_i* D⁻¹ h_j is a square where C_ij = c_i c_j
  std::vector<Monomial> halves;
  std::map<std::string, int> numbers;
  std::map<std::pair<int, int>, double> C;
  std::optional<Operator> D;
  const auto number_of = [&](std::vector<Operator> factors) {
    std::string key;
    for (const Operator& each : factors) {
      key += to_ascii(each) + " ";
    }
    const auto [at, is_new] = numbers.emplace(key, static_cast<int>(halves.size()));
    if (is_new) {
      halves.push_back({0, std::move(factors)});
    }
    return at->second;
  };
  for (const Monomial& each : multiplied_out(x)) {
    const auto middle = std::find_if(each.factors.begin(), each.factors.end(), is_inverse_D);
    if (middle == each.factors.end() || middle == each.factors.begin() || middle + 1 == each.factors.end() ||
        std::find_if(middle + 1, each.factors.end(), is_inverse_D) != each.factors.end() ||
        (D && !(*D == middle->term().parts[0]))) {
      return std::nullopt;
    }
    D = middle->term().parts[0];
    std::vector<Operator> left(std::make_reverse_iterator(middle), each.factors.rend());
    std::transform(left.begin(), left.end(), left.begin(), [](const Operator& factor) { return ~factor; });
    const int i = number_of(std::move(left));
    C[{i, number_of({middle + 1, each.factors.end()})}] += each.c;
  }
  if (halves.empty() || !(C[{0, 0}] > 0)) {
    return std::nullopt;
  }
  const int count = static_cast<int>(halves.size());
  for (int j = 0; j < count; ++j) {
    halves[static_cast<std::size_t>(j)].c = C[{0, j}] / std::sqrt(C[{0, 0}]);
  }
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      const double square = halves[static_cast<std::size_t>(i)].c * halves[static_cast<std::size_t>(j)].c;
      constexpr double rounding = 1e-12;
      if (square == 0 || std::abs(C[{i, j}] - square) > rounding * std::abs(square)) {
        return std::nullopt;
      }
    }
  }
  return Columns{gathered_by_first(halves), *D};
}

}  // namespace bunraku::operators
