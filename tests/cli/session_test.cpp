/// The prompt of `bunraku op MODEL`, its lines from a pipe: states that are set, names that are defined.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class SessionLines : public Cli {
 protected:
  /// What the lines answer, none of them an error.
  std::string answers(const std::string& lines, const std::string& options = "") const {
    const Result r = run(fmt::format("op '{}' {}", puppet, options), lines);
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_THAT(r.err, IsEmpty());
    return r.out;
  }
  /// The error of a line, after which the next is answered.
  std::string error(const std::string& line) const {
    const Result r = run("op '" + puppet + "'", line + "\nlatex psi\n");
    EXPECT_EQ(r.status, 1) << line;
    EXPECT_THAT(r.out, EndsWith("\\psi\n")) << line;
    return r.err;
  }
};

const std::string mass = "H*phi*M*~phi*~H";

TEST_F(SessionLines, SetTheState) {
  const std::string q = "0.1 -0.2 0.3 -0.4 0.5 -0.6 0.7";
  const std::string v = "1 -2 3 -4 5 -6 7";
  const std::string told = fmt::format("--q '{}' --v '{}'", q, v);
  for (const char* expression : {"H*phi*M*~phi*~H", "V[head]", "thetad", "b[torso]"}) {
    const std::string asked = fmt::format("dense {}\n", expression);
    EXPECT_EQ(answers(fmt::format("q = {}\nv = {}\n", q, v) + asked),
              fmt::format("q = {}\nv = {}\n", q, v) + answers(asked, told))
        << expression;
  }
  EXPECT_NE(answers("dense " + mass), answers("dense " + mass, told));
  // the other spellings of a vector
  EXPECT_EQ(answers("v = [1, -2, 3, -4, 5, -6, 7]\nv\n"), "v = 1 -2 3 -4 5 -6 7\nv = 1 -2 3 -4 5 -6 7\n");
  EXPECT_EQ(answers("v = 1,-2,3,-4,5,-6,7\n"), "v = 1 -2 3 -4 5 -6 7\n");
}

TEST_F(SessionLines, AccelerationsAndTorquesFollowFromEachOther) {
  const std::string a = "1 2 3 4 5 6 7";
  const std::string state = "--q '0.1 0.2 0.3 0.4 0.5 0.6 0.7' --v '1 2 3 4 5 6 7'";
  EXPECT_EQ(answers("a = " + a + "\ndense T\n", state),
            "a = " + a + "\n" + answers("dense T\n", state + " --a '" + a + "'"));
  EXPECT_EQ(answers("tau = " + a + "\ndense thetadd\n", state),
            "tau = " + a + "\n" + answers("dense thetadd\n", state + " --tau '" + a + "'"));
  // the last one counts, and stays when the configuration changes
  EXPECT_EQ(
      answers("tau = random\na = " + a + "\nq = neutral\ndense thetadd\n").substr(answers("tau = random\n").size()),
      "a = " + a + "\nq = 0 0 0 0 0 0 0\n" + answers("dense thetadd\n", "--a '" + a + "'"));
  EXPECT_THAT(answers("tau = zero\nstate\n"), EndsWith("v = 0 0 0 0 0 0 0\na follows from tau: `thetadd` shows it\n"
                                                       "tau = 0 0 0 0 0 0 0\n"));
  EXPECT_THAT(answers("state\n"), EndsWith("a has no value\ntau has no value\n"));
}

TEST_F(SessionLines, HaveWordsForStates) {
  const std::string neutral = "q = 0 0 0 0 0 0 0\n";
  EXPECT_EQ(answers("q = random\nq = neutral\n").substr(answers("q = random\n").size()), neutral);
  EXPECT_THAT(answers("q = random\nv = random\nq\n"),
              AllOf(StartsWith("q = "), HasSubstr("\nv = "), Not(HasSubstr(neutral))));
  const std::string twice = answers("v = random\nv = random\n");
  EXPECT_NE(twice.substr(0, twice.size() / 2), twice.substr(twice.size() / 2)) << "each is another";
  EXPECT_EQ(answers("v = random\nv = zero\nv\n").substr(answers("v = random\n").size()),
            "v = 0 0 0 0 0 0 0\nv = 0 0 0 0 0 0 0\n");
}

