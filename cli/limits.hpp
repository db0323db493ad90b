/// @file
/// How much one run takes in and gives out. Each limit stands here alone; what goes past one is refused with a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bunraku::cli {

/// The longest line that is read, in bytes: a state of 100,000 degrees of freedom is a sixth of it.
inline constexpr std::size_t longest_line = std::size_t{64} << 20;
/// The most that is read of a file whose lines are answered one by one, in bytes: millions of states of a humanoid.
inline constexpr std::uint64_t most_streamed = std::uint64_t{16} << 30;
/// The most that is read of a file whose lines are kept in memory, in bytes.
inline constexpr std::uint64_t most_kept = std::uint64_t{1} << 30;
/// The most numbers that one matrix may have: 200 MB of them, and half a gigabyte of JSON.
inline constexpr std::int64_t most_matrix_numbers = 25'000'000;

/// Refuses a matrix of more numbers than most_matrix_numbers. Throws ArgumentError that names it and the cure.
void check_matrix_size(std::string_view name, std::int64_t rows, std::int64_t cols, std::string_view cure);

}  // namespace bunraku::cli
