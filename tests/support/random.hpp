/// @file
/// Random values for tests, the same in every run.
#pragma once

#include <random>

#include <Eigen/Core>

#include "bunraku/spatial/articulated_inertia.hpp"

namespace bunraku::test {

/// Draws everything from one seed.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  double uniform(double low = -1, double high = 1) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  Vec3<double> vec3(double scale = 1) { return {scale * uniform(), scale * uniform(), scale * uniform()}; }
  Vec3<double> unit() {
    for (;;) {
      const Vec3<double> v = vec3();
      const double n = norm(v);
      if (n > 0.1 && n <= 1) {
        return v / n;
      }
    }
  }
  Rotation<double> rotation() { return Rotation<double>::about(unit(), uniform(-3, 3)); }
  Transform<double> transform() { return {rotation(), vec3()}; }
  Motion<double> motion() { return {vec3(), vec3()}; }
  Force<double> force() { return {vec3(), vec3()}; }
  /// A body made of a cloud of point masses, so that its inertia is one that a body can have.
  RigidInertia<double> inertia(int points = 6) {
    RigidInertia<double> sum = RigidInertia<double>::zero();
    for (int i = 0; i < points; ++i) {
      const double m = uniform(0.1, 1);
      const Vec3<double> p = vec3();
      sum += RigidInertia<double>{m, p * m, point_inertia(p) * m};
    }
    return sum;
  }
  Eigen::VectorXd vector(Eigen::Index n, double scale = 1) {
    Eigen::VectorXd v(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      v[i] = scale * uniform();
    }
    return v;
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace bunraku::test
