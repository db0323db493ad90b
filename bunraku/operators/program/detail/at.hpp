/// @file
/// Indices are int, as everywhere in the library; containers count in std::size_t.
#pragma once

#include <cstddef>

namespace bunraku::operators {

/// An index for a container.
constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace bunraku::operators
