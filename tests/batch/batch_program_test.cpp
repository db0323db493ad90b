/// Programs of operator expressions on batches, against the same programs on single states.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batch/tables.hpp"
#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/program.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/operators/language/definitions.hpp"
#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/language/text.hpp"
#include "support/allocations.hpp"
#include "support/coupled_models.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

struct Named {
  const char* text;
  bool nested = true;  ///< Whether it has a meaning where one of a cluster hangs on another.
};

/// Of every kind of step that programs have.
std::vector<Named> expressions() {
  return {{"H*phi*M*~phi*~H"},
          {"inv(H*phi*M*~phi*~H)"},
          {"inv(H*phi*M*~phi*~H + armature)"},
          {"~B*~phi*~H"},
          {"~B*~phi*~H*inv(H*phi*M*~phi*~H)*H*phi*B"},
          {"H*psi*K"},
          {"psi"},
          {"~psi"},
          {"E_psi", false},
          {"~E_psi", false},
          {"P"},
          {"D"},
          {"inv(D)"},
          {"G"},
          {"~G"},
          {"K"},
          {"~K"},
          {"R"},
          {"Upsilon", false},
          {"S"},
          {"~S"},
          {"Delta_phi"},
          {"~Delta_phi*3 - 2*I"},
          {"armature*H*phi - 2*H"},
          {"phit*M*~phit"},
          {"V"},
          {"a"},
          {"b"},
          {"2*V - a"},
          {"H*phi*(M*~phi*a + b) - T_p"},
          {"T_p"}};
}

/// Models of all kinds: trees of all hinges, couplings nested and beside each other.
std::vector<Model> models() {
  Random random(77);
  std::vector<Model> out;
  for (int sample = 0; sample < 6; ++sample) {
    out.push_back(random_dynamics_model(sample, random));
  }
  out.push_back(random_tree(24, 0.3, random).build());
  for (const CoupledModel& each : coupled_models(true)) {
    out.push_back(each.model);
  }
  return out;
}

/// A program on a batch against the same on one state after the other.
template <class T>
void expect_as_single(const Program& program, bool stacked, int states, double tolerance) {
  using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  const Model& model = program.model();
  const Table<T> q = random_positions<T>(model, states, 5);
  const Table<T> v = random_rows<T>(states, model.nv(), 6);
  const Table<T> x = random_rows<T>(states, program.cols(), 7);
  Table<T> out = Table<T>::Constant(states, program.rows(), T(-77));
  BasicBatch<T> batch(model);
  const BatchReport& report = stacked ? batch.apply(program, q, v, {}, out) : batch.apply(program, q, v, x, out);
  ASSERT_TRUE(report.ok()) << to_ascii(program.expression()) << " state " << report.first_failed();
  BasicState<T> state(model);
  for (int i = 0; i < states; ++i) {
    state.set(Vector(q.row(i).transpose()), Vector(v.row(i).transpose()));
    const Vector wanted = stacked ? Vector(program(state)) : Vector(program(state, Vector(x.row(i).transpose())));
    const double scale = wanted.size() == 0 ? 1 : std::max(1.0, static_cast<double>(wanted.cwiseAbs().maxCoeff()));
    ASSERT_TRUE((out.row(i).transpose() - wanted).cwiseAbs().template cast<double>().maxCoeff() <= tolerance * scale)
        << to_ascii(program.expression()) << " of " << model.name() << ", state " << i << ": " << out.row(i) << " for "
        << wanted.transpose();
  }
}

template <class T>
void expect_all_as_single(int states, double tolerance) {
  for (const Model& model : models()) {
    for (const Named& each : expressions()) {
      const Operator x = parse(each.text);
      const bool stacked = x.domain().kind == SpaceKind::number;
      try {
        const Program program(model, x, {model.bodies().back().name, model.bodies().front().name});
        expect_as_single<T>(program, stacked, states, tolerance);
      } catch (const OperatorError& error) {
        EXPECT_FALSE(each.nested) << each.text << " of " << model.name() << ": " << error.what();
      }
    }
  }
}

TEST(BatchPrograms, AreAsOnSingleStates) {
  expect_all_as_single<double>(19, 1e-13);
}

TEST(BatchPrograms, InFloatToo) {
  expect_all_as_single<float>(19, 2e-5);
}

/// What cannot be done in lanes.
TEST(BatchPrograms, MatricesAndFunctionsGoStateByState) {
  Random random(3);
  const Model model = random_dynamics_model(1, random);
  const auto block = [](const BlockPlace& place, std::span<double> numbers) {
    std::fill(numbers.begin(), numbers.end(), 1 + place.q[0] + place.owner);
  };
  const Operator springs = define("springs", SpaceKind::hinge, SpaceKind::hinge, block);
  for (const Operator& x :
       {parse("dense_inv(H*phi*M*~phi*~H + armature)"), parse("inv(M)"), springs, springs * parse("H*phi")}) {
    expect_as_single<double>(Program(model, x), false, 9, 1e-13);
    expect_as_single<float>(Program(model, x), false, 9, 2e-5);
  }
}

