/// The kernels in scalars that the library does not have: dual numbers, whose second part is a derivative.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/kernels/forward_dynamics.hpp"
#include "bunraku/kernels/inverse_dynamics.hpp"
#include "bunraku/kernels/inverse_mass_matrix.hpp"
#include "bunraku/kernels/kinematics.hpp"
#include "bunraku/kernels/mass_matrix.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/dual.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {

namespace {

/// A tree of all hinges but the user's own, whose numbers are double.
Model model_of(int sample) {
  Random random(900 + static_cast<unsigned>(sample));
  ModelBuilder builder("dual");
  static_assert(all_hinge_types.back() == HingeType::custom);
  const std::size_t types = all_hinge_types.size() - 1;
  for (int i = 0; i < 14; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    const int parent = sample == 0 ? i - 1 : random.integer(-1, i - 1);
    body.parent = parent < 0 ? std::string(world_name) : "b" + std::to_string(parent);
    body.hinge = random_hinge(all_hinge_types[static_cast<std::size_t>(i) % types], random);
    body.X_PF = {Rotation<double>::from_rpy(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)),
                 {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)}};
    body.inertia = RigidInertia<double>::about_center(random.uniform(1, 2), {0.1, 0.2, -0.1},
                                                      Sym3<double>::diagonal(0.1, 0.12, 0.15));
    builder.add(body);
  }
  return builder.build();
}

class KernelsOnDuals : public testing::TestWithParam<int> {
 protected:
  KernelsOnDuals()
      : model(model_of(GetParam())), tree(model), constants(tree), layouts(tree, 1), ws(tree, constants, layouts) {
    Random random(5);
    q = random_configuration(model, 3);
    v = random.vector(model.nv());
    x = random.vector(model.nv());
    direction = random.vector(model.nv());
  }

  /// Numbers with a derivative.
  static std::vector<Dual> with_rate(const Eigen::VectorXd& value, const Eigen::VectorXd& rate) {
    std::vector<Dual> out;
    for (Eigen::Index i = 0; i < value.size(); ++i) {
      out.emplace_back(value(i), rate(i));
    }
    return out;
  }
  /// q along the direction: its rate by central differences on the manifold, to rounding enough for a test of 1e-7.
  std::vector<Dual> moving_q() const {
    const double h = 1e-6;
    const Eigen::VectorXd ahead = integrate(model, q, Eigen::VectorXd(direction * h));
    const Eigen::VectorXd behind = integrate(model, q, Eigen::VectorXd(direction * -h));
    return with_rate(q, (ahead - behind) / (2 * h));
  }
  template <class F>
  Eigen::VectorXd difference_of(F&& f) const {  // central, along the direction
    const double h = 1e-5;
    return (f(integrate(model, q, Eigen::VectorXd(direction * h))) -
            f(integrate(model, q, Eigen::VectorXd(direction * -h)))) /
           (2 * h);
  }
  static Eigen::VectorXd values(const std::vector<Dual>& numbers) {
    Eigen::VectorXd out(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      out(static_cast<Eigen::Index>(i)) = numbers[i].x;
    }
    return out;
  }
  static Eigen::VectorXd rates(const std::vector<Dual>& numbers) {
    Eigen::VectorXd out(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      out(static_cast<Eigen::Index>(i)) = numbers[i].dx;
    }
    return out;
  }

  Model model;
  kernels::Tree tree;
  kernels::Constants<Dual> constants;
  kernels::Layouts layouts;
  kernels::Workspace<Dual> ws;
  Eigen::VectorXd q;
  Eigen::VectorXd v;
  Eigen::VectorXd x;
  Eigen::VectorXd direction;
};

TEST_P(KernelsOnDuals, InverseDynamicsAndItsDerivative) {
  const std::vector<Dual> positions = moving_q();
  const std::vector<Dual> velocities = with_rate(v, Eigen::VectorXd::Zero(v.size()));
  const std::vector<Dual> accelerations = with_rate(x, Eigen::VectorXd::Zero(v.size()));
  std::vector<Dual> torque(velocities.size());
  ws.set_state(positions.data(), velocities.data());
  kernels::inverse_dynamics(ws, velocities.data(), accelerations.data(), torque.data());
  State state(model, PassiveForces::left_out);
  const auto at = [&](const Eigen::VectorXd& there) {
    state.set(there, v);
    return inverse_dynamics(state, x);
  };
  EXPECT_TRUE(is_near(values(torque), at(q), 1e-12));
  EXPECT_TRUE(is_near(rates(torque), difference_of(at), 1e-6));
}

TEST_P(KernelsOnDuals, ForwardDynamicsAndItsDerivative) {
  const std::vector<Dual> positions = moving_q();
  const std::vector<Dual> velocities = with_rate(v, Eigen::VectorXd::Zero(v.size()));
  const std::vector<Dual> torque = with_rate(x, Eigen::VectorXd::Zero(v.size()));
  std::vector<Dual> acceleration(velocities.size());
  ws.set_state(positions.data(), velocities.data());
  kernels::forward_dynamics(ws, torque.data(), acceleration.data());
  State state(model, PassiveForces::left_out);
  const auto at = [&](const Eigen::VectorXd& there) {
    state.set(there, v);
    return forward_dynamics(state, x);
  };
  EXPECT_TRUE(is_near(values(acceleration), at(q), 1e-11));
  EXPECT_TRUE(is_near(rates(acceleration), difference_of(at), 1e-5));
}

TEST_P(KernelsOnDuals, MassMatrixItsInverseAndKineticEnergy) {
  const std::vector<Dual> positions = moving_q();
  const std::vector<Dual> velocities = with_rate(v, Eigen::VectorXd::Zero(v.size()));
  const auto n = static_cast<std::size_t>(model.nv());
  std::vector<Dual> mass(n * n);
  std::vector<Dual> inverse(n * n);
  ws.set_state(positions.data(), velocities.data());
  kernels::mass_matrix(ws, mass.data());
  kernels::inverse_mass_matrix(ws, inverse.data());
  State state(model);
  const auto at = [&](const Eigen::VectorXd& there) {
    state.set(there, v);
    return Eigen::VectorXd(mass_matrix(state).reshaped());
  };
  EXPECT_TRUE(is_near(values(mass), at(q), 1e-12));
  EXPECT_TRUE(is_near(rates(mass), difference_of(at), 1e-6));
  state.set(q, v);
  EXPECT_TRUE(is_near(values(inverse), Eigen::VectorXd(inverse_mass_matrix(state).reshaped()), 1e-11));
  EXPECT_NEAR(kernels::kinetic_energy(ws).x, kinetic_energy(state), 1e-11 * kinetic_energy(state));
}

INSTANTIATE_TEST_SUITE_P(Trees, KernelsOnDuals, testing::Values(0, 1, 2));

}  // namespace
}  // namespace bunraku::test
