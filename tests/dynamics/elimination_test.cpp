/// Digits of forward dynamics, operational space and roots where masses differ much, against long double.
#include <limits>

#include <gtest/gtest.h>

#include "bunraku/operators/language/soa.hpp"
#include "bunraku/operators/system.hpp"
#include "support/dynamics_of.hpp"
#include "support/long_reference.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

constexpr std::array of_torques = {Inverting::forward, Inverting::fd1, Inverting::fd2,
                                   Inverting::fd3,     Inverting::fd4, Inverting::hybrid};

/// The largest error of all that inverts, against long double.
double worst_error(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& torque,
                   const LongReference& reference) {
  double worst = 0;
  for (const Inverting call : of_torques) {
    worst = std::max(worst, reference.forward_error(torque, run_inverting<double>(model, q, torque, call)));
  }
  worst = std::max(worst, reference.solve_error(torque, run_inverting<double>(model, q, torque, Inverting::solve)));
  worst =
      std::max(worst, reference.root_error(torque, run_inverting<double>(model, q, torque, Inverting::inverse_root)));
  const int last = static_cast<int>(model.bodies().size()) - 1;
  const Eigen::MatrixXd lambda = run_inverting<double>(model, q, torque, Inverting::lambda, last).reshaped(6, 6);
  worst = std::max(worst, reference.lambda_inverse_error(last, lambda));
  using namespace soa;
  System system(model);
  system.set_state(q, Eigen::VectorXd::Zero(model.nv()));
  const Eigen::VectorXd by_operators = system(~(I - H * psi * K) * inv(D) * (I - H * psi * K)) * torque;
  return std::max(worst, reference.solve_error(torque, by_operators));
}

/// A light body on a free hinge with armature, between a turn and 10⁸ times its mass: D⁻¹ has lost nine digits, and
/// where I − GH is made of it, all of them.
TEST(Elimination, KeepsItsDigitsBehindAHeavyBody) {
  for (const double mass : {1.0, 1e4, 1e8}) {
    for (const double offset : {0.0, 0.3}) {
      ModelBuilder builder("heavy");
      const auto add = [&](const char* name, const char* parent, HingeType type, double m, double armature) {
        BodySpec body;
        body.name = name;
        body.parent = parent;
        body.hinge.name = std::string("h_") + name;
        body.hinge.type = type;
        body.hinge.axis = {0.6, 0, 0.8};
        body.hinge.axis2 = {0, 1, 0};
        body.hinge.dofs.resize(static_cast<std::size_t>(velocity_size(type)));
        for (HingeDof& dof : body.hinge.dofs) {
          dof.armature = armature;
        }
        body.X_PF.translation = {0.1, 0.2, 0.3};
        body.X_MB.translation = Vec3<double>{1, -0.3, 0.7} * offset;
        body.inertia =
            RigidInertia<double>::about_center(m, {0.1, 0.05, -0.2}, {0.1 * m, 0.2 * m, 0.15 * m, 0.01 * m, 0, 0});
        builder.add(body);
      };
      add("turning", "world", HingeType::revolute, 1, 0);
      add("light", "turning", HingeType::free, 1, 0.1);
      add("heavy", "light", HingeType::planar, mass, 0);
      const Model model = builder.build();
      const Eigen::VectorXd q = random_configuration(model, 3);
      const Eigen::VectorXd torque = Eigen::VectorXd::LinSpaced(model.nv(), -1, 2);
      EXPECT_LT(worst_error(model, q, torque, LongReference(model, q)), 1e-14 * std::max(1.0, mass)) << mass;
    }
  }
}

/// Over random trees of all hinges, masses up to a million times as large as others, half of them with armature: all
/// lose no more than 𝓜's condition says.
TEST(Elimination, LosesNoMoreThanTheConditionOfRandomTrees) {
  for (unsigned sample = 0; sample < 60; ++sample) {
    Random random(sample);
    ModelBuilder builder("tree");
    const ModelBuilder plain = random_tree(8, 0.1 * (sample % 10), random);
    for (BodySpec body : plain.bodies()) {
      const double scale = std::pow(10.0, random.uniform(-3, 3));
      body.inertia.mass *= scale;
      body.inertia.first_moment = body.inertia.first_moment * scale;
      body.inertia.inertia = body.inertia.inertia * scale;
      body.hinge.dofs.resize(static_cast<std::size_t>(body.hinge.velocity_size()));
      for (HingeDof& dof : body.hinge.dofs) {
        dof.armature = sample % 2 == 0 ? 0 : std::pow(10.0, random.uniform(-3, 0));
      }
      builder.add(std::move(body));
    }
    const Model model = builder.build();
    const Eigen::VectorXd q = random_configuration(model, sample);
    const Eigen::VectorXd torque = random.vector(model.nv());
    const LongReference reference(model, q);
    const double allowed = 1e3 * std::numeric_limits<double>::epsilon() * reference.condition();
    EXPECT_LT(worst_error(model, q, torque, reference), allowed) << sample;
  }
}

}  // namespace
}  // namespace bunraku::test
