/// @file
/// The kernels compiled for one kind of processor, and which of these variants runs.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "bunraku/kernels/block_sweeps.hpp"
#include "bunraku/kernels/sweeps.hpp"

namespace bunraku::kernels {

/// The kernels of one variant in precision T.
template <class T>
struct VariantOf {
  std::unique_ptr<Sweeps<T>> (*sweeps)(const Tree&);       ///< One state.
  std::unique_ptr<BlockSweeps<T>> (*block)(const Tree&);   ///< A register of states.
  std::unique_ptr<BlockSweeps<T>> (*single)(const Tree&);  ///< The same for one.
};

/// The kernels of one variant.
struct Variant {
  std::string_view name;        ///< Such as "avx2".
  VariantOf<double> in_double;  ///< In `double`.
  VariantOf<float> in_float;    ///< In `float`.

  /// In precision T.
  template <class T>
  const VariantOf<T>& of() const {
    if constexpr (std::is_same_v<T, double>) {
      return in_double;
    } else {
      return in_float;
    }
  }
};

/// Those that this library was compiled with and this processor can run, the fastest last.
std::span<const Variant* const> usable_variants();
/// The one that runs: the fastest, or what BUNRAKU_CPU in the environment names. Found at the first call, and then the
/// same until the end. Throws Error where BUNRAKU_CPU names none that can run.
const Variant& variant();

}  // namespace bunraku::kernels
