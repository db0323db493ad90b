/// @file
/// The caller's vectors and matrices, checked before anything is computed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "bunraku/arguments.hpp"
#include "bunraku/model/detail/arguments.hpp"

namespace bunraku::detail {

/// A matrix to read or write, column by column, not always without gaps.
template <class T>
struct MatrixSpan {
  T* data = nullptr;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t cols = 0;
  std::ptrdiff_t stride = 0;  ///< From one column to the next.

  /// Element (i, j).
  T& operator()(std::ptrdiff_t i, std::ptrdiff_t j) const { return data[j * stride + i]; }
  /// Column j.
  std::span<T> column(std::ptrdiff_t j) const { return {data + j * stride, static_cast<std::size_t>(rows)}; }
  /// Whether there are no gaps between columns.
  bool compact() const { return stride == rows || cols <= 1; }
  /// Makes all elements zero.
  void set_zero() const {
    for (std::ptrdiff_t j = 0; j < cols; ++j) {
      std::fill_n(data + j * stride, rows, T(0));
    }
  }
};

/// Throws ArgumentError: so much was given where so much is wanted.
[[noreturn]] void refuse_shape(std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t wanted_rows,
                               std::ptrdiff_t wanted_cols, std::string_view name);

/// `n` finite numbers. Throws ArgumentError for others.
template <class T>
BUNRAKU_INLINE std::span<const T> given(const MatrixInput<T>& x, std::ptrdiff_t n, std::string_view name) {
  if (x.cols() != 1 && x.rows() != 1) [[unlikely]] {  // without a shape there is one column
    refuse_shape(x.rows(), x.cols(), n, 1, name);
  }
  const std::span<const T> numbers{x.data(), x.size()};
  check_argument(numbers, n, name);
  return numbers;
}

/// `rows` × any number of columns of finite numbers. Throws ArgumentError for others.
template <class T>
BUNRAKU_INLINE MatrixSpan<const T> given_columns(const MatrixInput<T>& x, std::ptrdiff_t rows, std::string_view name) {
  MatrixSpan<const T> out{x.data(), x.rows(), x.cols(), x.stride()};
  if (!x.shaped() && x.rows() != rows) {  // several columns; one needs no division
    if (rows == 0 ? x.size() != 0 : x.rows() % rows != 0) {
      refuse_shape(x.rows(), 1, rows, -1, name);
    }
    out = {x.data(), rows, rows == 0 ? 0 : x.rows() / rows, rows};
  }
  if (out.rows != rows) {
    refuse_shape(out.rows, out.cols, rows, -1, name);
  }
  for (std::ptrdiff_t j = 0; j < out.cols; ++j) {
    check_argument(out.column(j), rows, name);
  }
  return out;
}

/// Room for `n` numbers. Throws ArgumentError for another size.
template <class T>
BUNRAKU_INLINE std::span<T> wanted(const MatrixOutput<T>& x, std::ptrdiff_t n, std::string_view name) {
  if (x.cols() != 1 && x.rows() != 1) [[unlikely]] {
    refuse_shape(x.rows(), x.cols(), n, 1, name);
  }
  check_size(x.size(), n, name);
  return {x.data(), x.size()};
}

/// Room for `rows` × `cols` numbers. Throws ArgumentError for another shape.
template <class T>
BUNRAKU_INLINE MatrixSpan<T> wanted(const MatrixOutput<T>& x, std::ptrdiff_t rows, std::ptrdiff_t cols,
                                    std::string_view name) {
  if (!x.shaped()) {
    check_size(x.size(), rows * cols, name);
    return {x.data(), rows, cols, rows};
  }
  if (x.rows() != rows || x.cols() != cols) {
    refuse_shape(x.rows(), x.cols(), rows, cols, name);
  }
  return {x.data(), rows, cols, x.stride()};
}

}  // namespace bunraku::detail
