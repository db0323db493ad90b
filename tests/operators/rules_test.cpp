/// The rules on words: each makes words lighter, and wherever two apply it does not matter which comes first.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/rewriting/detail/engine.hpp"

namespace bunraku::test {
namespace {

using operators::Engine;
using operators::Letter;
using operators::Polynomial;
using operators::Word;
using operators::WordRule;

const std::map<std::string, double> weights{
    {"E_phi", 3}, {"K", 1},     {"H", 1},      {"G", 4},   {"armature", 1},  {"inv(D)", 1}, {"D", 3},    {"P", 7},
    {"M", 4},     {"phi", 4},   {"psi", 4},    {"V", 5.9}, {"thetad", 1},    {"phit", 5},   {"psit", 5}, {"tau", 6},
    {"taub", 6},  {"E_psi", 4}, {"Omega", 12}, {"S", 3},   {"Delta_phi", 1}, {"R", 5},      {"A_h", 1},
};

double weight(const Engine& engine, const Word& w) {
  double out = 0;
  for (const Letter l : w) {
    out += weights.at(engine.atom(l).text);
  }
  return out;
}

class Rules : public testing::TestWithParam<int> {
 protected:
  Engine engine{Search{.conditions = {.armature = GetParam() % 2 == 1, .couplings = GetParam() >= 2}}, false};
};

TEST_P(Rules, MakeWordsLighter) {
  ASSERT_GE(engine.rules().size(), 30U);
  for (const WordRule& rule : engine.rules()) {
    for (const auto& [w, c] : rule.right.words) {
      EXPECT_LT(weight(engine, w), weight(engine, rule.left))
          << to_ascii(engine.write({rule.right.range, rule.right.domain, {{rule.left, 1.0}}})) << " = "
          << to_ascii(engine.write(rule.right));
    }
  }
}

/// Of one family and without composite bodies and couplings: of these nothing is claimed.
class RulesOfOneFamily : public Rules {};

TEST_P(RulesOfOneFamily, JoinWhereverTwoApply) {
  const auto composite = [&](const WordRule& rule) {
    for (const Letter l : rule.left) {
      if (engine.atom(l).text == "R") {
        return true;
      }
    }
    return false;
  };
  int overlaps = 0;
  const std::vector<WordRule> rules = engine.rules();
  const auto joins = [&](const WordRule& first, const WordRule& second, const Word& w, std::size_t at) {
    ++overlaps;
    const Polynomial one = engine.normal(engine.applied(first, w, 0));
    const Polynomial other = engine.normal(engine.applied(second, w, at));
    EXPECT_EQ(one, other) << to_ascii(engine.write(one)) << " or " << to_ascii(engine.write(other));
  };
  for (const WordRule& first : rules) {
    for (const WordRule& second : rules) {
      if (composite(first) || composite(second)) {
        continue;
      }
      for (std::size_t at = 0; at < first.left.size(); ++at) {
        const Word tail = first.left.substr(at);
        if (tail.size() < second.left.size() && second.left.starts_with(tail)) {
          joins(first, second, first.left + second.left.substr(tail.size()), at);
        } else if (tail.starts_with(second.left) && &first != &second) {
          joins(first, second, first.left, at);
        }
      }
    }
  }
  EXPECT_GE(overlaps, 100);
}

INSTANTIATE_TEST_SUITE_P(Conditions, Rules, testing::Range(0, 4));
INSTANTIATE_TEST_SUITE_P(Conditions, RulesOfOneFamily, testing::Range(0, 2));

}  // namespace
}  // namespace bunraku::test
