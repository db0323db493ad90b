/// @file
/// Checks of the arguments of numerical calls: size and finiteness, before anything is computed.
#pragma once

#include <span>
#include <string_view>

#include "bunraku/model/model.hpp"

namespace bunraku {

/// Throws ArgumentError unless `size` is `wanted`.
void check_size(std::size_t size, int wanted, std::string_view name);
/// Throws ArgumentError unless `values` has `wanted` numbers, all finite; names the first that is not.
void check_argument(std::span<const double> values, int wanted, std::string_view name);
/// Throws ArgumentError when a quaternion in the configuration q is further from unit norm than rounding explains.
void check_quaternions(const Model& model, std::span<const double> q, std::string_view name);

}  // namespace bunraku
