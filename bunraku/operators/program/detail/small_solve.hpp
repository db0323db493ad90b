/// @file
/// Inverses of closure size, with an answer by least squares where closures repeat one another.
#pragma once

#include <functional>
#include <span>

#include "bunraku/export.hpp"

namespace bunraku::operators {

/// Below this part of the largest a singular value of 𝔟 with scaled rows is one of zero; and in single precision.
inline constexpr double redundant = 1e-9;
inline constexpr double redundant_float = 1e-4;
/// The same of a matrix of which no 𝔟 is known.
inline constexpr double singular_part = 1e-12;

/// out = (𝔟*𝔟)⁻¹ of the n × m matrix 𝔟, column by column; out is m × m. Where its rank is less than m: S(𝔟_s*𝔟_s)⁺S
/// with 𝔟_s = 𝔟S, S = diag(1/s), so that which equations are given up does not depend on units. `scales` gives the s,
/// and is asked only where rank is in doubt: elsewhere they do not matter. `tolerance` is `redundant` or
/// `redundant_float`. O(n m²).
BUNRAKU_API void invert_square(std::span<const double> b, int n, int m, double tolerance,
                               const std::function<void(std::span<double>)>& scales, std::span<double> out);

/// The inverse of an m × m matrix, row by row, in place; its pseudo-inverse where the rank is less. O(m³).
BUNRAKU_API void invert_any(std::span<double> matrix, int m, double tolerance);

}  // namespace bunraku::operators
