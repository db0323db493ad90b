/// The program as scripts see it: answers, exit statuses, errors.
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/io/load.hpp"
#include "bunraku/model/configuration.hpp"
#include "program.hpp"
#include "support/files.hpp"
#include "support/near.hpp"

namespace bunraku::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(Cli, InfoDrawsTheTree) {
  const Result r = run("info '" + puppet + "'");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.err, IsEmpty());
  EXPECT_THAT(r.out, HasSubstr("9 bodies, 7 degrees of freedom, 2.83 kg"));
  EXPECT_THAT(r.out, HasSubstr("│  └─ right_forearm  [revolute right_elbow, dof 2]  0.16 kg"));
  EXPECT_THAT(r.out, HasSubstr("[revolute right_grip, = 0.5·right_wrist +0.1]"));
}

TEST_F(Cli, InfoAsJson) {
  const Result r = run("info '" + puppet + "' --json --free-base");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out,
              StartsWith("{\"name\":\"puppet\",\"format\":\"urdf\",\"nq\":14,\"nv\":13,\"dof\":13,\"mass\":2.83"));
  EXPECT_THAT(r.out, HasSubstr("\"gravity\":[0,0,-9.81]"));
  EXPECT_THAT(r.out, HasSubstr("{\"name\":\"torso\",\"parent\":\"world\",\"mass\":1.6,"));
  EXPECT_THAT(r.out, HasSubstr("\"hinge\":{\"name\":\"root_joint\",\"type\":\"free\",\"nq\":7,\"nv\":6,\"q_index\":0,"
                               "\"v_index\":0,\"mimic\":null}"));
  EXPECT_THAT(r.out, HasSubstr("\"mimic\":{\"hinge\":\"right_wrist\",\"ratio\":0.5,\"offset\":0.1}"));
  EXPECT_THAT(r.out, HasSubstr("\"nodes\":[],\"closures\":[],\"references\":{},\"warnings\":[]"));
}

TEST_F(Cli, ReferenceConfigurationsHaveNames) {
  const std::string file = folder.write(
      "key.xml",
      "<mujoco><worldbody><body name=\"arm\"><joint name=\"pin\" axis=\"0 1 0\"/><geom size=\"0.1\" pos=\"1 0 0\"/>"
      "</body></worldbody><keyframe><key name=\"home\" qpos=\"0.5\"/></keyframe></mujoco>");
  const Result info = run("info '" + file + "' --json");
  ASSERT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("\"home\":[0.5]"));
  EXPECT_THAT(run("info '" + file + "'").out, HasSubstr("reference configurations:\n"));
  const std::string there = run("eval '" + file + "' --want poses --q 0.5").out;
  EXPECT_EQ(run("eval '" + file + "' --want poses --q @home").out, there);
  EXPECT_NE(run("eval '" + file + "' --want poses").out, there);
  EXPECT_EQ(run("op '" + file + "' 'phi' --dense --q @home").out, run("op '" + file + "' 'phi' --dense --q 0.5").out);
  EXPECT_EQ(run("op '" + file + "'", "q = home\nq = neutral\nq = @home\n").out, "q = 0.5\nq = 0\nq = 0.5\n");
  EXPECT_THAT(run("eval '" + file + "' --want poses --q @hmoe").err, HasSubstr("did you mean 'home'"));
  EXPECT_THAT(run("eval '" + file + "' --want fd --v @home").err, HasSubstr("--v: '@home' is not a finite number"));
  EXPECT_THAT(run("op '" + file + "'", "q = hmoe\n").err, HasSubstr("or 'home', not 'hmoe'"));
}

