/// `bunraku verify`: verdicts, exit statuses, what is tested on what.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;

using Verify = Cli;

TEST_F(Verify, HoldsWithStatusZero) {
  const Result r = run("verify 'inv(phi)' 'I - E_phi'");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(StartsWith("proved: largest residual "), HasSubstr(" on 25 systems\n"),
                           HasSubstr("by inverse of φ, RJK89 (2.4), RJK91 lemma 5: φ⁻¹ → I - E_φ\n")));
  EXPECT_THAT(run("verify 'cross(V)*V' '0*V'").out, MatchesRegex("holds: largest residual [0-9.e-]+ on 25 systems\n"));
  EXPECT_THAT(run("verify 'inv(phi)' 'I - E_phi' --json").out,
              AllOf(StartsWith("{\"holds\":true,\"residual\":"), HasSubstr(",\"proved\":true,"),
                    EndsWith(",\"samples\":25,\"counterexample\":null}\n")));
}

TEST_F(Verify, TakesInWhatIsAskedFor) {
  EXPECT_EQ(run("verify 'H*P*~H' D").status, 0);
  EXPECT_EQ(run("verify 'H*P*~H' D --with armature").status, 1);
  EXPECT_EQ(run("verify 'inv(M)*M' I").status, 0);
  EXPECT_EQ(run("verify 'inv(M)*M' I --with massless").status, 2) << "singular";
  EXPECT_THAT(run("verify 'inv(I + H*phi*K)' 'I - H*psi*K' --with armature,couplings,massless").out,
              StartsWith("proved: "));
  EXPECT_EQ(run("verify phi phi --with feathers").status, 2);
}

TEST_F(Verify, RefutesWithStatusOne) {
  const Result r = run("verify phi psi");
  EXPECT_EQ(r.status, 1) << r.err;
  EXPECT_THAT(r.err, IsEmpty());
  EXPECT_THAT(r.out, AllOf(StartsWith("refuted: random "), HasSubstr(" against "), EndsWith("; 25 systems tried\n")));
  const Result json = run("verify phi psi --json");
  EXPECT_EQ(json.status, 1);
  EXPECT_THAT(json.out, AllOf(StartsWith("{\"holds\":false,\"residual\":"), HasSubstr("\"counterexample\":\"random ")));
}

TEST_F(Verify, TakesBothSidesInOneArgument) {
  EXPECT_EQ(run("verify 'H φ M φ∗ H∗ = (I + H φ K) D (I + H φ K)∗'").status, 0);
  EXPECT_EQ(run("verify 'phi=psi'").status, 1);
  EXPECT_EQ(run("verify '-phi' '-I - phit'").status, 0);
}

TEST_F(Verify, TestsOnModels) {
  EXPECT_THAT(run("verify phi 'I + phit' '" + puppet + "'").out, HasSubstr("on 26 systems"));
  EXPECT_THAT(run("verify 'phi = I + phit' '" + puppet + "' '" + puppet + "' --free-base --samples 5").out,
              HasSubstr("on 7 systems"));
  const Result alone = run("verify phi psi '" + puppet + "' --samples 0 --json");
  EXPECT_EQ(alone.status, 1);
  EXPECT_THAT(alone.out, HasSubstr("\"samples\":1,\"counterexample\":\"'puppet' at a random state: "));
}

TEST_F(Verify, GivesVariablesRandomValues) {
  EXPECT_EQ(run("verify '~(A*phi)' '~phi*~A' --let 'A:body<-body'").status, 0);
  EXPECT_EQ(run("verify 'A*phi = phi*A' --let 'A:body<-body'").status, 1);
  EXPECT_EQ(run("verify 'H*x = H*x + 0*y' --let x:body --let y:hinge").status, 0);
}

TEST_F(Verify, IsTheSameForTheSameSeed) {
  const std::string one = run("verify phi psi --json --seed 3").out;
  EXPECT_EQ(run("verify phi psi --json --seed 3").out, one);
  EXPECT_NE(run("verify phi psi --json --seed 4").out, one);
}

TEST_F(Verify, FollowsTheTolerance) {
  EXPECT_EQ(run("verify phi 'phi + 1e-6*I'").status, 1);
  EXPECT_EQ(run("verify phi 'phi + 1e-6*I' --tolerance 1e-3").status, 0);
}

TEST_F(Verify, RefusesWhatCannotBeCompared) {
  const auto fails = [&](const std::string& arguments, const std::string& message) {
    const Result r = run("verify " + arguments);
    EXPECT_EQ(r.status, 2) << arguments;
    EXPECT_THAT(r.out, IsEmpty()) << arguments;
    EXPECT_THAT(r.err, AllOf(StartsWith("error: "), HasSubstr(message))) << arguments;
  };
  fails("", "lhs is required");
  fails("phi", "there is nothing to compare with");
  fails("'phi ='", "there is no expression");
  fails("H phi", "the sides act between different spaces: the left one from body space to hinge space");
  fails("phi phy", "'phy' is not known; did you mean 'phi'?\n  phy\n  ^~~\n");
  fails("phi phi /nowhere/x.urdf", "there is no file '/nowhere/x.urdf'");
  fails("phi phi --samples -1", "--samples is a number of systems");
  fails("phi phi --samples 0", "there is nothing to test on");
  fails("phi phi --tolerance -1", "--tolerance is a relative difference");
  fails("phi phi --seed x", "--seed");
  fails("phi A --let A", "has no ':'");
}

TEST_F(Verify, HelpHasExamples) {
  EXPECT_THAT(run("verify --help").out, AllOf(HasSubstr("Examples:"), HasSubstr("Exit status: 0 holds, 1 refuted")));
}

}  // namespace
}  // namespace bunraku::test
