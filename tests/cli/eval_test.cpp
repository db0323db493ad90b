/// `bunraku eval`: each quantity against the library, the lists that ask for them, what they lack.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/LU>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/io/load.hpp"
#include "bunraku/model/configuration.hpp"
#include "program.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// The array or arrays after a key: all numbers of it, row by row.
Eigen::MatrixXd matrix_of(const std::string& json, const std::string& key, Eigen::Index rows, Eigen::Index cols) {
  const std::size_t found = json.find("\"" + key + "\":[");
  EXPECT_NE(found, std::string::npos) << key << " in " << json;
  std::vector<double> numbers;
  if (found != std::string::npos) {
    const char* at = json.c_str() + found + key.size() + 3;
    int depth = 0;
    do {
      depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
      char* end = nullptr;
      const double x = std::strtod(at, &end);
      if (end != at) {
        numbers.push_back(x);
      }
      at = end == at ? at + 1 : end;
    } while (depth > 0 && *at != '\0');
  }
  EXPECT_EQ(static_cast<Eigen::Index>(numbers.size()), rows * cols) << key;
  numbers.resize(static_cast<std::size_t>(rows * cols));
  return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(numbers.data(), rows, cols);
}

/// A state of a model, and its line.
struct Drawn {
  explicit Drawn(const Model& model) : q(random_configuration(model, 3)) {
    v = Eigen::VectorXd::LinSpaced(model.nv(), -0.7, 0.9);
    a = Eigen::VectorXd::LinSpaced(model.nv(), 1.3, -0.4);
    tau = Eigen::VectorXd::LinSpaced(model.nv(), 0.2, -0.3);
  }
  std::string line() const {
    const auto list = [](const Eigen::VectorXd& x) { return fmt::format("[{}]", fmt::join(x.begin(), x.end(), ", ")); };
    return fmt::format("{{\"q\": {}, \"v\": {}, \"a\": {}, \"tau\": {}}}\n", list(q), list(v), list(a), list(tau));
  }
  Eigen::VectorXd q;
  Eigen::VectorXd v;
  Eigen::VectorXd a;
  Eigen::VectorXd tau;
};

/// A chain of three revolute links that tests can give names to.
std::string chain(const std::string& a, const std::string& b, const std::string& c) {
  std::string text = "<robot name=\"chain\"><link name=\"world\"/>";
  std::string parent = "world";
  for (const std::string& name : {a, b, c}) {
    text += fmt::format(
        "<link name=\"{0}\"><inertial><origin xyz=\"0.3 0.1 0\"/><mass value=\"1.5\"/><inertia ixx=\"0.1\" iyy=\"0.2\" "
        "izz=\"0.15\"/></inertial></link><joint name=\"to {0}\" type=\"continuous\"><parent link=\"{1}\"/>"
        "<child link=\"{0}\"/><origin xyz=\"0.5 0 0.1\" rpy=\"0.4 0 0\"/><axis xyz=\"0 1 0\"/></joint>",
        name, parent);
    parent = name;
  }
  return text + "</robot>";
}

TEST_F(Cli, EvalGivesTheMatrices) {
  for (const bool free_base : {false, true}) {
    for (const bool ideal : {false, true}) {
      const Model model = load(puppet, {.free_base = free_base});
      const Drawn s(model);
      const Result r =
          run(fmt::format("eval '{}' --want coriolis,regressor,lambda_inverse:right_hand,left_forearm,fd,id,mass"
                          " --states - {} {}",
                          puppet, free_base ? "--free-base" : "", ideal ? "--ideal" : ""),
              s.line());
      ASSERT_EQ(r.status, 0) << r.err;
      State dynamics(model, ideal ? PassiveForces::left_out : PassiveForces::included);
      dynamics.set(s.q, s.v);
      const Eigen::Index n = model.nv();
      const Eigen::Index parameters = 10 * std::ssize(model.bodies());
      const Eigen::MatrixXd coriolis = matrix_of(r.out, "coriolis", n, n);
      EXPECT_TRUE(is_near(coriolis * s.v, bias(dynamics) - gravity_torques(dynamics), 1e-12));
      EXPECT_TRUE(is_near(coriolis, coriolis_matrix(dynamics), 1e-14));
      EXPECT_TRUE(is_near(matrix_of(r.out, "regressor", n, parameters), regressor(dynamics, s.a), 1e-14));
      EXPECT_TRUE(is_near(matrix_of(r.out, "mass", n, n), mass_matrix(dynamics), 1e-14));
      EXPECT_TRUE(is_near(matrix_of(r.out, "id", n, 1), inverse_dynamics(dynamics, s.a), 1e-13));
      EXPECT_TRUE(is_near(matrix_of(r.out, "fd", n, 1), forward_dynamics(dynamics, s.tau), 1e-11));
      Eigen::MatrixXd J(12, n);
      J << jacobian(dynamics, "right_hand", Frame::node), jacobian(dynamics, "left_forearm", Frame::node);
      EXPECT_TRUE(is_near(matrix_of(r.out, "lambda_inverse:right_hand,left_forearm", 12, 12),
                          J * mass_matrix(dynamics).inverse() * J.transpose(), 1e-10));
    }
  }
}

