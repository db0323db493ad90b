/// @file
/// Numbers as arguments: spans, standard containers, and Eigen's vectors and matrices alike. A call takes an `In` to
/// read from and an `Out` to write to; nobody needs to name these types.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#include <Eigen/Core>

#include "bunraku/export.hpp"

namespace bunraku {

namespace detail {

template <class Derived>
std::true_type is_eigen_type(const Eigen::EigenBase<Derived>&);
std::false_type is_eigen_type(...);

/// An Eigen object or expression.
template <class X>
concept EigenObject = decltype(is_eigen_type(std::declval<const X&>()))::value;

/// A std::vector, std::array, std::span or array of T; Eigen's objects have constructors of their own.
template <class X, class T>
concept NumbersOf =
    !EigenObject<std::remove_cvref_t<X>> && std::ranges::contiguous_range<X> && std::ranges::sized_range<X> &&
    std::same_as<std::remove_const_t<std::remove_reference_t<std::ranges::range_reference_t<X>>>, T>;

/// An Eigen object in whose memory one can read or write, rows of a column one after the other.
template <class Derived>
inline constexpr bool in_columns =
    (Derived::Flags & Eigen::DirectAccessBit) != 0 && int(Derived::InnerStrideAtCompileTime) == 1 &&
    (!Derived::IsRowMajor || Derived::IsVectorAtCompileTime);

/// An Eigen object of scalar T.
template <class Derived, class T>
concept OfScalar = std::same_as<typename Derived::Scalar, T>;

/// A block, map or other view of Eigen's that can be written to through a const reference, as is the habit there.
template <class Derived>
concept WritableView =
    (Derived::Flags & Eigen::LvalueBit) != 0 && !std::derived_from<Derived, Eigen::PlainObjectBase<Derived>>;

}  // namespace detail

/// A matrix to read, column by column: an Eigen matrix, vector or expression, or numbers in a row whose shape the call
/// knows. What Eigen cannot read in place (a sum, a transpose, rows of a row-major matrix) is evaluated once.
template <class T>
class MatrixInput {
 public:
  /// Numbers, column after column.
  template <detail::NumbersOf<T> X>
  MatrixInput(const X& x)  // NOLINT(google-explicit-constructor)
      : data_(std::ranges::data(x)), rows_(static_cast<std::ptrdiff_t>(std::ranges::size(x))), shaped_(false) {}
  /// An Eigen matrix, vector or expression of scalar T.
  template <class Derived>
    requires detail::OfScalar<Derived, T>
  BUNRAKU_INLINE MatrixInput(const Eigen::MatrixBase<Derived>& x)  // NOLINT(google-explicit-constructor)
      : rows_(x.rows()), cols_(x.cols()), stride_(x.rows()) {
    if constexpr (detail::in_columns<Derived>) {
      data_ = x.derived().data();
      stride_ = Derived::IsVectorAtCompileTime ? rows_ : x.derived().outerStride();
    } else {
      copy_ = std::make_unique<T[]>(static_cast<std::size_t>(x.size()));
      Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>>(copy_.get(), x.rows(), x.cols()) = x;
      data_ = copy_.get();
    }
  }

  /// The first number.
  const T* data() const { return data_; }
  /// Rows; all numbers where there is no shape.
  std::ptrdiff_t rows() const { return rows_; }
  /// Columns.
  std::ptrdiff_t cols() const { return cols_; }
  /// How many numbers there are.
  std::size_t size() const { return static_cast<std::size_t>(rows_ * cols_); }
  /// From one column to the next.
  std::ptrdiff_t stride() const { return stride_; }
  /// Whether the caller gave a shape, or numbers alone.
  bool shaped() const { return shaped_; }

