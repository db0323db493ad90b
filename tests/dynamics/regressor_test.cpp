/// Torques are linear in the inertial parameters.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "support/dense_reference.hpp"
#include "support/near.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {
namespace {

/// (m, m·c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) of each body.
Eigen::VectorXd parameters(const Model& model) {
  Eigen::VectorXd out(10 * static_cast<Eigen::Index>(model.bodies().size()));
  Eigen::Index at = 0;
  for (const Body& body : model.bodies()) {
    const RigidInertia<double>& m = body.inertia;
    out.segment<10>(at) << m.mass, to_eigen(m.first_moment), m.inertia.xx, m.inertia.xy, m.inertia.xz, m.inertia.yy,
        m.inertia.yz, m.inertia.zz;
    at += 10;
  }
  return out;
}

/// The same mechanism with other inertias and without armature.
Model with_other_bodies(const Model& model, Random& random) {
  const ModelBuilder as_is = edit(model);
  ModelBuilder out;
  for (BodySpec body : as_is.bodies()) {
    body.inertia = random.inertia(2);
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = 0;
    }
    out.add(std::move(body));
  }
  return out.build();
}

class Regressor : public testing::TestWithParam<int>, protected RandomState {
 protected:
  Regressor() : RandomState(GetParam()) {}
  State ideal = dynamics<double>();
  Eigen::MatrixXd Y = regressor(ideal, a);
};

TEST_P(Regressor, TimesTheParametersOfAnyBodiesIsTheirTorque) {  // item I1
  for (int sample = 0; sample < 12; ++sample) {
    const Model other = with_other_bodies(model, random);
    State dynamics(other, PassiveForces::left_out);
    dynamics.set(q, v);
    ASSERT_TRUE(is_near(Y * parameters(other), inverse_dynamics(dynamics, a), 1e-12)) << "sample " << sample;
  }
}

TEST_P(Regressor, ObeysNewtonAndEuler) {  // item I1: T = 𝓜θ̈ + 𝓒
  const Model other = with_other_bodies(model, random);
  const DenseReference reference(other, q);
  EXPECT_TRUE(is_near(Y * parameters(other), reference.mass() * a + reference.bias(v), 1e-9));
}

TEST_P(Regressor, LeavesArmatureAside) {
  Eigen::VectorXd rotors = Eigen::VectorXd::Zero(model.nv());
  for (const Body& body : model.bodies()) {
    for (int i = 0; i < body.hinge.velocity_size(); ++i) {
      const bool follows = body.leader != world;
      const double ratio = follows ? body.leader_ratio : 1;
      rotors[body.v_index + (follows ? 0 : i)] += ratio * ratio * body.hinge.dofs[static_cast<std::size_t>(i)].armature;
    }
  }
  EXPECT_TRUE(is_near(Y * parameters(model) + rotors.cwiseProduct(a), inverse_dynamics(ideal, a), 1e-12));
}

TEST_P(Regressor, FloatsAgree) {
  BasicState<float> single = dynamics<float>();
  EXPECT_TRUE(is_near(regressor(single, a.cast<float>()).cast<double>(), Y, 3e-4));
}

INSTANTIATE_TEST_SUITE_P(Trees, Regressor, testing::Range(0, 24));

TEST(RegressorArguments, BadOnesAreRefused) {
  RandomState state(1);
  State dynamics = state.dynamics<double>();
  std::vector<double> out(10);
  EXPECT_THROW(
      regressor(dynamics, std::span<const double>(state.a.data(), static_cast<std::size_t>(state.a.size())), out),
      ArgumentError);
  state.a[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(static_cast<void>(regressor(dynamics, state.a)), ArgumentError);
}

}  // namespace
}  // namespace bunraku::test
