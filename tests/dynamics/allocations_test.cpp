/// Hot calls allocate nothing.
#include "support/allocations.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "support/random_state.hpp"

namespace bunraku::test {

namespace {

TEST(Allocations, DynamicsMakesNone) {
  Random random(72);
  ModelBuilder builder = random_tree(20, 0.3, random);
  const Model plain = builder.build();
  add_mimic_pair(builder, random);
  for (const Model& model : {plain, builder.build()}) {
    State dynamics(model);
    const Eigen::VectorXd q = random_configuration(model, 1);
    const Eigen::VectorXd v = random.vector(model.nv());
    const Node node = model.node("b7");
    const auto n = static_cast<std::size_t>(model.nv());
    std::vector<double> out(n);
    std::vector<double> matrix(n * n);
    std::vector<double> columns(6 * n);
    const auto given = detail::as_span(v);
    const std::size_t before = allocations();
    dynamics.set(q, v);
    inverse_dynamics(dynamics, given, out);
    forward_dynamics(dynamics, given, out);
    bias(dynamics, out);
    gravity_torques(dynamics, out);
    inverse_mass_times(dynamics, given, out);
    mass_matrix(dynamics, matrix);
    inverse_mass_matrix(dynamics, matrix);
    jacobian(dynamics, node, Frame::aligned, columns);
    const double sum = log_det_mass(dynamics) + kinetic_energy(dynamics) + potential_energy(dynamics) +
                       momentum(dynamics).force.x + center_of_mass(dynamics).x;
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(std::isfinite(sum));
  }
}

TEST(Allocations, RatesMomentaAndRegressorsMakeNone) {
  for (const int sample : {0, 1}) {  // with mimics and without
    RandomState state(sample);
    State dynamics = state.dynamics<double>();
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
    dynamics.set(state.q, state.v);
    jacobian_rate(dynamics, node, Frame::aligned, columns);
    const Motion<double> bias = jacobian_bias(dynamics, node, Frame::node);
    accelerations(dynamics, given, motions);
    bias_accelerations(dynamics, motions);
    center_of_mass_jacobian(dynamics, three);
    centroidal_momentum_matrix(dynamics, columns);
    centroidal_momentum_matrix_rate(dynamics, columns);
    coriolis_matrix(dynamics, matrix);
    regressor(dynamics, given, parameters);
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(to_eigen(bias).allFinite());
  }
}

TEST(Allocations, FactorsHybridAndOperationalSpaceMakeNone) {
  for (const int sample : {0, 1}) {  // with mimics and without
    Random random(73);
    const Model model = random_dynamics_model(sample, random);
    State dynamics(model);
    const Eigen::VectorXd q = random_configuration(model, 1);
    const Eigen::VectorXd v = random.vector(model.nv());
    const auto n = static_cast<std::size_t>(model.nv());
    const std::size_t bodies = model.bodies().size();
    int floating = 0;  // a body that moves in all directions, so that J has full rank
    while (model.body(floating).hinge.type != HingeType::free) {
      ++floating;
    }
    const std::vector<Node> nodes = {model.node(model.body(floating).name)};
    const AppliedForce<double> push(nodes[0], random.force(), Frame::aligned);
    HingeSet prescribed(model);
    prescribed.insert(1).insert(5);
    std::vector<double> out(n);
    std::vector<double> torque(n);
    std::vector<double> columns(6 * n);
    std::vector<double> small(36);
    std::vector<Force<double>> forces(bodies);
    std::vector<Motion<double>> links(bodies);
    const auto given = detail::as_span(v);
    const int hinge_size = model.body(floating).hinge.velocity_size();
    const auto call_all = [&] {
      dynamics.set(q, v);
      mass_root_times(dynamics, given, out);
      inverse_mass_root_times(dynamics, given, out);
      reactions(dynamics, given, forces, {&push, 1});
      hybrid_dynamics(dynamics, prescribed, out, torque, {&push, 1});
      lambda_inverse(dynamics, nodes, small);
      lambda(dynamics, nodes, small);
      dynamically_consistent_inverse(dynamics, nodes, columns);
      force_correction(dynamics, {&push, 1}, out);
      if (sample == 1) {
        for (const ForwardAlgorithm by : {ForwardAlgorithm::fd1, ForwardAlgorithm::fd3}) {
          forward_dynamics_by(by, dynamics, given, out, {&push, 1});
        }
        for (const ForwardAlgorithm by : {ForwardAlgorithm::fd2, ForwardAlgorithm::fd4}) {
          forward_dynamics_by(by, dynamics, given, out, {&push, 1}, links);
        }
        hinge_inertia(dynamics, floating, small);
        kalman_gain(dynamics, floating, small);
        shifted_gain(dynamics, floating, small);
        static_cast<void>(articulated_inertia(dynamics, floating));
        static_cast<void>(articulated_transition(dynamics, world, floating));
      }
    };
    call_all();  // which makes room for the programs
    dynamics.set(q, Eigen::VectorXd::Zero(model.nv()));
    const std::size_t before = allocations();
    call_all();
    EXPECT_EQ(allocations(), before);
    EXPECT_EQ(hinge_size, 6);
  }
}

TEST(Allocations, SettingAStateMakesNone) {
  Random random(71);
  const Model model = random_tree(30, 0.3, random).build();
  State state(model);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = random.vector(model.nv());
  Eigen::MatrixXd J(6, model.nv());
  std::vector<double> out(static_cast<std::size_t>(model.nq()));
  const std::size_t before = allocations();
  state.set(q, v);
  state.set(q);
  const Vec3<double> com = center_of_mass(state);
  const Transform<double> X = pose(state, 7);
  jacobian(state, "b7", Frame::aligned, J);
  integrate(model, detail::as_span(q), detail::as_span(v), 0.1, out);
  EXPECT_EQ(allocations(), before);
  EXPECT_TRUE(to_eigen(com).allFinite() && to_eigen(X).allFinite());
  const std::vector<double> some(100);
  EXPECT_GT(allocations(), before) << "the counter works";
}

}  // namespace
}  // namespace bunraku::test
