/// Random typed expressions: what simplify makes of them against what is written, in dense matrices.
///
/// BUNRAKU_SOUNDNESS_COUNT sets how many are drawn for each kind of system, BUNRAKU_SOUNDNESS_SEED where they begin;
/// with BUNRAKU_SOUNDNESS_SHOW what is refused is printed.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "bunraku/operators/language/text.hpp"
#include "operators/typed_expressions.hpp"

namespace bunraku::test {
namespace {

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? otherwise : std::atoi(text);
}

class SimplifySoundness : public testing::TestWithParam<int> {
 protected:
  Conditions conditions = [] {
    const auto has = [](int bit) { return (GetParam() & bit) != 0; };
    return Conditions{.armature = has(1), .couplings = has(2), .massless = has(4), .ungeared = has(8)};
  }();
};

TEST_P(SimplifySoundness, NoneIsWrong) {
  const int count = from_environment("BUNRAKU_SOUNDNESS_COUNT", 60);
  const auto first = static_cast<unsigned>(from_environment("BUNRAKU_SOUNDNESS_SEED", 1));
  std::map<Outcome::Type, int> outcomes;
  Outcome slowest;
  Random random(first);
  for (unsigned sample = 0; sample < 2; ++sample) {
    const SoundnessTrial trial(conditions, sample);
    TypedExpressions draw(conditions, trial.dense(), first * 100 + sample);
    for (int i = 0; i < count / 2; ++i) {
      const Operator x = draw.any(random.integer(1, 5));
      const Outcome outcome = trial(x);
      ASSERT_NE(outcome.type, Outcome::Type::wrong) << to_ascii(x) << "\n" << outcome.details;
      ++outcomes[outcome.type];
      if (outcome.seconds > slowest.seconds) {
        slowest = outcome;
        slowest.details = to_ascii(x);
      }
      if (from_environment("BUNRAKU_SOUNDNESS_SHOW", 0) != 0 && !outcome.details.empty()) {
        std::puts(outcome.details.c_str());
      }
    }
  }
  EXPECT_LT(slowest.seconds, 1) << slowest.details;
  int refused = 0;
  for (const auto& [type, number] : outcomes) {
    const std::string what(to_string(type));
    RecordProperty(what, number);
    refused += what.starts_with("refused") ? number : 0;
    if (count > 100) {
      std::printf("%s: %d\n", what.c_str(), number);
    }
  }
  EXPECT_LE(refused, count / 10 + 5);
  if (count > 100) {
    std::printf("slowest: %.3f s\n", slowest.seconds);
    static_cast<void>(std::fflush(stdout));
  }
}

// plain, armature, couplings, both, massless, armature and massless, ungeared, all of them
INSTANTIATE_TEST_SUITE_P(Systems, SimplifySoundness, testing::Values(0, 1, 2, 3, 4, 5, 9, 15));

}  // namespace
}  // namespace bunraku::test
