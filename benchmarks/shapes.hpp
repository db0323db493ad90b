/// @file
/// Random chains, stars and trees of any size, and how what they cost grows with it.
#pragma once

#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bunraku/bunraku.hpp>

namespace CLI {
class App;
}  // namespace CLI

namespace bench {

/// A shape says on which body the body i > 0 hangs.
struct Shape {
  const char* name;
  int (*parent)(int i);
};

/// Chain, star and binary tree.
std::span<const Shape> shapes();

/// A model of n bodies of about a kilogram, each on a hinge of one degree of freedom about or, one in ten, along a
/// random axis. The same on every run.
bunraku::Model random_model(const Shape& shape, int n);

/// A state of such a model. Velocities and accelerations add up along a chain: they are small, so that a hundred
/// thousand stay finite.
struct ShapeState {
  std::vector<double> q, v;
  std::vector<double> x;  ///< Accelerations, torques, or what 𝓜⁻¹ is applied to.
};

/// Random states, the same on every run: fewer of large models.
std::vector<ShapeState> random_shape_states(const bunraku::Model& model);

/// Bytes of the heap in use.
std::size_t heap_bytes();

/// Throws std::runtime_error where a number is not finite.
void require_finite(std::span<const double> numbers, const std::string& quantity, const std::string& model);

/// Which shapes and sizes to measure.
struct GrowthOptions {
  int max = 100000;
  std::vector<std::string> shapes;  ///< All, where none are named.

  /// Declares --max and --shapes.
  void declare(CLI::App& app);
  /// From a hundred bodies on, half a power of ten apart.
  std::vector<int> sizes() const;
  /// Those named.
  std::vector<const Shape*> measured() const;
};

/// A number of bodies and a cost.
using GrowthPoint = std::pair<double, double>;

/// The slope of the line of least squares through (log n, log cost), where there are two points at least.
std::optional<double> exponent(std::span<const GrowthPoint> points);

}  // namespace bench
