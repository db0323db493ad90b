#include "bunraku/kernels/variants/sweeps_of.hpp"
#include "bunraku/kernels/variants/table.hpp"

namespace bunraku::kernels::inline BUNRAKU_VARIANT {

std::unique_ptr<Sweeps<double>> make_sweeps_double(const Tree& tree) {
  return std::make_unique<SweepsOf<Pack<double, 1>>>(tree);
}

}  // namespace bunraku::kernels::inline BUNRAKU_VARIANT
