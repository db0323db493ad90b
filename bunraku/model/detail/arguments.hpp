/// @file
/// Checks of the arguments of numerical calls: size and finiteness, before anything is computed.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "bunraku/model/model.hpp"

namespace bunraku {

/// How far from unit norm a quaternion may be: more than rounding, less than a mistake.
template <class T>
inline constexpr double quaternion_tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-6;

/// Throws ArgumentError unless `size` is `wanted`.
void check_size(std::size_t size, int wanted, std::string_view name);
/// Throws ArgumentError naming the first of the numbers that is not finite.
template <class T>
[[noreturn]] void refuse_values(std::span<const T> values, std::string_view name);
/// Throws ArgumentError: the quaternion of the body's hinge, at q[body.q_index], has this norm.
[[noreturn]] void refuse_quaternion(const Body& body, double norm, std::string_view name);

/// Whether all numbers are finite, by their exponents: without a branch for each.
template <class T>
bool all_finite(std::span<const T> values) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits exponent = sizeof(T) == 8 ? static_cast<Bits>(0x7ff0'0000'0000'0000) : Bits{0x7f80'0000};
  bool good = true;
  for (const T& x : values) {
    good &= (std::bit_cast<Bits>(x) & exponent) != exponent;
  }
  return good;
}

/// Throws ArgumentError unless `values` has `wanted` numbers, all finite; names the first that is not.
template <class T>
void check_argument(std::span<const T> values, int wanted, std::string_view name) {
  check_size(values.size(), wanted, name);
  if (!all_finite(values)) {
    refuse_values(values, name);
  }
}
/// Throws ArgumentError when a quaternion in the configuration q is further from unit norm than rounding explains.
void check_quaternions(const Model& model, std::span<const double> q, std::string_view name);

}  // namespace bunraku