TEST_F(Cli, EvalLeavesPassiveForcesOutOfIdealHinges) {
  const Model model = load(puppet);
  const Drawn s(model);
  const std::string command = "eval '" + puppet + "' --want fd,id --states -";
  const Result full = run(command, s.line());
  const Result ideal = run(command + " --ideal", s.line());
  ASSERT_EQ(full.status + ideal.status, 0);
  const Eigen::VectorXd difference = matrix_of(full.out, "id", 7, 1) - matrix_of(ideal.out, "id", 7, 1);
  EXPECT_NEAR(difference[1], 0.03 * s.v[1], 1e-14);  // the damping of the shoulder
  EXPECT_NE(full.out, ideal.out);
}

TEST_F(Cli, EvalRegressorTimesParametersAreTheTorques) {
  const std::string file = folder.write("c.urdf", chain("a", "b", "c"));
  const Model model = load(file);
  const Drawn s(model);
  const Result r = run("eval '" + file + "' --want regressor,id --states -", s.line());
  ASSERT_EQ(r.status, 0) << r.err;
  // m = 1.5, c = (0.3, 0.1, 0); inertia about the origin: I_c + m(|c|² − cc*)
  Eigen::VectorXd one(10);
  one << 1.5, 0.45, 0.15, 0, 0.1 + 0.015, -0.045, 0, 0.2 + 0.135, 0, 0.15 + 0.15;
  EXPECT_TRUE(is_near(matrix_of(r.out, "regressor", 3, 30) * one.replicate(3, 1), matrix_of(r.out, "id", 3, 1), 1e-12));
}

TEST_F(Cli, EvalNamesAfterANodeAreNodes) {
  const auto keys = [&](const std::string& want) {
    const Result r = run("eval '" + puppet + "' " + want);
    EXPECT_EQ(r.status, 0) << want << ": " << r.err;
    std::vector<std::string> out;
    int depth = 0;
    for (std::size_t i = 0; i < r.out.size(); ++i) {
      depth += r.out[i] == '{' || r.out[i] == '[' ? 1 : r.out[i] == '}' || r.out[i] == ']' ? -1 : 0;
      if (depth == 1 && r.out[i] == '"') {
        const std::size_t end = r.out.find('"', i + 1);
        out.push_back(r.out.substr(i + 1, end - i - 1));
        i = end;
      }
    }
    return fmt::format("{}", fmt::join(out, " "));
  };
  EXPECT_EQ(keys("--want log_det,lambda_inverse:right_hand,head,fd"), "log_det lambda_inverse:right_hand,head fd");
  EXPECT_EQ(keys("--want 'lambda_inverse:right_hand , head, fd'"), "lambda_inverse:right_hand,head fd");
  EXPECT_EQ(keys("--want lambda_inverse:head,lambda_inverse:head,torso,jacobian:head:node,com"),
            "lambda_inverse:head lambda_inverse:head,torso jacobian:head:node com");
  EXPECT_EQ(keys("--want lambda_inverse:head,torso --want com,mass"), "lambda_inverse:head,torso com mass");
  EXPECT_EQ(keys("--want com --want lambda_inverse:head --want com"), "com lambda_inverse:head");
  EXPECT_EQ(keys("--want com,log_det, --want=com"), "com log_det");
}

