/// `bunraku op`: each mode against the library, what it refuses and how it points there, and lines from a pipe.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/io/load.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/system.hpp"
#include "program.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string mass = "H*phi*M*~phi*~H";
const std::vector<double> some_q = {-0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7};
const std::vector<double> some_v = {1, -2, 3, -4, 5, -6, 7};

/// The numbers of a JSON text from `from` on, names aside.
std::vector<double> numbers_in(const std::string& json, std::size_t from = 0) {
  std::vector<double> out;
  const char* at = json.c_str() + from;
  while (*at != '\0') {
    char* end = nullptr;
    const double x = *at == '-' || (*at >= '0' && *at <= '9') ? std::strtod(at, &end) : 0;
    if (end != nullptr && end != at) {
      out.push_back(x);
      at = end;
    } else {
      ++at;
    }
  }
  return out;
}

/// The numbers of `"data"`, as a matrix.
Eigen::MatrixXd data_of(const std::string& json, Eigen::Index rows, Eigen::Index cols) {
  std::vector<double> numbers = numbers_in(json, json.find("\"data\":"));
  EXPECT_EQ(static_cast<Eigen::Index>(numbers.size()), rows * cols) << json;
  numbers.resize(static_cast<std::size_t>(rows * cols));
  return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(numbers.data(), rows, cols);
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class Op : public Cli {
 protected:
  /// Runs `op` on the puppet; the expression must not hold a '.
  Result op(const std::string& expression, const std::string& options = "", const std::string& input = "") const {
    return run(fmt::format("op '{}' '{}' {}", puppet, expression, options), input);
  }
  /// Fails with exit status 2 and nothing but this on standard error.
  void fails(const std::string& expression, const std::string& options, const std::string& error,
             const std::string& input = "") const {
    const Result r = op(expression, options, input);
    EXPECT_EQ(r.status, 2) << expression;
    EXPECT_THAT(r.out, IsEmpty()) << expression;
    EXPECT_EQ(r.err, error) << expression;
  }
  static std::string state() {
    return fmt::format("--q '{}' --v '{}'", fmt::join(some_q, " "), fmt::join(some_v, ","));
  }
};

TEST_F(Op, DenseIsTheMatrix) {
  const Result r = op(mass, "--dense --json " + state());
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("{\"rows\":7,\"cols\":7,\"kind\":\"general\",\"data\":[["));
  EXPECT_THAT(r.out, EndsWith("]]}\n"));
  State dynamics(load(puppet));
  dynamics.set(Eigen::VectorXd::Map(some_q.data(), 7), Eigen::VectorXd::Map(some_v.data(), 7));
  EXPECT_TRUE(is_near(data_of(r.out, 7, 7), mass_matrix(dynamics), 1e-13));
}

TEST_F(Op, DenseInThePapersOrder) {
  const Eigen::MatrixXd file = data_of(op(mass, "--dense --json " + state()).out, 7, 7);
  const Eigen::MatrixXd paper = data_of(op(mass, "--dense --json --order paper " + state()).out, 7, 7);
  EXPECT_TRUE(is_near(paper, Eigen::MatrixXd(file.reverse()), 1e-13));
}

TEST_F(Op, DenseIsNeutralAndAtRestByDefault) {
  System system(load(puppet));
  EXPECT_TRUE(is_near(data_of(op(mass, "--dense --json").out, 7, 7), system(parse(mass)).dense(), 1e-13));
  EXPECT_EQ(data_of(op("V", "--dense --json").out, 54, 1).norm(), 0);
}

TEST_F(Op, KindIsThatOfTheExpressionAsWritten) {
  for (const auto& [expression, kind] :
       std::vector<std::pair<std::string, std::string>>{{"M", "memoryless"},
                                                        {"phi", "causal"},
                                                        {"~phi", "anticausal"},
                                                        {"phi*inv(phi)*~phi*inv(~phi)", "general"}}) {
    EXPECT_THAT(op(expression, "--dense --json").out, HasSubstr("\"kind\":\"" + kind + "\"")) << expression;
  }
}

TEST_F(Op, DenseForPeopleNamesItsRows) {
  const Result r = op(mass, "--dense");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("H φ M φ∗ H∗\nfrom hinge space to hinge space, 7 × 7, general\n  neck  "));
  EXPECT_THAT(r.out, HasSubstr("\n  right_shoulder_lift  "));
  EXPECT_EQ(lines_in(r.out), 9U);
  EXPECT_THAT(op("~B*~phi*~H", "--dense --nodes right_hand,head").out, HasSubstr("\n  head  "));
  EXPECT_THAT(op("V", "--dense --order paper").out, HasSubstr("54 numbers\n  left_hand  "));
}

