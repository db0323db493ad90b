#include "bunraku/model/detail/matrices.hpp"

#include <fmt/format.h>

namespace bunraku::detail {

void refuse_shape(std::ptrdiff_t rows, std::ptrdiff_t cols, std::ptrdiff_t wanted_rows, std::ptrdiff_t wanted_cols,
                  std::string_view name) {
  const std::string there = cols == 1 ? fmt::format("has {} numbers", rows) : fmt::format("is {}×{}", rows, cols);
  if (wanted_cols < 0) {
    throw ArgumentError(fmt::format("{} {}, the model wants columns of {}", name, there, wanted_rows));
  }
  throw ArgumentError(wanted_cols == 1
                          ? fmt::format("{} {}, the model wants a vector of {}", name, there, wanted_rows)
                          : fmt::format("{} {}, the model wants {}×{}", name, there, wanted_rows, wanted_cols));
}

}  // namespace bunraku::detail