TEST_F(SessionLines, DefineNames) {
  const std::string defined = answers("Minv = inv(" + mass + ")\n");
  EXPECT_EQ(defined, "Minv = (H φ M φ∗ H∗)⁻¹\n  from hinge space to hinge space, 7 × 7, general\n");
  EXPECT_EQ(answers("Minv = inv(" + mass + ")\nplan Minv\n"), defined + answers("plan inv(" + mass + ")\n"));
  EXPECT_THAT(answers("Minv = inv(" + mass + ")\nMinv*" + mass + " == I\n"),
              StartsWith(defined + "proved: largest residual "));
  // a name stands for a whole factor, and for what it was when another was made of it
  EXPECT_EQ(answers("W = phi + psi\nlatex ~W*M*W∗\n").substr(answers("W = phi + psi\n").size()),
            "\\left( \\phi + \\psi \\right)^{*} M \\left( \\phi + \\psi \\right)^{*}\n");
  EXPECT_THAT(answers("x = phi\ny = x*M\nx = psi\nlatex y\nlatex x\n"), EndsWith("\\phi M\n\\psi\n"));
  EXPECT_EQ(answers("x = phi\nnames\n").substr(answers("x = phi\n").size()), "x = phi\n");
  EXPECT_EQ(answers("names\n"), "nothing is defined: NAME = EXPR does it\n");
  // inside brackets are bodies
  EXPECT_THAT(answers("head = phi\nV[head]\n"), HasSubstr("a stacked vector of body space at head"));
}

TEST_F(SessionLines, TellDefinitionsFromConjectures) {
  for (const char* line : {"phi = I + phit", "phi == I + phit", "a == a"}) {
    EXPECT_THAT(answers(std::string(line) + "\n"), StartsWith("proved: ")) << line;
  }
  for (const char* line : {"tau = I - taub\n", "tau == I - taub\n"}) {  // the operator, on a model that has it
    EXPECT_THAT(run("op models/arm.urdf", line).out, StartsWith("proved: ")) << line;
  }
  EXPECT_THAT(answers("W = phi\nW == psi\nW = psi\nlatex W\n"), AllOf(HasSubstr("\nrefuted: "), EndsWith("\\psi\n")));
  EXPECT_THAT(run("verify 'phi == I + phit'").out, StartsWith("proved: "));
}

TEST_F(SessionLines, SurviveWhatIsWrong) {
  EXPECT_EQ(error("q = 1 2"), "error: q has 2 numbers, the model wants 7\n");
  EXPECT_EQ(error("q = 1,,2"), "error: q: a number is missing before a comma in '1,,2'\n");
  EXPECT_EQ(error("q = 1 2 3 4 5 6 x"), "error: q: 'x' is not a finite number\n");
  EXPECT_EQ(error("v = neutral"), "error: v can be 7 numbers, 'zero' or 'random', not 'neutral'\n");
  EXPECT_EQ(error("q = phi"), "error: q can be 7 numbers, 'neutral' or 'random', not 'phi'\n");
  EXPECT_THAT(error("X = phy"), StartsWith("error: 'phy' is not known; did you mean 'phi'?\n"));
  EXPECT_THAT(error("X = phi*H"), StartsWith("error: the product of "));
  EXPECT_THAT(error("X = inv(phi + ~phi)"), StartsWith("error: no identity gives the inverse of"));
  EXPECT_THAT(error("q*phi"), StartsWith("error: 'q' is not known"));
  EXPECT_THAT(error("M + = phi"), StartsWith("error: "));
  // what was wrong has changed nothing
  const Result r = run("op '" + puppet + "' --free-base", "q = 2 0 0 0 0 0 0 0 0 0 0 0 0 0\nq\n");
  EXPECT_THAT(r.err, HasSubstr("has norm 2"));
  EXPECT_EQ(r.out, "q = 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
}

TEST_F(SessionLines, HelpNamesWhatCanBeTyped) {
  const std::string help = answers("help\n");
  for (const char* text : {"NAME = EXPR", "LHS == RHS", "q = ", "v = ", "a = ", "tau = ", "state ", "names ", "dense ",
                           "plan ", "explain ", "levels ", "latex ", "nodes ", "symbols ", "quit"}) {
    EXPECT_THAT(help, HasSubstr(text));
  }
}

}  // namespace
}  // namespace bunraku::test
