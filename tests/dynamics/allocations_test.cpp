/// Hot calls allocate nothing.
#include "support/allocations.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/kinematics.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {

namespace {

TEST(Allocations, DynamicsMakesNone) {
  Random random(72);
  ModelBuilder builder = random_tree(20, 0.3, random);
  const Model plain = builder.build();
  for (const char* name : {"leader", "follower"}) {
    BodySpec body{.name = name, .inertia = random.inertia()};
    body.hinge.type = HingeType::revolute;
    if (std::string_view(name) == "follower") {
      body.hinge.mimic = Mimic{"leader_hinge", 2};
    }
    builder.add(body);
  }
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
