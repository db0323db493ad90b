#include "bunraku/kernels/row_space.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bunraku::kernels {

RowSpace::RowSpace(std::size_t rows, std::size_t columns)
    : work_(rows * columns), diagonal_(std::min(rows, columns)), size_(diagonal_.size()), order_(rows) {}

double RowSpace::length(std::size_t i, std::size_t from) const {
  const double* x = row(i);
  double sum = 0;
  for (std::size_t k = from; k < columns_; ++k) {
    sum += x[k] * x[k];
  }
  return std::sqrt(sum);
}

void RowSpace::reflect(std::size_t k, double* x) const {
  const double* v = row(k);
  double along = 0;
  for (std::size_t i = k; i < columns_; ++i) {
    along += v[i] * x[i];
  }
  along *= size_[k];
  for (std::size_t i = k; i < columns_; ++i) {
    x[i] -= along * v[i];
  }
}

void RowSpace::apply(double* x) const {
  for (std::size_t k = rank_; k-- > 0;) {
    reflect(k, x);
  }
}

void RowSpace::factor(const double* A, std::size_t rows, std::size_t columns, double tolerance, std::size_t most) {
  columns_ = columns;
  rank_ = 0;
  std::copy_n(A, rows * columns, work_.begin());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (std::size_t k = 0; k < std::min({rows, columns, most}); ++k) {
    std::size_t best = k;
    double longest = -1;
    for (std::size_t i = k; i < rows; ++i) {
      if (const double left = length(i, k); left > longest) {
        longest = left;
        best = i;
      }
    }
    if (!(longest > tolerance)) {
      return;
    }
    std::swap_ranges(row(k), row(k) + columns, row(best));
    std::swap(order_[k], order_[best]);
    double* v = row(k);
    diagonal_[k] = v[k] > 0 ? -longest : longest;
    v[k] -= diagonal_[k];
    size_[k] = -1 / (diagonal_[k] * v[k]);  // |v|² = −2 R(k,k) v_k
    for (std::size_t i = k + 1; i < rows; ++i) {
      reflect(k, row(i));
    }
    ++rank_;
  }
}

void RowSpace::least(const double* b, double* x) const {
  std::fill_n(x, columns_, 0.0);
  for (std::size_t i = 0; i < rank_; ++i) {  // R*z = b
    double left = b[order_[i]];
    for (std::size_t k = 0; k < i; ++k) {
      left -= row(i)[k] * x[k];
    }
    x[i] = left / diagonal_[i];
  }
  apply(x);
}

void RowSpace::free_column(std::size_t j, double* x) const {
  std::fill_n(x, columns_, 0.0);
  x[rank_ + j] = 1;
  apply(x);
}

}  // namespace bunraku::kernels
