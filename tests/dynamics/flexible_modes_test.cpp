/// Flexible bodies with few and with many modes, more than a register of numbers, and states that follow one another.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/kernels/tree.hpp"
#include "bunraku/model/beam.hpp"
#include "bunraku/model/configuration.hpp"
#include "bunraku/model/flexible.hpp"
#include "bunraku/model/vectors.hpp"

namespace bunraku::test {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

/// A chain of beams, each with so many modes, on the tip of the one before: the first on a hinge of that type.
Model chain_of_beams(int bodies, int modes, HingeType base) {
  const double diameter = 0.02;
  const BeamSection section = BeamSection::circle(diameter);
  const Beam beam{.length = 1,
                  .section = section,
                  .young = 100 / section.second_moment_z,
                  .density = 1 / section.area,
                  .elements = 16};
  BeamOptions options;
  options.modes.set = modes < 4 ? ModeSet::clamped_free : ModeSet::craig_bampton;
  options.modes.count = modes;
  options.damping.ratio = 0.01;
  const FlexibleBody link = flexible_beam(beam, options);
  ModelBuilder builder("beams");
  for (int i = 0; i < bodies; ++i) {
    BodySpec body{.name = "beam" + std::to_string(i)};
    if (i > 0) {
      body.parent = "beam" + std::to_string(i - 1) + ".tip";
    }
    body.hinge.type = i == 0 ? base : HingeType::revolute;
    body.hinge.axis = i % 2 == 0 ? Vec3<double>::unit_z() : Vec3<double>::unit_y();
    add_flexible_body(builder, std::move(body), link);
  }
  return builder.build();
}

struct Drawn {
  VectorXd q;
  VectorXd v;
  VectorXd torque;
};

/// Bent by little, and turning slowly: modes of high frequency make large forces.
Drawn draw(const Model& model, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto numbers = [&](int n, double range) -> VectorXd {
    return VectorXd::NullaryExpr(n, [&] { return range * uniform(random); });
  };
  Drawn out{neutral(model), numbers(model.nv(), 0.1), numbers(model.nv(), 0.1)};
  out.q = integrate(model, out.q, numbers(model.nv(), 1), 1);
  for (const FlexiblePart& part : model.flexible()) {
    out.q.segment(part.q_index, part.modes) = numbers(part.modes, 1e-3);
  }
  return out;
}

class Modes : public testing::TestWithParam<int> {};

/// 𝓜θ̈ and the bias come from sweeps that know no sums over lumps, and eliminate nothing.
TEST_P(Modes, ForwardDynamicsInvertsInverseDynamics) {
  for (const HingeType base : {HingeType::revolute, HingeType::free}) {
    const Model model = chain_of_beams(3, GetParam(), base);
    State state(model);
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const Drawn drawn = draw(model, seed);
      state.set(drawn.q, drawn.v);
      const VectorXd a = forward_dynamics(state, drawn.torque);
      const VectorXd back = inverse_dynamics(state, a);
      const MatrixXd mass = mass_matrix(state);
      const double scale = (mass.cwiseAbs() * a.cwiseAbs()).maxCoeff() +
                           inverse_dynamics(state, VectorXd::Zero(model.nv())).cwiseAbs().maxCoeff();
      EXPECT_LE((back - drawn.torque).cwiseAbs().maxCoeff(), 1e-12 * scale) << model.name() << ' ' << seed;
      const VectorXd x = inverse_mass_times(state, drawn.torque);
      EXPECT_LE((mass * x - drawn.torque).cwiseAbs().maxCoeff(), 1e-12 * (mass.cwiseAbs() * x.cwiseAbs()).maxCoeff());
    }
  }
}

/// What a State keeps of the state before must not show.
TEST_P(Modes, AStateForgetsTheOneBefore) {
  const Model model = chain_of_beams(2, GetParam(), HingeType::revolute);
  State used(model);
  for (unsigned seed = 1; seed <= 2; ++seed) {
    const Drawn drawn = draw(model, seed);
    used.set(drawn.q, drawn.v);
    State fresh(model);
    fresh.set(drawn.q, drawn.v);
    EXPECT_EQ(forward_dynamics(used, drawn.torque), forward_dynamics(fresh, drawn.torque));
    EXPECT_EQ(kinetic_energy(used), kinetic_energy(fresh));
    EXPECT_EQ(inverse_dynamics(used, drawn.torque), inverse_dynamics(fresh, drawn.torque));
    EXPECT_EQ(bias(used), bias(fresh));
    const State copy(used);
    State copied(copy);
    EXPECT_EQ(bias(copied), bias(fresh));
  }
}

INSTANTIATE_TEST_SUITE_P(Few, Modes, testing::Values(1, 2, 4, 7, 8, 9, 16, 19, 32));

/// The question whether D is rounding of zero takes longer than all the rest of forward dynamics.
TEST(ManyModes, AreInNoDoubt) {
  const Model model = chain_of_beams(16, 32, HingeType::revolute);
  const kernels::Tree tree(model);
  for (const kernels::CoupledLinks& cluster : tree.clusters) {
    for (const int v : cluster.coordinates) {
      EXPECT_EQ(tree.doubt[static_cast<std::size_t>(v)], 0);
    }
  }
}

}  // namespace
}  // namespace bunraku::test
