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
  explicit Random(unsigned seed);

  double uniform(double low = -1, double high = 1);
  int integer(int low, int high);
  Vec3<double> vec3(double scale = 1);
  Vec3<double> unit();
  Rotation<double> rotation();
  Transform<double> transform();
  Motion<double> motion();
  Force<double> force();
  /// A body made of a cloud of point masses, so that its inertia is one that a body can have.
  RigidInertia<double> inertia(int points = 6);
  Eigen::VectorXd vector(Eigen::Index n, double scale = 1);
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace bunraku::test