TEST_F(Cli, EvalNodesMayHaveCommasAndNamesOfQuantities) {
  const std::string file = folder.write("c.urdf", chain("com", "left,arm", "tool"));
  const auto eval = [&](const std::string& want) { return run("eval '" + file + "' --q 0.1,0.2,0.3 " + want); };
  const Result both = eval("--want lambda_inverse:tool,com");
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.out, IsEmpty());
  EXPECT_THAT(both.err,
              AllOf(StartsWith("error: --want: 'com' after 'lambda_inverse:tool' is a quantity, and a node of this "
                               "model: give the quantity a --want of its own"),
                    HasSubstr("write lambda_inverse:tool,\\com for the node")));
  const Result quantity = eval("--want lambda_inverse:tool --want com");
  EXPECT_EQ(quantity.status, 0) << quantity.err;
  EXPECT_THAT(quantity.out, HasSubstr("]],\"com\":["));
  const Result node = eval("--want 'lambda_inverse:tool,\\com'");
  ASSERT_EQ(node.status, 0) << node.err;
  const Result first = eval("--want lambda_inverse:com,tool");  // what stands right after lambda_inverse: is a node
  ASSERT_EQ(first.status, 0) << first.err;
  // the same blocks, in the other order
  const Eigen::MatrixXd one = matrix_of(node.out, "lambda_inverse:tool,\\\\com", 12, 12);
  const Eigen::MatrixXd other = matrix_of(first.out, "lambda_inverse:com,tool", 12, 12);
  EXPECT_TRUE(is_near(one.topLeftCorner(6, 6), other.bottomRightCorner(6, 6), 1e-14));
  EXPECT_TRUE(is_near(one.topRightCorner(6, 6), other.bottomLeftCorner(6, 6), 1e-14));
  for (const char* want :
       {"'lambda_inverse:left\\,arm,tool'", "'jacobian:left\\,arm:node'", "fd,lambda_inverse:com,id"}) {
    EXPECT_EQ(eval(std::string("--want ") + want).status, 0) << want;
  }
}

TEST_F(Cli, EvalGivesPosesOfNodes) {
  // the tool is 0.2 along x of a link that stands 1 above the world's origin, turned by q about z
  const std::string file = folder.write(
      "tool.urdf",
      "<robot name=\"r\"><link name=\"world\"/><link name=\"arm\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" "
      "iyy=\"1\" izz=\"1\"/></inertial></link><link name=\"tool0\"/><joint name=\"pin\" type=\"continuous\"><parent "
      "link=\"world\"/><child link=\"arm\"/><origin xyz=\"0 0 1\"/><axis xyz=\"0 0 1\"/></joint><joint name=\"tip\" "
      "type=\"fixed\"><parent link=\"arm\"/><child link=\"tool0\"/><origin xyz=\"0.2 0 0\"/></joint></robot>");
  const double c = std::cos(0.3);
  const double s = std::sin(0.3);
  Eigen::MatrixXd expected(4, 4);
  expected << c, -s, 0, 0.2 * c, s, c, 0, 0.2 * s, 0, 0, 1, 1, 0, 0, 0, 1;
  for (const char* options : {"", "--merge-fixed"}) {  // a body, and a node
    const Result r = run(fmt::format("eval '{}' {} --want pose:tool0,com,pose:arm --q 0.3", file, options));
    ASSERT_EQ(r.status, 0) << r.err;
    EXPECT_TRUE(is_near(matrix_of(r.out, "pose:tool0", 4, 4), expected, 1e-15));
    Eigen::MatrixXd arm = expected;
    arm(0, 3) = arm(1, 3) = 0;
    EXPECT_TRUE(is_near(matrix_of(r.out, "pose:arm", 4, 4), arm, 1e-15));
  }
}

TEST_F(Cli, EvalGivesTheOperationalSpaceInertia) {
  const Model model = load(puppet, {.free_base = true});
  const Drawn s(model);
  const Result r =
      run("eval '" + puppet + "' --free-base --want lambda_inverse:right_hand,lambda:right_hand --states -", s.line());
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_TRUE(is_near(matrix_of(r.out, "lambda:right_hand", 6, 6) * matrix_of(r.out, "lambda_inverse:right_hand", 6, 6),
                      Eigen::MatrixXd(Eigen::MatrixXd::Identity(6, 6)), 1e-9));
  const Result none = run("eval '" + puppet + "' --want com,lambda:right_hand");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.out, IsEmpty());
  EXPECT_THAT(none.err, HasSubstr("6 rows and rank 3"));
}

