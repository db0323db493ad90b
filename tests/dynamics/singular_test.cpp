/// Hinges that move nothing that has mass are refused by name; hinges that carry far more than their own mass are not.
#include <Eigen/Dense>
#include <gmock/gmock.h>

#include "bunraku/bunraku.hpp"
#include "support/dynamics_of.hpp"
#include "support/long_reference.hpp"
#include "support/random_model.hpp"
#include "support/traps.hpp"

namespace bunraku::test {
namespace {

using testing::HasSubstr;

/// A body on `parent` with a ball of that mass, its centre off the hinge; zero: nothing.
BodySpec on(const std::string& name, const std::string& parent, HingeType type, double mass) {
  BodySpec out;
  out.name = name;
  out.parent = parent;
  out.hinge.name = "h_" + name;
  out.hinge.type = type;
  out.X_PF.translation = {0.1, -0.2, 0.3};
  out.inertia = mass == 0 ? RigidInertia<double>::zero()
                          : RigidInertia<double>::about_center(mass, {0.05, 0.1, -0.1},
                                                               {0.02 * mass, 0.02 * mass, 0.02 * mass, 0, 0, 0});
  return out;
}

/// What every call says that needs 𝓜⁻¹.
template <class T>
std::vector<std::string> complaints(const Model& model, const Eigen::VectorXd& q) {
  std::vector<std::string> out;
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
  for (const Inverting call : all_inverting) {
    try {
      run_inverting<T>(model, q, zero, call);
      out.emplace_back("accepted");
    } catch (const Error& error) {
      out.emplace_back(error.what());
    }
  }
  return out;
}

template <class T>
void expect_refused(const Model& model, const Eigen::VectorXd& q, const std::string& hinge) {
  const Traps traps;
  for (const std::string& each : complaints<T>(model, q)) {
    EXPECT_THAT(each, HasSubstr("hinge '" + hinge + "'"));
    EXPECT_THAT(each, HasSubstr("moves nothing that has mass"));
  }
}

TEST(Singular, NamesTheMasslessTipOfAChain) {
  for (const HingeType type : {HingeType::revolute, HingeType::prismatic, HingeType::helical, HingeType::universal,
                               HingeType::planar, HingeType::spherical, HingeType::free}) {
    ModelBuilder builder("chain");
    for (int k = 0; k < 5; ++k) {
      const std::string parent = k == 0 ? "world" : "b" + std::to_string(k - 1);
      BodySpec body = on("b" + std::to_string(k), parent, k == 4 ? type : HingeType::revolute, k == 4 ? 0 : 1);
      body.hinge.axis = k % 2 == 0 ? Vec3<double>{1, 0, 0} : Vec3<double>{0, 1, 0};
      body.hinge.axis2 = {0, 0, 1};
      builder.add(body);
    }
    const Model model = builder.build();
    expect_refused<double>(model, random_configuration(model, 1), "h_b4");
    expect_refused<float>(model, random_configuration(model, 1), "h_b4");
  }
}

/// A massless ring turns about the axis of the shaft that it carries, which points anywhere.
TEST(Singular, RefusesAMasslessRingOnAShaft) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Vec3<double> axis = random.unit();
    ModelBuilder builder("ring");
    builder.add(on("beam", "world", HingeType::revolute, 1));
    BodySpec ring = on("ring", "beam", HingeType::revolute, 0);
    BodySpec shaft = on("shaft", "ring", HingeType::revolute, 3);
    ring.hinge.axis = shaft.hinge.axis = axis;
    shaft.X_PF.translation = axis * 0.7;
    builder.add(ring);
    builder.add(shaft);
    const Model model = builder.build();
    expect_refused<double>(model, random_configuration(model, seed), "h_ring");
    expect_refused<float>(model, random_configuration(model, seed), "h_ring");
  }
}

