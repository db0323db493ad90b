/// @file
/// Checks of the arguments of numerical calls: size and finiteness, before anything is computed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "bunraku/export.hpp"
#include "bunraku/model/model.hpp"

namespace bunraku {

/// How far from unit norm a quaternion may be: more than rounding, less than a mistake.
template <class T>
inline constexpr double quaternion_tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-6;

/// Throws ArgumentError: so many numbers were given where so many are wanted.
[[noreturn]] void refuse_size(std::size_t size, std::ptrdiff_t wanted, std::string_view name);
/// Throws ArgumentError unless `size` is `wanted`.
BUNRAKU_INLINE void check_size(std::size_t size, std::ptrdiff_t wanted, std::string_view name) {
  if (size != static_cast<std::size_t>(wanted)) [[unlikely]] {
    refuse_size(size, wanted, name);
  }
}
/// Throws ArgumentError naming the first of the numbers that is not finite.
template <class T>
[[noreturn]] void refuse_values(std::span<const T> values, std::string_view name);
/// Throws ArgumentError: the quaternion of the body's hinge, at q[body.q_index], has this norm.
[[noreturn]] void refuse_quaternion(const Body& body, double norm, std::string_view name);

/// Whether all numbers are finite: an exponent of all ones, and no other, carries into the sign's place when one is
/// added to it. There is no branch for each number: they are taken a register at a time, the last ones together with
/// some before them, so that what is left over needs no loop of its own.
template <class T>
BUNRAKU_INLINE bool all_finite(std::span<const T> values) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr std::size_t lanes = 16 / sizeof(T);  // what every processor has
  using Register [[gnu::vector_size(16)]] = Bits;
  using Loose [[gnu::vector_size(16), gnu::aligned(alignof(T)), gnu::may_alias]] = Bits;
  constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  constexpr int sign = static_cast<int>(8 * sizeof(T)) - 1;
  constexpr Bits one = Bits{1} << mantissa;
  constexpr Bits exponent = (Bits{1} << sign) - one;
  Bits carries = 0;
  if (values.size() < lanes) {
    for (const T& x : values) {
      carries |= (std::bit_cast<Bits>(x) & exponent) + one;
    }
    return carries >> sign == 0;
  }
  const T* last = values.data() + values.size() - lanes;
  Register all = (*reinterpret_cast<const Loose*>(last) & exponent) + one;
  for (const T* x = values.data(); x < last; x += lanes) {
    all |= (*reinterpret_cast<const Loose*>(x) & exponent) + one;
  }
  for (std::size_t i = 0; i < lanes; ++i) {
    carries |= all[i];
  }
  return carries >> sign == 0;
}

/// Throws ArgumentError unless `values` has `wanted` numbers, all finite; names the first that is not.
template <class T>
BUNRAKU_INLINE void check_argument(std::span<const T> values, std::ptrdiff_t wanted, std::string_view name) {
  check_size(values.size(), wanted, name);
  if (!all_finite(values)) [[unlikely]] {
    refuse_values(values, name);
  }
}
/// Throws ArgumentError when a quaternion in the configuration q is further from unit norm than rounding explains.
template <class T>
void check_quaternions(const Model& model, std::span<const T> q, std::string_view name);

}  // namespace bunraku
