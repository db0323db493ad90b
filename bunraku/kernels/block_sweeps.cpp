#include "bunraku/kernels/block_sweeps.hpp"

#include <utility>

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/variant.hpp"

namespace bunraku::kernels {

template <class T>
BlockSweeps<T>::BlockSweeps() = default;
template <class T>
BlockSweeps<T>::~BlockSweeps() = default;

template <class T>
void BlockSweeps<T>::keep(std::shared_ptr<const Tree> tree) {
  tree_ = std::move(tree);
}

template <class T>
const DerivativeLayout& BlockSweeps<T>::derivative_layout(const ColumnLayout& composite, const ColumnLayout& innovation,
                                                          int lanes) {
  if (derivative_layout_ == nullptr) {
    derivative_layout_ = std::make_unique<const DerivativeLayout>(*tree_, composite, innovation, lanes);
  }
  return *derivative_layout_;
}

template <class T>
std::unique_ptr<BlockSweeps<T>> make_block_sweeps(std::shared_ptr<const Tree> tree, bool single) {
  const VariantOf<T>& kernels = variant().of<T>();
  std::unique_ptr<BlockSweeps<T>> out = (single ? kernels.single : kernels.block)(*tree);
  out->keep(std::move(tree));
  return out;
}

template class BlockSweeps<double>;
template class BlockSweeps<float>;
template std::unique_ptr<BlockSweeps<double>> make_block_sweeps(std::shared_ptr<const Tree>, bool);
template std::unique_ptr<BlockSweeps<float>> make_block_sweeps(std::shared_ptr<const Tree>, bool);

}  // namespace bunraku::kernels
