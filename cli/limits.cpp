#include "limits.hpp"

#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku::cli {

void check_matrix_size(std::string_view name, std::int64_t rows, std::int64_t cols, std::string_view cure) {
  if (rows > 0 && cols > most_matrix_numbers / rows) {
    throw ArgumentError(
        fmt::format("{} would have {} × {} numbers, more than {}: {}", name, rows, cols, most_matrix_numbers, cure));
  }
}

}  // namespace bunraku::cli
