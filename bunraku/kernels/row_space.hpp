/// @file
/// The rows of a matrix: how many are independent, what they leave free, and the smallest x with Ax = b.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace bunraku::kernels {

/// A*Π = QR by reflections, the longest row that is left first. Q's first columns span the rows of A, the others are
/// what they leave free. Allocates nothing after it is made.
class RowSpace {
 public:
  /// Room for so many rows and columns.
  RowSpace(std::size_t rows, std::size_t columns);

  /// Of A, row by row. A row of which no more than `tolerance` is left counts as dependent on those before it, and so
  /// do all beyond `most`. O(rows · columns · rank).
  void factor(const double* A, std::size_t rows, std::size_t columns, double tolerance,
              std::size_t most = std::numeric_limits<std::size_t>::max());
  /// Independent rows.
  std::size_t rank() const { return rank_; }
  /// The smallest x with Ax = b, where that has a solution; dependent rows are not looked at.
  void least(const double* b, double* x) const;
  /// Column j of an orthonormal basis of what A takes to zero; there are columns − rank.
  void free_column(std::size_t j, double* x) const;

 private:
  double* row(std::size_t i) { return work_.data() + i * columns_; }
  const double* row(std::size_t i) const { return work_.data() + i * columns_; }
  double length(std::size_t i, std::size_t from) const;
  void reflect(std::size_t k, double* x) const;
  void apply(double* x) const;

  std::size_t columns_ = 0;
  std::size_t rank_ = 0;
  std::vector<double> work_;        // R(k, i) at [i][k] for k < i; from [k][k] on the reflection k
  std::vector<double> diagonal_;    // R(k, k)
  std::vector<double> size_;        // 2/|v|² of the reflections
  std::vector<std::size_t> order_;  // Π
};

}  // namespace bunraku::kernels
