/// The tuned sweeps at what makes them choose one arithmetic or another: right angles between axes, gears, prismatic
/// hinges, free bases, forests, orders of bodies. Against the dense reference.
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include <Eigen/Dense>
#include <gtest/gtest.h>
#include <pthread.h>

#include "bunraku/dynamics/dynamics.hpp"
#include "bunraku/dynamics/kernels/sincos.hpp"
#include "support/dense_reference.hpp"
#include "support/linear_algebra.hpp"
#include "support/near.hpp"
#include "support/random_model.hpp"

namespace bunraku::test {
namespace {

/// A turn by right angles about each axis.
Rotation<double> right_angles(Random& random) {
  const auto quarter = [&] { return random.integer(-1, 2) * std::numbers::pi / 2; };
  return Rotation<double>::from_rpy(quarter(), quarter(), quarter());
}

struct Recipe {
  std::string name;
  HingeType base;      // of the first body
  double prismatic;    // share of prismatic hinges
  double geared;       // share of hinges with armature
  double branching;    // 0: a chain
  bool breadth_first;  // the file's order is not depth first
  bool aligned;        // frames at right angles to each other
  int bodies;
};

Model make(const Recipe& recipe, Random& random) {
  ModelBuilder builder(recipe.name);
  for (int i = 0; i < recipe.bodies; ++i) {
    BodySpec body{.name = "b" + std::to_string(i)};
    int parent = i - 1;
    if (recipe.breadth_first) {
      parent = (i - 1) / 2;  // a binary tree, level by level
    } else if (random.uniform(0, 1) < recipe.branching) {
      parent = random.integer(-1, i - 1);
    }
    body.parent = i == 0 || parent < 0 ? std::string(world_name) : "b" + std::to_string(parent);
    const HingeType type = i == 0                                    ? recipe.base
                           : random.uniform(0, 1) < recipe.prismatic ? HingeType::prismatic
                                                                     : HingeType::revolute;
    body.hinge = random_hinge(type, random);
    constexpr std::array axes = {Vec3<double>{1, 0, 0}, Vec3<double>{0, 1, 0}, Vec3<double>{0, 0, 1},
                                 Vec3<double>{0, 0, -1}};
    if (recipe.aligned) {
      body.hinge.axis = axes[static_cast<std::size_t>(random.integer(0, 3))];
    }
    for (HingeDof& dof : body.hinge.dofs) {
      dof.armature = random.uniform(0, 1) < recipe.geared ? random.uniform(0.1, 1) : 0;
    }
    body.X_PF = {recipe.aligned ? right_angles(random) : random.rotation(), random.vec3()};
    body.X_MB = random.transform();
    body.inertia = random.inertia();
    builder.add(std::move(body));
  }
  return builder.build();
}

class Kernels : public testing::TestWithParam<Recipe> {};

TEST_P(Kernels, AgreeWithTheDenseReference) {
  Random random(400);
  for (int sample = 0; sample < 20; ++sample) {
    const Model model = make(GetParam(), random);
    const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
    const Eigen::VectorXd v = random.vector(model.nv());
    const Eigen::VectorXd a = random.vector(model.nv());
    Dynamics dynamics(model, PassiveForces::left_out);
    dynamics.set_state(q, v);
    const DenseReference reference(model, q);
    const Eigen::MatrixXd mass = reference.mass();
    const Eigen::MatrixXd inverse = inverse_of(mass);
    const Eigen::VectorXd bias = reference.bias(v);
    const double condition = mass.norm() * inverse.norm();
    EXPECT_TRUE(is_near(dynamics.mass_matrix(), mass, 1e-13));
    EXPECT_TRUE(is_near(dynamics.bias(), bias, 1e-9)) << "as far as differences allow";
    EXPECT_TRUE(is_near(dynamics.inverse(a), mass * a + dynamics.bias(), 1e-12));
    EXPECT_TRUE(is_near(dynamics.inverse_mass_matrix(), inverse, 1e-14 * condition));
    EXPECT_TRUE(is_near(dynamics.solve(a), inverse * a, 1e-14 * condition));
    EXPECT_TRUE(is_near(dynamics.forward(a), inverse * (a - dynamics.bias()), 1e-14 * condition));
    EXPECT_NEAR(dynamics.log_determinant(), log_determinant_of(mass), 1e-11 * model.nv());
  }
}

TEST_P(Kernels, AgreeInSinglePrecision) {
  Random random(401);
  const Model model = make(GetParam(), random);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = random.vector(model.nv());
  const Eigen::VectorXd a = random.vector(model.nv());
  Dynamics exact(model);
  exact.set_state(q, v);
  BasicDynamics<float> dynamics(model);
  dynamics.set_state(Eigen::VectorXf(q.cast<float>()), Eigen::VectorXf(v.cast<float>()));
  const Eigen::VectorXf x = a.cast<float>();
  const double condition = exact.mass_matrix().norm() * exact.inverse_mass_matrix().norm();
  EXPECT_TRUE(is_near(Eigen::VectorXd(dynamics.inverse(x).cast<double>()), exact.inverse(a), 1e-5));
  EXPECT_TRUE(is_near(Eigen::MatrixXd(dynamics.mass_matrix().cast<double>()), exact.mass_matrix(), 1e-5));
  EXPECT_TRUE(is_near(Eigen::MatrixXd(dynamics.inverse_mass_matrix().cast<double>()), exact.inverse_mass_matrix(),
                      1e-6 * condition));
  EXPECT_TRUE(is_near(Eigen::VectorXd(dynamics.solve(x).cast<double>()), exact.solve(a), 1e-6 * condition));
  EXPECT_TRUE(is_near(Eigen::VectorXd(dynamics.forward(x).cast<double>()), exact.forward(a), 1e-6 * condition));
}

INSTANTIATE_TEST_SUITE_P(Shapes, Kernels,
                         testing::Values(Recipe{"AlignedChain", HingeType::revolute, 0, 0, 0, false, true, 9},
                                         Recipe{"AlignedGearedChain", HingeType::revolute, 0, 1, 0, false, true, 9},
                                         Recipe{"AlignedMixedTree", HingeType::revolute, 0.3, 0.5, 0.4, false, true,
                                                11},
                                         Recipe{"SkewChain", HingeType::revolute, 0, 0, 0, false, false, 9},
                                         Recipe{"SkewMixedTree", HingeType::prismatic, 0.3, 0.5, 0.4, false, false, 11},
                                         Recipe{"FloatingAligned", HingeType::free, 0.2, 0, 0.4, false, true, 10},
                                         Recipe{"FloatingGeared", HingeType::free, 0.2, 1, 0.4, false, false, 10},
                                         Recipe{"FloatingBody", HingeType::free, 0, 0, 0, false, false, 1},
                                         Recipe{"BreadthFirst", HingeType::free, 0.2, 0.2, 0, true, true, 12},
                                         Recipe{"Bush", HingeType::revolute, 0.2, 0, 1, false, true, 20},
                                         Recipe{"TwoHinges", HingeType::revolute, 0.5, 0, 0, false, true, 2},
                                         Recipe{"OneHinge", HingeType::prismatic, 0, 0, 0, false, true, 1}),
                         [](const testing::TestParamInfo<Recipe>& given) { return given.param.name; });

/// A body on a hinge of that type.
BodySpec on(const std::string& name, const std::string& parent, HingeType type, const RigidInertia<double>& inertia,
            Random& random) {
  BodySpec body{.name = name, .parent = parent, .inertia = inertia};
  body.hinge = random_hinge(type, random);
  body.X_PF = random.transform();
  return body;
}

TEST(KernelFunctions, RoundingIsNotTakenForMass) {
  Random random(405);
  const RigidInertia<double> nothing = RigidInertia<double>::zero();
  for (int sample = 0; sample < 200; ++sample) {
    const Vec3<double> at = random.vec3();
    const RigidInertia<double> point{1, at, point_inertia(at)};
    const std::string w(world_name);
    const std::array models = {ModelBuilder().add(on("a", w, HingeType::spherical, point, random)).build(),
                               ModelBuilder().add(on("a", w, HingeType::free, point, random)).build(),
                               ModelBuilder()
                                   .add(on("a", w, HingeType::revolute, nothing, random))
                                   .add(on("b", "a", HingeType::free, random.inertia(), random))
                                   .build(),
                               ModelBuilder()
                                   .add(on("a", w, HingeType::prismatic, nothing, random))
                                   .add(on("b", "a", HingeType::translational, random.inertia(), random))
                                   .build()};
    for (const Model& model : models) {
      Dynamics dynamics(model);
      const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
      dynamics.set_state(q, Eigen::VectorXd(Eigen::VectorXd::Zero(model.nv())));
      const Eigen::VectorXd torque = random.vector(model.nv());
      EXPECT_THROW(static_cast<void>(dynamics.forward(torque)), Error) << model.nv();
      EXPECT_THROW(static_cast<void>(dynamics.inverse_mass_matrix()), Error);
      EXPECT_THROW(static_cast<void>(dynamics.forward_by(ForwardAlgorithm::fd1, torque)), Error);
      EXPECT_THROW(static_cast<void>(dynamics.square_root_times(torque)), Error);
      EXPECT_TRUE(dynamics.inverse(torque).allFinite());
    }
  }
}

TEST(KernelFunctions, SmallInertiaOfAHeavyBodyIsMass) {
  const RigidInertia<double> heavy =
      RigidInertia<double>::about_center(10, {0, 0, 0}, Sym3<double>::diagonal(1e-6, 1e-6, 1e-6));
  BodySpec body{.name = "a", .inertia = heavy};
  body.hinge.type = HingeType::free;
  BasicDynamics<float> dynamics(ModelBuilder().add(body).build(), PassiveForces::left_out);
  const Eigen::VectorXf torque = Eigen::VectorXf::Constant(6, 1e-6F);
  EXPECT_NEAR(dynamics.forward(torque)[0], 1, 1e-5);
  EXPECT_NEAR(dynamics.forward_by(ForwardAlgorithm::fd4, torque)[0], 1, 1e-5);
}

TEST(KernelFunctions, DeepChainsHaveAnInverseToo) {  // beyond the depth at which its algorithm changes
  Random random(406);
  for (const int n : {47, 48, 49, 50, 70}) {
    const Model model = make({"chain", HingeType::revolute, 0.1, 0.5, 0, false, true, n}, random);
    Dynamics dynamics(model);
    dynamics.set_state(random_configuration(model, 1), Eigen::VectorXd(Eigen::VectorXd::Zero(n)));
    const Eigen::MatrixXd mass = dynamics.mass_matrix();
    const Eigen::MatrixXd inverse = dynamics.inverse_mass_matrix();
    EXPECT_TRUE(is_near(mass * inverse, Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n)),
                        1e-15 * mass.norm() * inverse.norm()));
  }
}

