/// Rotations and transforms, against Eigen's geometry and its matrix exponential.
#include <numbers>

#include <Eigen/Geometry>
#include <gtest/gtest.h>
#include <unsupported/Eigen/MatrixFunctions>

#include "bunraku/spatial/eigen.hpp"
#include "support/near.hpp"
#include "support/random.hpp"

namespace bunraku::test {
namespace {

constexpr double pi = std::numbers::pi;

TEST(Rotation, AgreesWithEigen) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const Vec3<double> axis = random.unit();
    const double angle = random.uniform(-2 * pi, 2 * pi);
    const Eigen::AngleAxisd expected(angle, to_eigen(axis));
    EXPECT_TRUE(is_near(to_eigen(Rotation<double>::about(axis, angle)), expected.toRotationMatrix(), 1e-14));
    const Eigen::Quaterniond q(expected);
    const Rotation<double> r(Quaternion<double>{q.w(), q.x(), q.y(), q.z()});
    EXPECT_TRUE(is_near(to_eigen(r), expected.toRotationMatrix(), 1e-14));
    EXPECT_TRUE(is_near(to_eigen(r.inverse()), Eigen::Matrix3d(expected.toRotationMatrix().transpose()), 1e-14));
    const Vec3<double> v = random.vec3();
    EXPECT_TRUE(is_near(to_eigen(r.inverse_times(v)), expected.toRotationMatrix().transpose() * to_eigen(v), 1e-14));
  }
}

TEST(Rotation, IsExactAboutCoordinateAxes) {
  const Rotation<double> r = Rotation<double>::about_z(0.3);
  EXPECT_EQ(r(2, 2), 1.0);
  EXPECT_EQ(r(0, 2), 0.0);
  EXPECT_EQ(r(2, 1), 0.0);
  EXPECT_EQ(Rotation<double>::from_rpy(0, 0, 0), Rotation<double>::identity());
}

TEST(Rotation, RollPitchYawIsAboutFixedAxes) {
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const double r = random.uniform(-pi, pi);
    const double p = random.uniform(-1.5, 1.5);
    const double y = random.uniform(-pi, pi);
    const Eigen::Matrix3d expected =
        (Eigen::AngleAxisd(y, Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(p, Eigen::Vector3d::UnitY()) *
         Eigen::AngleAxisd(r, Eigen::Vector3d::UnitX()))
            .toRotationMatrix();
    const Rotation<double> ours = Rotation<double>::from_rpy(r, p, y);
    EXPECT_TRUE(is_near(to_eigen(ours), expected, 1e-14));
    EXPECT_TRUE(is_near(to_eigen(ours.rpy()), Eigen::Vector3d(r, p, y), 1e-12));
  }
}

TEST(Rotation, RollPitchYawRoundTripsWhereTheSplitIsNearlyFree) {
  for (const double distance : {0.0, 1e-16, 1e-13, 2e-12, 4.9e-12, 1e-9, 1e-8, 1e-5, 1e-3}) {
    for (const double pitch : {pi / 2 - distance, -pi / 2 + distance}) {
      const Rotation<double> r = Rotation<double>::from_rpy(0.4, pitch, -0.9);
      const Vec3<double> rpy = r.rpy();
      EXPECT_TRUE(is_near(Rotation<double>::from_rpy(rpy.x, rpy.y, rpy.z), r, 1e-15)) << distance;
    }
  }
}

TEST(Rotation, QuaternionRoundTripsEverywhere) {
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    // half turns and their neighbours, where the usual formula divides by zero
    const double angle = i % 2 == 0 ? random.uniform(-pi, pi) : pi - random.uniform(0, 1e-7);
    const Rotation<double> r = Rotation<double>::about(random.unit(), angle);
    EXPECT_TRUE(is_near(Rotation<double>(r.quaternion()), r, 1e-14));
    EXPECT_GE(r.quaternion().w, 0);
  }
  for (const auto& axis : {Vec3<double>::unit_x(), Vec3<double>::unit_y(), Vec3<double>::unit_z()}) {
    const Rotation<double> half = Rotation<double>::about(axis, pi);
    EXPECT_TRUE(is_near(Rotation<double>(half.quaternion()), half, 1e-15));
  }
}

