#include "bunraku/kernels/block_sweeps.hpp"

#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/matrix_places.hpp"
#include "bunraku/kernels/variant.hpp"

namespace bunraku::kernels {

void settle_rows() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

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
const MatrixPlaces& BlockSweeps<T>::mass_places() {
  if (mass_places_ == nullptr) {
    mass_places_ = std::make_unique<const MatrixPlaces>(MatrixPlaces::paths(*tree_, lanes()));
  }
  return *mass_places_;
}

template <class T>
const MatrixPlaces& BlockSweeps<T>::slope_places(const ColumnLayout& composite) {
  if (slope_places_ == nullptr) {
    slope_places_ = std::make_unique<const MatrixPlaces>(MatrixPlaces::related(*tree_, composite, lanes()));
  }
  return *slope_places_;
}

template <class T>
const MatrixPlaces& BlockSweeps<T>::places_in_order(const DerivativeLayout& layout, bool symmetric) {
  std::unique_ptr<const MatrixPlaces>& places = symmetric ? symmetric_in_order_ : in_order_;
  if (places == nullptr) {
    places = std::make_unique<const MatrixPlaces>(MatrixPlaces::in_order(layout, symmetric, lanes()));
  }
  return *places;
}

template <class T>
const MatrixPlaces& BlockSweeps<T>::column_places() {
  if (column_places_ == nullptr) {
    column_places_ = std::make_unique<const MatrixPlaces>(MatrixPlaces::dense(tree_->model.nv(), lanes()));
  }
  return *column_places_;
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
