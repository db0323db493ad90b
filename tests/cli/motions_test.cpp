/// `bunraku assemble`, `linearize`, `trim`: what they answer, and what they refuse.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class Motions : public Cli {
 protected:
  const std::string arm = "models/arm.urdf";
};

TEST_F(Motions, AssembleClosesLoops) {
  const Result r = run("assemble models/four_bar.xml --json");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, MatchesRegex("\\{\"q\":\\[[^]]+\\],\"residual\":[-0-9.e]+,\"dof\":1\\}\n"));
  EXPECT_THAT(run("assemble models/four_bar.xml").out, AllOf(StartsWith("q = "), EndsWith("; 1 degrees of freedom\n")));
  EXPECT_THAT(run("assemble models/four_bar.xml --q '1 2'").err, HasSubstr("--q has 2 numbers, the model wants 3"));
}

TEST_F(Motions, LinearizeGivesMatricesAndModes) {
  const Result r = run("linearize " + arm + " --json");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(StartsWith("{\"A\":[[0,0,0,1,0,0],"), HasSubstr("\"B\":[[0,0,0],"),
                           HasSubstr("\"C\":[[1,0,"), HasSubstr("\"D\":[[0,0,0],"), HasSubstr("\"tau\":["),
                           HasSubstr("\"modes\":[{\"eigenvalue\":["), HasSubstr("\"controllable\":true")));
  EXPECT_THAT(run("linearize " + arm + " --input elbow,wrist --node tip --json").out,
              AllOf(HasSubstr("\"B\":[[0,0],"), HasSubstr("\"D\":[[0,0],")));
  EXPECT_THAT(run("linearize " + arm).out, AllOf(StartsWith("A, 6 × 6\n"), HasSubstr("\nmode ")));
}

TEST_F(Motions, LinearizeGivesTheSystemOfSteps) {
  const Result r = run("linearize " + arm + " --step 0.01 --json");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(StartsWith("{\"A\":[["), HasSubstr("\"step\":0.01,\"tau\":["),
                           HasSubstr("\"modes\":[{\"eigenvalue\":[")));
  EXPECT_THAT(run("linearize " + arm + " --json").out, Not(HasSubstr("\"step\"")));
  const Result better = run("linearize " + arm + " --step 0.01 --integrator rk4 --json");
  EXPECT_EQ(better.status, 0) << better.err;
  EXPECT_NE(better.out, r.out);
  EXPECT_THAT(run("linearize " + arm + " --step 0.01 --integrator rk4").out, HasSubstr("i a step: "));
  EXPECT_THAT(run("linearize " + arm + " --step 0").err, HasSubstr("the step is 0 s, and must be above 0"));
  EXPECT_THAT(run("linearize " + arm + " --integrator rk4").err, HasSubstr("--step"));
  EXPECT_THAT(run("linearize " + arm + " --step 0.01 --integrator midpoint").err, HasSubstr("--integrator"));
}

TEST_F(Motions, LinearizeRefuses) {
  EXPECT_THAT(run("linearize " + arm + " --input elbw").err, HasSubstr("elbow"));
  EXPECT_THAT(run("linearize " + arm + " --node tap").err, HasSubstr("tip"));
  EXPECT_THAT(run("linearize " + arm + " --q '1 2'").err, HasSubstr("--q has 2 numbers, the model wants 3"));
  const Result closed = run("linearize models/four_bar.xml");
  EXPECT_EQ(closed.status, 2);
  EXPECT_THAT(closed.err, HasSubstr("linearize takes trees, and 'four_bar' closes loops"));
}

TEST_F(Motions, TrimFindsRest) {
  const Result r = run("trim " + arm + " --free elbow --q '0.3 0.2 0' --json");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, MatchesRegex("\\{\"q\":\\[0\\.3,[^]]+\\],\"tau\":\\[[^]]+\\],\"residual\":[-0-9.e]+,\"stable\":"
                                  "(true|false)\\}\n"));
  EXPECT_THAT(run("trim " + arm + " --q '2 0.5 0'").out, AllOf(StartsWith("q = "), HasSubstr("\ntau = ")));
  const Result falling = run("trim " + arm + " --free-base");
  EXPECT_EQ(falling.status, 2);
  EXPECT_THAT(falling.err, AllOf(HasSubstr("no equilibrium was found"), HasSubstr("--free")));
}

TEST_F(Motions, ModesOfAFlexibleArm) {
  const Result modes = run("modes models/flexible_arm.urdf --json");
  EXPECT_EQ(modes.status, 0) << modes.err;
  EXPECT_THAT(modes.out,
              MatchesRegex("\\{\"frequencies\":\\[[^]]+\\],\"damping\":\\[[^]]+\\],\"shapes\":\\[\\[.*\\]\\]\\}\n"));
  EXPECT_THAT(run("modes models/flexible_arm.urdf").out, HasSubstr("mode 9: "));
  EXPECT_THAT(run("modes models/four_bar.xml").out, AllOf(StartsWith("mode 1: "), Not(HasSubstr("mode 2"))));
  EXPECT_EQ(run("modes " + arm + " --q '1 2'").status, 2);
}

TEST_F(Motions, InfoShowsFlexibleBodies) {
  const Result info = run("info models/flexible_arm.urdf --json");
  EXPECT_THAT(info.out, HasSubstr("\"flexible\":{\"modes\":4,\"q_index\":1,\"v_index\":1,\"frequencies\":["));
  EXPECT_THAT(info.out,
              AllOf(HasSubstr("\"name\":\"lower\",\"parent\":\"upper\""), Not(HasSubstr("\"name\":\"upper.tip\""))));
  EXPECT_THAT(run("info models/flexible_arm.urdf").out, AllOf(HasSubstr("4 modes"), HasSubstr("upper.tip")));
}

}  // namespace
}  // namespace bunraku::test