TEST_F(Cli, HingesThatMimicNothingCanBeFreed) {
  std::string text = read_text(puppet);
  const std::size_t master = text.find("mimic joint=\"right_wrist\"");
  ASSERT_NE(master, std::string::npos);
  const std::string file = folder.write("lost.urdf", text.replace(master, 25, "mimic joint=\"nothing\""));
  const Result refused = run("info '" + file + "'");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--free-mimics"));
  const Result freed = run("info '" + file + "' --free-mimics --json");
  EXPECT_EQ(freed.status, 0) << freed.err;
  EXPECT_THAT(freed.out, HasSubstr("\"nq\":8,\"nv\":8"));
  for (const char* command : {"check", "eval", "op", "verify", "convert", "info"}) {
    EXPECT_THAT(run(std::string(command) + " --help").out, HasSubstr("--free-mimics")) << command;
  }
}

TEST_F(Cli, CheckTellsByItsStatus) {
  EXPECT_EQ(run("check '" + puppet + "'").status, 0);
  const std::string odd = folder.write("odd.urdf", "<robot name=\"r\"><link name=\"a\"/><gazebo/></robot>");
  const Result r = run("check '" + odd + "'");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.out, HasSubstr("odd.urdf:1: <gazebo> in <robot> is not used"));
  EXPECT_EQ(run("check --strict '" + odd + "'").status, 2);
  const std::string bad = folder.write("bad.urdf", "<robot name=\"r\">\n<link/></robot>");
  const Result broken = run("check '" + bad + "'");
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.out, IsEmpty());
  EXPECT_THAT(broken.err, StartsWith("error: " + bad + ":2: <link> has no attribute 'name'\n  add name="));
}

TEST_F(Cli, EvalOneState) {
  const Result r = run("eval '" + puppet +
                       "' --want poses,com --q '-0.1 0.2 -0.3 0.4 0.5,-0.6 0.7' "
                       "--v=1,2,3,4,5,6,7");
  ASSERT_EQ(r.status, 0) << r.err;
  State state(load(puppet));
  Eigen::VectorXd q(7);
  q << -0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.7;
  state.set(q);
  const Vec3<double> com = center_of_mass(state);
  std::array<double, 3> printed{};
  const std::size_t found = r.out.find("\"com\":[");
  ASSERT_NE(found, std::string::npos);
  ASSERT_EQ(std::sscanf(r.out.c_str() + found, "\"com\":[%lf,%lf,%lf]", &printed[0], &printed[1], &printed[2]), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(printed[static_cast<std::size_t>(i)], com[i], 1e-15);  // a batch rounds in another order
  }
  EXPECT_THAT(r.out, StartsWith("{\"poses\":{\"torso\":[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],\"head\":"));
  EXPECT_THAT(r.out, EndsWith("}\n"));
}

TEST_F(Cli, EvalVelocitiesAreRatesOfPoses) {
  const Model model = load(puppet);
  const Eigen::VectorXd q = random_configuration(model, 5);
  const Eigen::VectorXd v = Eigen::VectorXd::LinSpaced(7, -3, 4);
  const auto at = [&](double time, const char* want) {
    const Eigen::VectorXd there = q + time * v;
    const Result r = run(fmt::format("eval '{}' --want {} --q '{}' --v '{}'", puppet, want,
                                     fmt::join(there.begin(), there.end(), " "), fmt::join(v.begin(), v.end(), " ")));
    EXPECT_EQ(r.status, 0) << r.err;
    return r.out;
  };
  const auto numbers_of = [](const std::string& json, const std::string& body, std::size_t count) {
    std::vector<double> out;
    const std::size_t start = json.find("\"" + body + "\":");
    const char* text = json.c_str() + (start == std::string::npos ? json.size() : start + body.size() + 3);
    while (out.size() < count && *text != '\0') {
      char* end = nullptr;
      const double x = std::strtod(text, &end);
      if (end != text) {
        out.push_back(x);
      }
      text = end == text ? text + 1 : end;
    }
    EXPECT_EQ(out.size(), count) << body;
    out.resize(count);
    return out;
  };
  constexpr double h = 1e-5;
  const std::string before = at(-h, "poses");
  const std::string now = at(0, "poses,velocities");
  const std::string after = at(h, "poses");
  const std::string velocities = now.substr(now.find("\"velocities\":"));
  for (const Body& body : model.bodies()) {
    using Pose = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
    const Pose pose = Pose::Map(numbers_of(now, body.name, 16).data());
    const Pose rate =
        (Pose::Map(numbers_of(after, body.name, 16).data()) - Pose::Map(numbers_of(before, body.name, 16).data())) /
        (2 * h);
    const Eigen::Matrix3d spin = rate.topLeftCorner<3, 3>() * pose.topLeftCorner<3, 3>().transpose();  // ω×
    Eigen::VectorXd expected(6);
    expected << spin(2, 1), spin(0, 2), spin(1, 0), rate(0, 3), rate(1, 3), rate(2, 3);
    const std::vector<double> velocity = numbers_of(velocities, body.name, 6);
    EXPECT_LT((Eigen::VectorXd::Map(velocity.data(), 6) - expected).norm(), 1e-7 * (1 + expected.norm())) << body.name;
  }
}

