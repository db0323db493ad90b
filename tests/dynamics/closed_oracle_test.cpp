/// Closed forward dynamics against numbers of Pinocchio's.
///
/// Those are of Pinocchio 4.1.0 (the package `pin` of PyPI): constraintDynamics with
/// RigidConstraintModel(CONTACT_3D, …, LOCAL) for each closure, ProximalSettings(1e-14, 1e-14, mu, 60), mu = 1e-10 for
/// the planar mechanisms, whose revolute closures it is told as points, and no iteration for the platform. Its models
/// were built body by body as support/mechanisms.cpp does; q closes the loops and v fits to 3e-16. Between mu = 1e-6
/// and 1e-10 its accelerations differ by 6e-14, its forces by 2e-15. Its contact_force is what b exerts on a, in a's
/// axes.
#include <gtest/gtest.h>

#include "bunraku/bunraku.hpp"
#include "support/mechanisms.hpp"

namespace bunraku::test {
namespace {

struct Expected {
  std::vector<double> q, v, torque, acceleration;
  std::vector<Vec3<double>> forces;  // of each closure
};

void expect_as_pinocchio(const Model& model, const Expected& expected) {
  ClosedSystem system(model);
  system.set(std::span(expected.q), std::span(expected.v));
  const VectorX<double> acceleration = closed_forward_dynamics<double>(system, std::span(expected.torque));
  const double largest = acceleration.cwiseAbs().maxCoeff();
  for (std::size_t i = 0; i < expected.acceleration.size(); ++i) {
    EXPECT_NEAR(acceleration(static_cast<Eigen::Index>(i)), expected.acceleration[i], 1e-10 * largest) << i;
  }
  ASSERT_EQ(static_cast<std::size_t>(system.closures()), expected.forces.size());
  for (int i = 0; i < system.closures(); ++i) {
    const Force<double> wrench = closure_wrench(system, i);
    const Vec3<double>& force = expected.forces[static_cast<std::size_t>(i)];
    const double size = norm(force);
    EXPECT_LE(norm(wrench.force - force), 1e-10 * size) << i;
    EXPECT_LE(norm(wrench.moment), 1e-10 * size) << i;  // of revolute closures: the least of those that do the same
  }
}

TEST(ClosedOracle, FourBar) {
  expect_as_pinocchio(four_bar(), {.q = {-0.002930446846219152, 0.0033989951670622166, -0.001654796016751461},
                                   .v = {0.17833306480635613, -0.2069305286601776, 0.10060886488730132},
                                   .torque = {-0.915, -4.547, -4.512},
                                   .acceleration = {14.877824992127827, -17.253411219975014, 8.405000934493568},
                                   .forces = {{14.851238785902874, 19.7540270778535, 0}}});
}

TEST(ClosedOracle, StewartPlatform) {
  expect_as_pinocchio(
      stewart_platform(),
      {.q = {0.999918934915924,    -0.0026775543909153218, -0.012117645881719335, -0.0028490274433436973,
             0.041213377209686035, -0.017683077051053278,  -0.03088716863294747,  0.03544560517234667,
             -0.02396101202141905, -0.033953245124400344,  0.007034649704395319,  -0.03815179983042259,
             -0.04211546338203292, 0.018675442611887104,   0.06061081080282587,   -0.008298047771786613,
             0.043779719942832376, 0.04553671056301713,    -0.02449232393046345,  -0.051760410099758805,
             0.0119419536332688,   -0.036663129889740076,  -0.0468002291711776,   0.029912827026063727,
             -0.016646881117368003},
       .v = {0.4753781361002207,  0.8619105346766429,   -0.38141274698177224, 0.3654625814919246,  0.11294935255586497,
             0.01660861999228973, 0.09336139438509085,  -0.15805708668678178, -0.3837451925143807, -0.1794847481265574,
             -0.4614835130798367, -0.22104593873472372, 0.44657057226901165,  0.2601405823910083,  0.24271456917613712,
             0.49875584521545785, -0.3435683171508225,  0.27403822758459717,  -0.2918558414440548, 0.20037343754362874,
             0.3919310023881133,  -0.1363579239238071,  0.35027539841258043,  -0.09539133720218634},
       .torque = {3.449, -1.321, 4.51,   -4.855, 4.332,  -4.142, -1.006, 4.364,  0.562, -2.599, 2.414,  1.744,
                  1.842, -0.362, -2.781, 1.409,  -3.929, 1.922,  1.354,  -1.235, 2.985, -3.06,  -1.095, 2.979},
       .acceleration = {6.037365072497835,   2.7870568312444073,  6.474236205603169,    -1.5267659157613729,
                        1.7306266684538851,  -9.588146684449208,  -3.1258113598629143,  4.102960172010574,
                        -11.608799777600618, -2.6137674939277895, 8.032691272169739,    -7.011863294500061,
                        -0.9450435900273103, 0.2344344504409907,  -8.95275882848653,    -1.8765397407388889,
                        5.089590928762766,   -7.060066997205061,  0.010798001568063844, 3.514115628045435,
                        -8.746040453133304,  0.7362875367440123,  8.391604510114128,    -9.872680049130725},
       .forces = {{6.528114326821164, 2.172989168102867, 0.45651037111011883},
                  {1.8575931257871185, -2.8670047981650275, 0.7562709797287818},
                  {-2.8307680776866215, -0.7835516895800099, 3.4176407178844794},
                  {-1.8625480533240544, -2.999138115125541, -2.046117867614071},
                  {1.0175534935034767, -1.6767715971847483, -2.5663541680560473},
                  {-3.1876069326640835, 2.71813286759299, -3.896674015992459}}});
}

TEST(ClosedOracle, Planar3rrr) {
  expect_as_pinocchio(
      planar_3rrr(),
      {.q = {0.010456581048577943, 0.01728279994172752, 0.008806563852984884, 0.02662117656429827, -0.0639250457479775,
             -0.05356963225478221, 0.02222233134005257},
       .v = {0.14794438802320362, -0.30640490765457057, 1.0289098313878378, -0.14588021679862287, -0.4263182784076571,
             -0.3858272091519597, 0.15821808016260788},
       .torque = {3.977, 3.442, -1.076, -0.07, 1.767, -4.392, 0.556},
       .acceleration = {52.06629938101234, 41.99372326972014, -262.4143800271686, 43.98754608466979,
                        -10.564534206212343, -16.7831463828106, 70.12309277460857},
       .forces = {{10.487349514146446, -8.152791202294932, 0}, {-3.6058027841102227, 14.061008881816194, 0}}});
}

}  // namespace
}  // namespace bunraku::test
