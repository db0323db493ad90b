/// Programs: operator expressions as functions of the state.
#include "bunraku/dynamics/program.hpp"

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "bunraku/operators/verify.hpp"
#include "support/allocations.hpp"
#include "support/coupled_models.hpp"
#include "support/near.hpp"
#include "support/random.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::HasSubstr;

/// Trees without and with coupled hinges.
std::vector<Model> some_models() {
  std::vector<Model> out;
  for (unsigned seed = 1; seed < 5; ++seed) {
    out.push_back(random_model({.armature = seed % 2 == 0, .bodies = 9}, seed));
  }
  for (const CoupledModel& each : coupled_models(true)) {
    out.push_back(each.model);
  }
  return out;
}

template <class T>
void expect_same_as_the_functions(const Model& model, double tolerance) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using namespace soa;
  Random random(4);
  const auto q = random_configuration(model, 3).cast<T>().eval();
  const auto v = random.vector(model.nv()).cast<T>().eval();
  BasicState<T> state(model);
  state.set(q, v);
  const Operator mass = H * φ * M * ~φ * ~H + armature;
  const std::string tip = model.bodies().back().name;
  const Matrix x = random.vector(model.nv() * 2).cast<T>().reshaped(model.nv(), 2);
  const auto near = [&](const Matrix& a, const Matrix& b, const char* what) {
    EXPECT_TRUE(is_near(MatrixXd(a.template cast<double>()), MatrixXd(b.template cast<double>()), tolerance)) << what;
  };
  near(Program(model, mass)(state, x), Matrix(mass_matrix(state) * x), "mass");
  near(Program(model, inv(mass))(state, x), inverse_mass_times(state, x), "inverse");
  near(Program(model, ~B * ~φ * ~H, {tip})(state, x), Matrix(jacobian(state, tip, Frame::node) * x), "Jacobian");
  near(Program(model, H * φ * (M * ~φ * soa::a + soa::b) - T_p)(state), bias(state), "bias");
}

TEST(Programs, AgreeWithTheFunctions) {
  for (const Model& model : some_models()) {
    expect_same_as_the_functions<double>(model, 2e-14);
  }
}

TEST(Programs, InSinglePrecision) {
  Random random(5);
  for (int i = 0; i < 4; ++i) {
    expect_same_as_the_functions<float>(random_chain(6, random), 2e-5);
  }
}

TEST(Programs, FollowTheState) {
  using namespace soa;
  const Model model = random_model({.bodies = 5}, 2);
  const Program inverse(model, inv(H * φ * M * ~φ * ~H));
  State state(model);
  Random random(1);
  const VectorXd x = random.vector(model.nv());
  for (unsigned seed = 1; seed < 4; ++seed) {
    state.set(random_configuration(model, seed), random.vector(model.nv()));
    EXPECT_TRUE(is_near(VectorXd(inverse(state, x)), VectorXd(inverse_mass_times(state, x)), 2e-15));
    EXPECT_TRUE(is_near(VectorXd(inverse(state, 2 * x)), VectorXd(inverse_mass_times(state, 2 * x)), 2e-15));
    State copy = state;
    EXPECT_EQ(inverse(copy, x), inverse(state, x));
  }
}

TEST(Programs, AllocateNothing) {
  using namespace soa;
  const Model model = random_model({.armature = true, .bodies = 8}, 6);
  Random random(1);
  const VectorXd x = random.vector(model.nv());
  VectorXd y(model.nv());
  const VectorXd q = random_configuration(model, 1);
  const VectorXd v = random.vector(model.nv());
  State state(model);
  for (const char* const text :
       {"inv(H*phi*M*~phi*~H + armature)", "H*phi*M*~phi*~H", "D", "H*psi*(K - 2*K)", "H*(R + Upsilon)*~H"}) {
    const Program program(model, parse(text));
    program.apply<double>(state, x, y);
    const std::size_t before = allocations();
    program.apply<double>(state, x, y);
    state.set(q, v);
    program.apply<double>(state, x, y);
    EXPECT_EQ(allocations(), before) << text;
    state.set(v.size() == 0 ? q : random_configuration(model, 2), v);
  }
}

TEST(Programs, RefuseWhatHasNoMeaning) {
  using namespace soa;
  const Model model = random_model({.bodies = 5}, 2);
  const Model other = random_model({.bodies = 5}, 3);
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message([&] { Program(model, T); }), HasSubstr("T has no value in a state"));
  EXPECT_THAT(message([&] { Program(model, ~B * V); }), HasSubstr("nodes"));
  EXPECT_THAT(message([&] { Program(model, inv(φ + ~φ)); }), HasSubstr("inverse"));
  EXPECT_THAT(message([&] { Program(model, Operator::unit(99)); }), HasSubstr("unit(99)"));
  State state(other);
  EXPECT_THAT(message([&] { Program(model, V)(state); }), HasSubstr("another"));
  State own(model);
  EXPECT_THAT(message([&] { Program(model, H)(own, VectorXd::Zero(3)); }), HasSubstr("x"));
}

}  // namespace
}  // namespace bunraku::test