TEST(KernelFunctions, LargeAnglesLoseNoMoreThanTheirOwnDigits) {
  Random random(407);
  const Model model = make({"chain", HingeType::revolute, 0, 0, 0, false, false, 6}, random);
  Eigen::VectorXd q = random.vector(6, 1e9);
  Dynamics dynamics(model);
  dynamics.set_state(q, Eigen::VectorXd(Eigen::VectorXd::Zero(6)));
  EXPECT_TRUE(is_near(dynamics.mass_matrix(), DenseReference(model, q).mass(), 1e-13));
}

TEST(KernelFunctions, ArgumentsOfTheWrongShapeOrPlaceAreRefused) {
  Random random(408);
  const Model model = make({"chain", HingeType::revolute, 0, 0, 0, false, false, 4}, random);
  Dynamics dynamics(model);
  EXPECT_THROW(static_cast<void>(dynamics.solve_columns(Eigen::MatrixXd::Zero(6, 4))), ArgumentError);
  EXPECT_EQ(dynamics.solve_columns(Eigen::MatrixXd::Zero(4, 0)).cols(), 0);
  Node node = model.node("b3");
  node.X_BN.translation.y = std::numeric_limits<double>::infinity();
  const std::array nodes = {node};
  EXPECT_THROW(static_cast<void>(dynamics.operational_space_inverse(nodes)), ArgumentError);
  const std::array forces = {AppliedForce<double>(node, Force<double>::zero(), ReferenceFrame::node)};
  EXPECT_THROW(static_cast<void>(dynamics.forward(Eigen::VectorXd::Zero(4), forces)), ArgumentError);
  node.X_BN.translation = {1e308, 1e308, 0};
  EXPECT_NO_THROW(static_cast<void>(dynamics.jacobian_bias(node, ReferenceFrame::aligned)));
}