TEST_F(Op, NodesAreThoseOfB) {
  const Result r = op("~B*~phi*~H", "--dense --json --nodes 'right_hand, head' " + state());
  ASSERT_EQ(r.status, 0) << r.err;
  State dynamics(load(puppet));
  dynamics.set(Eigen::VectorXd::Map(some_q.data(), 7), Eigen::VectorXd::Map(some_v.data(), 7));
  Eigen::MatrixXd expected(12, 7);
  expected.topRows(6) = jacobian(dynamics, "right_hand", Frame::node);
  expected.bottomRows(6) = jacobian(dynamics, "head", Frame::node);
  EXPECT_TRUE(is_near(data_of(r.out, 12, 7), expected, 1e-13));
}

TEST_F(Op, ManyStatesGiveAnObjectEach) {
  const std::string zero = "{\"q\": [0,0,0,0,0,0,0]}\n";
  const std::string other = fmt::format("{{\"q\": {}, \"v\": {}}}\n", some_q, some_v);
  const Result r = op(mass, "--dense --json --states -", zero + other + zero);
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(lines_in(r.out), 3U);
  const std::string one = op(mass, "--dense --json " + state()).out;
  const std::string neutral = op(mass, "--dense --json").out;
  EXPECT_EQ(r.out, neutral + one + neutral);
}

TEST_F(Op, StatesMustHaveWhatTheExpressionTakes) {
  const std::string q = "{\"q\": [0,0,0,0,0,0,0]}\n";
  const std::string v = "\"v\": [0,0,0,0,0,0,0]";
  fails("V", "--dense --states -",
        "error: <standard input>:1: there is no \"v\", needed for V\n"
        "  write one object a line: {\"q\": [7 numbers], \"v\": [7 numbers]}\n",
        q);
  fails("H*f", "--dense --states -",
        "error: <standard input>:2: there is neither \"a\" nor \"tau\", needed for H*f\n"
        "  write one object a line: {\"q\": [7 numbers], \"v\": [7 numbers], \"a\" or \"tau\": [7 numbers]}\n",
        "{\"q\": [0,0,0,0,0,0,0], " + v + ", \"tau\": [0,0,0,0,0,0,0]}\n{\"q\": [0,0,0,0,0,0,0], " + v + "}\n");
  fails(mass, "--plan --states -", "error: --states is for --dense and --apply; this mode has one state: --q, --v\n",
        q);
}

TEST_F(Op, AccelerationsAndTorquesGiveEachOther) {
  const std::string a = "--a '1 2 3 4 5 6 7' ";
  const Eigen::MatrixXd tau = data_of(op("T", "--dense --json --ideal " + a + state()).out, 7, 1);
  State dynamics(load(puppet), PassiveForces::left_out);
  dynamics.set(Eigen::VectorXd::Map(some_q.data(), 7), Eigen::VectorXd::Map(some_v.data(), 7));
  const Eigen::VectorXd expected = inverse_dynamics(dynamics, Eigen::VectorXd::LinSpaced(7, 1, 7));
  EXPECT_TRUE(is_near(tau, expected, 1e-12));
  const std::string given = fmt::format("--tau '{}' ", fmt::join(expected.data(), expected.data() + 7, " "));
  EXPECT_TRUE(is_near(data_of(op("thetadd", "--dense --json --ideal " + given + state()).out, 7, 1),
                      Eigen::VectorXd(Eigen::VectorXd::LinSpaced(7, 1, 7)), 1e-9));
  // with both, each is what `eval` makes of the other
  EXPECT_EQ(op("T", "--dense " + a + "--tau '0 0 0 0 0 0 0' " + state()).out, op("T", "--dense " + a + state()).out);
  EXPECT_EQ(op("thetadd", "--dense --a '0 0 0 0 0 0 0' " + given + state()).out,
            op("thetadd", "--dense " + given + state()).out);
  EXPECT_THAT(op("T - thetadd", "--dense " + a + given).err, StartsWith("error: both a and tau are given"));
  EXPECT_THAT(op("T", "--dense").err, AllOf(StartsWith("error: the hinge accelerations have no value"),
                                            HasSubstr("\n  give accelerations or torques: --a or --tau")));
}

