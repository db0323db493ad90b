/// @file
/// Arrays in NumPy's file format .npy, versions 1 to 3: what `numpy.save` writes and `numpy.load` reads. Numbers are
/// little-endian, and so must the processor be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::cli {

/// What the numbers of an array are.
enum class NpyType {
  float32,  ///< `<f4`.
  float64,  ///< `<f8`.
};

/// The type of a scalar of C++.
template <class T>
inline constexpr NpyType npy_type = sizeof(T) == sizeof(float) ? NpyType::float32 : NpyType::float64;

/// What stands before the numbers of a file.
struct NpyHeader {
  NpyType type = NpyType::float64;  ///< Of the numbers.
  bool fortran_order = false;       ///< Whether the first index runs fastest, and not the last.
  std::vector<std::int64_t> shape;  ///< Axes, each at least 0; their product is at most 2⁵⁶.
  std::uint64_t numbers_at = 0;     ///< So many bytes come before the first number.

  /// How many numbers there are.
  std::int64_t count() const;
  /// How many bytes a number has.
  std::size_t bytes() const { return type == NpyType::float32 ? 4 : 8; }
  /// As Python writes it: `(100, 7)`.
  std::string shape_text() const;
  /// As NumPy writes it: `<f8`.
  std::string_view type_text() const { return type == NpyType::float32 ? "<f4" : "<f8"; }
};

/// So many bytes of a file tell where its numbers start.
inline constexpr std::size_t npy_prefix = 12;

/// Where the numbers of a file start, by its first npy_prefix bytes, or by all where there are fewer. Throws ModelError
/// that names the file where it is none of this format.
std::uint64_t npy_numbers_start(std::string_view prefix, const std::string& file);

/// The header of a file of `file_size` bytes, from all bytes before its numbers, or as many as there are. Throws
/// ModelError that names the file, what is wrong and the cure: for a header that is none, for other numbers than
/// little-endian floating-point ones of 4 or 8 bytes, for another size of the file than the header tells.
NpyHeader parse_npy_header(std::string_view bytes, std::uint64_t file_size, const std::string& file);

/// How a file is written as it should be, `what` being what is done to the array before.
std::string npy_cure(const std::string& file, std::string_view what = "");

/// The bytes before the numbers of a file, as NumPy writes them. Room is left in them for the first axis to grow: they
/// are as many for each.
std::string npy_header_text(const NpyHeader& header);

}  // namespace bunraku::cli
