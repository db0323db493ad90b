#include "bunraku/model/detail/arguments.hpp"

#include <cmath>

#include <fmt/format.h>

#include "bunraku/error.hpp"

namespace bunraku {

void check_size(std::size_t size, int wanted, std::string_view name) {
  if (size != static_cast<std::size_t>(wanted)) {
    throw ArgumentError(fmt::format("{} has {} numbers, the model wants {}", name, size, wanted));
  }
}

void check_argument(std::span<const double> values, int wanted, std::string_view name) {
  check_size(values.size(), wanted, name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw ArgumentError(fmt::format("{}[{}] is {}, not a finite number", name, i, values[i]));
    }
  }
}

}  // namespace bunraku