TEST_F(Op, AgreesWithEvalAboutPassiveForces) {
  // friction, springs and armature, all of which act
  const std::string model = folder.write(
      "damped.xml",
      "<mujoco><worldbody><body name=\"a\"><joint name=\"j\" axis=\"0 1 0\" damping=\"0.7\" frictionloss=\"0.2\" "
      "stiffness=\"3\" armature=\"0.1\"/><geom size=\"0.1\" pos=\"1 0 0\"/><body name=\"b\" pos=\"1 0 0\"><joint "
      "name=\"k\" axis=\"0 0 1\" damping=\"2\"/><geom size=\"0.1\" pos=\"0 1 0\"/></body></body></worldbody></mujoco>");
  const std::string line = "{\"q\": [0.3, -0.4], \"v\": [1.5, -2], \"a\": [0.1, 0.2], \"tau\": [4, 5]}\n";
  for (const char* ideal : {"", " --ideal"}) {
    const std::string eval = run(fmt::format("eval '{}' --want id,fd --states -{}", model, ideal), line).out;
    const std::vector<double> both = numbers_in(eval);
    ASSERT_EQ(both.size(), 4U) << eval;
    const auto of = [&](const char* x) {
      return data_of(run(fmt::format("op '{}' '{}' --dense --json --states -{}", model, x, ideal), line).out, 2, 1);
    };
    EXPECT_TRUE(is_near(of("T"), Eigen::MatrixXd(Eigen::MatrixXd::Map(both.data(), 2, 1)), 1e-12)) << ideal;
    EXPECT_TRUE(is_near(of("thetadd"), Eigen::MatrixXd(Eigen::MatrixXd::Map(both.data() + 2, 2, 1)), 1e-12)) << ideal;
    // damping, friction and spring of the first hinge, damping of the second
    Eigen::MatrixXd passive(2, 1);
    passive << -0.7 * 1.5 - 0.2 - 3 * 0.3, 2 * 2;
    EXPECT_TRUE(is_near(of("T_p"), Eigen::MatrixXd(*ideal == '\0' ? 1.0 * passive : 0.0 * passive), 1e-14)) << ideal;
    const std::string moving = "{\"q\": [0.3, -0.4], \"v\": [1.5, -2], \"a\": [0.1, 0.2]}\n";
    const Result balance = run(
        fmt::format("op '{}' 'H*f + armature*thetadd - T_p - T' --dense --json --states -{}", model, ideal), moving);
    EXPECT_TRUE(is_near(data_of(balance.out, 2, 1), Eigen::MatrixXd(Eigen::MatrixXd::Zero(2, 1)), 1e-12));
  }
}

TEST_F(Op, GravityCanBeChosen) {
  const Eigen::MatrixXd a = data_of(op("a[torso]", "--dense --json --gravity 0,0,-2").out, 6, 1);
  EXPECT_TRUE(is_near(a, Eigen::MatrixXd((Eigen::MatrixXd(6, 1) << 0, 0, 0, 0, 0, 2).finished()), 1e-15));
  EXPECT_THAT(op("a", "--dense --gravity 1").err, HasSubstr("three are wanted"));
}

TEST_F(Op, ApplyIsTheProduct) {
  const std::string vectors = "[1,2,3,4,5,6,7]\n\n[0, 0, 0, 1, 0, 0, 0]\n";
  const Result r = op("inv(" + mass + ")", "--apply - --json " + state(), vectors);
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(lines_in(r.out), 2U);
  System system(load(puppet), some_q, some_v);
  Eigen::MatrixXd x(7, 2);
  x << 1, 0, 2, 0, 3, 0, 4, 1, 5, 0, 6, 0, 7, 0;
  const Eigen::MatrixXd expected = system(parse("inv(" + mass + ")")) * x;
  const std::vector<double> y = numbers_in(r.out);
  ASSERT_EQ(y.size(), 14U);
  EXPECT_TRUE(is_near(Eigen::MatrixXd(Eigen::MatrixXd::Map(y.data(), 7, 2)), expected, 1e-13));

  const std::string file = folder.write("x.jsonl", vectors);
  EXPECT_EQ(op("inv(" + mass + ")", "--apply '" + file + "' --json " + state()).out, r.out);
  EXPECT_EQ(lines_in(op("inv(" + mass + ")", "--apply '" + file + "'").out), 2U);
}

TEST_F(Op, ApplyFollowsTheOrder) {
  const std::vector<double> file = numbers_in(op(mass, "--apply - --json " + state(), "[1,2,3,4,5,6,7]").out);
  const std::vector<double> paper =
      numbers_in(op(mass, "--apply - --json --order paper " + state(), "[7,6,5,4,3,2,1]").out);
  EXPECT_EQ(std::vector<double>(file.rbegin(), file.rend()), paper);
}