TEST(KernelFunctions, NearlyParallelAxes) {  // frames are chosen by angles that rounding leaves undetermined
  Random random(404);
  for (int sample = 0; sample < 200; ++sample) {
    ModelBuilder builder;
    const double tilt = std::pow(10, -random.uniform(6, 17));
    for (int i = 0; i < 5; ++i) {
      BodySpec body{.name = "b" + std::to_string(i),
                    .parent = i == 0 ? std::string(world_name) : "b" + std::to_string(i - 1)};
      body.hinge.type = HingeType::revolute;
      body.X_PF = {Rotation<double>::about_z(random.uniform(-3, 3)) *
                       Rotation<double>::about(random.unit(), random.integer(0, 1) * std::numbers::pi + tilt) *
                       Rotation<double>::about_z(random.uniform(-3, 3)),
                   random.vec3()};
      body.inertia = random.inertia();
      builder.add(body);
    }
    const Model model = builder.build();
    const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
    Dynamics dynamics(model);
    dynamics.set_state(q, Eigen::VectorXd(Eigen::VectorXd::Zero(5)));
    const DenseReference reference(model, q);
    ASSERT_TRUE(is_near(dynamics.mass_matrix(), reference.mass(), 1e-13)) << tilt;
    ASSERT_TRUE(is_near(dynamics.gravity_torques(), reference.bias(Eigen::VectorXd(Eigen::VectorXd::Zero(5))), 1e-12));
  }
}