TEST(BatchPrograms, DoNotDependOnThreadsPlacesOrSubsets) {
  Random random(8);
  const Model model = random_dynamics_model(2, random);
  const int n = 3000;
  const Table<double> q = random_positions<double>(model, n, 5);
  const Table<double> v = random_rows<double>(n, model.nv(), 6);
  for (const char* text : {"inv(H*phi*M*~phi*~H)", "V", "dense_inv(H*phi*M*~phi*~H)"}) {
    const Program program(model, parse(text));
    const bool stacked = std::string(text) == "V";
    const Table<double> x = stacked ? Table<double>() : random_rows<double>(n, program.cols(), 7);
    const auto apply = [&](Batch& batch, const auto& given_q, const auto& given_v, const auto& given_x, auto& out,
                           Batch::Subset subset = {}) {
      if (stacked) {
        batch.apply(program, given_q, given_v, {}, out, subset).or_throw();
      } else {
        batch.apply(program, given_q, given_v, given_x, out, subset).or_throw();
      }
    };
    Batch one(model);
    Batch two(model, {.threads = 3});
    Table<double> wanted(n, program.rows());
    Table<double> out(n, program.rows());
    apply(one, q, v, x, wanted);
    apply(two, q, v, x, out);
    EXPECT_EQ(out, wanted) << text;
    Table<double> back(n, program.rows());
    const Table<double> reversed_q = q.colwise().reverse();
    const Table<double> reversed_v = v.colwise().reverse();
    const Table<double> reversed_x = stacked ? x : Table<double>(x.colwise().reverse());
    apply(two, reversed_q, reversed_v, reversed_x, back);
    EXPECT_EQ(Table<double>(back.colwise().reverse()), wanted) << text;
    const std::vector<std::ptrdiff_t> some = {2999, 3, 17, 4, 1000};
    Table<double> few = Table<double>::Constant(n, program.rows(), -7);
    apply(one, q, v, x, few, some);
    for (int i = 0; i < n; ++i) {
      const bool ran = std::find(some.begin(), some.end(), i) != some.end();
      ASSERT_EQ(few.row(i), ran ? Table<double>(wanted.row(i)) : Table<double>::Constant(1, program.rows(), -7)) << i;
    }
  }
}

/// A massless ring turns about a shaft's end: singular only where the ring's axis and the shaft's are parallel.
Model sometimes_singular() {
  const RigidInertia<double> none = RigidInertia<double>::zero();
  const auto mass = RigidInertia<double>::about_center(1, {0, 0, 0}, Sym3<double>::diagonal(0.1, 0.1, 0.2));
  ModelBuilder builder("ring");
  builder.add(BodySpec{.name = "a", .hinge = {.name = "first", .type = HingeType::revolute}, .inertia = none});
  builder.add(BodySpec{.name = "b",
                       .parent = "a",
                       .hinge = {.name = "second", .type = HingeType::revolute, .axis = {1, 0, 0}},
                       .inertia = none});
  builder.add(
      BodySpec{.name = "c", .parent = "b", .hinge = {.name = "third", .type = HingeType::revolute}, .inertia = mass});
  return builder.build();
}

TEST(BatchPrograms, WrongAndSingularStatesDoNotStopTheOthers) {
  const Model model = sometimes_singular();
  Table<double> q = random_positions<double>(model, 17, 5);
  Table<double> v = random_rows<double>(17, model.nv(), 6);
  Table<double> x = random_rows<double>(17, model.nv(), 7);
  q.col(1).setConstant(0.7);
  for (const int i : {0, 5, 6, 16}) {
    q(i, 1) = 0;
  }
  q(3, 0) = std::numeric_limits<double>::quiet_NaN();
  x(8, 1) = std::numeric_limits<double>::infinity();
  for (const char* text : {"inv(H*phi*M*~phi*~H)", "inv(H*phi*M*~phi*~H)*dense_inv(armature + 3*I)"}) {
    const Program program(model, parse(text));
    Batch batch(model);
    Table<double> out(17, 3);
    const BatchReport& report = batch.apply(program, q, v, x, out);
    EXPECT_EQ(report.failed(), 6) << text;
    for (int i = 0; i < 17; ++i) {
      const bool singular = i == 0 || i == 5 || i == 6 || i == 16;
      const bool wrong = i == 3 || i == 8;
      EXPECT_EQ(report[i], singular ? StateStatus::singular
                           : wrong  ? StateStatus::not_finite
                                    : StateStatus::ok)
          << text << i;
      EXPECT_EQ(out.row(i).array().isNaN().all(), singular || wrong) << text << i;
      EXPECT_EQ(out.row(i).array().isNaN().any(), singular || wrong) << text << i;
    }
    try {
      report.or_throw();
      ADD_FAILURE();
    } catch (const SingularError& e) {
      EXPECT_THAT(e.what(), HasSubstr("state 0: hinge 'first'"));
    }
  }
}

