/// @file
/// Whether something is to be asked of a state: of several side by side, of which.
#pragma once

#include "bunraku/kernels/pack.hpp"

namespace bunraku::kernels {

/// Whether some D may be rounding of zero: of a pack, in which lanes.
template <class S>
struct DoubtOf {
  using type = bool;  ///< Yes or no.
};
template <class T, int W>
  requires(W > 1)
struct DoubtOf<Pack<T, W>> {
  using type = Mask<T, W>;
};

}  // namespace bunraku::kernels