TEST_F(Op, ApplyNamesTheLineThatIsWrong) {
  const std::string cure = "  write one array a line: [7 numbers]\n";
  fails(mass, "--apply -", "error: <standard input>:2: the vector has 2 numbers, the expression acts on 7\n" + cure,
        "[1,2,3,4,5,6,7]\n[1,2]\n");
  for (const char* line : {"{}", "[1,2,3,4,5,6,\"x\"]", "[1,2,3,4,5,6,1e999]", "[1,2,3,4,5,6,7"}) {
    const Result r = op(mass, "--apply -", std::string("\n") + line + "\n");
    EXPECT_EQ(r.status, 2) << line;
    EXPECT_THAT(r.out, IsEmpty()) << line;
    EXPECT_THAT(r.err,
                AllOf(StartsWith("error: <standard input>:2: this is not a JSON array of numbers"), EndsWith(cure)))
        << line;
  }
  fails(mass, "--apply /nowhere", "error: /nowhere: there is no readable file '/nowhere'\n  check the path\n");
}

TEST_F(Op, PlanCountsTheSweeps) {
  const Result r = op("inv(" + mass + ")", "--plan --json");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("{\"expression\":\"~(I - H*psi*K)*inv(D)*(I - H*psi*K)\",\"sweeps\":[{\"direction\":"
                                "\"inward\",\"text\":\""));
  EXPECT_THAT(r.out, HasSubstr("{\"direction\":\"outward\",\"text\":\""));
  EXPECT_THAT(r.out, HasSubstr("\"flops\":"));
  EXPECT_THAT(r.out, HasSubstr("\"bytes\":"));
  const Result text = op("inv(" + mass + ")", "--plan");
  EXPECT_THAT(text.out, HasSubstr("sweep 1, inward"));
  EXPECT_THAT(text.out, HasSubstr("\n2 sweeps from q to the result, 2 for another vector, "));
  EXPECT_THAT(r.out, AllOf(HasSubstr("\"once_per_state\":true"), HasSubstr("\"once_per_state\":false"),
                           HasSubstr("\"fused\":2")));
  EXPECT_THAT(op("phi - phi", "--plan").out, StartsWith("0\n\nat every body\n  y(k) = 0\n\n0 sweeps, 0 flops, "));
}

TEST_F(Op, ExplainNamesRulesAndSources) {
  const Result r = op("inv(" + mass + ")", "--explain --json");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("{\"steps\":[{\"rule\":\""));
  EXPECT_THAT(r.out, HasSubstr("\"source\":\"RJK91"));
  EXPECT_THAT(r.out, EndsWith("\"result\":\"~(I - H*psi*K)*inv(D)*(I - H*psi*K)\"}\n"));
  EXPECT_THAT(op("inv(" + mass + ")", "--explain").out, AllOf(StartsWith("  (H φ M φ∗ H∗)⁻¹\n= "), HasSubstr("by ")));
  EXPECT_EQ(op(mass, "--explain").out, "  H φ M φ∗ H∗\n  no identity makes it cheaper\n");
  EXPECT_EQ(op(mass, "--explain --json").out, "{\"steps\":[],\"result\":\"H*phi*M*~phi*~H\"}\n");
  EXPECT_EQ(op("phi - phi", "--explain --json").out,
            "{\"steps\":[{\"rule\":\"algebra\",\"source\":\"associative and distributive laws\",\"expression\":\"0\","
            "\"adjoint\":false,\"changed\":[]}],\"result\":\"0\"}\n");
  EXPECT_THAT(op("(1e200*phi + M)*(1e200*M + phi)", "--explain --json").out,
              EndsWith(": this is the best so far\"}\n"));
  EXPECT_EQ(op("H*~(E_phi*phi)*M", "--explain --json").out,
            "{\"steps\":[{\"rule\":\"one step of φ\",\"source\":\"RJK91 appendix\",\"expression\":\"-H*(I - ~phi)*M\","
            "\"adjoint\":true,\"changed\":[{\"old\":\"~phi*~E_phi\",\"new\":\"~phi - I\"}]}],"
            "\"result\":\"-H*(I - ~phi)*M\"}\n");
}