TEST_F(Cli, EvalInClosedForm) {
  // a pendulum of length 2 about y, at a quarter turn: its tip is at −x, and moves along +z with ωl
  const std::string pendulum =
      folder.write("pendulum.urdf",
                   "<robot name=\"p\"><link name=\"world\"/><link name=\"rod\"><inertial><origin xyz=\"0 0 -2\"/>"
                   "<mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link><link name=\"tip\"/>"
                   "<joint name=\"pin\" type=\"continuous\"><parent link=\"world\"/><child link=\"rod\"/>"
                   "<axis xyz=\"0 1 0\"/></joint><joint name=\"weld\" type=\"fixed\"><parent link=\"rod\"/>"
                   "<child link=\"tip\"/><origin xyz=\"0 0 -2\"/></joint></robot>");
  const Result r = run("eval '" + pendulum + "' --want 'velocities, com,com' --q 1.5707963267948966 --v 3");
  ASSERT_EQ(r.status, 0) << r.err;
  std::array<double, 6> v{};
  std::array<double, 3> com{};
  ASSERT_EQ(std::sscanf(r.out.substr(r.out.find("\"tip\":")).c_str(), "\"tip\":[%lf,%lf,%lf,%lf,%lf,%lf]", &v[0], &v[1],
                        &v[2], &v[3], &v[4], &v[5]),
            6)
      << r.out;
  ASSERT_EQ(
      std::sscanf(r.out.substr(r.out.find("\"com\":")).c_str(), "\"com\":[%lf,%lf,%lf]}", &com[0], &com[1], &com[2]), 3)
      << r.out;
  const std::array<double, 6> expected_v = {0, 3, 0, 0, 0, 6};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(v[i], expected_v[i], 1e-14);
  }
  EXPECT_NEAR(com[0], -2, 1e-14);
  EXPECT_NEAR(com[2], 0, 1e-14);
}

TEST_F(Cli, EvalsDynamics) {
  // a point mass of 2 kg, 3 m from a pin about y, at a right angle: τ = m g l, I = m l²
  const std::string arm =
      folder.write("arm.urdf",
                   "<robot name=\"a\"><link name=\"world\"/><link name=\"rod\"><inertial><origin xyz=\"3 0 0\"/>"
                   "<mass value=\"2\"/><inertia ixx=\"0\" iyy=\"0\" izz=\"0\"/></inertial></link>"
                   "<joint name=\"pin\" type=\"continuous\"><parent link=\"world\"/><child link=\"rod\"/>"
                   "<axis xyz=\"0 -1 0\"/><dynamics damping=\"0.5\"/></joint></robot>");
  const std::string all = "--want id,fd,bias,gravity,mass,inverse_mass,log_det,energy,momentum,jacobian:rod:world";
  const Result r = run("eval '" + arm + "' --gravity 0,0,-10 --v 2 --a 1 --tau 60 " + all);
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("{\"id\":[79],\"fd\":[-0.0555555555555555"));  // 18 + 60 + 1; (60 − 60 − 1)/18
  EXPECT_THAT(r.out, HasSubstr("\"bias\":[60],\"gravity\":[60],\"mass\":[[18]],\"inverse_mass\":[[0.0555555555555555"));
  EXPECT_THAT(r.out, HasSubstr("\"energy\":{\"kinetic\":36,\"potential\":"));
  EXPECT_THAT(r.out, HasSubstr("\"jacobian:rod:world\":[["));
  EXPECT_THAT(run("eval '" + arm + "' --ideal --v 2 --gravity 0,0,0 --want id").out, StartsWith("{\"id\":[0]}"));
  EXPECT_THAT(run("eval '" + arm + "' --want jacobian:rod").err, HasSubstr("write jacobian:NODE:FRAME"));
  EXPECT_THAT(run("eval '" + arm + "' --want jacobian:rod:wrold").err, HasSubstr("none of node, aligned, world"));
  EXPECT_THAT(run("eval '" + arm + "' --want jacobian:rot:node").err, HasSubstr("did you mean 'rod'"));
}

