/// @file
/// Where the numbers of a matrix are that goes to the caller's rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bunraku/kernels/columns.hpp"

namespace bunraku::kernels {

struct DerivativeLayout;

/// Of each number of a square matrix, row by row: where a kernel has put it. Immutable, and in an ordinary source: the
/// variants hold no containers but of their own numbers.
struct MatrixPlaces {
  /// Column by column, n² numbers, all of which may be other than zero; `lanes` numbers are written at once. O(n²).
  static MatrixPlaces dense(int n, int lanes);
  /// The same over all hinges, zero where two coordinates are not on one path. O(n²).
  static MatrixPlaces related(const Tree& tree, const ColumnLayout& composite, int lanes);
  /// Over all hinges, in the order of DerivativeLayout; of a symmetric matrix those in rows alone. O(n²).
  static MatrixPlaces in_order(const DerivativeLayout& layout, bool symmetric, int lanes);
  /// Symmetric, over all hinges: number 0 is zero, and then come of each coordinate the elements with those of its own
  /// link and of each link on its path to the base, as from mass_matrix_by_paths. O(n²).
  static MatrixPlaces paths(const Tree& tree, int lanes);

  ~MatrixPlaces();
  MatrixPlaces(const MatrixPlaces&) = delete;
  MatrixPlaces& operator=(const MatrixPlaces&) = delete;
  MatrixPlaces(MatrixPlaces&&) noexcept;
  MatrixPlaces& operator=(MatrixPlaces&&) noexcept;

  /// Of each group of `lanes` numbers from number `first` < lanes on: whether all are zero. The last group ends with
  /// the matrix.
  const std::uint8_t* empty_from(int first) const { return empty_.data() + first * groups_; }

  std::vector<int> source;  ///< Of each number of the matrix.
  std::vector<int> offset;  ///< The same in lanes.
  std::vector<int> start;   ///< Of paths: where those of each coordinate start.
  int size = 0;             ///< How many numbers the kernel puts there.

 private:
  MatrixPlaces();
  void complete(int lanes, const std::vector<bool>& zero);

  std::vector<std::uint8_t> empty_;
  std::ptrdiff_t groups_ = 0;
};

}  // namespace bunraku::kernels