 private:
  const T* data_ = nullptr;
  std::ptrdiff_t rows_ = 0;
  std::ptrdiff_t cols_ = 1;
  std::ptrdiff_t stride_ = 0;
  bool shaped_ = true;
  std::unique_ptr<T[]> copy_;  // NOLINT(modernize-avoid-c-arrays): its size is not known before
};

/// Numbers to read: a span, a standard container, or an Eigen vector or expression of one; see MatrixInput.
template <class T>
class Input : public MatrixInput<T> {
 public:
  using MatrixInput<T>::MatrixInput;
  /// None.
  Input() : MatrixInput<T>(std::span<const T>{}) {}
  /// The numbers.
  operator std::span<const T>() const { return {this->data(), this->size()}; }  // NOLINT(google-explicit-constructor)
};

/// A matrix to write, column by column: an Eigen matrix or a block of one, or numbers in a row whose shape the call
/// knows. It must have its shape already: a call throws ArgumentError for another and never resizes.
template <class T>
class MatrixOutput {
 public:
  /// Numbers, column after column.
  template <detail::NumbersOf<T> X>
    requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<X>>>)
  MatrixOutput(X&& x)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : data_(std::ranges::data(x)), rows_(static_cast<std::ptrdiff_t>(std::ranges::size(x))), shaped_(false) {}
  /// An Eigen matrix or vector of scalar T.
  template <class Derived>
    requires detail::OfScalar<Derived, T>
  BUNRAKU_INLINE MatrixOutput(Eigen::PlainObjectBase<Derived>& x) {  // NOLINT(google-explicit-constructor)
    view(x.derived());
  }
  /// A block, column, segment or map of scalar T.
  template <class Derived>
    requires(detail::OfScalar<Derived, T> && detail::WritableView<Derived>)
  BUNRAKU_INLINE MatrixOutput(const Eigen::MatrixBase<Derived>& x) {  // NOLINT(google-explicit-constructor)
    view(const_cast<Derived&>(x.derived()));  // NOLINT(cppcoreguidelines-pro-type-const-cast): see WritableView
  }

  /// The first number.
  T* data() const { return data_; }
  /// Rows; all numbers where there is no shape.
  std::ptrdiff_t rows() const { return rows_; }
  /// Columns.
  std::ptrdiff_t cols() const { return cols_; }
  /// How many numbers there are.
  std::size_t size() const { return static_cast<std::size_t>(rows_ * cols_); }
  /// From one column to the next.
  std::ptrdiff_t stride() const { return stride_; }
  /// Whether the caller gave a shape, or numbers alone.
  bool shaped() const { return shaped_; }

 private:
  template <class Derived>
  BUNRAKU_INLINE void view(Derived& x) {
    static_assert(detail::in_columns<Derived>,
                  "results are written column by column: a row-major matrix, or a row of a matrix, cannot take them");
    data_ = x.data();
    rows_ = x.rows();
    cols_ = x.cols();
    stride_ = Derived::IsVectorAtCompileTime ? rows_ : x.outerStride();
  }

  T* data_ = nullptr;
  std::ptrdiff_t rows_ = 0;
  std::ptrdiff_t cols_ = 1;
  std::ptrdiff_t stride_ = 0;
  bool shaped_ = true;
};

/// Numbers to write: a span, a standard container, or an Eigen vector; see MatrixOutput.
template <class T>
class Output : public MatrixOutput<T> {
 public:
  using MatrixOutput<T>::MatrixOutput;
  /// The numbers.
  operator std::span<T>() const { return {this->data(), this->size()}; }  // NOLINT(google-explicit-constructor)
};

/// @name How calls name their arguments
/// The scalar is deduced from the state alone, so that everything that converts is taken.
/// @{
template <class T>
using In = const std::type_identity_t<Input<T>>&;  ///< Numbers to read.
template <class T>
using Out = const std::type_identity_t<Output<T>>&;  ///< Numbers to write.
template <class T>
using MatrixIn = const std::type_identity_t<MatrixInput<T>>&;  ///< A matrix to read.
template <class T>
using MatrixOut = const std::type_identity_t<MatrixOutput<T>>&;  ///< A matrix to write.
/// @}

}  // namespace bunraku
