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
#include "bunraku/kernels/sincos.hpp"
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
    State dynamics(model, PassiveForces::left_out);
    dynamics.set(q, v);
    const DenseReference reference(model, q);
    const Eigen::MatrixXd mass = reference.mass();
    const Eigen::MatrixXd inverse = inverse_of(mass);
    const Eigen::VectorXd expected_bias = reference.bias(v);
    const double condition = mass.norm() * inverse.norm();
    EXPECT_TRUE(is_near(mass_matrix(dynamics), mass, 1e-13));
    EXPECT_TRUE(is_near(bias(dynamics), expected_bias, 1e-9)) << "as far as differences allow";
    EXPECT_TRUE(is_near(inverse_dynamics(dynamics, a), mass * a + bias(dynamics), 1e-12));
    EXPECT_TRUE(is_near(inverse_mass_matrix(dynamics), inverse, 1e-14 * condition));
    EXPECT_TRUE(is_near(inverse_mass_times(dynamics, a), inverse * a, 1e-14 * condition));
    EXPECT_TRUE(is_near(forward_dynamics(dynamics, a), inverse * (a - bias(dynamics)), 1e-14 * condition));
    EXPECT_NEAR(log_det_mass(dynamics), log_determinant_of(mass), 1e-11 * model.nv());
  }
}

TEST_P(Kernels, AgreeInSinglePrecision) {
  Random random(401);
  const Model model = make(GetParam(), random);
  const Eigen::VectorXd q = random_configuration(model, 1);
  const Eigen::VectorXd v = random.vector(model.nv());
  const Eigen::VectorXd a = random.vector(model.nv());
  State exact(model);
  exact.set(q, v);
  BasicState<float> dynamics(model);
  dynamics.set(Eigen::VectorXf(q.cast<float>()), Eigen::VectorXf(v.cast<float>()));
  const Eigen::VectorXf x = a.cast<float>();
  const double condition = mass_matrix(exact).norm() * inverse_mass_matrix(exact).norm();
  EXPECT_TRUE(is_near(Eigen::VectorXd(inverse_dynamics(dynamics, x).cast<double>()), inverse_dynamics(exact, a), 1e-5));
  EXPECT_TRUE(is_near(Eigen::MatrixXd(mass_matrix(dynamics).cast<double>()), mass_matrix(exact), 1e-5));
  EXPECT_TRUE(is_near(Eigen::MatrixXd(inverse_mass_matrix(dynamics).cast<double>()), inverse_mass_matrix(exact),
                      1e-6 * condition));
  EXPECT_TRUE(is_near(Eigen::VectorXd(inverse_mass_times(dynamics, x).cast<double>()), inverse_mass_times(exact, a),
                      1e-6 * condition));
  EXPECT_TRUE(is_near(Eigen::VectorXd(forward_dynamics(dynamics, x).cast<double>()), forward_dynamics(exact, a),
                      1e-6 * condition));
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
      State dynamics(model);
      const Eigen::VectorXd q = random_configuration(model, static_cast<unsigned>(sample));
      dynamics.set(q, Eigen::VectorXd(Eigen::VectorXd::Zero(model.nv())));
      const Eigen::VectorXd torque = random.vector(model.nv());
      EXPECT_THROW(static_cast<void>(forward_dynamics(dynamics, torque)), Error) << model.nv();
      EXPECT_THROW(static_cast<void>(inverse_mass_matrix(dynamics)), Error);
      EXPECT_THROW(static_cast<void>(forward_dynamics_by(ForwardAlgorithm::fd1, dynamics, torque)), Error);
      EXPECT_THROW(static_cast<void>(mass_root_times(dynamics, torque)), Error);
      EXPECT_TRUE(inverse_dynamics(dynamics, torque).allFinite());
    }
  }
}

TEST(KernelFunctions, SmallInertiaOfAHeavyBodyIsMass) {
  const RigidInertia<double> heavy =
      RigidInertia<double>::about_center(10, {0, 0, 0}, Sym3<double>::diagonal(1e-6, 1e-6, 1e-6));
  BodySpec body{.name = "a", .inertia = heavy};
  body.hinge.type = HingeType::free;
  BasicState<float> dynamics(ModelBuilder().add(body).build(), PassiveForces::left_out);
  const Eigen::VectorXf torque = Eigen::VectorXf::Constant(6, 1e-6F);
  EXPECT_NEAR(forward_dynamics(dynamics, torque)[0], 1, 1e-5);
  EXPECT_NEAR(forward_dynamics_by(ForwardAlgorithm::fd4, dynamics, torque)[0], 1, 1e-5);
}