TEST_F(Cli, FailedWritesAreErrors) {
  for (const char* command : {"info", "check", "demo", "--help"}) {
    const std::string arguments =
        std::string(command) == "info" || std::string(command) == "check" ? " '" + puppet + "'" : "";
    const std::string line =
        fmt::format("'{}' {}{} >/dev/full 2>'{}'", BUNRAKU_PROGRAM, command, arguments, folder / "err");
    const int status = std::system(line.c_str());  // NOLINT(cert-env33-c)
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << command;
    EXPECT_THAT(read_text(folder / "err"), StartsWith("error: standard output cannot be written: No space left"))
        << command;
  }
}

TEST_F(Cli, ReadsModelsFromStandardInput) {
  const Result r = run("info - --json", read_text(puppet));
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, StartsWith("{\"name\":\"puppet\""));
  EXPECT_THAT(run("info -", "<robot>").err, StartsWith("error: <standard input>:1: <robot> is never closed"));
}

TEST_F(Cli, EvalManyStatesInOrder) {
  const std::string zero = "{\"q\": [0,0,0,0,0,0,0], \"v\": [0,0,0,0,0,0,0]}\n";
  const std::string one = "{\"v\": [0,0,0,0,0,0,0], \"q\": [1,0,0,0,0,0,0]}\n";
  const Result r = run("eval '" + puppet + "' --want com --states -", zero + "\n" + one + zero);
  ASSERT_EQ(r.status, 0) << r.err;
  const std::size_t line = r.out.find('\n') + 1;
  EXPECT_EQ(r.out.substr(0, line), r.out.substr(r.out.find('\n', line) + 1));
  EXPECT_NE(r.out.substr(0, line), r.out.substr(line, r.out.find('\n', line) + 1 - line));
  EXPECT_EQ(run("eval '" + puppet + "' --want com --states '" + folder.write("s", zero + one + zero) + "'").out, r.out);
}

TEST_F(Cli, EvalNeverGivesAPartialAnswer) {
  const std::string good = "{\"q\": [0,0,0,0,0,0,0]}\n";
  for (const auto& [line, message] : std::vector<std::pair<std::string, std::string>>{
           {"{\"q\": [0,0]}", "q has 2 numbers, the model wants 7"},
           {"{\"q\": [0,0,0,0,0,0,\"x\"]}", "not a JSON object of number lists"},
           {"{\"q\": [0,0,0,0,0,0,1e999]}", "not a JSON object of number lists"},
           {"{\"q\": [0,0,0,0,0,0,0]", "not a JSON object"},
           {"{\"q\": [0,0,0,0,0,0,0]} {}", "not a JSON object"},
           {"{\"v\": [0,0,0,0,0,0,0]}", "there is no \"q\""},
           {"{\"Q\": [0,0,0,0,0,0,0]}", "\"Q\" is none of q, v, a, tau"},
           {"[1]", "not a JSON object"}}) {
    const Result r = run("eval '" + puppet + "' --want poses --states -", good + good + line + "\n" + good);
    EXPECT_EQ(r.status, 2) << line;
    EXPECT_THAT(r.out, IsEmpty()) << line;
    EXPECT_THAT(r.err, StartsWith("error: <standard input>:3: ")) << line;
    EXPECT_THAT(r.err, HasSubstr(message)) << line;
  }
}