TEST_F(Op, LevelsAreSeven) {
  const Result r = op(mass, "--levels --json");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("{\"levels\":[{\"number\":1,\"title\":\"the expression\",\"lines\":["));
  std::size_t at = 0;
  for (int number = 1; number <= 7; ++number) {
    at = r.out.find(fmt::format("{{\"number\":{},\"title\":\"", number), at);
    ASSERT_NE(at, std::string::npos) << number;
  }
  EXPECT_EQ(r.out.find("\"number\":8"), std::string::npos);
}

TEST_F(Op, EachLevelTakesTheOneAboveApart) {
  const std::string arm = std::string(BUNRAKU_SOURCE_DIR) + "/models/arm.urdf";
  const std::string inverse = "'inv(" + mass + ")'";
  const std::string text =
      run("op '" + arm + "' " + inverse + " --levels --q '1.5707963267948966 0 0'").out + "\nlevel 8, ";
  std::array<std::string, 8> level;
  for (std::size_t i = 1; i <= 7; ++i) {
    const std::size_t start = text.find(fmt::format("level {}, ", i));
    const std::size_t end = text.find(fmt::format("\nlevel {}, ", i + 1));
    ASSERT_TRUE(start < end && end != std::string::npos) << text;
    level[i] = text.substr(start, end - start);
  }
  // 1: the expression, and what is evaluated; 2 and 3: an operator a line, those of what is evaluated
  EXPECT_EQ(level[1], "level 1, the expression\n  (H φ M φ∗ H∗)⁻¹\n  = (I - H ψ K)∗ D⁻¹ (I - H ψ K)\n");
  for (const std::size_t i : {2U, 3U}) {
    EXPECT_EQ(lines_in(level[i]), 5U) << level[i];
    for (const char* symbol : {"\n  H: ", "\n  D: ", "\n  K: ", "\n  ψ: "}) {
      EXPECT_THAT(level[i], HasSubstr(symbol));
    }
  }
  EXPECT_THAT(level[2], AllOf(HasSubstr("  D: hinge space to hinge space, memoryless\n"),
                              HasSubstr("  ψ: body space to body space, causal\n")));
  EXPECT_THAT(level[3], AllOf(HasSubstr("  ψ: gathers forces inward"), HasSubstr("from the tips to the base\n")));
  // 4: the recursions of the plan, line by line
  const std::string plan = run("op '" + arm + "' " + inverse + " --plan").out;
  int recursions = 0;
  for (std::size_t i = plan.find("\n  "); i != std::string::npos; i = plan.find("\n  ", i + 1), ++recursions) {
    EXPECT_THAT(level[4], HasSubstr("\n    " + plan.substr(i + 3, plan.find('\n', i + 1) - i - 3) + "\n"));
  }
  EXPECT_EQ(recursions, 11);
  EXPECT_EQ(lines_in(level[4]), 1U + 3U + 11U) << "a title, three directions, the recursions";
  // 5 and 6: from body to body along the tree, and across each hinge
  EXPECT_EQ(level[5],
            "level 5, the steps from body to body\n  base: the recursion ends here\n"
            "  ψ(base, upper): from upper to base\n  ψ(upper, lower): from lower to upper\n"
            "  ψ(lower, hand): from hand to lower\n  ψ(hand, tip): from tip to hand\n");
  for (const char* line :
       {"ψ(base, upper) = φ(base, upper) [I − G(upper) H(upper)]: hinge 'shoulder', revolute, 1 velocity",
        "ψ(lower, hand) = φ(lower, hand) [I − G(hand) H(hand)]: hinge 'wrist', continuous, 1 velocity",
        "ψ(hand, tip) = φ(hand, tip) [I − G(tip) H(tip)]: hinge 'tool', fixed, 0 velocities"}) {
    EXPECT_THAT(level[6], HasSubstr(std::string("\n  ") + line + "\n"));
  }
  // 7: where the file puts the joints, the shoulder turned by a quarter about y
  EXPECT_THAT(level[7], HasSubstr("\n  φ(upper, lower): R = [1 0 0; 0 1 0; 0 0 1], l = (0, 0, 0.4) m\n"));
  EXPECT_THAT(level[7], HasSubstr("\n  φ(base, upper): R = [0 0 1; 0 1 0; -1 0 0], l = (0, 0, 0) m\n"));
}

TEST_F(Op, WritesAndReadsLatexAndUnicode) {
  const Result latex = op("inv(" + mass + ")", "--latex");
  EXPECT_EQ(latex.out, "\\left( H \\phi M \\phi^{*} H^{*} \\right)^{-1}\n");
  EXPECT_EQ(op(latex.out.substr(0, latex.out.size() - 1), "--unicode").out, "(H φ M φ∗ H∗)⁻¹\n");
  EXPECT_EQ(op("(H φ M φ∗ H∗)⁻¹", "--latex --json").out,
            "{\"latex\":\"\\\\left( H \\\\phi M \\\\phi^{*} H^{*} \\\\right)^{-1}\"}\n");
  EXPECT_EQ(op("~phi", "--unicode --json").out, "{\"unicode\":\"φ∗\"}\n");
}

