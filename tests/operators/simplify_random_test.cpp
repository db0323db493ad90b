/// What simplify makes of random expressions equals them and is no more work.
#include <algorithm>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/simplify.hpp"
#include "bunraku/operators/system.hpp"
#include "operators/conditions.hpp"
#include "operators/dense_system.hpp"
#include "operators/random_expression.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

/// Sums of products, up to eight symbols in all.
class RandomSums {
 public:
  RandomSums(const Conditions& conditions, unsigned seed) : random_(seed) {
    for (const Operator& each : all_symbols()) {
      const Symbol symbol = each.term().symbol;
      const bool refused = symbol == Symbol::tau || symbol == Symbol::taub || symbol == Symbol::Upsilon;
      if (!(conditions.couplings && refused)) {
        leaves_.push_back(each);
        leaves_.push_back(~each);
      }
    }
  }

  Operator draw() {
    int left = random_.integer(2, 8);
    const SpaceKind range = random_.integer(0, 1) == 0 ? SpaceKind::hinge : SpaceKind::body;
    const int choice = random_.integer(0, 4);
    const SpaceKind domain = choice == 0 ? SpaceKind::number : choice < 3 ? SpaceKind::hinge : SpaceKind::body;
    std::optional<Operator> sum;
    while (left > 0) {
      const int factors = random_.integer(1, left);
      left -= factors;
      const std::optional<Operator> term = product(range, domain, factors);
      if (term) {
        const double number = random_.integer(0, 2) == 0 ? random_.integer(-2, 2) : 1;
        sum = sum ? *sum + Operator(number) * *term : Operator(number) * *term;
      }
    }
    return sum ? *sum : draw();
  }

 private:
  std::optional<Operator> product(SpaceKind range, SpaceKind domain, int factors) {
    for (int attempt = 0; attempt < 30; ++attempt) {
      std::optional<Operator> out;
      SpaceKind at = range;
      for (int i = 0; i < factors; ++i) {
        std::vector<Operator> fitting;
        for (const Operator& each : leaves_) {
          const bool inner = each.domain().kind == SpaceKind::body || each.domain().kind == SpaceKind::hinge;
          if (each.range().kind == at && (i + 1 < factors ? inner : each.domain().kind == domain)) {
            fitting.push_back(each);
          }
        }
        if (fitting.empty()) {
          out.reset();
          break;
        }
        const Operator& next =
            fitting[static_cast<std::size_t>(random_.integer(0, static_cast<int>(fitting.size()) - 1))];
        out = out ? *out * next : next;
        at = next.domain().kind;
      }
      if (out && out->domain().kind == domain) {
        return out;
      }
    }
    return std::nullopt;
  }

  Random random_;
  std::vector<Operator> leaves_;
};

class SimplifyRandom : public testing::TestWithParam<int> {
 protected:
  Conditions conditions{GetParam() % 2 == 1, GetParam() >= 2};
};

TEST_P(SimplifyRandom, ResultIsEqualAndNotMoreWork) {
  const SystemAndDense both = system_for(conditions);
  const DenseSystem dense = both.dense();
  RandomSums sums(conditions, static_cast<unsigned>(GetParam()) + 20);
  double slowest = 0;
  std::string slow;
  for (int i = 0; i < 40; ++i) {
    const Operator x = sums.draw();
    SCOPED_TRACE(to_ascii(x));
    const std::clock_t start = std::clock();  // of this process alone, so that a busy machine does not count
    const Derivation derivation = derive(x, {.conditions = conditions});
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (seconds > slowest) {
      slowest = seconds;
      slow = to_ascii(x);
    }
    SCOPED_TRACE(to_ascii(derivation.result));
    const Eigen::MatrixXd expected = dense(x);
    // relative to the terms: what cancels leaves rounding
    double scale = 1;
    for (const Operator& part : x.term().type == TermType::sum ? x.term().parts : std::vector{x}) {
      scale = std::max(scale, dense(part).cwiseAbs().maxCoeff());
    }
    EXPECT_LT((dense(derivation.result) - expected).cwiseAbs().maxCoeff(), 1e-9 * scale);
    for (const DerivationStep& step : derivation.steps) {
      EXPECT_LT((dense(step.expression) - expected).cwiseAbs().maxCoeff(), 1e-9 * scale)
          << step.rule << ": " << to_ascii(step.expression);
    }
    EXPECT_LE(sweeps(both.system, derivation.result), sweeps(both.system, x));
    if (HasFailure()) {
      break;
    }
  }
  EXPECT_LT(slowest, 20) << slow << ": the search has lost its bounds";
}

INSTANTIATE_TEST_SUITE_P(Kinds, SimplifyRandom, testing::Range(0, 4));

}  // namespace
}  // namespace bunraku::test
