#include "bunraku/kernels/sweeps.hpp"

#include <utility>

#include "bunraku/kernels/derivative_layout.hpp"
#include "bunraku/kernels/variant.hpp"

namespace bunraku::kernels {

template <class T>
Sweeps<T>::Sweeps() = default;
template <class T>
Sweeps<T>::~Sweeps() = default;

template <class T>
void Sweeps<T>::keep(std::shared_ptr<const Tree> tree) {
  tree_ = std::move(tree);
}

template <class T>
const DerivativeLayout& Sweeps<T>::derivative_layout(const ColumnLayout& composite, const ColumnLayout& innovation,
                                                     int lanes) {
  if (derivative_layout_ == nullptr) {
    derivative_layout_ = std::make_unique<const DerivativeLayout>(tree(), composite, innovation, lanes);
  }
  return *derivative_layout_;
}

template <class T>
std::unique_ptr<Sweeps<T>> make_sweeps(std::shared_ptr<const Tree> tree) {
  std::unique_ptr<Sweeps<T>> out = variant().of<T>().sweeps(*tree);
  out->keep(std::move(tree));
  return out;
}

template class Sweeps<double>;
template class Sweeps<float>;
template std::unique_ptr<Sweeps<double>> make_sweeps(std::shared_ptr<const Tree>);
template std::unique_ptr<Sweeps<float>> make_sweeps(std::shared_ptr<const Tree>);

}  // namespace bunraku::kernels