TEST_F(Op, WithoutAModeItTellsWhatTheExpressionIs) {
  EXPECT_EQ(op("inv(" + mass + ")").out,
            "(H φ M φ∗ H∗)⁻¹\n"
            "  from hinge space to hinge space, 7 × 7, general\n"
            "  = (I - H ψ K)∗ D⁻¹ (I - H ψ K)\n"
            "  2 sweeps: inward, outward\n");
  EXPECT_EQ(op("V").out, "V\n  a stacked vector of body space, 54 numbers\n  1 sweep: outward\n");
  // what a state is enough for takes sweeps, too
  const std::string hinges = "  from hinge space to hinge space, 7 × 7, memoryless\n";
  EXPECT_EQ(op("D").out, "D\n" + hinges + "  1 sweep from q to the result, 0 for another vector\n");
  EXPECT_THAT(op("D", "--json").out, EndsWith(",\"sweeps\":1}\n"));
  EXPECT_EQ(op("D*~K*V*~thetad").out,
            "D K∗ V θ̇∗\n  from hinge space to hinge space, 7 × 7, general\n"
            "  2 sweeps from q to the result, 1 for another vector: outward\n");
  EXPECT_THAT(op("D*~K*V*~thetad", "--json").out, EndsWith(",\"sweeps\":2}\n"));
  EXPECT_EQ(op("phi - phi").out,
            "φ - φ\n  from body space to body space, 54 × 54, causal\n  = 0\n  no sweeps: body by body\n");
  EXPECT_THAT(op("phi - phi", "--json").out, EndsWith(",\"simplified\":\"0\",\"sweeps\":0}\n"));
  EXPECT_EQ(op("H*phi", "--json").out,
            "{\"expression\":\"H*phi\",\"unicode\":\"H φ\",\"range\":\"hinge\",\"domain\":\"body\",\"rows\":7,"
            "\"cols\":54,\"kind\":\"causal\",\"simplified\":\"H*phi\",\"sweeps\":1}\n");
}

TEST_F(Op, AnExpressionMayStartWithAMinusSign) {
  EXPECT_EQ(op("-H*phi", "--unicode").out, "-H φ\n");
  EXPECT_EQ(op("-2*phi", "--unicode").out, "-2 φ\n");
  EXPECT_EQ(op("phi", "-h").out, run("op --help").out);
}

TEST_F(Op, ErrorsPointAtTheirPlace) {
  fails("H*phy*M", "--dense",
        "error: 'phy' is not known; did you mean 'phi'?\n"
        "  H*phy*M\n"
        "    ^~~\n");
  fails("φ∗ ψ̃ xyz", "--dense",
        "error: 'xyz' is not known\n"
        "  φ∗ ψ̃ xyz\n"
        "       ^~~\n"
        "  `bunraku op --symbols` lists the symbols\n");
}

TEST_F(Op, ErrorsThatNobodyHearsAreErrorsStill) {
  const std::string command = fmt::format("'{}' op '{}' phy >/dev/full 2>/dev/full", BUNRAKU_PROGRAM, puppet);
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << status;
}

TEST_F(Op, ErrorsNameTheCure) {
  fails("H*M*H", "",
        "error: the product of 'H*M' (body space to hinge space) and 'H' (body space to hinge space) does not fit\n"
        "  H*M*H\n"
        "      ^\n"
        "  the left factor acts on body space, the right one gives hinge space\n");
  fails("~B*~phi*~H", "--nodes rigth_hand",
        "error: model 'puppet' has no node 'rigth_hand'; did you mean 'right_hand'?\n");
  EXPECT_THAT(op("~B*~phi*~H", "--plan").err,
              StartsWith("error: B has no meaning without nodes\n  ~B*~phi*~H\n   ^\n  name the nodes: "));
  EXPECT_THAT(op("phi[tosro, head]", "--dense").err,
              StartsWith("error: there is no body 'tosro'; did you mean 'torso'?\n"));
  fails("inv(phi + ~phi)", "--dense",
        "error: no identity gives the inverse of 'phi + ~phi'\n"
        "  inv(phi + ~phi)\n"
        "  ^~~~~~~~~~~~~~~\n"
        "  dense_inv(x) forms it by a dense matrix, O(n³)\n");
  EXPECT_EQ(op("dense_inv(phi + ~phi)", "--dense --json").status, 0);
  EXPECT_THAT(op("phi = psi").err, AllOf(StartsWith("error: an expression has no '='\n  phi = psi\n      ^\n"),
                                         HasSubstr("bunraku verify LHS RHS")));
  EXPECT_THAT(op("").err, StartsWith("error: there is no expression\n"));
}