TEST(Rotation, BetweenTakesOneVectorToTheOther) {
  Random random(5);
  for (int i = 0; i < 1000; ++i) {
    const Vec3<double> a = random.unit();
    const double offset = std::pow(10, -random.uniform(0, 16));
    const Vec3<double> b = i % 10 == 0   ? -a
                           : i % 10 == 1 ? a
                           : i % 10 < 5  ? normalized(-a + random.vec3() * offset)
                           : i % 10 < 8  ? normalized(a + random.vec3() * offset)
                                         : random.unit();
    const Rotation<double> r = Rotation<double>::between(a, b);
    EXPECT_TRUE(is_near(r * a, b, 1e-14));
    EXPECT_NEAR(determinant(r.matrix()), 1, 1e-14);
    EXPECT_TRUE(is_near(to_eigen(r * r.inverse()), Eigen::Matrix3d(Eigen::Matrix3d::Identity()), 1e-14));
  }
}

TEST(Rotation, PerpendicularIsAUnitVectorAtRightAngles) {
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    const Vec3<double> a = i == 0 ? -Vec3<double>::unit_z() : random.unit();
    EXPECT_NEAR(dot(a, perpendicular(a)), 0, 1e-14);
    EXPECT_NEAR(norm(perpendicular(a)), 1, 1e-14);
  }
  EXPECT_EQ(perpendicular(Vec3<double>::unit_z()), Vec3<double>::unit_x());
}

TEST(Quaternion, ExponentialAndLogarithmAreInverse) {
  Random random(7);
  for (const double size : {0.0, 1e-300, 1e-20, 1e-9, 1e-4, 0.9e-4, 1e-2, 1.0, 3.0, pi - 1e-9}) {
    const Vec3<double> r = random.unit() * size;
    const Quaternion<double> q = Quaternion<double>::exp(r);
    EXPECT_NEAR(q.norm(), 1, 1e-15);
    EXPECT_LE(norm(q.log() - r), 1e-15 + 4e-16 * size) << size;
    const Quaternion<double> opposite{-q.w, -q.x, -q.y, -q.z};
    EXPECT_LE(norm(opposite.log() - r), 1e-15 + 4e-16 * size) << "the same rotation";
  }
}

TEST(Transform, ExponentialAgreesWithTheMatrixExponential) {
  Random random(8);
  for (const double size : {1e-9, 1e-3, 0.2, 0.3, 1.0, 3.0}) {
    const Motion<double> v{random.unit() * size, random.vec3()};
    Eigen::Matrix4d generator = Eigen::Matrix4d::Zero();
    generator.topLeftCorner<3, 3>() = to_eigen(skew(v.angular));
    generator.topRightCorner<3, 1>() = to_eigen(v.linear);
    const Eigen::Matrix4d expected = generator.exp();
    const Transform<double> ours{Rotation<double>(Quaternion<double>::exp(v.angular)), exponential_translation(v)};
    EXPECT_TRUE(is_near(to_eigen(ours), expected, 1e-14)) << size;
    EXPECT_TRUE(is_near(logarithm_linear(v.angular, ours.translation), v.linear, 2e-14)) << size;
  }
}

TEST(Transform, ComposesAndInvertsAsHomogeneousMatrices) {
  Random random(9);
  const Transform<double> a = random.transform();
  const Transform<double> b = random.transform();
  EXPECT_TRUE(is_near(to_eigen(a * b), to_eigen(a) * to_eigen(b), 1e-14));
  EXPECT_TRUE(is_near(to_eigen(a * a.inverse()), Eigen::Matrix4d(Eigen::Matrix4d::Identity()), 1e-14));
  const Vec3<double> p = random.vec3();
  EXPECT_TRUE(is_near(to_eigen(a * p), (to_eigen(a) * to_eigen(p).homogeneous()).head<3>().eval(), 1e-14));
}

TEST(Transform, MovesMotionsAndForcesSoThatPowerStays) {
  Random random(10);
  const Transform<double> x = random.transform();
  const Motion<double> v = random.motion();
  const Force<double> f = random.force();
  EXPECT_NEAR(dot(x * v, x * f), dot(v, f), 1e-14);
  EXPECT_TRUE(is_near(inverse_times(x, x * v), v, 1e-14));
  EXPECT_TRUE(is_near(inverse_times(x, x * f), f, 1e-14));
  EXPECT_TRUE(is_near(inverse_times(x, v), x.inverse() * v, 1e-14));
  EXPECT_TRUE(is_near(inverse_times(x, f), x.inverse() * f, 1e-14));
  // a pure rotation about B's origin moves A's origin by −ω × p
  const Motion<double> spin{random.vec3(), Vec3<double>::zero()};
  const Motion<double> seen = x * spin;
  const Vec3<double> w = x.rotation * spin.angular;
  EXPECT_TRUE(is_near(seen.linear, cross(w, -x.translation), 1e-14));
}

}  // namespace
}  // namespace bunraku::test
