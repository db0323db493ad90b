/// Rigid and articulated inertia, against clouds of point masses and dense 6×6 algebra.
#include <vector>

#include <Eigen/LU>
#include <gtest/gtest.h>

#include "bunraku/spatial/eigen.hpp"
#include "support/near.hpp"
#include "support/random.hpp"

namespace bunraku::test {
namespace {

using Matrix6 = EigenMatrix6<double>;

Matrix6 dense_transform(const Transform<double>& x) {  // φ(p) diag(R, R), which moves forces
  Matrix6 r = Matrix6::Zero();
  r.topLeftCorner<3, 3>() = r.bottomRightCorner<3, 3>() = to_eigen(x.rotation);
  return to_eigen(Phi(x.translation).matrix()) * r;
}

ArticulatedInertia<double> random_articulated(Random& random) {
  ArticulatedInertia<double> p = ArticulatedInertia<double>::from_rigid(random.inertia());
  for (int i = 0; i < 3; ++i) {
    p += scaled_outer(random.force(), random.uniform(0, 1));
  }
  return p;
}

TEST(RigidInertia, IsTheSumOverItsPoints) {
  Random random(20);
  const Motion<double> v = random.motion();
  RigidInertia<double> sum = RigidInertia<double>::zero();
  Force<double> momentum = Force<double>::zero();
  double energy = 0;
  for (int i = 0; i < 10; ++i) {
    const double m = random.uniform(0.1, 2);
    const Vec3<double> p = random.vec3();
    const Vec3<double> velocity = v.linear + cross(v.angular, p);
    sum += RigidInertia<double>{m, p * m, point_inertia(p) * m};
    momentum += Force<double>{cross(p, velocity * m), velocity * m};
    energy += 0.5 * m * squared_norm(velocity);
  }
  EXPECT_TRUE(is_near(sum * v, momentum, 1e-14));
  EXPECT_NEAR(0.5 * dot(sum * v, v), energy, 1e-13);
  EXPECT_TRUE(is_near(to_eigen(sum.matrix()) * to_eigen(v), to_eigen(momentum), 1e-14));
  EXPECT_TRUE(is_near(to_eigen(sum.matrix()), Matrix6(to_eigen(sum.matrix()).transpose()), 0));
}

TEST(RigidInertia, CenterAndCentralInertiaComeBack) {
  Random random(21);
  const RigidInertia<double> m = random.inertia();
  const RigidInertia<double> again = RigidInertia<double>::about_center(m.mass, m.center(), m.central());
  EXPECT_TRUE(is_near(to_eigen(again.matrix()), to_eigen(m.matrix()), 1e-14));
  EXPECT_EQ(RigidInertia<double>::zero().center(), Vec3<double>::zero());
}

TEST(RigidInertia, ShiftsAndTurnsAsItsMatrix) {
  Random random(22);
  const RigidInertia<double> m = random.inertia();
  const Transform<double> x = random.transform();
  const Matrix6 p = to_eigen(Phi(x.translation).matrix());
  EXPECT_TRUE(is_near(to_eigen(shifted(m, x.translation).matrix()), p * to_eigen(m.matrix()) * p.transpose(), 1e-14));
  const Matrix6 d = dense_transform(x);
  EXPECT_TRUE(is_near(to_eigen((x * m).matrix()), d * to_eigen(m.matrix()) * d.transpose(), 1e-14));
}

TEST(RigidInertia, CompositeOfTwoBodiesIsThatOfAllTheirPoints) {
  Random random(23);
  const Transform<double> x = random.transform();
  RigidInertia<double> a = RigidInertia<double>::zero();
  RigidInertia<double> b = RigidInertia<double>::zero();
  RigidInertia<double> all = RigidInertia<double>::zero();
  for (int i = 0; i < 8; ++i) {
    const double m = random.uniform(0.1, 2);
    const Vec3<double> p = random.vec3();
    (i % 2 == 0 ? a : b) += RigidInertia<double>{m, p * m, point_inertia(p) * m};
    const Vec3<double> in_a = i % 2 == 0 ? p : x * p;
    all += RigidInertia<double>{m, in_a * m, point_inertia(in_a) * m};
  }
  EXPECT_TRUE(is_near(to_eigen((a + x * b).matrix()), to_eigen(all.matrix()), 1e-13));
}

TEST(ArticulatedInertia, ActsShiftsAndTurnsAsItsMatrix) {
  Random random(24);
  const ArticulatedInertia<double> p = random_articulated(random);
  const Matrix6 dense = to_eigen(p.matrix());
  const Motion<double> v = random.motion();
  const Transform<double> x = random.transform();
  EXPECT_TRUE(is_near(dense, Matrix6(dense.transpose()), 0));
  EXPECT_TRUE(is_near(to_eigen(p * v), dense * to_eigen(v), 1e-14));
  const Matrix6 shift = to_eigen(Phi(x.translation).matrix());
  EXPECT_TRUE(is_near(to_eigen(shifted(p, x.translation).matrix()), shift * dense * shift.transpose(), 1e-14));
  const Matrix6 d = dense_transform(x);
  EXPECT_TRUE(is_near(to_eigen((x * p).matrix()), d * dense * d.transpose(), 1e-14));
}

TEST(ArticulatedInertia, OfARigidBodyIsThatBody) {
  Random random(25);
  const RigidInertia<double> m = random.inertia();
  EXPECT_TRUE(is_near(to_eigen(ArticulatedInertia<double>::from_rigid(m).matrix()), to_eigen(m.matrix()), 0));
}

TEST(ArticulatedInertia, OneFreedomTakenOutLeavesItWithoutInertia) {
  Random random(26);
  const ArticulatedInertia<double> p = random_articulated(random);
  const Motion<double> h = random.motion();
  const Force<double> ph = p * h;
  const ArticulatedInertia<double> rest = p - scaled_outer(ph, 1 / dot(h, ph));
  EXPECT_TRUE(is_near(rest * h, Force<double>::zero(), 1e-14));
  const Matrix6 expected = to_eigen(p.matrix()) - to_eigen(ph) * to_eigen(ph).transpose() / dot(h, ph);
  EXPECT_TRUE(is_near(to_eigen(rest.matrix()), expected, 1e-14));
}

TEST(SmallMatrices, AgreeWithEigen) {
  Random random(27);
  const Mat3<double> a = Mat3<double>::from_columns(random.vec3(), random.vec3(), random.vec3());
  const Mat3<double> b = Mat3<double>::from_columns(random.vec3(), random.vec3(), random.vec3());
  const Vec3<double> v = random.vec3();
  EXPECT_TRUE(is_near(to_eigen(a * b), to_eigen(a) * to_eigen(b), 1e-15));
  EXPECT_TRUE(is_near(to_eigen(a * v), to_eigen(a) * to_eigen(v), 1e-15));
  EXPECT_TRUE(is_near(to_eigen(transpose_times(a, v)), to_eigen(a).transpose() * to_eigen(v), 1e-15));
  EXPECT_TRUE(is_near(to_eigen(outer(v, a.column(0))), to_eigen(v) * to_eigen(a.column(0)).transpose(), 1e-15));
  EXPECT_NEAR(determinant(a), to_eigen(a).determinant(), 1e-15);
  const Sym3<double> s = Sym3<double>::symmetric_part(b);
  EXPECT_TRUE(is_near(to_eigen(s), Eigen::Matrix3d((to_eigen(b) + to_eigen(b).transpose()) / 2), 1e-15));
  EXPECT_TRUE(is_near(to_eigen(congruence(a, s)), to_eigen(a) * to_eigen(s) * to_eigen(a).transpose(), 1e-14));
  EXPECT_TRUE(is_near(to_eigen(s * v), to_eigen(s) * to_eigen(v), 1e-15));
  EXPECT_TRUE(is_near(to_eigen(point_inertia(v)), Eigen::Matrix3d(-to_eigen(skew(v)) * to_eigen(skew(v))), 1e-15));
  EXPECT_NEAR(norm(normalized(Vec3<double>{1e-200, 1e-200, 0})), 1, 1e-15);
}

}  // namespace
}  // namespace bunraku::test