TEST_F(Op, ArmatureIsPartOfTheMassMatrix) {
  const std::string rotor =
      folder.write("rotor.xml",
                   "<mujoco><worldbody><body name=\"arm\"><joint name=\"pin\" axis=\"0 1 0\" armature=\"0.5\"/>"
                   "<geom size=\"0.1\" pos=\"1 0 0\"/></body></worldbody></mujoco>");
  EXPECT_THAT(run(fmt::format("op '{}' 'inv({})' --explain", rotor, mass)).out,
              HasSubstr("= (I - H ψ_{M, 0 𝒜} K_{M, 0 𝒜})∗ D_{M, 0 𝒜}⁻¹ (I - H ψ_{M, 0 𝒜} K_{M, 0 𝒜})\n"));
  EXPECT_THAT(run(fmt::format("op '{}' 'inv({} + armature)' --explain", rotor, mass)).out,
              HasSubstr("= (I - H ψ K)∗ D⁻¹ (I - H ψ K)\n"));
  const Result with = run(fmt::format("op '{}' 'inv({} + armature)' --dense --json", rotor, mass));
  ASSERT_EQ(with.status, 0) << with.err;
  State dynamics(load(rotor));
  EXPECT_TRUE(is_near(data_of(with.out, 1, 1), inverse_mass_matrix(dynamics), 1e-13));
}

TEST_F(Op, VariablesArePartOfExpressions) {
  EXPECT_EQ(op("~(A*phi)*x", "--unicode --let 'A:body<-body' --let x:body").out, "(A φ)∗ x\n");
  EXPECT_THAT(op("inv(phi)*A", "--explain --let 'A: body <- body'").out, HasSubstr("= ⟦I - E_φ⟧ A\n"));
  EXPECT_THAT(op("A*phi", "--dense --let 'A:body<-body'").err, StartsWith("error: the variable 'A' has no values\n"));
  fails("A", "--let A", "error: --let: 'A' has no ':': write NAME:RANGE<-DOMAIN, such as A:body<-body, or x:hinge\n");
  fails("A", "--let A:bdy", "error: --let: 'bdy' in 'A:bdy' is not a space: those are hinge, body, node and closure\n");
  fails("A", "--let A:body --let A:hinge", "error: --let: 'A' is declared twice\n");
  EXPECT_THAT(op("A", "--let phi:body").err, StartsWith("error: 'phi' cannot name a variable\n"));
}

TEST_F(Op, RefusesWhatDoesNotGoTogether) {
  fails("phi", "--plan --dense", "error: give either --dense or --plan, not both\n");
  fails("phi", "--states - --apply -", "error: --states and --apply cannot both come from standard input\n");
  fails("phi", "--dense --order pepar",
        "error: --order: pepar not in {file,paper}\n"
        "  run `bunraku op --help` for what it takes\n");
  EXPECT_EQ(run("op '" + puppet + "' --plan").err, "error: --plan needs an expression: bunraku op MODEL EXPR --plan\n");
  EXPECT_EQ(run("op -").err, "error: the model and the expressions cannot both come from standard input\n");
  EXPECT_EQ(run("op").err, "error: a model is missing: bunraku op MODEL EXPR; only --symbols needs none\n");
  EXPECT_THAT(run("op /nowhere/x.urdf phi").err, StartsWith("error: "));
}

TEST_F(Op, RefusesMatricesThatFillTheMemory) {
  std::string chain = "<robot name=\"chain\"><link name=\"b0\"/>";
  for (int i = 1; i <= 900; ++i) {
    chain += fmt::format(
        "<link name=\"b{0}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"
        "<joint name=\"j{0}\" type=\"continuous\"><parent link=\"b{1}\"/><child link=\"b{0}\"/></joint>",
        i, i - 1);
  }
  const std::string model = folder.write("chain.urdf", chain + "</robot>");
  EXPECT_THAT(run("op '" + model + "' phi --dense --json").err,
              StartsWith("error: the matrix would have 5406 × 5406 numbers, more than 25000000"));
  EXPECT_THAT(run("op '" + model + "' 'phi[1, 900]' --dense --json").out, StartsWith("{\"rows\":6,\"cols\":6,"));
}

