/// φ and its group (RK92 3–5: item K1), cross products, S and Q (JR03 §2.2: part of item S1), against dense matrices.
#include <Eigen/LU>
#include <gtest/gtest.h>

#include "bunraku/spatial/cross.hpp"
#include "bunraku/spatial/eigen.hpp"
#include "support/near.hpp"
#include "support/random.hpp"

namespace bunraku::test {
namespace {

using Matrix6 = EigenMatrix6<double>;

Eigen::Matrix3d tilde(const Eigen::Vector3d& a) {
  Eigen::Matrix3d m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// φ(l) as RK92 (2) prints it.
Matrix6 dense_phi(const Vec3<double>& l) {
  Matrix6 m = Matrix6::Identity();
  m.topRightCorner<3, 3>() = tilde(to_eigen(l));
  return m;
}

/// z̃ as JR03 (2.5) prints it.
Matrix6 dense_cross(const Eigen::Matrix<double, 6, 1>& z) {
  Matrix6 m = Matrix6::Zero();
  m.topLeftCorner<3, 3>() = m.bottomRightCorner<3, 3>() = tilde(z.head<3>());
  m.bottomLeftCorner<3, 3>() = tilde(z.tail<3>());
  return m;
}

/// Q[f] as JR03 (2.8) prints it.
Matrix6 dense_q(const Eigen::Matrix<double, 6, 1>& f) {
  Matrix6 m = Matrix6::Zero();
  m.topLeftCorner<3, 3>() = tilde(f.head<3>());
  m.topRightCorner<3, 3>() = m.bottomLeftCorner<3, 3>() = tilde(f.tail<3>());
  return m;
}

constexpr double tight = 1e-14;

class PhiTest : public testing::Test {
 protected:
  Random random{1};
  Vec3<double> l = random.vec3();
  Vec3<double> k = random.vec3();
  Motion<double> a = random.motion();
  Motion<double> b = random.motion();
  Force<double> f = random.force();
};

TEST_F(PhiTest, ActsAsItsMatrix) {
  EXPECT_TRUE(is_near(to_eigen(Phi(l).matrix()), dense_phi(l), tight));
  EXPECT_TRUE(is_near(to_eigen(Phi(l) * f), dense_phi(l) * to_eigen(f), tight));
  EXPECT_TRUE(is_near(to_eigen(Phi(l).adjoint() * a), dense_phi(l).transpose() * to_eigen(a), tight));
  EXPECT_TRUE(is_near(to_eigen(Phi(l).adjoint().matrix()), Matrix6(dense_phi(l).transpose()), tight));
}

TEST_F(PhiTest, K1GroupProperties) {
  EXPECT_TRUE(is_near(to_eigen(Phi(Vec3<double>::zero()).matrix()), Matrix6(Matrix6::Identity()), 0));
  EXPECT_TRUE(is_near(to_eigen((Phi(l) * Phi(k)).matrix()), dense_phi(l) * dense_phi(k), tight));
  EXPECT_TRUE(is_near(to_eigen(Phi(l).inverse().matrix()), Matrix6(dense_phi(l).inverse()), tight));
  EXPECT_TRUE(is_near(to_eigen((Phi(l).adjoint() * Phi(k).adjoint()).matrix()),
                      (dense_phi(k) * dense_phi(l)).transpose(), tight));
  EXPECT_TRUE(is_near(to_eigen(Phi(l).adjoint().inverse() * (Phi(l).adjoint() * a)), to_eigen(a), tight));
  EXPECT_EQ(Phi(l).adjoint().adjoint().l(), l);
}

TEST_F(PhiTest, AdjointPreservesPower) {
  EXPECT_NEAR(dot(Phi(l).adjoint() * a, f), dot(a, Phi(l) * f), tight);
}

TEST_F(PhiTest, CrossProductIsSkewThoughItsMatrixIsNot) {  // JR03 (2.6)
  EXPECT_TRUE(is_near(to_eigen(cross_matrix(a)), dense_cross(to_eigen(a)), tight));
  EXPECT_TRUE(is_near(to_eigen(cross(a, b)), dense_cross(to_eigen(a)) * to_eigen(b), tight));
  EXPECT_TRUE(is_near(cross(a, a), Motion<double>::zero(), tight));
  EXPECT_TRUE(is_near(cross(a, b), -cross(b, a), tight));
  EXPECT_FALSE(is_near(dense_cross(to_eigen(a)), Matrix6(-dense_cross(to_eigen(a)).transpose()), 0.01));
}

TEST_F(PhiTest, CrossProductObeysJacobi) {
  const Motion<double> c = random.motion();
  EXPECT_TRUE(
      is_near(cross(a, cross(b, c)) + cross(b, cross(c, a)) + cross(c, cross(a, b)), Motion<double>::zero(), tight));
}

TEST_F(PhiTest, SIsMinusTheAdjointOfTheCrossProduct) {  // JR03 (2.7)
  EXPECT_TRUE(is_near(to_eigen(s_matrix(a)), Matrix6(-dense_cross(to_eigen(a)).transpose()), tight));
  EXPECT_TRUE(is_near(to_eigen(cross(a, f)), -dense_cross(to_eigen(a)).transpose() * to_eigen(f), tight));
}

TEST_F(PhiTest, QExchangesTheArguments) {  // JR03 (2.8), (2.9)
  const Matrix6 q = to_eigen(q_matrix(f));
  EXPECT_TRUE(is_near(q, dense_q(to_eigen(f)), tight));
  EXPECT_TRUE(is_near(q, Matrix6(-q.transpose()), tight));
  EXPECT_TRUE(is_near(dense_cross(to_eigen(a)).transpose() * to_eigen(f), q * to_eigen(a), tight));
  EXPECT_TRUE(is_near(to_eigen(cross(a, f)), -q * to_eigen(a), tight));
}

TEST_F(PhiTest, Lemma23PhiCarriesCrossProducts) {  // JR03 (2.10), all four lines
  const Matrix6 p = dense_phi(l);
  const Motion<double> moved = Phi(l).adjoint() * a;
  EXPECT_TRUE(is_near(to_eigen(q_matrix(Phi(l) * f)), p * dense_q(to_eigen(f)) * p.transpose(), tight));
  EXPECT_TRUE(is_near(to_eigen(s_matrix(moved)), p.inverse() * to_eigen(s_matrix(a)) * p, tight));
  EXPECT_TRUE(is_near(to_eigen(cross_matrix(moved)),
                      p.transpose() * to_eigen(cross_matrix(a)) * p.transpose().inverse(), tight));
  EXPECT_TRUE(is_near(to_eigen(cross_matrix(moved)) * p.transpose(), p.transpose() * to_eigen(cross_matrix(a)), tight));
}

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept Subtractable = requires(A a, B b) { a - b; };
template <class A, class B>
concept Multipliable = requires(A a, B b) { a * b; };

TEST(SpatialTypes, MotionsAndForcesDoNotMix) {
  static_assert(Addable<Motion<double>, Motion<double>>);
  static_assert(Addable<Force<double>, Force<double>>);
  static_assert(!Addable<Motion<double>, Force<double>>);
  static_assert(!Addable<Force<double>, Motion<double>>);
  static_assert(!Subtractable<Motion<double>, Force<double>>);
  static_assert(Multipliable<Phi<double>, Force<double>>);
  static_assert(!Multipliable<Phi<double>, Motion<double>>);
  static_assert(Multipliable<PhiAdjoint<double>, Motion<double>>);
  static_assert(!Multipliable<PhiAdjoint<double>, Force<double>>);
  static_assert(Multipliable<RigidInertia<double>, Motion<double>>);
  static_assert(!Multipliable<RigidInertia<double>, Force<double>>);
  static_assert(!std::is_convertible_v<Motion<double>, Force<double>>);
  SUCCEED() << "checked when compiled";
}

TEST(SpatialTypes, LayoutIsPlain) {
  static_assert(sizeof(Motion<double>) == 6 * sizeof(double) && alignof(Motion<double>) == alignof(double));
  static_assert(sizeof(Transform<double>) == 12 * sizeof(double));
  static_assert(sizeof(RigidInertia<double>) == 10 * sizeof(double));
  static_assert(sizeof(ArticulatedInertia<double>) == 21 * sizeof(double));
  static_assert(sizeof(ArticulatedInertia<float>) == 21 * sizeof(float));
  static_assert(std::is_trivially_copyable_v<Transform<double>>);
  SUCCEED() << "checked when compiled";
}

}  // namespace
}  // namespace bunraku::test
