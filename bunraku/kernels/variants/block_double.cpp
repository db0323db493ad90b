#include "bunraku/kernels/variants/block_sweeps_of.hpp"
#include "bunraku/kernels/variants/table.hpp"

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

std::unique_ptr<BlockSweeps<double>> make_block_double(const Tree& tree) {
  return std::make_unique<BlockSweepsOf<Full<double>>>(tree);
}

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
