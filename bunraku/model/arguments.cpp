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

void check_quaternions(const Model& model, std::span<const double> q, std::string_view name) {
  constexpr double tolerance = 1e-6;  // more than rounding, less than a mistake
  for (const Body& body : model.bodies()) {
    if (body.nq == 0 || (body.hinge.type != HingeType::spherical && body.hinge.type != HingeType::free)) {
      continue;
    }
    const auto at = static_cast<std::size_t>(body.q_index);
    const double norm = Quaternion<double>{q[at], q[at + 1], q[at + 2], q[at + 3]}.norm();
    if (!(std::abs(norm - 1) <= tolerance)) {
      throw ArgumentError(fmt::format("the quaternion of hinge '{}', {}[{}] to {}[{}], has norm {:.9g} instead of 1",
                                      body.hinge.name, name, at, name, at + 3, norm));
    }
  }
}

}  // namespace bunraku