/// A family of its own, which is not symmetric at some states: told as a single call tells it.
TEST(BatchPrograms, AFamilyThatIsSingularIsTold) {
  const Model model = sometimes_singular();
  Table<double> q = random_positions<double>(model, 9, 5);
  const Table<double> v = random_rows<double>(9, model.nv(), 6);
  const Table<double> x = random_rows<double>(9, model.nv(), 7);
  q.col(1).setConstant(0.7);
  q(4, 1) = 0;
  const Program program(model, parse("inv(H*phi*(2*M)*~phi*~H)"));
  Batch batch(model);
  Table<double> out(9, 3);
  const BatchReport& report = batch.apply(program, q, v, x, out);
  State state(model);
  for (int i = 0; i < 9; ++i) {
    state.set(Eigen::VectorXd(q.row(i).transpose()), Eigen::VectorXd(v.row(i).transpose()));
    if (i == 4) {
      EXPECT_NE(report[i], StateStatus::ok);
      EXPECT_THROW(program(state, Eigen::VectorXd(x.row(i).transpose())), Error);
    } else {
      EXPECT_EQ(report[i], StateStatus::ok);
      EXPECT_LE((program(state, Eigen::VectorXd(x.row(i).transpose())) - out.row(i).transpose()).norm(), 1e-12);
    }
  }
}

TEST(BatchPrograms, PassiveForcesAreThoseOfTheBatch) {
  Random random(8);
  const Model model = random_dynamics_model(4, random);
  const Table<double> q = random_positions<double>(model, 9, 5);
  const Table<double> v = random_rows<double>(9, model.nv(), 6);
  const Program program(model, parse("T_p"));
  Table<double> out(9, model.nv());
  Batch with(model);
  with.apply(program, q, v, {}, out).or_throw();
  EXPECT_GT(out.norm(), 0);
  Batch without(model, {.passive = PassiveForces::left_out});
  without.apply(program, q, v, {}, out).or_throw();
  EXPECT_EQ(out.norm(), 0);
}

TEST(BatchPrograms, WrongShapesAreRefused) {
  Random random(4);
  const Model model = random_dynamics_model(1, random);
  const Model other = random_dynamics_model(2, random);
  const Table<double> q = random_positions<double>(model, 5, 1);
  const Table<double> v = random_rows<double>(5, model.nv(), 2);
  const Table<double> x = random_rows<double>(5, model.nv(), 3);
  Batch batch(model);
  Table<double> out(5, model.nv());
  Table<double> narrow(5, model.nv() - 1);
  const Program inverse(model, parse("inv(H*phi*M*~phi*~H)"));
  const Program velocities(model, parse("V"));
  Table<double> all(5, velocities.rows());
  EXPECT_TRUE(batch.apply(inverse, q, v, x, out).ok());
  EXPECT_TRUE(batch.apply(velocities, q, v, {}, all).ok());
  EXPECT_THROW(batch.apply(inverse, q, v, {}, out), ArgumentError);
  EXPECT_THROW(batch.apply(inverse, q, v, narrow, out), ArgumentError);
  EXPECT_THROW(batch.apply(inverse, q, v, x, narrow), ArgumentError);
  EXPECT_THROW(batch.apply(inverse, q, narrow, x, out), ArgumentError);
  EXPECT_THROW(batch.apply(velocities, q, v, x, all), ArgumentError);
  EXPECT_THROW(batch.apply(Program(other, parse("H*phi*M*~phi*~H")), q, v, x, out), ArgumentError);
  const Table<double> gravity = random_rows<double>(5, 3, 3);
  batch.set_parameters({.gravity = gravity});
  EXPECT_THROW(batch.apply(inverse, q, v, x, out), ArgumentError);
  batch.clear_parameters();
  EXPECT_TRUE(batch.apply(inverse, q, v, x, out).ok());
  // at rest without velocities
  EXPECT_TRUE(batch.apply(velocities, q, {}, {}, all).ok());
  EXPECT_EQ(all.norm(), 0);
}

TEST(BatchPrograms, AllocateNothingAfterTheFirstCall) {
  Random random(4);
  const Model model = random_dynamics_model(3, random);
  const Table<double> q = random_positions<double>(model, 1000, 1);
  const Table<double> v = random_rows<double>(1000, model.nv(), 2);
  const Table<double> x = random_rows<double>(1000, model.nv(), 3);
  Table<double> out(1000, model.nv());
  Batch batch(model, {.threads = 2});
  const Program inverse(model, parse("inv(H*phi*M*~phi*~H)"));
  batch.apply(inverse, q, v, x, out).or_throw();
  const std::size_t before = allocations();
  batch.apply(inverse, q, v, x, out);
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace bunraku::test