TEST_F(Cli, EvalSaysWhatIsWrongWithAWant) {
  for (const auto& [want, message] : std::vector<std::pair<std::string, std::string>>{
           {"lambda_inverse:haed", "did you mean 'head'?"},
           {"lambda_inverse:head,right_hnad",
            "'right_hnad' in 'lambda_inverse:head,right_hnad' is neither a node of the model nor a "
            "quantity; did you mean 'right_hand'?"},
           {"lambda_inverse:head,gravty", "neither a node of the model nor a quantity; did you mean 'gravity'?"},
           {"lambda_inverse:head --want gravty", "'gravty' is not a quantity; known are: poses, "},
           {"'lambda_inverse:head,\\com'", "no node"},
           {"lambda_inverse", "a node of 'lambda_inverse' has no name: write lambda_inverse:NODE,NODE…"},
           {"lambda_inverse:head,,torso", "a node of 'lambda_inverse:head,' has no name"},
           {"osim:head", "write lambda_inverse:head for J·inverse_mass·Jᵀ, lambda:head for its inverse"},
           {"lambda:head,osim:torso", "write lambda_inverse:torso for "},
           {"osim", "write lambda_inverse:NODE,NODE… for "},
           {"pose", "a node of 'pose' has no name: write pose:NODE"},
           {"pose:haed", "did you mean 'head'?"},
           {"jacobian", "'jacobian' names no frame: write jacobian:NODE:FRAME"},
           {"jacobian:head", "names no frame"},
           {"coriolis:head", "'coriolis:head' is not a quantity"},
           {"\"\"", "'' is not a quantity"},
           {"com,,mass", "'' is not a quantity"}}) {
    const Result r = run("eval '" + puppet + "' --want " + want);
    EXPECT_EQ(r.status, 2) << want;
    EXPECT_THAT(r.out, IsEmpty()) << want;
    EXPECT_THAT(r.err, AllOf(StartsWith("error: "), HasSubstr(message))) << want;
  }
}

TEST_F(Cli, EvalGivesDerivatives) {
  for (const bool free_base : {false, true}) {
    const Model model = load(puppet, {.free_base = free_base});
    const Drawn s(model);
    const Result r = run(fmt::format("eval '{}' --want id_dq,id_dv,fd_dq,fd_dv,fd_dtau,jacobian_dq:right_hand"
                                     " --states - {}",
                                     puppet, free_base ? "--free-base" : ""),
                         s.line());
    ASSERT_EQ(r.status, 0) << r.err;
    State dynamics(model);
    const Eigen::Index n = model.nv();
    const double h = 1e-5;  // differences of second order: enough to tell which matrix is which
    for (Eigen::Index j = 0; j < n; ++j) {
      const Eigen::VectorXd unit = Eigen::VectorXd::Unit(n, j);
      const auto difference = [&](double by_q, double by_v, double by_tau, const auto& f) -> Eigen::MatrixXd {
        const auto at = [&](double step) -> Eigen::MatrixXd {
          dynamics.set(integrate(model, s.q, unit, by_q * step), s.v + by_v * step * unit);
          return f(Eigen::VectorXd(s.tau + by_tau * step * unit));
        };
        return (at(h) - at(-h)) / (2 * h);
      };
      const auto id = [&](const Eigen::VectorXd&) { return inverse_dynamics(dynamics, s.a); };
      const auto fd = [&](const Eigen::VectorXd& tau) { return forward_dynamics(dynamics, tau); };
      const auto J = [&](const Eigen::VectorXd&) { return jacobian(dynamics, "right_hand", Frame::node); };
      EXPECT_TRUE(is_near(matrix_of(r.out, "id_dq", n, n).col(j), difference(1, 0, 0, id), 1e-7));
      EXPECT_TRUE(is_near(matrix_of(r.out, "id_dv", n, n).col(j), difference(0, 1, 0, id), 1e-7));
      EXPECT_TRUE(is_near(matrix_of(r.out, "fd_dq", n, n).col(j), difference(1, 0, 0, fd), 1e-6));
      EXPECT_TRUE(is_near(matrix_of(r.out, "fd_dv", n, n).col(j), difference(0, 1, 0, fd), 1e-6));
      EXPECT_TRUE(is_near(matrix_of(r.out, "fd_dtau", n, n).col(j), difference(0, 0, 1, fd), 1e-6));
      const Eigen::MatrixXd slope = difference(1, 0, 0, J);
      const Eigen::MatrixXd all = matrix_of(r.out, "jacobian_dq:right_hand", 6 * n, n);
      for (Eigen::Index row = 0; row < 6; ++row) {
        EXPECT_TRUE(is_near(all.block(row * n, j, n, 1), slope.row(row).transpose(), 1e-7));
      }
    }
  }
}

