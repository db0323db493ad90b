/// @file
/// Random numbers that are the same on every machine, which those of the standard's distributions need not be.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace bunraku {

/// A sequence of random numbers.
class Random {
 public:
  /// That of a seed.
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
  /// Uniform; limits at the ends of the number range do not overflow.
  double uniform(double low, double high) {
    const double u = uniform();
    return low * (1 - u) + high * u;
  }
  /// Uniform, both ends included.
  int integer(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// n numbers, uniform in [−1, 1).
  std::vector<double> vector(std::size_t n) {
    std::vector<double> out(n);
    for (double& each : out) {
      each = uniform(-1, 1);
    }
    return out;
  }
  /// A seed for another sequence.
  std::uint64_t seed() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace bunraku
