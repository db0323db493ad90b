/// Vibrations about rest against closed forms, and closed systems against trees.

#include "bunraku/dynamics/vibrations.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "bunraku/dynamics/mass_matrix.hpp"
#include "bunraku/model/beam.hpp"
#include "bunraku/model/configuration.hpp"
#include "support/random_flexible.hpp"

namespace bunraku::test {
namespace {

/// A point mass on a massless rod of length l.
BodySpec pendulum(const std::string& name, double mass, double l) {
  return {.name = name,
          .hinge = {.name = name + "_hinge", .type = HingeType::revolute, .axis = {0, 1, 0}},
          .inertia = RigidInertia<double>::about_center(mass, {0, 0, -l}, {0, 0, 0, 0, 0, 0})};
}

Model alone(BodySpec body) {
  ModelBuilder builder;
  builder.add(std::move(body));
  return builder.build();
}

TEST(Vibrations, OfAPendulum) {
  const Model model = alone(pendulum("bob", 2, 0.5));
  State state(model);
  state.set(neutral(model));
  const double wanted = std::sqrt(9.81 / 0.5) / (2 * std::numbers::pi);
  ASSERT_EQ(vibrations(state).size(), 1U);
  EXPECT_NEAR(vibrations(state)[0].frequency, wanted, 1e-14);
  EXPECT_EQ(vibrations(state)[0].damping, 0);
  EXPECT_NEAR(vibrations(state)[0].shape[0], 1 / std::sqrt(0.5), 1e-14);  // x*𝓜x = 1
  state.set(Eigen::VectorXd::Constant(1, std::numbers::pi), Eigen::VectorXd::Constant(1, 3.0));
  EXPECT_NEAR(vibrations(state)[0].frequency, -wanted, 1e-14);  // upright it falls, whatever its velocity
}

TEST(Vibrations, OfNothingThatMoves) {
  const Model fixed = alone({.name = "stone"});
  State state(fixed);
  EXPECT_TRUE(vibrations(state).empty());
}

TEST(Vibrations, RefuseWhatHasNoMass) {
  const Model light = alone(pendulum("bob", 0, 0.5));
  State state(light);
  state.set(neutral(light));
  EXPECT_THROW(static_cast<void>(vibrations(state)), SingularError);
}

TEST(Vibrations, AreThoseOfTheStatesForces) {  // a state without springs has none to swing on
  BodySpec body = pendulum("bob", 2, 0.5);
  body.hinge.dofs = {{.damping = 1, .stiffness = 100}};
  const Model model = alone(std::move(body));
  State ideal(model, PassiveForces::left_out);
  ideal.set(neutral(model));
  EXPECT_NEAR(vibrations(ideal)[0].frequency, std::sqrt(9.81 / 0.5) / (2 * std::numbers::pi), 1e-14);
  EXPECT_EQ(vibrations(ideal)[0].damping, 0);
}

TEST(Vibrations, AreDamped) {
  BodySpec body = pendulum("bob", 2, 0.5);
  body.hinge.type = HingeType::prismatic;
  body.hinge.dofs = {{.damping = 3, .stiffness = 800}};
  const Model model = alone(std::move(body));
  State state(model);
  state.set(neutral(model));
  const Vibration swings = vibrations(state)[0];
  EXPECT_NEAR(swings.frequency, 20 / (2 * std::numbers::pi), 1e-13);  // √(800/2)
  EXPECT_NEAR(swings.damping, 3 / (2 * 2 * 20.0), 1e-15);
}

/// A beam clamped to the world, by its own elements, which know nothing of the dynamics.
TEST(Vibrations, OfACantilever) {
  const Beam beam{.length = 2,
                  .section = BeamSection::tube(0.04, 0.036),
                  .young = 70e9,
                  .shear = 26e9,
                  .density = 2700,
                  .elements = 12,
                  .bend_z = false};
  const std::vector<double> wanted = beam_frequencies(beam, BeamMotion::bend_y, BeamEnds::clamped_free);
  const auto found = [&](ModeSet set) {
    ModelBuilder builder;
    builder.set_gravity({0, 0, 0});
    add_flexible_body(builder, {.name = "mast"}, flexible_beam(beam, {.modes = {.set = set, .count = 10}}));
    const Model model = builder.build();
    State state(model);
    state.set(neutral(model));
    return vibrations(state);
  };
  const std::vector<Vibration> own = found(ModeSet::clamped_free);
  const std::vector<Vibration> static_shapes = found(ModeSet::craig_bampton);
  ASSERT_EQ(own.size(), 10U);
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_NEAR(own[i].frequency / wanted[i], 1, 1e-10) << i;
  }
  for (const std::size_t i : {0U, 1U, 2U, 3U}) {  // other shapes, from above: as many of them are the elements' own
    EXPECT_NEAR(static_shapes[i].frequency / wanted[i], 1, 2e-4) << i;
    EXPECT_GE(static_shapes[i].frequency, wanted[i] * (1 - 1e-10)) << i;
  }
}

TEST(Vibrations, HaveShapesThatAreOrthonormal) {
  for (const int sample : {0, 3}) {
    FlexibleSystem drawn(sample);
    State state(drawn.model);
    state.set(drawn.q);
    const Eigen::Index n = drawn.model.nv();
    const std::vector<Vibration> found = vibrations(state);
    const Eigen::MatrixXd mass = mass_matrix(state);
    Eigen::MatrixXd shapes(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      shapes.col(i) = Eigen::Map<const Eigen::VectorXd>(found[static_cast<std::size_t>(i)].shape.data(), n);
    }
    EXPECT_LT((shapes.transpose() * mass * shapes - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-8) << sample;
    for (std::size_t i = 1; i < found.size(); ++i) {
      EXPECT_LE(found[i - 1].frequency, found[i].frequency);
    }
  }
}

TEST(Vibrations, OfClosedSystems) {  // two pendulums that a closure makes one, and a mimic
  ModelBuilder tied;
  tied.add(pendulum("one", 1, 0.5));
  tied.add(pendulum("two", 3, 0.8));
  ModelBuilder mimics = tied;
  tied.add(ClosureSpec{
      .name = "tie", .kind = ClosureKind::hinges, .a = "two_hinge", .b = "one_hinge", .polynomial = {0, 0.5}});
  mimics.body("two").hinge.mimic = Mimic{"one_hinge", 0.5, 0};
  const Model closed = tied.build();
  const Model tree = mimics.build();
  ClosedSystem system(closed);
  system.state().set(neutral(closed), Eigen::VectorXd::Constant(2, 0.1));
  State state(tree);
  state.set(neutral(tree));
  const std::vector<Vibration> found = vibrations(system);
  const std::vector<Vibration> wanted = vibrations(state);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].frequency, wanted[0].frequency, 1e-12);
  EXPECT_NEAR(found[0].shape[0], wanted[0].shape[0], 1e-12);
  EXPECT_NEAR(found[0].shape[1], 0.5 * wanted[0].shape[0], 1e-12);
  EXPECT_EQ(system.state().v()(0), 0.1);  // as it was
}

}  // namespace
}  // namespace bunraku::test