/// Four turns about one point, three of them of massless rings: the innermost is left with nothing but rounding, which
/// none of its neighbours in P gives away.
TEST(Singular, RefusesAFourthTurnAboutOnePoint) {
  const std::array<Vec3<double>, 4> axes = {{{0.48, 0.6, 0.64}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}}};
  for (unsigned seed = 1; seed <= 20; ++seed) {
    ModelBuilder builder("wrist");
    std::string parent = "world";
    for (std::size_t k = 0; k < axes.size(); ++k) {
      BodySpec body = on("b" + std::to_string(k), parent, HingeType::revolute, k == 3 ? 2 : 0);
      body.hinge.axis = axes[k];
      if (k > 0) {
        body.X_PF.translation = Vec3<double>::zero();
      }
      builder.add(body);
      parent = body.name;
    }
    const Model model = builder.build();
    Random random(seed);
    expect_refused<double>(model, random.vector(4, 0.5), "h_b0");
  }
}

/// A rod without thickness on a ball joint: of three pivots, in whatever order, one is rounding.
TEST(Singular, RefusesARodWithoutThickness) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    // from along an axis of the ball joint, where its pivot is poor, to anywhere
    const Vec3<double> rod =
        normalized(Vec3<double>{std::pow(10.0, -0.1 * static_cast<double>(seed)) * random.uniform(), 0.0, 1.0});
    BodySpec body = on("rod", "world", HingeType::spherical, 0);
    body.inertia = {1.0, Vec3<double>::zero(), point_inertia(rod)};
    ModelBuilder builder("rod");
    builder.add(body);
    const Model model = builder.build();
    expect_refused<double>(model, random_configuration(model, seed), "h_rod");
  }
}

/// A light body between the world and 3e10 times its own mass, on hinges of one axis and of several.
TEST(Singular, AcceptsAHingeThatCarriesFarMoreThanItsOwnMass) {
  const std::array types = {HingeType::revolute, HingeType::prismatic,   HingeType::universal,
                            HingeType::planar,   HingeType::spherical,   HingeType::translational,
                            HingeType::free,     HingeType::cylindrical, HingeType::helical};
  for (const HingeType inner : types) {
    for (const HingeType outer : types) {
      ModelBuilder builder("heavy");
      BodySpec light = on("light", "world", inner, 1);
      BodySpec heavy = on("heavy", "light", outer, 3e10);
      light.hinge.axis2 = heavy.hinge.axis2 = {0, 1, 0};
      heavy.hinge.axis = {1, 0, 0};
      light.hinge.pitch = heavy.hinge.pitch = 0.1;
      builder.add(light);
      builder.add(heavy);
      const Model model = builder.build();
      const Eigen::VectorXd q = random_configuration(model, 7);
      const LongReference reference(model, q);
      const Eigen::VectorXd tau = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1);
      for (const Inverting call : {Inverting::forward, Inverting::fd4, Inverting::hybrid}) {
        const Eigen::VectorXd a = run_inverting<double>(model, q, tau, call);
        EXPECT_LT(reference.forward_error(tau, a), 1e-3) << to_string(inner) << " – " << to_string(outer);
      }
    }
  }
}

/// In single precision, too: a light base under a linkage.
TEST(Singular, AcceptsALightFreeBaseInFloat) {
  ModelBuilder builder("linkage");
  BodySpec base = on("base", "world", HingeType::free, 0);
  base.inertia = RigidInertia<double>::about_center(0.02, {0, 0, 0.01}, {4e-6, 4e-6, 4e-6, 0, 0, 0});
  builder.add(base);
  for (int k = 0; k < 4; ++k) {
    BodySpec bar =
        on("bar" + std::to_string(k), k < 2 ? "base" : "bar" + std::to_string(k - 2), HingeType::revolute, 1);
    bar.X_PF.translation = {k % 2 == 0 ? 0.05 : -0.05, 0, k < 2 ? 0.0 : 0.4};
    builder.add(bar);
  }
  const Model model = builder.build();
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Eigen::VectorXd q = random_configuration(model, seed);
    const LongReference reference(model, q);
    const Eigen::VectorXd tau = Eigen::VectorXd::LinSpaced(model.nv(), -1, 1);
    const Eigen::VectorXd a = run_inverting<float>(model, q, tau, Inverting::forward);
    EXPECT_LT(reference.forward_error(tau, a), 0.02);
  }
}

}  // namespace
}  // namespace bunraku::test
