/// @file
/// Arrays of states in NumPy's files, read in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npy.hpp"

namespace bunraku::cli {

/// A file with an array of two axes, states × numbers, to be read in parts.
class NpyMatrix {
 public:
  /// Opens the file and reads its header. Throws ModelError that names the file, what is wrong and the cure; also where
  /// there are other than two axes, or other than `cols` numbers a row. `name` is what the rows are.
  NpyMatrix(std::string file, std::string_view name, std::int64_t cols);
  ~NpyMatrix();
  NpyMatrix(NpyMatrix&& other) noexcept;
  NpyMatrix& operator=(NpyMatrix&&) = delete;
  NpyMatrix(const NpyMatrix&) = delete;
  NpyMatrix& operator=(const NpyMatrix&) = delete;

  /// Its path.
  const std::string& file() const { return file_; }
  /// Of its numbers.
  NpyType type() const { return header_.type; }
  /// States.
  std::int64_t rows() const { return header_.shape[0]; }
  /// Numbers of a state.
  std::int64_t cols() const { return header_.shape[1]; }

  /// Reads `count` rows from row `first` on, row after row; T must hold what the file has. Throws ModelError where the
  /// file cannot be read, or has become shorter.
  template <class T>
  void read(std::int64_t first, std::int64_t count, T* out);

 private:
  void read_bytes(std::uint64_t at, std::size_t count, char* out) const;
  template <class Stored, class T>
  void read_as(std::int64_t first, std::int64_t count, T* out);

  std::string file_;
  int descriptor_;
  NpyHeader header_;
  std::vector<char> room_;
};

}  // namespace bunraku::cli
