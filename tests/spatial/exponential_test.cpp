/// exp and log of SO(3) and SE(3) and their Jacobians, against matrix series; text; Eigen's own poses.
#include "bunraku/spatial/exponential.hpp"

#include <numbers>
#include <sstream>

#include <gtest/gtest.h>

#include "bunraku/spatial/eigen.hpp"
#include "bunraku/spatial/stream.hpp"
#include "support/near.hpp"
#include "support/random.hpp"

namespace bunraku::test {
namespace {

constexpr double pi = std::numbers::pi;

/// Σ xⁿ/(n + k)!: the exponential for k = 0, the left Jacobian of ad = x for k = 1.
Eigen::MatrixXd series(const Eigen::MatrixXd& x, int k) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  Eigen::MatrixXd term = Eigen::MatrixXd::Identity(x.rows(), x.cols());
  for (int n = 0; n < 80; ++n) {
    sum += term;
    term = term * x / (n + 1 + k);
  }
  return sum;
}

Eigen::Matrix4d homogeneous(const Motion<double>& v) {
  Eigen::Matrix4d out = Eigen::Matrix4d::Zero();
  out.topLeftCorner<3, 3>() = to_eigen(skew(v.angular));
  out.topRightCorner<3, 1>() = to_eigen(v.linear);
  return out;
}

/// Turns from none to beyond half a turn, with the borders of the series among them.
constexpr double angles[] = {0,   1e-160, 1e-9, 1e-5, 1e-3, 0.1,  0.2499999,  0.25,      0.2500001,
                             0.5, 0.9999, 1.0,  1.01, 2,    3.14, pi - 1e-10, pi - 1e-6, 3.5};

template <class F>
void for_each_twist(F&& f) {
  Random random(70);
  for (const double angle : angles) {
    for (int i = 0; i < 5; ++i) {
      f(Motion<double>{random.unit() * angle, random.vec3()}, angle);
    }
  }
}

TEST(Exponential, IsTheMatrixExponential) {
  for_each_twist([](const Motion<double>& v, double) {
    EXPECT_TRUE(is_near(to_eigen(exp(v)), series(homogeneous(v), 0), 2e-14));
    EXPECT_TRUE(is_near(to_eigen(exp(v.angular)), series(to_eigen(skew(v.angular)), 0), 2e-14));
  });
}

TEST(Logarithm, UndoesTheExponential) {
  for_each_twist([](const Motion<double>& v, double angle) {
    const Transform<double> x = exp(v);
    const Motion<double> back = log(x);
    EXPECT_LE(norm(back.angular), pi + 1e-15);
    EXPECT_TRUE(is_near(exp(back), x, 2e-14));
    if (angle < pi) {
      EXPECT_TRUE(is_near(back, v, 2e-14));
      EXPECT_LE(norm(back.angular - v.angular), 4e-16 * std::max(1.0, angle) * 10);
    }
    if (angle > 1e-9 && angle < 0.1) {  // small turns keep their digits
      EXPECT_LE(norm(log(x.rotation) - v.angular), 1e-14 * angle);
    }
  });
  const Rotation<double> half = Rotation<double>::about_y(pi);
  EXPECT_NEAR(norm(log(half)), pi, 1e-15);
  EXPECT_TRUE(is_near(exp(log(half)), half, 1e-15));
}

TEST(Jacobians, AreTheSeriesInAd) {
  for_each_twist([](const Motion<double>& v, double angle) {
    const Eigen::MatrixXd ad = to_eigen(cross_matrix(v));
    const Eigen::MatrixXd w = to_eigen(skew(v.angular));
    EXPECT_TRUE(is_near(to_eigen(left_jacobian(v)), series(ad, 1), 2e-14)) << angle;
    EXPECT_TRUE(is_near(to_eigen(right_jacobian(v)), series(-ad, 1), 2e-14)) << angle;
    EXPECT_TRUE(is_near(to_eigen(left_jacobian(v.angular)), series(w, 1), 2e-14)) << angle;
    EXPECT_TRUE(is_near(to_eigen(right_jacobian(v.angular)), series(-w, 1), 2e-14)) << angle;
    EXPECT_TRUE(is_near(to_eigen(left_jacobian_inverse(v)), series(ad, 1).inverse(), 1e-13)) << angle;
    EXPECT_TRUE(is_near(to_eigen(right_jacobian_inverse(v)), series(-ad, 1).inverse(), 1e-13)) << angle;
    EXPECT_TRUE(is_near(to_eigen(left_jacobian_inverse(v.angular)), series(w, 1).inverse(), 1e-13)) << angle;
    EXPECT_TRUE(is_near(to_eigen(right_jacobian_inverse(v.angular)), series(-w, 1).inverse(), 1e-13)) << angle;
    EXPECT_TRUE(is_near(to_eigen(motion_matrix(exp(v))), series(ad, 0), 2e-14)) << "Ad(exp ξ) = e^ad(ξ)";
  });
}

TEST(Jacobians, InSinglePrecision) {
  for_each_twist([](const Motion<double>& v, double angle) {
    const auto single = [](const Vec3<double>& x) {
      return Vec3<float>{static_cast<float>(x.x), static_cast<float>(x.y), static_cast<float>(x.z)};
    };
    const Motion<float> f{single(v.angular), single(v.linear)};
    const auto wide = [](const auto& m) { return Eigen::MatrixXd(to_eigen(m).template cast<double>()); };
    EXPECT_TRUE(is_near(wide(exp(f)), to_eigen(exp(v)), 2e-6)) << angle;
    EXPECT_TRUE(is_near(wide(left_jacobian(f)), to_eigen(left_jacobian(v)), 5e-6)) << angle;
    EXPECT_TRUE(is_near(wide(left_jacobian_inverse(f)), to_eigen(left_jacobian_inverse(v)), 5e-6)) << angle;
  });
}

TEST(Eigen, PosesBothWays) {
  Random random(71);
  const Transform<double> x = random.transform();
  const Eigen::Isometry3d pose = to_isometry(x);
  EXPECT_EQ(transform_from_eigen(pose), x);
  EXPECT_EQ(transform_from_eigen(Eigen::Affine3d(pose)), x);
  const Eigen::Vector3d p(1, 2, 3);
  EXPECT_TRUE(is_near(Eigen::VectorXd(pose * p), Eigen::VectorXd(to_eigen(x * Vec3<double>{1, 2, 3})), 1e-15));
  EXPECT_TRUE(is_near(Eigen::MatrixXd((pose * pose.inverse()).matrix()), Eigen::MatrixXd::Identity(4, 4), 1e-15));
  const Eigen::Quaterniond q = to_eigen(x.rotation.quaternion());
  EXPECT_TRUE(is_near(Eigen::MatrixXd(q.toRotationMatrix()), Eigen::MatrixXd(to_eigen(x.rotation)), 1e-15));
  EXPECT_EQ(quaternion_from_eigen(q), x.rotation.quaternion());
}

template <class X>
std::string text(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Stream, SaysWhatEachNumberIs) {
  const Vec3<double> a{1, 2.5, -3};
  EXPECT_EQ(text(a), "(1, 2.5, -3)");
  EXPECT_EQ(text(Sym3<double>{1, 2, 3, 4, 5, 6}), "[1, 4, 5; 4, 2, 6; 5, 6, 3]");
  EXPECT_EQ(text(Quaternion<float>{1, 2, 3, 4}), "(1; 2, 3, 4)");
  EXPECT_EQ(text(Motion<double>{a, {}}), "{angular (1, 2.5, -3), linear (0, 0, 0)}");
  EXPECT_EQ(text(Force<double>{{}, a}), "{moment (0, 0, 0), force (1, 2.5, -3)}");
  EXPECT_EQ(text(Transform<double>::translate(a)), "{rotation [1, 0, 0; 0, 1, 0; 0, 0, 1], translation (1, 2.5, -3)}");
  EXPECT_EQ(text(RigidInertia<double>{2, a, Sym3<double>::diagonal(1, 2, 3)}),
            "{mass 2, first moment (1, 2.5, -3), inertia [1, 0, 0; 0, 2, 0; 0, 0, 3]}");
  EXPECT_EQ(text(ArticulatedInertia<double>::zero()),
            "{rotational [0, 0, 0; 0, 0, 0; 0, 0, 0], coupling [0, 0, 0; 0, 0, 0; 0, 0, 0], linear [0, 0, 0; 0, 0, 0; "
            "0, 0, 0]}");
  EXPECT_EQ(text(Phi<double>({1, 2, 3}).matrix()),
            "[1, 0, 0, 0, -3, 2;\n 0, 1, 0, 3, 0, -1;\n 0, 0, 1, -2, 1, 0;\n 0, 0, 0, 1, 0, 0;\n 0, 0, 0, 0, 1, 0;\n "
            "0, 0, 0, 0, 0, 1]");
}

}  // namespace
}  // namespace bunraku::test