TEST(KernelFunctions, SineAndCosineToAnUlp) {
  Random random(402);
  using kernels::Lanes;
  for (const double range : {1.0, 10.0, 1e3, 1e5, 1e9}) {
    for (int sample = 0; sample < 20'000; ++sample) {
      Lanes<double> x{};
      for (int i = 0; i < kernels::lane_count<double>; ++i) {
        x[i] = random.uniform(-range, range);
      }
      Lanes<double> s;
      Lanes<double> c;
      kernels::sincos<double>(x, s, c);
      for (int i = 0; i < kernels::lane_count<double>; ++i) {
        ASSERT_NEAR(s[i], std::sin(x[i]), 2.5e-16) << x[i];
        ASSERT_NEAR(c[i], std::cos(x[i]), 2.5e-16) << x[i];
      }
    }
  }
  for (int sample = 0; sample < 20'000; ++sample) {
    Lanes<float> x{};
    for (int i = 0; i < kernels::lane_count<float>; ++i) {
      x[i] = static_cast<float>(random.uniform(-100, 100));
    }
    Lanes<float> s;
    Lanes<float> c;
    kernels::sincos<float>(x, s, c);
    for (int i = 0; i < kernels::lane_count<float>; ++i) {
      ASSERT_NEAR(s[i], std::sin(static_cast<double>(x[i])), 1.2e-7) << x[i];
      ASSERT_NEAR(c[i], std::cos(static_cast<double>(x[i])), 1.2e-7) << x[i];
    }
  }
}

/// Runs a function in a thread with very little stack: a recursion along a chain would not fit.
void with_little_stack(void (*function)()) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 * 1024), 0);
  pthread_t thread;
  const auto start = [](void* f) -> void* {
    reinterpret_cast<void (*)()>(f)();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, reinterpret_cast<void*>(function)), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  ASSERT_EQ(pthread_attr_destroy(&attributes), 0);
}

TEST(KernelFunctions, LongChainsNeedNoStack) {
  with_little_stack([] {
    Random random(403);
    constexpr int n = 50'000;
    const Model model = random_chain(n, random);
    Dynamics dynamics(model);
    dynamics.set_state(random_configuration(model, 1), Eigen::VectorXd(0.01 * random.vector(n)));
    const Eigen::VectorXd torque = random.vector(n);
    EXPECT_TRUE(dynamics.forward(torque).allFinite());
    EXPECT_TRUE(dynamics.solve(torque).allFinite());
    EXPECT_TRUE(std::isfinite(dynamics.kinetic_energy() + dynamics.log_determinant()));
  });
}

}  // namespace
}  // namespace bunraku::test
