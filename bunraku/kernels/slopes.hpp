/// @file
/// Where derivatives of torques are.
#pragma once

#include <cstddef>

namespace bunraku::kernels {

/// Derivatives of torques by q and θ̇, column by column or in order; where two coordinates are not on one path, zero.
template <class T>
struct Slopes {
  T* dq = nullptr;            ///< ∂T/∂q.
  T* dv = nullptr;            ///< ∂T/∂θ̇.
  std::ptrdiff_t stride = 0;  ///< From column to column.
  const int* row = nullptr;   ///< Of each coordinate, or null: they come one after the other.
  /// Of elements in order: where they are, row by row, `stride` to a row.
  const int* places = nullptr;

  /// Where element (i, j) is.
  std::size_t index(std::size_t i, std::size_t j) const {
    if (places != nullptr) {
      return static_cast<std::size_t>(places[i * static_cast<std::size_t>(stride) + j]);
    }
    return j * static_cast<std::size_t>(stride) + (row == nullptr ? i : static_cast<std::size_t>(row[i]));
  }
};

}  // namespace bunraku::kernels
