/// @file
/// Places in arrays.
#pragma once

#include <cstddef>

namespace bunraku::kernels {

/// An index.
constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace bunraku::kernels
