#include "bunraku/kernels/variants/block_sweeps_of.hpp"
#include "bunraku/kernels/variants/table.hpp"

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

std::unique_ptr<BlockSweeps<double>> make_single_double(const Tree& tree) {
  return std::make_unique<BlockSweepsOf<Pack<double, 1>>>(tree);
}

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