TEST_F(Op, ListsTheSymbols) {
  const Result r = run("op --symbols");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("\nphi        φ    body <- body     causal      "));
  EXPECT_THAT(r.out, HasSubstr("\nthetad     θ̇    hinge vector "));
  for (const std::string& name : known_names()) {
    EXPECT_THAT(r.out, HasSubstr(name));
  }
  EXPECT_THAT(run("op --symbols --json").out,
              AllOf(StartsWith("[{\"name\":\"E_phi\",\"unicode\":\"E_φ\","),
                    HasSubstr("\"range\":\"hinge\",\"domain\":\"body\",\"kind\":\"memoryless\"")));
}

TEST_F(Op, HelpHasExamples) {
  const Result r = run("op --help");
  EXPECT_EQ(r.status, 0);
  for (const char* text : {"--dense", "--plan", "--explain", "--levels", "--latex", "--unicode", "--apply", "--symbols",
                           "--nodes", "--order", "--let", "Examples:"}) {
    EXPECT_THAT(r.out, HasSubstr(text));
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Lines from a pipe

class OpLines : public Op {
 protected:
  Result lines(const std::string& text, const std::string& options = "") const {
    return run(fmt::format("op '{}' {}", puppet, options), text);
  }
};

TEST_F(OpLines, AnswerOneAfterAnother) {
  const Result r = lines(mass + "\n\n# a comment\nlatex phi\nquit\nlatex psi\n");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.err, IsEmpty());
  EXPECT_THAT(r.out, StartsWith("H φ M φ∗ H∗\n  from hinge space to hinge space, 7 × 7, general\n  2 sweeps: "));
  EXPECT_THAT(r.out, HasSubstr("\n  neck  "));
  EXPECT_THAT(r.out, EndsWith("\n\\phi\n"));
}

TEST_F(OpLines, LargeMatricesAreShownWhenAskedForAlone) {
  EXPECT_EQ(lines_in(lines("H*phi\n").out), 3U);
  EXPECT_EQ(lines_in(lines("dense H*phi\n").out), 8U);
}

TEST_F(OpLines, HaveTheModesAsCommands) {
  EXPECT_EQ(lines("plan inv(" + mass + ")\n").out, op("inv(" + mass + ")", "--plan").out);
  EXPECT_EQ(lines("explain inv(" + mass + ")\n").out, op("inv(" + mass + ")", "--explain").out);
  EXPECT_EQ(lines("levels " + mass).out, op(mass, "--levels").out);
  EXPECT_EQ(lines("symbols\n").out, run("op --symbols").out);
  EXPECT_THAT(lines("help\r\n").out, HasSubstr("LHS == RHS"));
}

TEST_F(OpLines, KeepTheNodes) {
  const Result r = lines("nodes head, right_hand\n~B*~phi*~H\n");
  EXPECT_THAT(r.out, StartsWith("B: head, right_hand\n"));
  EXPECT_THAT(r.out, HasSubstr("\n  right_hand  "));
  EXPECT_THAT(lines("~B*~phi*~H\n", "--nodes head").out, HasSubstr("\n  head  "));
}

TEST_F(OpLines, CompareTwoSides) {
  const Result r = lines("phi = I + phit\nphi = psi\n");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, StartsWith("proved: largest residual "));
  EXPECT_THAT(r.out, AllOf(HasSubstr("on 26 systems\n"), HasSubstr("\nrefuted: ")));
}

TEST_F(OpLines, GoOnAfterAnError) {
  const Result r = lines("phy\nnodes hed\nlatex phi\n");
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.out, "\\phi\n");
  EXPECT_EQ(r.err,
            "error: 'phy' is not known; did you mean 'phi'?\n"
            "  phy\n"
            "  ^~~\n"
            "error: model 'puppet' has no node 'hed'; did you mean 'head'?\n");
}

TEST_F(OpLines, AreAtTheGivenState) {
  EXPECT_THAT(lines("thetad\n", "--v '1 2 3 4 5 6 7.5'").out, HasSubstr("  7.5\n"));
  EXPECT_THAT(lines("T\n").out, HasSubstr("\n  no value: the hinge accelerations have no value"));
  EXPECT_THAT(lines("T\n", "--states x").err, StartsWith("error: --states is for --dense and --apply"));
}

}  // namespace
}  // namespace bunraku::test