TEST_F(Cli, EvalNamesTheInputThatIsMissing) {
  const std::string zeros = "[0,0,0,0,0,0,0]";
  const std::string q = "\"q\": " + zeros;
  const std::string v = ", \"v\": " + zeros;
  const std::string a = ", \"a\": " + zeros;
  for (const auto& [want, given, message] : std::vector<std::array<std::string, 3>>{
           {"coriolis", q, "there is no \"v\", needed for coriolis\n"},
           {"velocities,com", q, "there is no \"v\", needed for velocities\n"},
           {"bias,energy,momentum", q, "there is no \"v\", needed for bias, energy, momentum\n"},
           {"id", q + v, "there is no \"a\", needed for id\n"},
           {"regressor", q + v, "there is no \"a\", needed for regressor\n"},
           {"fd", q + v + a, "there is no \"tau\", needed for fd\n"},
           {"fd,id", q + a, "there is no \"v\", needed for fd, id; there is no \"tau\", needed for fd\n"},
           {"lambda_inverse:head,torso", "", "there is no \"q\", needed for lambda_inverse:head,torso\n"}}) {
    const std::string line = fmt::format("{{{}}}\n", given);
    const Result r = run("eval '" + puppet + "' --states - --want " + want, line);
    EXPECT_EQ(r.status, 2) << want;
    EXPECT_THAT(r.out, IsEmpty()) << want;
    EXPECT_THAT(r.err, StartsWith("error: <standard input>:1: " + message)) << want;
  }
  const Result cure = run("eval '" + puppet + "' --free-base --states - --want fd", "{}");
  EXPECT_THAT(cure.err, EndsWith("\n  write one object a line: {\"q\": [14 numbers], \"v\": [13 numbers], "
                                 "\"tau\": [13 numbers]}\n"));
}

TEST_F(Cli, EvalNeedsNoMoreThanItSays) {
  for (const char* want : {"poses", "com", "gravity", "mass", "inverse_mass", "log_det", "jacobian:head:world",
                           "lambda_inverse:head,right_hand"}) {
    const Result r = run(fmt::format("eval '{}' --states - --want {}", puppet, want), "{\"q\": [0,0,0,0,0,0,0]}");
    EXPECT_EQ(r.status, 0) << want << ": " << r.err;
    EXPECT_THAT(r.out, StartsWith(fmt::format("{{\"{}\":", want)));
  }
}

TEST_F(Cli, EvalOfMoreThanFitsInMemoryKeepsItsOrder) {
  // the answers pass 64 MiB, where they go to a temporary file
  std::string lines;
  constexpr int count = 1200;
  for (int i = 0; i < count; ++i) {
    lines += fmt::format("{{\"q\": [{},1,2,3,4,5,6]}}\n", 1e-5 * i);
  }
  const std::string file = folder.write("many.jsonl", lines);
  const std::string hands = "right_hand,right_fingers,left_hand";
  const std::string want = fmt::format("--want lambda_inverse:{0},{0},{0},{0},poses", hands);
  const Result r = run("eval '" + puppet + "' " + want + " --states '" + file + "'");
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_GT(r.out.size(), std::size_t{64} << 20);
  EXPECT_EQ(std::count(r.out.begin(), r.out.end(), '\n'), count);
  const Result last = run("eval '" + puppet + "' " + want + fmt::format(" --q {},1,2,3,4,5,6", 1e-5 * (count - 1)));
  EXPECT_TRUE(r.out.ends_with(last.out));
  const Result broken = run("eval '" + puppet + "' " + want + " --states -", lines + "{\"q\": [0]}\n");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.out, IsEmpty());
  EXPECT_THAT(broken.err, StartsWith(fmt::format("error: <standard input>:{}: q has 1 numbers", count + 1)));
}

}  // namespace
}  // namespace bunraku::test
