#include "bunraku/kernels/variants/sweeps_of.hpp"
#include "bunraku/kernels/variants/table.hpp"

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

std::unique_ptr<Sweeps<float>> make_sweeps_float(const Tree& tree) {
  return std::make_unique<SweepsOf<Pack<float, 1>>>(tree);
}

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
