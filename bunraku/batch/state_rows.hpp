/// @file
/// Numbers of many states as arguments: a row a state, read and written in place.
#pragma once

#include <cstddef>
#include <ranges>
#include <type_traits>

#include "bunraku/arguments.hpp"

namespace bunraku {

/// States × numbers, in the caller's memory: row i belongs to state i. `T` is const for what is only read. Rows may be
/// anywhere at equal distances, and so may the numbers of a row: a row-major matrix as of numpy, a column-major one of
/// Eigen, a block of either. Numbers of a row side by side are fastest. Never a copy.
template <class T>
class StateRows {
 public:
  using Scalar = std::remove_const_t<T>;  ///< Of the numbers.

  /// None: what a call does not need.
  constexpr StateRows() = default;
  /// `rows` × `cols` numbers from `data` on, from row to row `row_stride` apart (`cols`, unless said) and within a row
  /// `column_stride`.
  constexpr StateRows(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t row_stride,
                      std::ptrdiff_t column_stride = 1)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride), column_stride_(column_stride) {}
  /// See above.
  constexpr StateRows(T* data, std::ptrdiff_t rows, std::ptrdiff_t cols) : StateRows(data, rows, cols, cols) {}
  /// An Eigen matrix, map or block, either way round, a row a state.
  template <class Derived>
    requires((Derived::Flags & Eigen::DirectAccessBit) != 0 && std::same_as<typename Derived::Scalar, Scalar> &&
             std::is_const_v<T>)
  BUNRAKU_INLINE StateRows(const Eigen::DenseBase<Derived>& x)  // NOLINT(google-explicit-constructor)
      : StateRows(x.derived().data(), x.rows(), x.cols(), x.derived().rowStride(), x.derived().colStride()) {}
  /// The same to write to.
  template <class Derived>
    requires(std::same_as<typename Derived::Scalar, Scalar> && !std::is_const_v<T>)
  BUNRAKU_INLINE StateRows(Eigen::PlainObjectBase<Derived>& x)  // NOLINT(google-explicit-constructor)
      : StateRows(x.derived().data(), x.rows(), x.cols(), x.derived().rowStride(), x.derived().colStride()) {}
  /// The same to write to: a block or map, as is the habit with Eigen.
  template <class Derived>
    requires((Derived::Flags & Eigen::DirectAccessBit) != 0 && std::same_as<typename Derived::Scalar, Scalar> &&
             !std::is_const_v<T> && detail::WritableView<Derived>)
  BUNRAKU_INLINE StateRows(const Eigen::DenseBase<Derived>& x)  // NOLINT(google-explicit-constructor)
      : StateRows(const_cast<Scalar*>(x.derived().data()),      // NOLINT(cppcoreguidelines-pro-type-const-cast)
                  x.rows(), x.cols(), x.derived().rowStride(), x.derived().colStride()) {}

  /// The first number.
  constexpr T* data() const { return data_; }
  /// States.
  constexpr std::ptrdiff_t rows() const { return rows_; }
  /// Numbers of a state.
  constexpr std::ptrdiff_t cols() const { return cols_; }
  /// From one state to the next.
  constexpr std::ptrdiff_t row_stride() const { return row_stride_; }
  /// From one number of a state to the next.
  constexpr std::ptrdiff_t column_stride() const { return column_stride_; }
  /// The first number of state i.
  constexpr T* row(std::ptrdiff_t i) const { return data_ + i * row_stride_; }

 private:
  T* data_ = nullptr;
  std::ptrdiff_t rows_ = 0;
  std::ptrdiff_t cols_ = 0;
  std::ptrdiff_t row_stride_ = 0;
  std::ptrdiff_t column_stride_ = 1;
};

/// Rows to read; the scalar is deduced from the batch alone.
template <class T>
using RowsIn = const std::type_identity_t<StateRows<const T>>&;
/// Rows to write.
template <class T>
using RowsOut = const std::type_identity_t<StateRows<T>>&;

}  // namespace bunraku
