#include "bunraku/kernels/variants/block_sweeps_of.hpp"
#include "bunraku/kernels/variants/table.hpp"

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

std::unique_ptr<BlockSweeps<float>> make_block_float(const Tree& tree) {
  return std::make_unique<BlockSweepsOf<Full<float>>>(tree);
}

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
