/// Hot calls allocate nothing.
#include "support/allocations.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {

namespace {

TEST(Allocations, DynamicsMakesNone) {
  Random random(72);
  ModelBuilder builder = random_tree(20, 0.3, random);
  const Model plain = builder.build();
  add_mimic_pair(builder, random);
  for (const Model& model : {plain, builder.build()}) {
    Dynamics dynamics(model);
    const Eigen::VectorXd q = random_configuration(model, 1);
    const Eigen::VectorXd v = random.vector(model.nv());
    const Node node = model.node("b7");
    const auto n = static_cast<std::size_t>(model.nv());
    std::vector<double> out(n);
    std::vector<double> matrix(n * n);
    std::vector<double> columns(6 * n);
    const auto given = detail::as_span(v);
    const std::size_t before = allocations();
    dynamics.set_state(q, v);
    dynamics.inverse(given, out);
    dynamics.forward(given, out);
    dynamics.bias(out);
    dynamics.gravity_torques(out);
    dynamics.solve(given, out);
    dynamics.mass_matrix(matrix);
    dynamics.inverse_mass_matrix(matrix);
    dynamics.jacobian(node, ReferenceFrame::aligned, columns);
    const double sum = dynamics.log_determinant() + dynamics.kinetic_energy() + dynamics.potential_energy() +
                       dynamics.momentum().force.x + dynamics.center_of_mass().x;
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(std::isfinite(sum));
  }
}

TEST(Allocations, RatesMomentaAndRegressorsMakeNone) {
  for (const int sample : {0, 1}) {  // with mimics and without
    RandomState state(sample);
    Dynamics dynamics = state.dynamics<double>();
    const Node node = state.model.node("b7");
    const auto n = static_cast<std::size_t>(state.model.nv());
    const std::size_t bodies = state.model.bodies().size();
    std::vector<double> matrix(n * n);
    std::vector<double> columns(6 * n);
    std::vector<double> parameters(10 * bodies * n);
    std::vector<Motion<double>> motions(bodies);
    const auto given = detail::as_span(state.a);
    const std::span<double> three = std::span(columns).first(3 * n);
    const std::size_t before = allocations();
    dynamics.set_state(state.q, state.v);
    dynamics.jacobian_rate(node, ReferenceFrame::aligned, columns);
    const Motion<double> bias = dynamics.jacobian_bias(node, ReferenceFrame::node);
    dynamics.accelerations(given, motions);
    dynamics.bias_accelerations(motions);
    dynamics.center_of_mass_jacobian(three);
    dynamics.centroidal_momentum_matrix(columns);
    dynamics.centroidal_momentum_matrix_rate(columns);
    dynamics.coriolis_matrix(matrix);
    dynamics.regressor(given, parameters);
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(to_eigen(bias).allFinite());
  }
}

TEST(Allocations, FactorsHybridAndOperationalSpaceMakeNone) {
  for (const int sample : {0, 1}) {  // with mimics and without
    Random random(73);
    const Model model = random_dynamics_model(sample, random);
    Dynamics dynamics(model);
    const Eigen::VectorXd q = random_configuration(model, 1);
    const Eigen::VectorXd v = random.vector(model.nv());
    const auto n = static_cast<std::size_t>(model.nv());
    const std::size_t bodies = model.bodies().size();
    int floating = 0;  // a body that moves in all directions, so that J has full rank
    while (model.body(floating).hinge.type != HingeType::free) {
      ++floating;
    }
    const std::vector<Node> nodes = {model.node(model.body(floating).name)};
    const AppliedForce<double> push(nodes[0], random.force(), ReferenceFrame::aligned);
    std::array<bool, 12> prescribed{};
    prescribed[1] = prescribed[5] = true;
    std::vector<double> out(n);
    std::vector<double> torque(n);
    std::vector<double> columns(6 * n);
    std::vector<double> small(36);
    std::vector<Force<double>> forces(bodies);
    std::vector<Motion<double>> links(bodies);
    const auto given = detail::as_span(v);
    const int hinge_size = model.body(floating).hinge.velocity_size();
    const std::size_t before = allocations();
    dynamics.set_state(q, v);
    dynamics.square_root_times(given, out);
    dynamics.inverse_square_root_times(given, out);
    dynamics.reactions(given, forces, {&push, 1});
    dynamics.hybrid(prescribed, out, torque, {&push, 1});
    dynamics.operational_space_inverse(nodes, small);
    dynamics.operational_space_inertia(nodes, small);
    dynamics.dynamically_consistent_inverse(nodes, columns);
    dynamics.force_correction({&push, 1}, out);
    if (sample == 1) {
      for (const ForwardAlgorithm by : {ForwardAlgorithm::fd1, ForwardAlgorithm::fd3}) {
        dynamics.forward_by(by, given, out, {&push, 1});
      }
      for (const ForwardAlgorithm by : {ForwardAlgorithm::fd2, ForwardAlgorithm::fd4}) {
        dynamics.forward_by(by, given, out, {&push, 1}, links);
      }
      dynamics.hinge_inertia(floating, small);
      dynamics.kalman_gain(floating, small);
      dynamics.shifted_gain(floating, small);
      static_cast<void>(dynamics.articulated_inertia(floating));
      static_cast<void>(dynamics.articulated_transition(world, floating));
    }
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(hinge_size, 6);
  }
}

TEST(Allocations, SettingAStateMakesNone) {
  Random random(71);
  const Model model = random_tree(30, 0.3, random).build();
  Kinematics kinematics(model);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = random.vector(model.nv());
  std::vector<double> out(static_cast<std::size_t>(model.nq()));
  const std::size_t before = allocations();
  kinematics.set_state(q, v);
  kinematics.set_configuration(q);
  const Vec3<double> com = kinematics.center_of_mass();
  const Transform<double> pose = kinematics.pose(7);
  integrate(model, detail::as_span(q), detail::as_span(v), 0.1, out);
  EXPECT_EQ(allocations(), before);
  EXPECT_TRUE(to_eigen(com).allFinite() && to_eigen(pose).allFinite());
  const std::vector<double> some(100);
  EXPECT_GT(allocations(), before) << "the counter works";
}

}  // namespace
}  // namespace bunraku::test
