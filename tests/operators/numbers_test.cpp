// Numbers within expressions: in models without bodies, and at the ends of their range.

#include <vector>

#include <gtest/gtest.h>

#include "bunraku/model/builder.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

double number(System& system, const char* text) {
  const Eigen::MatrixXd value = system(parse(text)).dense();
  EXPECT_EQ(value.size(), 1) << text;
  return value(0, 0);
}

TEST(Numbers, InAModelWithoutBodies) {
  System system(ModelBuilder("nothing").build());
  system.set_state(std::vector<double>{}, std::vector<double>{});
  EXPECT_EQ(number(system, "2 + ~V*V"), 2);
  EXPECT_EQ(number(system, "(2 + ~V*V)*(3 + ~thetad*thetad)"), 6);
  EXPECT_EQ(number(system, "~V*M*V"), 0);
}

TEST(Numbers, ThatOverflowWhenMultipliedOut) {
  Random random(4);
  const Model model = random_chain(4, random);
  System system(model);
  system.set_state(std::vector<double>(static_cast<std::size_t>(model.nq()), 0.3),
                   std::vector<double>(static_cast<std::size_t>(model.nv()), 1e-250));
  for (const char* text : {"1e200*(V + 1e200*(~psi*V))", "1e308*V + 1e308*V", "1e-200*(V + 1e-200*(~psi*V))"}) {
    for (const bool simplified : {false, true}) {
      const Operator x = parse(text);
      const Eigen::MatrixXd value = simplified ? system(x).dense() : system.literal(x).dense();
      EXPECT_TRUE(value.allFinite()) << text;
    }
  }
  // 2·1e308·1e-250 is an ordinary number
  const Eigen::MatrixXd V = system(parse("V")).dense();
  const Eigen::MatrixXd twice = system(parse("1e308*V + 1e308*V")).dense();
  EXPECT_GT(V.cwiseAbs().maxCoeff(), 1e-250);
  EXPECT_LT((twice - V * 1e308 * 2).cwiseAbs().maxCoeff(), 1e-12 * twice.cwiseAbs().maxCoeff());
}

}  // namespace
}  // namespace bunraku::test