TEST_F(Cli, ErrorsNameTheCauseAndTheCure) {
  const auto fails = [&](const std::string& arguments, const std::string& message) {
    const Result r = run(arguments);
    EXPECT_EQ(r.status, 2) << arguments;
    EXPECT_THAT(r.out, IsEmpty()) << arguments;
    EXPECT_THAT(r.err, AllOf(StartsWith("error: "), HasSubstr(message))) << arguments;
  };
  fails("", "subcommand");
  fails("inof x", "there is no command 'inof'; did you mean 'info'?");
  fails("info", "model is required");
  fails("info /nowhere/x.urdf", "there is no file '/nowhere/x.urdf'");
  fails("info /tmp", "is a folder");
  fails("info '" + puppet + "' --json --nonsense", "--nonsense");
  fails("eval '" + puppet + "' --want poss", "did you mean 'poses'?");
  fails("eval '" + puppet + "' --want poses --q '1 2'", "--q has 2 numbers, the model wants 7");
  fails("eval '" + puppet + "' --want poses --q 'a'", "'a' is not a finite number");
  fails("eval '" + puppet + "' --want poses --gravity 1,2", "three are wanted");
  fails("eval '" + puppet + "' --want poses --states /nowhere", "no readable file");
  fails("eval '" + puppet + "' --want poses --states - --q 1", "either --states or");
  fails("eval '" + puppet + "' --free-base --want poses --q '2 0 0 0 0 0 0 0 0 0 0 0 0 0'", "has norm 2");
}

TEST_F(Cli, ConvertWritesWhatReadsBack) {
  const std::string out = folder / "out.urdf";
  EXPECT_EQ(run("convert '" + puppet + "' '" + out + "'").status, 0);
  EXPECT_EQ(load(out).nv(), 7);
  EXPECT_THAT(run("convert '" + puppet + "' -").out, StartsWith("<?xml"));
  EXPECT_THAT(run("convert '" + puppet + "' x.sdf").err, HasSubstr("written as URDF only"));
  EXPECT_THAT(run("convert '" + puppet + "' /nowhere/x.urdf").err, HasSubstr("cannot be written"));
  const std::string ball =
      folder.write("ball.xml",
                   "<mujoco><worldbody><body name=\"b\"><joint type=\"ball\" name=\"j\"/><geom size=\"1\"/></body>"
                   "</worldbody></mujoco>");
  const Result refused = run("convert '" + ball + "' '" + (folder / "ball.urdf") + "'");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, StartsWith("error: URDF cannot say that hinge 'j' is spherical"));
  EXPECT_FALSE(std::filesystem::exists(folder / "ball.urdf"));
}

TEST_F(Cli, DemoChecksItself) {
  const Result r = run("demo");
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.out, HasSubstr("V = φ*H*θ̇"));
  EXPECT_THAT(r.out, HasSubstr("θ̈ = 𝓜⁻¹(T − 𝓒)"));
  EXPECT_THAT(r.out, HasSubstr("right_shoulder_lift"));
  EXPECT_THAT(r.out, HasSubstr("Inverse dynamics of θ̈ gives T back to "));
  EXPECT_THAT(r.out, HasSubstr("𝓜θ̈ + 𝓒 − T is "));
  EXPECT_THAT(r.out, HasSubstr("the torques put in T·θ̇ = "));
}

TEST_F(Cli, HelpAndVersion) {
  const Result help = run("--help");
  EXPECT_EQ(help.status, 0);
  for (const char* command : {"info", "check", "convert", "eval", "op", "verify", "papers", "demo"}) {
    EXPECT_THAT(help.out, HasSubstr(command));
    EXPECT_EQ(run(std::string(command) + " --help").status, 0);
  }
  EXPECT_THAT(run("--version").out, StartsWith("bunraku 0."));
}

}  // namespace
}  // namespace bunraku::test
