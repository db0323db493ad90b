/// Trajectories of batches: against the same steps with single states, against halved steps, and against energy.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "batch/tables.hpp"
#include "bunraku/batch/batch.hpp"
#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

struct Start {
  Start(const Model& model, int states, unsigned seed) : q(states, model.nq()), v(states, model.nv()) {
    Random random(seed);
    for (int i = 0; i < states; ++i) {
      q.row(i) = random_configuration(model, seed + static_cast<unsigned>(i)).transpose();
      v.row(i) = 0.3 * random.vector(model.nv()).transpose();
    }
  }
  Table<double> q;
  Table<double> v;
};

class RolloutsBy : public testing::TestWithParam<Integrator> {};

TEST_P(RolloutsBy, AreTheStepsOfAState) {
  Random random(5);
  for (int sample = 0; sample < 6; ++sample) {
    const Model model = random_dynamics_model(sample, random);
    const int states = 6;
    const int steps = 12;
    const Start start(model, states, 3);
    Table<double> torques(states, steps * model.nv());
    for (int i = 0; i < states; ++i) {
      torques.row(i) = random.vector(steps * model.nv()).transpose();
    }
    const RolloutOptions options{.step = 1e-3, .steps = steps, .integrator = GetParam(), .record_every = 4};
    Table<double> q(states, options.records() * model.nq());
    Table<double> v(states, options.records() * model.nv());
    Batch batch(model);
    batch.rollout(start.q, start.v, {.torques = torques}, options, q, v).or_throw();
    for (int i = 0; i < states; ++i) {
      State state(model);
      state.set(Eigen::VectorXd(start.q.row(i).transpose()), Eigen::VectorXd(start.v.row(i).transpose()));
      for (int s = 0; s < steps; ++s) {
        const Eigen::VectorXd torque = torques.row(i).segment(s * model.nv(), model.nv()).transpose();
        const NextState<double> next = step<double>(state, torque, options.step, GetParam());
        state.set(next.q, next.v);
        if ((s + 1) % 4 == 0) {
          const int r = s / 4;
          EXPECT_TRUE(is_near(Eigen::VectorXd(q.row(i).segment(r * model.nq(), model.nq()).transpose()),
                              Eigen::VectorXd(state.q()), 1e-10))
              << sample << " " << i << " " << s;
          EXPECT_TRUE(is_near(Eigen::VectorXd(v.row(i).segment(r * model.nv(), model.nv()).transpose()),
                              Eigen::VectorXd(state.v()), 1e-9))
              << sample << " " << i << " " << s;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Integrators, RolloutsBy,
                         testing::Values(Integrator::semi_implicit_euler, Integrator::runge_kutta_4));

/// Models whose hinges have no friction, of which the sign jumps.
Model smooth_model(Random& random) {
  ModelBuilder builder("smooth");
  const std::vector<HingeType> types = {HingeType::free,   HingeType::revolute,  HingeType::spherical,
                                        HingeType::planar, HingeType::universal, HingeType::helical};
  std::string parent(world_name);
  for (std::size_t i = 0; i < types.size(); ++i) {
    BodySpec body{.name = "b" + std::to_string(i), .parent = parent};
    body.hinge = random_hinge(types[i], random);
    for (HingeDof& dof : body.hinge.dofs) {
      dof = {};
    }
    body.X_PF.translation = {0.3, 0.1, -0.2};
    body.inertia = RigidInertia<double>::about_center(1 + static_cast<double>(i), {0.05, 0.1, 0.02},
                                                      Sym3<double>::diagonal(0.1, 0.12, 0.15));
    builder.add(body);
    parent = body.name;
  }
  return builder.build();
}

TEST(Rollouts, RungeKuttaIsOfFourthOrder) {
  Random random(8);
  const Model model = smooth_model(random);
  const Start start(model, 5, 3);
  Batch batch(model);
  const auto end = [&](int steps) {
    const RolloutOptions options{
        .step = 0.08 / steps, .steps = steps, .integrator = Integrator::runge_kutta_4, .record_every = steps};
    Table<double> q(5, model.nq());
    Table<double> v(5, model.nv());
    batch.rollout(start.q, start.v, {}, options, q, v).or_throw();
    Table<double> all(5, model.nq() + model.nv());
    all << q, v;
    return all;
  };
  const Table<double> exact = end(512);
  const double coarse = (end(8) - exact).cwiseAbs().maxCoeff();
  const double fine = (end(16) - exact).cwiseAbs().maxCoeff();
  const double order = std::log2(coarse / fine);
  EXPECT_GT(order, 3.6) << coarse << " " << fine;
  EXPECT_LT(order, 4.6) << coarse << " " << fine;
}

TEST(Rollouts, KeepEnergyWithoutFriction) {
  Random random(8);
  const Model model = smooth_model(random);
  const Start start(model, 5, 3);
  Batch batch(model);
  Table<double> before(5, 2);
  batch.energy(start.q, start.v, before).or_throw();
  const RolloutOptions options{
      .step = 1e-3, .steps = 200, .integrator = Integrator::runge_kutta_4, .record_every = 200};
  Table<double> q(5, model.nq());
  Table<double> v(5, model.nv());
  Table<double> after(5, 2);
  batch.rollout(start.q, start.v, {}, options, q, v).or_throw();
  batch.energy(q, v, after).or_throw();
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(before.row(i).sum(), after.row(i).sum(), 1e-8 * (1 + before.row(i).cwiseAbs().maxCoeff())) << i;
    EXPECT_GT((before.row(i) - after.row(i)).cwiseAbs().maxCoeff(), 1e-4) << "it does move";
  }
}

TEST(Rollouts, FeedbackIsAddedToTorques) {
  Random random(5);
  const Model model = random_dynamics_model(1, random);
  const int n = model.nv();
  const Start start(model, 3, 3);
  const Table<double> gain = [&] {
    Table<double> out(n, 2 * n);
    for (int i = 0; i < n; ++i) {
      out.row(i) = random.vector(2 * n).transpose();
    }
    return out;
  }();
  const Table<double> reference = random_configuration(model, 77).transpose();  // one for all
  Table<double> feed(3, n);
  for (int i = 0; i < 3; ++i) {
    feed.row(i) = random.vector(n).transpose();
  }
  const RolloutOptions options{.step = 1e-3, .steps = 3, .record_every = 3};
  Table<double> q(3, model.nq());
  Table<double> v(3, n);
  Batch batch(model);
  batch.rollout(start.q, start.v, {.torques = feed, .gain = gain, .reference_q = reference}, options, q, v).or_throw();
  for (int i = 0; i < 3; ++i) {
    State state(model);
    state.set(Eigen::VectorXd(start.q.row(i).transpose()), Eigen::VectorXd(start.v.row(i).transpose()));
    for (int s = 0; s < 3; ++s) {
      Eigen::VectorXd error(2 * n);
      error << difference(model, Eigen::VectorXd(state.q()), Eigen::VectorXd(reference.transpose())),
          -Eigen::VectorXd(state.v());
      const Eigen::VectorXd torque = feed.row(i).transpose() + gain * error;
      const NextState<double> next = step<double>(state, torque, options.step, options.integrator);
      state.set(next.q, next.v);
    }
    EXPECT_TRUE(is_near(Eigen::VectorXd(v.row(i).transpose()), Eigen::VectorXd(state.v()), 1e-10)) << i;
  }
}

TEST(Rollouts, DoNotDependOnThreadsAndTellWrongOptions) {
  Random random(5);
  const Model model = random_dynamics_model(4, random);
  const Start start(model, 500, 3);
  const RolloutOptions options{.step = 1e-3, .steps = 5, .record_every = 2};
  Table<double> q1(500, 2 * model.nq());
  Table<double> v1(500, 2 * model.nv());
  Table<double> q2(500, 2 * model.nq());
  Table<double> v2(500, 2 * model.nv());
  Batch one(model);
  Batch two(model, {.threads = 2});
  one.rollout(start.q, start.v, {}, options, q1, v1).or_throw();
  two.rollout(start.q, start.v, {}, options, q2, v2).or_throw();
  EXPECT_EQ(q1, q2);
  EXPECT_EQ(v1, v2);
  EXPECT_THROW(one.rollout(start.q, start.v, {}, {.step = 0, .steps = 5, .record_every = 2}, q1, v1), ArgumentError);
  EXPECT_THROW(one.rollout(start.q, start.v, {}, {.step = 1, .steps = 0, .record_every = 2}, q1, v1), ArgumentError);
  EXPECT_THROW(one.rollout(start.q, start.v, {.torques = q1}, options, q1, v1), ArgumentError);
  Table<double> bad = start.q;
  bad(7, 0) = std::numeric_limits<double>::quiet_NaN();
  const BatchReport& report = one.rollout(bad, start.v, {}, options, q1, v1);
  EXPECT_EQ(report.failed(), 1);
  EXPECT_TRUE(q1.row(7).array().isNaN().all());
}

}  // namespace
}  // namespace bunraku::test