TEST(KernelFunctions, DeepChainsHaveAnInverseToo) {  // beyond the depth at which its algorithm changes
  Random random(406);
  for (const int n : {47, 48, 49, 50, 70}) {
    const Model model = make({"chain", HingeType::revolute, 0.1, 0.5, 0, false, true, n}, random);
    State dynamics(model);
    dynamics.set(random_configuration(model, 1), Eigen::VectorXd(Eigen::VectorXd::Zero(n)));
    const Eigen::MatrixXd mass = mass_matrix(dynamics);
    const Eigen::MatrixXd inverse = inverse_mass_matrix(dynamics);
    EXPECT_TRUE(is_near(mass * inverse, Eigen::MatrixXd(Eigen::MatrixXd::Identity(n, n)),
                        1e-15 * mass.norm() * inverse.norm()));
  }
}

TEST(KernelFunctions, LargeAnglesLoseNoMoreThanTheirOwnDigits) {
  Random random(407);
  const Model model = make({"chain", HingeType::revolute, 0, 0, 0, false, false, 6}, random);
  Eigen::VectorXd q = random.vector(6, 1e9);
  State dynamics(model);
  dynamics.set(q, Eigen::VectorXd(Eigen::VectorXd::Zero(6)));
  EXPECT_TRUE(is_near(mass_matrix(dynamics), DenseReference(model, q).mass(), 1e-13));
}

TEST(KernelFunctions, ArgumentsOfTheWrongShapeOrPlaceAreRefused) {
  Random random(408);
  const Model model = make({"chain", HingeType::revolute, 0, 0, 0, false, false, 4}, random);
  State dynamics(model);
  EXPECT_THROW(static_cast<void>(inverse_mass_times(dynamics, Eigen::MatrixXd::Zero(6, 4))), ArgumentError);
  EXPECT_EQ(inverse_mass_times(dynamics, Eigen::MatrixXd::Zero(4, 0)).cols(), 0);
  Node node = model.node("b3");
  node.X_BN.translation.y = std::numeric_limits<double>::infinity();
  const std::array nodes = {node};
  EXPECT_THROW(static_cast<void>(lambda_inverse(dynamics, nodes)), ArgumentError);
  const std::array forces = {AppliedForce<double>(node, Force<double>::zero(), Frame::node)};
  EXPECT_THROW(static_cast<void>(forward_dynamics(dynamics, Eigen::VectorXd::Zero(4), forces)), ArgumentError);
  node.X_BN.translation = {1e308, 1e308, 0};
  EXPECT_NO_THROW(static_cast<void>(jacobian_bias(dynamics, node, Frame::aligned)));
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
    State dynamics(model);
    dynamics.set(q, Eigen::VectorXd(Eigen::VectorXd::Zero(5)));
    const DenseReference reference(model, q);
    ASSERT_TRUE(is_near(mass_matrix(dynamics), reference.mass(), 1e-13)) << tilt;
    ASSERT_TRUE(is_near(gravity_torques(dynamics), reference.bias(Eigen::VectorXd(Eigen::VectorXd::Zero(5))), 1e-12));
  }
}

TEST(KernelFunctions, SineAndCosineToAnUlp) {
  Random random(402);
  using Doubles = kernels::Pack<double, 2>;
  using Floats = kernels::Pack<float, 4>;
  for (const double range : {1.0, 10.0, 1e3, 1e5, 1e9}) {
    for (int sample = 0; sample < 20'000; ++sample) {
      Doubles x;
      for (int i = 0; i < 2; ++i) {
        x.set(i, random.uniform(-range, range));
      }
      Doubles s;
      Doubles c;
      kernels::sincos(x, s, c);
      for (int i = 0; i < 2; ++i) {
        ASSERT_NEAR(s[i], std::sin(x[i]), 2.5e-16) << x[i];
        ASSERT_NEAR(c[i], std::cos(x[i]), 2.5e-16) << x[i];
      }
    }
  }
  for (int sample = 0; sample < 20'000; ++sample) {
    Floats x;
    for (int i = 0; i < 4; ++i) {
      x.set(i, static_cast<float>(random.uniform(-100, 100)));
    }
    Floats s;
    Floats c;
    kernels::sincos(x, s, c);
    for (int i = 0; i < 4; ++i) {
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
    State dynamics(model);
    dynamics.set(random_configuration(model, 1), Eigen::VectorXd(0.01 * random.vector(n)));
    const Eigen::VectorXd torque = random.vector(n);
    EXPECT_TRUE(forward_dynamics(dynamics, torque).allFinite());
    EXPECT_TRUE(inverse_mass_times(dynamics, torque).allFinite());
    EXPECT_TRUE(std::isfinite(kinetic_energy(dynamics) + log_det_mass(dynamics)));
  });
}

}  // namespace
}  // namespace bunraku::test
